"""Fine-tuning a generator on problems with their solutions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from gradeschool.datasets.load import Dataset, load_datasets
from gradeschool.problem import Problem
from gradeschool.verifier import checkpoints
from gradeschool.verifier.base_model import Base, identity_of, load_base, save_folder
from gradeschool.verifier.dropout import drop_residuals
from gradeschool.verifier.example_batches import ExampleBatches
from gradeschool.verifier.examples import encode_problems, texts_of
from gradeschool.verifier.finetune_curves import CURVES, Curves, make_dev
from gradeschool.verifier.packing import check_window, language_loss, take_packed
from gradeschool.verifier.parallel import ALONE, World
from gradeschool.verifier.tokens import VOCABULARY
from gradeschool.verifier.training import Trained
from gradeschool.verifier.training_session import (
    QUIET,
    Listener,
    Prepared,
    Recipe,
    Session,
    run,
)


@dataclass(frozen=True, slots=True)
class Finetuning(Recipe):
    """What is asked for of a fine-tuning.

    model: a folder or "new:SIZE". `epochs` may be a fraction. batch: examples an update. loss_on:
    "solution" masks the question. dev: a dataset for curves, `dev_problems` of it, each sampled
    `dev_samples` times.
    """

    model: str
    dataset: str
    epochs: float = 2.0
    batch: int = 32
    loss_on: Literal["solution", "both"] = "solution"
    vocabulary: int = VOCABULARY
    dev: str | None = None
    dev_problems: int = 100
    dev_samples: int = 1


def finetune(
    asked: Finetuning,
    output: Path,
    *,
    world: World = ALONE,
    save_every: int = 200,
    command: str = "",
    listener: Listener = QUIET,
) -> Mapping[str, Any]:
    """Fine-tune a model into a folder, from its checkpoint where there is one.

    Returns training.json's fields; their "status" is "running" where a signal ended it early.
    Raises InputError for a model, dataset or setting that cannot be used, StoreError for a folder
    that holds another training or cannot be written.
    """
    identity_of(asked.model)  # raises before a dataset is fetched
    datasets = load_datasets([asked.dataset, *([asked.dev] if asked.dev else [])])
    job = Job(asked, datasets[asked.dataset], datasets[asked.dev] if asked.dev else None)
    session = Session(output, world, command, listener)
    return run(session, job.facts, lambda: _prepare(job, session, save_every))


class Job(NamedTuple):
    """What is asked for, with its problems."""

    asked: Finetuning
    data: Dataset
    dev: Dataset | None

    @property
    def problems(self) -> Sequence[Problem]:
        """The problems that are trained on."""
        return self.data.problems[: self.asked.limit]

    def facts(self) -> dict[str, Any]:
        """Return all that decides the model, for training.json."""
        facts = asdict(self.asked)
        facts["model_files"] = identity_of(self.asked.model)
        facts["dataset_sha256"] = self.data.sha256
        facts["problems"] = len(self.problems)
        if self.dev is not None:
            facts["dev_sha256"] = self.dev.sha256
        return facts


def _prepare(job: Job, session: Session, save_every: int) -> Prepared:
    asked, problems = job.asked, job.problems
    base = load_base(asked.model, lambda: texts_of(problems), asked.vocabulary, asked.seed)
    drop_residuals(base.model, asked.dropout)
    take_packed(base.model)
    encoded = encode_problems(base.tokenizer, problems, base.context)
    check_window(base.model, max(len(one.ids) for one in encoded.examples))
    batches = ExampleBatches(
        encoded.examples, asked.epochs, asked.batch, asked.seed,
        whole=asked.loss_on == "both", pass_tokens=asked.pass_tokens,
    )  # fmt: skip
    _announce(session, base, batches, encoded.too_long)
    curves = _curves(job, session, base, batches)

    def save(trained: Trained, files: Path) -> None:
        save_folder(base, trained.model, files)
        if curves is not None:
            curves.log.path.replace(files / CURVES)

    return Prepared(
        base.model,
        batches,
        language_loss,
        asked.settings(save_every),
        save,
        encoded.too_long,
        after=curves,
        marks=batches.epoch_ends() if job.dev is not None else (),
    )


def _announce(
    session: Session, base: Base, batches: ExampleBatches, left_out: Sequence[str]
) -> None:
    weights = sum(one.numel() for one in base.model.parameters())
    session.note(
        f"{weights:,} weights, {len(batches.examples):,} examples, {len(batches):,} updates of "
        f"{batches.batch}; {session.world.describe()}"
    )
    if left_out:
        shown = ", ".join(left_out[:5])
        session.note(
            f"{len(left_out)} problems are longer than the model's {base.context} tokens and "
            f"left out: {shown}{' ...' if len(left_out) > 5 else ''}"
        )


def _curves(job: Job, session: Session, base: Base, batches: ExampleBatches) -> Curves | None:
    """Return what measures the model at the end of every epoch, None without dev problems."""
    asked = job.asked
    if job.dev is None or not session.world.first:
        return None
    facts = checkpoints.facts_of(session.work / checkpoints.CHECKPOINT)
    problems = job.dev.problems[: asked.dev_problems]
    return Curves(
        session.work,
        int(facts["updates"]) if facts else 0,
        make_dev(base.tokenizer, problems, base.context, asked.dev_samples, asked.seed),
        base.tokenizer,
        len(batches.examples) / batches.batch,
        session.listener.row,
    )
