"""A recipe as stages: each is a command of this package, done once, in the order of their needs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from gradeschool.atomic import write_file
from gradeschool.errors import InputError

STAGES_FOLDER = "stages"


@dataclass(frozen=True, slots=True)
class Stage:
    """One command. Paths in it are relative to the recipe's folder, in which it runs.

    command: what stands behind `gradeschool`. needs: the stages whose results it reads. stdout: the
    file that its output goes to; else that goes to the stage's log.
    """

    name: str
    command: tuple[str, ...]
    needs: tuple[str, ...] = ()
    stdout: str = ""


class Done(NamedTuple):
    """What is known of a stage that ended: a digest of what was done, seconds of clock and CPU."""

    digest: str
    seconds: float
    cpu_seconds: float


def digests(stages: Sequence[Stage]) -> dict[str, str]:
    """Return a digest for each stage: of its command, and of all that it needs.

    Raises ValueError where a stage needs one that does not come before it.
    """
    found: dict[str, str] = {}
    for stage in stages:
        late = [need for need in stage.needs if need not in found]
        if late or stage.name in found:
            raise ValueError(f"the stage {stage.name!r} needs {late} before it, once")
        parts = [*stage.command, *(found[need] for need in stage.needs)]
        found[stage.name] = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
    return found


def finished(folder: Path, stages: Sequence[Stage]) -> dict[str, Done]:
    """Return the stages that are done; raises InputError where one was done with other settings."""
    expected = digests(stages)
    done: dict[str, Done] = {}
    for stage in stages:
        path = folder / STAGES_FOLDER / f"{stage.name}.json"
        try:
            fields = json.loads(path.read_text("utf-8"))
        except FileNotFoundError:
            continue
        except ValueError:
            fields = {}
        if fields.get("digest") != expected[stage.name]:
            raise InputError(
                f"the stage {stage.name!r} in {str(folder)!r} was done with other settings; give "
                "another folder with -o, or the settings as they were"
            )
        done[stage.name] = Done(fields["digest"], fields["seconds"], fields["cpu_seconds"])
    return done


def mark(folder: Path, stage: Stage, done: Done) -> None:
    """Write down that a stage is done."""
    fields = {"command": ["gradeschool", *stage.command], **done._asdict()}
    path = folder / STAGES_FOLDER / f"{stage.name}.json"
    write_file(path, (json.dumps(fields, indent=2) + "\n").encode())


def wanted(stages: Sequence[Stage], names: Iterable[str]) -> list[Stage]:
    """Return the named stages and all that they need, in order."""
    needs = {stage.name: stage.needs for stage in stages}
    found: set[str] = set()
    ahead = list(names)
    while ahead:
        name = ahead.pop()
        if name not in found:
            found.add(name)
            ahead.extend(needs[name])
    return [stage for stage in stages if stage.name in found]


def ready(stages: Sequence[Stage], done: Mapping[str, Done], begun: Iterable[str]) -> list[Stage]:
    """Return the stages that can begin: all that they need is done, the longest way ahead first.

    So the chains of several training seeds end at the same time, not one after the other.
    """
    out = set(begun) | set(done)
    ahead = ways_ahead(stages)
    can = [
        stage
        for stage in stages
        if stage.name not in out and all(need in done for need in stage.needs)
    ]
    return sorted(can, key=lambda stage: -ahead[stage.name])


def ways_ahead(stages: Sequence[Stage]) -> dict[str, int]:
    """Return by stage how many stages follow it on its longest way to an end."""
    found = {stage.name: 0 for stage in stages}
    for stage in reversed(stages):
        for need in stage.needs:
            found[need] = max(found[need], found[stage.name] + 1)
    return found
