"""Tests which expressions Qwen2.5-Math's evaluation finds equal by sympy."""

from __future__ import annotations

import pytest

pytest.importorskip("sympy", reason="needs the extra math-verify")
pytest.importorskip("antlr4", reason="needs the extra math-verify")

from gradeschool.protocols.qwen2_5_math.library import symbolic_equal


@pytest.mark.parametrize(
    ("value", "reference", "equal"),
    [
        ("18", "18", True),
        ("18", "19", False),
        ("x+1", "1+x", True),
        ("x+1", "x+2", False),
        ("(x+1)^2", "x^2+2x+1", True),
        ("\\frac{1}{2}", "0.5", True),
        ("\\\\frac{1}{2}", "0.5", True),  # a doubled backslash counts as one
        ("\\sqrt{4}", "2", True),
        ("x", "y", False),
        ("egg", "geg", True),  # a product of three letters
    ],
)
def test_expressions_are_equal_if_their_difference_vanishes(
    value: str, reference: str, equal: bool
) -> None:
    assert symbolic_equal(value, reference) is equal
    assert symbolic_equal(reference, value) is equal


def test_numbers_are_equal_within_a_ten_thousandth_of_the_larger() -> None:
    assert symbolic_equal("0.50004", "\\frac{1}{2}")
    assert not symbolic_equal("0.50006", "\\frac{1}{2}")
    assert symbolic_equal("10000", "10000.9")
    assert not symbolic_equal("10000", "10001.1")


def test_texts_that_are_no_expressions_must_be_the_same() -> None:
    assert symbolic_equal("", "")
    assert symbolic_equal("\\frac{1", "\\frac{1")
    assert not symbolic_equal("\\frac{1", "\\frac{1 ")
    assert not symbolic_equal("\\frac{1", "1")


def test_what_the_parser_of_latex_rejects_is_read_as_plain_arithmetic() -> None:
    """Upstream runs such a text as Python; here a name in it makes it a text."""
    assert symbolic_equal("3.", "3")
    assert symbolic_equal("-.5", "-\\frac{1}{2}")
    assert not symbolic_equal("-.5*len('a')", "-.5")
