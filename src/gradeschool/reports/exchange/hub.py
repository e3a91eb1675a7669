"""Hugging Face: a file for a model's `.eval_results/`, and the older `model-index` of its README.

Formats: hub-docs `docs/hub/eval-results.md`; huggingface_hub 2.4, `EvalResultEntry`, `EvalResult`.
Both are of the benchmark openai/gsm8k, whose leaderboard they enter: the whole test split, official
labels, every sample answered, or there is no file.
"""

from __future__ import annotations

from typing import Any

from gradeschool import __version__
from gradeschool.errors import InputError
from gradeschool.reports.exchange.bundle import Bundle
from gradeschool.reports.exchange.figures import accuracy_of
from gradeschool.reports.exchange.files import File, lines_file, storable

OURS = "gsm8k"
REPOSITORY, TASK = "openai/gsm8k", "gsm8k"


def eval_results_files(bundle: Bundle) -> list[File]:
    """Return the YAML file: one entry, by the headline scorer, in percent."""
    entry = {
        "dataset": {"id": REPOSITORY, "task_id": TASK},
        "value": _percent(bundle, 0),
        "date": bundle.begun.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "notes": _notes(bundle),
    }
    return [lines_file("", [_yaml([entry])])]


def model_index_files(bundle: Bundle) -> list[File]:
    """Return Markdown whose front matter is a `model-index`: the accuracy under each scorer."""
    _require_whole(bundle)
    decoding = bundle.facts("decoding")
    result = {
        "task": {"type": "text-generation", "name": "Grade-school math"},
        "dataset": {"name": "GSM8K", "type": REPOSITORY, "config": "main", "split": "test"},
        "metrics": [
            {
                "type": "accuracy",
                "value": _percent(bundle, at),
                "name": f"accuracy ({scorer.name})",
                "args": {
                    "protocol": bundle.task,
                    "scorer": scorer.name,
                    "temperature": decoding.get("temperature"),
                    "ci95": [round(100 * bound, 2) for bound in accuracy_of(bundle, at).interval],
                },
            }
            for at, scorer in enumerate(bundle.scorers)
        ],
    }
    index = {"model-index": [{"name": storable(bundle.model), "results": [result]}]}
    return [lines_file("", [b"---\n", _yaml(index), b"---\n"])]


def _percent(bundle: Bundle, at: int) -> float:
    _require_whole(bundle)
    return round(100 * accuracy_of(bundle, at).accuracy, 2)


def _require_whole(bundle: Bundle) -> None:
    """Raise InputError unless the run is one that a leaderboard of GSM8K may hold."""
    why = ""
    problems = {item.problem.id for item in bundle.answered()}
    failed = len(bundle.items) - len(bundle.answered()) + bundle.faults
    if bundle.dataset != OURS:
        why = f"its dataset is {bundle.dataset!r}, and the benchmark is the test split of GSM8K"
    elif len(problems) < bundle.size:
        why = f"it has answers to {len(problems):,} of {bundle.size:,} problems"
    elif failed:
        why = f"{failed} of its samples have no completion"
    if why:
        raise InputError(
            f"the run {bundle.model!r} is no result for {REPOSITORY}: {why}; "
            "finish it, or export to another format"
        )


def _notes(bundle: Bundle) -> str:
    share = accuracy_of(bundle, 0)
    low, high = (f"{100 * bound:.2f}" for bound in share.interval)
    digest = bundle.facts("protocol").get("digest")
    samples = share.judged // bundle.size
    mean = f", mean of {samples} samples" if samples > 1 else ""
    protocol = f"protocol {bundle.task} ({digest}), " if digest else ""
    return (
        f"{protocol}scorer {bundle.scorers[0].name}{mean}, 95 % interval {low} to {high}; "
        f"gradeschool {__version__}"
    )


def _yaml(value: Any) -> bytes:
    import yaml

    text = yaml.safe_dump(value, sort_keys=False, allow_unicode=False, width=100)
    return str(text).encode("ascii")
