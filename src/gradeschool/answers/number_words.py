"""Numbers in English words: "eighteen", "twenty-five", "two hundred and five thousand"."""

from __future__ import annotations

import re

SMALL = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen
    """.split()  # noqa: SIM905
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
SCALES = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
VALUES = {word: at for at, word in enumerate(SMALL)} | {
    word: 10 * at for at, word in enumerate(TENS, start=2)
}
_WORD = "|".join([*SMALL[::-1], *TENS, "hundred", *SCALES])
# Only a few words: a longer row of them is no number that anyone writes.
WORD_NUMBER = re.compile(
    rf"(?i)(?<![\w-])(?:(?:negative|minus)\s)?(?:{_WORD})(?:(?:[\s-]|\sand\s)(?:{_WORD})){{0,11}}"
    r"(?![\w-]|\s(?:halves|thirds|fourths|quarters|fifths|sixths|eighths|tenths|and\sa\shalf)\b)"
)
SPLIT = re.compile(r"[\s-]+")


def word_value(words: str) -> int | None:
    """Return what number words are worth, or None where they are not one number ("two three")."""
    parts = SPLIT.split(words.lower())
    negative = parts[0] in ("negative", "minus")
    total = group = 0
    smallest = 1_000_000_000_000  # what may still follow must be smaller
    for word in parts[1:] if negative else parts:
        if word == "and":
            continue
        if word == "hundred":
            if not 0 < group < 10:
                return None
            group *= 100
        elif word in SCALES:
            if not group or SCALES[word] >= smallest:
                return None
            smallest = SCALES[word]
            total, group = total + group * smallest, 0
        elif _fits(group, VALUES[word]):
            group += VALUES[word]
        else:
            return None
    value = total + group
    return -value if negative else value


def _fits(group: int, value: int) -> bool:
    """Tell whether a word may follow what a group of three digits holds already."""
    if value >= 10:
        return group % 100 == 0
    return group % 10 == 0 and group % 100 != 10
