"""Searching text in linear time: the last match of a pattern, the last box."""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple, TypeVar

Result = TypeVar("Result")


class TextMatch(NamedTuple):
    """A piece of text and its place."""

    text: str
    start: int
    end: int


def last_match(pattern: re.Pattern[str], text: str, start: int = 0) -> re.Match[str] | None:
    """Return the last of the non-overlapping matches that `findall` would list, or None."""
    last = None
    for last in pattern.finditer(text, start):  # noqa: B007  (the loop is for its last value)
        pass
    return last


def last_place(text: str, piece: str) -> tuple[int, int] | None:
    """Return the place of the last occurrence of a piece, None if it is not literally there."""
    start = text.rfind(piece)
    return None if start < 0 else (start, start + len(piece))


DIGIT = re.compile(r"\d")
NO_DIGITS = "".join(map(chr, range(ord("0")))) + "".join(map(chr, range(ord("9") + 1, 128)))
END = 64  # characters in which the last digit of most texts is
# Scorers take a batch of 64 texts one after the other (`scoring.table.BATCH`); several scorers need
# the same results.
once_per_text = lru_cache(64)
LONGEST_WORD = 40  # characters


def remembered(function: Callable[[str], Result]) -> Callable[[str], Result]:
    """Return a function that remembers its results for short texts: few endings differ."""
    known = lru_cache(1 << 13)(function)
    return lambda text: known(text) if len(text) <= LONGEST_WORD else function(text)


@once_per_text
def last_number_start(text: str) -> int:
    """Return where the last word with an ASCII digit begins, the length of the text without one.

    Words end at spaces and line breaks. A pattern that matches neither finds the same from there on
    as in the whole text.
    """
    tail = text[-END:]  # a copy of the whole text only if no digit is near its end
    length = len(tail.rstrip(NO_DIGITS))
    digit = (len(text) - len(tail) + length if length else len(text.rstrip(NO_DIGITS))) - 1
    if digit < 0 or text[digit] not in string.digits:  # digits of another script follow it
        digit = max(map(text.rfind, string.digits))
    if digit < 0:
        return len(text)
    return max(text.rfind(" ", 0, digit), text.rfind("\n", 0, digit)) + 1


@once_per_text
def last_number_word(text: str) -> tuple[int, str, str]:
    """Return where the last word with an ASCII digit begins, the word, and the text behind it."""
    start = last_number_start(text)
    word = text[start:].partition("\n")[0].partition(" ")[0]
    return start, word, text[start + len(word) :]


def in_last_word(
    pattern: re.Pattern[str], find: Callable[[str], Result | None]
) -> Callable[[str], tuple[int, Result | None]]:
    """Return a search for what `find` finds, which is a match of the pattern, with its offset.

    The last word with a digit is enough if the pattern matches nothing behind it; it matches no
    white space.
    """
    known, is_behind = lru_cache(1 << 13)(find), pattern.search

    def search(text: str) -> tuple[int, Result | None]:
        start, word, behind = last_number_word(text)
        if is_behind(behind) or len(word) > LONGEST_WORD or (found := known(word)) is None:
            return 0, find(text)
        return start, found

    return search


@once_per_text
def lowered(text: str) -> str:
    """Return a text in lower case, as (?i) compares it, with every character in its place."""
    if not text.isascii():
        # Python's (?i) takes these for "s" and "i"; one character each, so positions stay.
        for letter, plain in (("ſ", "s"), ("İ", "i"), ("ı", "i")):
            text = text.replace(letter, plain)
    return text.lower()


@once_per_text
def mentions_answer(text: str) -> bool:
    """Return whether a text contains "answer" in any case, without which many patterns fail."""
    return "answer" in lowered(text)


BOX = "\\boxed{"
BRACE = re.compile(r"[{}]")


def closing_brace(text: str, inside: int, end: int | None = None) -> int:
    """Return the place of the brace that closes the one before `inside`; -1 for none before end."""
    close = text.find("}", inside, end)
    if close < 0 or text.find("{", inside, close) < 0:
        return close
    depth = 1
    for brace in BRACE.finditer(text, inside, len(text) if end is None else end):
        depth += 1 if brace.group() == "{" else -1
        if depth == 0:
            return brace.start()
    return -1


def last_box(text: str) -> TextMatch | None:
    r"""Return the content of the last `\boxed{...}`, nested braces included.

    A box that is not closed extends to the end of the text.
    """
    start = text.rfind(BOX) if "\\" in text else -1
    if start < 0:
        return None
    inside = start + len(BOX)
    close = closing_brace(text, inside)
    close = len(text) if close < 0 else close
    return TextMatch(text[inside:close], inside, close)
