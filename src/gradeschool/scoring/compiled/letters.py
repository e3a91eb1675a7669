"""Characters by their number, and the small questions that all kernels ask about them."""

from __future__ import annotations

import numpy as np

from gradeschool.scoring.compiled.jit import Places, kernel

CLOSING_BRACKET = 41
TAB, NEW_LINE, SPACE, HASH, DOLLAR = 9, 10, 32, 35, 36
OPEN, STAR, PLUS, COMMA, MINUS, POINT, SLASH, COLON = 40, 42, 43, 44, 45, 46, 47, 58
LESS, EQUALS, BACKSLASH, CARET, UNDERSCORE, TICK, BRACE, CLOSING = 60, 61, 92, 94, 95, 96, 123, 125
ZERO, NINE, BEYOND_ASCII = 48, 57, 128


def letters(text: str) -> Places:
    """Return the bytes of an ASCII text as an array that compiled code takes as a constant."""
    return np.frombuffer(text.encode("ascii"), np.uint8)


def table_of(text: str) -> Places:
    """Return for each byte whether it is one of these characters."""
    found = np.zeros(256, np.uint8)
    found[[*text.encode("ascii")]] = 1
    return found


@kernel
def is_digit(char: int) -> bool:
    """Tell whether a byte is "0" to "9"."""
    return ZERO <= char <= NINE


@kernel
def is_space(char: int) -> bool:
    """Tell whether a byte is white space; texts with any other kind are not judged here."""
    return char in (SPACE, NEW_LINE, TAB)


@kernel
def is_word(char: int) -> bool:
    r"""Tell whether an ASCII byte is `\w`."""
    return is_digit(char) or 65 <= char <= 90 or 97 <= char <= 122 or char == UNDERSCORE


@kernel
def is_letter(char: int) -> bool:
    """Tell whether a byte is an ASCII letter."""
    return 65 <= char <= 90 or 97 <= char <= 122


@kernel
def stands(buf: Places, at: int, end: int, word: Places) -> bool:
    """Tell whether a word stands at a place and ends before `end`."""
    size = len(word)
    if at < 0 or at + size > end:
        return False
    for i in range(size):  # noqa: SIM110  (numba compiles loops)
        if buf[at + i] != word[i]:
            return False
    return True


@kernel
def stands_in_any_case(buf: Places, at: int, end: int, word: Places) -> bool:
    """Do the same for a word of small letters, in any case."""
    size = len(word)
    if at < 0 or at + size > end:
        return False
    for i in range(size):  # noqa: SIM110
        if buf[at + i] | SPACE != word[i]:
            return False
    return True


@kernel
def next_word(buf: Places, start: int, end: int, word: Places) -> int:
    """Return where a word stands first from `start` on; -1 for nowhere."""
    first = word[0]
    for at in range(start, end - len(word) + 1):
        if buf[at] == first and stands(buf, at, end, word):
            return at
    return -1


@kernel
def past_spaces(buf: Places, at: int, end: int) -> int:
    """Return the first place from `at` on that is no white space."""
    while at < end and is_space(buf[at]):
        at += 1
    return at


@kernel
def before_spaces(buf: Places, start: int, end: int) -> int:
    """Return the end of what is left once white space at the end is gone."""
    while end > start and is_space(buf[end - 1]):
        end -= 1
    return end


@kernel
def line_start(buf: Places, start: int, at: int) -> int:
    """Return where the line of a place begins."""
    while at > start and buf[at - 1] != NEW_LINE:
        at -= 1
    return at


@kernel
def line_end(buf: Places, at: int, end: int) -> int:
    """Return where the line of a place ends."""
    while at < end and buf[at] != NEW_LINE:
        at += 1
    return at
