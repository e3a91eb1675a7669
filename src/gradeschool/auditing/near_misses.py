"""Wrong answers that lie near the gold: none of them may pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from gradeschool.auditing.golds import equal, plus, times
from gradeschool.auditing.kinds import Kind, Numbers, wrong


def _digits(gold: str) -> tuple[str, str]:
    """Split a gold into its sign and its digits."""
    return ("-", gold[1:]) if gold.startswith("-") else ("", gold)


def _scaled(*factors: str) -> Numbers:
    return lambda gold: [number for by in factors if not equal(number := times(gold, by), gold)]


def _moved(low: int, high: float, *terms: int) -> Numbers:
    """Return numbers a few ones off, for golds whose size lies between two bounds."""
    return lambda gold: [plus(gold, term) for term in terms] if low <= abs(int(gold)) < high else []


def _swapped(gold: str) -> Iterator[str]:
    sign, digits = _digits(gold)
    for at in range(len(digits) - 1):
        if digits[at] != digits[at + 1] and (at or digits[at + 1] != "0"):
            yield f"{sign}{digits[:at]}{digits[at + 1]}{digits[at]}{digits[at + 2 :]}"
            return


def _negated(gold: str) -> Iterable[str]:
    sign, digits = _digits(gold)
    return () if digits == "0" else (digits, f"+{digits}") if sign else (f"-{digits}",)


def _whole(make: Callable[[str], Iterable[str]], shortest: int = 1, longest: int = 99) -> Numbers:
    """Restrict to golds without a sign, not zero, that have so many digits."""

    def numbers(gold: str) -> Iterable[str]:
        fits = gold.isdigit() and gold != "0" and shortest <= len(gold) <= longest
        return make(gold) if fits else ()

    return numbers


def _list(gold: str) -> Iterable[str]:
    return [", ".join(gold)]


def _clock(gold: str) -> Iterator[str]:
    if int(gold) < 60:
        yield f"3:{gold:0>2}"
    if int(gold) < 13:
        yield f"{gold}:30"


NEAR_MISSES: tuple[Kind, ...] = (
    wrong("suffix", "the gold is only the end of the number that is given",
          _whole(lambda gold: [f"1{gold}", f"7{gold}", f"20{gold}"])),
    wrong("prefix", "the gold is only the beginning of the number that is given",
          _whole(lambda gold: [f"{gold}7", f"{gold}924"])),
    wrong("inside", "the gold is only a part of the number that is given",
          _whole(lambda gold: [f"3{gold}7"])),
    wrong("ten times", "the point has moved", _scaled("10", "0.1")),
    wrong("a hundred times", "a number and its percentage are two values", _scaled("100", "0.01")),
    wrong("a thousand times", "the point has moved", _scaled("1000", "0.001")),
    wrong("one off", "the number next to the gold is another number", _moved(0, 10_000, 1, -1)),
    wrong("one off a large number", "exact answers are compared exactly, whatever their size",
          _moved(10_000, 100_000, 1, -1, 3)),
    wrong("five significant digits", "two numbers that differ in the sixth digit are two numbers",
          _moved(100_000, 10**12, 1, -1, 4)),
    wrong("sign", "a number and its negative are two numbers", _negated),
    wrong("sign by unicode minus", "a number and its negative are two numbers",
          _whole(lambda gold: [f"−{gold}"])),
    wrong("digits swapped", "the digits are the gold's, their order is not", _swapped),
    wrong("decimal tail", "the gold is only the whole part of the number",
          lambda gold: [f"{gold}.5", f"{gold}.01", f"{gold}.001"]),
    wrong("behind the point", "the gold is only the decimals of the number",
          _whole(lambda gold: [f"3.{gold}", f"0.{gold}", f".{gold}"])),
    wrong("last thousands group", "the gold is only what stands behind the thousands comma",
          _whole(lambda gold: [f"2,{gold:0>3}", f"1,000,{gold:0>3}"], longest=3)),
    wrong("first thousands group", "the gold is only what stands before the thousands comma",
          _whole(lambda gold: [f"{gold},250", f"{gold},000"], longest=3)),
    wrong("list of digits", "a list of numbers is not the number that their digits form",
          _whole(_list, shortest=2, longest=5)),
    wrong("part of a fraction", "the gold is only a part of a fraction",
          _whole(lambda gold: [f"{gold}/7", f"1/{gold}"] if gold != "1" else [f"{gold}/7"])),
    wrong("part of a time of day", "the gold is only a part of a time", _whole(_clock, longest=2)),
    wrong("base of a power", "the gold is only the base of a power",
          _whole(lambda gold: [f"{gold}^2", f"{gold}²"] if gold != "1" else [])),
    wrong("mantissa", "the gold is only the mantissa of a number in scientific notation",
          _whole(lambda gold: [f"{gold}e3", f"{gold} x 10^3"])),
    wrong("scale word", "a word behind the number multiplies it",
          _whole(lambda gold: [f"{gold} thousand", f"{gold} million"])),
    wrong("alternatives", "two numbers are offered, none is chosen",
          _whole(lambda gold: [f"{plus(gold, -1)} or {gold}", f"{gold} or {plus(gold, 2)}"])),
    wrong("bound", "a bound is not the number",
          _whole(lambda gold: [f"more than {gold}", f"not {gold}"])),
    wrong("program", "the scorer runs what the model wrote, which may be anything",
          _whole(lambda gold: [f"len('{'a' * int(gold)}')"], longest=2)),
    wrong("no number", "no number is given",
          lambda gold: ["", "unknown", "nan", "inf", "None", "True", "x", "?"]),
)  # fmt: skip
FLOAT_PRECISION = wrong(
    "float precision",
    "two integers that one float stands for are two integers",
    lambda gold: [plus(gold, 1)],
)
