"""`nanochat/gsm8k`: the question alone as user message, the first "#### N"."""

from __future__ import annotations

import re

from gradeschool.answers.search import last_match
from gradeschool.problem import Problem
from gradeschool.protocols.extractions import first_marked
from gradeschool.verdict import Answer

# A tool call of the reference solution; the gold is extracted from the text after the last one.
ANNOTATION = re.compile(r"<<[^>]+>>")


def extract(text: str, reference: str) -> Answer | None:
    """Extract the first "#### N"; no answer is correct if the solution has no "#### N" either."""
    answer = first_marked(text, reference)
    if answer is None and not reference:  # upstream: None == None
        return Answer("", "", None, "no '#### N', as in the solution")
    return answer


def reference(problem: Problem) -> str:
    """Return the gold after the same extraction, "" if the solution has none."""
    last_call = last_match(ANNOTATION, problem.solution)
    answer = first_marked(problem.solution[last_call.end() if last_call else 0 :], "")
    return "" if answer is None else answer.value
