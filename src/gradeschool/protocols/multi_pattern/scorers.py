"""`multi-pattern`: five patterns in order, the last match of the first that matches, floats.

Kept as documented, faults included; `gradeschool.parse_gsm8k_answer` is the mended form.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from gradeschool.answers.search import BOX, TextMatch, last_flat_box, last_match
from gradeschool.protocols.extractions import last_number, normalized, normalized_gold
from gradeschool.scorer import Scorer
from gradeschool.verdict import Answer

HASHES = re.compile(r"####\s*([\d,.\-]+)")
# `\\boxed\{([^}]+)\}` stands second; `last_flat_box` finds the same in linear time.
ANSWER_IS = re.compile(r"[Tt]he\s+(?:final\s+)?answer\s+is[:\s]*\$?([\d,.\-]+)")
ANSWER_COLON = re.compile(r"(?i)answer\s*:\s*\$?([\d,.\-]+)")
NUMBER = re.compile(r"(-?[\d,]+\.?\d*)")
last_number_in = last_number(NUMBER, clean=normalized)
TOLERANCE = 1e-6


def _last(pattern: re.Pattern[str]) -> Callable[[str], TextMatch | None]:
    def find(text: str) -> TextMatch | None:
        match = last_match(pattern, text)
        return None if match is None else TextMatch(match[1], *match.span(1))

    return find


# What every match holds, the function that finds the last one, and how it is described.
STATEMENTS = (
    ("####", _last(HASHES), "the last '#### N'"),
    (BOX, last_flat_box, r"the last \boxed{}"),
    ("answer", _last(ANSWER_IS), "the last 'the answer is N'"),
    (":", _last(ANSWER_COLON), "the last 'answer: N'"),
)


def extract(text: str, reference: str) -> Answer | None:
    """Extract the last match of the first pattern that matches at all."""
    for literal, find, how in STATEMENTS:
        match = find(text) if literal in text else None
        if match is not None:
            return Answer(match.text, normalized(match.text), (match.start, match.end), how)
    return last_number_in(text, reference)


def compare(value: str, reference: str) -> bool:
    """Compare as strings, then as floats within 1e-6."""
    if value == reference:
        return True
    try:
        return abs(float(value) - float(reference)) < TOLERANCE
    except ValueError:
        return False


MULTI_PATTERN = Scorer(
    name="multi-pattern",
    summary="####, boxed, 'the answer is', 'answer:', else the last number; equal within 1e-6",
    source="the common multi-pattern parser (SOURCE.md)",
    reference=normalized_gold,
    extract=extract,
    compare=compare,
)
