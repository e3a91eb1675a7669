"""`verl/gsm8k/strict` and `verl/gsm8k/flexible`: compute_score on the last 300 characters.

https://github.com/volcengine/verl/blob/b178a3cd/verl/utils/reward_score/gsm8k.py (= PyPI 0.9.1)
https://github.com/volcengine/verl/blob/b178a3cd/examples/data_preprocess/gsm8k.py
"""

from __future__ import annotations

import re

from gradeschool.answers.extractions import HASH, last_marked, marked_gold
from gradeschool.completion import Decoding
from gradeschool.prompts import Template
from gradeschool.protocol import Protocol
from gradeschool.scorer import Scorer, verbatim
from gradeschool.verdict import Answer, answer_of

SOURCE = "verl 0.9.1, verl/utils/reward_score/gsm8k.py"
CLIP = 300  # characters
NUMBER = re.compile(r"(\-?[0-9\.\,]+)")

# A prompt that defines the protocol, verbatim.
INSTRUCTION = 'Let\'s think step by step and output the final answer after "####".'


def extract_strict(text: str, reference: str) -> Answer | None:
    """Extract the last "#### N" of the last 300 characters, without commas; a last period stays."""
    answer = last_marked(text[-CLIP:]) if HASH in text else None
    if answer is None or answer.span is None:
        return None
    offset = max(0, len(text) - CLIP)
    span = (offset + answer.span[0], offset + answer.span[1])
    return answer._replace(span=span, how="the last '#### N' near the end")


def extract_flexible(text: str, reference: str) -> Answer | None:
    """Extract the last run of digits, periods and commas that is more than one period.

    Commas and a trailing period stay. If every run is ".", the first of them is the answer.
    """
    end, offset = text[-CLIP:], max(0, len(text) - CLIP)
    matches = [*NUMBER.finditer(end)]
    match = next((match for match in reversed(matches) if match[0] != "."), None)
    if match is None and not matches:
        return None
    match = match or matches[0]
    span = (offset + match.start(), offset + match.end())
    return answer_of((match[0], match[0], span, "the last number near the end"))


STRICT = Scorer(
    name="verl/gsm8k/strict",
    summary="the last '#### N' of the last 300 characters, equal as a string",
    source=f"{SOURCE}, method strict",
    reference=marked_gold,
    extract=extract_strict,
    compare=verbatim,
)

FLEXIBLE = Scorer(
    name="verl/gsm8k/flexible",
    summary="the last number of the last 300 characters, commas and periods kept, as a string",
    source=f"{SOURCE}, method flexible",
    reference=marked_gold,
    extract=extract_flexible,
    compare=verbatim,
)

GSM8K = Protocol(
    name="verl/gsm8k",
    summary="zero-shot chat, the answer after '####', greedy as in verl's validation, 512 tokens",
    source="verl 0.9.1: examples/data_preprocess/gsm8k.py; trainer/config (val_kwargs, data)",
    render=Template(question=f"{{question}} {INSTRUCTION}", form="message"),
    decoding=Decoding(temperature=0.0, top_p=1.0, max_tokens=512),
    scorers=("verl/gsm8k/strict", "verl/gsm8k/flexible"),
    is_chat=True,
)

SCORERS = (STRICT, FLEXIBLE)
PROTOCOLS = (GSM8K,)
