"""`olmo-eval/gsm8k`: 8 fixed shots as one text, the last number with its sign."""

from __future__ import annotations

import re

from gradeschool.problem import Problem
from gradeschool.protocols.extractions import extracted_gold, last_number_without_commas

# In older versions the second part was `\d+`: integers lost their sign, as in OLMES.
NUMBER = re.compile(r"[-+]?\d*\.\d+|[-+]?\d+")
extract = last_number_without_commas(NUMBER)


def reference(problem: Problem) -> str:
    """Return the gold after the same extraction."""
    return extracted_gold(extract, problem)


def compare(value: str, reference: str) -> bool:
    """Compare as strings without case and outer white space (ExactMatchScorer)."""
    return value.strip().lower() == reference.strip().lower()
