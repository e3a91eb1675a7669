"""`gradeschool/parse-answer`: the multi-pattern reading, its faults mended, compared exactly."""

from __future__ import annotations

from gradeschool.answers.numbers import answers_match, normalize
from gradeschool.answers.parse import read_answer
from gradeschool.problem import Problem
from gradeschool.scorer import Scorer
from gradeschool.verdict import Answer


def read(text: str, reference: str) -> Answer | None:
    """Read the answer that the completion states."""
    reading = read_answer(text)
    if reading is None:
        return None
    span = (reading.start, reading.end)
    return Answer(text[slice(*span)], reading.value, span, reading.how)


def reference(problem: Problem) -> str:
    """Return the gold without commas; its sign stays."""
    return normalize(problem.gold)


PARSE_ANSWER = Scorer(
    name="gradeschool/parse-answer",
    summary="####, boxed, 'the answer is', 'answer:', else the last number; exactly equal",
    source="gradeschool/answers/parse.py",
    reference=reference,
    extract=read,
    compare=answers_match,
)
