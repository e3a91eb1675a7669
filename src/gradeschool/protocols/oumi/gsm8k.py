"""`oumi/gsm8k`: gsm8k_reward with its default method "strict".

https://pypi.org/project/oumi/0.9, oumi/datasets/grpo/rewards/gsm8k_reward.py and ../gsm8k.py
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gradeschool.answers.search import last_match
from gradeschool.completion import Decoding, Message, Prompt
from gradeschool.problem import Problem
from gradeschool.protocol import Protocol
from gradeschool.scorer import Scorer, ScorerFailure, verbatim
from gradeschool.verdict import Answer

SOURCE = "oumi 0.9, oumi/datasets/grpo"
ANSWER = re.compile(r"#### (\-?[0-9\.\,]+)")
# A prompt that defines the protocol, to the letter.
INSTRUCTION = 'Let\'s think step by step and output the final answer after "####".'


def read(text: str, reference: str) -> Answer | None:
    """Read the last "#### N"; commas go, a trailing period stays."""
    match = last_match(ANSWER, text)
    if match is None:
        return None
    number = match.group(1)
    return Answer(number, number.replace(",", ""), match.span(1), "the last '#### N'")


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


GSM8K_REWARD = Scorer(
    name="oumi/gsm8k",
    summary="the last '#### N', equal as a string (a training reward)",
    source=f"{SOURCE}/rewards/gsm8k_reward.py",
    reference=reference,
    extract=read,
    compare=verbatim,
)

GSM8K = Protocol(
    name="oumi/gsm8k",
    summary="zero-shot chat, the answer behind '####'; the recipe's prompt, the server's decoding",
    source=f"{SOURCE}/gsm8k.py",
    render=prompts,
    # A training recipe: nothing is defined for evaluation.
    decoding=Decoding(temperature=None, top_p=None, max_tokens=None),
    scorers=("oumi/gsm8k",),
    is_chat=True,
)
