"""`numeric-equality`: the number after "ANSWER:", else the last number; equal once normalised."""

from __future__ import annotations

import re

from gradeschool.answers.numbers import parse_decimal
from gradeschool.problem import Problem
from gradeschool.protocols.extractions import (
    last_behind_answer,
    last_number,
    normalized,
    normalized_gold,
)
from gradeschool.scorer import ScorerFailure, clip
from gradeschool.verdict import Answer, make_answer

ANSWER = re.compile(r"(?i)answer\s*:\s*\$?(-?\d[\d,]*\.?\d*)")
NUMBER = re.compile(r"-?\d[\d,]*\.?\d*")
last_number_in = last_number(NUMBER, clean=normalized)


def reference(problem: Problem) -> str:
    """Return the gold, normalised; raises ScorerFailure for a gold that is not a number."""
    gold = normalized_gold(problem)
    if parse_decimal(gold) is None:
        raise ScorerFailure(f"{clip(problem.gold)!r} is not a number")
    return gold


def extract(text: str, reference: str) -> Answer | None:
    """Extract the last "ANSWER: N" in any case, else the last number."""
    if (match := last_behind_answer(ANSWER, text)) is None:
        return last_number_in(text, reference)
    return make_answer((match[1], normalized(match[1]), match.span(1), "the last 'ANSWER: N'"))
