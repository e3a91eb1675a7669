"""The filters of the chain-of-thought tasks: gsm8k_cot, its zero-shot form, self-consistency.

https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/tasks/gsm8k/gsm8k-cot-zeroshot.yaml
https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/tasks/gsm8k/gsm8k-cot-self-consistency.yaml
"""

from __future__ import annotations

import re

from gradeschool.protocols.lm_eval.scorers import (
    SOURCE,
    cleaned,
    gold_alone,
    read_cot,
    read_flexible,
    whole_answer,
)
from gradeschool.scorer import Scorer, verbatim
from gradeschool.verdict import Answer

# Unlike gsm8k_cot's pattern this one must end in a digit: "The answer is 18" at the end is read.
SELF_CONSISTENCY_PATTERN = re.compile(r"The answer is (\-?[0-9\.\,]*[0-9]+)")


def read_self_consistency(text: str, reference: str) -> Answer | None:
    """Read the first "The answer is N" up to its last digit."""
    match = SELF_CONSISTENCY_PATTERN.search(text)
    if match is None:
        return None
    number = match.group(1)
    return Answer(number, cleaned(number), match.span(1), "the first 'The answer is N'")


COT_FLEXIBLE = Scorer(
    name="lm-eval/gsm8k-cot/flexible-extract",
    summary="the last number-like run, exact_match against the number alone",
    source=f"{SOURCE}/gsm8k-cot.yaml, filter flexible-extract",
    reference=gold_alone,
    extract=read_flexible,
    compare=verbatim,
)

ZEROSHOT_STRICT = Scorer(
    name="lm-eval/gsm8k-cot-zeroshot/strict-match",
    summary="the first 'The answer is N' and one more character, exact_match",
    source=f"{SOURCE}/gsm8k-cot-zeroshot.yaml, filter strict-match",
    reference=whole_answer,
    extract=read_cot,
    compare=verbatim,
)

ZEROSHOT_FLEXIBLE = Scorer(
    name="lm-eval/gsm8k-cot-zeroshot/flexible-extract",
    summary="the last number-like run, exact_match",
    source=f"{SOURCE}/gsm8k-cot-zeroshot.yaml, filter flexible-extract",
    reference=whole_answer,
    extract=read_flexible,
    compare=verbatim,
)

SCORE_FIRST = Scorer(
    name="lm-eval/gsm8k-cot-self-consistency/score-first",
    summary="the first 'The answer is N' of the first sample, exact_match",
    source=f"{SOURCE}/gsm8k-cot-self-consistency.yaml, filter score-first",
    reference=gold_alone,
    extract=read_self_consistency,
    compare=verbatim,
)
