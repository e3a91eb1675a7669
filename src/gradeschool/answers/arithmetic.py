r"""Arithmetic in text: the value of an expression, and the false equations of a text.

    sum     := product (("+" | "-") product)*
    product := factor (("*" | "/" | "//") factor)*      "//" is whole-number division
    factor  := ("+" | "-")* "$"? (number | "(" sum ")") "%"*

Calculator annotations, the equations of a text and the labels of steps provide their own tokens and
arithmetic (`EXACT` computes bounded fractions).

An equation ("8 apples * $2 = $16", "<<8*2=16>>", "\frac{1}{2} = 0.5") counts only if every token
near it is understood. A letter, a power, a clock time, "half of" or a sum of different units next
to it excludes it. Ambiguity favours the writer: a rounded result, a percentage as a part or as a
figure, a chain computed from left to right, and a change of unit are not slips. Linear in the
length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise, product
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


THOUSANDS = r"(?:,|\{,\}|\\,)\d{3}"
NUMBER = rf"(?:\d{{1,3}}(?:{THOUSANDS}){{1,6}}(?!\d|{THOUSANDS})|\d++)(?:\.\d++)?|\.\d++"
TOKEN = re.compile(
    rf"""(?P<frac>\\[dt]?frac\{{(?:{NUMBER})\}}\{{(?:{NUMBER})\}})
    |(?P<num>{NUMBER})
    |(?P<money>\\?[$€£¢])|(?P<percent>\\?%)
    |(?P<stop>\n|<<|>>|\\[()\[\]]|\*\*|[=<>!]?=>|[.,;:](?=\s|\Z)|\|)
    |(?P<eq>(?<![=<>!≤≥≈~])=(?![=>]))
    |(?P<times>\\(?:times|cdot)(?![a-zA-Z])|[*×·∗]|(?<=[\d)%\s])[xX](?=[ ]?\\?[\d$(.]))
    |(?P<over>\\div(?![a-zA-Z])|[/÷])|(?P<plus>\+)|(?P<minus>[-−–])
    |(?P<left>\()|(?P<right>\))
    |(?P<skip>[^\S\n]++|\\(?:left|right)(?![a-zA-Z])|\\[ ,!;])
    |(?P<word>\\(?:text|mathrm)\{{[A-Za-z ]{{0,60}}\}}|[A-Za-z]{{1,40}}+)
    |(?P<odd>.)""",
    re.VERBOSE,
)
VALUES = frozenset({"num", "frac", "right", "percent"})
# Words that change the number next to them, so not plain units.
# fmt: off
CHANGING = frozenset((
    "of", "half", "halves", "quarter", "quarters", "third", "thirds", "fourth", "fourths", "fifth",
    "fifths", "twice", "double", "triple", "times", "than", "percent", "by", "plus", "minus", "and",
    "dozen", "dozens", "hundred", "thousand", "million", "billion", "pair", "pairs", "squared",
    "cubed", "remainder", "less", "more", "per", "every", "each",
))
# fmt: on
# Short words that are no names of quantities: "so 15 * 3 = 40".
CONNECTING = frozenset("so is it he we as at to on be if us do me my no go am an".split())  # noqa: SIM905
SHORT_UNITS = frozenset(("kg", "km", "cm", "mm", "ml", "lb", "oz", "ft", "hr", "in"))
MOST_TOKENS = 60


class Equation(NamedTuple):
    """Both sides of one "=", units left out.

    units: whether words or signs of money or percent were removed. text: its characters.
    """

    left: tuple[Token, ...]
    right: tuple[Token, ...]
    units: bool
    text: str
    start: int
    end: int


class _Side(NamedTuple):
    """One side of an "=": the expression, and whether everything around it is understood."""

    tokens: list[Token]
    units: bool
    clear: bool


def equations(text: str) -> Iterator[Equation]:
    """Yield the equations of a text that are understood, in order."""
    sides: list[list[Token]] = [[]]
    for match in TOKEN.finditer(text):
        kind = match.lastgroup or "odd"
        if kind == "stop":
            yield from _of_line(sides, text)
            sides = [[]]
        elif kind == "eq":
            sides.append([])
        elif kind != "skip":
            sides[-1].append(Token(kind, match.group(), *match.span()))
    yield from _of_line(sides, text)


def _of_line(sides: list[list[Token]], text: str) -> Iterator[Equation]:
    for before, after in pairwise(sides):
        if not (before and after):
            continue
        left, right = _last_expression(before), _first_expression(after)
        if left.clear and right.clear and left.tokens and right.tokens:
            start, end = left.tokens[0].start, right.tokens[-1].end
            units = left.units or right.units
            yield Equation(
                tuple(left.tokens), tuple(right.tokens), units, text[start:end], start, end
            )


def _last_expression(tokens: list[Token]) -> _Side:
    """Return the expression at the end of a side, after its last plain words."""
    kept: list[Token] = []
    units = False
    names: set[str] = set()
    tail = tokens[-MOST_TOKENS:]
    for index in range(len(tail) - 1, -1, -1):
        token = tail[index]
        if token.kind == "word":
            if _name(token) in CONNECTING:
                break
            if not _plain(token) and not _joins(tail, index):
                return _Side([], units, clear=False)
            if not _is_unit(tail, index, kept[-1].kind if kept else ""):
                break
            units = True
            names.add(_name(token).removesuffix("s"))
            continue
        if token.kind == "odd" or (index == 0 and len(tokens) > MOST_TOKENS):
            return _Side([], units, clear=False)
        units = units or token.kind in ("money", "percent")
        if token.kind != "money":
            kept.append(token)
    adds = any(token.kind in ("plus", "minus") for token in kept)
    return _Side(kept[::-1], units, clear=len(names) < 2 or not adds)


def _first_expression(tokens: list[Token]) -> _Side:
    """Return the expression at the start of a side, before its first plain words."""
    kept: list[Token] = []
    units = False
    for index, token in enumerate(tokens[:MOST_TOKENS]):
        if token.kind == "word":
            if not _plain(token):
                return _Side([], units, clear=False)
            units = True
            following = tokens[index + 1].kind if index + 1 < len(tokens) else ""
            if following in OPERATORS or following == "word":
                continue
            break
        if token.kind == "odd":
            return _Side([], units, clear=False)
        units = units or token.kind in ("money", "percent")
        if token.kind != "money":
            kept.append(token)
    return _Side(kept, units, clear=True)


def _is_unit(tokens: list[Token], index: int, following: str) -> bool:
    """Return whether a word follows a value, and precedes an operator or the end of the side."""
    if following and following not in OPERATORS and following != "right":
        return False
    while index >= 0 and tokens[index].kind == "word":
        index -= 1
    return index >= 0 and tokens[index].kind in VALUES


def _joins(tokens: list[Token], index: int) -> bool:
    """Return whether a word is an "and" between clauses, not that of "3 and 1/2"."""
    return _name(tokens[index]) == "and" and (index == 0 or tokens[index - 1].kind not in VALUES)


def _plain(token: Token) -> bool:
    words = _name(token).split()
    return not CHANGING.intersection(words) and all(
        len(word) > 2 or word in SHORT_UNITS for word in words
    )


def _name(token: Token) -> str:
    return token.text.rpartition("{")[2].strip("} ").lower()


# Factors between units: cents, percent, minutes, inches, hours, days, weeks, ounces, yards.
CONVERSIONS = frozenset(
    Fraction(factor)
    for factor in (10, 100, 1000, 60, 3600, 12, 24, 7, 52, 365, 30, 4, 3, 36, 16, 1440)
)
ZERO_FIRST = re.compile(r"0\d")
ROUNDED = Fraction(1, 200)  # the relative error that rounding of intermediate results may cause


class Slip(NamedTuple):
    """A false equation: its characters, the value of its left side, and its place."""

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
    if left[0].kind == "plus" or (right and right[0].kind == "plus"):  # continues the line before
        return None
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
    """Return whether the meaning is ambiguous: "50 + 30%", "28 / 1/5", "days 1-8", "0900-0130"."""
    kinds = [token.kind for token in tokens]
    if kinds.count("over") > 1 or "times num over" in " ".join(kinds):
        return True
    percents = kinds.count("percent")
    if percents and {"plus", "minus"} & set(kinds) and percents < kinds.count("num"):
        return True
    if any(token.kind == "num" and ZERO_FIRST.match(token.text) for token in tokens):
        return True
    return kinds == ["num", "minus", "num"] and _values(tokens)[:1] < [Fraction(0)]


def _open(tokens: Sequence[Token]) -> Sequence[Token]:
    """Return the tokens after the last "(" that is not closed."""
    depth = 0
    for index in range(len(tokens) - 1, -1, -1):
        depth += {"right": 1, "left": -1}.get(tokens[index].kind, 0)
        if depth < 0:
            return tokens[index + 1 :]
    return tokens


def _closed(tokens: Sequence[Token]) -> Sequence[Token]:
    """Return the tokens before the first ")" without an opening bracket."""
    depth = 0
    for index, token in enumerate(tokens):
        depth += {"left": 1, "right": -1}.get(token.kind, 0)
        if depth < 0:
            return tokens[:index]
    return tokens


def _is_rounded(exact: Fraction, written: Fraction, tokens: Sequence[Token]) -> bool:
    decimals = max((len(token.text.partition(".")[2]) for token in tokens), default=0)
    difference = abs(exact - written)
    return difference < Fraction(1, 10**decimals) or difference <= ROUNDED * abs(exact)


def _values(tokens: Sequence[Token]) -> list[Fraction]:
    """Return the values of an expression in all its plausible meanings; empty if there is none."""
    kinds = {token.kind for token in tokens}
    percents = (True, False) if "percent" in kinds else (False,)
    chained = (False, True) if {"times", "over"} & kinds and {"plus", "minus"} & kinds else (False,)
    forms = [tokens, tokens[1:]] if kinds and tokens[0].kind == "minus" else [tokens]  # a bullet
    if "plus" in kinds and (term := _last_term(tokens)):
        forms.append(term)
    values = []
    for form, percent, in_order in product(forms, percents, chained):
        value = evaluate_tokens(form, EXACT, percent=percent, in_order=in_order, juxtaposed=True)
        if value is not None:
            values.append(value)
    return values


def _last_term(tokens: Sequence[Token]) -> Sequence[Token]:
    """Return the tokens after the last "+", for a term worked out alone: "22 + 3 x 6 = 18"."""
    index = max(index for index, token in enumerate(tokens) if token.kind == "plus")
    return tokens[index + 1 :] if any(token.kind == "times" for token in tokens[index:]) else ()
