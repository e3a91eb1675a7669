"""Training a verifier on the labelled completions of a run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from gradeschool.atomic import write_file
from gradeschool.errors import InputError
from gradeschool.runs.results import fingerprint
from gradeschool.verifier.base_model import identity_of, load_folder, save_folder
from gradeschool.verifier.candidates import Held, candidates_of
from gradeschool.verifier.dropout import drop_residuals
from gradeschool.verifier.group_batches import GroupBatches
from gradeschool.verifier.head import VERIFIER_FILE, Verifier, new_verifier
from gradeschool.verifier.labelled import Data, Language, count_labels, groups_of, in_words
from gradeschool.verifier.objective import Level, losses
from gradeschool.verifier.packing import take_packed
from gradeschool.verifier.parallel import ALONE, World
from gradeschool.verifier.reserved import Reserved
from gradeschool.verifier.training import Trained
from gradeschool.verifier.training_session import (
    QUIET,
    Listener,
    Prepared,
    Recipe,
    Session,
    run,
)

JOINT = "joint"


@dataclass(frozen=True, slots=True)
class VerifierTraining(Recipe):
    """What is asked for of a verifier's training.

    generator: the folder of the model that wrote the samples. init: the folder whose weights the
    verifier begins with, None for the generator's. samples: a run. batch: groups an update; a group
    is a problem with at most `group` of its different solutions. level, objective: the paper's are
    "token" and "joint". language: what a joint training learns the language of, None for the
    reference solutions, or for the samples that are right with the level "likelihood".
    """

    generator: str
    samples: str
    init: str | None = None
    dataset: str | None = None
    level: Level = Level.TOKEN
    objective: Literal["joint", "verification"] = "joint"
    language: Language | None = None
    epochs: float = 1.0
    batch: int = 8
    group: int = 8


def train_verifier(
    asked: VerifierTraining,
    output: Path,
    *,
    world: World = ALONE,
    save_every: int = 200,
    command: str = "",
    listener: Listener = QUIET,
) -> Mapping[str, Any]:
    """Train a verifier into a folder, from its checkpoint where there is one.

    Returns training.json's fields; their "status" is "running" where a signal ended it early.
    Raises InputError for models, samples or settings that cannot be used, StoreError for a folder
    that holds another training or cannot be written.
    """
    for model in filter(None, (asked.generator, asked.init)):
        identity_of(model)  # raises before a dataset is fetched
    held = _samples(asked, listener)
    session = Session(output, world, command, listener)
    return run(
        session, lambda: facts_of(asked, held), lambda: _prepare(asked, held, session, save_every)
    )


def _samples(asked: VerifierTraining, listener: Listener) -> Held:
    found = candidates_of(asked.samples, asked.dataset, listener.note)
    if len(found) > 1:
        raise InputError(
            f"{asked.samples!r} holds {len(found)} runs; give one: {asked.samples}#{found[0].run}"
        )
    held = found[0]
    return held._replace(answered=held.answered[: asked.limit])


def facts_of(asked: VerifierTraining, held: Held) -> dict[str, Any]:
    """Return all that decides the verifier, for training.json."""
    facts = asdict(asked)
    facts["generator_files"] = identity_of(asked.generator)
    if asked.init is not None:
        facts["init_files"] = identity_of(asked.init)
    path = held.path / "completions.jsonl" if held.path.is_dir() else held.path
    facts["samples_file"] = fingerprint(path)
    facts["labels"] = count_labels(held.answered).as_json()
    facts["scorer"] = held.scorer
    return facts


def language_of(asked: VerifierTraining) -> Language | None:
    """Return what the language is learnt of, None where it is not learnt."""
    if asked.objective != JOINT:
        return None
    return asked.language or ("right" if asked.level == Level.LIKELIHOOD else "reference")


def _prepare(asked: VerifierTraining, held: Held, session: Session, save_every: int) -> Prepared:
    base = load_folder(Path(asked.init or asked.generator))
    level = Level(asked.level)
    verifier, reserved = new_verifier(
        base.model, base.tokenizer, asked.seed, level is Level.LIKELIHOOD
    )
    drop_residuals(base.model, asked.dropout)
    with suppress(InputError):  # without, rows are padded
        take_packed(base.model)
    data = groups_of(held, base.tokenizer, base.context, language_of(asked))
    batches = GroupBatches(
        data.groups, asked.epochs, asked.batch, asked.group, asked.seed,
        level=level, pass_tokens=asked.pass_tokens,
    )  # fmt: skip
    _announce(session, held, verifier, reserved, data, batches)

    def save(trained: Trained, files: Path) -> None:
        save_folder(base, trained.model.model, files)
        fields = {**trained.model.fields(), **_origin(asked, held, reserved, trained)}
        write_file(files / VERIFIER_FILE, f"{json.dumps(fields, indent=2)}\n".encode())

    return Prepared(verifier, batches, losses, asked.settings(save_every), save, data.too_long)


def _announce(
    session: Session,
    held: Held,
    verifier: Verifier,
    reserved: Reserved,
    data: Data,
    batches: GroupBatches,
) -> None:
    weights = sum(one.numel() for one in verifier.parameters())
    token = f"token {reserved.id} {reserved.text!r}, {reserved.how}"
    session.note(
        f"{weights:,} weights, head on {token}; {in_words(count_labels(held.answered))}; "
        f"{len(batches):,} updates of {batches.batch} groups; {session.world.describe()}"
    )
    if data.too_long:
        session.note(
            f"{len(data.too_long)} problems have no solution that the model can read, and are "
            f"left out: {', '.join(data.too_long[:5])}"
        )


def _origin(
    asked: VerifierTraining, held: Held, reserved: Reserved, trained: Trained
) -> dict[str, Any]:
    """Return what verifier.json says beside the head."""
    manifest = held.manifest
    return {
        "token": reserved.text,
        "token_how": reserved.how,
        "level": str(asked.level),
        "objective": asked.objective,
        "language": language_of(asked),
        "generator": identity_of(asked.generator),
        "init": identity_of(asked.init) if asked.init else "generator",
        "samples": {
            "run": held.run,
            "model": manifest.get("model"),
            "dataset": manifest.get("dataset"),
            "decoding": manifest.get("decoding"),
            "scorer": held.scorer,
            **count_labels(held.answered).as_json(),
        },
        "updates": trained.updates,
        "losses": dict(trained.losses),
    }
