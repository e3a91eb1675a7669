"""Tests how lighteval's metric compares extracted values with a gold."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("math_verify", reason="needs the extra math-verify")

from sympy import And, Eq, FiniteSet, Float, Integer, Mul, Rational, Symbol, Tuple

from gradeschool.protocols.lighteval.comparing import any_equal, expressions_equal, values_equal

X = Symbol("x")
PERCENT = Mul(Integer(60), Rational(1, 100), evaluate=False)


@pytest.mark.parametrize(
    ("gold", "reading", "equal"),
    [
        (Integer(18), Integer(18), True),
        (Integer(18), Float(18), True),
        (Float(18), Float("18.000001"), True),
        (Float(18), Float("18.00001"), False),
        (Rational(1, 3), Float("0.33333"), True),
        (Integer(18), Integer(19), False),
        (Integer(18), Eq(X, 18, evaluate=False), True),
        (Integer(18), And(Eq(X, 18), Eq(Symbol("y"), 18)), True),
        (Integer(18), FiniteSet(18), True),
        (Integer(18), Tuple(Integer(18)), True),
        (Integer(18), FiniteSet(9, 18), False),
        (Integer(18), Tuple(Integer(9), Integer(18)), False),
        (Integer(18), X, False),
        (Integer(18), X - X + 18, True),
        (Integer(60), PERCENT, False),
    ],
)
def test_a_number_equals_a_value(gold: Any, reading: Any, equal: bool) -> None:
    assert values_equal(gold, reading, 5) is equal


def test_texts_equal_texts_and_values_equal_values() -> None:
    assert any_equal(["18"], [" 18 "])
    assert not any_equal([" "], [""])
    assert not any_equal(["18"], [Integer(18)])
    assert any_equal([Integer(3), "18"], [Integer(4), "18"])
    assert not any_equal([Integer(3), "18"], [Integer(4), "19"])


def test_a_comparison_that_raises_is_no_equality() -> None:
    class Broken:
        def doit(self) -> object:
            raise ValueError("broken")

    assert not any_equal([Integer(18)], [Broken()])
    assert not expressions_equal(Integer(18), Broken())


def test_expressions_are_equal_to_six_decimals() -> None:
    assert expressions_equal(Rational(1, 2), Float("0.5"))
    assert expressions_equal(X + 1, 1 + X)
    assert not expressions_equal(X + 1, X + 2)
    assert expressions_equal("Evelyn", "Evelyn ")
    assert not expressions_equal("18", Integer(18))
