"""The folder of a run: a lock, completions appended as they arrive, files written atomically."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from gradeschool.atomic import open_regular, remove_parts, sync_folder, write_file, write_json
from gradeschool.completion import Completion
from gradeschool.errors import StoreError
from gradeschool.formats.own_run import (
    COMPLETIONS_FILE,
    RESULTS_FILE,
    SEAL,
    changed_words,
    fingerprint,
    latest,
    read_completions,
    read_json,
    to_line,
)
from gradeschool.models.base import Request

QUARANTINE_FILE = "quarantine.jsonl"
LOCK_FILE = "run.lock"
APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT
LOCKED = (errno.EAGAIN, errno.EACCES, errno.EWOULDBLOCK)
SYNC_SECONDS = 1.0
# Seconds to wait before handling stored rows: answers to requests sent together arrive together.
PAUSE_SECONDS = 0.02
# Rows handled in one turn of the event loop: about a millisecond if they are scored.
HANDLED_A_TURN = 16
Answered = tuple[Request, Completion]


class RunStore:
    """A run folder, opened by one process at a time; a context manager.

    `completions` contains the stored rows by key: the last row without an error, else the last row.
    Torn or changed rows are moved to quarantine.jsonl; `repairs` reports them, and whether rows
    that results.json counted are missing. `died` names the process that locked the folder and did
    not end cleanly, "" for none. Raises StoreError if the folder cannot be used or another process
    has locked it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.completions: dict[str, Completion] = {}
        self.repairs: tuple[str, ...] = ()
        self.died = ""
        self._lock = FolderLock(folder)
        self._file: FileIO | None = None
        self._unsynced = False

    def __enter__(self) -> RunStore:
        """Create the folder, lock it and read its rows."""
        try:
            self.died = self._lock.take()
            remove_parts(self.folder)
            self._recover()
            number = open_regular(self.folder / COMPLETIONS_FILE, APPEND)
            self._file = FileIO(number, "ab")
            sync_folder(self.folder)
        except OSError as error:
            self._close()
            raise _unusable(self.folder, error) from error
        except StoreError:
            self._close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Sync everything to disk and unlock."""
        try:
            self.sync()
        finally:
            self._close()

    def append(self, lines: Sequence[bytes], completions: Sequence[Completion]) -> None:
        """Append rows in one write; from then on they survive a crash of this process."""
        assert self._file is not None, "the store is used outside its context"  # noqa: S101
        try:
            rest = memoryview(b"".join(lines))
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            raise self._unwritable(error) from error
        self._unsynced = True
        latest(completions, self.completions)

    def sync(self) -> None:
        """Sync the rows to disk; from then on they survive a crash of the machine.

        May be called from another thread. Raises StoreError if the folder was removed meanwhile.
        """
        if self._file is None or not self._unsynced:
            return
        self._unsynced = False
        try:
            os.fsync(self._file.fileno())
            removed = os.fstat(self._file.fileno()).st_nlink == 0
        except OSError as error:
            raise self._unwritable(error) from error
        if removed:
            raise StoreError(
                f"{str(self.folder / COMPLETIONS_FILE)!r} was removed while the run was writing "
                "to it; the same command starts again"
            )

    def read_json(self, name: str) -> dict[str, Any] | None:
        """Return the object in a JSON file of the folder, None if there is no such file."""
        return read_json(self.folder / name)

    def write_json(self, name: str, fields: Mapping[str, Any]) -> None:
        """Write a JSON file atomically."""
        write_json(self.folder / name, fields)

    def write_file(self, name: str, body: bytes) -> None:
        """Write a file next to the completions, atomically."""
        write_file(self.folder / name, body)

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
        self._lock.release()

    def _unwritable(self, error: OSError) -> StoreError:
        return StoreError(
            f"cannot write to {str(self.folder)!r}: {error.strerror}; what was stored before "
            "is intact, the same command continues from there"
        )

    def _recover(self) -> None:
        """Read the completions; move torn or changed rows into quarantine.

        Raises StoreError if rows of an older version, which have no digest, were changed, because
        it is unknown which ones.
        """
        path = self.folder / COMPLETIONS_FILE
        removed = not _has_counted_rows(path, self.read_json(RESULTS_FILE))
        good: list[bytes] = []
        bad: list[bytes] = []
        sealed = True
        for line, completion in read_completions(path):
            if completion is None:
                bad.append(line)
            else:
                good.append(line)
                sealed = sealed and SEAL in line
                latest([completion], self.completions)
        if removed and not sealed:
            raise StoreError(
                f"{str(path)!r} does not match results.json: rows were changed or removed "
                "since, and rows of this older run have no digest; restore the file, or give "
                "another folder with -o"
            )
        torn = sum(not line.endswith(b"\n") for line in bad)
        if len(bad) > torn:
            self._repaired(changed_words(len(bad) - torn))
        elif removed and not bad:
            self._repaired("rows that results.json counted were removed or moved")
        if torn:
            self._repaired("the last row was incomplete")
        if not bad:
            return
        number = open_regular(self.folder / QUARANTINE_FILE, APPEND)
        with os.fdopen(number, "ab") as file:
            file.writelines(line if line.endswith(b"\n") else line + b"\n" for line in bad)
            file.flush()
            os.fsync(file.fileno())
        self.write_file(COMPLETIONS_FILE, b"".join(good))

    def _repaired(self, text: str) -> None:
        self.repairs = (*self.repairs, text)


def _unusable(folder: Path, error: OSError) -> StoreError:
    reason = error.strerror or error
    return StoreError(f"cannot use the run folder {str(folder)!r}: {reason}; give another with -o")


def _has_counted_rows(path: Path, results: Mapping[str, Any] | None) -> bool:
    """Return whether a file begins with the rows that results.json was made from, if it exists."""
    stored = (results or {}).get("completions_file")
    if not isinstance(stored, Mapping) or not isinstance(size := stored.get("bytes"), int):
        return True
    return path.exists() and fingerprint(path, size) == stored


class FolderLock:
    """An exclusive lock (flock) on a folder, which it makes; a context manager.

    Its file names the process and host that hold it.

    The system releases the lock when the process dies in any way, so a lock is never stale. The
    name that remains in the file shows that the process did not end cleanly.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._file: BinaryIO | None = None

    def __enter__(self) -> str:
        """Take the lock; see `take`."""
        return self.take()

    def __exit__(self, *_: object) -> None:
        """Release the lock."""
        self.release()

    def take(self) -> str:
        """Make and lock the folder; return the process that died with the lock, "" for none.

        Raises StoreError if another process has the lock, or the folder cannot be used.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            return self._take()
        except OSError as error:
            raise _unusable(self.folder, error) from error

    def _take(self) -> str:
        number = open_regular(self.folder / LOCK_FILE, os.O_RDWR | os.O_CREAT)
        file = os.fdopen(number, "r+b")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            owner = _owner(file)
            file.close()
            if error.errno not in LOCKED:
                raise
            raise StoreError(
                f"the run folder {str(self.folder)!r} is in use by {owner or 'another process'}; "
                "wait for it, or give another folder with -o"
            ) from None
        died = _owner(file)
        file.seek(0)
        file.truncate(0)
        file.write(f"process {os.getpid()} on {socket.gethostname()}\n".encode())
        file.flush()
        self._file = file
        return died

    def release(self) -> None:
        """Unlock the folder, if it was locked."""
        if self._file is not None:
            with suppress(OSError):  # the disk became read-only
                self._file.truncate(0)
            self._file.close()  # unlocks it
            self._file = None


def _owner(file: BinaryIO) -> str:
    file.seek(0)
    return file.read(200).decode("utf-8", "replace").strip()


class GroupWriter:
    """Appends completions to a store in the background; an async context manager.

    All rows that are added in one turn of the event loop go into one write, in the next turn. A
    little later they are given to `stored`, some at a time: handling a row takes longer than
    sending the next request, which must not wait for it. The disk is synced once a second, in a
    thread, so that a slow disk delays no answer. A disk failure ends the block with StoreError.
    """

    def __init__(self, store: RunStore, stored: Callable[[Sequence[Answered]], None]) -> None:
        self._store, self._stored = store, stored
        self._rows: list[Answered] = []
        self._added = asyncio.Event()
        self._written: list[Answered] = []
        self._flushed = asyncio.Event()
        self._tasks = asyncio.TaskGroup()

    def add(self, request: Request, completion: Completion) -> None:
        """Queue a completion."""
        self._rows.append((request, completion))
        self._added.set()

    async def __aenter__(self) -> GroupWriter:
        """Start writing."""
        await self._tasks.__aenter__()
        work = (self._write(), self._hand_on(), self._sync())
        self._running = [self._tasks.create_task(each) for each in work]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Write the queued rows, however the block ended, and pass them on."""
        for task in self._running:
            task.cancel()
        try:
            await self._tasks.__aexit__(kind, error, trace)
        except BaseExceptionGroup as group:
            raise group.exceptions[0] from None
        finally:
            try:
                self.flush()
            finally:
                while self._written:
                    self._hand_on_some()

    async def _write(self) -> None:
        while True:
            await self._added.wait()
            self._added.clear()
            self.flush()

    async def _hand_on(self) -> None:
        while True:
            await self._flushed.wait()
            await asyncio.sleep(PAUSE_SECONDS)
            self._flushed.clear()
            while self._written:
                self._hand_on_some()
                await asyncio.sleep(0)

    async def _sync(self) -> None:
        while True:
            await asyncio.sleep(SYNC_SECONDS)
            await asyncio.to_thread(self._store.sync)

    def flush(self) -> None:
        """Write the queued rows."""
        rows, self._rows = self._rows, []
        if rows:
            lines = [to_line(completion, request.problem.question) for request, completion in rows]
            self._store.append(lines, [completion for _, completion in rows])
            self._written += rows
            self._flushed.set()

    def _hand_on_some(self) -> None:
        some, self._written = self._written[:HANDLED_A_TURN], self._written[HANDLED_A_TURN:]
        self._stored(some)
