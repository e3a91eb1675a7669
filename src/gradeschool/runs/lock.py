"""One process at a time: the lock of a run folder."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from gradeschool.errors import StoreError

LOCK_FILE = "run.lock"
HELD = (errno.EAGAIN, errno.EACCES, errno.EWOULDBLOCK)


class FolderLock:
    """An exclusive lock (flock) on a folder; its file names the holder's process and host.

    The system takes the lock from a process that dies, however it dies, so that a lock is never
    stale; the name that it leaves in the file tells that it did not end in order.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._file: BinaryIO | None = None

    def take(self) -> str:
        """Lock the folder; return who held it before and died, "" for nobody.

        Raises StoreError where another process holds it, OSError where there are no locks.
        """
        file = (self.folder / LOCK_FILE).open("a+b")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = _name(file)
            file.close()
            if error.errno not in HELD:
                raise
            raise StoreError(
                f"the run folder {str(self.folder)!r} is in use by {holder or 'another process'}; "
                "wait for it, or give another folder with -o"
            ) from None
        left_by = _name(file)
        file.truncate(0)
        file.write(f"process {os.getpid()} on {socket.gethostname()}\n".encode())
        file.flush()
        self._file = file
        return left_by

    def release(self) -> None:
        """Give the lock back, if it was taken."""
        if self._file is not None:
            with suppress(OSError):  # a disk that became read-only
                self._file.truncate(0)
            self._file.close()  # closing gives the lock back
            self._file = None


def _name(file: BinaryIO) -> str:
    file.seek(0)
    return file.read(200).decode("utf-8", "replace").strip()
