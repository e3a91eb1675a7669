"""`numeric-equality`: the number after "ANSWER:", else the last number; equal once normalised.

https://github.com/aisa-group/PostTrainBench/issues/44 (711 must not match 11, nor 149 match 49).
"""

from __future__ import annotations

import re

from gradeschool.answers.extractions import (
    last_behind_answer,
    last_number,
    normalized,
    normalized_gold,
)
from gradeschool.scorer import Scorer, verbatim
from gradeschool.verdict import Answer, answer_of

ANSWER = re.compile(r"(?i)answer\s*:\s*\$?(-?\d[\d,]*\.?\d*)")
LAST_ANSWER = "the last 'ANSWER: N'"
NUMBER = re.compile(r"-?\d[\d,]*\.?\d*")
last_number_in = last_number(NUMBER, clean=normalized)


def extract(text: str, reference: str) -> Answer | None:
    """Extract the last "ANSWER: N" in any case, else the last number."""
    match = last_behind_answer(ANSWER, text)
    if match is None:
        return last_number_in(text, reference)
    number = match[1]
    return answer_of((number, normalized(number), match.span(1), LAST_ANSWER))


NUMERIC_EQUALITY = Scorer(
    name="numeric-equality",
    summary="the number after 'ANSWER:', else the last number; equal once normalised",
    source="aisa-group/PostTrainBench #44 (SOURCE.md)",
    reference=normalized_gold,
    extract=extract,
    compare=verbatim,
)

SCORERS = (NUMERIC_EQUALITY,)
PROTOCOLS = ()
