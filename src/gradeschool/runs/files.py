"""Files that are there whole or not at all, and rows that are whole or set aside."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from gradeschool.completion import Completion
from gradeschool.errors import StoreError
from gradeschool.runs.records import from_fields
from gradeschool.tables import parse_line

PREFIX = ".tmp-"


def write_whole(target: Path, body: bytes) -> None:
    """Write a file atomically and bring it to disk; raises StoreError, and then leaves nothing."""
    part = target.with_name(f"{PREFIX}{target.name}")
    try:
        with part.open("wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
        sync_folder(target.parent)
    except OSError as error:
        with suppress(OSError):
            part.unlink()
        raise StoreError(f"cannot write {str(target)!r}: {error.strerror}") from error


def remove_parts(folder: Path) -> None:
    """Remove what a process that died in `write_whole` left in a folder that is locked now."""
    for part in folder.glob(f"{PREFIX}*"):
        part.unlink()


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to disk: a new file survives the death of the machine."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def read_completions(path: Path) -> Iterator[tuple[bytes, Completion | None]]:
    r"""Yield each line of a file of completions with what it holds, None where it is not whole.

    A row is whole where it is one of ours and ends in "\n". No file holds no rows.
    """
    if not path.exists():
        return
    with path.open("rb") as file:
        for line in file:
            yield line, _whole(line)


def _whole(line: bytes) -> Completion | None:
    if not line.endswith(b"\n"):
        return None
    fields, fault = parse_line(line)
    return None if fault else from_fields(fields)
