"""`ai-benchmarks/gsm8k`: a system prompt that asks for '#### N', and the class that reads it."""

from __future__ import annotations

import re

from gradeschool.protocols import Problem, Scorer
from gradeschool.protocols.extractions import HASH, first_group

SOURCE = "jaimetcf/ai-benchmarks @ 1dce72b2, benchmarks/gsm8k"
# The character class has no comma: the gold "2,125" is read as "2".
NUMBER = re.compile(r"####\s*([\d\.\-]+)")
extract = first_group(NUMBER, "the first '####' and a number", HASH)


def reference(problem: Problem) -> str:
    """Return the gold after the same extraction, which cuts it at its comma."""
    answer = extract(problem.solution, "")
    return "" if answer is None else answer.value


SCORERS = (
    Scorer(
        name="ai-benchmarks/gsm8k",
        summary="the first '####' and digits (no comma), equal as a string",
        source=f"{SOURCE}/gsm8k_benchmark.py",
        reference=reference,
        extract=extract,
    ),
)
