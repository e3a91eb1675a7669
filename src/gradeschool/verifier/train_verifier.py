"""Training a verifier on the labelled completions of a run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from gradeschool.errors import InputError
from gradeschool.runs.files import write_whole
from gradeschool.runs.finish import fingerprint
from gradeschool.verifier.base_model import identity_of, load_folder, save_folder
from gradeschool.verifier.candidates import Held, candidates_of
from gradeschool.verifier.dropout import drop_residuals
from gradeschool.verifier.example_batches import PASS_TOKENS
from gradeschool.verifier.group_batches import GroupBatches
from gradeschool.verifier.head import VERIFIER_FILE, Verifier, new_verifier
from gradeschool.verifier.labelled import Data, Language, count_labels, groups_of, in_words
from gradeschool.verifier.objective import Level, losses
from gradeschool.verifier.optimizers import Kind
from gradeschool.verifier.packing import take_packed
from gradeschool.verifier.parallel import ALONE, World
from gradeschool.verifier.reserved import Reserved
from gradeschool.verifier.training import LOSSES, Settings, Trained, Update, train
from gradeschool.verifier.training_folder import WORK, TrainingFolder, opened

FINAL = "model"
JOINT = "joint"


@dataclass(frozen=True, slots=True)
class VerifierTraining:
    """What is asked for; together with the files that it names it decides the verifier.

    generator: the folder of the model that wrote the samples. init: the folder whose weights the
    verifier begins with, None for the generator's. samples: a run, of which the first `limit`
    problems are used. batch: groups an update; a group is a problem with at most `group` of its
    different solutions. level, objective: the paper's are "token" and "joint". language: what a
    joint training learns the language of, None for the reference solutions, or for the samples that
    are right with the level "likelihood".
    """

    generator: str
    samples: str
    init: str | None = None
    dataset: str | None = None
    limit: int | None = None
    epochs: float = 1.0
    level: Level = Level.TOKEN
    objective: Literal["joint", "verification"] = "joint"
    language: Language | None = None
    optimizer: Kind = "adam"
    lr: float = 1e-5
    warmup: int = 0
    batch: int = 8
    group: int = 8
    dropout: float = 0.0
    weight_decay: float = 0.0
    clip: float = 1.0
    seed: int = 0
    pass_tokens: int = PASS_TOKENS


class Listener(NamedTuple):
    """What is called while it goes: a note in words, every update."""

    note: Callable[[str], None]
    update: Callable[[Update], None]


QUIET = Listener(lambda _: None, lambda _: None)


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
    if world.kind == "fsdp" and world.size > 1:
        raise InputError(
            "a verifier cannot be trained with FSDP yet, whose layers may run only once in a pass; "
            "use --parallel ddp"
        )
    held = _samples(asked, listener)
    run = _Run(asked, held, output, world, save_every, listener)
    if not world.first:
        return run.go(None)
    with opened(output, facts_of(asked, held)) as folder:
        if not folder.finished:
            folder.begin(command, world.describe())
        return run.go(folder)


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
    facts["rule"] = held.rule
    return facts


def language_of(asked: VerifierTraining) -> Language | None:
    """Return what the language is learnt of, None where it is not learnt."""
    if asked.objective != JOINT:
        return None
    return asked.language or ("right" if asked.level == Level.LIKELIHOOD else "reference")


class _Run:
    """One command's part of a training."""

    def __init__(
        self,
        asked: VerifierTraining,
        held: Held,
        output: Path,
        world: World,
        save_every: int,
        listener: Listener,
    ) -> None:
        self.asked, self.held, self.output, self.world = asked, held, output, world
        self.save_every, self.listener = save_every, listener

    def go(self, folder: TrainingFolder | None) -> Mapping[str, Any]:
        """Train, and write the verifier; only the first process has the folder."""
        (finished,) = self.world.any(folder is not None and folder.finished)
        if finished:
            return {} if folder is None else folder.fields
        asked = self.asked
        base = load_folder(Path(asked.init or asked.generator))
        likelihood = asked.level == Level.LIKELIHOOD
        verifier, reserved = new_verifier(base.model, base.tokenizer, asked.seed, likelihood)
        drop_residuals(base.model, asked.dropout)
        with suppress(InputError):  # without, questions are shared and rows padded
            take_packed(base.model)
        data = groups_of(self.held, base.tokenizer, base.context, language_of(asked))
        batches = GroupBatches(
            data.groups, asked.epochs, asked.batch, asked.group, asked.seed,
            level=Level(asked.level), pass_tokens=asked.pass_tokens,
        )  # fmt: skip
        settings = Settings(
            asked.optimizer, asked.lr, asked.warmup, asked.weight_decay, asked.clip, asked.seed,
            self.save_every,
        )  # fmt: skip
        self._announce(verifier, reserved, data, batches)
        tell = self.listener.update if self.world.first else None
        trained = train(
            verifier, batches, losses, settings, self.output / WORK, world=self.world, tell=tell
        )
        if folder is None:
            return {"status": "running" if trained.stopped else "finished"}
        if not trained.stopped:
            files = folder.work / FINAL
            shutil.rmtree(files, ignore_errors=True)
            save_folder(base, trained.model.model, files)
            body = json.dumps(self._verifier_fields(trained.model, reserved, trained), indent=2)
            write_whole(files / VERIFIER_FILE, f"{body}\n".encode())
            (folder.work / LOSSES).replace(files / LOSSES)
            folder.finish(files, {**_result(trained), "left_out": list(data.too_long)})
        return folder.fields

    def _announce(
        self, verifier: Verifier, reserved: Reserved, data: Data, batches: GroupBatches
    ) -> None:
        if not self.world.first:
            return
        weights = sum(one.numel() for one in verifier.parameters())
        labels = count_labels(self.held.answered)
        token = f"token {reserved.id} {reserved.text!r}, {reserved.how}"
        self.listener.note(
            f"{weights:,} weights, head on {token}; {in_words(labels)}; {len(batches):,} updates "
            f"of {batches.batch} groups; {self.world.describe()}"
        )
        if data.too_long:
            self.listener.note(
                f"{len(data.too_long)} problems have no solution that the model can read, and are "
                f"left out: {', '.join(data.too_long[:5])}"
            )

    def _verifier_fields(
        self, verifier: Verifier, reserved: Reserved, trained: Trained
    ) -> dict[str, Any]:
        asked, manifest = self.asked, self.held.manifest
        return {
            **verifier.fields(),
            "token": reserved.text,
            "token_how": reserved.how,
            "level": str(asked.level),
            "objective": asked.objective,
            "language": language_of(asked),
            "generator": identity_of(asked.generator),
            "init": identity_of(asked.init) if asked.init else "generator",
            "samples": {
                "run": self.held.run,
                "model": manifest.get("model"),
                "dataset": manifest.get("dataset"),
                "decoding": manifest.get("decoding"),
                "rule": self.held.rule,
                **count_labels(self.held.answered).as_json(),
            },
            "updates": trained.updates,
            "losses": dict(trained.losses),
        }


def _result(trained: Trained) -> dict[str, Any]:
    return {
        "updates": trained.updates,
        "tokens": trained.tokens,
        "seconds": round(trained.seconds, 2),
        "losses": dict(trained.losses),
    }
