"""`ai-benchmarks/gsm8k`: a system prompt that asks for '#### N', and the class that reads it."""

from __future__ import annotations

import re

from gradeschool.answers.extractions import HASH, first_group
from gradeschool.protocols import Decoding, Problem, Protocol, Scorer, Template

SOURCE = "jaimetcf/ai-benchmarks @ 1dce72b2, benchmarks/gsm8k"
# The character class has no comma: the gold "2,125" is read as "2".
NUMBER = re.compile(r"####\s*([\d\.\-]+)")
# A prompt that defines the protocol, verbatim.
SYSTEM = (
    "You are a math problem solver. For every question, answer as concisely as possible, "
    "and at the end of your answer, append a newline and '#### <response number>' "
    "where <response number> is your final answer. "
    "For example, if the answer is 42, end your response with '\n#### 42'. "
    "Do not add any other text after this line."
)
extract = first_group(NUMBER, "the first '####' and a number", HASH)


def reference(problem: Problem) -> str:
    """Return the gold after the same extraction, which cuts it at its comma."""
    answer = extract(problem.solution, "")
    return "" if answer is None else answer.value


SCORERS = (
    Scorer(
        name="ai-benchmarks/gsm8k",
        summary="the first '####' and digits (no comma), equal as a string",
        source=f"{SOURCE}/gsm8k_benchmark.py",
        reference=reference,
        extract=extract,
    ),
)
PROTOCOLS = (
    Protocol(
        name="ai-benchmarks/gsm8k",
        summary="zero-shot chat, a system prompt asks for '#### N', greedy, 512 tokens",
        source=f"{SOURCE}/run_gpt41_on_gsm8k.py",
        render=Template(question="{question}", form="message", system=SYSTEM),
        decoding=Decoding(temperature=0.0, max_tokens=512),
        scorers=("ai-benchmarks/gsm8k",),
    ),
)
