"""Fine-tuning a generator on problems with their solutions."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from gradeschool.datasets.load import Dataset, load_dataset
from gradeschool.problem import Problem
from gradeschool.verifier import checkpoints
from gradeschool.verifier.base_model import Base, identity_of, load_base, save_folder
from gradeschool.verifier.dropout import drop_residuals
from gradeschool.verifier.example_batches import PASS_TOKENS, ExampleBatches
from gradeschool.verifier.examples import encode_problems, texts_of
from gradeschool.verifier.finetune_curves import Curves, make_dev
from gradeschool.verifier.optimizers import Kind
from gradeschool.verifier.packing import check_window, language_loss, take_packed
from gradeschool.verifier.parallel import ALONE, World
from gradeschool.verifier.tokens import VOCABULARY
from gradeschool.verifier.training import LOSSES, Settings, Trained, Update, train
from gradeschool.verifier.training_folder import WORK, TrainingFolder, opened

FINAL = "model"


@dataclass(frozen=True, slots=True)
class Finetuning:
    """What is asked for; together with the files that it names it decides the model.

    model: a folder or "new:SIZE". batch: examples an update. `epochs` may be a fraction. loss_on:
    "solution" masks the question. dev: a dataset for curves, `dev_problems` of it, each sampled
    `dev_samples` times. pass_tokens: computed at a time; a batch that has more is accumulated.
    """

    model: str
    dataset: str
    limit: int | None = None
    epochs: float = 2.0
    optimizer: Kind = "adam"
    lr: float = 1e-5
    warmup: int = 0
    batch: int = 32
    dropout: float = 0.0
    weight_decay: float = 0.0
    clip: float = 1.0
    loss_on: Literal["solution", "both"] = "solution"
    vocabulary: int = VOCABULARY
    seed: int = 0
    dev: str | None = None
    dev_problems: int = 100
    dev_samples: int = 1
    pass_tokens: int = PASS_TOKENS


class Listener(NamedTuple):
    """What is called while it goes: a note in words, every update, every row of the curves."""

    note: Callable[[str], None]
    update: Callable[[Update], None]
    row: Callable[[dict[str, Any]], None]


QUIET = Listener(lambda _: None, lambda _: None, lambda _: None)


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
    job = Job(asked, load_dataset(asked.dataset), load_dataset(asked.dev) if asked.dev else None)
    run = _Run(job, output, world, save_every, listener)
    if not world.first:
        return run.go(None)
    with opened(output, job.facts()) as folder:
        if not folder.finished:
            folder.begin(command, world.describe())
        return run.go(folder)


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


class _Run:
    """One command's part of a fine-tuning."""

    def __init__(
        self, job: Job, output: Path, world: World, save_every: int, listener: Listener
    ) -> None:
        self.job, self.output, self.world = job, output, world
        self.save_every, self.listener = save_every, listener

    def go(self, folder: TrainingFolder | None) -> Mapping[str, Any]:
        """Train, and write the model; only the first process has the folder."""
        (finished,) = self.world.any(folder is not None and folder.finished)
        if finished:
            return {"status": "finished"} if folder is None else folder.fields
        base, batches, left_out = self._prepare()
        asked = self.job.asked
        settings = Settings(
            asked.optimizer, asked.lr, asked.warmup, asked.weight_decay, asked.clip, asked.seed,
            self.save_every,
        )  # fmt: skip
        self._announce(base, batches, left_out)
        work = self.output / WORK
        curves = self._curves(base, batches, work) if folder is not None else None
        trained = train(
            base.model,
            batches,
            language_loss,
            settings,
            work,
            world=self.world,
            after=curves,
            marks=batches.epoch_ends() if self.job.dev is not None else (),
            tell=self.listener.update if self.world.first else None,
        )
        if folder is None:
            return {"status": "running" if trained.stopped else "finished"}
        if trained.stopped:
            return {**folder.fields, "updates": trained.updates}
        self._finish(folder, base, trained, left_out)
        return folder.fields

    def _prepare(self) -> tuple[Base, ExampleBatches, list[str]]:
        """Return the model, the batches, and the ids of problems that do not fit."""
        asked, problems = self.job.asked, self.job.problems
        base = load_base(asked.model, lambda: texts_of(problems), asked.vocabulary, asked.seed)
        drop_residuals(base.model, asked.dropout)
        take_packed(base.model)
        encoded = encode_problems(base.tokenizer, problems, base.context)
        check_window(base.model, max(len(one.ids) for one in encoded.examples))
        batches = ExampleBatches(
            encoded.examples,
            asked.epochs,
            asked.batch,
            asked.seed,
            whole=asked.loss_on == "both",
            pass_tokens=asked.pass_tokens,
        )
        return base, batches, encoded.too_long

    def _announce(self, base: Base, batches: ExampleBatches, left_out: Sequence[str]) -> None:
        if not self.world.first:
            return
        weights = sum(one.numel() for one in base.model.parameters())
        note = self.listener.note
        note(
            f"{weights:,} weights, {len(batches.examples):,} examples, {len(batches):,} updates of "
            f"{batches.batch}; {self.world.describe()}"
        )
        if left_out:
            shown = ", ".join(left_out[:5])
            note(
                f"{len(left_out)} problems are longer than the model's {base.context} tokens and "
                f"left out: {shown}{' ...' if len(left_out) > 5 else ''}"
            )

    def _curves(self, base: Base, batches: ExampleBatches, work: Path) -> Curves | None:
        """Return what measures the model at the end of every epoch, None without dev problems."""
        asked, dev = self.job.asked, self.job.dev
        if dev is None:
            return None
        facts = checkpoints.facts_of(work / checkpoints.CHECKPOINT)
        return Curves(
            self.output,
            int(facts["updates"]) if facts else 0,
            make_dev(
                base.tokenizer,
                dev.problems[: asked.dev_problems],
                base.context,
                asked.dev_samples,
                asked.seed,
            ),
            base.tokenizer,
            len(batches.examples) / batches.batch,
            self.listener.row,
        )

    def _finish(
        self, folder: TrainingFolder, base: Base, trained: Trained, left_out: Sequence[str]
    ) -> None:
        files = folder.work / FINAL
        shutil.rmtree(files, ignore_errors=True)
        save_folder(base, trained.model, files)
        losses = folder.work / LOSSES
        losses.replace(files / LOSSES)
        folder.finish(
            files,
            {
                "updates": trained.updates,
                "tokens": trained.tokens,
                "seconds": round(trained.seconds, 2),
                "losses": trained.losses,
                "left_out": left_out,
            },
        )
