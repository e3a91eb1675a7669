r"""`match(numeric=True)` with location "end" in the versions between its two other rules.

0.3.221 to 0.3.252 compare numbers, but do not read an escaped "\$20"; 0.3.253 to 0.3.260 do.
Neither takes the punctuation off a word: "(42)" and "42!" are no numbers before 0.3.261.
https://github.com/UKGovernmentBEIS/inspect_ai/commit/660c48251
"""

from __future__ import annotations

import math
import string
from collections.abc import Callable
from functools import lru_cache

from gradeschool.protocols.inspect_ai.match import (
    ESCAPED,
    five_digits,
    without_punctuation,
    words_from_the_end,
)
from gradeschool.protocols.inspect_ai.unicode_numbers import unicode_number
from gradeschool.rule import LastLine, Rule
from gradeschool.verdict import Answer

PUNCTUATION = string.whitespace + string.punctuation
LAST_NUMBER = "the last word that is a number"


def as_it_is(word: str) -> str:
    """Leave escapes in: their backslash makes a word no number."""
    return word


def unescaped(word: str) -> str:
    r"""Write "\$20" as "$20"."""
    return ESCAPED.sub(r"\1", word)


def settles(line: str, answer: Answer | None) -> bool:
    """Tell whether a last line decides: a number is in it."""
    return answer is not None and answer.how == LAST_NUMBER


def _finite(word: str) -> float | None:
    for parse in (float, unicode_number):
        try:
            number = parse(word)
        except ValueError:
            continue
        if math.isfinite(number):
            return number
        if word.isascii():
            return None  # infinite for both, and the second is slow on long words
    return None


@lru_cache(4096)
def _target(gold: str, prepare: Callable[[str], str]) -> tuple[str, bool]:
    """Return what the gold is compared by, and whether that is a number."""
    stripped = without_punctuation(prepare(gold.strip().casefold()))
    number = _finite(stripped)
    if number is None:
        return stripped.strip(PUNCTUATION), False
    return five_digits(number), True


def _rule(versions: str, prepare: Callable[[str], str]) -> Rule:
    def read(text: str, gold: str) -> Answer | None:
        """Read the last word that is a number; the whole text for golds that are none."""
        if not _target(gold, prepare)[1]:
            value = text.strip().casefold().strip(PUNCTUATION)
            return Answer(text, value, (0, len(text)), "the whole text, by its end")
        for word, start in words_from_the_end(text):
            if word.isascii() and not any(char.isdigit() for char in word):
                continue
            number = _finite(without_punctuation(prepare(word.casefold())))
            if number is not None:
                span = (start, start + len(word))
                return Answer(word, five_digits(number), span, LAST_NUMBER)
        return None

    def same(value: str, gold: str) -> bool:
        """Compare 5 significant digits; other golds match at the end of the text."""
        target, is_number = _target(gold, prepare)
        return value == target if is_number else value.endswith(target)

    return Rule(
        name=f"inspect/match-numeric@{versions}",
        summary="the last word that is a bare number, equal in 5 significant digits",
        source=f"inspect_ai {versions}, src/inspect_ai/scorer/_common.py, match_str",
        reference=lambda problem: problem.gold,
        read=read,
        same=same,
        last_line=LastLine((), settles),
    )


MATCH_0_3_221 = _rule("0.3.221-0.3.252", as_it_is)
MATCH_0_3_253_260 = _rule("0.3.253-0.3.260", unescaped)
