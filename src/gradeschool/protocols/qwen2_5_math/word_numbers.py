"""Numbers written in words, as word2number 1.1 reads them: `word_to_num`.

https://pypi.org/project/word2number/1.1/, word2number/w2n.py lines 126-240. Words that are no
numbers are passed over, so that "she has eighteen dollars" is 18.
"""

from __future__ import annotations

UNITS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    "nineteen",
)
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
SCALES = {"billion": 10**9, "million": 10**6, "thousand": 1000}
POINT = "point"
VALUES = {
    **{word: value for value, word in enumerate(UNITS)},
    **{word: 10 * value for value, word in enumerate(TENS, 2)},
    "hundred": 100,
    **SCALES,
}
DIGITS = UNITS[:10]


def word_number(text: str) -> str:
    """Return the number that a text spells, as Python writes it; the text itself for none."""
    words = text.replace("-", " ").lower()
    if words.isdigit():
        try:
            return str(int(words))
        except ValueError:  # superscripts, or more than 4,300 digits
            return text
    spoken = [word for word in words.split() if word in VALUES or word == POINT]
    value = _value(spoken)
    return text if value is None else str(value)


def _value(words: list[str]) -> float | None:
    if not words or any(words.count(word) > 1 for word in (*SCALES, POINT)):
        return None
    before, after = words, list[str]()
    if POINT in words:
        at = words.index(POINT)
        before, after = words[:at], words[at + 1 :]
    total = _whole(before)
    if total is None:
        return None
    return total + _decimals(after) if after else total


def _whole(words: list[str]) -> int | None:
    if len(words) < 2:
        return VALUES[words[0]] if words else 0
    places = [words.index(scale) for scale in SCALES if scale in words]
    if places != sorted(places):
        return None
    total, start = 0, 0
    for place in places:
        multiplier = _group(words[start:place])
        if multiplier is None:
            return None
        total += multiplier * VALUES[words[place]]
        start = place + 1
    # A scale at the very end is not seen as such here: "two million three thousand" is 2,004,003,
    # with the last three thousand counted again as 3 + 1000.
    starts = [place + 1 for place in places if place + 1 < len(words)] if places else [0]
    if not starts:
        return total
    rest = _group(words[starts[-1] :])
    return None if rest is None else total + rest


def _group(words: list[str]) -> int | None:
    """Return the value of the words between two scales; from five words on, only the first."""
    values = [VALUES[word] for word in words]
    if len(values) == 4:
        return values[0] * values[1] + values[2] + values[3]
    if len(values) == 3:
        return values[0] * values[1] + values[2]
    if len(values) == 2:
        return values[0] * values[1] if 100 in values else values[0] + values[1]
    return values[0] if values else None


def _decimals(words: list[str]) -> float:
    if any(word not in DIGITS for word in words):
        return 0
    return float("0." + "".join(str(VALUES[word]) for word in words))
