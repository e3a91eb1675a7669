"""The folder of a run: completions appended as they come, a lock, files written whole."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Any

from gradeschool.completion import Completion
from gradeschool.errors import StoreError
from gradeschool.formats.read import COMPLETIONS_FILE
from gradeschool.runs.files import read_completions, remove_parts, sync_folder, write_whole
from gradeschool.runs.lock import FolderLock

RESULTS_FILE = "results.json"
QUARANTINE_FILE = "quarantine.jsonl"


class RunStore:
    """A run folder, opened by one process at a time; a context manager.

    `completions` holds what is stored, by key: the last row of a key that is no error, else its
    last row. `quarantined` counts rows that could not be read; they are moved to quarantine.jsonl.
    `left_by` names the process that held the folder before and did not end in order, "" for none.
    Raises StoreError where the folder cannot be used or another process holds it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.completions: dict[str, Completion] = {}
        self.quarantined = 0
        self.left_by = ""
        self._lock = FolderLock(folder)
        self._file: FileIO | None = None
        self._unsynced = False

    def __enter__(self) -> RunStore:
        """Create the folder, lock it and read what is there."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self.left_by = self._lock.take()
            remove_parts(self.folder)
            self._recover()
            self._file = (self.folder / COMPLETIONS_FILE).open("ab", buffering=0)
            sync_folder(self.folder)
        except OSError as error:
            self._close()
            raise StoreError(
                f"cannot use the run folder {str(self.folder)!r}: {error.strerror or error}; "
                "give another with -o"
            ) from error
        except StoreError:
            self._close()
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
            self.sync()
        finally:
            self._close()

    def append(self, lines: Sequence[bytes], completions: Sequence[Completion]) -> None:
        """Append rows in one write; they survive the death of this process from here on."""
        assert self._file is not None, "the store is used outside its context"  # noqa: S101
        try:
            rest = memoryview(b"".join(lines))
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            raise self._unwritable(error) from error
        self._unsynced = True
        for completion in completions:
            self._remember(completion)

    def sync(self) -> None:
        """Bring the rows to disk: they survive the death of the machine from here on.

        May be called by another thread. Raises StoreError where the folder was removed meanwhile.
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
                "to it; the same command begins anew"
            )

    def read_json(self, name: str) -> dict[str, Any] | None:
        """Return a JSON file of the folder, None where there is none."""
        return read_json(self.folder / name)

    def write_json(self, name: str, fields: Mapping[str, Any]) -> None:
        """Write a JSON file that is there whole or not at all."""
        self.write_whole(name, (json.dumps(fields, indent=2) + "\n").encode())

    def write_whole(self, name: str, body: bytes) -> None:
        """Write a file next to the completions, atomically."""
        write_whole(self.folder / name, body)

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
        self._lock.release()

    def _unwritable(self, error: OSError) -> StoreError:
        return StoreError(
            f"cannot write to {str(self.folder)!r}: {error.strerror}; what was stored before "
            "is intact, the same command goes on from there"
        )

    def _remember(self, completion: Completion) -> None:
        known = self.completions.get(completion.key)
        if known is None or known.error or not completion.error:
            self.completions[completion.key] = completion

    def _recover(self) -> None:
        """Read the completions; move rows that cannot be read (a torn tail) out of the way."""
        good: list[bytes] = []
        bad: list[bytes] = []
        for line, completion in read_completions(self.folder / COMPLETIONS_FILE):
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
            file.flush()
            os.fsync(file.fileno())
        self.write_whole(COMPLETIONS_FILE, b"".join(good))


def read_json(path: Path) -> dict[str, Any] | None:
    """Return the JSON object in a file, None where there is no file; raises StoreError."""
    try:
        found = json.loads(path.read_bytes()) if path.exists() else None
    except (ValueError, RecursionError, OSError) as error:
        raise StoreError(f"cannot read {str(path)!r}: {error}; remove or mend it") from error
    if found is not None and not isinstance(found, dict):
        raise StoreError(f"{str(path)!r} holds no JSON object; remove or mend it")
    return found
