"""Exact numbers: no floats, no unbounded integers, no exceptions on any text."""

from __future__ import annotations

import re
from decimal import Context, Decimal, InvalidOperation

# Maximum number of digits that an exponent may add when written out; beyond, a number stays text.
MAX_PADDING = 5_000
# Whole numbers in the form in which they are compared: different strings are different numbers.
WHOLE = re.compile(r"-?[1-9][0-9]*")
TOLERANCE = Decimal("1e-6")
# No traps: an overflow gives infinity instead of raising. 60 digits suffice to decide whether a
# difference is below the tolerance.
_CONTEXT = Context(prec=60, traps=[])
# `Decimal` strips these as white space, `float` does not.
INFORMATION_SEPARATOR = re.compile(r"[\x1c-\x1f]")
# `float` accepts an underscore only between digits, `Decimal` anywhere.
STRAY_UNDERSCORE = re.compile(r"(?<!\d)_|_(?!\d)")
WHITE = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007"
    "\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)


def parse_decimal(text: str) -> Decimal | None:
    """Return the exact finite number that a text spells in Python's float syntax, else None.

    Decimal digits of every script count as digits, as they do for `float`.
    """
    if STRAY_UNDERSCORE.search(text) or INFORMATION_SEPARATOR.search(text):
        return None
    try:
        number = Decimal(text)
    except (InvalidOperation, ValueError):
        return None
    return number if number.is_finite() else None


def plain(number: Decimal, length: int = 0) -> str | None:
    """Write a number without exponent and trailing zeros ("1E+3" -> "1000", "-0.50" -> "-0.5").

    None if that would need more than `length` + MAX_PADDING digits.
    """
    if abs(number.adjusted()) > length + MAX_PADDING:
        return None
    written = format(number, "f")
    if "." in written:
        written = written.rstrip("0").rstrip(".")
    return "0" if written == "-0" else written


def normalize(text: str) -> str:
    """Return an answer in its compared form: "1,234" -> "1234", "42." and "42.0" -> "42".

    Strips white space, commas and trailing periods; whole numbers lose their zero decimals;
    all other text is unchanged ("17.5", "inf", "x"). Exact for numbers of any length, idempotent,
    and never raises, unlike the same function written with `int(float(text))`.
    """
    cleaned = text.replace(",", "").strip(WHITE).rstrip(WHITE + ".")
    if WHOLE.fullmatch(cleaned):
        return cleaned
    number = parse_decimal(cleaned)
    written = None if number is None else plain(number, len(cleaned))
    return cleaned if written is None or "." in written else written


def answers_match(extracted: str, ground_truth: str) -> bool:
    """Return whether two answers are the same number: equal once normalised, or closer than 1e-6.

    Never raises; texts that are not numbers match only themselves.
    """
    if extracted == ground_truth:
        return True
    left, right = normalize(extracted), normalize(ground_truth)
    if left == right:
        return True
    if WHOLE.fullmatch(left) and WHOLE.fullmatch(right):
        return False
    a, b = parse_decimal(left), parse_decimal(right)
    if a is None or b is None:
        return False
    return _CONTEXT.compare(_CONTEXT.abs(_CONTEXT.subtract(a, b)), TOLERANCE) == -1
