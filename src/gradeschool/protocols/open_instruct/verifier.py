"""`open-instruct/gsm8k`: the reward function GSM8KVerifier.

https://github.com/allenai/open-instruct (e6c3044a) open_instruct/ground_truth_utils.py
"""

from __future__ import annotations

import re

from gradeschool.answers.search import last_number_without_commas
from gradeschool.problem import Problem
from gradeschool.scorer import Scorer
from gradeschool.verdict import Answer

SOURCE = "allenai/open-instruct @ e6c3044a, open_instruct/ground_truth_utils.py, GSM8KVerifier"
# In older versions `[-+]?\d*\.\d+|\d+`: integers lost their sign, as in OLMES.
NUMBER = re.compile(r"[-+]?(?:\d*\.\d+|\d+)")


LAST_NUMBER = "the last number, commas removed"


def last_number(text: str) -> str | None:
    """Return the last number once commas between digits are gone."""
    return last_number_without_commas(NUMBER, text)


def read(text: str, reference: str) -> Answer | None:
    """Read the last number; a text without one counts only where it is the whole gold."""
    number = last_number(text)
    if number is None:
        if not same(text, reference):
            return None
        return Answer(text, text, (0, len(text)), "the whole text")
    start = text.rfind(number)  # with a comma inside it does not stand there literally
    span = None if start < 0 else (start, start + len(number))
    return Answer(number, number, span, LAST_NUMBER)


def reference(problem: Problem) -> str:
    """Return the gold without thousands commas."""
    return problem.gold.replace(",", "")


def same(value: str, reference: str) -> bool:
    """Compare as strings without case."""
    return value.lower() == reference.lower()


GSM8K_VERIFIER = Scorer(
    name="open-instruct/gsm8k",
    summary="the last number with its sign, equal as a string (a training reward)",
    source=SOURCE,
    reference=reference,
    extract=read,
    compare=same,
)
