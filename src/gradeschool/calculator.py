"""The calculator of annotations: `<<48/2=` is followed by `24>>`.

Paper: Cobbe et al. 2021 (arXiv 2110.14168), appendix C. The authors' code
(openai/grade-school-math, `grade_school_math/calculator.py`) evaluates the expression as Python,
under a signal, and prints the float's `repr`. Here the grammar is our own, values are exact, and
every step is bounded:

    expression := the grammar of `answers.expressions`, with "×" and "÷" too
    number     := digits with commas as in "1,234", decimals as in "0.5", ".5" and "5."

What differs from the authors': a repeating or long decimal is rounded to PLACES decimals where they
print up to 17 digits (`1/3` gives 0.333333, not 0.3333333333333333), a whole result has no ".0"
(`48/2` gives 24, not 24.0), `0.1+0.2` gives 0.3, percent and dollar signs are read, and Python's
`**` is not. Where there is no result (an error, too long), nothing is forced by either.
"""

from __future__ import annotations

import re
from fractions import Fraction

from gradeschool.answers.expressions import MOST_DIGITS, Token, evaluate_tokens

__all__ = ["CLOSE", "LONGEST", "MOST_DIGITS", "OPEN", "evaluate", "forced", "write", "written"]

# Far beyond any annotation of GSM8K (64 characters) and cheap to refuse.
LONGEST = 200
PLACES = 6
OPEN, CLOSE = "<<", ">>"
# One token at a time, possessive: linear. Commas group thousands, or they are part of no number.
NUMBER = r"(?:[0-9]{1,3}(?:,[0-9]{3})++(?![0-9])|[0-9]++)(?:\.[0-9]*+)?|\.[0-9]++"
TOKEN = re.compile(rf"{NUMBER}|//|[^ ]")
PLAIN = re.compile(r"([0-9]{1,9})([-+*])([0-9]{1,9})")  # most annotations: the short way
KINDS = {
    "+": "plus", "-": "minus", "−": "minus", "*": "times", "×": "times", "/": "over", "÷": "over",
    "//": "floor", "(": "left", ")": "right", "%": "percent", "$": "money",
}  # fmt: skip


def evaluate(expression: str) -> Fraction | None:
    """Return what an expression comes to, exactly.

    None where it is no expression, divides by zero, or is longer, deeper or of more digits than
    the bounds. Takes time linear in the first LONGEST characters; never raises.
    """
    if len(expression) > LONGEST:
        return None
    tokens = []
    for match in TOKEN.finditer(expression):
        text = match.group()
        number = "num" if text[-1] in "0123456789." and text != "." else "odd"
        tokens.append(Token(KINDS.get(text, number), text, *match.span()))
    return evaluate_tokens(tokens)


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
    start = text.rfind(OPEN, max(0, len(text) - LONGEST - len(OPEN) - 1))
    if start < 0:
        return ""
    expression = text[start + len(OPEN) : -1]
    result = written(expression)
    return "" if result is None else result + CLOSE
