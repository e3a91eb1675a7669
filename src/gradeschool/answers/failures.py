"""Why a completion did not score: one cause, in a word that can be counted."""

from __future__ import annotations

import re
from enum import StrEnum

from gradeschool.answers.numbers import answers_match
from gradeschool.answers.parse import parse_gsm8k_answer, stated_answer

REFUSAL = re.compile(
    r"(?i)\b(?:I\s(?:can(?:no|['’])t|am\s(?:not\sable|unable)\sto)|I['’]m\s(?:sorry|unable|not\sable))\b"
)
# A text that ends otherwise ends in the middle of something.
CLOSING = tuple(".!?:;)]}\"'`*$%|>€£’”…")


class Failure(StrEnum):
    """Causes, from "nothing came" to "a number came, and it is wrong"."""

    NO_RESPONSE = "no response"
    FILTERED = "stopped by a filter"
    UNFINISHED_THINKING = "only unfinished thinking"
    TRUNCATED = "truncated"
    REFUSAL = "refusal"
    NO_NUMBER = "no number"
    SIGN_LOST = "sign lost"
    SCALE = "scale"
    WRONG_VALUE = "wrong value"


def detect_answer_failure(
    text: str, gold: str | None = None, finish: str | None = None
) -> Failure | None:
    """Return why a completion has no right answer, or None where nothing is wrong with it.

    text: the completion. gold: the gold answer; without it only the form is judged. finish: the
    server's finish reason: "length" means that the text was cut, which is the cause unless an
    answer was stated before; "content_filter" that a filter ended it; without one, a text without
    a number that ends in the middle of a sentence counts as cut. Never raises.
    """
    stripped = text.strip()
    if not stripped:
        return Failure.FILTERED if finish == "content_filter" else Failure.NO_RESPONSE
    read = parse_gsm8k_answer(text)
    if read is not None and gold is not None and answers_match(read, gold):
        return None
    if finish == "content_filter":
        return Failure.FILTERED
    if "<think>" in text and "</think>" not in text:
        return Failure.UNFINISHED_THINKING
    if finish == "length" and stated_answer(text) is None:
        return Failure.TRUNCATED
    if read is None:
        return _no_number(stripped, finish)
    return None if gold is None else _wrong_number(read, gold)


def _no_number(stripped: str, finish: str | None) -> Failure:
    if REFUSAL.search(stripped[:400]):
        return Failure.REFUSAL
    says_nothing = finish in (None, "unknown")
    cut = says_nothing and not stripped.endswith(CLOSING)
    return Failure.TRUNCATED if cut else Failure.NO_NUMBER


def _wrong_number(read: str, gold: str) -> Failure:
    read = read.replace(",", "")
    if answers_match(read.lstrip("-"), gold.strip().lstrip("-")):
        return Failure.SIGN_LOST
    scaled = (f"{read}e2", f"{read}e-2", f"{read}e3", f"{read}e-3")
    if any(answers_match(value, gold) for value in scaled):
        return Failure.SCALE
    return Failure.WRONG_VALUE
