"""Our own scorers.

`gradeschool/parse-answer`: the multi-pattern reading without its faults, compared exactly.

`gradeschool/reader`: the answer that a careful person would read, compared exactly.
"""

from __future__ import annotations

from gradeschool.answers.extractor import ExtractedAnswer, extract_final_answer
from gradeschool.answers.numbers import answers_match, normalize
from gradeschool.answers.parse import ParsedAnswer, read_answer
from gradeschool.answers.quantities import canonical_gold, same_answer
from gradeschool.problem import Problem
from gradeschool.scorer import Scorer
from gradeschool.verdict import Answer


def parse_answer(text: str, reference: str) -> Answer | None:
    """Extract the answer that the completion states."""
    return _answer(text, read_answer(text))


def gold_of(problem: Problem) -> str:
    """Return the gold without commas; its sign stays."""
    return normalize(problem.gold)


PARSE_ANSWER = Scorer(
    name="gradeschool/parse-answer",
    summary="####, boxed, 'the answer is', 'answer:', else the last number; exactly equal",
    source="gradeschool/answers/parse.py",
    reference=gold_of,
    extract=parse_answer,
    compare=answers_match,
)


class GoldAndQuestion(str):
    """A gold answer with its question, from which the extractor tells the unit asked for."""

    __slots__ = ("question",)
    question: str


def gold_and_question(problem: Problem) -> GoldAndQuestion:
    """Return the gold in the form of an extracted value, with the question."""
    gold = GoldAndQuestion(canonical_gold(problem.gold))
    gold.question = problem.question
    return gold


def question_of(reference: str) -> str:
    """Return the question that comes with a reference, empty where none does."""
    return getattr(reference, "question", "")


def extract_answer(text: str, reference: str) -> Answer | None:
    """Extract the answer that the completion commits to."""
    return _answer(text, extract_final_answer(text, question_of(reference)))


def _answer(text: str, reading: ParsedAnswer | ExtractedAnswer | None) -> Answer | None:
    if reading is None:
        return None
    start, end = reading.start, reading.end
    return Answer(text[start:end], reading.value, (start, end), reading.how)


READER = Scorer(
    name="gradeschool/reader",
    summary="what a careful person would read: the last statement or the conclusion; exactly equal",
    source="gradeschool/answers/extractor.py",
    reference=gold_and_question,
    extract=extract_answer,
    compare=same_answer,
)
