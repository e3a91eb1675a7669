"""Why a completion has no right answer: one cause, as a word that can be counted.

The form of the text comes first (empty, cut off, run on, a refusal, nothing but code), then the
relation of a wrong number to the right one (sign, scale, rounding, a piece of it, the same end).
"""

from __future__ import annotations

import re
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple

from gradeschool.answers.arithmetic import first_slip
from gradeschool.answers.extractor import Confidence, ExtractedAnswer, extract_final_answer
from gradeschool.answers.quantities import canonical_gold, exact, same_answer
from gradeschool.answers.regions import (
    DIGIT,
    LENGTH,
    LONGEST_UNIT,
    UNREPORTED,
    WORD,
    Region,
    committed_region,
    looks_cut,
)

FILTER = "content_filter"


class Failure(StrEnum):
    """Causes of a miss.

    The first group leaves a completion without an answer, the second makes its answer wrong. The
    last group concerns only scorers: the text is right and the scorer misses it, or the reverse.
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
    """Return why a completion has no right answer, or None if nothing is wrong with it.

    text: the completion. gold: the gold answer; without it only the form is judged. finish: the
    server's finish reason. "length" means that the text was cut, which is the cause unless it
    stated an answer before; "content_filter" means that a filter ended it. Without a finish reason,
    a text that ends in the middle of a sentence before it states an answer counts as cut. question:
    helps to distinguish units. Deterministic, linear, never raises.
    """
    reading, region = extract_final_answer(text, question), committed_region(text, question)
    cause = cause_of_text(text, reading, region, gold, finish)
    return None if cause is None else cause.failure


def is_right(reading: ExtractedAnswer | None, gold: str) -> bool:
    """Return whether an extracted answer is the gold answer."""
    return reading is not None and same_answer(reading.value, canonical_gold(gold))


def cause_of_text(
    text: str,
    reading: ExtractedAnswer | None,
    region: Region,
    gold: str | None = None,
    finish: str | None = None,
) -> Cause | None:
    """Return the same as `detect_answer_failure`, with the evidence.

    reading: the extracted answer of the text. region: the part of the text that counts.
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
            return Cause(Failure.CODE_ONLY, "a program without its result")
    if reading is None:
        return _nothing_stated(text, region)
    return None if gold is None else _wrong_number(region, reading.value, canonical_gold(gold))


def _empty(finish: str | None) -> Cause:
    if finish == FILTER:
        return Cause(Failure.FILTERED, "no text: the finish reason is 'content_filter'")
    limit = " except white space, and the limit ended it" if finish == LENGTH else ""
    return Cause(Failure.NO_RESPONSE, f"there is no text{limit}")


def _cut(
    text: str, region: Region, finish: str | None, reading: ExtractedAnswer | None
) -> Cause | None:
    if finish == LENGTH:
        return Cause(Failure.TRUNCATED, "the limit ended it before it stated an answer")
    guessed = reading is None or region.end - reading.end > 0
    if finish in UNREPORTED and guessed and not region.ran_on and looks_cut(text):
        return Cause(Failure.TRUNCATED, f"it ends in the middle: …{text.rstrip()[-30:]!r}")
    return None


def _nothing_stated(text: str, region: Region) -> Cause:
    if is_refusal(region):
        return Cause(Failure.REFUSAL, "it declines to answer")
    if DIGIT.search(region.text, region.start, region.end) is None:
        behind = ", only in the run-on text" if DIGIT.search(text, region.end) else ""
        return Cause(Failure.NO_NUMBER, f"no number in the answer{behind}")
    return Cause(Failure.NOT_STATED, "numbers, but none is stated as the answer")


def _wrong_number(region: Region, value: str, gold: str) -> Cause:
    relation = relation_to_gold(value, gold)
    if relation is Near.SIGN:
        return Cause(Failure.SIGN_LOST, f"{value} is {gold} with the other sign")
    slip = first_slip(region.text[region.start : region.end])
    if slip is not None:
        span = (region.start + slip.start, region.start + slip.end)
        return Cause(
            Failure.ARITHMETIC_SLIP, f"{slip.text!r}, but that is {_in_full(slip.value)}", span
        )
    if relation is Near.ROUNDED:
        return Cause(Failure.ROUNDING, f"{value} is {gold} except for rounding")
    if scale := scale_of(value, gold):
        return Cause(Failure.SCALE, f"{value} is {gold} {scale}")
    return Cause(Failure.WRONG_VALUE, f"it says {value}, not {gold}")


