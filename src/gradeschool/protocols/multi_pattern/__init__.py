"""`multi-pattern`: five patterns in order, the last match of the first that matches, floats.

Kept as documented, faults included; `gradeschool.parse_gsm8k_answer` is the corrected form.
"""

from __future__ import annotations

import re

from gradeschool.answers.search import last_match, mentions_answer
from gradeschool.protocols.extractions import (
    HASH,
    last_behind_answer,
    last_match_behind,
    last_number,
    normalized,
)
from gradeschool.verdict import Answer, make_answer

HASHES = re.compile(r"####\s*([\d,.\-]+)")
BOXED = re.compile(r"\\boxed\{([^}]+)\}")
ANSWER_IS = re.compile(r"[Tt]he\s+(?:final\s+)?answer\s+is[:\s]*\$?([\d,.\-]+)")
ANSWER_COLON = re.compile(r"(?i)answer\s*:\s*\$?([\d,.\-]+)")
NUMBER = re.compile(r"(-?[\d,]+\.?\d*)")
last_number_in = last_number(NUMBER, clean=normalized)
TOLERANCE = 1e-6


def extract(text: str, reference: str) -> Answer | None:
    """Extract the last match of the first pattern that matches at all."""
    how = "the last '#### N'"
    match = last_match_behind("####", HASHES, text) if HASH in text else None
    if match is None and "\\boxed{" in text:  # each box has its end: the search is linear
        how, match = r"the last \boxed{}", last_match(BOXED, text[: text.rfind("}") + 1])
    if match is None and mentions_answer(text):
        how, match = "the last 'the answer is N'", last_match(ANSWER_IS, text)
    if match is None:
        how, match = "the last 'answer: N'", last_behind_answer(ANSWER_COLON, text)
    if match is None:
        return last_number_in(text, reference)
    return make_answer((match[1], normalized(match[1]), match.span(1), how))


def compare(value: str, reference: str) -> bool:
    """Compare as strings, then as floats within 1e-6."""
    try:
        return value == reference or abs(float(value) - float(reference)) < TOLERANCE
    except ValueError:
        return False
