"""The last box of a text, and the amount in a short piece of text."""

from __future__ import annotations

from gradeschool.scoring.compiled.jit import Places, kernel
from gradeschool.scoring.compiled.letters import (
    BACKSLASH,
    BRACE,
    CLOSING,
    COMMA,
    DOLLAR,
    MINUS,
    POINT,
    before_spaces,
    is_digit,
    letters,
    past_spaces,
    stands,
    table_of,
)

# Beside the number these might make another of it: signs, points, LaTeX, what is not ASCII.
SPOILING = table_of("{}=+-./\\^:,")
SPOILING[128:] = 1
PERCENT = 37
BOX, BARE_BOX = letters("\\boxed{"), letters("boxed{")
# What an amount has: no dollar sign, one, or one with a backslash.
NOT_AN_AMOUNT, BARE, IN_DOLLARS, IN_ESCAPED_DOLLARS = range(4)


@kernel
def box_content(buf: Places, boxed: int, end: int) -> tuple[int, int]:
    """Return what is in a box; boxed: where its "boxed" stands. -1 without a brace or closing."""
    if not stands(buf, boxed, end, BARE_BOX):
        return -1, -1
    first = boxed + len(BARE_BOX)
    depth = 1
    for at in range(first, end):
        if buf[at] == BRACE:
            depth += 1
        elif buf[at] == CLOSING:
            depth -= 1
            if depth == 0:
                return first, at
    return -1, -1


@kernel
def has_backslash(buf: Places, boxed: int, start: int) -> bool:
    """Tell whether a "boxed" is a command."""
    return boxed > start and buf[boxed - 1] == BACKSLASH


@kernel
def amount(buf: Places, start: int, end: int) -> tuple[int, int, int]:
    r"""Return the kind, first and end of the number in a piece such as "18", "\$1,250.50" or "-3.".

    Outer white space and last points are left out; begins with a sign or digit, ends with a digit.
    """
    first, stop = past_spaces(buf, start, end), end
    stop = before_spaces(buf, first, stop)
    while stop > first and buf[stop - 1] == POINT:
        stop -= 1
    kind = BARE
    if first + 1 < stop and buf[first] == BACKSLASH and buf[first + 1] == DOLLAR:
        kind = IN_ESCAPED_DOLLARS
        first += 2
    elif first < stop and buf[first] == DOLLAR:
        kind = IN_DOLLARS
        first += 1
    body = first
    if kind == BARE and body < stop and buf[body] == MINUS:
        body += 1
    if body >= stop or not is_digit(buf[body]) or not is_digit(buf[stop - 1]):
        return NOT_AN_AMOUNT, -1, -1
    points = 0
    for i in range(body, stop):
        char = buf[i]
        points += char == POINT
        if not (is_digit(char) or char == POINT or (char == COMMA and points == 0)):
            return NOT_AN_AMOUNT, -1, -1
    return (NOT_AN_AMOUNT if points > 1 else kind), first, stop


@kernel
def single_number(buf: Places, start: int, end: int) -> tuple[int, int]:
    """Return the only number of a piece such as "18 minutes" or "60%"; (-1, -1) if not certain."""
    first, stop, at = -1, -1, start
    while at < end:
        char = buf[at]
        if is_digit(char):
            if first >= 0:
                return -1, -1
            first = stop = at
            while at < end and (is_digit(buf[at]) or buf[at] == COMMA or buf[at] == POINT):
                at += 1
                if is_digit(buf[at - 1]):
                    stop = at
            continue
        is_percent = char == BACKSLASH and at + 1 < end and buf[at + 1] == PERCENT
        if SPOILING[char] and not is_percent:
            return -1, -1
        at += 1
    return first, stop
