"""Results of a few problems and their differences, for tests of `gradeschool.runs.diff`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradeschool import get_scorer
from gradeschool.formats.samples import Sample
from gradeschool.formats.settings import RecordedRequest
from gradeschool.problem import Problem
from gradeschool.runs.diff.pairs import DiffSide
from gradeschool.runs.diff.result import RunDifference, run_difference
from gradeschool.scoring.samples import Run

STRICT, FLEXIBLE = "lm-eval/gsm8k/strict-match", "lm-eval/gsm8k/flexible-extract"
GOLDS = ("5", "6", "7", "8")


def side(
    texts: Sequence[str],
    golds: Sequence[str] = GOLDS,
    finish: str = "unknown",
    requests: Sequence[RecordedRequest] = (),
    **settings: Any,
) -> DiffSide:
    """A result with one completion of each problem; a name with "_" is a setting with a space."""
    problems = [Problem.from_row(str(i), f"Q{i}?", f"#### {gold}") for i, gold in
                enumerate(golds)]  # fmt: skip
    samples = [
        Sample(row, problem=problem, sample=0, text=text, finish=finish)
        for row, (problem, text) in enumerate(zip(problems, texts, strict=False))
    ]
    named = {name.replace("_", " "): value for name, value in settings.items()}
    return DiffSide(Run("r", samples), "made up", named, dict(enumerate(requests)))


def diff(a: DiffSide, b: DiffSide, scorer_a: str = STRICT, scorer_b: str = "") -> RunDifference:
    return run_difference(a, b, (get_scorer(scorer_a), get_scorer(scorer_b or scorer_a)))


def field(delta: RunDifference, name: str) -> Any:
    return next((entry for entry in delta.fields if entry.name == name), None)
