"""The chat forms that --apply_chat_template gives to a task.

`+chat`: one user message, the whole plain prompt. `+multiturn` (--fewshot_as_multiturn): each shot
is a user turn and an assistant turn, without the delimiters of the plain prompt.
https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/api/task.py
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from gradeschool.completion import Message, Prompt
from gradeschool.problem import Problem
from gradeschool.prompts.rendering import rationale, shots_as_turns
from gradeschool.protocol import Protocol, Render
from gradeschool.protocols.lm_eval.cot_prompts import COT_SELF_CONSISTENCY, COT_ZEROSHOT
from gradeschool.protocols.lm_eval.llama_prompts import (
    COT_LLAMA,
    LLAMA,
    cot_llama_turns,
    llama_turns,
)
from gradeschool.protocols.lm_eval.prompts import GSM8K, GSM8K_COT, SEED


def gsm8k_turns(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render the 5 shots that the plain form draws, as turns."""
    stream = random.Random(SEED)  # noqa: S311  (reproduces a published draw)
    for problem in problems:
        drawn = stream.sample(range(len(shots)), GSM8K.shot_count)
        examples = [(f"Question: {shots[i].question}\nAnswer:", shots[i].solution) for i in drawn]
        yield Prompt(messages=shots_as_turns(examples, f"Question: {problem.question}\nAnswer:"))


def cot_turns(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render the 8 exemplars of Wei et al. 2022 as turns."""
    examples = [
        (f"Q: {shot.question}\nA:", f"{rationale(shot)} The answer is {shot.gold}.")
        for shot in shots
    ]
    for problem in problems:
        yield Prompt(messages=shots_as_turns(examples, f"Q: {problem.question}\nA:"))


def one_message(plain: Protocol) -> Protocol:
    """Return the `+chat` form of a plain protocol."""

    def prompts(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
        for prompt in plain.render(problems, shots):
            yield Prompt(messages=(Message("user", prompt.text or ""),))

    return replace(
        plain,
        name=f"{plain.name}+chat",
        summary=f"as one user message: {plain.summary}",
        render=prompts,
        is_chat=True,
    )


def multiturn(plain: Protocol, turns: Render) -> Protocol:
    """Return the `+multiturn` form of a plain protocol."""
    return replace(
        plain,
        name=f"{plain.name}+multiturn",
        summary=f"shots as chat turns: {plain.summary}",
        render=turns,
        is_chat=True,
    )


CHAT_FORMS = tuple(
    one_message(plain)
    for plain in (GSM8K, GSM8K_COT, COT_ZEROSHOT, COT_SELF_CONSISTENCY, COT_LLAMA, LLAMA)
)
MULTITURN_FORMS = (
    multiturn(GSM8K, gsm8k_turns),
    multiturn(GSM8K_COT, cot_turns),
    multiturn(COT_SELF_CONSISTENCY, cot_turns),
    multiturn(COT_LLAMA, cot_llama_turns),
    multiturn(LLAMA, llama_turns),
)
