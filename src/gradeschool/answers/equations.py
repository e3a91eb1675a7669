r"""Equations in a text, cut into tokens: "8 apples * $2 = $16", "<<8*2=16>>", "\frac{1}{2}".

An equation is kept only where every token near it is understood: a letter, a power, a clock time,
"half of" or a sum of different units beside it, and it is left out. Linear in the text's length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

NUMBER = r"(?:\d{1,3}(?:(?:,|\{,\}|\\,)\d{3}){1,6}+(?!\d)|\d++)(?:\.\d++)?|\.\d++"
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
OPERATORS = frozenset({"times", "over", "plus", "minus"})
VALUES = frozenset({"num", "frac", "right", "percent"})
# Words that change the number beside them: no plain units.
# fmt: off
CHANGING = frozenset((
    "of", "half", "halves", "quarter", "quarters", "third", "thirds", "fourth", "fourths", "fifth",
    "fifths", "twice", "double", "triple", "times", "than", "percent", "by", "plus", "minus", "and",
    "dozen", "dozens", "hundred", "thousand", "million", "billion", "pair", "pairs", "squared",
    "cubed", "remainder", "less", "more", "per", "every", "each",
))
# fmt: on
SHORT_UNITS = frozenset(("kg", "km", "cm", "mm", "ml", "lb", "oz", "ft", "hr", "in"))
LONGEST_NUMBER, MOST_TOKENS = 18, 60


class Token(NamedTuple):
    """A token: its kind (a group of TOKEN), its characters and where they stand."""

    kind: str
    text: str
    start: int
    end: int


class Equation(NamedTuple):
    """Both sides of one "=", units left out.

    units: whether words or signs of money or percent stood there. text: its characters.
    """

    left: tuple[Token, ...]
    right: tuple[Token, ...]
    units: bool
    text: str
    start: int
    end: int


class _Side(NamedTuple):
    """What stands beside an "=": the expression, and whether everything around it is understood."""

    tokens: list[Token]
    units: bool
    clear: bool


def equations(text: str) -> Iterator[Equation]:
    """Yield the equations of a text that are understood, in order."""
    sides: list[list[Token]] = [[]]
    for found in TOKEN.finditer(text):
        kind = found.lastgroup or "odd"
        if kind == "stop":
            yield from _of_line(sides, text)
            sides = [[]]
        elif kind == "eq":
            sides.append([])
        elif kind != "skip":
            sides[-1].append(Token(kind, found.group(), *found.span()))
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
    """Return the expression that a side ends with: what stands behind its last plain words."""
    kept: list[Token] = []
    units = False
    names: set[str] = set()
    tail = tokens[-MOST_TOKENS:]
    for at in range(len(tail) - 1, -1, -1):
        token = tail[at]
        if token.kind == "word":
            if not _plain(token) and not _joins(tail, at):
                return _Side([], units, clear=False)
            if not _is_unit(tail, at, kept[-1].kind if kept else ""):
                break
            units = True
            names.add(_name(token).removesuffix("s"))
            continue
        if token.kind == "odd" or (at == 0 and len(tokens) > MOST_TOKENS):
            return _Side([], units, clear=False)
        units = units or token.kind in ("money", "percent")
        if token.kind != "money":
            kept.append(token)
    adds = any(token.kind in ("plus", "minus") for token in kept)
    return _Side(kept[::-1], units, clear=len(names) < 2 or not adds)


def _first_expression(tokens: list[Token]) -> _Side:
    """Return the expression that a side begins with: what stands before its first plain words."""
    kept: list[Token] = []
    units = False
    for at, token in enumerate(tokens[:MOST_TOKENS]):
        if token.kind == "word":
            if not _plain(token):
                return _Side([], units, clear=False)
            units = True
            following = tokens[at + 1].kind if at + 1 < len(tokens) else ""
            if following in OPERATORS or following == "word":
                continue
            break
        if token.kind == "odd":
            return _Side([], units, clear=False)
        units = units or token.kind in ("money", "percent")
        if token.kind != "money":
            kept.append(token)
    return _Side(kept, units, clear=True)


def _is_unit(tokens: list[Token], at: int, following: str) -> bool:
    """Tell whether a word stands behind a value, and before an operator or the end of the side."""
    if following and following not in OPERATORS and following != "right":
        return False
    while at >= 0 and tokens[at].kind == "word":
        at -= 1
    return at >= 0 and tokens[at].kind in VALUES


def _joins(tokens: list[Token], at: int) -> bool:
    """Tell whether a word is an "and" between clauses, not that of "3 and 1/2"."""
    return _name(tokens[at]) == "and" and (at == 0 or tokens[at - 1].kind not in VALUES)


def _plain(token: Token) -> bool:
    words = _name(token).split()
    return not CHANGING.intersection(words) and all(
        len(word) > 2 or word in SHORT_UNITS for word in words
    )


def _name(token: Token) -> str:
    return token.text.rpartition("{")[2].strip("} ").lower()
