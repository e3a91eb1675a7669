r"""inspect_ai's `match(numeric=True)` with location "end", in four ranges of versions.

Up to 0.3.220 a number need only end with the gold; since 0.3.221 (commit 660c48251) numbers are
compared; since 0.3.253 an escaped "\$20" is one; since 0.3.261 "(42)" and "42!" are.

https://github.com/UKGovernmentBEIS/inspect_ai/blob/499e6152e7b8fc8cbd8ac5283536572aa6e4ab17/src/inspect_ai/scorer/_common.py
https://github.com/UKGovernmentBEIS/inspect_ai/commit/660c48251
"""

from __future__ import annotations

import math
import re
import string
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from gradeschool.answers.search import once_per_text
from gradeschool.protocols.inspect_ai.unicode_numbers import superscript_number, unicode_number
from gradeschool.scorer import Scorer, ScorerFailure
from gradeschool.verdict import Answer, answer_of

ESCAPED = re.compile(r"\\([$,£€*_])")
DROPPED = str.maketrans("", "", "$,£€*_")
PERIOD = re.compile(r"\.(?=\s|$|\D)")
PUNCTUATION = string.whitespace + string.punctuation
NEAR_END = 16  # words, which contain most last numbers
TRIMMED = "!?:;()[]{}'\"`"
ASCII_DIGIT = re.compile(r"[0-9]")
# An ASCII word with one of these is not a number in any version of inspect_ai.
NO_NUMBER = re.compile(r"[A-DF-Za-df-z/<=>%^&|~#@]")
LAST_NUMBER = "the last word that is a number"
WORD_OF_DIGITS = "the last word of digits, by its end"


class NumericWord(NamedTuple):
    """A word of a text, where it begins, and its value."""

    text: str
    start: int
    value: str


def last_number(text: str, value_of: Callable[[str], str | None], how: str) -> Answer | None:
    """Extract the last word that has a value under one version of inspect_ai."""
    number = last_possible_number(text)
    if number is None:
        return None
    word, start, _ = number
    value = value_of(word)
    if value is None:
        number = last_word_with(text, lambda word: None if is_no_number(word) else value_of(word))
        if number is None:
            return None
        word, start, value = number
    return answer_of((word, value, (start, start + len(word)), how))


@once_per_text
def last_possible_number(text: str) -> NumericWord | None:
    """Return the last word that may be a number in some version, without its value."""
    return last_word_with(text, lambda word: None if is_no_number(word) else "")


def is_no_number(word: str) -> bool:
    """Return whether a word is a number in no version: ASCII without a digit, or with letters."""
    return word.isascii() and (not ASCII_DIGIT.search(word) or bool(NO_NUMBER.search(word)))


def last_word_with(text: str, value_of: Callable[[str], str | None]) -> NumericWord | None:
    """Return the last word that has a value."""
    for most in (NEAR_END, -1):
        words = text.rsplit(None, most)
        refused = None
        for behind, word in enumerate(reversed(words[1:] if len(words) > most > 0 else words)):
            value = None if word == refused else value_of(word)
            if value is not None:
                end = len(text.rsplit(None, behind)[0]) if behind else len(text.rstrip())
                return NumericWord(word, end - len(word), value)
            refused = word
    return None


def without_punctuation(word: str) -> str:
    """Remove currency, emphasis and commas, and periods that no digit follows."""
    word = word.translate(DROPPED)
    return PERIOD.sub("", word) if "." in word else word


def finite(word: str) -> float | None:
    """Return the finite number that a cleaned word spells, as 0.3.261 and later parse it."""
    return finite_untrimmed(word.strip(TRIMMED))


def finite_untrimmed(word: str) -> float | None:
    """Return the finite number that a cleaned word spells, without stripping its punctuation.

    Raises ScorerFailure on Chinese numerals past the range of floats, where upstream raises.
    """
    for parse in (float, unicode_number):
        try:
            number = parse(word)
        except ValueError:
            continue
        except OverflowError as error:
            raise ScorerFailure(f"OverflowError on {word[:40]!r}") from error
        if math.isfinite(number):
            return number
        if word.isascii():
            return None  # infinite for both, and `superscript_number` is slow on long words
    return None


def five_digits(number: float) -> str:
    """Write a number with 5 significant digits: 131254 and 131250 become the same."""
    return format(number, ".5g")


def _whole_text(text: str) -> Answer:
    value = text.strip().casefold().strip(PUNCTUATION)
    return Answer(text, value, (0, len(text)), "the whole text, by its end")


