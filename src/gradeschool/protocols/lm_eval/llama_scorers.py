"""The filters of gsm8k_cot_llama and gsm8k_llama: "The final answer is N", its last occurrence.

https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/tasks/gsm8k/gsm8k-cot-llama.yaml
https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/tasks/llama3/instruct/gsm8k/gsm8k.yaml
"""

from __future__ import annotations

import re

from gradeschool.answers.search import last_match
from gradeschool.protocols.lm_eval.scorers import (
    SOURCE,
    cleaned,
    gold_alone,
    read_flexible,
)
from gradeschool.scorer import Scorer, verbatim
from gradeschool.verdict import Answer

LLAMA3_SOURCE = (
    "EleutherAI/lm-evaluation-harness @ 4e7e0d47, lm_eval/tasks/llama3/instruct/gsm8k/gsm8k.yaml"
)
COT_LLAMA_PATTERN = re.compile(r"The final answer is ((-?[$0-9.,]{2,})|(-?[0-9]+))")
LLAMA_PATTERN = re.compile(r"final answer is (\-?[0-9\.\,]+)")


def _read_last(pattern: re.Pattern[str], text: str, how: str) -> Answer | None:
    match = last_match(pattern, text)
    if match is None:
        return None
    return Answer(match.group(1), cleaned(match.group(1)), match.span(1), how)


def read_cot_llama(text: str, reference: str) -> Answer | None:
    """Read the last "The final answer is N"; "$" and periods belong to N."""
    return _read_last(COT_LLAMA_PATTERN, text, "the last 'The final answer is N'")


def read_llama(text: str, reference: str) -> Answer | None:
    """Read the last "final answer is N"; no "$" before N."""
    return _read_last(LLAMA_PATTERN, text, "the last 'final answer is N'")


COT_LLAMA_STRICT = Scorer(
    name="lm-eval/gsm8k-cot-llama/strict-match",
    summary="the last 'The final answer is N', exact_match",
    source=f"{SOURCE}/gsm8k-cot-llama.yaml, filter strict-match",
    reference=gold_alone,
    extract=read_cot_llama,
    compare=verbatim,
)

COT_LLAMA_FLEXIBLE = Scorer(
    name="lm-eval/gsm8k-cot-llama/flexible-extract",
    summary="the last number-like run, exact_match",
    source=f"{SOURCE}/gsm8k-cot-llama.yaml, filter flexible-extract",
    reference=gold_alone,
    extract=read_flexible,
    compare=verbatim,
)

LLAMA_STRICT = Scorer(
    name="lm-eval/gsm8k-llama/strict-match",
    summary="the last 'final answer is N' without a '$', exact_match",
    source=f"{LLAMA3_SOURCE}, filter strict_match",
    reference=gold_alone,
    extract=read_llama,
    compare=verbatim,
)

LLAMA_FLEXIBLE = Scorer(
    name="lm-eval/gsm8k-llama/flexible-extract",
    summary="the last number-like run, exact_match",
    source=f"{LLAMA3_SOURCE}, filter flexible_extract",
    reference=gold_alone,
    extract=read_flexible,
    compare=verbatim,
)
