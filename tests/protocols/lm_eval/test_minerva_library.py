"""Tests the normal form of the Minerva paper, and what is compared by sympy."""

from __future__ import annotations

import pytest

pytest.importorskip("sympy", reason="needs the extra math-verify")
pytest.importorskip("antlr4", reason="needs the extra math-verify")

from gradeschool.protocols.lm_eval.minerva_library import exact_match, normal_form


@pytest.mark.parametrize(
    ("answer", "normal"),
    [
        ("$x = 18$", "18"),
        ("18 dollars", "18"),
        ("18\\text{ cm}", "18"),
        ("1,250", "1250"),
        ("1,25", "1,25"),
        ("\\frac12", "\\frac{1}{2}"),
        ("\\sqrt2", "\\sqrt{2}"),
        ("\\boxed{18}", "18"),
        ("90^\\circ", "90"),
        ("\\left(1, 2\\right)", "\\left(1,2\\right)"),
        ("a square", ""),
    ],
)
def test_the_normal_form_of_an_answer(answer: str, normal: str) -> None:
    assert normal_form(answer) == normal


FORM = "Final Answer: The final answer is ${}$. I hope it is correct."


@pytest.mark.parametrize(
    ("text", "gold", "read", "right"),
    [
        (FORM.format("18"), "18", "18", True),
        (FORM.format("19"), "18", "19", False),
        (FORM.format("\\frac12"), "\\frac{1}{2}", "\\frac{1}{2}", True),
        (FORM.format("x+1"), "1+x", "x+1", True),  # by sympy
        (FORM.format("x+2"), "1+x", "x+2", False),
        ("Final Answer: The final answer is $18$. ", "18", "18", True),  # the end is added
        (FORM.format("7") + FORM.format("18"), "18", "7", False),
        ("\\boxed{18}", "18", None, False),
    ],
)
def test_the_first_final_answer_is_compared_with_the_box_of_the_solution(
    text: str, gold: str, read: str | None, right: bool
) -> None:
    assert exact_match(text, f"First \\boxed{{0}}, then $\\boxed{{{gold}}}$.") == (read, right)


def test_a_solution_without_a_box_is_an_error() -> None:
    with pytest.raises(ValueError, match="the solution has no box: 'It is 18"):
        exact_match(FORM.format("18"), "It is 18.")
