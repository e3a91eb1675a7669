"""The value of an expression: sums, products, brackets, fractions, percent.

    sum     := product (("+" | "-") product)*
    product := factor (("*" | "/" | "//") factor)*      "//" is whole-number division
    factor  := ("+" | "-")* "$"? (number | "(" sum ")") "%"*

The caller provides the tokens: calculator annotations and the equations of a text are split in
different ways. The caller also chooses the arithmetic: `EXACT` computes bounded fractions, the
labels of steps compute modulo a prime.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Generic, NamedTuple, TypeVar

# Far beyond any annotation of GSM8K and cheap to refuse.
DEEPEST, MOST_DIGITS = 20, 30
TOO_LARGE = 10**MOST_DIGITS
SIGNS = ("plus", "minus")
PRODUCTS = ("times", "over", "floor")
JUXTAPOSED = (*PRODUCTS, "left")
OPERATORS = frozenset({*PRODUCTS, *SIGNS})
Value = TypeVar("Value", Fraction, int)


class Token(NamedTuple):
    """A token: its kind, its characters and their place.

    Kinds with a meaning: num, frac (LaTeX with two plain numbers), plus, minus, times, over, floor,
    left, right (brackets), percent, money.
    """

    kind: str
    text: str
    start: int
    end: int


class Arithmetic(NamedTuple, Generic[Value]):
    """How values are computed.

    number: the value of a token "num" or "frac". combined: the value of two, from the kind of their
    operator. hundred: the divisor of "%".
    """

    number: Callable[[Token], Value]
    combined: Callable[[str, Value, Value], Value]
    hundred: Value


def evaluate_tokens(
    tokens: Sequence[Token],
    arithmetic: Arithmetic[Value],
    *,
    percent: bool = True,
    in_order: bool = False,
    juxtaposed: bool = False,
) -> Value | None:
    """Return the value of an expression.

    percent: whether "50%" is 0.5, else 50. in_order: without precedence, as on a simple calculator.
    juxtaposed: whether "2(3 + 4)" multiplies. None if the tokens are not an expression, divide by
    zero, are nested deeper than DEEPEST, or exceed the bounds of the arithmetic.
    """
    parser = _ExpressionParser(tokens, arithmetic, percent, in_order, juxtaposed)
    try:
        total = parser.sum(0)
    except (_NotAnExpression, ZeroDivisionError):
        return None
    return total if parser.index == len(tokens) else None


class _NotAnExpression(Exception):
    """The tokens are not an expression, or exceed the bounds."""


@dataclass
class _ExpressionParser(Generic[Value]):
    """Recursive descent over tokens; depth: number of open brackets."""

    tokens: Sequence[Token]
    arithmetic: Arithmetic[Value]
    percent: bool
    in_order: bool
    juxtaposed: bool
    index: int = 0

    def _kind(self) -> str:
        return self.tokens[self.index].kind if self.index < len(self.tokens) else ""

    def sum(self, depth: int) -> Value:
        total = self._product(depth)
        while (kind := self._kind()) in OPERATORS:
            self.index += 1
            total = self.arithmetic.combined(kind, total, self._product(depth))
        return total

    def _product(self, depth: int) -> Value:
        total = self._factor(depth)
        kinds = JUXTAPOSED if self.juxtaposed else PRODUCTS
        while not self.in_order and (kind := self._kind()) in kinds:
            self.index += kind != "left"
            total = self.arithmetic.combined(kind, total, self._factor(depth))
        return total

    def _factor(self, depth: int) -> Value:
        negative = False
        while (kind := self._kind()) in SIGNS:
            negative ^= kind == "minus"
            self.index += 1
        if kind == "money":
            self.index += 1
        value = self._operand(depth)
        while self._kind() == "percent":
            self.index += 1
            if self.percent:
                value = self.arithmetic.combined("over", value, self.arithmetic.hundred)
        return -value if negative else value

    def _operand(self, depth: int) -> Value:
        kind = self._kind()
        self.index += 1
        if kind in ("num", "frac"):
            return self.arithmetic.number(self.tokens[self.index - 1])
        if kind != "left" or depth == DEEPEST:
            raise _NotAnExpression
        value = self.sum(depth + 1)
        if self._kind() != "right":
            raise _NotAnExpression
        self.index += 1
        return value


def _combined(kind: str, left: Fraction, right: Fraction) -> Fraction:
    if kind == "plus":
        return _bounded(left + right)
    if kind == "minus":
        return _bounded(left - right)
    if kind == "over":
        return _bounded(left / right)
    return _bounded(Fraction(left // right) if kind == "floor" else left * right)


def _value(token: Token) -> Fraction:
    if token.kind == "num":
        return _number(token.text)
    over, under = token.text.partition("{")[2][:-1].split("}{")
    return _number(over) / _number(under)


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


# None for a value whose numerator or denominator reaches TOO_LARGE.
EXACT = Arithmetic(_value, _combined, Fraction(100))
