"""The GSM8K tasks of OLMES: prompts and the scorer of Tulu.

`olmes/gsm8k`: 8 shots as one text, for base models; with 8 or 32 samples as for Olmo 3.
`olmes/gsm8k-tulu`: 8 shots as turns, the assistant's answer begun with "Answer:".
`olmes/gsm8k-zs-cot`: zero-shot, and its R1 form.
"""

from __future__ import annotations

import re

from gradeschool.problem import Problem
from gradeschool.protocols.extractions import extracted_gold, last_number_without_commas

# Only decimals keep their sign: integers lose it, on both sides.
NUMBER = re.compile(r"[-+]?\d*\.\d+|\d+")
extract = last_number_without_commas(NUMBER)


def reference(problem: Problem) -> str:
    """Return the gold after the same extraction."""
    return extracted_gold(extract, problem)
