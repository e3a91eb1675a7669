"""Why a completion has no right answer: one cause, in a word that can be counted."""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple

from gradeschool.answers.arithmetic import first_slip
from gradeschool.answers.form import LENGTH, UNTOLD, is_code, is_refusal, looks_cut
from gradeschool.answers.near import Near, near, scale_of
from gradeschool.answers.quantities import canonical_gold, same_answer
from gradeschool.answers.reader import Confidence, Reading, read_completion
from gradeschool.answers.regions import DIGIT, Region, committed_region

FILTER = "content_filter"


class Failure(StrEnum):
    """Causes of a miss.

    First what keeps a completion from having an answer, then how its answer is wrong; the last
    group is of scorers alone: the text is right and the scorer misses it, or the other way round.
    """

    PROVIDER_ERROR = "provider error"
    NO_RESPONSE = "no response"
    FILTERED = "stopped by a filter"
    UNFINISHED_THINKING = "only unfinished thinking"
    TRUNCATED = "truncated"
    REFUSAL = "refusal"
    CODE_ONLY = "code only"
    NO_NUMBER = "no number"
    NOT_STATED = "no answer stated"

    SIGN_LOST = "sign lost"
    SCALE = "scale"
    ROUNDING = "rounding"
    ARITHMETIC_SLIP = "arithmetic slip"
    SUSPECTED_LABEL = "suspected label"
    WRONG_VALUE = "wrong value"

    FORMAT_MISSING = "format missing"
    RUN_ON = "run-on"
    COMMA_SPLIT = "comma split"
    UNIT_KEPT = "unit or zeros kept"
    AFFIX = "suffix or prefix"
    OTHER_NUMBER = "another number"
    SCORER_FAILED = "the scorer failed"


class Cause(NamedTuple):
    """A cause with its evidence in one sentence, and the characters that show it, if any."""

    failure: Failure
    evidence: str
    span: tuple[int, int] | None = None


def detect_answer_failure(
    text: str, gold: str | None = None, finish: str | None = None, question: str = ""
) -> Failure | None:
    """Return why a completion has no right answer, or None where nothing is wrong with it.

    text: the completion. gold: the gold answer; without it only the form is judged. finish: the
    server's finish reason: "length" means that the text was cut, which is the cause unless an
    answer was stated before; "content_filter" that a filter ended it; without one, a text that ends
    in the middle of a sentence before it states an answer counts as cut. question: helps the reader
    to tell one unit from another. Deterministic, linear, never raises.
    """
    reading, region = read_completion(text, question), committed_region(text, question)
    cause = cause_of_text(text, reading, region, gold, finish)
    return None if cause is None else cause.failure


def is_right(reading: Reading | None, gold: str) -> bool:
    """Tell whether a reading is the gold answer."""
    return reading is not None and same_answer(reading.value, canonical_gold(gold))


def cause_of_text(
    text: str,
    reading: Reading | None,
    region: Region,
    gold: str | None = None,
    finish: str | None = None,
) -> Cause | None:
    """Return what `detect_answer_failure` does, with the evidence.

    reading: what the house reader reads in the text. region: the part of it that counts.
    """
    if not text.strip():
        return _empty(finish)
    if gold is not None and is_right(reading, gold):
        return None
    if finish == FILTER:
        return Cause(Failure.FILTERED, "the finish reason is 'content_filter'")
    if region.thinking:
        return Cause(Failure.UNFINISHED_THINKING, "the thinking is never closed: there is no reply")
    stated = reading is not None and reading.confidence is not Confidence.GUESSED
    if not stated:
        cause = _cut(text, region, finish, reading)
        if cause is not None:
            return cause
        if is_code(text, region) and (reading is None or not region.coded):
            return Cause(Failure.CODE_ONLY, "a program, and no word about its result")
    if reading is None:
        return _nothing_stated(text, region)
    return None if gold is None else _wrong_number(region, reading.value, canonical_gold(gold))


def _empty(finish: str | None) -> Cause:
    if finish == FILTER:
        return Cause(Failure.FILTERED, "no text: the finish reason is 'content_filter'")
    limit = " but white space, and the limit ended it" if finish == LENGTH else ""
    return Cause(Failure.NO_RESPONSE, f"there is no text{limit}")


def _cut(text: str, region: Region, finish: str | None, reading: Reading | None) -> Cause | None:
    if finish == LENGTH:
        return Cause(Failure.TRUNCATED, "the limit ended it before it stated an answer")
    guessed = reading is None or region.end - reading.end > 0
    if finish in UNTOLD and guessed and not region.ran_on and looks_cut(text):
        return Cause(Failure.TRUNCATED, f"it ends in the middle: …{text.rstrip()[-30:]!r}")
    return None


def _nothing_stated(text: str, region: Region) -> Cause:
    if is_refusal(region):
        return Cause(Failure.REFUSAL, "it declines to answer")
    if DIGIT.search(region.text, region.start, region.end) is None:
        behind = ", only in what it ran on to" if DIGIT.search(text, region.end) else ""
        return Cause(Failure.NO_NUMBER, f"no number in the answer{behind}")
    return Cause(Failure.NOT_STATED, "numbers, but none that is said to be the answer")


def _wrong_number(region: Region, value: str, gold: str) -> Cause:
    relation = near(value, gold)
    if relation is Near.SIGN:
        return Cause(Failure.SIGN_LOST, f"{value} is {gold} with the other sign")
    slip = first_slip(region.text[region.start : region.end])
    if slip is not None:
        span = (region.start + slip.start, region.start + slip.end)
        return Cause(
            Failure.ARITHMETIC_SLIP, f"{slip.text!r}, but that is {_in_full(slip.value)}", span
        )
    if relation is Near.ROUNDED:
        return Cause(Failure.ROUNDING, f"{value} is {gold} but for rounding")
    if scale := scale_of(value, gold):
        return Cause(Failure.SCALE, f"{value} is {gold} {scale}")
    return Cause(Failure.WRONG_VALUE, f"it says {value}, not {gold}")


def _in_full(value: Fraction) -> str:
    """Write a number so that a person can check it: exact where it is short."""
    if value.denominator == 1:
        return str(value) if abs(value) < 10**15 else f"{float(value):.6g}"
    return f"{float(value):.6g}"
