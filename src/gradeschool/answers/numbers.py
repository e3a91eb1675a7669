"""Exact numbers: no floats, no unbounded integers, no exceptions on any text."""

from __future__ import annotations

from decimal import Context, Decimal, InvalidOperation

# An exponent may lengthen the written-out form by this many digits; past it a number stays as text.
MAX_PADDING = 5_000
TOLERANCE = Decimal("1e-6")
# No traps: an overflow gives infinity instead of raising. 60 digits are enough to tell whether a
# difference is under the tolerance.
_CONTEXT = Context(prec=60, traps=[])


def parse_decimal(text: str) -> Decimal | None:
    """Return the finite number that a text spells in Python's float syntax, exactly; else None.

    Decimal digits of every script count as digits, as they do for `float`.
    """
    try:
        number = Decimal(text)
    except (InvalidOperation, ValueError):
        return None
    return number if number.is_finite() else None


def plain(number: Decimal, length: int = 0) -> str | None:
    """Write a number without exponent and trailing zeros ("1E+3" -> "1000", "-0.50" -> "-0.5").

    None where that would need more than `length` + MAX_PADDING digits.
    """
    if abs(number.adjusted()) > length + MAX_PADDING:
        return None
    written = format(number, "f")
    if "." in written:
        written = written.rstrip("0").rstrip(".")
    return "0" if written == "-0" else written


def normalize(text: str) -> str:
    """Return an answer in the form that is compared: "1,234" -> "1234", "42." and "42.0" -> "42".

    Strips white space, commas and trailing periods; whole numbers lose their zero decimals;
    anything else stays as it is ("17.5", "inf", "x"). Exact for numbers of any length, and never raises,
    unlike the same function written with `int(float(text))`.
    """
    cleaned = text.strip().replace(",", "").rstrip(".")
    number = parse_decimal(cleaned)
    written = None if number is None else plain(number, len(cleaned))
    return cleaned if written is None or "." in written else written


def answers_match(extracted: str, ground_truth: str) -> bool:
    """Tell whether two answers are the same number: equal once normalised, or closer than 1e-6.

    Never raises; texts that are no numbers match only themselves.
    """
    left, right = normalize(extracted), normalize(ground_truth)
    if left == right:
        return True
    a, b = parse_decimal(left), parse_decimal(right)
    if a is None or b is None:
        return False
    return _CONTEXT.compare(_CONTEXT.abs(_CONTEXT.subtract(a, b)), TOLERANCE) == -1
