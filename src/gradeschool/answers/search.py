"""Finding text: the last match of a pattern, the last box, in linear time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from typing import NamedTuple


class TextMatch(NamedTuple):
    """A piece of text and where it stands."""

    text: str
    start: int
    end: int


def last_match(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return the last of the non-overlapping matches that `findall` would list, or None."""
    last = None
    for last in pattern.finditer(text):  # noqa: B007  (the loop is for its last value)
        pass
    return last


# Characters of the first end that is tried, and how much longer the next one is at least.
END, GROWTH = 64, 4


def ends(text: str) -> Iterator[int]:
    """Yield where ever longer ends of a text begin, each at a space or line break; 0 is the last.

    What a pattern that matches neither finds in an end is what it finds there in the whole text,
    so the last match of all stands in the first end that holds one. All ends together are linear.
    """
    length = END
    while length < len(text):
        limit = len(text) - length
        start = max(text.rfind(" ", 0, limit), text.rfind("\n", 0, limit))
        if start <= 0:
            break
        yield start
        length = GROWTH * (len(text) - start)
    yield 0


@lru_cache(8)
def last_number_start(text: str) -> int:
    """Return where the last word with an ASCII digit begins, the length of the text without one.

    Words end at spaces and line breaks. A hint where to look first, remembered for all scorers of
    a text: what a pattern that matches neither finds from there on, it finds in the whole text.
    """
    digit = max(map(text.rfind, "0123456789"))
    if digit < 0:
        return len(text)
    return max(text.rfind(" ", 0, digit), text.rfind("\n", 0, digit)) + 1


def last_match_in_words(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return what `last_match` does for a pattern that matches no space and no line break."""
    last = None
    for last in pattern.finditer(text, last_number_start(text)):  # noqa: B007
        pass
    if last is not None or len(text) <= END:
        return last or last_match(pattern, text)
    for start in ends(text):
        last = None
        for last in pattern.finditer(text, start):  # noqa: B007
            pass
        if last is not None:
            return last
    return None


# Applied once from left to right: "1,2,3" becomes "12,3".
COMMA = re.compile(r"(\d),(\d)")


def last_number_without_commas(pattern: re.Pattern[str], text: str) -> str | None:
    r"""Return the last match once `COMMA` gave way to `\1\2`; no match holds white space.

    What stands between the matches, joined with their groups, is that text.
    """
    for start in chain((last_number_start(text),), ends(text)):
        end = text[start:] if start else text
        match = last_match(pattern, "".join(COMMA.split(end)) if "," in end else end)
        if match is not None:
            return match.group()
    return None


BOX = "\\boxed{"


def last_flat_box(text: str) -> TextMatch | None:
    r"""Return the last match of group 1 of `\\boxed\{([^}]+)\}`, in linear time.

    The pattern itself is quadratic on repeated `\boxed{` without a closing brace.
    """
    last = None
    start = text.find(BOX)
    while start >= 0:
        inside = start + len(BOX)
        close = text.find("}", inside)
        if close < 0:
            break
        if close == inside:  # empty box: no match here, but one may begin right behind
            start = text.find(BOX, start + 1)
            continue
        last = TextMatch(text[inside:close], inside, close)
        start = text.find(BOX, close + 1)
    return last


def last_box(text: str) -> TextMatch | None:
    r"""Return the content of the last `\boxed{...}`, nested braces included.

    A box that is still open at the end of the text reaches to the end.
    """
    start = text.rfind(BOX)
    if start < 0:
        return None
    inside = start + len(BOX)
    depth = 1
    for brace in re.compile(r"[{}]").finditer(text, inside):
        depth += 1 if brace.group() == "{" else -1
        if depth == 0:
            return TextMatch(text[inside : brace.start()], inside, brace.start())
    return TextMatch(text[inside:], inside, len(text))
