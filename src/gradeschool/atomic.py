"""Atomic file writes: a file is written completely or not at all, even after a crash."""

import errno
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from gradeschool.errors import InputError, StoreError
from gradeschool.masking import masked_bytes

PART_PREFIX = ".tmp-"
LOCK_FILE = "run.lock"
LONGEST_NAME = 80  # characters of the name that are kept: a file system allows 255 bytes


def open_regular(path: Path, flags: int) -> int:
    """Open a regular file and return its descriptor, as `os.open` does.

    A symbolic link is not followed, since writing would change its target. A pipe or a device is
    not waited for. Raises StoreError for anything but a regular file, and OSError.
    """
    try:
        number = os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW, 0o666)
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.ENXIO):
            raise
        kind = "a symbolic link" if error.errno == errno.ELOOP else "a pipe or socket"
        raise StoreError(f"{str(path)!r} is {kind}; remove it: a file is needed there") from None
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise StoreError(f"{str(path)!r} is not a regular file; remove it")
    return number


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Yield the path of a temporary file that replaces `target` when the block ends.

    The temporary name has the suffix of `target`. The content and the name are synced to disk. If
    the block raises, `target` stays as it was and the temporary file is removed. Raises OSError,
    also for a pipe or a device: root would replace /dev/null by a file.
    """
    if target.exists() and not (target.is_file() or target.is_dir()):
        raise OSError(errno.EINVAL, "it is no regular file")
    part = target.with_name(f"{PART_PREFIX}{os.getpid()}-{target.name[-LONGEST_NAME:]}")
    part.unlink(missing_ok=True)  # do not write through whatever is there, a link for instance
    try:
        yield part
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(target)
        sync_folder(target.parent)
    except BaseException:  # includes interrupts; raised again
        with suppress(OSError):
            part.unlink()
        raise


@contextmanager
def writing_output(path: Path, advice: str = "; give another path") -> Iterator[None]:
    """Raise StoreError if the block cannot write a file; advice: the end of its message."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        raise StoreError(f"cannot write {str(path)!r}: {reason}{advice}") from error


def check_output(path: Path | None, *endings: str, force: bool | None = None) -> None:
    """Raise InputError for a name with another ending, and for a file or folder that exists.

    endings: of names, none to accept any. force: whether a file may be replaced; None for a command
    without --force.
    """
    if path is None:
        return
    if endings and path.suffix.lower() not in endings:
        raise InputError(f"{path.name!r} must end in {' or '.join(endings)}; give another name")
    if force is not None and path.is_dir():
        raise InputError(f"{str(path)!r} is a folder; give the path of a file with -o")
    if path.exists() and not force:
        way = "remove it, or give" if force is None else "give --force to replace it, or"
        raise InputError(f"{str(path)!r} exists; {way} another -o")


def write_file(target: Path, body: bytes) -> None:
    """Write a file atomically, with secrets masked.

    Raises StoreError, and leaves `target` unchanged, if it cannot be written.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with (
        writing_output(target, ""),
        replacing(target) as part,
        os.fdopen(open_regular(part, flags), "wb") as file,
    ):
        file.write(masked_bytes(body))


def write_json(target: Path, value: Any) -> None:
    """Write a value as indented JSON; see `write_file`."""
    write_file(target, f"{json.dumps(value, indent=2)}\n".encode())


def append_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Append rows to a JSONL file, after ending a line that a killed process left incomplete.

    Secrets are masked. Raises StoreError if they cannot be written.
    """
    with writing_output(path, ""), path.open("ab+") as file:
        if file.seek(0, os.SEEK_END) and (file.seek(-1, os.SEEK_END), file.read(1))[1] != b"\n":
            file.write(b"\n")
        file.write(masked_bytes(b"".join(json.dumps(row).encode() + b"\n" for row in rows)))


def sync_folder(folder: Path) -> None:
    """Sync the names in a folder, so that a new file survives a crash of the machine."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


@contextmanager
def locked_file(path: Path, flags: int = os.O_RDWR) -> Iterator[int]:
    """Yield the descriptor of a file, which is made with its folder, locked for the block.

    The system releases the lock when the process dies in any way. Raises StoreError if another
    process has it, or the folder cannot be used.
    """
    import fcntl

    folder = str(path.parent)
    with ExitStack() as stack:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            number = open_regular(path, flags | os.O_CREAT)
            stack.callback(os.close, number)
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise StoreError(
                f"the folder {folder!r} is in use by another process; wait for it, or give another "
                "with -o"
            ) from error
        except OSError as error:  # a file system may have no locks
            raise StoreError(
                f"cannot use the folder {folder!r}: {error.strerror}; give another with -o"
            ) from error
        yield number
