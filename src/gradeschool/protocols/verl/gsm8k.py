"""`verl/gsm8k/strict` and `verl/gsm8k/flexible`: compute_score on the last 300 characters.

https://github.com/volcengine/verl/blob/b178a3cd/verl/utils/reward_score/gsm8k.py (= PyPI 0.9.1)
https://github.com/volcengine/verl/blob/b178a3cd/examples/data_preprocess/gsm8k.py
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from gradeschool.answers.search import ends, last_match, last_number_start
from gradeschool.completion import Decoding, Message, Prompt
from gradeschool.problem import Problem
from gradeschool.protocol import Protocol
from gradeschool.scorer import Scorer, ScorerFailure, verbatim
from gradeschool.verdict import Answer

SOURCE = "verl 0.9.1, verl/utils/reward_score/gsm8k.py"
CLIP = 300  # characters
ANSWER = re.compile(r"#### (\-?[0-9\.\,]+)")
NUMBER = re.compile(r"(\-?[0-9\.\,]+)")

# A prompt that defines the protocol, to the letter.
INSTRUCTION = 'Let\'s think step by step and output the final answer after "####".'


def read_strict(text: str, reference: str) -> Answer | None:
    """Read the last "#### N" of the last 300 characters; commas go, a trailing period stays."""
    match = last_match(ANSWER, text[-CLIP:])
    if match is None:
        return None
    number = match.group(1)
    return Answer(
        number, number.replace(",", ""), _span(match, text), "the last '#### N' near the end"
    )


def read_flexible(text: str, reference: str) -> Answer | None:
    """Read the last run of digits, periods and commas that is more than one period.

    Commas and a trailing period stay. Where every run is ".", the first of them is read.
    """
    match = _last_number(text[-CLIP:])
    if match is None:
        return None
    return Answer(match.group(), match.group(), _span(match, text), "the last number near the end")


def _last_number(end: str) -> re.Match[str] | None:
    for start in chain((last_number_start(end),), ends(end)):
        for match in reversed([*NUMBER.finditer(end, start)]):
            if match.group() != ".":
                return match
    return NUMBER.search(end)


def _span(match: re.Match[str], text: str) -> tuple[int, int]:
    offset = max(0, len(text) - CLIP)
    start, end = match.span(1)
    return offset + start, offset + end


def reference(problem: Problem) -> str:
    """Return the first "#### N" of the solution without commas, which upstream asserts."""
    match = ANSWER.search(problem.solution)
    if match is None:
        raise ScorerFailure("AssertionError: the solution has no '#### N'")
    return match.group(1).replace(",", "")


def prompts(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render the question and the instruction as one user message."""
    for problem in problems:
        yield Prompt(messages=(Message("user", f"{problem.question} {INSTRUCTION}"),))


STRICT = Scorer(
    name="verl/gsm8k/strict",
    summary="the last '#### N' of the last 300 characters, equal as a string",
    source=f"{SOURCE}, method strict",
    reference=reference,
    extract=read_strict,
    compare=verbatim,
)

FLEXIBLE = Scorer(
    name="verl/gsm8k/flexible",
    summary="the last number of the last 300 characters, commas and periods kept, as a string",
    source=f"{SOURCE}, method flexible",
    reference=reference,
    extract=read_flexible,
    compare=verbatim,
)

GSM8K = Protocol(
    name="verl/gsm8k",
    summary="zero-shot chat, the answer behind '####', greedy as in verl's validation, 512 tokens",
    source="verl 0.9.1: examples/data_preprocess/gsm8k.py; trainer/config (val_kwargs, data)",
    render=prompts,
    decoding=Decoding(temperature=0.0, top_p=1.0, max_tokens=512),
    scorers=("verl/gsm8k/strict", "verl/gsm8k/flexible"),
    is_chat=True,
)
