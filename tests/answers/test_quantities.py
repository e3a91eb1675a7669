"""A number in any spelling has its exact value."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradeschool.answers.quantities import (
    canonical,
    canonical_gold,
    exact,
    quantities,
    same_answer,
    same_value,
    word_quantities,
)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("She has $1,250 and 3 hens.", ["1250", "3"]),
        ("1{,}250 or 1\\,250", ["1250", "1250"]),
        ("It costs -$5.", ["-5"]),
        ("x = −2.50", ["-2.5"]),
        ("2 1/2 cups and ¾ of one", ["5/2", "3/4"]),
        (r"\frac{8}{3} and 2\frac12", ["8/3", "5/2"]),
        ("1.5 million people, 3k views", ["1500000", "3k"]),
        ("at 3:30", ["3:30"]),
        ("3 x 10^4", ["30000"]),
        ("１８ eggs, ४२ hens", ["18", "42"]),
        ("x2, m^2 and H2O", []),
    ],
)
def test_numbers_are_read_in_their_spellings(text: str, values: list[str]) -> None:
    assert [number.value for number in quantities(text)] == values


@given(st.fractions(min_value=-(10**9), max_value=10**9, max_denominator=10**4))
def test_values_are_exact(number: Fraction) -> None:
    assert exact(str(number)) == number
    (quantity,) = quantities(f"It is {number}.")
    assert exact(quantity.value) == number


@given(st.decimals(-(10**12), 10**12, places=3))
def test_a_canonical_decimal_is_that_number(number: object) -> None:
    assert exact(canonical(str(number))) == Fraction(str(number))
    assert canonical(canonical(str(number))) == canonical(str(number))


def test_golds_are_read_as_values() -> None:
    golds = {"1,250": "1250", " -10 ": "-10", "18.00": "18", "3/4": "3/4", "blue": "blue"}
    assert {gold: canonical_gold(gold) for gold in golds} == golds
    assert same_answer("2:00", "2")
    assert not same_answer("2:30", "2")


@pytest.mark.parametrize(
    ("words", "values"),
    [
        ("twenty-five of two hundred and six", ["25", "206"]),
        ("minus eight", ["-8"]),
        ("nobody phones", []),
    ],
)
def test_numbers_in_words(words: str, values: list[str]) -> None:
    assert [number.value for number in word_quantities(words, 0, len(words))] == values


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [("0.5", "1/2", True), ("18.0", "18", True), ("1/3", "0.333", False), ("3:30", "3.5", False)],
)
def test_values_are_compared_as_fractions(left: str, right: str, same: bool) -> None:
    assert same_value(left, right) is same
