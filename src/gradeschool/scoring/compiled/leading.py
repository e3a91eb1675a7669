"""The number behind a marker, as the patterns LEAD and NUMBER of `answers/parse.py` find it."""

from __future__ import annotations

from gradeschool.scoring.compiled.jit import Places, kernel
from gradeschool.scoring.compiled.letters import (
    BEYOND_ASCII,
    CLOSING_BRACKET,
    COLON,
    COMMA,
    DOLLAR,
    EQUALS,
    MINUS,
    PLUS,
    POINT,
    SLASH,
    SPACE,
    TAB,
    is_digit,
    is_word,
    table_of,
)

MATCH, NONE, UNCERTAIN = 0, 1, 2
IN_LEAD = table_of(" \t\n*_`$:=\\([{")
IN_EQUATION = table_of(" \t0123456789.,$%+*/x()-")
MOST_LEADING = 40


@kernel
def lead_number(buf: Places, start: int, end: int) -> tuple[int, bool, int, int]:
    """Return whether a number follows, whether it is negative, and its digits' first and end."""
    at = start
    while at < end and IN_LEAD[buf[at]]:
        at += 1
    if at - start > MOST_LEADING:
        return UNCERTAIN, False, -1, -1
    if at == end:
        return NONE, False, -1, -1
    char = buf[at]
    if is_digit(char):
        return MATCH, False, at, number_end(buf, at, end)
    if char == POINT or char >= BEYOND_ASCII:
        return UNCERTAIN, False, -1, -1
    if char != MINUS and char != PLUS:
        return NONE, False, -1, -1
    before = buf[at - 1]
    if before >= BEYOND_ASCII or before == DOLLAR:
        return UNCERTAIN, False, -1, -1
    if is_word(before) or before in (CLOSING_BRACKET, POINT):
        return NONE, False, -1, -1
    if at + 1 < end and is_digit(buf[at + 1]):
        return MATCH, char == MINUS, at + 1, number_end(buf, at + 1, end)
    if at + 1 < end and (buf[at + 1] in (POINT, DOLLAR) or buf[at + 1] >= BEYOND_ASCII):
        return UNCERTAIN, False, -1, -1
    return NONE, False, -1, -1


@kernel
def number_end(buf: Places, at: int, end: int) -> int:
    r"""Return where `\d[\d,]*(?:\.\d+)?` ends that begins at a place."""
    while at < end and (is_digit(buf[at]) or buf[at] == COMMA):
        at += 1
    if at + 1 < end and buf[at] == POINT and is_digit(buf[at + 1]):
        at += 1
        while at < end and is_digit(buf[at]):
            at += 1
    return at


@kernel
def ended(buf: Places, at: int, end: int) -> bool:
    """Tell whether RESULT, OVER and CLOCK certainly do not match behind a number."""
    if at + 1 < end and buf[at] == COLON and is_digit(buf[at + 1]):
        return False
    slash = at + 1 if at < end and (buf[at] == SPACE or buf[at] == TAB) else at
    if slash < end and buf[slash] == SLASH:
        return False
    while at < end and IN_EQUATION[buf[at]]:
        at += 1
    return at == end or (buf[at] != EQUALS and buf[at] < BEYOND_ASCII)
