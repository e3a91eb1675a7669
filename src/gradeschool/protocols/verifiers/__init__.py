"""verifiers: MathRubric, verify_boxed_math_answer, the GSM8K environments of versions 0 and 1."""

from __future__ import annotations

from gradeschool.problem import MARKER, Problem


def first_hash_answer(problem: Problem) -> str:
    """Return the text between the first two "####" of the solution, as `extract_hash_answer`."""
    parts = problem.solution.split(MARKER)
    return parts[1].strip() if len(parts) > 1 else problem.gold
