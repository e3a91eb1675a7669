"""`open-instruct/gsm8k`: the reward function GSM8KVerifier."""

from __future__ import annotations

import re

from gradeschool.protocols.extractions import last_number_without_commas
from gradeschool.verdict import Answer

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
