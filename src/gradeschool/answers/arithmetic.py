"""Steps computed again: every "a op b = c" of a text, exactly, and the ones that are false.

What a writer may mean decides in his favour: a result that was rounded, a percentage as a part or
as a figure, a chain computed from left to right, a change of unit are no slips.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import NamedTuple

from gradeschool.answers.equations import LONGEST_NUMBER, OPERATORS, Equation, Token, equations

# Where units are named: cents, percent, minutes, inches, hours, days, weeks, ounces, yards.
CONVERSIONS = frozenset(
    Fraction(factor)
    for factor in (10, 100, 1000, 60, 3600, 12, 24, 7, 52, 365, 30, 4, 3, 36, 16, 1440)
)
ZERO_FIRST = re.compile(r"0\d")
ROUNDED = Fraction(1, 200)  # the relative error that rounding on the way may make


class Slip(NamedTuple):
    """A false equation: its characters, what its left side comes to, and where it stands."""

    text: str
    value: Fraction
    start: int
    end: int


def slips(text: str) -> Iterator[Slip]:
    """Yield the false equations of a text, in order. Linear in its length; never raises."""
    for equation in equations(text):
        slip = _slip(equation)
        if slip is not None:
            yield slip


def first_slip(text: str) -> Slip | None:
    """Return the first false equation of a text, or None."""
    return next(slips(text), None)


def _slip(equation: Equation) -> Slip | None:
    left = _open(equation.left)
    if not any(token.kind in OPERATORS for token in left[1:]) or _is_unclear(left):
        return None
    right = _closed(equation.right)
    lefts, rights = _values(left), _values(right)
    if not lefts or not rights:
        return None
    rights += _values(right[:1])  # "5 * 3 = 15 + 2 = 17"
    exact = not any(token.kind == "over" or "." in token.text for token in (*left, *right))
    for a, b in product(lefts, rights):
        if a == b or (not exact and _is_rounded(a, b, right)):
            return None
        if equation.units and a and b and {abs(a / b), abs(b / a)} & CONVERSIONS:
            return None
    return Slip(equation.text, lefts[0], equation.start, equation.end)


def _is_unclear(tokens: Sequence[Token]) -> bool:
    """Tell whether no single sense is sure: "50 + 30%", a range ("days 1-8"), "0900-0130"."""
    kinds = [token.kind for token in tokens]
    percents = kinds.count("percent")
    if percents and {"plus", "minus"} & set(kinds) and percents < kinds.count("num"):
        return True
    if any(token.kind == "num" and ZERO_FIRST.match(token.text) for token in tokens):
        return True
    return kinds == ["num", "minus", "num"] and _values(tokens)[:1] < [Fraction(0)]


def _open(tokens: Sequence[Token]) -> Sequence[Token]:
    """Return what stands behind the last "(" that is not closed."""
    depth = 0
    for at in range(len(tokens) - 1, -1, -1):
        depth += {"right": 1, "left": -1}.get(tokens[at].kind, 0)
        if depth < 0:
            return tokens[at + 1 :]
    return tokens


def _closed(tokens: Sequence[Token]) -> Sequence[Token]:
    """Return what stands before the first ")" that nothing opens."""
    depth = 0
    for at, token in enumerate(tokens):
        depth += {"left": 1, "right": -1}.get(token.kind, 0)
        if depth < 0:
            return tokens[:at]
    return tokens


def _is_rounded(exact: Fraction, written: Fraction, tokens: Sequence[Token]) -> bool:
    decimals = max((len(token.text.partition(".")[2]) for token in tokens), default=0)
    difference = abs(exact - written)
    return difference < Fraction(1, 10**decimals) or difference <= ROUNDED * abs(exact)


def _values(tokens: Sequence[Token]) -> list[Fraction]:
    """Return what an expression comes to, in each way that it may be meant; empty for no sense."""
    kinds = {token.kind for token in tokens}
    percents = (True, False) if "percent" in kinds else (False,)
    chained = (False, True) if {"times", "over"} & kinds and {"plus", "minus"} & kinds else (False,)
    forms = [tokens, tokens[1:]] if kinds and tokens[0].kind == "minus" else [tokens]  # a bullet
    if "plus" in kinds and (term := _last_term(tokens)):
        forms.append(term)
    if "over" in kinds and (bound := _bound(tokens)) != tokens:
        forms.append(bound)
    values = []
    for form, percent, in_order in product(forms, percents, chained):
        value = _Expression(form, percent, in_order).value()
        if value is not None:
            values.append(value)
    return values


def _last_term(tokens: Sequence[Token]) -> Sequence[Token]:
    """Return what stands behind the last "+", worked out by itself: "22 + 3 x 6 = 18"."""
    at = max(at for at, token in enumerate(tokens) if token.kind == "plus")
    return tokens[at + 1 :] if any(token.kind == "times" for token in tokens[at:]) else ()


def _bound(tokens: Sequence[Token]) -> Sequence[Token]:
    """Return the tokens with "a/b" behind another "*" or "/" in brackets: "28 / 1/5" is 140."""
    bound: list[Token] = []
    at = 0
    while at < len(tokens):
        kinds = [token.kind for token in tokens[at : at + 4]]
        bound.append(tokens[at])
        at += 1
        if kinds in (["over", "num", "over", "num"], ["times", "num", "over", "num"]):
            first, last = tokens[at], tokens[at + 2]
            left, right = (Token(kind, "", first.start, last.end) for kind in ("left", "right"))
            bound.extend((left, *tokens[at : at + 3], right))
            at += 3
    return bound


class _NoSense(Exception):
    """The tokens are no expression."""


class _Expression:
    """An expression read from left to right; in_order: without precedence, as on a calculator."""

    def __init__(self, tokens: Sequence[Token], percent: bool, in_order: bool) -> None:
        self.tokens, self.percent, self.in_order = tokens, percent, in_order
        self.at = 0

    def value(self) -> Fraction | None:
        """Return what it comes to; None where it makes no sense or divides by zero."""
        try:
            total = self._sum()
        except (_NoSense, ZeroDivisionError):
            return None
        return total if self.at == len(self.tokens) else None

    def _kind(self) -> str:
        return self.tokens[self.at].kind if self.at < len(self.tokens) else ""

    def _sum(self) -> Fraction:
        total = self._product()
        while (kind := self._kind()) in OPERATORS:
            self.at += 1
            operand = self._product()
            if kind == "plus":
                total += operand
            elif kind == "minus":
                total -= operand
            else:
                total = total * operand if kind == "times" else total / operand
        return total

    def _product(self) -> Fraction:
        total = self._factor()
        while not self.in_order and (kind := self._kind()) in ("times", "over", "left"):
            self.at += kind != "left"  # "2(3 + 4)" multiplies
            operand = self._factor()
            total = total / operand if kind == "over" else total * operand
        return total

    def _factor(self) -> Fraction:
        kind = self._kind()
        self.at += 1
        if kind == "minus":
            return -self._factor()
        if kind == "num":
            value = _number(self.tokens[self.at - 1].text)
        elif kind == "frac":
            over, under = self.tokens[self.at - 1].text.partition("{")[2][:-1].split("}{")
            value = _number(over) / _number(under)
        elif kind == "left":
            value = self._sum()
            if self._kind() != "right":
                raise _NoSense
            self.at += 1
        else:
            raise _NoSense
        if self._kind() == "percent":
            self.at += 1
            value = value / 100 if self.percent else value
        return value


def _number(text: str) -> Fraction:
    digits = text.replace("{,}", "").replace("\\,", "").replace(",", "")
    if len(digits) > LONGEST_NUMBER:
        raise _NoSense
    return Fraction(Decimal(digits))
