"""The value of an expression, exact and bounded: sums, products, brackets, fractions, percent.

    sum     := product (("+" | "-") product)*
    product := factor (("*" | "/" | "//") factor)*      "//" is whole-number division
    factor  := ("+" | "-")* "$"? (number | "(" sum ")") "%"*

The caller provides the tokens: calculator annotations and the equations of a text are split in
different ways.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

# Far beyond any annotation of GSM8K and cheap to refuse.
DEEPEST, MOST_DIGITS = 20, 30
TOO_LARGE = 10**MOST_DIGITS
OPERATORS = frozenset({"times", "over", "floor", "plus", "minus"})
SIGNS = ("plus", "minus")


class Token(NamedTuple):
    """A token: its kind, its characters and their place.

    Kinds with a meaning: num, frac (LaTeX with two plain numbers), plus, minus, times, over, floor,
    left, right (brackets), percent, money.
    """

    kind: str
    text: str
    start: int
    end: int


def evaluate_tokens(
    tokens: Sequence[Token],
    *,
    percent: bool = True,
    in_order: bool = False,
    juxtaposed: bool = False,
) -> Fraction | None:
    """Return the value of an expression.

    percent: whether "50%" is 0.5, else 50. in_order: without precedence, as on a simple calculator.
    juxtaposed: whether "2(3 + 4)" multiplies. None if the tokens are not an expression, divide by
    zero, are nested deeper than DEEPEST, or if a value reaches TOO_LARGE.
    """
    parser = _ExpressionParser(tokens, percent, in_order, juxtaposed)
    try:
        total = parser.sum(0)
    except (_NotAnExpression, ZeroDivisionError):
        return None
    return total if parser.index == len(tokens) else None


class _NotAnExpression(Exception):
    """The tokens are not an expression, or exceed the bounds."""


class _ExpressionParser:
    """Recursive descent over tokens; depth: number of open brackets."""

    def __init__(
        self, tokens: Sequence[Token], percent: bool, in_order: bool, juxtaposed: bool
    ) -> None:
        self.tokens, self.percent, self.in_order = tokens, percent, in_order
        self.product_kinds = ("times", "over", "floor", "left" if juxtaposed else "times")
        self.index = 0

    def _kind(self) -> str:
        return self.tokens[self.index].kind if self.index < len(self.tokens) else ""

    def sum(self, depth: int) -> Fraction:
        total = self._product(depth)
        while (kind := self._kind()) in OPERATORS:
            self.index += 1
            total = _applied(kind, total, self._product(depth))
        return total

    def _product(self, depth: int) -> Fraction:
        total = self._factor(depth)
        while not self.in_order and (kind := self._kind()) in self.product_kinds:
            self.index += kind != "left"
            total = _applied(kind, total, self._factor(depth))
        return total

    def _factor(self, depth: int) -> Fraction:
        negative = False
        while (kind := self._kind()) in SIGNS:
            negative ^= kind == "minus"
            self.index += 1
        if kind == "money":
            self.index += 1
        value = self._operand(depth)
        while self._kind() == "percent":
            self.index += 1
            value = _bounded(value / 100) if self.percent else value
        return -value if negative else value

    def _operand(self, depth: int) -> Fraction:
        kind = self._kind()
        self.index += 1
        if kind == "num":
            return _number(self.tokens[self.index - 1].text)
        if kind == "frac":
            over, under = self.tokens[self.index - 1].text.partition("{")[2][:-1].split("}{")
            return _number(over) / _number(under)
        if kind != "left" or depth == DEEPEST:
            raise _NotAnExpression
        value = self.sum(depth + 1)
        if self._kind() != "right":
            raise _NotAnExpression
        self.index += 1
        return value


def _applied(kind: str, left: Fraction, right: Fraction) -> Fraction:
    if kind == "plus":
        return _bounded(left + right)
    if kind == "minus":
        return _bounded(left - right)
    if kind == "over":
        return _bounded(left / right)
    return _bounded(Fraction(left // right) if kind == "floor" else left * right)


def _number(text: str) -> Fraction:
    digits = text.replace("{,}", "").replace("\\,", "").replace(",", "")
    if len(digits) > MOST_DIGITS:
        raise _NotAnExpression
    return Fraction(Decimal(digits))


def _bounded(value: Fraction) -> Fraction:
    """Reject values that no word problem needs, and that hostile text would grow without limit."""
    if max(abs(value.numerator), value.denominator) >= TOO_LARGE:
        raise _NotAnExpression
    return value
