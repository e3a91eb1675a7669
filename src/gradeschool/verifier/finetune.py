"""Fine-tune a generator on problems with their solutions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from gradeschool.completion import Decoding, Message, Prompt
from gradeschool.datasets.load import load_datasets
from gradeschool.models.base import Reply, Request
from gradeschool.models.transformers_model import TransformersEngine
from gradeschool.problem import MARKER, Problem
from gradeschool.scoring.judge import judge
from gradeschool.verifier.base_model import (
    VOCABULARY,
    add_lora,
    drop_residuals,
    identify_model,
    load_base,
    save_folder,
)
from gradeschool.verifier.data import encode, language_items, use_chat, uses_chat
from gradeschool.verifier.head import read_logprobs
from gradeschool.verifier.losses import TrainedModel
from gradeschool.verifier.train import Prepared, TrainingJob, TrainingSettings, run_training

SCORER = "openai/2021"
TEMPERATURE, MAX_TOKENS = 0.7, 400  # the paper's


@dataclass(frozen=True, slots=True, kw_only=True)
class Finetuning(TrainingSettings):
    """The settings of a fine-tuning.

    model: a folder, a FILE.gguf or "new:SIZE". loss_on: "both", the paper's, learns the question
    too; "answer" replaces the solution by its final answer, for the ablation without steps. dev: a
    dataset for curves; `dev_problems` of its problems are used, each sampled `dev_samples` times.
    """

    model: str
    dataset: str
    loss_on: Literal["solution", "both", "answer"] = "both"
    vocabulary: int = VOCABULARY
    dev: str | None = None
    dev_problems: int = 100
    dev_samples: int = 1


def finetune(settings: Finetuning, job: TrainingJob) -> dict[str, Any]:
    """Fine-tune a model into the job's folder; see `run_training`.

    Raises InputError for a model, dataset or setting that cannot be used.
    """
    identity = identify_model(settings.model)  # raises its errors before a dataset is fetched
    datasets = load_datasets([settings.dataset, *([settings.dev] if settings.dev else [])])
    data = datasets[settings.dataset]
    problems = data.problems[: settings.limit]
    if settings.loss_on == "answer":
        problems = tuple(replace(each, solution=f"{MARKER} {each.gold}") for each in problems)
    dev = datasets[settings.dev].problems[: settings.dev_problems] if settings.dev else ()
    facts = {
        **asdict(settings),
        "model_files": identity,
        "dataset_sha256": data.sha256,
        "problems": len(problems),
    }

    def prepare() -> Prepared:
        texts = [f"{problem.question}\n{problem.solution}" for problem in problems]
        base = load_base(settings.model, texts, settings.vocabulary, settings.seed)
        if settings.chat:
            use_chat(base.tokenizer, settings.model)
        found = language_items(base.tokenizer, problems, base.context, settings.loss_on == "both")
        drop_residuals(base.model, settings.dropout)
        adapters = add_lora(base.model, settings.lora, settings.seed) if settings.lora else None

        def save(folder: Path, losses: Mapping[str, float]) -> None:
            save_folder(base, folder, adapters)

        def measure() -> dict[str, float]:
            return _measure(base.model, base.tokenizer, dev, settings)

        return Prepared(
            base, TrainedModel(base.model), found.items, save, found.too_long,
            measure if dev else None,
        )  # fmt: skip

    return run_training(job, settings, facts, prepare)


def _measure(
    model: Any, tokenizer: Any, problems: Sequence[Problem], settings: Finetuning
) -> dict[str, float]:
    """Return the loss on the solutions, test@1 (greedy), and for several samples test@k."""
    texts = [encode(tokenizer, problem.question, problem.solution) for problem in problems]
    values = read_logprobs(model, texts)
    found = {"dev_loss": -sum(map(sum, values)) / sum(map(len, values))}
    greedy = _correct(model, tokenizer, problems, 1, 0.0, settings.seed)
    found["test@1"] = sum(map(any, greedy)) / len(greedy)
    k = settings.dev_samples
    if k > 1:
        drawn = _correct(model, tokenizer, problems, k, TEMPERATURE, settings.seed)
        found["k"] = float(k)
        found["mean@k"] = sum(map(sum, drawn)) / (k * len(drawn))
        found["test@k"] = sum(map(any, drawn)) / len(drawn)
    return found


def _correct(
    model: Any, tokenizer: Any, problems: Sequence[Problem], samples: int, temperature: float,
    seed: int,
) -> list[list[bool]]:  # fmt: skip
    """Return which samples of each problem are correct."""
    decoding = Decoding(temperature, max_tokens=MAX_TOKENS, seed=seed)
    waiting = []
    for problem in problems:
        prompt = Prompt(text=f"{problem.question}\n")
        if uses_chat(tokenizer):
            prompt = Prompt(messages=(Message("user", problem.question),))
        waiting += [Request(problem, prompt, decoding, problem.id, number)
                    for number in range(samples)]  # fmt: skip
    marks: dict[str, list[bool]] = {problem.id: [] for problem in problems}

    def take(most: int) -> list[Request]:
        taken, waiting[:] = waiting[:most], waiting[most:]
        return taken

    for results in TransformersEngine(model, tokenizer, calculator=True).write(take):
        for request, reply in results:
            text = reply.text if isinstance(reply, Reply) else ""
            marks[request.key].append(judge(text, request.problem, SCORER).correct)
    return list(marks.values())
