"""`inspect/gsm8k`: ten shots in one system message, the answer on a last line "ANSWER: N".

inspect_evals 0.26.0, src/inspect_evals/gsm8k/gsm8k.py (task version 2-A).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradeschool.completion import Decoding, Message, Prompt
from gradeschool.problem import Problem
from gradeschool.protocol import Protocol

# `Dataset.shuffle(seed=42)` of the train split, first ten:
# numpy.random.default_rng(42).permutation(7473)[:10].
SHOT_ROWS = (3082, 2184, 5897, 2437, 6330, 819, 3812, 5878, 5302, 5876)
# A prompt that defines the protocol, to the letter.
TEMPLATE = (
    "Solve the following math problem step by step. The last line of your response should be of "
    'the form "ANSWER: $ANSWER" (without quotes) where $ANSWER is the answer to the problem.\n\n'
    "{question}\n\n"
    'Remember to put your answer on its own line at the end in the form "ANSWER: $ANSWER" '
    "(without quotes) where $ANSWER is the answer to the problem, and you do not need to use a "
    "\\boxed command.\n\nReasoning:"
)


def prompts(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render the shots as one system message and the template as the user message."""
    examples = "\n\n".join(_example(shots[row]) for row in SHOT_ROWS)
    for problem in problems:
        question = TEMPLATE.replace("{question}", problem.question)
        yield Prompt(messages=(Message("system", examples), Message("user", question)))


def _example(shot: Problem) -> str:
    reasoning = shot.solution.rpartition("####")[0].strip()
    return f"{shot.question}\n\nReasoning:\n{reasoning}\n\nANSWER: {shot.gold}"


GSM8K = Protocol(
    name="inspect/gsm8k",
    summary="10 shots in the system message, 'ANSWER: N' on the last line, the provider's decoding",
    source="inspect-evals 0.26.0, src/inspect_evals/gsm8k/gsm8k.py",
    render=prompts,
    # The task sets nothing: temperature, nucleus and length are the provider's defaults.
    decoding=Decoding(temperature=None, top_p=None, max_tokens=None),
    rules=("inspect/match-numeric@>=0.3.253",),
    shots="gsm8k:train",
    shot_count=10,
    is_chat=True,
)
