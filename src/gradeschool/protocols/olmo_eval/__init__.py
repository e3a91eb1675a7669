"""`olmo-eval/gsm8k`: 8 fixed shots as one text, the last number with its sign.

https://github.com/allenai/olmo-eval (e8b88f19) src/olmo_eval/evals/tasks/gsm8k.py
"""

from __future__ import annotations

import re

from gradeschool.answers.extractions import extracted_gold, last_number_without_commas
from gradeschool.completion import Decoding
from gradeschool.problem import Problem
from gradeschool.prompts import Template
from gradeschool.protocol import Protocol
from gradeschool.scorer import Scorer

SOURCE = "allenai/olmo-eval @ e8b88f19, src/olmo_eval/evals/tasks/gsm8k.py"
# In older versions the second part was `\d+`: integers lost their sign, as in OLMES.
NUMBER = re.compile(r"[-+]?\d*\.\d+|[-+]?\d+")
STOPS = ("Question:", "\n\n")
TEMPLATE = Template(
    question="Question: {question}\nAnswer:", answer=" {reasoning} So the answer is {gold}."
)
OLMO3BASE_STOPS = ("Question:", "</s>", "<|im_end|>", "\n\n")


extract = last_number_without_commas(NUMBER)


def reference(problem: Problem) -> str:
    """Return the gold after the same extraction."""
    return extracted_gold(extract, problem)


def compare(value: str, reference: str) -> bool:
    """Compare as strings without case and outer white space (ExactMatchScorer)."""
    return value.strip().lower() == reference.strip().lower()


GSM8K_SCORER = Scorer(
    name="olmo-eval/gsm8k",
    summary="the last number with its sign, equal as a string",
    source=SOURCE,
    reference=reference,
    extract=extract,
    compare=compare,
)

GSM8K = Protocol(
    name="olmo-eval/gsm8k",
    summary="8 shots as one text, Question/Answer, greedy, 512 tokens, stops at a blank line",
    source=SOURCE,
    render=TEMPLATE,
    decoding=Decoding(temperature=0.0, max_tokens=512, stop=STOPS),
    scorers=("olmo-eval/gsm8k",),
    shots="wei2022",
    shot_count=8,
)

OLMO3BASE = Protocol(
    name="olmo-eval/gsm8k-olmo3base",
    summary="the same prompt, 8 samples at temperature 0.6, top_p 0.6",
    source=f"{SOURCE}, variant olmo3base",
    render=TEMPLATE,
    decoding=Decoding(temperature=0.6, top_p=0.6, max_tokens=512, stop=OLMO3BASE_STOPS),
    scorers=("olmo-eval/gsm8k",),
    shots="wei2022",
    shot_count=8,
    samples=8,
)

SCORERS = (GSM8K_SCORER,)
PROTOCOLS = (GSM8K, OLMO3BASE)
