"""How a wrong number is near the right one: sign, scale, rounding, a piece of it, the same end."""

from __future__ import annotations

import re
from enum import StrEnum
from fractions import Fraction

from gradeschool.answers.quantities import exact

SCALES = {Fraction(10) ** power: power for power in range(-9, 10) if power}
# Numbers closer than one in ten thousand are told apart by no scorer of five significant digits.
CLOSE = Fraction(1, 10_000)
ORNAMENT = re.compile(r"[^\d./+-]")


class Near(StrEnum):
    """The relations, the surest first."""

    SAME = "same"
    SIGN = "sign"
    GROUP = "group"
    SCALE = "scale"
    ROUNDED = "rounded"
    AFFIX = "affix"


def near(read: str, right: str) -> Near | None:
    """Return how the value that was read is near the right one, None where it is not.

    Both are values as a reader gives them or as a scorer leaves them ("$18.00", "18.", "250"): what
    is no digit, sign, point or slash is passed over. Never raises.
    """
    a, b = _worth(read), _worth(right)
    if a is None or b is None:
        return None
    if a == b:
        return Near.SAME
    if a == -b:
        return Near.SIGN
    if _is_group(a, b):
        return Near.GROUP
    if b and a / b in SCALES:
        return Near.SCALE
    if _is_rounded(a, b):
        return Near.ROUNDED
    return Near.AFFIX if _is_affix(a, b) else None


def scale_of(read: str, right: str) -> str:
    """Return a factor in words: "x100", "/1000"; "" where there is none."""
    a, b = _worth(read), _worth(right)
    power = SCALES.get(a / b, 0) if a is not None and b else 0
    return f"{'x' if power > 0 else '/'}{10 ** abs(power)}" if power else ""


def _worth(value: str) -> Fraction | None:
    if ":" in value:  # a clock time
        return None
    value = value.replace("−", "-").strip()
    return exact(value) or exact(ORNAMENT.sub("", value).rstrip(".").lstrip("+"))


def _is_group(a: Fraction, b: Fraction) -> bool:
    """Tell whether one is a piece of the other between thousands commas: 250 or 1 of 1,250."""
    for piece, whole in ((a, b), (b, a)):
        if whole.denominator == piece.denominator == 1 and abs(whole) >= 1000 and piece >= 0:
            groups = f"{abs(whole.numerator):,}".split(",")
            if piece.numerator in (int(groups[0]), int(groups[-1])):
                return True
    return False


def _is_rounded(a: Fraction, b: Fraction) -> bool:
    whole = a.denominator == b.denominator == 1
    if not whole and abs(a) >= 1 and abs(a - b) < 1 and 1 in (a.denominator, b.denominator):
        return True
    return abs(a - b) <= CLOSE * max(abs(a), abs(b))


def _is_affix(a: Fraction, b: Fraction) -> bool:
    """Tell whether the digits of one begin or end the other's: 711 and 11."""
    if a.denominator != 1 or b.denominator != 1:
        return False
    short, long = sorted((str(abs(a.numerator)), str(abs(b.numerator))), key=len)
    return len(short) < len(long) and (long.endswith(short) or long.startswith(short))
