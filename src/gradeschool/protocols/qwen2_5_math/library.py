"""Runs in a child process (`gradeschool.worker`): needs sympy and antlr, from extra `math-verify`.

grader.py, lines 230-285. If sympy's LaTeX parser rejects a text, upstream passes it to
`parse_expr`, which executes it as Python, then to its own LaTeX parser. Here only digits and
operators are passed on: text from a model is never executed.
"""

from __future__ import annotations

import re
from functools import lru_cache
from math import isclose
from typing import Any

from sympy import N, simplify
from sympy.parsing.latex import _parse_latex_antlr as latex_parser
from sympy.parsing.sympy_parser import parse_expr

from gradeschool.worker import Raised, attempt

ARITHMETIC = re.compile(r"[\d.+\-*/() ]+")
TOLERANCE = 1e-4

# sympy asks for antlr 4.11; the serialised grammar is the same from 4.10 to 4.13.
latex_parser.version = lambda _: "4.11"


def symbolic_equal(value: str, reference: str) -> bool:
    """Return whether two expressions are equal: as written, symbolically, or within 1e-4."""
    first, second = _parsed(value), _parsed(reference)
    if isinstance(first, str) or isinstance(second, str):
        return value == reference
    tests = (
        lambda: str(first) == str(second) or first == second,
        lambda: first.equals(second) or simplify(first - second) == 0,
        lambda: isclose(float(N(second)), float(N(first)), rel_tol=TOLERANCE),
    )
    return any(_holds(attempt(test)) for test in tests)


def _holds(outcome: Any) -> bool:
    return not isinstance(outcome, Raised) and bool(outcome)


@lru_cache(4096)
def _parsed(text: str) -> Any:
    """Return the expression that a text spells, or the text itself."""
    for parse in (latex_parser.parse_latex, _arithmetic):
        for spelling in (text.replace("\\\\", "\\"), text):
            value = attempt(lambda: parse(spelling))  # noqa: B023
            if not isinstance(value, Raised):
                return value
    return text


def _arithmetic(text: str) -> Any:
    if not ARITHMETIC.fullmatch(text):
        raise ValueError("not plain arithmetic")
    return parse_expr(text)
