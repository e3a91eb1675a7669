r"""Checks arithmetic: recomputes every "a op b = c" of a text exactly and finds the false ones.

An equation ("8 apples * $2 = $16", "<<8*2=16>>", "\frac{1}{2} = 0.5") counts only if every token
near it is understood. A letter, a power, a clock time, "half of" or a sum of different units next
to it excludes it. Ambiguity favours the writer: a rounded result, a percentage as a part or as a
figure, a chain computed from left to right, and a change of unit are not slips. Linear in the
length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import NamedTuple

from gradeschool.answers.expressions import EXACT, OPERATORS, Token, evaluate_tokens
from gradeschool.answers.search import compiled_later

THOUSANDS = r"(?:,|\{,\}|\\,)\d{3}"
NUMBER = rf"(?:\d{{1,3}}(?:{THOUSANDS}){{1,6}}(?!\d|{THOUSANDS})|\d++)(?:\.\d++)?|\.\d++"
TOKEN = compiled_later(
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
    """Return whether the meaning is ambiguous: "50 + 30%", a range ("days 1-8"), "0900-0130"."""
    kinds = [token.kind for token in tokens]
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
    if "over" in kinds and (bound := _bound(tokens)) != tokens:
        forms.append(bound)
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


def _bound(tokens: Sequence[Token]) -> Sequence[Token]:
    """Return the tokens with brackets around "a/b" after "*" or "/": "28 / 1/5" is 140."""
    bound: list[Token] = []
    index = 0
    while index < len(tokens):
        kinds = [token.kind for token in tokens[index : index + 4]]
        bound.append(tokens[index])
        index += 1
        if kinds in (["over", "num", "over", "num"], ["times", "num", "over", "num"]):
            first, last = tokens[index], tokens[index + 2]
            left, right = (Token(kind, "", first.start, last.end) for kind in ("left", "right"))
            bound.extend((left, *tokens[index : index + 3], right))
            index += 3
    return bound
