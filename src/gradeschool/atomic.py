"""Files that are there whole or not at all, even where the process or the machine dies."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gradeschool.errors import StoreError

PREFIX = ".tmp-"
LONGEST_NAME = 80  # characters kept of a name: a file system allows 255 bytes


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Yield the path of a temporary file that replaces `target` when the block ends.

    Its name has the ending of `target`. The content and the name are synced to disk. Where the
    block raises, `target` stays as it was and the temporary file is removed. Raises OSError.
    """
    part = target.with_name(f"{PREFIX}{os.getpid()}-{target.name[-LONGEST_NAME:]}")
    try:
        yield part
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(target)
        sync_folder(target.parent)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


def write_file(target: Path, body: bytes) -> None:
    """Write a file atomically; raises StoreError and leaves `target` as it was where it cannot."""
    try:
        with replacing(target) as part:
            part.write_bytes(body)
    except OSError as error:
        raise StoreError(f"cannot write {str(target)!r}: {error.strerror}") from error


def remove_parts(folder: Path) -> None:
    """Remove the temporary files of a process that died; the folder must be locked."""
    for part in folder.glob(f"{PREFIX}*"):
        part.unlink()


def sync_folder(folder: Path) -> None:
    """Sync the names in a folder, so that a new file survives the death of the machine."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
