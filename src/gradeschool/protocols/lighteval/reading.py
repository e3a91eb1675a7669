"""Finding the answer of a text as lighteval does: patterns by priority, the rightmost match first.

src/lighteval/metrics/utils/extractive_match_utils.py, lines 379-640. Runs in a child process.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import Any

from latex2sympy2_extended import latex2sympy
from latex2sympy2_extended.sets import FiniteSet
from math_verify.grader import should_treat_as_complex
from sympy import FiniteSet as PlainSet
from sympy import Mul, Number, Rational, UnevaluatedExpr
from sympy.parsing import parse_expr

from gradeschool.protocols.lighteval.cleaning import cleaned
from gradeschool.protocols.lighteval.patterns import MOST_FORMULAS, Pattern
from gradeschool.worker_main import Raised, attempt

HUNDREDTH = Rational(1, 100)
SEPARATORS = str.maketrans("", "", ", ")


def extracted(text: str, patterns: tuple[Pattern, ...], first_match: bool) -> list[Any]:
    """Return the value found and the characters it was read from: none, one or both of them.

    first_match: give up after the first match, parsed or not; else go on to the next.
    """
    values: list[Any] = []
    characters: list[str] = []
    for _, group in groupby(sorted(patterns, key=_priority), key=_priority):
        matches = [(match, one.latex) for one in group for match in one.regex.finditer(text)]
        matches.sort(key=lambda found: (found[0].end(), -found[0].start()), reverse=True)
        for match, latex in matches:
            value, read = _formulas(match) if latex else _number(match)
            characters += [read] if read else []
            if value is not None:
                values.append(value)
            if value is not None or first_match:
                break
        if values or (matches and first_match):
            break
    return [*values, *characters[:1]]


def _priority(pattern: Pattern) -> int:
    return pattern.priority


def _number(match: re.Match[str]) -> tuple[Any, str]:
    """Read a number or an arithmetic expression."""
    groups = match.groupdict()
    integer = next((groups[name] for name in groups if name[:7] == "integer" and groups[name]), "")
    decimal = next((groups[name] for name in groups if name[:7] == "decimal" and groups[name]), "")
    if integer or decimal:
        whole = integer.translate(SEPARATORS).lstrip("0") or "0"
        written = f"{whole}{decimal.replace(',', '.')}"
        number = attempt(lambda: Number(written))
        if isinstance(number, Raised):  # digits of another script, or more than 4,300 of them
            return None, written
        return (percent(number) if groups["percent"] else number), written
    expression = groups.get("expr") or ""
    if not expression:
        return None, expression
    python = expression.replace("\n", " ").replace("^", "**")
    value = attempt(lambda: parse_expr(python, evaluate=False))
    return (None if isinstance(value, Raised) else value), expression


def percent(number: Any) -> Any:
    """Return a hundredth of a number, not multiplied out: 60 % is not 3/5 here."""
    return Mul(number, HUNDREDTH, evaluate=False)


def _formulas(match: re.Match[str]) -> tuple[Any, str]:
    """Read one formula, or several joined ones as a set."""
    groups = match.groupdict()
    values, texts = [], []
    for name in ("first", *(f"next{number}" for number in range(1, MOST_FORMULAS))):
        kind = next(
            (kind for kind in groups if kind.startswith(f"{name}_latex") and groups[kind]), ""
        )
        if not kind:
            continue
        text = cleaned(groups[kind], last_box=kind == "first_latexBoxed")
        texts.append(text)
        value = _parsed(text)
        values.append(
            value if value is None or not groups.get(f"{name}_percent") else percent(value)
        )
    if not texts:
        return None, ""
    if len(values) < 2 or None in values:
        return values[0], texts[0]
    members = [
        member
        for value in values
        for member in (value.args if isinstance(value, PlainSet) else (value,))
    ]
    return FiniteSet(*members), " and ".join(texts)


def _parsed(latex: str) -> Any:
    value = attempt(
        lambda: latex2sympy(
            latex,
            is_real=not should_treat_as_complex(latex),
            convert_degrees=False,
            normalization_config=None,
        )
    )
    if isinstance(value, Raised):
        return None
    if isinstance(value, Mul) and value.args[1:] == (UnevaluatedExpr(HUNDREDTH),):
        return percent(value.args[0])  # the newer parser keeps the hundredth apart
    return value
