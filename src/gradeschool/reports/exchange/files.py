"""The files of an export: all of them there whole, or none."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from gradeschool.errors import InputError

SURROGATE = re.compile("[\ud800-\udfff]")
REPLACEMENT = "\ufffd"


class File(NamedTuple):
    """A file of an export: its path below the target, "" for the target itself, and its content."""

    path: str
    write: Callable[[BinaryIO], None]


def lines_file(path: str, lines: Iterable[bytes]) -> File:
    """Return a file of these lines."""
    return File(path, lambda file: file.writelines(lines))


def storable(text: str) -> str:
    """Replace lone surrogates, which UTF-8 and most readers refuse, by U+FFFD.

    A text keeps its length, and with it the places that were read in it.
    """
    return text if text.isascii() else SURROGATE.sub(REPLACEMENT, text)


def encoded(value: Any, indent: int | None = None) -> bytes:
    r"""Return a value as JSON in ASCII; lone surrogates are U+FFFD.

    ASCII, because some readers of JSON lines split at U+2028 too.
    """
    text = json.dumps(value, indent=indent)
    if "\\ud" in text:
        whole = storable(json.dumps(value, ensure_ascii=False))
        text = json.dumps(json.loads(whole), indent=indent)
    return text.encode("ascii")


def require_free(target: Path, files: Sequence[File], overwrite: bool) -> None:
    """Raise InputError where the export would replace something and `overwrite` is not asked."""
    for file in files:
        path = target / file.path
        if path.is_dir():
            raise InputError(f"{str(path)!r} is a folder; give the path of a file with -o")
        if path.exists() and not overwrite:
            raise InputError(f"{str(path)!r} exists; give --force to replace it, or another -o")


def save(target: Path, files: Sequence[File]) -> int:
    """Write the files of an export, all or none; return their bytes. Raises InputError."""
    parts: list[tuple[Path, Path]] = []
    size = 0
    try:
        for file in files:
            path = target / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_name(f".{path.name[:80]}.{os.getpid()}.tmp")
            parts.append((part, path))
            with part.open("wb") as stream:
                file.write(stream)
            size += part.stat().st_size
        for part, path in parts:
            part.replace(path)
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"cannot write {str(target)!r}: {reason}; give another -o") from error
    finally:
        for part, _ in parts:
            with suppress(OSError):
                part.unlink(missing_ok=True)
    return size
