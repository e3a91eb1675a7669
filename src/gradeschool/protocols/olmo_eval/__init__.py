"""`olmo-eval/gsm8k`: 8 fixed shots as one text, the last number with its sign."""

from __future__ import annotations

import re
from dataclasses import replace

from gradeschool.answers.extractions import extracted_gold, last_number_without_commas
from gradeschool.protocols import Decoding, Protocol, Scorer, Template

SOURCE = "allenai/olmo-eval @ e8b88f19, src/olmo_eval/evals/tasks/gsm8k.py"
STOPS = ("Question:", "\n\n")
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
GSM8K = Protocol(
    name="olmo-eval/gsm8k",
    summary="8 shots as one text, Question/Answer, greedy, 512 tokens, stops at a blank line",
    source=SOURCE,
    render=Template(
        question="Question: {question}\nAnswer:",
        answer=" {reasoning} So the answer is {gold}.",
    ),
    decoding=Decoding(temperature=0.0, max_tokens=512, stop=STOPS),
    scorers=("olmo-eval/gsm8k",),
    shots="wei2022",
)
OLMO3BASE = replace(
    GSM8K,
    name="olmo-eval/gsm8k-olmo3base",
    summary="the same prompt, 8 samples at temperature 0.6, top_p 0.6",
    source=f"{SOURCE}, variant olmo3base",
    decoding=Decoding(
        temperature=0.6, top_p=0.6, max_tokens=512, stop=("Question:", "</s>", "<|im_end|>", "\n\n")
    ),
    samples=8,
)
PROTOCOLS = (GSM8K, OLMO3BASE)
