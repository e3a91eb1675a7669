"""`openai/example-solutions`: how the published example_model_solutions.jsonl was flagged.

Those solutions end in a last line "A: N", which the released extractor does not read.
"""

from __future__ import annotations

from gradeschool.problem import Problem
from gradeschool.scorer import Scorer, verbatim
from gradeschool.verdict import Answer

MARK = "A: "


def read(text: str, reference: str) -> Answer | None:
    """Read what follows "A: " at the start of the last line."""
    start = text.rfind("\n") + 1
    if not text.startswith(MARK, start):
        return None
    start += len(MARK)
    read = text[start:]
    return Answer(read, read.replace(",", ""), (start, len(text)), "the last line behind 'A: '")


def reference(problem: Problem) -> str:
    """Return the gold without thousands commas; the flags ignore them on both sides."""
    return problem.gold.replace(",", "")


EXAMPLE_SOLUTIONS = Scorer(
    name="openai/example-solutions",
    summary="the text behind 'A: ' on the last line, equal without commas",
    source="openai/grade-school-math @ 3101c7d5, data/example_model_solutions.jsonl (flags)",
    reference=reference,
    extract=read,
    compare=verbatim,
)
