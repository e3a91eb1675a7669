"""Tests the number that a LaTeX text states, and the normal form of an answer."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradeschool.protocols.deepseek_math.latex_reader import LONGEST, number_in, stripped


@pytest.mark.parametrize(
    ("latex", "number"),
    [
        ("1,250", 1250),
        ("-18", -18),
        ("1+2\\times3", 7),
        ("(1+2)*3", 9),
        ("3(4)", 12),
        ("10\\div4", 2.5),
        ("10:4", 2.5),
        ("\\frac{1}{2}", 0.5),
        ("\\frac12", 0.5),
        ("2^{-1}", 0.5),
        ("2^3^2", 64),
        ("\\sqrt{16}", 4),
        ("\\sqrt[3]{8}", 2),
        ("4!", 24),
        ("6x3", 18),
        ("18}", 18),
        ("18-", 18),
        ("18.####18", 18),
    ],
)
def test_a_text_that_states_a_number(latex: str, number: float) -> None:
    assert number_in(latex) == pytest.approx(number)


@pytest.mark.parametrize(
    "latex",
    ["", "18dollars", "18.a", "x=18", "18=18", "018", "\\infty", "|3|", "\\frac{1}{0}", "\\log 2",
     "\\sqrt{-1}", "21!", "(" * 50 + "1" + ")" * 50, "1" * (LONGEST + 1)],
    ids=lambda latex: latex[:9],
)  # fmt: skip
def test_a_text_that_states_none(latex: str) -> None:
    assert number_in(latex) is None


NUMBERS = st.integers(1, 99).map(lambda number: (str(number), Fraction(number)))


def joined(
    parts: tuple[tuple[str, Fraction], str, tuple[str, Fraction]],
) -> tuple[str, Fraction]:
    (first, one), sign, (second, other) = parts
    value = {"+": one + other, "-": one - other, "\\times": one * other}[sign]
    return f"({first}){sign}({second})", value


@given(
    st.recursive(
        NUMBERS,
        lambda part: st.tuples(part, st.sampled_from(["+", "-", "\\times"]), part).map(joined),
        max_leaves=8,
    )
)
def test_sums_and_products_in_brackets_are_reckoned(part: tuple[str, Fraction]) -> None:
    latex, value = part
    assert number_in(latex) == pytest.approx(float(value))


@pytest.mark.parametrize(
    ("answer", "normal"),
    [
        ("18", "18"),
        ("18.", "18"),
        ("18.00", "18"),
        ("$18$", "18"),
        ("18\\%", "18%"),
        ("\\text{18}", "18"),
        ("18\\text{ eggs}", "18"),
        ("18^\\circ", "18"),
        ("3 t", "3"),
        (".5", "0.5"),
        ("1/2", "\\frac{1}{2}"),
        ("\\dfrac12", "\\frac{1}{2}"),
        ("\\sqrt2", "\\sqrt{2}"),
        ("\\left(1, 2\\right)", "(1,2)"),
        ("inf", "\\infty"),
        ("2j", "2i"),
    ],
)
def test_the_normal_form_of_an_answer(answer: str, normal: str) -> None:
    assert stripped(answer) == normal


@given(st.text("0123456789.,$ \\{}/abtxfrac^", max_size=30))
def test_no_text_makes_the_reader_raise(text: str) -> None:
    assert isinstance(stripped(text), str)
    number = number_in(stripped(text))
    assert number is None or isinstance(number, float)
