"""The folder of a run: completions appended as they come, a lock, files written whole."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from gradeschool.completion import Completion
from gradeschool.errors import StoreError
from gradeschool.recordings.files import COMPLETIONS_FILE
from gradeschool.runs.records import from_fields
from gradeschool.tables import parse_line

RESULTS_FILE = "results.json"
LOCK_FILE = "run.lock"
QUARANTINE_FILE = "quarantine.jsonl"
SYNC_SECONDS = 1.0


class RunStore:
    """A run folder, opened by one process at a time; a context manager.

    `completions` holds what is stored, by key: the last row of a key that is no error, else its
    last row. `quarantined` counts rows that could not be read; they are moved to quarantine.jsonl.
    Raises StoreError where the folder cannot be used or another process holds it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.completions: dict[str, Completion] = {}
        self.quarantined = 0
        self._lock: BinaryIO | None = None
        self._file: BinaryIO | None = None
        self._synced = 0.0

    def __enter__(self) -> RunStore:
        """Create the folder, lock it and read what is there."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = self._locked()
            self._recover()
            self._file = (self.folder / COMPLETIONS_FILE).open("ab")
        except OSError as error:
            self._release()
            raise StoreError(
                f"cannot use the run folder {str(self.folder)!r}: {error.strerror or error}; "
                "give another with -o"
            ) from error
        except StoreError:
            self._release()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Bring everything to disk and unlock."""
        try:
            if self._file is not None:
                os.fsync(self._file.fileno())
                self._file.close()
        finally:
            self._release()

    def append(self, lines: Sequence[bytes], completions: Sequence[Completion]) -> None:
        """Append rows in one write; brought to disk at least once a second."""
        assert self._file is not None, "the store is used outside its context"  # noqa: S101
        try:
            self._file.write(b"".join(lines))
            self._file.flush()
            if time.monotonic() - self._synced > SYNC_SECONDS:
                os.fsync(self._file.fileno())
                self._synced = time.monotonic()
        except OSError as error:
            raise StoreError(
                f"cannot write to {str(self.folder)!r}: {error.strerror}; what was stored before "
                "is intact, the same command goes on from there"
            ) from error
        for completion in completions:
            self._remember(completion)

    def read_json(self, name: str) -> dict[str, Any] | None:
        """Return a JSON file of the folder, None where there is none."""
        path = self.folder / name
        try:
            found = json.loads(path.read_bytes()) if path.exists() else None
        except (ValueError, OSError) as error:
            raise StoreError(f"cannot read {str(path)!r}: {error}; remove or mend it") from error
        if found is not None and not isinstance(found, dict):
            raise StoreError(f"{str(path)!r} holds no JSON object; remove or mend it")
        return found

    def write_json(self, name: str, fields: Mapping[str, Any]) -> None:
        """Write a JSON file that is there whole or not at all."""
        self.write_whole(name, (json.dumps(fields, indent=2) + "\n").encode())

    def write_whole(self, name: str, body: bytes) -> None:
        """Write a file next to the completions, atomically."""
        target = self.folder / name
        try:
            with tempfile.NamedTemporaryFile(dir=self.folder, prefix=".tmp-", delete=False) as file:
                file.write(body)
                file.flush()
                os.fsync(file.fileno())
            Path(file.name).replace(target)
        except OSError as error:
            raise StoreError(f"cannot write {str(target)!r}: {error.strerror}") from error

    def _locked(self) -> BinaryIO:
        path = self.folder / LOCK_FILE
        lock = path.open("a+b")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.seek(0)
            holder = lock.read(200).decode("utf-8", "replace").strip() or "another process"
            lock.close()
            raise StoreError(
                f"the run folder {str(self.folder)!r} is in use by {holder}; "
                "wait for it, or give another folder with -o"
            ) from None
        lock.truncate(0)
        lock.write(f"process {os.getpid()} on {socket.gethostname()}\n".encode())
        lock.flush()
        return lock

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.close()  # closing gives the lock back
            self._lock = None

    def _remember(self, completion: Completion) -> None:
        known = self.completions.get(completion.key)
        if known is None or known.error or not completion.error:
            self.completions[completion.key] = completion

    def _recover(self) -> None:
        """Read the completions; move rows that cannot be read (a torn tail) out of the way."""
        path = self.folder / COMPLETIONS_FILE
        if not path.exists():
            return
        good: list[bytes] = []
        bad: list[bytes] = []
        with path.open("rb") as file:
            for line in file:
                completion = _readable(line)
                if completion is None:
                    bad.append(line)
                else:
                    good.append(line)
                    self._remember(completion)
        if not bad:
            return
        self.quarantined = len(bad)
        with (self.folder / QUARANTINE_FILE).open("ab") as file:
            file.writelines(line if line.endswith(b"\n") else line + b"\n" for line in bad)
            os.fsync(file.fileno())
        self.write_whole(COMPLETIONS_FILE, b"".join(good))


def _readable(line: bytes) -> Completion | None:
    if not line.endswith(b"\n"):
        return None
    fields, fault = parse_line(line)
    return None if fault else from_fields(fields)
