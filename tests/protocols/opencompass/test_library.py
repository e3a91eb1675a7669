"""Tests what OpenCompass's evaluator by Math-Verify reads, and which side it takes for the gold."""

from __future__ import annotations

import pytest

pytest.importorskip("math_verify", reason="needs the extra math-verify")

from gradeschool.protocols.opencompass.library import LONGEST, math_verify


@pytest.mark.parametrize(
    ("text", "reference", "read", "right"),
    [
        ("\\boxed{18}", "18", "18", True),
        ("\\boxed{7}", "18", "7", False),
        ("The answer is $18$", "18", "18", True),
        (
            "The final answer is $7$. I hope it is correct. \\boxed{18}",
            "18",
            "18",
            True,
        ),  # boxes first
        ("\\boxed{18 \\text{ cm}}", "18", "18", True),  # units are removed
        ("18", "18", None, False),  # no LaTeX
        ("$7$ or $18$", "18", None, False),  # no "answer" before the formula
        ("\\boxed{x=18}", "18", "x=18", True),
        ("\\boxed{x+1}", "1+x", "x+1", True),
        ("\\boxed{18}", "eggs", "18", False),
        ("", "18", None, False),
    ],
)
def test_a_box_or_a_formula_behind_its_announcement_is_read(
    text: str, reference: str, read: str | None, right: bool
) -> None:
    assert math_verify(text, reference) == (read, right)


def test_the_completion_stands_in_the_place_of_the_gold() -> None:
    """Math-Verify accepts an interval for the inequality of a gold, but not the reverse."""
    assert math_verify("\\boxed{1<x<2}", "(1,2)") == ("1<x<2", True)
    assert math_verify("\\boxed{(1,2)}", "1<x<2") == ("(1,2)", False)


def test_a_reference_that_cannot_be_parsed_is_an_error() -> None:
    with pytest.raises(ValueError, match="the reference cannot be parsed: ''"):
        math_verify("\\boxed{18}", "")


def test_a_long_answer_is_shown_by_its_beginning() -> None:
    number = "1" * (LONGEST + 1)
    assert math_verify(f"\\boxed{{{number}}}", number) == (number[:-1], True)
