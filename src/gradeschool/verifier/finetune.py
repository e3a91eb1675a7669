"""Fine-tune a generator on problems with their solutions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from gradeschool.datasets.load import Dataset, load_datasets
from gradeschool.problem import Problem
from gradeschool.verifier.adapters import ADAPTER, add_lora, take_lora
from gradeschool.verifier.base_model import (
    VOCABULARY,
    BaseModel,
    drop_residuals,
    identity_of,
    load_base,
    save_folder,
)
from gradeschool.verifier.examples import TrainingExample, encode_problems, training_texts
from gradeschool.verifier.packing import (
    LANGUAGE,
    PASS_TOKENS,
    ExampleBatches,
    check_window,
    divided,
    language_loss,
    pack,
    take_packed,
)
from gradeschool.verifier.session import (
    PreparedTraining,
    Session,
    run,
)
from gradeschool.verifier.training import (
    CHECKPOINT,
    RowsLog,
    TrainingResult,
    TrainingSettings,
    checkpoint_facts,
)


@dataclass(frozen=True, slots=True)
class Finetuning(TrainingSettings):
    """The settings of a fine-tuning.

    model: a folder or "new:SIZE". `epochs` may be a fraction. batch: examples per update. loss_on:
    "solution" masks the question. dev: a dataset for curves; `dev_problems` of its problems are
    used, each sampled `dev_samples` times.
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


def finetune(settings: Finetuning, session: Session) -> Mapping[str, Any]:
    """Fine-tune a model into the folder of a session, from its checkpoint if there is one.

    Returns training.json's fields; their "status" is "running" if a signal ended it early. A dry
    run plans updates and memory, and writes nothing. Raises InputError for a model, dataset or
    setting that cannot be used, StoreError for a folder that contains another training or cannot be
    written.
    """
    identity_of(settings.model)  # raises its errors before a dataset is fetched
    names = [settings.dataset, *([settings.dev] if settings.dev else [])]
    datasets = load_datasets(names)
    job = FinetuningData(
        settings, datasets[settings.dataset], datasets[settings.dev] if settings.dev else None
    )
    return run(session, job.facts, lambda: _prepare(job, session))


class FinetuningData(NamedTuple):
    """The settings of a fine-tuning, with its problems."""

    settings: Finetuning
    data: Dataset
    dev: Dataset | None

    @property
    def problems(self) -> Sequence[Problem]:
        """The training problems."""
        return self.data.problems[: self.settings.limit]

    def facts(self) -> dict[str, Any]:
        """Return everything that determines the model, for training.json."""
        facts = asdict(self.settings)
        facts["model_files"] = identity_of(self.settings.model)
        facts["dataset_sha256"] = self.data.sha256
        facts["problems"] = len(self.problems)
        if self.dev is not None:
            facts["dev_sha256"] = self.dev.sha256
        return facts


def _prepare(job: FinetuningData, session: Session) -> PreparedTraining:
    settings, problems = job.settings, job.problems
    base = load_base(
        settings.model, lambda: training_texts(problems), settings.vocabulary, settings.seed
    )
    drop_residuals(base.model, settings.dropout)
    if settings.lora:
        add_lora(base.model, settings.lora, settings.seed)
    take_packed(base.model)
    encoded = encode_problems(base.tokenizer, problems, base.context)
    check_window(base.model, max(len(example.ids) for example in encoded.examples))
    batches = ExampleBatches(
        encoded.examples, settings.epochs, settings.batch, settings.seed,
        whole=settings.loss_on == "both", pass_tokens=settings.pass_tokens,
    )  # fmt: skip
    _announce(session, base, batches, encoded.too_long)
    curves = None
    if job.dev is not None and session.world.first:
        epoch = len(batches.items) / batches.batch
        dev_problems = job.dev.problems[: settings.dev_problems]
        curves = DevCurves(settings, dev_problems, session, base, epoch)

    def save(trained: TrainingResult, files: Path) -> None:
        take_lora(trained.model, files / ADAPTER)
        save_folder(base, trained.model, files, settings.save_dtype)
        if curves is not None:
            curves.log.path.replace(files / CURVES)

    return PreparedTraining(
        base.model,
        batches,
        language_loss,
        settings,
        save,
        encoded.too_long,
        after=curves,
        marks=batches.epoch_ends() if job.dev is not None else (),
    )


