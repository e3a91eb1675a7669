"""Why a completion has no right answer: one cause, as a word that can be counted.

The form of the text comes first (empty, cut off, run on, a refusal, nothing but code), then the
relation of a wrong number to the right one (sign, scale, rounding, a piece of it, the same end).
"""

from __future__ import annotations

import re
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple

from gradeschool.answers import regions
from gradeschool.answers.extractor import Confidence, ExtractedAnswer, extract_final_answer
from gradeschool.answers.quantities import canonical_gold, exact, same_answer
from gradeschool.answers.search import DIGIT
from gradeschool.arithmetic import first_slip

FILTER = "content_filter"


class Failure(StrEnum):
    """Causes of a miss.

    The first group leaves a completion without an answer, the second makes its answer wrong. The
    last group concerns only scorers: the text is right and the scorer misses it, or the reverse.
    UNIT_KEPT is also how `relation_to_gold` says that two values are the same number.
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
    OWN_VERDICT = "the function's own verdict"
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
    reading, region = extract_final_answer(text, question), regions.answer_region(text, question)
    cause = cause_of_text(text, reading, region, gold, finish)
    return None if cause is None else cause.failure


def is_right(reading: ExtractedAnswer | None, gold: str) -> bool:
    """Return whether an extracted answer is the gold answer."""
    return reading is not None and same_answer(reading.value, canonical_gold(gold))


def cause_of_text(
    text: str, reading: ExtractedAnswer | None, region: regions.Region,
    gold: str | None = None, finish: str | None = None,
) -> Cause | None:  # fmt: skip
    """Return the same as `detect_answer_failure`, with the evidence.

    reading: the extracted answer of the text. region: the part of the text that counts.
    """
    if not text.strip():
        if finish == FILTER:
            return Cause(Failure.FILTERED, "no text: the finish reason is 'content_filter'")
        limit = " except white space, and the limit ended it" if finish == regions.LENGTH else ""
        return Cause(Failure.NO_RESPONSE, f"there is no text{limit}")
    if gold is not None and is_right(reading, gold):
        return None
    if finish == FILTER:
        return Cause(Failure.FILTERED, "the finish reason is 'content_filter'")
    if region.thinking:
        return Cause(Failure.UNFINISHED_THINKING, "the thinking is never closed: there is no reply")
    start, end = region.start, region.end
    if reading is None or reading.confidence is Confidence.GUESSED:
        if finish == regions.LENGTH:
            return Cause(Failure.TRUNCATED, "the limit ended it before it stated an answer")
        ends = (reading is None or end > reading.end) and not region.ran_on
        if finish in regions.UNREPORTED_FINISH and ends and regions.looks_cut(text):
            return Cause(Failure.TRUNCATED, f"it ends in the middle: …{text.rstrip()[-30:]!r}")
        if region.coded:
            is_code = (
                reading is None
                and len(regions.WORD.findall(region.text[start:end])) <= regions.LONGEST_UNIT
            )
        else:
            is_code = len(CODE.findall(text, start, end)) > 1
        if is_code:
            return Cause(Failure.CODE_ONLY, "a program without its result")
    if reading is None:
        if REFUSAL.search(region.text, start, min(end, start + 400)):  # at the beginning
            return Cause(Failure.REFUSAL, "it declines to answer")
        if DIGIT.search(region.text, start, end):
            return Cause(Failure.NOT_STATED, "numbers, but none is stated as the answer")
        behind = ", only in the run-on text" if DIGIT.search(text, end) else ""
        return Cause(Failure.NO_NUMBER, f"no number in the answer{behind}")
    if gold is None:
        return None
    value, gold = reading.value, canonical_gold(gold)
    relation = relation_to_gold(value, gold)
    if relation is Failure.SIGN_LOST:
        return Cause(Failure.SIGN_LOST, f"{value} is {gold} with the other sign")
    slip = first_slip(region.text[start:end])
    if slip is not None:
        span = (start + slip.start, start + slip.end)
        whole = slip.value.denominator == 1 and abs(slip.value) < 10**15
        result = str(slip.value) if whole else f"{float(slip.value):.6g}"
        return Cause(Failure.ARITHMETIC_SLIP, f"{slip.text!r}, but that is {result}", span)
    if relation is Failure.ROUNDING:
        return Cause(relation, f"{value} is {gold} except for rounding")
    a, b = _number_of(value), _number_of(gold)
    if a and b and (power := POWERS_OF_TEN.get(a / b, 0)):
        factor = f"{'x' if power > 0 else '/'}{10 ** abs(power)}"
        return Cause(Failure.SCALE, f"{value} is {gold} {factor}")
    return Cause(Failure.WRONG_VALUE, f"it says {value}, not {gold}")


REFUSAL = re.compile(
    r"(?i)\b(?:I\s(?:can(?:no|['’])t|am\s(?:not\sable|unable)\sto|won['’]t|will\snot)"
    r"|I['’]m\s(?:sorry|unable|not\sable)|as\san\sAI\b)"
)
CODE = re.compile(
    r"(?m)^[ \t]{0,12}(?:def [a-z_]\w*\(|import [a-z]|print\(|return\b|from [a-z]+ import)"
)
POWERS_OF_TEN = {Fraction(10) ** power: power for power in range(-9, 10) if power}
# A scorer that compares five significant digits does not distinguish numbers closer than 1e-4.
CLOSE = Fraction(1, 10_000)
ORNAMENT = re.compile(r"[^\d./+-]")


def relation_to_gold(read: str, right: str) -> Failure | None:
    """Return how an extracted value is near the right one, None if it is not.

    UNIT_KEPT: it is the same number. Both are values as an extractor or a scorer returns them
    ("$18.00", "18.", "250"): characters other than digits, signs, points and slashes are ignored.
    Never raises.
    """
    a, b = _number_of(read), _number_of(right)
    if a is None or b is None:
        return None
    if abs(a) == abs(b):
        return Failure.UNIT_KEPT if a == b else Failure.SIGN_LOST
    whole = a.denominator == b.denominator == 1
    short, long = sorted((a, b), key=abs)
    if whole and abs(long) >= 1000 and short >= 0:  # 250 or 1 of 1,250
        groups = f"{abs(long.numerator):,}".split(",")
        if short.numerator in (int(groups[0]), int(groups[-1])):
            return Failure.COMMA_SPLIT
    if b and a / b in POWERS_OF_TEN:
        return Failure.SCALE
    cut = not whole and abs(a) >= 1 and abs(a - b) < 1 and 1 in (a.denominator, b.denominator)
    if cut or abs(a - b) <= CLOSE * abs(long):
        return Failure.ROUNDING
    few, many = str(abs(short.numerator)), str(abs(long.numerator))
    if whole and len(few) < len(many) and (many.endswith(few) or many.startswith(few)):
        return Failure.AFFIX  # 11 of 711
    return None


def _number_of(value: str) -> Fraction | None:
    if ":" in value:  # a clock time
        return None
    value = value.replace("−", "-").strip()
    return exact(value) or exact(ORNAMENT.sub("", value).rstrip(".").lstrip("+"))
