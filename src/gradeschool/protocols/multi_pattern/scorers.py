"""`multi-pattern`: five patterns in order, the last match of the first that matches, floats.

Kept as documented, faults included; `gradeschool.parse_gsm8k_answer` is the mended form.
"""

from __future__ import annotations

import re

from gradeschool.answers.search import (
    BOX,
    TextMatch,
    last_flat_box,
    last_match,
    last_match_in_words,
)
from gradeschool.problem import Problem
from gradeschool.scorer import Scorer, ScorerFailure
from gradeschool.verdict import Answer

HASHES = re.compile(r"####\s*([\d,.\-]+)")
# `\\boxed\{([^}]+)\}` stands second; `last_flat_box` finds the same in linear time.
ANSWER_IS = re.compile(r"[Tt]he\s+(?:final\s+)?answer\s+is[:\s]*\$?([\d,.\-]+)")
ANSWER_COLON = re.compile(r"(?i)answer\s*:\s*\$?([\d,.\-]+)")
NUMBER = re.compile(r"(-?[\d,]+\.?\d*)")
LAST_HASHES, LAST_BOX = "the last '#### N'", r"the last \boxed{}"
LAST_NUMBER = "the last number"
TOLERANCE = 1e-6


def read(text: str, reference: str) -> Answer | None:
    """Read the last match of the first pattern that matches at all."""
    for pattern, literal, how in (
        (HASHES, "####", LAST_HASHES),
        (None, BOX, LAST_BOX),
        (ANSWER_IS, "answer", "the last 'the answer is N'"),
        (ANSWER_COLON, ":", "the last 'answer: N'"),
    ):
        if literal not in text:  # which every match holds
            continue
        match = last_flat_box(text) if pattern is None else _group(last_match(pattern, text))
        if match is not None:
            return _answer(match, how)
    match = _group(last_match_in_words(NUMBER, text))
    return None if match is None else _answer(match, LAST_NUMBER)


def _answer(match: TextMatch, how: str) -> Answer:
    return Answer(match.text, _normalize(match.text), (match.start, match.end), how)


def _group(match: re.Match[str] | None) -> TextMatch | None:
    return None if match is None else TextMatch(match.group(1), *match.span(1))


def _normalize(text: str) -> str:
    cleaned = text.strip().replace(",", "").rstrip(".")
    try:
        number = float(cleaned)
        if number == int(number):
            return str(int(number))
    except ValueError:
        pass
    except OverflowError as error:  # int(inf): the documented function does not catch it
        raise ScorerFailure(f"OverflowError: {error}") from error
    return cleaned


def same(value: str, reference: str) -> bool:
    """Compare as strings, then as floats within 1e-6."""
    if value == reference:
        return True
    try:
        return abs(float(value) - float(reference)) < TOLERANCE
    except ValueError:
        return False


def reference(problem: Problem) -> str:
    """Return the gold, normalised."""
    return _normalize(problem.gold)


MULTI_PATTERN = Scorer(
    name="multi-pattern",
    summary="####, boxed, 'the answer is', 'answer:', else the last number; equal within 1e-6",
    source="the common multi-pattern parser (SOURCE.md)",
    reference=reference,
    extract=read,
    compare=same,
)
