"""The gold answers that cases are made of, smallest first, and how to write a number."""

from __future__ import annotations

import random
from decimal import Context, Decimal

# Each has a property that some published scorer trips over: one digit, a digit that ends or begins
# another, a thousands comma, more than five digits, a sign, zero.
FIXED = (
    *("1", "5", "11", "18", "60", "72", "250", "1000", "2125", "10000", "65960"),
    *("100000", "131250", "2880000", "0", "-1", "-10"),
)
# What a scorer is probed with: nothing that is hard to read or to compare.
PLAIN = ("18", "5", "42", "7", "250", "96", "31", "640")
DECIMALS = ("0.5", "2.5", "17.25")
COMMAS = ("1,000", "2,125", "65,960", "1,450,000")
BEYOND_FLOATS = "9007199254740992"  # 2^53: the next integer has no float of its own

_EXACT = Context(prec=60)


def golds(seed: int) -> tuple[str, ...]:
    """Return whole golds as a dataset writes them, the fixed ones and those that the seed draws."""
    return tuple(dict.fromkeys((*FIXED, *drawn(seed))))


def drawn(seed: int) -> tuple[str, ...]:
    """Return the golds that a seed draws: two to six digits, and a negative one."""
    draw = random.Random(seed)  # noqa: S311
    whole = [str(draw.randrange(10**length, 10 ** (length + 1))) for length in range(1, 6)]
    return (*whole, str(-draw.randrange(2, 100)))


def grouped(digits: str, mark: str = ",") -> str:
    """Write a whole number with a mark between thousands."""
    return f"{int(digits):,}".replace(",", mark)


def times(number: str, factor: str) -> str:
    """Multiply exactly, and write the product without exponent and trailing zeros."""
    product = _EXACT.multiply(Decimal(number), Decimal(factor))
    written = format(product, "f")
    return written.rstrip("0").rstrip(".") if "." in written else written


def plus(number: str, term: int) -> str:
    """Add to a whole number."""
    return str(int(number) + term)


def equal(left: str, right: str) -> bool:
    """Tell whether two plainly written numbers are the same."""
    return Decimal(left.replace(",", "")) == Decimal(right.replace(",", ""))
