"""The rows of a run folder: read once, then appended as answers arrive."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from time import monotonic

from gradeschool.atomic import PREFIX, open_regular, sync_folder
from gradeschool.completion import Completion
from gradeschool.errors import StoreError
from gradeschool.formats import own_run

SYNC_SECONDS = 1.0


class RunStore:
    """The completions.jsonl of a run folder, open in one process at a time; a context manager.

    `completions`: those stored that count, by key (see `counting_completions`); `append` adds to
    them. `damaged`: what is wrong with the file, "" if nothing is. Damaged rows stay in the file
    and are left out; an incomplete last row is cut off. Raises StoreError if the folder cannot be
    used or another process has it open.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / own_run.COMPLETIONS_FILE
        self.completions: dict[str, Completion] = {}
        self.damaged = ""
        self._file = -1
        self._synced = monotonic()

    def __enter__(self) -> RunStore:
        """Create the folder, lock the file and read its rows."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._file = open_regular(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # released however we end
            for part in self.folder.glob(f"{PREFIX}*"):  # of a process that died
                part.unlink()
            damaged, size, row = [], os.fstat(self._file).st_size, None
            for number, row in enumerate(own_run.read_completions(self.path), start=1):
                if row is None:
                    damaged.append(number)
                else:
                    own_run.counting_completions([row], self.completions)
            if (
                damaged
                and not self.completions
                and not (self.folder / own_run.MANIFEST_FILE).exists()
            ):
                raise StoreError(
                    f"{str(self.path)!r} is not part of a run; give another folder with -o"
                )
            # Cut off an incomplete last row; end one whose line end was lost.
            if size and os.pread(self._file, 1, size - 1) != b"\n":
                if row is not None:
                    os.write(self._file, b"\n")
                else:
                    with self.path.open("rb") as file:
                        *_, last = file
                    os.ftruncate(self._file, size - len(last))
            if damaged:
                self.damaged = (
                    f"{own_run.damaged_words(damaged)}; missing samples are requested again"
                )
            sync_folder(self.folder)
        except BaseException as error:
            if self._file >= 0:
                os.close(self._file)
            if isinstance(error, BlockingIOError):
                raise StoreError(
                    f"the run folder {str(self.folder)!r} is in use by another process; wait for "
                    "it, or give another folder with -o"
                ) from None
            if isinstance(error, OSError):
                raise StoreError(
                    f"cannot use the run folder {str(self.folder)!r}: {error.strerror or error}; "
                    "give another with -o"
                ) from error
            raise
        return self

    def append(self, completion: Completion, question: str) -> None:
        """Append a row: it survives a crash of this process, and soon one of the machine."""
        try:
            rest = memoryview(own_run.to_line(completion, question))
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError as error:
            raise self._unwritable(error) from error
        own_run.counting_completions([completion], self.completions)
        if monotonic() - self._synced > SYNC_SECONDS:
            self.sync()

    def sync(self) -> None:
        """Sync the rows to disk; raises StoreError if the file was removed meanwhile."""
        try:
            os.fsync(self._file)
            is_removed = os.fstat(self._file).st_nlink == 0
        except OSError as error:
            raise self._unwritable(error) from error
        self._synced = monotonic()
        if is_removed:
            raise StoreError(
                f"{str(self.path)!r} was removed while the run was writing to it; the same "
                "command starts again"
            )

    def __exit__(self, *_: object) -> None:
        """Sync everything to disk and unlock."""
        try:
            self.sync()
        finally:
            os.close(self._file)

    def _unwritable(self, error: OSError) -> StoreError:
        return StoreError(
            f"cannot write to {str(self.folder)!r}: {error.strerror}; what was stored before "
            "is intact, the same command continues from there"
        )
