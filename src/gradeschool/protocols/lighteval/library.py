"""lighteval's metrics for golds that are numbers; runs in a child process (`gradeschool.worker`).

Needs the extra `math-verify`. lighteval's own time-outs (5 s for a parse, 5 s for a comparison) are
replaced by the worker's. Comparison: src/lighteval/metrics/utils/math_comparison.py, lines 483-640;
a gold here is a number, a percentage or an arithmetic expression, never an equation or a set, so
lighteval's code for those is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import product
from typing import Any

from math_verify.grader import sympy_expr_eq
from sympy import (
    And,
    Basic,
    Eq,
    FiniteSet,
    Float,
    MatrixBase,
    Mul,
    Number,
    Rational,
    Set,
    Symbol,
    Tuple,
    simplify,
)

from gradeschool.protocols.by_math_verify import shown
from gradeschool.protocols.lighteval.extraction import (
    answer_patterns,
    expression_patterns,
    extracted,
)
from gradeschool.worker import Raised, attempt

LATE_BOX = 55  # the priority of boxes where no other is set


def extractive_match(text: str, choice: str) -> tuple[str | None, bool]:
    """Judge as `Metrics.expr_gold_metric`; `choice` is the whole reference solution."""
    answers = extracted(text, answer_patterns(), first_match=False)
    golds = _golds(choice, False) or [choice]
    return shown(answers), any_equal(golds, answers)


def pass_at_1(text: str, choice: str) -> tuple[str | None, bool]:
    """Judge one completion as `Metrics.pass_at_k_math`; the gold is a number."""
    answers = extracted(text.strip(), answer_patterns(LATE_BOX), first_match=False)
    golds = extracted(choice.strip(), answer_patterns(LATE_BOX), first_match=False)
    return shown(answers), any_equal(golds or [choice.strip()], answers, decimals=6)


def pass_at_1_of_solutions(text: str, choice: str) -> tuple[str | None, bool]:
    """Judge one completion as `Metrics.pass_at_k_math`; the gold is extracted from a solution."""
    answers = extracted(text.strip(), answer_patterns(LATE_BOX), first_match=False)
    golds = _golds_of_solution(choice.strip()) or [choice.strip()]
    return shown(answers), any(
        expressions_equal(gold, answer) for gold, answer in product(golds, answers)
    )


@lru_cache(1024)
def _golds_of_solution(text: str) -> list[Any]:
    return extracted(text, answer_patterns(LATE_BOX), first_match=False)


def math_scorer(text: str, target: str) -> tuple[str | None, bool]:
    """Judge as `math_scorer`: the items extracted from both must be equal lists."""
    answers = extracted(text, answer_patterns(), first_match=True)
    return shown(answers), answers == _golds(target, True)


@lru_cache(4096)
def _golds(text: str, first_match: bool) -> list[Any]:
    return extracted(text, expression_patterns(), first_match)


HUNDREDTH = Rational(1, 100)


def any_equal(golds: list[Any], readings: list[Any], decimals: int = 5) -> bool:
    """Return whether a gold equals an extracted item: values as values, texts as texts.

    decimals: the number of decimals to which numbers are rounded before the comparison.
    """
    return any(_equal(gold, reading, decimals) for gold, reading in product(golds, readings))


def _equal(gold: Any, reading: Any, decimals: int) -> bool:
    if isinstance(gold, str) and isinstance(reading, str):
        return gold.strip() == reading.strip() != ""
    if isinstance(gold, str) or isinstance(reading, str):
        return False
    return attempt(lambda: values_equal(gold, reading, decimals)) is True


def expressions_equal(gold: Any, reading: Any) -> bool:
    """Return whether two expressions are equal to six decimals, as Math-Verify compares them."""
    if isinstance(gold, str) and isinstance(reading, str):
        return gold.strip() == reading.strip() != ""
    if isinstance(gold, str) or isinstance(reading, str):
        return False
    return attempt(lambda: sympy_expr_eq(gold, reading, 6, 15, True)) is True


def values_equal(gold: Any, reading: Any, decimals: int) -> bool:
    """Return whether a number equals a value."""
    if _is_equation(reading):
        reading = _last_side(reading)
    if _same_form(gold, reading):
        return True
    if isinstance(reading, Set | Tuple):
        return _in_set(gold, reading, decimals)
    if isinstance(reading, Symbol):
        return bool(gold == reading)
    return _same_number(gold, reading, decimals) or _same_after_simplifying(gold, reading)


def _is_equation(value: Any) -> bool:
    if isinstance(value, And):
        return bool(value.args) and all(isinstance(part, Eq) for part in value.args)
    return isinstance(value, Eq)


def _last_side(value: Any) -> Any:
    return _last_side(value.args[-1]) if isinstance(value, And) else value.rhs


def _evaluated(value: Any) -> Any:
    evaluated = attempt(lambda: value.doit())
    return value if isinstance(evaluated, Raised) else evaluated


def _holds(test: Callable[[], Any]) -> bool:
    """Return whether a test returns true; a test that raises does not."""
    result = attempt(test)
    return not isinstance(result, Raised) and bool(result)


def _same_form(gold: Any, reading: Any) -> bool:
    first, second = _evaluated(gold), _evaluated(reading)
    return _holds(lambda: first == second or str(first).strip() == str(second).strip())


def _in_set(gold: Any, reading: Any, decimals: int) -> bool:
    """Compare with a set or tuple: only one with a single member can equal a number."""
    single = FiniteSet(gold)
    if single == reading:
        return True
    if isinstance(reading, Set) and single.symmetric_difference(reading).is_empty:
        return True
    if isinstance(reading, FiniteSet | Tuple) and len(reading) == 1:
        return values_equal(single.args[0], reading.args[0], decimals)
    return False


def _is(kind: type, value: Any) -> bool:
    """Return whether a value is of a kind of number, or a percentage of one."""
    if isinstance(value, Mul) and len(value.args) == 2 and value.args[1] == HUNDREDTH:
        return isinstance(value.args[0], kind)
    return isinstance(value, kind)


def _same_number(gold: Any, reading: Any, decimals: int) -> bool:
    if isinstance(gold, MatrixBase) or not (_is(Number, gold) or _is(Number, reading)):
        return _holds(lambda: (gold - reading).evalf(chop=True) == 0)
    first, second = _evaluated(gold), _evaluated(reading)
    if not (_is(Float, gold) or _is(Float, reading)):
        return bool(first == second)
    if isinstance(first, Number) and isinstance(second, Number):
        return bool(first.round(decimals) == second.round(decimals))
    return False


def _same_after_simplifying(gold: Any, reading: Any) -> bool:
    def vanishes() -> Any:
        rest = simplify(gold - reading)
        if isinstance(rest, MatrixBase):
            return rest.is_zero_matrix
        return isinstance(rest, Basic) and rest.is_zero

    return _holds(vanishes)
