"""Fine-tune a generator on problems with their solutions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from gradeschool.datasets.load import load_dataset
from gradeschool.problem import MARKER
from gradeschool.verifier.base_model import VOCABULARY, identify_model, load_base, save_folder
from gradeschool.verifier.data import language_items, use_chat
from gradeschool.verifier.losses import TrainedModel
from gradeschool.verifier.train import (
    Prepared,
    TrainingJob,
    TrainingSettings,
    change_model,
    run_training,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finetuning(TrainingSettings):
    """The settings of a fine-tuning.

    model: a folder, a FILE.gguf or "new:SIZE". loss_on: "both", the paper's, learns the question
    too; "answer" replaces the solution by its final answer, for the ablation without steps.
    """

    model: str
    dataset: str
    loss_on: Literal["solution", "both", "answer"] = "both"
    vocabulary: int = VOCABULARY


def finetune(settings: Finetuning, job: TrainingJob) -> dict[str, Any]:
    """Fine-tune a model into the job's folder; see `run_training`.

    Raises InputError for a model, dataset or setting that cannot be used.
    """
    identity = identify_model(settings.model)  # raises its errors before a dataset is fetched
    data = load_dataset(settings.dataset)
    problems = data.problems[: settings.limit]
    if settings.loss_on == "answer":
        problems = tuple(replace(each, solution=f"{MARKER} {each.gold}") for each in problems)
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
        whole = settings.loss_on == "both"
        items, left_out = language_items(base.tokenizer, problems, base.context, whole)
        adapters = change_model(base.model, settings)

        def save(folder: Path, losses: Mapping[str, float]) -> None:
            save_folder(base, folder, adapters)

        return Prepared(base, TrainedModel(base.model), items, save, left_out)

    return run_training(job, settings, facts, prepare)
