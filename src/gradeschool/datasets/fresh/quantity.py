"""Quantities: a value, its written expression, and the graph it was computed by."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

SUM, PRODUCT, ATOM = 1, 2, 3  # how tightly the operators of a written expression bind
# A leaf is (role, value); an inner node is (operator, left, right).
Tree = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number of a problem. Arithmetic builds an expression; `Story.step` turns it into a result.

    money: in dollars; cents are allowed, and "$" is written before it.
    spoken: how the question writes it if not in digits ("three", "a dozen").
    """

    value: Fraction
    written: str
    tree: Tree
    money: bool = False
    rank: int = ATOM
    spoken: str = ""

    def __add__(self, other: Quantity) -> Quantity:
        return _join("+", self, other, self.value + other.value, self.money or other.money)

    def __sub__(self, other: Quantity) -> Quantity:
        return _join("-", self, other, self.value - other.value, self.money or other.money)

    def __mul__(self, other: Quantity) -> Quantity:
        return _join("*", self, other, self.value * other.value, self.money or other.money)

    def __truediv__(self, other: Quantity) -> Quantity:
        money = self.money and not other.money
        return _join("/", self, other, self.value / other.value, money)

    def as_result(self) -> Quantity:
        """Return the quantity as later expressions write it: as its value."""
        return replace(self, written=number(self.value), rank=ATOM)

    @property
    def shown(self) -> str:
        """The number in running text: 1250, or 2.50 for money."""
        return amount(self.value) if self.money else number(self.value)


def _join(operator: str, a: Quantity, b: Quantity, value: Fraction, money: bool) -> Quantity:
    rank = SUM if operator in "+-" else PRODUCT
    first = a.written if a.rank >= rank else f"({a.written})"
    closed = b.rank > rank or (b.rank == rank and operator in "+*")
    second = b.written if closed else f"({b.written})"
    return Quantity(value, f"{first}{operator}{second}", (operator, a.tree, b.tree), money, rank)


def leaf(value: int | Fraction, role: str, money: bool = False, spoken: str = "") -> Quantity:
    """Return a number that is not computed: one from the question, or a constant such as 60."""
    exact = Fraction(value)
    return Quantity(exact, number(exact), (role, exact), money, spoken=spoken)


def number(value: Fraction) -> str:
    """Write a number that has at most two decimals: 12, 7.5, 0.25."""
    if value.denominator == 1:
        return str(value.numerator)
    whole, cents = divmod(int(abs(value) * 100), 100)
    return f"{'-' if value < 0 else ''}{whole}.{cents:02d}".rstrip("0")


def amount(value: Fraction) -> str:
    """Write dollars: 12, 7.50."""
    return str(value.numerator) if value.denominator == 1 else f"{float(value):.2f}"


def evaluate(tree: Tree) -> Fraction:
    """Return the value of a graph, computed from its leaves alone, independent of the steps."""
    if len(tree) == 2:
        return Fraction(tree[1])
    operator, first, second = tree[0], evaluate(tree[1]), evaluate(tree[2])
    if operator == "+":
        return first + second
    if operator == "-":
        return first - second
    return first * second if operator == "*" else first / second


def nodes(tree: Tree) -> Iterator[int]:
    """Yield the identity of every inner node of a graph."""
    if len(tree) == 3:
        yield id(tree)
        yield from nodes(tree[1])
        yield from nodes(tree[2])


def signature(tree: Tree) -> str:
    """Return the structure of a graph: operators and the roles of its leaves, no numbers."""
    if len(tree) == 2:
        return str(tree[0])
    return f"({signature(tree[1])}{tree[0]}{signature(tree[2])})"
