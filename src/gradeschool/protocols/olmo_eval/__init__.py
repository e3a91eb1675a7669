"""`olmo-eval/gsm8k`: 8 fixed shots as one text, the last number with its sign."""

from __future__ import annotations

import re

from gradeschool.protocols import Scorer
from gradeschool.protocols.extractions import extracted_gold, last_number_without_commas

SOURCE = "allenai/olmo-eval @ e8b88f19, src/olmo_eval/evals/tasks/gsm8k.py"
# In older versions the second part was `\d+`: integers lost their sign, as in OLMES.
NUMBER = re.compile(r"[-+]?\d*\.\d+|[-+]?\d+")
extract = last_number_without_commas(NUMBER)


def compare(value: str, reference: str) -> bool:
    """Compare as strings without case and outer white space (ExactMatchScorer)."""
    return value.strip().lower() == reference.strip().lower()


SCORERS = (
    Scorer(
        name="olmo-eval/gsm8k",
        summary="the last number with its sign, equal as a string",
        source=SOURCE,
        reference=lambda problem: extracted_gold(extract, problem),
        extract=extract,
        compare=compare,
    ),
)