def _announce(
    session: Session, base: BaseModel, batches: ExampleBatches, left_out: Sequence[str]
) -> None:
    weights = sum(weight.numel() for weight in base.model.parameters())
    session.note(
        f"{weights:,} weights, {len(batches.items):,} examples, {len(batches):,} updates of "
        f"{batches.batch}; {session.world.describe()}"
    )
    if left_out:
        shown = ", ".join(left_out[:5])
        session.note(
            f"{len(left_out)} problems are longer than the model's {base.context} tokens and "
            f"left out: {shown}{' ...' if len(left_out) > 5 else ''}"
        )


CURVES = "curves.jsonl"
SCORER = "openai/2021"
TEMPERATURE, MAX_TOKENS = 0.7, 400  # the paper's


class DevCurves:
    """Writes a row of curves.jsonl when called with an update's number and the model.

    Rows after the last checkpoint are dropped: a resumed training writes them again. Raises
    InputError if no problem fits into the model's context.
    """

    def __init__(
        self,
        settings: Finetuning,
        problems: Sequence[Problem],
        session: Session,
        base: BaseModel,
        updates_an_epoch: float,
    ) -> None:
        facts = checkpoint_facts(session.work / CHECKPOINT)
        encoded = encode_problems(base.tokenizer, problems, base.context)
        long = set(encoded.too_long)
        self.problems = [problem for problem in problems if problem.id not in long]
        self.examples = encoded.examples
        self.settings, self.tokenizer, self.tell = settings, base.tokenizer, session.listener.row
        self.updates_an_epoch = updates_an_epoch
        self.log = RowsLog(session.work / CURVES, int(facts["updates"]) if facts else 0)

    def __call__(self, update: int, model: Any) -> None:
        """Measure the model, write the row and report it."""
        import torch

        model.eval()
        row: dict[str, Any] = {
            "update": update,
            "epoch": round(update / self.updates_an_epoch, 3),
            "problems": len(self.problems),
        }
        with torch.inference_mode():
            row["dev_loss"] = round(loss_on(model, self.examples), 5)
            row |= self._accuracy(model)
        self.log.add(row)
        self.tell(row)

    def _accuracy(self, model: Any) -> dict[str, float]:
        """Return test@1 (greedy) and, for several samples, their mean and test@k."""
        greedy = self._correct(model, 1, 0.0)
        row: dict[str, float] = {"test@1": _mean([marks[0] for marks in greedy])}
        k = self.settings.dev_samples
        if k > 1:
            marks = self._correct(model, k, TEMPERATURE)
            row["k"] = k
            row["mean@k"] = _mean([_mean(values) for values in marks])
            row["test@k"] = _mean([any(values) for values in marks])
        return row

    def _correct(self, model: Any, samples: int, temperature: float) -> list[list[bool]]:
        """Return which samples of each problem are correct."""
        from gradeschool.completion import Decoding, Prompt
        from gradeschool.models.base import Reply, Request
        from gradeschool.models.transformers_model import TransformersEngine
        from gradeschool.scoring.judge import judge

        decoding = Decoding(temperature, max_tokens=MAX_TOKENS, seed=self.settings.seed)
        waiting = [
            Request(
                problem, Prompt(text=f"{problem.question}\n"), decoding, (problem.id,), (number,)
            )
            for problem in self.problems
            for number in range(samples)
        ]
        marks: dict[str, list[bool]] = {problem.id: [] for problem in self.problems}

        def take(most: int) -> list[Request]:
            taken, waiting[:] = waiting[:most], waiting[most:]
            return taken

        for results in TransformersEngine(model, self.tokenizer, True).write(take):
            for request, reply in results:
                text = reply.text if isinstance(reply, Reply) else ""
                marks[request.key].append(judge(text, request.problem, SCORER).correct)
        return list(marks.values())


def loss_on(model: Any, examples: Sequence[TrainingExample]) -> float:
    """Return the cross-entropy of the solutions, the mean over their tokens."""
    total = tokens = 0.0
    device = next(model.parameters()).device
    for part in divided([len(example.ids) for example in examples], 1, PASS_TOKENS):
        batch = pack([examples[index] for index in part]).to(device)
        total += float(language_loss(model, batch)[LANGUAGE])
        tokens += batch.counts[LANGUAGE]
    return total / tokens


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
