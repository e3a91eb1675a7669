"""`gradeschool/parse-answer`: the multi-pattern reading, its faults mended, compared exactly."""

from __future__ import annotations

from gradeschool.answers.numbers import answers_match, normalize
from gradeschool.answers.parse import answer_part, read_answer
from gradeschool.problem import Problem
from gradeschool.scan import (
    HAS_ANSWER,
    HAS_ANSWERS,
    HAS_BARE_BOX,
    HAS_BOLD,
    HAS_BOX,
    HAS_HASHES,
    HAS_Q,
    HAS_THOUGHT,
    Scan,
    box,
    hashes,
    number,
)
from gradeschool.scorer import Claim, Scorer, found
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


def from_answer(scan: Scan) -> str:
    """Return the text from the only "answer" on, with the character before it.

    A line that ends in a letter or period ends the part: no number begins there and goes on.
    """
    start, end = max(scan.answer - 1, 0), scan.text.find("\n", scan.answer)
    ended = end > 0 and (scan.text[end - 1] == "." or scan.text[end - 1].isalpha())
    return scan.text[start:end] if ended else scan.text[start:]


def shortened(scan: Scan) -> str | None:
    """Return the part that decides of what stands behind the thoughts and before a question."""
    rest = Scan(answer_part(scan.text))
    claims = (claim for claim in ANSWERED if claim.holds(rest.holds))
    return next((claim.part(rest) for claim in claims), None)


def settles(part: str, answer: Answer | None) -> bool:
    """Tell whether a part with a marker decides: what is announced there was read."""
    return answer is not None and answer.how.startswith("the last '")


def boxed(part: str, answer: Answer | None) -> bool:
    """Tell whether a part that is a box decides."""
    return answer is not None and "boxed" in answer.how


def hashed(part: str, answer: Answer | None) -> bool:
    """Tell whether a part with "####" decides."""
    return answer is not None and "####" in answer.how


def settles_shortened(part: str, answer: Answer | None) -> bool:
    """Tell whether a part decides, by the marker that it begins with, if it has one."""
    if part.startswith("####"):
        return hashed(part, answer)
    if part.startswith("\\boxed"):
        return boxed(part, answer)
    return settles(part, answer) or (answer is not None and "answer" not in part.casefold())


ANSWERED = (
    Claim(hashes, hashed, HAS_HASHES),
    Claim(box, boxed, HAS_BOX, unless=HAS_HASHES),
    Claim(
        from_answer, settles, HAS_ANSWER, unless=HAS_HASHES | HAS_BOX | HAS_BARE_BOX | HAS_ANSWERS
    ),
    Claim(number, found, unless=HAS_HASHES | HAS_BOX | HAS_BARE_BOX | HAS_ANSWER | HAS_BOLD),
)
LONGER = HAS_THOUGHT | HAS_Q

PARSE_ANSWER = Scorer(
    name="gradeschool/parse-answer",
    summary="####, boxed, 'the answer is', 'answer:', else the last number; exactly equal",
    source="gradeschool/answers/parse.py",
    reference=reference,
    read=read,
    same=answers_match,
    claims=(
        *(claim._replace(unless=claim.unless | LONGER) for claim in ANSWERED),
        Claim(shortened, settles_shortened, needs=HAS_Q, unless=HAS_THOUGHT),
    ),
)
