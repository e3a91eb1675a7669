"""MGSM of simple-evals in 11 languages: one instruction, the last number after the last "Answer".

The English protocol works for any problems, with GSM8K as its dataset.
"""

from __future__ import annotations

import re

from gradeschool.protocols import MGSM, Scorer
from gradeschool.protocols.extractions import gold_without_commas, last_number_behind

SOURCE = "openai/simple-evals @ ee3b0318, mgsm_eval.py"
# No sign: -10 is read as 10.
NUMBER = re.compile(r"\d+\.?\d*")


def compare(value: str, reference: str) -> bool:
    """Compare as strings; zero decimals are cut off the answer only."""
    return (value.rstrip("0").rstrip(".") if "." in value else value) == reference


SCORERS = tuple(
    Scorer(
        name=f"simple-evals/mgsm-{language}",
        summary=f"the last number (no sign) after the last {label!r}, equal as a string",
        source=f"{SOURCE}, parse_answer and score_mgsm",
        reference=gold_without_commas,
        extract=last_number_behind(NUMBER, label),
        compare=compare,
        dataset="" if language == "en" else f"mgsm:{language}",
    )
    for language, row in MGSM.items()
    for label in [row["label"]]
)
