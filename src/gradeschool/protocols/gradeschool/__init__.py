"""gradeschool's own scorers and prompts, with examples shipped in the package."""

from __future__ import annotations

from gradeschool.problem import Problem
from gradeschool.protocols.gradeschool.scorers import PARSE_ANSWER, READER


def with_completion(problem: Problem) -> dict[str, str]:
    """Return the fields of the judge's prompt; the completion is in the problem's meta."""
    completion = problem.meta.get("completion", "(the completion)")
    return {"question": problem.question, "completion": completion}


SCORERS = (READER, PARSE_ANSWER)
