"""PAL (Gao et al. 2022): GSM-Hard, a number within a thousandth of the gold.

PAL runs the program that a model writes and compares its result. Nothing is executed here: the
scorer extracts the last number of the text, such as the printed output of such a program.

https://github.com/reasoning-machines/pal/blob/1fa4846a4a1e77576e9469b4e2c288f17680c172/scripts/gsm_eval.py
"""

from __future__ import annotations

import re

from gradeschool.answers.extractions import last_number
from gradeschool.problem import Problem
from gradeschool.scorer import Scorer, ScorerFailure

NUMBER = re.compile(r"-?\d+(?:,\d{3})*(?:\.\d+)?(?:[eE][-+]?\d+)?")
TOLERANCE = 1e-3


def reference(problem: Problem) -> str:
    """Return the gold without commas. Raises ScorerFailure if it is not a number."""
    gold = problem.gold.replace(",", "")
    try:
        float(gold)
    except ValueError:
        raise ScorerFailure(f"no number: {problem.gold[:60]!r}") from None
    return gold


def compare(value: str, reference: str) -> bool:
    """Compare as floats: less than a thousandth apart."""
    return abs(float(value.replace(",", "")) - float(reference)) < TOLERANCE


GSM_HARD = Scorer(
    name="pal/gsm-hard",
    summary="the last number, equal within 0.001 (PAL compares what the model's program returns)",
    source="reasoning-machines/pal @ 1fa4846a, scripts/gsm_eval.py",
    reference=reference,
    extract=last_number(NUMBER, "the last number"),
    compare=compare,
    dataset="gsm-hard",
)
SCORERS = (GSM_HARD,)
PROTOCOLS = ()
