r"""The prompts of verifiers' two GSM8K environments.

https://github.com/PrimeIntellect-ai/verifiers: a60a606e, environments/gsm8k/gsm8k/taskset.py; PyPI
0.3.0, verifiers/utils/data_utils.py (BOXED_SYSTEM_PROMPT). Both leave the decoding to the caller.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradeschool.completion import Decoding, Message, Prompt
from gradeschool.problem import Problem
from gradeschool.protocol import Protocol

# Prompts that define the protocols, to the letter.
INSTRUCTION = (
    "Solve the grade-school math problem. Reason step by step, then give the final "
    "answer as a single number on the last line, prefixed with '#### ' (e.g. '#### 42')."
)
BOXED_SYSTEM = "Please reason step by step, and put your final answer within \\boxed{}."
SERVERS_OWN = Decoding(temperature=None, top_p=None, max_tokens=None)


def v1_prompts(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render the instruction and the question as one user message."""
    for problem in problems:
        yield Prompt(messages=(Message("user", f"{INSTRUCTION}\n\n{problem.question}"),))


def legacy_prompts(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render the system message that asks for a box, and the question."""
    for problem in problems:
        yield Prompt(messages=(Message("system", BOXED_SYSTEM), Message("user", problem.question)))


V1 = Protocol(
    name="verifiers/gsm8k-v1",
    summary="zero-shot, one user message asks for '#### N' on the last line",
    source="PrimeIntellect-ai/verifiers @ a60a606e, environments/gsm8k/gsm8k/taskset.py",
    render=v1_prompts,
    decoding=SERVERS_OWN,
    scorers=("verifiers/gsm8k-v1",),
    is_chat=True,
)

LEGACY = Protocol(
    name="verifiers/gsm8k@<=0.3.0",
    summary="zero-shot, a system message asks for a box",
    source="verifiers 0.3.0, environment gsm8k; verifiers/utils/data_utils.py",
    render=legacy_prompts,
    decoding=SERVERS_OWN,
    scorers=("verifiers/math-rubric",),
    is_chat=True,
)
