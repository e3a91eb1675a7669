"""The folder that a model is trained into: one training alone, resumed by the same command.

training.json tells what was asked and how it went, from the first update on. `training/` holds what
only the training needs (the checkpoint); it is gone when the model is there.
"""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from gradeschool.atomic import remove_parts, write_file
from gradeschool.errors import StoreError
from gradeschool.runs.store import LOCK_FILE, FolderLock

SCHEMA = 1
TRAINING = "training.json"
WORK = "training"
PACKAGES = ("gradeschool", "torch", "transformers", "tokenizers", "safetensors")


class TrainingFolder:
    """A folder that holds one training; `asked` decides whether a command means the same one.

    new: it held none before. begun: this command has made an update. Raises StoreError where the
    folder holds another training, or anything else.
    """

    def __init__(self, path: Path, asked: Mapping[str, Any]) -> None:
        self.path, self.work = path, path / WORK
        self.asked = json.loads(json.dumps(asked))
        earlier = self._earlier()
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self.fields: dict[str, Any] = earlier or {"schema": SCHEMA, "created": now}
        self.new, self.begun = earlier is None, False
        self.finished = self.fields.get("status") == "finished"

    def begin(self, command: str, processes: str) -> None:
        """Write training.json: from now on the folder is this training's."""
        self.begun = True
        self._write(
            status="running",
            command=command,
            processes=processes,
            asked=self.asked,
            digest=digest_of(self.asked),
            versions=_versions(),
        )

    def finish(self, files: Path, result: Mapping[str, Any]) -> None:
        """Move a model's files into the folder, remove what only the training needed."""
        for file in sorted(files.iterdir()):
            file.replace(self.path / file.name)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self._write(status="finished", finished=now, **result)
        self.finished = True

    def _write(self, **fields: Any) -> None:
        self.fields |= fields
        body = json.dumps(self.fields, indent=2) + "\n"
        write_file(self.path / TRAINING, body.encode())

    def _earlier(self) -> dict[str, Any] | None:
        """Return training.json, None where the folder is new; raises StoreError."""
        file = self.path / TRAINING
        if not file.exists():
            if self.path.exists() and (not self.path.is_dir() or _names(self.path) - {WORK}):
                raise StoreError(
                    f"{str(self.path)!r} is there already and holds no training of ours; "
                    "nothing was written: give another folder with -o"
                )
            return None
        try:
            fields: dict[str, Any] = json.loads(file.read_bytes())
            asked: dict[str, Any] = fields["asked"]
        except (ValueError, KeyError, TypeError) as error:
            raise StoreError(
                f"{str(file)!r} is damaged ({error!r}); give another folder with -o"
            ) from error
        for name in {**asked, **self.asked}:
            if asked.get(name) != self.asked.get(name):
                raise StoreError(
                    f"{str(self.path)!r} holds another training: its {name} is "
                    f"{asked.get(name)!r}, asked for is {self.asked.get(name)!r}; "
                    "nothing was changed: give another folder with -o"
                )
        return fields


@contextmanager
def opened(path: Path, asked: Mapping[str, Any]) -> Iterator[TrainingFolder]:
    """Yield the folder of a training, kept from other commands; nothing is written before a check.

    What only the training needed is removed once it is finished, and all that was made where it did
    not begin. Raises StoreError where the folder holds something else, cannot be made, or is in
    use.
    """
    TrainingFolder(path, asked)
    work = path / WORK
    missing = [one for one in (path, *path.parents) if not one.exists()]
    try:
        work.mkdir(parents=True, exist_ok=True)
        lock = FolderLock(work)
        lock.take()
    except OSError as error:
        raise StoreError(
            f"cannot use the folder {str(path)!r}: {error.strerror}; give another one with -o"
        ) from error
    try:
        folder = TrainingFolder(path, asked)  # another command may have ended meanwhile
        remove_parts(work)
        if folder.new:
            _clear(work)
        try:
            yield folder
        finally:
            unused = folder.new and not folder.begun
            if folder.finished or unused:
                shutil.rmtree(work, ignore_errors=True)
            for one in missing if unused else ():
                with suppress(OSError):  # somebody else has put something there
                    one.rmdir()
    finally:
        lock.release()


def _clear(work: Path) -> None:
    """Remove what a training that is not there any more has left."""
    for file in work.iterdir():
        if file.is_file() and file.name != LOCK_FILE:
            file.unlink()


def _names(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()}


def digest_of(value: Any) -> str:
    """Return the SHA-256 of a JSON value."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _versions() -> dict[str, str]:
    """Return the versions of Python and of what trains."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
