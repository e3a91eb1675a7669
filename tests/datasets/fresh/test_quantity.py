"""A quantity's value, its expression and its graph agree."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradeschool import calculator
from gradeschool.datasets.fresh.quantity import (
    Quantity,
    amount,
    evaluate,
    leaf,
    nodes,
    number,
    signature,
)

LEAVES = st.integers(1, 60).map(lambda value: leaf(value, "n"))


def joined(pair: tuple[Quantity, Quantity, str]) -> Quantity:
    first, second, operator = pair
    if operator == "+":
        return first + second
    if operator == "-":
        return first - second
    if operator == "*":
        return first * second
    return first / second if second.value else first


QUANTITIES = st.recursive(
    LEAVES, lambda inner: st.tuples(inner, inner, st.sampled_from("+-*/")).map(joined), max_leaves=5
)


@given(QUANTITIES)
def test_the_written_expression_and_the_graph_have_the_value(quantity: Quantity) -> None:
    """Brackets are written where they are needed; the calculator reads the same value."""
    assert evaluate(quantity.tree) == quantity.value
    assert calculator.evaluate(quantity.written) == quantity.value


def test_brackets_are_written_only_where_they_are_needed() -> None:
    a, b, c = leaf(2, "a"), leaf(3, "b"), leaf(4, "c")
    assert ((a + b) * c).written == "(2+3)*4"
    assert (a + b * c).written == "2+3*4"
    assert (a - (b - c)).written == "2-(3-4)"
    assert (a + (b + c)).written == "2+3+4"
    assert (a / (b * c)).written == "2/(3*4)"


def test_money_stays_money_and_a_quotient_of_money_is_a_number() -> None:
    price, count = leaf(6, "price", money=True), leaf(3, "count")
    assert (price * count).money
    assert (price / count).money
    assert not (price / price).money
    assert (price / leaf(4, "count")).shown == "1.50"
    assert leaf(12, "price", money=True).shown == "12"


def test_a_result_is_written_as_its_value() -> None:
    result = (leaf(2, "a") + leaf(3, "b")).as_result()
    assert result.written == "5"
    assert (result * leaf(4, "c")).written == "5*4"
    assert signature(result.tree) == "(a+b)"
    assert len(list(nodes(result.tree))) == 1


@pytest.mark.parametrize(
    ("value", "plain", "dollars"),
    [
        (Fraction(12), "12", "12"),
        (Fraction(15, 2), "7.5", "7.50"),
        (Fraction(1, 4), "0.25", "0.25"),
        (Fraction(-5, 2), "-2.5", "-2.50"),
    ],
)
def test_numbers_and_dollars_are_written_as_people_write_them(
    value: Fraction, plain: str, dollars: str
) -> None:
    assert (number(value), amount(value)) == (plain, dollars)
