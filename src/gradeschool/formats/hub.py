"""Hugging Face: a file for a model's `.eval_results/`, and the older `model-index` of its README.

Formats: hub-docs `docs/hub/eval-results.md`; huggingface_hub 2.4, `EvalResultEntry`, `EvalResult`.
Both are results of the benchmark openai/gsm8k for its leaderboard. They are written only for the
whole test split under the official labels with every sample answered.
"""

from __future__ import annotations

from typing import Any

from gradeschool import __version__
from gradeschool.errors import InputError
from gradeschool.formats.export import (
    ExportedFile,
    ExportedRun,
    ExportedScore,
    lines_file,
    storable,
)
from gradeschool.percentages import bounds

DATASET = "gsm8k"
REPOSITORY, TASK = "openai/gsm8k", "gsm8k"


def eval_results_files(run: ExportedRun) -> list[ExportedFile]:
    """Return the YAML file: one entry with the headline scorer's accuracy in percent."""
    _require_whole(run)
    entry = {
        "dataset": {"id": REPOSITORY, "task_id": TASK},
        "value": _percent(run.scores[0]),
        "date": run.begun.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "notes": _notes(run),
    }
    return [lines_file("", [_yaml([entry])])]


def model_index_files(run: ExportedRun) -> list[ExportedFile]:
    """Return Markdown whose front matter is a `model-index`: the accuracy under each scorer."""
    _require_whole(run)
    decoding = run.facts("decoding")
    result = {
        "task": {"type": "text-generation", "name": "Grade-school math"},
        "dataset": {"name": "GSM8K", "type": REPOSITORY, "config": "main", "split": "test"},
        "metrics": [
            {
                "type": "accuracy",
                "value": _percent(score),
                "name": f"accuracy ({score.scorer.name})",
                "args": {
                    **({"protocol": run.protocol} if run.protocol else {}),
                    "scorer": score.scorer.name,
                    "temperature": decoding.get("temperature"),
                    "ci95": [round(100 * bound, 2) for bound in score.interval],
                },
            }
            for score in run.judged_scores()
        ],
    }
    index = {"model-index": [{"name": storable(run.model), "results": [result]}]}
    return [lines_file("", [b"---\n", _yaml(index), b"---\n"])]


def _percent(score: ExportedScore) -> float:
    return round(100 * score.accuracy, 2)


def _require_whole(run: ExportedRun) -> None:
    """Raise InputError unless the run may enter a GSM8K leaderboard."""
    reason, advice = "", "finish it, or export to another format"
    problems = {sample.problem.id for sample in run.answered()}
    failed = len(run.samples) - len(run.answered()) + run.faults
    if run.dataset != DATASET:
        reason = f"its dataset is {run.dataset!r}, and the benchmark is the test split of GSM8K"
        advice = "export to another format"
    elif len(problems) < run.size:
        reason = f"it has answers to {len(problems):,} of {run.size:,} problems"
    elif failed:
        reason = f"{failed} of its samples {'has' if failed == 1 else 'have'} no completion"
    elif not run.scores[0].judged:
        reason = f"{run.scores[0].scorer.name} can judge none of its completions"
        advice = "export it under another scorer"
    if reason:
        raise InputError(
            f"the run {run.model!r} is not a result for {REPOSITORY}: {reason}; {advice}"
        )


def _notes(run: ExportedRun) -> str:
    score = run.scores[0]
    interval = bounds(score.interval, between=" to ")
    digest = run.facts("protocol").get("digest")
    samples = score.judged // run.size
    mean = f", mean of {samples} samples" if samples > 1 else ""
    protocol = f"protocol {run.task} ({digest}), " if digest else ""
    return (
        f"{protocol}scorer {score.scorer.name}{mean}, 95 % interval {interval}; "
        f"gradeschool {__version__}"
    )


def _yaml(value: Any) -> bytes:
    import yaml

    text = yaml.safe_dump(value, sort_keys=False, allow_unicode=False, width=100)
    return str(text).encode("ascii")
