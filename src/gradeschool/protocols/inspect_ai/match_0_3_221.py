r"""`match(numeric=True)` with location "end" in the versions between its two other scorers.

0.3.221 to 0.3.252 compare numbers, but do not read an escaped "\$20"; 0.3.253 to 0.3.260 do.
Neither takes the punctuation off a word: "(42)" and "42!" are no numbers before 0.3.261.
https://github.com/UKGovernmentBEIS/inspect_ai/commit/660c48251
"""

from __future__ import annotations

import string
from collections.abc import Callable
from functools import lru_cache

from gradeschool.protocols.inspect_ai.match import (
    ESCAPED,
    LAST_NUMBER,
    finite_untrimmed,
    five_digits,
    last_word,
    remembering,
    without_punctuation,
)
from gradeschool.scorer import Scorer
from gradeschool.verdict import Answer

PUNCTUATION = string.whitespace + string.punctuation


def as_it_is(word: str) -> str:
    """Leave escapes in: their backslash makes a word no number."""
    return word


def unescaped(word: str) -> str:
    r"""Write "\$20" as "$20"."""
    return ESCAPED.sub(r"\1", word)


@lru_cache(4096)
def _target(gold: str, prepare: Callable[[str], str]) -> tuple[str, bool]:
    """Return what the gold is compared by, and whether that is a number."""
    stripped = without_punctuation(prepare(gold.strip().casefold()))
    number = finite_untrimmed(stripped)
    if number is None:
        return stripped.strip(PUNCTUATION), False
    return five_digits(number), True


def _scorer(versions: str, prepare: Callable[[str], str]) -> Scorer:
    @remembering
    def value_of(word: str) -> str | None:
        number = finite_untrimmed(without_punctuation(prepare(word.casefold())))
        return None if number is None else five_digits(number)

    def read(text: str, gold: str) -> Answer | None:
        """Read the last word that is a number; the whole text for golds that are none."""
        if not _target(gold, prepare)[1]:
            value = text.strip().casefold().strip(PUNCTUATION)
            return Answer(text, value, (0, len(text)), "the whole text, by its end")
        word = last_word(text, value_of)
        if word is None:
            return None
        return Answer(word.text, word.value, (word.start, word.start + len(word.text)), LAST_NUMBER)

    def same(value: str, gold: str) -> bool:
        """Compare 5 significant digits; other golds match at the end of the text."""
        target, is_number = _target(gold, prepare)
        return value == target if is_number else value.endswith(target)

    return Scorer(
        name=f"inspect/match-numeric@{versions}",
        summary="the last word that is a bare number, equal in 5 significant digits",
        source=f"inspect_ai {versions}, src/inspect_ai/scorer/_common.py, match_str",
        reference=lambda problem: problem.gold,
        extract=read,
        compare=same,
    )


MATCH_0_3_221 = _scorer("0.3.221-0.3.252", as_it_is)
MATCH_0_3_253_260 = _scorer("0.3.253-0.3.260", unescaped)
