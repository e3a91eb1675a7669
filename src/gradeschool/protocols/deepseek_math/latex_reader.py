r"""Reading a LaTeX expression as sympy's grammar does, as far as a number can come out of it.

https://github.com/sympy/sympy/blob/sympy-1.12/sympy/parsing/latex/LaTeX.g4
Letters are unknowns: "18dollars" is 18 times seven of them. ":" divides, "6x3" is 18, and the text
ends for the grammar where nothing can go on: "18}", "18'", "18-" are 18; but "18.a" and a character
that is in no token are errors. Functions (`\log`, `\sin`, `|x|` ...) are not read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

DEEPEST = 40  # brackets; sympy's parser fails on deep ones as well
TOKEN = re.compile(
    r"[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?|\\[a-zA-Z]+|\\[{}]|[a-zA-Z]|'+|[-+*/:^()\[\]{},.=<>|!_]"
)
SPACES = "(?:neg)?(?:thin|med|thick)space|qquad|quad"
SKIPPED = re.compile(rf"(?:[ \t\r\n]|\\[,:;!*\-./\"(=]|\\(?:{SPACES})(?![a-zA-Z]))*")
LEADING_ZERO = re.compile(r"0[0-9,]*[1-9][0-9,]*\Z")  # no integer for sympy
CLOSING = {"(": ")", "[": "]", "{": "}", "\\{": "\\}"}
TIMES = {"*", "\\times", "\\cdot"}
OVER = {"/", ":", "\\div"}
RELATIONS = {"=", "<", ">", "\\leq", "\\le", "\\leqq", "\\leqslant"}
RELATIONS |= {"\\geq", "\\ge", "\\geqq", "\\geqslant", "\\neq"}
NO_ATOMS = TIMES | OVER | RELATIONS | {"\\}", "\\rangle", "\\rfloor", "\\rceil"}
UNKNOWN = math.nan


class Stuck(Exception):
    """The text does not go on as the grammar asks; what was complete before still counts."""


class Unreadable(Exception):
    """The text states no number, whatever was complete before."""


class Reader:
    """Reads an expression token by token; `token` is the next one, "" at the end."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0
        self.token = ""
        self.read = 0.0  # what `goes_on` read last
        self.next()

    def next(self) -> str:
        """Take the next token and return it."""
        taken = self.token
        skipped = SKIPPED.match(self.text, self.at)
        start = self.at if skipped is None else skipped.end()
        found = TOKEN.match(self.text, start)
        if found is None and start < len(self.text):
            raise Unreadable(f"no token begins with {self.text[start]!r}")
        self.token = "" if found is None else found.group()
        if taken[:1].isdigit() and self.token == ".":
            raise Unreadable("a period behind a number")
        self.at = start + len(self.token)
        return taken

    def goes_on(self, part: Callable[[], float]) -> bool:
        """Take a token and read a part behind it; outside of brackets, nothing is read if stuck."""
        place = self.token, self.at
        try:
            self.next()
            self.read = part()
        except Stuck:
            if self.depth > 1:
                raise
            self.token, self.at = place
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
            place = self.token, self.at, self.depth
            try:
                numbers.append(self.power())
            except Stuck:
                if place[2] > 1:
                    raise
                self.token, self.at, self.depth = place
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
            raise Stuck("no exponent")
        return self.atom()

    def atom(self) -> float:
        """Read a number, a bracket, a fraction, a root or an unknown."""
        if self.token in CLOSING:
            return self.group()
        if not self._begins_atom():
            raise Stuck("nothing to read")
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
        """Read what a fraction is of: a group in braces, or a single digit."""
        if not self.token[:1].isdigit():
            return self.group("{")
        digit = self.token[0]
        self.at -= len(self.token) - 1
        self.token = digit
        self.next()
        return float(digit)

    def group(self, opening: str = "") -> float:
        """Read a sum in brackets."""
        if self.token not in CLOSING or (opening and self.token != opening):
            raise Stuck("no bracket")
        closing = CLOSING[self.next()]
        value = self.sum()
        if self.token != closing:
            raise Stuck("an open bracket")
        self.next()
        return value


def times(left: float, right: float) -> float:
    """Multiply; nothing times an unknown is nothing."""
    return 0.0 if left == 0 or right == 0 else left * right
