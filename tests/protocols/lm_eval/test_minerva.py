"""Tests the prompt and the reference of minerva_math500."""

from __future__ import annotations

from gradeschool import Problem
from gradeschool.protocols.lm_eval.minerva import boxed_solution, prompts


def test_examples_and_problem_are_one_text() -> None:
    shot = Problem.from_row("0", "Find $x$.", "It is $\\boxed{2}$.\nFinal Answer: 2\n#### 2")
    problem = Problem.from_row("1", "Find $y$.", "#### 3")
    [prompt] = prompts([problem], [shot, shot])
    example = "Problem:\nFind $x$.\n\nSolution: It is $\\boxed{2}$.\nFinal Answer: 2\n\n"
    assert prompt.text == 2 * example + "Problem:\nFind $y$.\n\nSolution:"


def test_a_solution_without_a_box_gives_its_gold_in_one() -> None:
    boxed = Problem.from_row("0", "?", "It is $\\boxed{2}$.\n#### 2")
    assert boxed_solution(boxed) == "It is $\\boxed{2}$."
    assert boxed_solution(Problem.from_row("1", "?", "So.\n#### 2")) == "\\boxed{2}"
