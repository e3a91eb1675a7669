"""The calculator of annotations: `<<48/2=` is followed by `24>>`.

Paper: Cobbe et al. 2021 (arXiv 2110.14168), appendix C. The authors' code
(openai/grade-school-math, `grade_school_math/calculator.py`) evaluates the expression as Python,
under a signal, and prints the float's `repr`. Here the grammar is our own, values are exact, and
every step is bounded:

    sum     := product (("+" | "-") product)*
    product := factor (("*" | "/" | "//" | "×" | "÷") factor)*      "//" is whole-number division
    factor  := ("+" | "-")* "$"? (number | "(" sum ")") "%"*
    number  := digits with commas as in "1,234", decimals as in "0.5", ".5" and "5."

What differs from the authors': a repeating or long decimal is rounded to PLACES decimals where they
print up to 17 digits (`1/3` gives 0.333333, not 0.3333333333333333), a whole result has no ".0"
(`48/2` gives 24, not 24.0), `0.1+0.2` gives 0.3, percent and dollar signs are read, and Python's
`**` is not. Where there is no result (an error, too long), nothing is forced by either.
"""

from __future__ import annotations

import re
from fractions import Fraction

# Far beyond any annotation of GSM8K (64 characters) and cheap to refuse.
LONGEST, DEEPEST, MOST_DIGITS = 200, 20, 30
TOO_LARGE = 10**MOST_DIGITS
PLACES = 6
OPEN, CLOSE = "<<", ">>"
# One token at a time, possessive: linear. Commas group thousands, or they are part of no number.
NUMBER = r"(?:[0-9]{1,3}(?:,[0-9]{3})++(?![0-9])|[0-9]++)(?:\.[0-9]*+)?|\.[0-9]++"
TOKEN = re.compile(rf"{NUMBER}|//|[^ ]")
PLAIN = re.compile(r"([0-9]{1,9})([-+*])([0-9]{1,9})")  # most annotations: the short way
SAME = {"×": "*", "÷": "/", "−": "-"}


def evaluate(expression: str) -> Fraction | None:
    """Return what an expression comes to, exactly.

    None where it is no expression, divides by zero, or is longer, deeper or of more digits than
    the bounds. Takes time linear in the first LONGEST characters; never raises.
    """
    if len(expression) > LONGEST:
        return None
    try:
        return _Reader(expression).whole()
    except (_NoSense, ZeroDivisionError):
        return None


def written(expression: str) -> str | None:
    """Return what an expression comes to as annotations write it: "24", "0.5", "-3", "0.333333".

    None where `evaluate` gives none.
    """
    if plain := PLAIN.fullmatch(expression):
        first, sign, second = int(plain[1]), plain[2], int(plain[3])
        return str(first * second if sign == "*" else first + (second if sign == "+" else -second))
    value = evaluate(expression)
    return None if value is None else write(value)


def write(value: Fraction) -> str:
    """Return a value as annotations write it: no exponent, no zeros at the end, PLACES decimals."""
    if value.denominator == 1:
        return str(value.numerator)
    units = round(abs(value) * 10**PLACES)
    whole, part = divmod(units, 10**PLACES)
    decimals = f"{part:0{PLACES}d}".rstrip("0")
    sign = "-" if value < 0 and units else ""
    return f"{sign}{whole}.{decimals}" if decimals else f"{sign}{whole}"


def forced(text: str) -> str:
    """Return what must follow a text that ends in an open annotation: "<<48/2=" gives "24>>".

    "" for any other text, and where the expression has no result.
    """
    if not text.endswith("="):
        return ""
    at = text.rfind(OPEN, max(0, len(text) - LONGEST - len(OPEN) - 1))
    if at < 0:
        return ""
    expression = text[at + len(OPEN) : -1]
    result = written(expression)
    return "" if result is None else result + CLOSE


class _NoSense(Exception):
    """The text is no expression, or one beyond the bounds."""


class _Reader:
    """An expression, read from left to right."""

    def __init__(self, expression: str) -> None:
        found: list[str] = TOKEN.findall(expression)
        self.tokens = [*(SAME.get(token, token) for token in found), ""]
        self.at = 0

    def whole(self) -> Fraction:
        value = self._sum(0)
        if self.tokens[self.at]:
            raise _NoSense
        return value

    def _take(self, *wanted: str) -> str:
        token = self.tokens[self.at]
        if token not in wanted:
            return ""
        self.at += 1
        return token

    def _sum(self, depth: int) -> Fraction:
        total = self._product(depth)
        while sign := self._take("+", "-"):
            operand = self._product(depth)
            total = _bounded(total + operand if sign == "+" else total - operand)
        return total

    def _product(self, depth: int) -> Fraction:
        total = self._factor(depth)
        while sign := self._take("*", "/", "//"):
            operand = self._factor(depth)
            if sign == "*":
                total = _bounded(total * operand)
            else:
                total = _bounded(total / operand if sign == "/" else Fraction(total // operand))
        return total

    def _factor(self, depth: int) -> Fraction:
        negative = False
        while sign := self._take("+", "-"):
            negative ^= sign == "-"
        self._take("$")
        if self._take("("):
            if depth == DEEPEST:
                raise _NoSense
            value = self._sum(depth + 1)
            if not self._take(")"):
                raise _NoSense
        else:
            value = _number(self.tokens[self.at])
            self.at += 1
        while self._take("%"):
            value = _bounded(value / 100)
        return -value if negative else value


def _number(token: str) -> Fraction:
    digits = token.replace(",", "")
    if not digits or digits[-1] not in "0123456789." or digits == "." or len(digits) > MOST_DIGITS:
        raise _NoSense
    whole, point, decimals = digits.partition(".")
    if not point:
        return Fraction(int(whole))
    return Fraction(int(whole + decimals), 10 ** len(decimals))


def _bounded(value: Fraction) -> Fraction:
    """Refuse what no word problem needs and what a hostile text would grow without end."""
    if max(abs(value.numerator), value.denominator) >= TOO_LARGE:
        raise _NoSense
    return value
