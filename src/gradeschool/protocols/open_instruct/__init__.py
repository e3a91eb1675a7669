"""`open-instruct/gsm8k`: the reward function GSM8KVerifier."""

from __future__ import annotations

import re

from gradeschool.protocols import Answer, Scorer
from gradeschool.protocols.extractions import gold_without_commas, last_number_without_commas

# In older versions `[-+]?\d*\.\d+|\d+`: integers lost their sign, as in OLMES.
NUMBER = re.compile(r"[-+]?(?:\d*\.\d+|\d+)")
last_number = last_number_without_commas(NUMBER)


def extract(text: str, reference: str) -> Answer | None:
    """Extract the last number; a text without one counts only if it is the whole gold."""
    answer = last_number(text, reference)
    if answer is None and compare(text, reference):
        return Answer(text, text, (0, len(text)), "the whole text")
    return answer


def compare(value: str, reference: str) -> bool:
    """Compare as strings without case."""
    return value.lower() == reference.lower()


SCORERS = (
    Scorer(
        name="open-instruct/gsm8k",
        summary="the last number with its sign, equal as a string (a training reward)",
        source="allenai/open-instruct @ e6c3044a, open_instruct/ground_truth_utils.py, "
        "GSM8KVerifier",
        reference=gold_without_commas,
        extract=extract,
        compare=compare,
    ),
)
