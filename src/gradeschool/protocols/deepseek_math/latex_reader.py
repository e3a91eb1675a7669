r"""DeepSeek-Math's normal form of an answer (`strip_string`), and the number that its LaTeX states.

https://github.com/deepseek-ai/DeepSeek-Math/blob/b8b0f8ce093d80bf8e9a641e44142f06d092c305/evaluation/data_processing/answer_extraction.py
The lists of strings are upstream's. Its patterns `\\text{.*?}$`, `(\d+)\.0+$` and `(\\|,|\.)+$` are
quadratic where they do not match; the code here finds the same in linear time.

A number is what sums, products, powers, fractions and roots state. Upstream calls sympy:
`parse_latex`, if that fails `parse_expr`, then `simplify` or a comparison within 1e-3. Functions,
unknowns that cancel and other Python arithmetic are not numbers here (SOURCE.md, "Where sympy is
needed"). The parser follows sympy's grammar as far as a number can result.

https://github.com/sympy/sympy/blob/sympy-1.12/sympy/parsing/latex/LaTeX.g4
Letters are unknowns: "18dollars" is 18 times seven of them. ":" divides, "6x3" is 18, and the text
ends for the grammar where nothing can follow: "18}", "18'", "18-" are 18; but "18.a" and a
character that is in no token are errors. Functions (`\log`, `\sin`, `|x|` ...) are not supported.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from gradeschool.latex import (
    braced_fractions,
    replaced,
    slash_as_fraction,
    unwrapped,
    without_unit,
    without_zero_decimals,
)

LONGEST = 1000  # characters; a longer text states no number
# "#" is in no LaTeX token, and begins a comment for `parse_expr`: "18.####18" is 18.
COMMENTED = re.compile(r"(-?(?:0|[1-9][0-9]*|[0-9]*\.[0-9]+|[0-9]+\.))#")


def number_in(latex: str) -> float | None:
    """Return the number that a text states, None if it states none."""
    if len(latex) > LONGEST:
        return None
    try:
        reader = LatexReader(latex)
        value = reader.sum()
        if reader.token in RELATIONS and reader.goes_on(reader.sum):
            return None  # an equation
    except Unreadable:
        commented = COMMENTED.match(latex)
        return None if commented is None else float(commented.group(1))
    except (GrammarMismatch, ArithmeticError, ValueError):
        return None
    return value if math.isfinite(value) else None


INTEGER = re.compile(r"-?[0-9]+")
TEXT = "\\text{"
BEFORE_UNITS = (
    ("tfrac", "frac"),
    ("dfrac", "frac"),
    ("cfrac", "frac"),
    ("\\left", ""),
    ("\\right", ""),
)
# Upstream uses the module `regex` for these; its \s is without U+001C to U+001F.
LENGTH = re.compile(r"\{(?:c|m)?m\}(?:\^(?:2|3))?")
AFTERNOON = re.compile(r"p\.m\.\Z")
TONS = re.compile(r"(\d)[^\S\x1c-\x1f]*t\Z")
AFTER_UNITS = (
    ("\\$", ""),
    ("$", ""),
    ("x\\in", ""),
    ("\\%", "%"),
    (" .", " 0."),
    ("{.", "{0."),
    ("\\cdot", ""),
    ("infinity", "\\infty"),
)
BARE_ARGUMENTS = (
    (re.compile(r"\\sqrt(-?[0-9.a-zA-Z]+)"), r"\\sqrt{\1}"),
    (re.compile(r"\\sqrt\s+(\w+)\Z"), r"\\sqrt{\1}"),
    (re.compile(r"\\tan(-?[0-9.a-zA-Z]+)"), r"\\tan{\1}"),
    (re.compile(r"\\tan\s+(\w+)\Z"), r"\\tan{\1}"),
)


def stripped(answer: str) -> str:
    """Return an answer without units, spaces and LaTeX that makes no difference."""
    if INTEGER.fullmatch(answer):
        return answer
    answer = answer.strip().replace("\n", "").rstrip(".").replace("\\!", "")
    if answer.startswith(TEXT) and answer.endswith("}"):
        answer = answer[len(TEXT) : -1]
    answer = replaced(_without_units(replaced(answer, BEFORE_UNITS)), AFTER_UNITS)
    if "\\infty" not in answer:
        answer = answer.replace("inf", "\\infty")
    answer = replaced(answer, (("+\\inity", "\\infty"), ("\\mathbf", ""), ("\\mathrm", "")))
    answer = unwrapped(answer, "\\mbox{", instead="")
    if "j" in answer and "i" not in answer:
        answer = answer.replace("j", "i")
    answer = without_zero_decimals(answer)
    if not answer:
        return answer
    if answer[0] == ".":
        answer = "0" + answer
    for pattern, braced in BARE_ARGUMENTS:
        answer = pattern.sub(braced, answer)
    return slash_as_fraction(braced_fractions(answer.replace(" ", "")), roots=True).rstrip("\\,.")


def _without_units(text: str) -> str:
    r"""Cut a text that ends in a brace at its first `\text{`; remove degrees, lengths and tons."""
    text = without_unit(text)
    for degrees in ("^{\\circ}", "^\\circ"):
        text = text.replace(degrees, "").strip()
    text = AFTERNOON.sub("", LENGTH.sub("", text).strip()).strip()
    return TONS.sub(r"\1", text).strip()


DEEPEST = 40  # brackets; sympy's parser fails on deep ones as well
TOKEN = re.compile(
    r"[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?|\\[a-zA-Z]+|\\[{}]|[a-zA-Z]|'+|[-+*/:^()\[\]{},.=<>|!_]"
)
SPACES = "(?:neg)?(?:thin|med|thick)space|qquad|quad"
SKIPPED = re.compile(rf"(?:[ \t\r\n]|\\[,:;!*\-./\"(=]|\\(?:{SPACES})(?![a-zA-Z]))*")
LEADING_ZERO = re.compile(r"0[0-9,]*[1-9][0-9,]*\Z")  # not an integer for sympy
CLOSING = {"(": ")", "[": "]", "{": "}", "\\{": "\\}"}
TIMES = {"*", "\\times", "\\cdot"}
OVER = {"/", ":", "\\div"}
RELATIONS = {"=", "<", ">", "\\leq", "\\le", "\\leqq", "\\leqslant"}
RELATIONS |= {"\\geq", "\\ge", "\\geqq", "\\geqslant", "\\neq"}
NO_ATOMS = TIMES | OVER | RELATIONS | {"\\}", "\\rangle", "\\rfloor", "\\rceil"}
UNKNOWN = math.nan


class GrammarMismatch(Exception):
    """The text breaks the grammar here; what was complete before still counts."""


class Unreadable(Exception):
    """The text states no number, even if a part before was complete."""


class LatexReader:
    """Parses an expression token by token; `token` is the next one, "" at the end."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.depth = 0
        self.token = ""
        self.read = 0.0  # the last value that `goes_on` parsed
        self.next()

    def next(self) -> str:
        """Take the next token and return it."""
        taken = self.token
        skipped = SKIPPED.match(self.text, self.position)
        start = self.position if skipped is None else skipped.end()
        match = TOKEN.match(self.text, start)
        if match is None and start < len(self.text):
            raise Unreadable(f"no token begins with {self.text[start]!r}")
        self.token = "" if match is None else match.group()
        if taken[:1].isdigit() and self.token == ".":
            raise Unreadable("a period after a number")
        self.position = start + len(self.token)
        return taken

    def goes_on(self, part: Callable[[], float]) -> bool:
        """Take a token and parse a part after it; outside brackets, undo both if that fails."""
        place = self.token, self.position
        try:
            self.next()
            self.read = part()
        except GrammarMismatch:
            if self.depth > 1:
                raise
            self.token, self.position = place
            return False
        return True

    def sum(self) -> float:
        """Read terms between plus and minus signs."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise Unreadable("too deep")
        value = self.product()
        while (sign := self.token) in ("+", "-") and self.goes_on(self.product):
            value += self.read if sign == "+" else -self.read
        self.depth -= 1
        return value

    def product(self) -> float:
        """Read factors between signs of multiplication and division, from left to right."""
        value = self.signed()
        while (sign := self.token) in TIMES | OVER and self.goes_on(self.signed):
            value = times(value, self.read if sign in TIMES else 1 / self.read)
        return value

    def signed(self) -> float:
        """Read a factor with its signs; powers that touch are multiplied, before any division."""
        minus = False
        while self.token in ("+", "-"):
            minus ^= self.next() == "-"
        letters = [self.token]
        numbers = [self.power()]
        while self._begins_atom():
            place = self.token, self.position, self.depth
            try:
                numbers.append(self.power())
            except GrammarMismatch:
                if place[2] > 1:
                    raise
                self.token, self.position, self.depth = place
                break
            letters.append(place[0])
        product = 1.0
        for i, value in enumerate(numbers):
            between = letters[i] == "x" and 0 < i < len(numbers) - 1 and math.isnan(value)
            if between and not math.isnan(numbers[i - 1]) and not math.isnan(numbers[i + 1]):
                continue  # "6x3" is a multiplication
            product = times(product, value)
        return -product if minus else product

    def _begins_atom(self) -> bool:
        token = self.token
        return token not in NO_ATOMS and (token in CLOSING or token[:1].isalnum() or "\\" in token)

    def power(self) -> float:
        """Read an atom, its exponents from left to right, and factorial signs."""
        value = self.atom()
        while self.token == "^" and self.goes_on(self.exponent):
            power = value**self.read
            value = UNKNOWN if isinstance(power, complex) else power
        while self.token == "!":
            self.next()
            value = float(math.factorial(int(value))) if value in range(20) else UNKNOWN
        return value

    def exponent(self) -> float:
        """Read a group in braces, a number, a fraction or an unknown; no bracket, no root."""
        if self.token == "{":
            return self.group()
        if self.token in CLOSING or self.token == "\\sqrt":
            raise GrammarMismatch("no exponent")
        return self.atom()

    def atom(self) -> float:
        """Read a number, a bracket, a fraction, a root or an unknown."""
        if self.token in CLOSING:
            return self.group()
        if not self._begins_atom():
            raise GrammarMismatch("nothing to read")
        token = self.next()
        if token == "\\infty":
            raise Unreadable("infinite")
        if token == "\\frac":
            return times(self.argument(), 1 / self.argument())
        if token == "\\sqrt":
            degree = self.group() if self.token == "[" else 2.0
            root = self.group("{") ** (1 / degree)
            return UNKNOWN if isinstance(root, complex) else root
        if LEADING_ZERO.match(token):
            raise Unreadable("an integer that begins with zero")
        return float(token.replace(",", "")) if token[0].isdigit() else UNKNOWN

    def argument(self) -> float:
        """Parse an argument of a fraction: a group in braces, or a single digit."""
        if not self.token[:1].isdigit():
            return self.group("{")
        digit = self.token[0]
        self.position -= len(self.token) - 1
        self.token = digit
        self.next()
        return float(digit)

    def group(self, opening: str = "") -> float:
        """Read a sum in brackets."""
        if self.token not in CLOSING or (opening and self.token != opening):
            raise GrammarMismatch("no bracket")
        closing = CLOSING[self.next()]
        value = self.sum()
        if self.token != closing:
            raise GrammarMismatch("an open bracket")
        self.next()
        return value


def times(first: float, right: float) -> float:
    """Multiply; zero times an unknown is zero."""
    return 0.0 if first == 0 or right == 0 else first * right
