"""`match(numeric=True)` with location "end", before and after the fix of its suffix bug.

https://github.com/UKGovernmentBEIS/inspect_ai/blob/499e6152e7b8fc8cbd8ac5283536572aa6e4ab17/src/inspect_ai/scorer/_common.py
Fixed by commit 660c48251 (0.3.221); escaped currency signs are read since 0.3.253.
"""

from __future__ import annotations

import math
import re
import string
from collections.abc import Callable, Iterator
from functools import lru_cache

from gradeschool.protocols.inspect_ai.unicode_numbers import superscript_number, unicode_number
from gradeschool.rule import LastLine, Rule, RuleFailure, found
from gradeschool.verdict import Answer

ESCAPED = re.compile(r"\\([$,£€*_])")
DROPPED = str.maketrans("", "", "$,£€*_")
PERIOD = re.compile(r"\.(?=\s|$|\D)")
PUNCTUATION = string.whitespace + string.punctuation
TRIMMED = "!?:;()[]{}'\"`"
CHUNK = 64
WORD_OF_DIGITS = "the last word of digits, by its end"


def words_from_the_end(text: str) -> Iterator[tuple[str, int]]:
    """Yield the words of a text, last first, with their starts; a few cost no full split."""
    head, end = text, len(text)
    for chunk in (CHUNK, -1):
        parts = head.rsplit(None, chunk)
        rest = parts.pop(0) if chunk > 0 and len(parts) > chunk else ""
        for word in reversed(parts):
            end = text.rindex(word, 0, end)
            yield word, end
        head = rest
        if not head:
            return


def without_punctuation(word: str) -> str:
    """Drop currency, emphasis and commas, and periods that no digit follows."""
    return PERIOD.sub("", word.translate(DROPPED))


def finite(word: str) -> float | None:
    """Return the finite number that a cleaned word spells, as 0.3.253 and later parse it."""
    return _remembered(word) if len(word) <= 32 else _parsed(word)


def _parsed(word: str) -> float | None:
    trimmed = word.strip(TRIMMED)
    for parse in (float, unicode_number):
        try:
            number = parse(trimmed)
        except ValueError:
            continue
        if math.isfinite(number):
            return number
        if trimmed.isascii():
            return None  # infinite for both, and the second is slow on long words
    return None


_remembered = lru_cache(4096)(_parsed)  # short words alone: the cache must stay small


def five_digits(number: float) -> str:
    """Write a number with 5 significant digits: 131254 and 131250 become the same."""
    return format(number, ".5g")


def _might_be_number(word: str) -> bool:
    """Rule out plain words cheaply; `nan` and `inf` are no numbers here."""
    return not word.isascii() or any(char.isdigit() for char in word)


def _unescaped(word: str) -> str:
    return ESCAPED.sub(r"\1", word) if "\\" in word else word


@lru_cache(4096)
def _target_0_3_253(gold: str) -> str | None:
    """Return the gold with 5 significant digits, None where it is no number."""
    number = finite(without_punctuation(_unescaped(gold.strip().casefold())))
    return None if number is None else five_digits(number)


def read_0_3_253(text: str, gold: str) -> Answer | None:
    """Read the last word that is a number."""
    if _target_0_3_253(gold) is None:
        return _whole_text(text)
    for word, start in words_from_the_end(text):
        if not _might_be_number(word):
            continue
        number = finite(without_punctuation(_unescaped(word.casefold())))
        if number is not None:
            span = (start, start + len(word))
            return Answer(word, five_digits(number), span, "the last word that is a number")
    return None


def same_0_3_253(value: str, gold: str) -> bool:
    """Compare 5 significant digits; golds that are no number match at the end of the text."""
    target = _target_0_3_253(gold)
    if target is None:  # upstream strips currency and commas from the gold alone here
        stripped = without_punctuation(_unescaped(gold.strip().casefold()))
        return value.endswith(stripped.strip(PUNCTUATION))
    return value == target


def _whole_text(text: str) -> Answer:
    value = text.strip().casefold().strip(PUNCTUATION)
    return Answer(text, value, (0, len(text)), "the whole text, by its end")


def _normalized_0_3_220(word: str) -> str:
    """Write a numeric word with 5 significant digits, leave other words as they are."""
    if not word.replace(".", "").isnumeric():
        return word
    try:
        try:
            return five_digits(superscript_number(word))
        except ValueError:
            return five_digits(unicode_number(word))
    except (ValueError, ArithmeticError) as error:
        raise RuleFailure(f"{type(error).__name__} on {word[:40]!r}") from error


@lru_cache(4096)
def _target_0_3_220(gold: str) -> str | None:
    target = gold.strip().casefold()
    return _normalized_0_3_220(without_punctuation(target)) if target.isnumeric() else None


def read_0_3_220(text: str, gold: str) -> Answer | None:
    """Read the last word of digits, else the last word; golds with "-" or "," match as text."""
    if _target_0_3_220(gold) is None:
        return _whole_text(text)
    last: Answer | None = None
    for word, start in words_from_the_end(text):
        cleaned = without_punctuation(word.casefold())
        span = (start, start + len(word))
        if cleaned.replace(".", "").isnumeric():
            value = _normalized_0_3_220(cleaned)
            return Answer(word, value, span, WORD_OF_DIGITS)
        if last is None:
            last = Answer(word, cleaned, span, "no word of digits: the last word, by its end")
    return last


def same_0_3_220(value: str, gold: str) -> bool:
    """Compare by `endswith`: "711" matches the gold "11"."""
    target = _target_0_3_220(gold)
    return value.endswith(gold.strip().casefold().strip(PUNCTUATION) if target is None else target)


def _rule(
    versions: str,
    summary: str,
    read: Callable[[str, str], Answer | None],
    same: Callable[[str, str], bool],
    settles: Callable[[str, Answer | None], bool],
) -> Rule:
    return Rule(
        name=f"inspect/match-numeric@{versions}",
        summary=summary,
        source=f"inspect_ai {versions}, src/inspect_ai/scorer/_common.py, match_str",
        reference=lambda problem: problem.gold,
        read=read,
        same=same,
        last_line=LastLine((), settles),
    )


MATCH_0_3_220 = _rule(
    "<=0.3.220",
    "the last word of digits ends with the gold",
    read_0_3_220,
    same_0_3_220,
    lambda line, answer: answer is not None and answer.how == WORD_OF_DIGITS,
)
MATCH_0_3_253 = _rule(
    ">=0.3.253",
    "the last word that is a number, equal in 5 significant digits",
    read_0_3_253,
    same_0_3_253,
    found,
)
