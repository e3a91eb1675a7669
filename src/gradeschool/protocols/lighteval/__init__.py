"""lighteval: GSM8K by its own and by its inspect back end; MGSM, AIME, GSM-Plus, MATH-500."""

from __future__ import annotations

from gradeschool.problem import Problem
from gradeschool.prompts import draw_rows, rationale
from gradeschool.protocols.extractions import gold_without_commas, whole_text

DRAW_SHUFFLED = draw_rows(42, shuffled=True)


def labelled_solution(problem: Problem) -> str:
    """Return the label and the reference solution; the gold if the solution has no box."""
    solution = rationale(problem)
    return f"ANSWER: {solution}" if "\\boxed" in solution else f"ANSWER: {problem.gold}"


def spaced_solution(problem: Problem) -> str:
    """Return the reference solution as it follows the prompt."""
    return f" {problem.solution}"


def stripped_gold(problem: Problem) -> str:
    """Return the gold without commas and outer white space."""
    return gold_without_commas(problem).strip()


extract = whole_text()
