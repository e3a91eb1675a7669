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
from gradeschool.formats.own_run import fingerprint
from gradeschool.verifier.base_model import identity_of, load_folder, save_folder
from gradeschool.verifier.candidates import CandidateRun, candidates_of
from gradeschool.verifier.dropout import drop_residuals
from gradeschool.verifier.head import VERIFIER_FILE, Reserved, Verifier, new_verifier
from gradeschool.verifier.labels import Data, Language, count_labels, groups_of, in_words
from gradeschool.verifier.objective import GroupBatches, Level, losses
from gradeschool.verifier.packing import take_packed
from gradeschool.verifier.parallel import ALONE, World
from gradeschool.verifier.session import (
    QUIET,
    Listener,
    Prepared,
    Session,
    run,
)
from gradeschool.verifier.training import Trained, TrainingSettings

JOINT = "joint"


@dataclass(frozen=True, slots=True)
class VerifierTraining(TrainingSettings):
    """The settings of a verifier's training.

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
    settings: VerifierTraining,
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
    for model in filter(None, (settings.generator, settings.init)):
        identity_of(model)  # raises before a dataset is fetched
    sampled = _samples(settings, listener)
    session = Session(output, world, command, listener, save_every)
    return run(
        session,
        lambda: facts_of(settings, sampled),
        lambda: _prepare(settings, sampled, session),
    )


def _samples(settings: VerifierTraining, listener: Listener) -> CandidateRun:
    runs = candidates_of(settings.samples, settings.dataset, listener.note)
    if len(runs) > 1:
        raise InputError(
            f"{settings.samples!r} holds {len(runs)} runs; "
            f"give one: {settings.samples}#{runs[0].run}"
        )
    sampled = runs[0]
    return sampled._replace(answered=sampled.answered[: settings.limit])


def facts_of(settings: VerifierTraining, sampled: CandidateRun) -> dict[str, Any]:
    """Return everything that determines the verifier, for training.json."""
    facts = asdict(settings)
    facts["generator_files"] = identity_of(settings.generator)
    if settings.init is not None:
        facts["init_files"] = identity_of(settings.init)
    path = sampled.path / "completions.jsonl" if sampled.path.is_dir() else sampled.path
    facts["samples_file"] = fingerprint(path)
    facts["labels"] = count_labels(sampled.answered).as_json()
    facts["scorer"] = sampled.scorer
    return facts


def language_of(settings: VerifierTraining) -> Language | None:
    """Return the texts of the language loss, None without that loss."""
    if settings.objective != JOINT:
        return None
    return settings.language or ("right" if settings.level == Level.LIKELIHOOD else "reference")


def _prepare(settings: VerifierTraining, sampled: CandidateRun, session: Session) -> Prepared:
    base = load_folder(Path(settings.init or settings.generator))
    level = Level(settings.level)
    verifier, reserved = new_verifier(
        base.model, base.tokenizer, settings.seed, level is Level.LIKELIHOOD
    )
    drop_residuals(base.model, settings.dropout)
    with suppress(InputError):  # without, rows are padded
        take_packed(base.model)
    data = groups_of(sampled, base.tokenizer, base.context, language_of(settings))
    batches = GroupBatches(
        data.groups, settings.epochs, settings.batch, settings.group, settings.seed,
        level=level, pass_tokens=settings.pass_tokens,
    )  # fmt: skip
    _announce(session, sampled, verifier, reserved, data, batches)

    def save(trained: Trained, files: Path) -> None:
        save_folder(base, trained.model.model, files)
        fields = {**trained.model.fields(), **_origin(settings, sampled, reserved, trained)}
        write_file(files / VERIFIER_FILE, f"{json.dumps(fields, indent=2)}\n".encode())

    return Prepared(verifier, batches, losses, settings, save, data.too_long)


def _announce(
    session: Session,
    sampled: CandidateRun,
    verifier: Verifier,
    reserved: Reserved,
    data: Data,
    batches: GroupBatches,
) -> None:
    weights = sum(weight.numel() for weight in verifier.parameters())
    token = f"token {reserved.id} {reserved.text!r}, {reserved.how}"
    session.note(
        f"{weights:,} weights, head on {token}; {in_words(count_labels(sampled.answered))}; "
        f"{len(batches):,} updates of {batches.batch} groups; {session.world.describe()}"
    )
    if data.too_long:
        session.note(
            f"{len(data.too_long)} problems have no solution that the model can read, and are "
            f"left out: {', '.join(data.too_long[:5])}"
        )


def _origin(
    settings: VerifierTraining, sampled: CandidateRun, reserved: Reserved, trained: Trained
) -> dict[str, Any]:
    """Return what verifier.json says beside the head."""
    manifest = sampled.manifest
    return {
        "token": reserved.text,
        "token_how": reserved.how,
        "level": str(settings.level),
        "objective": settings.objective,
        "language": language_of(settings),
        "generator": identity_of(settings.generator),
        "init": identity_of(settings.init) if settings.init else "generator",
        "samples": {
            "run": sampled.run,
            "model": manifest.get("model"),
            "dataset": manifest.get("dataset"),
            "decoding": manifest.get("decoding"),
            "scorer": sampled.scorer,
            **count_labels(sampled.answered).as_json(),
        },
        "updates": trained.updates,
        "losses": dict(trained.losses),
    }
