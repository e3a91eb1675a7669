r"""The number that a LaTeX text states, as far as sums, products, powers, fractions and roots go.

Upstream asks sympy: `parse_latex`, where that fails `parse_expr`, then `simplify` or a comparison
within 1e-3. Functions, unknowns that cancel and other Python arithmetic are no number here
(SOURCE.md, "Where sympy is needed").
"""

from __future__ import annotations

import math
import re

from gradeschool.protocols.deepseek_math.latex_reader import RELATIONS, Reader, Stuck, Unreadable

LONGEST = 1000  # characters; a longer text states no number
# "#" is in no LaTeX token, and begins a comment for `parse_expr`: "18.####18" is 18.
COMMENTED = re.compile(r"(-?(?:0|[1-9][0-9]*|[0-9]*\.[0-9]+|[0-9]+\.))#")


def number_in(latex: str) -> float | None:
    """Return the number that a text states, None where it states none."""
    if len(latex) > LONGEST:
        return None
    try:
        reader = Reader(latex)
        value = reader.sum()
        if reader.token in RELATIONS and reader.goes_on(reader.sum):
            return None  # an equation
    except Unreadable:
        commented = COMMENTED.match(latex)
        return None if commented is None else float(commented.group(1))
    except (Stuck, ArithmeticError, ValueError):
        return None
    return value if math.isfinite(value) else None