def as_it_is(word: str) -> str:
    """Keep escapes: their backslash makes a word no number."""
    return word


def unescaped(word: str) -> str:
    r"""Write "\$20" as "$20"."""
    return ESCAPED.sub(r"\1", word) if "\\" in word else word


def _scorer(
    versions: str,
    summary: str,
    extract: Callable[[str, str], Answer | None],
    compare: Callable[[str, str], bool],
) -> Scorer:
    return Scorer(
        name=f"inspect/match-numeric@{versions}",
        summary=summary,
        source=f"inspect_ai {versions}, src/inspect_ai/scorer/_common.py, match_str",
        reference=lambda problem: problem.gold,
        extract=extract,
        compare=compare,
    )


def match_by_value(
    versions: str,
    summary: str,
    prepare: Callable[[str], str],
    parse: Callable[[str], float | None],
) -> Scorer:
    """Return the scorer of versions that compare numbers.

    prepare: what a word goes through first. parse: returns the finite number of a cleaned word.
    """

    @lru_cache(1024)
    def value_of(word: str) -> str | None:
        number = parse(without_punctuation(prepare(word.casefold())))
        return None if number is None else five_digits(number)

    def extract(text: str, gold: str) -> Answer | None:
        """Extract the last word that is a number; the whole text if the gold is not a number."""
        if value_of(gold.strip()) is None:
            return _whole_text(text)
        return last_number(text, value_of, LAST_NUMBER)

    def compare(value: str, gold: str) -> bool:
        """Compare 5 significant digits; golds that are not numbers match at the end of the text."""
        target = value_of(gold.strip())
        if target is None:  # upstream strips currency and commas from the gold alone here
            stripped = without_punctuation(prepare(gold.strip().casefold()))
            return value.endswith(stripped.strip(PUNCTUATION))
        return value == target

    return _scorer(versions, summary, extract, compare)


def _normalized_0_3_220(word: str) -> str:
    """Write a numeric word with 5 significant digits; other words stay unchanged."""
    if not word.replace(".", "").isnumeric():
        return word
    try:
        try:
            return five_digits(superscript_number(word))
        except ValueError:
            return five_digits(unicode_number(word))
    except (ValueError, ArithmeticError) as error:
        raise ScorerFailure(f"{type(error).__name__} on {word[:40]!r}") from error


@lru_cache(1024)
def _target_0_3_220(gold: str) -> str | None:
    target = gold.strip().casefold()
    return _normalized_0_3_220(without_punctuation(target)) if target.isnumeric() else None


@lru_cache(1024)
def _value_0_3_220(word: str) -> str | None:
    cleaned = without_punctuation(word.casefold())
    return _normalized_0_3_220(cleaned) if cleaned.replace(".", "").isnumeric() else None


def extract_0_3_220(text: str, gold: str) -> Answer | None:
    """Extract the last word of digits, else the last word; golds with "-" or "," match as text."""
    if _target_0_3_220(gold) is None:
        return _whole_text(text)
    answer = last_number(text, _value_0_3_220, WORD_OF_DIGITS)
    if answer is not None:
        return answer
    word = last_word_with(text, lambda word: without_punctuation(word.casefold()))
    if word is None:
        return None
    span = (word.start, word.start + len(word.text))
    return Answer(word.text, word.value, span, "no word of digits: the last word, by its end")


def compare_0_3_220(value: str, gold: str) -> bool:
    """Compare by `endswith`: "711" matches the gold "11"."""
    target = _target_0_3_220(gold)
    return value.endswith(gold.strip().casefold().strip(PUNCTUATION) if target is None else target)


MATCH_0_3_220 = _scorer(
    "<=0.3.220",
    "the last word of digits ends with the gold",
    extract_0_3_220,
    compare_0_3_220,
)
BARE = "the last word that is a bare number, equal in 5 significant digits"
MATCH_0_3_221 = match_by_value("0.3.221-0.3.252", BARE, as_it_is, finite_untrimmed)
MATCH_0_3_253 = match_by_value("0.3.253-0.3.260", BARE, unescaped, finite_untrimmed)
# The name is that of the first version that unescapes; the verdicts are those of 0.3.261 and later.
MATCH = match_by_value(
    ">=0.3.253",
    "the last word that is a number, equal in 5 significant digits; as 0.3.261 and later",
    unescaped,
    finite,
)
