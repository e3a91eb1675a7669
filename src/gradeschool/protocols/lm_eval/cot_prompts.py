"""`lm-eval/gsm8k-cot-zeroshot` and `lm-eval/gsm8k-cot-self-consistency`, plain form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradeschool.completion import Decoding, Prompt
from gradeschool.problem import Problem
from gradeschool.protocol import Protocol
from gradeschool.protocols.lm_eval.prompts import MAX_TOKENS, cot_prompts
from gradeschool.protocols.lm_eval.scorers import SOURCE


def zeroshot_prompts(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
    """Render the question and "Let's think step by step."."""
    for problem in problems:
        yield Prompt(text=f"Q: {problem.question}\nA: Let's think step by step.")


COT_ZEROSHOT = Protocol(
    name="lm-eval/gsm8k-cot-zeroshot",
    summary='Q/A with "Let\'s think step by step.", greedy, 256 tokens',
    source=f"{SOURCE}/gsm8k-cot-zeroshot.yaml (version 3.0; lm-eval 0.4.2 to 0.4.13)",
    render=zeroshot_prompts,
    decoding=Decoding(temperature=0.0, max_tokens=MAX_TOKENS, stop=("Q:", "</s>", "<|im_end|>")),
    scorers=(
        "lm-eval/gsm8k-cot-zeroshot/strict-match",
        "lm-eval/gsm8k-cot-zeroshot/flexible-extract",
    ),
)

COT_SELF_CONSISTENCY = Protocol(
    name="lm-eval/gsm8k-cot-self-consistency",
    summary="the prompt of gsm8k-cot, 64 samples at temperature 0.2, 256 tokens",
    source=f"{SOURCE}/gsm8k-cot-self-consistency.yaml (version 2.0)",
    render=cot_prompts,
    decoding=Decoding(temperature=0.2, max_tokens=MAX_TOKENS, stop=("Q:", "\n\n")),
    scorers=("lm-eval/gsm8k-cot-self-consistency/score-first",),
    shots="wei2022",
    shot_count=8,
    samples=64,
    votes=(
        "lm-eval/gsm8k-cot-self-consistency/maj@64",
        "lm-eval/gsm8k-cot-self-consistency/maj@8",
    ),
)
