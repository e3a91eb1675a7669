"""The value of an expression: precedence, brackets, percent, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import pytest

from gradeschool.answers.arithmetic import (
    DEEPEST,
    EXACT,
    MOST_DIGITS,
    evaluate_tokens,
)
from gradeschool.calculator import tokenize


def value(expression: str, **options: bool) -> Fraction | None:
    return evaluate_tokens(tokenize(expression), EXACT, **options)


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("2+3*4", Fraction(14)),
        ("(2+3)*4", Fraction(20)),
        ("8/4/2", Fraction(1)),
        ("2--3", Fraction(5)),
        ("50%*80", Fraction(40)),
        ("7//2", Fraction(3)),
        ("1/3+1/6", Fraction(1, 2)),
        ("$5*2", Fraction(10)),
    ],
)
def test_expressions_have_their_exact_values(expression: str, result: Fraction) -> None:
    assert value(expression) == result


def test_the_caller_chooses_percent_and_order() -> None:
    assert value("50%", percent=False) == 50
    assert value("2+3*4", in_order=True) == 20
    assert value("2(3+4)") is None


@pytest.mark.parametrize(
    "expression",
    ["", "2+", "(2+3", "2)", "1/0", "1/(3-3)", "9" * (MOST_DIGITS + 1), "9" * MOST_DIGITS + "*10"],
)
def test_what_is_no_expression_or_too_large_has_no_value(expression: str) -> None:
    assert value(expression) is None


def test_brackets_are_counted_and_not_followed_without_end() -> None:
    def nested(depth: int) -> Fraction | None:
        return value("(" * depth + "1" + ")" * depth)

    assert nested(DEEPEST) == 1
    assert nested(DEEPEST + 1) is None
    assert nested(50_000) is None