def _in_full(value: Fraction) -> str:
    """Write a number so that a person can check it: exactly if it is short."""
    if value.denominator == 1:
        return str(value) if abs(value) < 10**15 else f"{float(value):.6g}"
    return f"{float(value):.6g}"


REFUSAL = re.compile(
    r"(?i)\b(?:I\s(?:can(?:no|['’])t|am\s(?:not\sable|unable)\sto|won['’]t|will\snot)"
    r"|I['’]m\s(?:sorry|unable|not\sable)|as\san\sAI\b)"
)
# A refusal is at the beginning.
REFUSAL_WITHIN = 400
CODE = re.compile(
    r"(?m)^[ \t]{0,12}(?:def [a-z_]\w*\(|import [a-z]|print\(|return\b|from [a-z]+ import)"
)


def is_refusal(region: Region) -> bool:
    """Return whether a reply declines to answer."""
    start = region.start
    return REFUSAL.search(region.text, start, min(region.end, start + REFUSAL_WITHIN)) is not None


def is_code(text: str, region: Region) -> bool:
    """Return whether a reply is a program without a word about its result."""
    if region.coded:
        return len(WORD.findall(region.text[region.start : region.end])) <= LONGEST_UNIT
    return len(CODE.findall(text, region.start, region.end)) > 1


SCALES = {Fraction(10) ** power: power for power in range(-9, 10) if power}
# A scorer that compares five significant digits does not distinguish numbers closer than 1e-4.
CLOSE = Fraction(1, 10_000)
ORNAMENT = re.compile(r"[^\d./+-]")


class Near(StrEnum):
    """The relations, the most certain first."""

    SAME = "same"
    SIGN = "sign"
    GROUP = "group"
    SCALE = "scale"
    ROUNDED = "rounded"
    AFFIX = "affix"


def relation_to_gold(read: str, right: str) -> Near | None:
    """Return how an extracted value is near the right one, None if it is not.

    Both are values as an extractor or a scorer returns them ("$18.00", "18.", "250"): characters
    other than digits, signs, points and slashes are ignored. Never raises.
    """
    a, b = _worth(read), _worth(right)
    if a is None or b is None:
        return None
    if a == b:
        return Near.SAME
    if a == -b:
        return Near.SIGN
    if _is_group(a, b):
        return Near.GROUP
    if b and a / b in SCALES:
        return Near.SCALE
    if _is_rounded(a, b):
        return Near.ROUNDED
    return Near.AFFIX if _is_affix(a, b) else None


def scale_of(read: str, right: str) -> str:
    """Return a factor in words: "x100", "/1000"; "" if there is none."""
    a, b = _worth(read), _worth(right)
    power = SCALES.get(a / b, 0) if a is not None and b else 0
    return f"{'x' if power > 0 else '/'}{10 ** abs(power)}" if power else ""


def _worth(value: str) -> Fraction | None:
    if ":" in value:  # a clock time
        return None
    value = value.replace("−", "-").strip()
    return exact(value) or exact(ORNAMENT.sub("", value).rstrip(".").lstrip("+"))


def _is_group(a: Fraction, b: Fraction) -> bool:
    """Return whether one is a piece of the other between thousands commas: 250 or 1 of 1,250."""
    for piece, whole in ((a, b), (b, a)):
        if whole.denominator == piece.denominator == 1 and abs(whole) >= 1000 and piece >= 0:
            groups = f"{abs(whole.numerator):,}".split(",")
            if piece.numerator in (int(groups[0]), int(groups[-1])):
                return True
    return False


def _is_rounded(a: Fraction, b: Fraction) -> bool:
    whole = a.denominator == b.denominator == 1
    if not whole and abs(a) >= 1 and abs(a - b) < 1 and 1 in (a.denominator, b.denominator):
        return True
    return abs(a - b) <= CLOSE * max(abs(a), abs(b))


def _is_affix(a: Fraction, b: Fraction) -> bool:
    """Return whether the digits of one begin or end the other's: 711 and 11."""
    if a.denominator != 1 or b.denominator != 1:
        return False
    short, long = sorted((str(abs(a.numerator)), str(abs(b.numerator))), key=len)
    return len(short) < len(long) and (long.endswith(short) or long.startswith(short))
