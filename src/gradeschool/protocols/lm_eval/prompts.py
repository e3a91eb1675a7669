"""The prompts of lm-evaluation-harness in their plain form, for a completion endpoint."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from gradeschool.completion import Decoding, Prompt
from gradeschool.problem import Problem
from gradeschool.prompts.rendering import rationale, shots_as_text
from gradeschool.protocol import Protocol
from gradeschool.protocols.lm_eval.scorers import SOURCE

# Default `fewshot_seed`. One generator a task, and for each document in turn a new draw from it:
# https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/api/samplers.py
SEED = 1234
# The default of max_gen_toks where a task sets none; it cuts long reasoning.
MAX_TOKENS = 256


def gsm8k_prompts(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    r"""Render 5 shots drawn anew for each problem, then "Question: ...\nAnswer:".

    The draw depends on how many problems came before: a run over a prefix sees the same prompts, a
    run over other problems or in another order does not.
    """
    stream = random.Random(SEED)  # noqa: S311  (reproduces a published draw)
    for problem in problems:
        drawn = stream.sample(range(len(shots)), 5)
        examples = [(f"Question: {shots[i].question}\nAnswer:", shots[i].solution) for i in drawn]
        yield Prompt(text=shots_as_text(examples, f"Question: {problem.question}\nAnswer:"))


def cot_prompts(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    r"""Render the 8 exemplars of Wei et al. 2022, then "Q: ...\nA:"."""
    examples = [
        (f"Q: {shot.question}\nA:", f"{rationale(shot)} The answer is {shot.gold}.")
        for shot in shots
    ]
    for problem in problems:
        yield Prompt(text=shots_as_text(examples, f"Q: {problem.question}\nA:"))


GSM8K = Protocol(
    name="lm-eval/gsm8k",
    summary="5 shots drawn for each problem, Question/Answer, greedy, 256 tokens",
    source=f"{SOURCE}/gsm8k.yaml (version 3.0; lm-eval 0.4.2 to 0.4.13)",
    render=gsm8k_prompts,
    decoding=Decoding(
        temperature=0.0, max_tokens=MAX_TOKENS, stop=("Question:", "</s>", "<|im_end|>")
    ),
    scorers=("lm-eval/gsm8k/strict-match", "lm-eval/gsm8k/flexible-extract"),
    shots="gsm8k:train",
    shot_count=5,
)

GSM8K_COT = Protocol(
    name="lm-eval/gsm8k-cot",
    summary="the 8 chain-of-thought exemplars of Wei et al., Q/A, greedy, 256 tokens",
    source=f"{SOURCE}/gsm8k-cot.yaml (version 3.0; lm-eval 0.4.2 to 0.4.13)",
    render=cot_prompts,
    decoding=Decoding(temperature=0.0, max_tokens=MAX_TOKENS, stop=("Q:", "</s>", "<|im_end|>")),
    scorers=("lm-eval/gsm8k-cot/strict-match", "lm-eval/gsm8k-cot/flexible-extract"),
    shots="wei2022",
    shot_count=8,
)
