"""One training command: from its settings to the model in its folder."""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.atomic import LOCK_FILE, FolderLock, remove_parts, write_json
from gradeschool.errors import StoreError
from gradeschool.machine import machine_memory
from gradeschool.models.local import TRAINING_FILE, UNFINISHED
from gradeschool.verifier.memory import (
    GB,
    beside_plan,
    memory_table,
    peak_memory,
    plan_memory,
    plans_of,
)
from gradeschool.verifier.parallel import ALONE, World
from gradeschool.verifier.training import (
    LOSSES,
    After,
    Loss,
    TrainingBatches,
    TrainingResult,
    TrainingSettings,
    TrainingUpdate,
    precision_for,
    train,
)

FINAL = "model"
PLANNED = "planned"  # the status of a dry run
SAVE_MEMORY = (
    "give a smaller --pass-tokens or --batch, --gradient-checkpointing, --lora 16, or more "
    "processes with --parallel fsdp"
)
SLOW_BFLOAT16 = (
    "bfloat16 passes can be many times slower than float32 on this CPU or with so few weights; "
    "leave out --precision, which takes float32"
)


class Listener(NamedTuple):
    """Progress callbacks for notes, updates, and rows of the curves."""

    note: Callable[[str], None] = lambda _: None
    update: Callable[[TrainingUpdate], None] = lambda _: None
    row: Callable[[dict[str, Any]], None] = lambda _: None


QUIET = Listener()


@dataclass(frozen=True, slots=True)
class Session:
    """The folder of a training, its processes, and its progress callbacks.

    save_every: updates between checkpoints. dry_run: end with the plan, before the first update.
    """

    output: Path
    world: World = ALONE
    command: str = ""
    listener: Listener = QUIET
    save_every: int = 200
    dry_run: bool = False

    @property
    def work(self) -> Path:
        """Return the folder of temporary files."""
        return self.output / UNFINISHED

    def note(self, text: str) -> None:
        """Report a note, only in the first process."""
        if self.world.first:
            self.listener.note(text)


class PreparedTraining(NamedTuple):
    """Everything that a training needs, ready to begin.

    save: writes the trained model to a folder. left_out: ids of unused problems. after, marks: see
    `training.train`.
    """

    model: Any
    batches: TrainingBatches
    loss: Loss
    settings: TrainingSettings
    save: Callable[[TrainingResult, Path], None]
    left_out: Sequence[str]
    after: After | None = None
    marks: Collection[int] = ()


def run(
    session: Session,
    facts: Callable[[], Mapping[str, Any]],
    prepare: Callable[[], PreparedTraining],
) -> Mapping[str, Any]:
    """Train what `prepare` returns into the session's folder, from its checkpoint if there is one.

    facts: everything that determines the model. Only the first process uses the folder. Returns
    training.json's fields, with the status "running" if a signal ended it early, or for a dry run
    the status "planned" and the memory plan; in other processes, only the status. Without a single
    update, no files are left. Raises StoreError for a folder that contains another training or
    cannot be written.
    """
    if not session.world.first:
        return _go(session, prepare, None)
    with opened(session.output, facts()) as folder:
        return _go(session, prepare, folder)


def _go(
    session: Session, prepare: Callable[[], PreparedTraining], folder: TrainingFolder | None
) -> Mapping[str, Any]:
    world = session.world
    (finished,) = world.any(folder is not None and folder.finished)
    if finished:
        return {"status": "finished"} if folder is None else folder.fields
    ready = prepare()
    usual = precision_for(ready.model, world.device)
    if ready.settings.precision == "bfloat16" != usual:
        session.note(SLOW_BFLOAT16)
    elif world.device == "cpu" and usual == "bfloat16" and ready.settings.precision is None:
        session.note("passes are computed in bfloat16, which this CPU multiplies directly")
    memory = _planned(session, ready) if world.first else {}
    if session.dry_run:
        return {"status": PLANNED, "updates": len(ready.batches), "memory": memory}

    def tell(update: TrainingUpdate) -> None:
        if folder is not None and not folder.begun:
            folder.begin(session.command, world.describe(), memory)
        session.listener.update(update)

    trained = train(
        ready.model,
        ready.batches,
        ready.loss,
        ready.settings,
        session.work,
        world=world,
        save_every=session.save_every,
        after=ready.after,
        marks=ready.marks,
        tell=tell if world.first else None,
    )
    if folder is None:
        return {"status": "running" if trained.stopped else "finished"}
    if trained.stopped:
        return {**folder.fields, "updates": trained.updates}
    memory["measured"] = peak_memory(world.device)
    _finish(folder, ready, trained, memory)
    return folder.fields


