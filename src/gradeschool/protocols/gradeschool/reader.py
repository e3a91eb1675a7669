"""`gradeschool/reader`: what a careful person would say the answer is, compared exactly."""

from __future__ import annotations

from gradeschool.answers.extractor import extract_final_answer
from gradeschool.answers.quantities import canonical_gold, same_answer
from gradeschool.problem import Problem
from gradeschool.scorer import Scorer
from gradeschool.verdict import Answer


class GoldAndQuestion(str):
    """A gold answer that knows its question: the reader tells the asked unit by it."""

    __slots__ = ("question",)
    question: str


def reference(problem: Problem) -> GoldAndQuestion:
    """Return the gold in the form of a reading, with the question."""
    gold = GoldAndQuestion(canonical_gold(problem.gold))
    gold.question = problem.question
    return gold


def question_of(reference: str) -> str:
    """Return the question that comes with a reference, empty where none does."""
    return getattr(reference, "question", "")


def read(text: str, reference: str) -> Answer | None:
    """Read the answer that the completion commits to."""
    reading = extract_final_answer(text, question_of(reference))
    if reading is None:
        return None
    span = (reading.start, reading.end)
    return Answer(text[slice(*span)], reading.value, span, reading.how)


READER = Scorer(
    name="gradeschool/reader",
    summary="what a careful person would read: the last statement or the conclusion; exactly equal",
    source="gradeschool/answers/reader.py",
    reference=reference,
    extract=read,
    compare=same_answer,
)
