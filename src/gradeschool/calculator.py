"""The calculator for annotations: `<<48/2=` is followed by `24>>`.

Paper: Cobbe et al. 2021 (arXiv 2110.14168), appendix C. The authors' code
(openai/grade-school-math, `grade_school_math/calculator.py`) evaluates the expression as Python,
under a signal, and prints the `repr` of the float. Here the grammar is our own, values are exact,
and every step is bounded:

    sum     := product (("+" | "-") product)*
    product := factor (("*" | "/" | "//") factor)*      "//" is whole-number division
    factor  := ("+" | "-")* "$"? (number | "(" sum ")") "%"*
    number  := digits with commas as in "1,234", decimals as in "0.5", ".5" and "5."

Annotations, where "×" and "÷" are operators too, the equations of a text (`arithmetic`) and the
labels of steps provide their own tokens and arithmetic (`EXACT` computes bounded fractions).

Differences from the authors' code: a repeating or long decimal is rounded to PLACES decimals, where
theirs prints up to 17 digits (`1/3` gives 0.333333, not 0.3333333333333333); a whole result has no
".0" (`48/2` gives 24, not 24.0); `0.1+0.2` gives 0.3; percent and dollar signs are accepted, and
Python's `**` is not. As there, the expression ends at its first "=" (`<<3+4=7=` is followed by
`7>>`), and a whole number that begins with 0 (`007`) has no result. Without a result (an error, too
long), neither inserts anything.
"""

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Generic, NamedTuple, TypeVar

# Far beyond any annotation of GSM8K (64 characters) and cheap to refuse.
LONGEST, DEEPEST, MOST_DIGITS = 200, 20, 30
TOO_LARGE = 10**MOST_DIGITS
PLACES = 6
OPEN, CLOSE = "<<", ">>"
# One token at a time. A comma that does not group thousands is no match.
NUMBER = r"(?:[0-9]{1,3}(?:,[0-9]{3}){1,40}(?![0-9]|,[0-9]{3})|[0-9]++)(?:\.[0-9]*+)?|\.[0-9]++"
TOKEN = re.compile(rf"{NUMBER}|//|[^ ]")
ZEROS = re.compile(r"(?<![0-9.,])0[0-9]*[1-9][0-9]*(?![0-9.])")  # 007, which Python refuses
KINDS = {
    "+": "plus", "-": "minus", "−": "minus", "*": "times", "×": "times", "/": "over", "÷": "over",
    "//": "floor", "(": "left", ")": "right", "%": "percent", "$": "money",
}  # fmt: skip


SIGNS = ("plus", "minus")
PRODUCTS = ("times", "over", "floor")
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
) -> Value | None:
    """Return the value of an expression.

    percent: whether "50%" is 0.5, else 50. in_order: without precedence, as on a simple calculator.
    None if the tokens are not an expression, divide by zero, are nested deeper than DEEPEST, or
    exceed the bounds of the arithmetic.
    """
    place = 0

    def taken(*expected: str) -> str:
        """Return the kind of the next token and go on, "" if it is none of these."""
        nonlocal place
        kind = tokens[place].kind if place < len(tokens) else ""
        place += kind in expected
        return kind if kind in expected else ""

    def chain(depth: int, is_product: bool = False) -> Value:
        """Return the value of a sum of products, or of one product."""
        operand = factor if is_product or in_order else partial(chain, is_product=True)
        operators = PRODUCTS if is_product else (*SIGNS, *PRODUCTS)
        total = operand(depth)
        while kind := taken(*operators):
            total = arithmetic.combined(kind, total, operand(depth))
        return total

    def factor(depth: int) -> Value:
        negative = False
        while kind := taken(*SIGNS):
            negative ^= kind == "minus"
        taken("money")
        if taken("num", "frac"):
            value = arithmetic.number(tokens[place - 1])
        elif depth < DEEPEST and taken("left"):
            value = chain(depth + 1)
            if not taken("right"):
                raise _NotAnExpression
        else:
            raise _NotAnExpression
        while taken("percent"):
            value = arithmetic.combined("over", value, arithmetic.hundred) if percent else value
        return -value if negative else value

    try:
        total = chain(0)
    except (_NotAnExpression, ZeroDivisionError):
        return None
    return total if place == len(tokens) else None


class _NotAnExpression(Exception):
    """The tokens are not an expression, or exceed the bounds."""


def _combined(kind: str, left: Fraction, right: Fraction) -> Fraction:
    if kind == "times":
        value = left * right
    elif kind in SIGNS:
        value = left + right if kind == "plus" else left - right
    else:
        value = left / right if kind == "over" else Fraction(left // right)
    # No word problem needs more, and hostile text would grow without limit.
    if max(abs(value.numerator), value.denominator) >= TOO_LARGE:
        raise _NotAnExpression
    return value


def _value(token: Token) -> Fraction:
    over, under = re.sub(r"\{,\}|\\,|,", "", token.text), ""
    if token.kind == "frac":
        over, under = over.partition("{")[2][:-1].split("}{")
    if max(len(over), len(under)) > MOST_DIGITS:
        raise _NotAnExpression
    value = Fraction(Decimal(over))
    return value / Fraction(Decimal(under)) if under else value


# None for a value whose numerator or denominator reaches TOO_LARGE.
EXACT = Arithmetic(_value, _combined, Fraction(100))


def evaluate(expression: str) -> Fraction | None:
    """Return the exact value of an expression.

    None if it is not an expression, divides by zero, or exceeds the bounds on length, depth or
    digits. Takes time linear in the first LONGEST characters; never raises.
    """
    return None if len(expression) > LONGEST else evaluate_tokens(tokenize(expression), EXACT)


def tokenize(expression: str) -> list[Token]:
    """Return the tokens of an expression; no expression contains one of kind "odd"."""
    tokens = []
    for match in TOKEN.finditer(expression):
        text = match.group()
        number = "num" if text[-1] in "0123456789." and text != "." else "odd"
        tokens.append(Token(KINDS.get(text, number), text, *match.span()))
    return tokens


def format_result(expression: str) -> str | None:
    """Return the value of an expression as annotations write it: "24", "0.5", "-3", "0.333333".

    None if `evaluate` returns None, and for a whole number that begins with 0.
    """
    value = None if ZEROS.search(expression) else evaluate(expression)
    return None if value is None else format_value(value)


def format_value(value: Fraction) -> str:
    """Return a value as annotations write it: no exponent, no trailing zeros, PLACES decimals."""
    if value.denominator == 1:
        return str(value.numerator)
    units = round(abs(value) * 10**PLACES)
    whole, part = divmod(units, 10**PLACES)
    decimals = f"{part:0{PLACES}d}".rstrip("0")
    sign = "-" if value < 0 and units else ""
    return f"{sign}{whole}.{decimals}" if decimals else f"{sign}{whole}"


def annotation_end(text: str) -> str:
    """Return the text that completes an open annotation: "24>>" for a text ending in "<<48/2=".

    "" for any other text, and if the expression has no result.
    """
    if not text.endswith("="):
        return ""
    start = text.rfind(OPEN, max(0, len(text) - LONGEST - len(OPEN) - 1))
    if start < 0:
        return ""
    opened = text[start + len(OPEN) :]
    result = None if CLOSE in opened else format_result(opened.partition("=")[0])
    return "" if result is None else result + CLOSE