def _planned(session: Session, ready: PreparedTraining) -> dict[str, Any]:
    """Plan the memory of each process and show it; return it for training.json, in bytes."""
    world = session.world
    try:
        plan = plan_memory(ready.model, ready.batches, ready.loss, ready.settings, world)
    except (RuntimeError, TypeError, ValueError) as error:  # the model's code, on fake tensors
        reason = str(error).partition("\n")[0] or type(error).__name__
        session.note(f"the memory could not be planned: {reason}")
        return {}
    plans = plans_of(plan, ready.model, world)
    chosen = plans[world.kind if world.size > 1 else "alone"]
    session.note(memory_table(plans, world))
    beside = beside_plan(chosen, plan, world)
    total, size = chosen.peak + beside, machine_memory(world.device)
    there = f" of {size / GB:.1f} GB" if size else ""
    session.note(
        f"passes of up to {plan.tokens:,} tokens; planned {total / GB:.2f} GB{there}"
        + (f", {beside / GB:.2f} of it Python, torch, data and fragments" if beside else "")
    )
    processes = world.size if world.device == "cpu" else 1  # they share the memory of the machine
    if size and total * processes > size:
        session.note(f"that is too much: {SAVE_MEMORY}")
    return {**chosen._asdict(), "beside": beside, "planned": total}


def _finish(
    folder: TrainingFolder,
    ready: PreparedTraining,
    trained: TrainingResult,
    memory: Mapping[str, Any],
) -> None:
    """Write the model, then mark the training as finished."""
    files = folder.work / FINAL
    shutil.rmtree(files, ignore_errors=True)
    ready.save(trained, files)
    (folder.work / LOSSES).replace(files / LOSSES)
    result = {
        "updates": trained.updates,
        "tokens": trained.tokens,
        "seconds": round(trained.seconds, 2),
        "losses": dict(trained.losses),
        "left_out": list(ready.left_out),
        "memory": memory,
    }
    folder.finish(files, result)


SCHEMA = 1
PACKAGES = ("gradeschool", "torch", "transformers", "tokenizers", "safetensors")


class TrainingFolder:
    """The folder of one training; its `settings` tell whether a command means the same training.

    new: it had no training before. begun: this command has made an update. Raises StoreError if the
    folder contains another training, or anything else.
    """

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        self.path, self.work = path, path / UNFINISHED
        self.settings = json.loads(json.dumps(settings))
        earlier = self._earlier()
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self.fields: dict[str, Any] = earlier or {"schema": SCHEMA, "created": now}
        self.new, self.begun = earlier is None, False
        self.finished = self.fields.get("status") == "finished"

    def begin(self, command: str, processes: str, memory: Mapping[str, Any]) -> None:
        """Write training.json: from then on the folder belongs to this training."""
        self.begun = True
        self._write(
            status="running",
            command=command,
            processes=processes,
            memory=memory,
            settings=self.settings,
            digest=json_digest(self.settings),
            versions=_versions(),
        )

    def finish(self, files: Path, result: Mapping[str, Any]) -> None:
        """Move a model's files into the folder, and remove files that only the training needed."""
        for file in sorted(files.iterdir()):
            file.replace(self.path / file.name)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self._write(status="finished", finished=now, **result)
        self.finished = True

    def _write(self, **fields: Any) -> None:
        self.fields |= fields
        write_json(self.path / TRAINING_FILE, self.fields)

    def _earlier(self) -> dict[str, Any] | None:
        """Return training.json, None if the folder is new; raises StoreError."""
        file = self.path / TRAINING_FILE
        if not file.exists():
            if self.path.exists() and (not self.path.is_dir() or _names(self.path) - {UNFINISHED}):
                raise StoreError(
                    f"{str(self.path)!r} exists already and contains no training of gradeschool; "
                    "nothing was written: give another folder with -o"
                )
            return None
        try:
            fields: dict[str, Any] = json.loads(file.read_bytes())
            if "asked" in fields:  # the name before it was renamed
                fields["settings"] = fields.pop("asked")
            settings: dict[str, Any] = fields["settings"]
        except (ValueError, KeyError, TypeError) as error:
            raise StoreError(
                f"{str(file)!r} is damaged ({error!r}); give another folder with -o"
            ) from error
        for name in {**settings, **self.settings}:
            if settings.get(name) != self.settings.get(name):
                raise StoreError(
                    f"{str(self.path)!r} contains another training: its {name} is "
                    f"{settings.get(name)!r}, requested is {self.settings.get(name)!r}; "
                    "nothing was changed: give another folder with -o"
                )
        return fields


@contextmanager
def opened(path: Path, facts: Mapping[str, Any]) -> Iterator[TrainingFolder]:
    """Yield the locked folder of a training; nothing is written before it is checked.

    Files that only the training needs are removed at its end; if it did not begin, all new files
    are removed. Raises StoreError if the folder contains something else, cannot be created, or is
    in use.
    """
    TrainingFolder(path, facts)
    work = path / UNFINISHED
    missing = [folder_made for folder_made in (path, *path.parents) if not folder_made.exists()]
    with FolderLock(work):
        folder = TrainingFolder(path, facts)  # another command may have finished meanwhile
        remove_parts(work)
        if folder.new:
            _clear(work)
        try:
            yield folder
        finally:
            unused = folder.new and not folder.begun
            if folder.finished or unused:
                shutil.rmtree(work, ignore_errors=True)
            for folder_made in missing if unused else ():
                with suppress(OSError):  # another program has put files there
                    folder_made.rmdir()


def _clear(work: Path) -> None:
    """Remove the files of an earlier training."""
    for file in work.iterdir():
        if file.is_file() and file.name != LOCK_FILE:
            file.unlink()


def _names(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()}


def json_digest(value: Any) -> str:
    """Return the SHA-256 of a JSON value."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _versions() -> dict[str, str]:
    """Return the versions of Python and of the training packages."""
    versions = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions
