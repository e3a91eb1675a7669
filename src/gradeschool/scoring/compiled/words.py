"""Words of a text, and the last match of a pattern for numbers within one."""

from __future__ import annotations

from gradeschool.scoring.compiled.jit import Places, kernel
from gradeschool.scoring.compiled.letters import (
    COMMA,
    MINUS,
    PLUS,
    POINT,
    is_digit,
    is_space,
)

# A longer word is left to the scorers.
LONGEST_WORD = 400
# What a pattern for numbers allows, as bits.
WITH_MINUS, WITH_PLUS = 1, 2
WITH_COMMAS = 4  # `\d[\d,]*`
BEGINS_WITH_COMMA = 8  # `[\d,]+`
BARE_POINT = 16  # ".5"
OPEN_POINT = 32  # "18."
SIGNED_DECIMALS_ALONE = 64  # a sign belongs to "-1.5", not to "-1"


@kernel
def last_digit(buf: Places, start: int, end: int) -> int:
    """Return the place of the last digit, -1 for none."""
    at = end - 1
    while at >= start and not is_digit(buf[at]):
        at -= 1
    return at if at >= start else -1


@kernel
def word_start(buf: Places, start: int, at: int) -> int:
    """Return where the word of a place begins."""
    while at > start and not is_space(buf[at - 1]):
        at -= 1
    return at


@kernel
def word_end(buf: Places, at: int, end: int) -> int:
    """Return where the word of a place ends."""
    while at < end and not is_space(buf[at]):
        at += 1
    return at


@kernel
def last_word_with_digit(buf: Places, start: int, end: int) -> tuple[int, int]:
    """Return where the last word with a digit begins and ends; (-1, -1) without one."""
    digit = last_digit(buf, start, end)
    if digit < 0:
        return -1, -1
    return word_start(buf, start, digit), word_end(buf, digit, end)


@kernel
def last_match(buf: Places, start: int, end: int, allowed: int) -> tuple[int, int]:
    """Return the last of the matches of a pattern for numbers, found from left to right."""
    at, first, behind = start, -1, -1
    while at < end:
        char = buf[at]
        body = at
        if (char == MINUS and allowed & WITH_MINUS) or (char == PLUS and allowed & WITH_PLUS):
            body += 1
        stop = body
        while stop < end and (
            is_digit(buf[stop])
            or (
                buf[stop] == COMMA
                and (allowed & BEGINS_WITH_COMMA or (stop > body and allowed & WITH_COMMAS))
            )
        ):
            stop += 1
        has_digits, has_decimals = stop > body, False
        if stop < end and buf[stop] == POINT and (has_digits or allowed & BARE_POINT):
            decimals = stop + 1
            while decimals < end and is_digit(buf[decimals]):
                decimals += 1
            has_decimals = decimals > stop + 1
            if has_decimals or (has_digits and allowed & OPEN_POINT):
                stop = decimals
        if not (has_digits or has_decimals):
            at += 1
            continue
        first = body if allowed & SIGNED_DECIMALS_ALONE and not has_decimals else at
        at = behind = stop
    return first, behind


@kernel
def without_commas(buf: Places, start: int, end: int, out: Places) -> int:
    """Write a word without its commas; return its length."""
    size = 0
    for i in range(start, end):
        if buf[i] != COMMA:
            out[size] = buf[i]
            size += 1
    return size


@kernel
def without_commas_between_digits(buf: Places, start: int, end: int, out: Places) -> int:
    r"""Write a word with `(\d),(\d)` replaced by `\1\2`, once from left to right."""
    size, at = 0, start
    while at < end:
        out[size] = buf[at]
        size += 1
        if at + 2 < end and buf[at + 1] == COMMA and is_digit(buf[at]) and is_digit(buf[at + 2]):
            out[size] = buf[at + 2]
            size += 1
            at += 2
        at += 1
    return size
