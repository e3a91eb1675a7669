"""Tests what lighteval's metrics take as the gold, and which comparison each of them makes."""

from __future__ import annotations

import pytest

pytest.importorskip("math_verify", reason="needs the extra math-verify")

from gradeschool.protocols.lighteval.library import (
    extractive_match,
    math_scorer,
    pass_at_1,
    pass_at_1_of_solutions,
)


@pytest.mark.parametrize(
    ("text", "choice", "read", "right"),
    [
        ("#### 18", "It is 9 * 2 = 18.\n#### 18", "18", True),
        ("#### 7", "It is 9 * 2 = 18.\n#### 18", "7", False),
        ("The answer is 18", "The answer is 7 eggs.\n#### 18", "18", False),  # the wrong gold
        ("The answer is 7", "The answer is 7 eggs.\n#### 18", "7", True),
        ("\\boxed{18}", "#### 18", "18", True),
        ("18.0", "#### 18", "18.0", True),
        ("nothing", "#### eggs", None, False),
        ("", "#### 18", None, False),
    ],
)
def test_the_gold_is_extracted_from_the_whole_solution(
    text: str, choice: str, read: str | None, right: bool
) -> None:
    assert extractive_match(text, choice) == (read, right)


@pytest.mark.parametrize(
    ("text", "read", "right"),
    [
        ("\\boxed{18}", "18", True),
        ("It is \\boxed{7}. The answer is 18", "7", False),
        ("\\boxed{7} and \\boxed{18}", "7,18", False),
        ("7 and 18.0", "18.0", True),
        ("nothing", None, False),
        ("", None, False),
    ],
)
def test_pass_at_1_reads_a_box_before_the_last_number(
    text: str, read: str | None, right: bool
) -> None:
    assert pass_at_1(text, " 18\n") == (read, right)
    assert pass_at_1_of_solutions(text, " 18\n") == (read, right)


def test_pass_at_1_reads_the_gold_in_the_box_of_a_solution() -> None:
    solution = "ANSWER: Of 18 it is $\\boxed{\\frac{1}{2}}$."
    for text, right in (("\\boxed{\\frac12}", True), ("0.5", True), ("18", False)):
        assert pass_at_1_of_solutions(text, solution)[1] is right


def test_only_the_comparisons_of_pass_at_1_round() -> None:
    """Six decimals are compared."""
    assert pass_at_1("1/3", "0.333333") == ("1/3", True)
    assert pass_at_1("1/3", "0.33333") == ("1/3", False)
    assert math_scorer("1/3", "0.333333") == ("1/3", False)


@pytest.mark.parametrize(
    ("text", "target", "read", "right"),
    [
        ("\\boxed{18}", "18", "18", True),
        ("7 and 18", "18", "18", True),
        ("18.0", "18", "18.0", False),  # equal values, other characters
        ("1,250", "1250", "1250", True),
        ("\\boxed{7} and \\boxed{18}", "18", "7,18", False),
        ("", "18", None, False),
        ("nothing", "eggs", None, True),  # two empty lists are equal
    ],
)
def test_the_lists_of_the_inspect_back_end_must_be_equal(
    text: str, target: str, read: str | None, right: bool
) -> None:
    assert math_scorer(text, target) == (read, right)
