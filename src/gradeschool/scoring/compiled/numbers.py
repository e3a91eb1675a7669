"""Numbers in a piece of text: exact small floats, and how scorers compare them with a gold.

A gold is a whole number of at most 12 digits; texts of up to 15 digits are exact as floats, and the
float is then the one that Python's `float` gives.
"""

from __future__ import annotations

import numpy as np

from gradeschool.scoring.compiled.jit import Places, kernel
from gradeschool.scoring.compiled.letters import (
    COMMA,
    DOLLAR,
    MINUS,
    PLUS,
    POINT,
    ZERO,
    is_digit,
)
from gradeschool.scoring.families import CORRECT, WRONG

ASK = 7
# What a piece of text is for `float`.
# ABOUT: a number of more digits than are exact; its value is right to 14 digits.
NUMBER, NO_NUMBER, UNSURE, ABOUT = 0, 1, 2, 3
MOST_DIGITS, MOST_LEFT_OUT = 15, 20
# Bytes that stand in what `float` reads beside plain numbers: "1e5", "1_000", "infinity", "nan".
MIGHT_SPELL = np.zeros(256, np.uint8)
MIGHT_SPELL[[*b"_aefintyAEFINTY"]] = 1
POWERS = np.array([10.0**exponent for exponent in range(23)])


@kernel
def number_in(buf: Places, start: int, end: int, with_commas: bool) -> tuple[int, float]:
    """Return whether `float` reads a piece without white space around it, and as what.

    with_commas: commas are dropped first.
    """
    at = start
    if at < end and (buf[at] == MINUS or buf[at] == PLUS):
        at += 1
    value, digits, decimals, points, left_out = 0, 0, 0, 0, 0
    unsure = False
    for i in range(at, end):
        char = buf[i]
        if is_digit(char):
            digits += 1
            if digits > MOST_DIGITS:
                left_out += points == 0
                continue
            value = value * 10 + (char - ZERO)
            decimals += points
        elif char == POINT:
            points += 1
        elif char == COMMA and with_commas:
            continue
        elif MIGHT_SPELL[char] or (unsure and (char in (MINUS, PLUS))):
            unsure = True
        else:
            return NO_NUMBER, 0.0
    if unsure or left_out > MOST_LEFT_OUT:
        return UNSURE, 0.0
    if digits == 0 or points > 1:
        return NO_NUMBER, 0.0
    found = value / POWERS[decimals] * POWERS[left_out]
    found = -found if buf[start] == MINUS else found
    return NUMBER if digits <= MOST_DIGITS else ABOUT, found


@kernel
def close(kind: int, value: float, gold: int) -> int:
    """Compare within 1e-6."""
    difference = abs(value - gold)
    if kind == ABOUT:
        return WRONG if difference > 1e-3 * (1 + gold) else ASK
    return CORRECT if difference < 1e-6 else WRONG


@kernel
def close_or_hundredfold(kind: int, value: float, gold: int) -> int:
    """Compare as DeepSeek does, by `math.isclose` with an absolute tolerance of 1e-3."""
    for one in (gold * 1.0, gold / 100, gold * 100.0):
        difference = abs(one - value)
        if kind == ABOUT and difference < 1e-2 * (1 + one):
            return ASK
        if difference <= 1e-3 or difference <= abs(1e-9 * one) or difference <= abs(1e-9 * value):
            return CORRECT
    return WRONG


@kernel
def equal_in_five_digits(kind: int, value: float, gold: int) -> int:
    """Compare by `format(number, ".5g")`; ASK where that would have to be written out."""
    if abs(value - gold) > 2e-4 * max(abs(value), gold):
        return WRONG
    if kind == ABOUT or gold == 0:  # "-0" is not "0"
        return ASK
    if value == gold:
        return CORRECT
    return WRONG if value == np.floor(value) and value < 1e5 and gold < 1e5 else ASK


@kernel
def ends_with_gold(kind: int, value: float, gold: int) -> int:
    """Tell whether a number of digits and points, written with 5 digits, ends with the gold."""
    if (value >= 1.1e5 and 10 <= gold < 100_000) or (gold >= 100_000 and value < 9e4):
        return WRONG  # one of the two is written with an exponent, "1.5e+05"
    if value >= 1e5 or gold >= 100_000 or value < 1:
        return CORRECT if value == gold and kind == NUMBER else ASK
    size = 10
    while size <= gold:
        size *= 10
    if value == np.floor(value) and kind == NUMBER:
        return CORRECT if np.int64(value) % size == gold else WRONG
    decimals = 4
    while value >= 10.0 ** (5 - decimals):
        decimals -= 1
    scaled = value * POWERS[decimals]
    if abs(scaled - np.floor(scaled) - 0.5) < 1e-6 or scaled > 99_999:
        return ASK
    written = np.int64(np.floor(scaled + 0.5))
    while decimals > 0 and written % 10 == 0:
        written //= 10
        decimals -= 1
    if decimals > 0 and size > POWERS[decimals]:
        return WRONG  # the gold would reach over the point
    return CORRECT if written % size == gold else WRONG


@kernel
def equal_to(
    buf: Places, start: int, end: int, refs: Places, place: int, size: int, dollars: bool
) -> int:
    """Compare a piece with a reference as text; its commas, and on demand its "$", do not count."""
    if size < 0:
        return ASK
    same = 0
    for i in range(start, end):
        char = buf[i]
        if char == COMMA or (dollars and char == DOLLAR):
            continue
        if same >= size or refs[place + same] != char:
            return WRONG
        same += 1
    return CORRECT if same == size else WRONG


@kernel
def equal_as_is(buf: Places, start: int, end: int, refs: Places, place: int, size: int) -> int:
    """Compare a piece with a reference as text."""
    if size < 0:
        return ASK
    if end - start != size:
        return WRONG
    for i in range(size):
        if buf[start + i] != refs[place + i]:
            return WRONG
    return CORRECT
