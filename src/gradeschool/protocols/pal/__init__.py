"""PAL (Gao et al. 2022): GSM-Hard, a number within a thousandth of the gold.

PAL runs the program that a model writes and compares its result. Nothing is executed here: the
scorer extracts the last number of the text, such as the printed output of such a program.
"""

from __future__ import annotations

import re

from gradeschool.problem import Problem
from gradeschool.protocols.extractions import gold_without_commas, last_number
from gradeschool.scorer import ScorerFailure

NUMBER = re.compile(r"-?\d+(?:,\d{3})*(?:\.\d+)?(?:[eE][-+]?\d+)?")
TOLERANCE = 1e-3


def reference(problem: Problem) -> str:
    """Return the gold without commas. Raises ScorerFailure if it is not a number."""
    gold = gold_without_commas(problem)
    try:
        float(gold)
    except ValueError:
        raise ScorerFailure(f"no number: {problem.gold[:60]!r}") from None
    return gold


extract = last_number(NUMBER)


def compare(value: str, reference: str) -> bool:
    """Compare as floats within a thousandth."""
    return abs(float(value.replace(",", "")) - float(reference)) < TOLERANCE
