"""`zero-shot/chat` and `zero-shot/cot`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradeschool.completion import Decoding, Message, Prompt
from gradeschool.problem import Problem
from gradeschool.prompts.rendering import CHAT_SYSTEM
from gradeschool.protocol import Protocol

# Kojima et al. 2022, arXiv 2205.11916, section 3: the reasoning trigger.
TRIGGER = "Let's think step by step."


def chat_prompts(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render a system message that asks for '#### N', and the question."""
    for problem in problems:
        yield Prompt(messages=(Message("system", CHAT_SYSTEM), Message("user", problem.question)))


def cot_prompts(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    r"""Render "Q: ...\nA: Let's think step by step."."""
    for problem in problems:
        yield Prompt(text=f"Q: {problem.question}\nA: {TRIGGER}")


CHAT = Protocol(
    name="zero-shot/chat",
    summary="an instruction as system message, the question as user message, greedy",
    source="gradeschool's own wording; the scorer reads every usual form",
    render=chat_prompts,
    decoding=Decoding(temperature=0.0, max_tokens=1024),
    scorers=("gradeschool/reader",),
    is_chat=True,
)

COT = Protocol(
    name="zero-shot/cot",
    summary='Q/A with "Let\'s think step by step.", greedy',
    source="Kojima et al. 2022, arXiv 2205.11916 (first of its two stages)",
    render=cot_prompts,
    decoding=Decoding(temperature=0.0, max_tokens=512, stop=("Q:", "</s>", "<|im_end|>")),
    scorers=("gradeschool/reader",),
)

SCORERS = ()
PROTOCOLS = (CHAT, COT)
