"""`gradeschool/parse-answer`: the multi-pattern reading, its faults mended, compared exactly."""

from __future__ import annotations

from gradeschool.answers.numbers import answers_match, normalize
from gradeschool.answers.parse import RUN_ON, read_answer
from gradeschool.problem import Problem
from gradeschool.rule import LastLine, Rule
from gradeschool.verdict import Answer

# What may stand before the last line and still decide, in lower case.
MARKERS = ("####", "boxed", "answer", "think>", "question", "q:", "q :", "q\t:")


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


def settles(line: str, answer: Answer | None) -> bool:
    """Tell whether a last line decides: an answer is in it and no further question."""
    return answer is not None and RUN_ON.search(line) is None


PARSE_ANSWER = Rule(
    name="gradeschool/parse-answer",
    summary="####, boxed, 'the answer is', 'answer:', else the last number; exactly equal",
    source="gradeschool/answers/parse.py",
    reference=reference,
    read=read,
    same=answers_match,
    last_line=LastLine(MARKERS, settles),
)
