"""MGSM of simple-evals in 11 languages: one instruction, the last number after the last "Answer".

The English protocol works for any problems, with GSM8K as its dataset.
"""

from __future__ import annotations

import re

from gradeschool.protocols.extractions import last_number_behind_labels

# No sign: -10 is read as 10.
after_label = last_number_behind_labels(re.compile(r"\d+\.?\d*"))


def compare(value: str, reference: str) -> bool:
    """Compare as strings; zero decimals are cut off the answer only."""
    return (value.rstrip("0").rstrip(".") if "." in value else value) == reference
