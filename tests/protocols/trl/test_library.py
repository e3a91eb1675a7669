"""Tests which formulas TRL's accuracy reward reads, and which golds it skips."""

from __future__ import annotations

import pytest

pytest.importorskip("math_verify", reason="needs the extra math-verify")

from gradeschool.protocols.trl.library import LONGEST, accuracy_reward


@pytest.mark.parametrize(
    ("text", "read", "right"),
    [
        ("\\boxed{18}", "18", True),
        ("\\boxed{\\frac{36}{2}}", "\\frac{36}{2}", True),
        ("\\boxed{18 \\text{ cm}}", "18", True),  # units are removed
        ("The answer is $18$", "18", True),
        ("\\boxed{7} and the answer is $18$", "7", False),  # boxes first
        ("The final answer is $7$. I hope it is correct. \\boxed{18}", "18", True),
        ("\\boxed{7}, \\boxed{18}", "7,18", False),
        ("18", None, False),  # no LaTeX
        ("The answer is 18", None, False),
        ("$7$ and $18$", None, False),  # no "answer" before the formula
        ("", None, False),
    ],
)
def test_a_box_or_a_formula_behind_its_announcement_is_read(
    text: str, read: str | None, right: bool
) -> None:
    assert accuracy_reward(text, "18") == (read, right)


def test_the_gold_is_parsed_as_any_text() -> None:
    assert accuracy_reward("\\boxed{18}", "The answer is 18 eggs") == ("18", True)
    assert accuracy_reward("\\boxed{x+1}", "$1+x$") == ("x+1", True)


def test_a_gold_that_would_be_skipped_is_an_error() -> None:
    with pytest.raises(ValueError, match="the example is skipped: 'eggs'"):
        accuracy_reward("\\boxed{18}", "eggs")


def test_a_long_answer_is_shown_by_its_beginning() -> None:
    number = "1" * (LONGEST + 1)
    assert accuracy_reward(f"\\boxed{{{number}}}", number) == (number[:-1], True)
