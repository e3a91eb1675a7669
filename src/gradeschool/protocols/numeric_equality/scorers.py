"""`numeric-equality`: the number behind "ANSWER:", else the last number; equal once normalised.

https://github.com/aisa-group/PostTrainBench/issues/44 (711 must not match 11, nor 149 match 49).
"""

from __future__ import annotations

import re

from gradeschool.answers.search import last_match, last_match_in_words
from gradeschool.problem import Problem
from gradeschool.scorer import Scorer, ScorerFailure, verbatim
from gradeschool.verdict import Answer

ANSWER = re.compile(r"(?i)answer\s*:\s*\$?(-?\d[\d,]*\.?\d*)")
LAST_ANSWER = "the last 'ANSWER: N'"
NUMBER = re.compile(r"-?\d[\d,]*\.?\d*")


def read(text: str, reference: str) -> Answer | None:
    """Read the last "ANSWER: N" in any case, else the last number."""
    match, how, group = last_match(ANSWER, text) if ":" in text else None, LAST_ANSWER, 1
    if match is None:
        match, how, group = last_match_in_words(NUMBER, text), "the last number", 0
    if match is None:
        return None
    return Answer(match.group(group), _normalize(match.group(group)), match.span(group), how)


def _normalize(text: str) -> str:
    """Normalise as the proposal does, through floats; past their range there is no verdict."""
    cleaned = text.strip().replace(",", "").rstrip(".")
    try:
        number = float(cleaned)
        return str(int(number)) if number == int(number) else cleaned
    except OverflowError as error:
        raise ScorerFailure(f"OverflowError: {error}") from error
    except ValueError:
        return cleaned


def reference(problem: Problem) -> str:
    """Return the gold, normalised."""
    return _normalize(problem.gold)


NUMERIC_EQUALITY = Scorer(
    name="numeric-equality",
    summary="the number behind 'ANSWER:', else the last number; equal once normalised",
    source="aisa-group/PostTrainBench #44 (SOURCE.md)",
    reference=reference,
    extract=read,
    compare=verbatim,
)
