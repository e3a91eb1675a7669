r"""The false equations of a text.

An equation ("8 apples * $2 = $16", "<<8*2=16>>", "\frac{1}{2} = 0.5") counts only if every token
near it is understood. A letter, a power, a clock time, "half of" or a sum of different units next
to it excludes it. Ambiguity favours the writer: a rounded result, a percentage as a part or as a
figure, a chain computed from left to right, and a change of unit are not slips. Linear in the
length of the text.
"""

import re
from fractions import Fraction
from itertools import chain, pairwise, product
from typing import NamedTuple

from gradeschool.calculator import EXACT, PRODUCTS, SIGNS, Token, evaluate_tokens

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


class Slip(NamedTuple):
    """A false equation: its characters, the value of its left side, and its place."""

    text: str
    value: Fraction
    start: int
    end: int


def first_slip(text: str) -> Slip | None:
    """Return the first false equation of a text, or None. Linear in its length; never raises."""
    sides: list[list[Token]] = [[]]
    for match in chain(TOKEN.finditer(text), [None]):
        kind = "stop" if match is None else match.lastgroup or "odd"
        if kind == "eq":
            sides.append([])
        elif match is not None and kind not in ("stop", "skip"):
            sides[-1].append(Token(kind, match.group(), *match.span()))
        if kind == "stop":
            for before, after in pairwise(sides):
                left, right = _last_expression(before), _first_expression(after)
                if left and right and (value := _false(left, right, before + after)) is not None:
                    start, end = left[0].start, right[-1].end
                    return Slip(text[start:end], value, start, end)
            sides = [[]]
    return None


def _last_expression(tokens: list[Token]) -> list[Token]:
    """Return the expression at the end of a side, after its last plain words; [] if not clear."""
    kept: list[Token] = []
    names: set[str] = set()
    tail = tokens[-MOST_TOKENS:]
    for index in range(len(tail) - 1, -1, -1):
        token = tail[index]
        follows_value = index > 0 and tail[index - 1].kind in VALUES
        if token.kind == "word":
            name = _name(token)
            if name in CONNECTING:
                break
            if not _is_unit(name) and (name != "and" or follows_value):  # "3 and 1/2"
                return []
            first = index
            while first > 0 and tail[first].kind == "word":
                first -= 1
            after = kept[-1].kind if kept else "right"
            if after not in (*SIGNS, *PRODUCTS, "right") or tail[first].kind not in VALUES:
                break
            names.add(name.removesuffix("s"))
        elif token.kind == "odd" or (index == 0 and len(tokens) > MOST_TOKENS):
            return []
        elif token.kind != "money":
            kept.append(token)
    adds = any(token.kind in SIGNS for token in kept)
    return [] if len(names) > 1 and adds else kept[::-1]


def _first_expression(tokens: list[Token]) -> list[Token]:
    """Return the expression at the start of a side, before its first words; [] if not clear."""
    kept: list[Token] = []
    for token, following in pairwise([*tokens[:MOST_TOKENS], Token("", "", 0, 0)]):
        if token.kind == "odd" or (token.kind == "word" and not _is_unit(_name(token))):
            return []
        if token.kind == "word" and following.kind not in (*SIGNS, *PRODUCTS, "word"):
            break
        if token.kind not in ("word", "money"):
            kept.append(token)
    return kept


def _name(token: Token) -> str:
    return token.text.rpartition("{")[2].strip("} ").lower()


def _is_unit(name: str) -> bool:
    """Return whether a word is a plain unit, which changes no number next to it."""
    words = name.split()
    short = all(len(word) > 2 or word in SHORT_UNITS for word in words)
    return short and not CHANGING.intersection(words)


# Factors between units: cents, percent, minutes, inches, hours, days, weeks, ounces, yards.
CONVERSIONS = frozenset(
    Fraction(factor)
    for factor in (10, 100, 1000, 60, 3600, 12, 24, 7, 52, 365, 30, 4, 3, 36, 16, 1440)
)
ROUNDED = Fraction(1, 200)  # the relative error that rounding of intermediate results may cause


def _false(left: list[Token], right: list[Token], around: list[Token]) -> Fraction | None:
    """Return the value of the left side of an equation that is false in every meaning, else None.

    around: all tokens of both sides. Ambiguous are "50 + 30%", "28 / 1/5", "days 1-8", "0900-0130".
    """
    left, right = _unbracketed(left[::-1], "right")[::-1], _unbracketed(right, "left")
    kinds = [token.kind for token in left]
    signs, products = not {*SIGNS}.isdisjoint(kinds), not {*PRODUCTS}.isdisjoint(kinds)
    percents = kinds.count("percent")
    if (
        {*SIGNS, *PRODUCTS}.isdisjoint(kinds[1:])
        or "plus" in (kinds[0], right[0].kind if right else "")  # continues the line before
        or kinds.count("over") > 1
        or "times num over" in " ".join(kinds)
        or (percents and signs and percents < kinds.count("num"))
        or any(re.match(r"0\d", token.text) for token in left)
    ):
        return None
    lefts, rights = _values(left, signs and products), _values(right, in_order=True)
    if not lefts or not rights or (kinds == ["num", "minus", "num"] and lefts[0] < 0):
        return None
    rights += _values(right[:1])  # "5 * 3 = 15 + 2 = 17"
    both = [*left, *right]
    rounds = any(token.kind == "over" or "." in token.text for token in both)
    decimals = max(len(token.text.partition(".")[2]) for token in right)
    start, stop = left[0].start - 1, right[-1].end + 1
    units = any(
        token.kind in ("word", "money", "percent") and start <= token.start <= stop
        for token in around
    )
    for a, b in product(lefts, rights):
        error = abs(a - b)
        if not error or (rounds and error < max(Fraction(1, 10**decimals), ROUNDED * abs(a))):
            return None
        if units and a and b and {abs(a / b), abs(b / a)} & CONVERSIONS:
            return None
    return lefts[0]


def _unbracketed(tokens: list[Token], opening: str) -> list[Token]:
    """Return the tokens before the first bracket that closes none of those from `opening` on."""
    depth = 0
    for index, token in enumerate(tokens):
        depth += (token.kind == opening) - (
            token.kind in ("left", "right") and token.kind != opening
        )
        if depth < 0:
            return tokens[:index]
    return tokens


def _values(tokens: list[Token], in_order: bool = False) -> list[Fraction]:
    """Return the values of an expression in all its plausible meanings; empty if there is none."""
    forms = [tokens, tokens[1:]] if tokens[0].kind == "minus" else [tokens]  # a bullet
    percents = {True, all(token.kind != "percent" for token in tokens)}
    found = (
        evaluate_tokens(form, EXACT, percent=percent, in_order=order)
        for form, percent, order in product(forms, sorted(percents)[::-1], {False, in_order})
    )
    return [value for value in found if value is not None]
