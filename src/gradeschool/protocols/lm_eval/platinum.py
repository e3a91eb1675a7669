"""The gsm8k_platinum tasks of lm-eval 0.4.13: the prompts and filters of gsm8k on other labels.

https://pypi.org/project/lm-eval/0.4.13, lm_eval/tasks/gsm8k_platinum. Their filters are those of
the gsm8k tasks to the letter and so have no names of their own.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from gradeschool.completion import Prompt
from gradeschool.problem import Problem
from gradeschool.prompts.rendering import shots_as_text, shots_as_turns
from gradeschool.protocol import Protocol
from gradeschool.protocols.lm_eval.chat import cot_turns, multiturn, one_message
from gradeschool.protocols.lm_eval.cot_prompts import COT_SELF_CONSISTENCY, COT_ZEROSHOT
from gradeschool.protocols.lm_eval.llama_prompts import (
    COT_LLAMA,
    cot_llama_spaced_prompts,
    cot_llama_turns,
)
from gradeschool.protocols.lm_eval.prompts import GSM8K, GSM8K_COT, SEED

SOURCE = "lm-eval 0.4.13 (PyPI), lm_eval/tasks/gsm8k_platinum"
DATASET = "gsm8k-platinum"


def _drawn(
    problems: Sequence[Problem], shots: Sequence[Problem]
) -> Iterator[tuple[list[tuple[str, str]], str]]:
    """Yield 5 shots and the question of each problem; both are rows of the test split.

    Six are drawn, the problem itself goes if it is among them, the first five stay.
    """
    stream = random.Random(SEED)  # noqa: S311  (reproduces a published draw)
    for problem in problems:
        drawn = [shots[i] for i in stream.sample(range(len(shots)), GSM8K.shot_count + 1)]
        others = [shot for shot in drawn if shot.id != problem.id][: GSM8K.shot_count]
        examples = [(f"Question: {shot.question}\nAnswer:", shot.solution) for shot in others]
        yield examples, f"Question: {problem.question}\nAnswer:"


def prompts(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render 5 shots drawn anew for each problem out of the test split, as one text."""
    for examples, question in _drawn(problems, shots):
        yield Prompt(text=shots_as_text(examples, question))


def turns(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render the same shots as turns."""
    for examples, question in _drawn(problems, shots):
        yield Prompt(messages=shots_as_turns(examples, question))


def _relabelled(plain: Protocol, name: str) -> Protocol:
    """Return a task of gsm8k on the labels of Platinum."""
    return replace(
        plain,
        name=f"lm-eval/gsm8k-platinum{name}",
        summary=f"on GSM8K-Platinum: {plain.summary}",
        source=f"{SOURCE}/gsm8k-platinum{name}.yaml",
        dataset=DATASET,
    )


PLATINUM = replace(
    _relabelled(GSM8K, ""),
    summary="on GSM8K-Platinum: 5 shots drawn for each problem from the test split itself",
    render=prompts,
    shots=DATASET,
)
PLATINUM_COT = _relabelled(GSM8K_COT, "-cot")
PLATINUM_ZEROSHOT = _relabelled(COT_ZEROSHOT, "-cot-zeroshot")
PLATINUM_SELF_CONSISTENCY = _relabelled(COT_SELF_CONSISTENCY, "-cot-self-consistency")
# Still version 3.0 of the task: a space stands before each answer of a shot.
PLATINUM_LLAMA = replace(_relabelled(COT_LLAMA, "-cot-llama"), render=cot_llama_spaced_prompts)

PLATINUM_TASKS = (
    PLATINUM,
    PLATINUM_COT,
    PLATINUM_ZEROSHOT,
    PLATINUM_SELF_CONSISTENCY,
    PLATINUM_LLAMA,
)
PLATINUM_FORMS = (
    *PLATINUM_TASKS,
    *map(one_message, PLATINUM_TASKS),
    multiturn(PLATINUM, turns),
    multiturn(PLATINUM_COT, cot_turns),
    multiturn(PLATINUM_SELF_CONSISTENCY, cot_turns),
    multiturn(PLATINUM_LLAMA, cot_llama_turns),
)
