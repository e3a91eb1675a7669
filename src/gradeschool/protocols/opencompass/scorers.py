"""`opencompass/gsm8k`: Gsm8kEvaluator with gsm8k_postprocess.

https://github.com/open-compass/opencompass/blob/a5acc4bb/opencompass/datasets/gsm8k.py
"""

from __future__ import annotations

import re

from gradeschool.answers.search import last_match_in_words
from gradeschool.problem import Problem
from gradeschool.scorer import Scorer
from gradeschool.verdict import Answer

NUMBER = re.compile(r"\-?\d+\.\d+|\-?\d+")
RUN_ON = "Question:"


def read(text: str, reference: str) -> Answer | None:
    """Read the last number before a further "Question:"; a thousands comma splits a number."""
    end = text.find(RUN_ON)
    found = last_match_in_words(NUMBER, text if end < 0 else text[:end])
    if found is None:
        return None
    return Answer(found.group(), found.group(), found.span(), "the last number before 'Question:'")


def reference(problem: Problem) -> str:
    """Return what follows the first "#### ", without commas."""
    parts = problem.solution.split("#### ")
    return (parts[1] if len(parts) > 1 else problem.gold).replace(",", "")


def same(value: str, reference: str) -> bool:
    """Compare as strings, then as float against int with a tolerance of 1e-6."""
    try:
        return value == reference or abs(float(value) - int(reference)) < 1e-6
    except (ValueError, OverflowError):  # upstream: except Exception
        return False


GSM8K = Scorer(
    name="opencompass/gsm8k",
    summary="the last number before 'Question:' (a comma splits it), equal within 1e-6",
    source="open-compass/opencompass @ a5acc4bb (PyPI 0.5.4), opencompass/datasets/gsm8k.py",
    reference=reference,
    extract=read,
    compare=same,
)
