"""Tests Math-Verify with the gold as it is and with the gold in a box."""

from __future__ import annotations

import pytest

pytest.importorskip("math_verify", reason="needs the extra math-verify")

from gradeschool.protocols.math_verify.library import LONGEST, boxed_gold, default, shown


@pytest.mark.parametrize(
    ("text", "gold", "read", "right"),
    [
        ("18", "18", "18", True),
        ("It is 7 or 18", "18", "18", True),  # the last number
        ("It is 18 or 7", "18", "7", False),
        ("\\boxed{18}, not 7", "18", "18", True),
        ("1,250", "1250", "1250", True),
        ("$\\frac{1}{2}$", "0.5", "\\frac{1}{2}", True),
        ("\\boxed{\\frac12}", "\\frac{1}{2}", "\\frac{1}{2}", True),  # as it was cleaned
        ("60%", "60", "60", True),
        ("60%", "0.6", "60", True),
        ("nothing", "18", None, False),
        ("18", "eggs", "18", False),
        ("", "18", None, False),
    ],
)
def test_a_value_is_read_the_same_for_both_golds(
    text: str, gold: str, read: str | None, right: bool
) -> None:
    assert default(text, gold) == (read, right)
    assert boxed_gold(text, gold) == (read, right)


@pytest.mark.parametrize(
    ("text", "gold", "plain", "boxed"),
    [
        ("\\boxed{x+1}", "1+x", False, True),  # an expression without LaTeX is no formula
        ("\\boxed{1,2}", "1,2", False, True),
        ("\\boxed{18}", "The answer is 18 eggs", True, False),
    ],
)
def test_a_box_makes_a_formula_of_the_gold(text: str, gold: str, plain: bool, boxed: bool) -> None:
    assert (default(text, gold)[1], boxed_gold(text, gold)[1]) == (plain, boxed)


def test_the_characters_are_shown_or_else_the_value() -> None:
    assert shown([]) is None
    assert shown([18]) == "18"
    assert shown([18, "18.0"]) == "18.0"
    assert shown([18, "1" * (LONGEST + 1)]) == "1" * LONGEST
