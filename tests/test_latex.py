"""The cleaning of LaTeX that several harnesses share, where their versions differ."""

from __future__ import annotations

import pytest

from gradeschool.latex import braced_fractions, slash_as_fraction, unwrapped, without_unit


@pytest.mark.parametrize(
    ("text", "braced"),
    [
        (r"\frac12", r"\frac{1}{2}"),
        (r"2\frac1{2}+\frac{a}b", r"2\frac{1}{2}+\frac{a}b"),
        (r"\frac12\frac1", r"\frac12\frac1"),
        (r"\frac1\frac", r"\frac1\frac"),  # strict or not: the first short command decides
        (r"\frac", None),
        (r"\frac12\frac\frac1", None),
    ],
)
def test_fractions_get_braces(text: str, braced: str | None) -> None:
    assert braced_fractions(text) == (braced or text)
    if braced is None:
        with pytest.raises(IndexError):
            braced_fractions(text, strict=True)
    else:
        assert braced_fractions(text, strict=True) == braced


def test_a_slash_between_integers_is_a_fraction() -> None:
    assert slash_as_fraction("-36/2") == r"\frac{-36}{2}"
    assert slash_as_fraction(r"\sqrt{3}/2", roots=True) == r"\frac{\sqrt{3}}{2}"
    for text in ("18", "1/2/3", "036/2", "1_0/2", "a/b", r"\sqrt{3}/2"):
        assert slash_as_fraction(text) == text
    with pytest.raises(ValueError, match="invalid literal"):
        slash_as_fraction("a/b", strict=True)


def test_wrappers_and_units_are_removed() -> None:
    assert unwrapped(r"a\text{b}c\text{d", r"\text{") == r"abc\text{d"
    assert unwrapped(r"a\mbox{b}c", r"\mbox{", instead="") == "ac"
    assert without_unit(r"18 \text{ apples}") == "18"
    assert without_unit(r"\text{apples}") == r"\text{apples}"
    assert without_unit(r"\text{18} apples") == r"\text{18} apples"
