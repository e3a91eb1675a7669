"""The scorers and votes of lm-evaluation-harness's GSM8K tasks.

The filters and the exact_match metric of lm-evaluation-harness.

https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/tasks/gsm8k/gsm8k.yaml
https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/filters/extraction.py

The filters of the chain-of-thought tasks: gsm8k_cot, its zero-shot form, self-consistency.

https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/tasks/gsm8k/gsm8k-cot-zeroshot.yaml
https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/tasks/gsm8k/gsm8k-cot-self-consistency.yaml

The filters of gsm8k_cot_llama and gsm8k_llama: "The final answer is N", its last occurrence.

https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/tasks/gsm8k/gsm8k-cot-llama.yaml
https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/tasks/llama3/instruct/gsm8k/gsm8k.yaml

The majority votes of gsm8k_cot_self_consistency: maj@8 and maj@64.

https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/filters/selection.py
https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/tasks/gsm8k/gsm8k-cot-self-consistency.yaml
"""

from __future__ import annotations

import re

from gradeschool.answers.extractions import HASH, MARKED, last_number
from gradeschool.answers.search import last_match_behind, mentions_answer
from gradeschool.problem import Problem
from gradeschool.scorer import Scorer, verbatim
from gradeschool.verdict import Answer
from gradeschool.vote import Vote

SOURCE = "EleutherAI/lm-evaluation-harness @ 4e7e0d47, lm_eval/tasks/gsm8k"
FLEXIBLE_PATTERN = re.compile(r"(-?[$0-9.,]{2,})|(-?[0-9]+)")
# The last "." is not escaped upstream: it takes one more character, which may be a digit.
COT_PATTERN = re.compile(r"The answer is (\-?[0-9\.\,]+).")


def cleaned(text: str) -> str:
    r"""Apply `regexes_to_ignore` ("," "\$" "(?s).*#### " "\.$") and ignore_case, in that order.

    Written without the third pattern, which is quadratic: it removes everything to the last "####
    ".
    """
    text = text.replace(",", "").replace("$", "")
    text = text.rpartition("#### ")[2]
    if text.endswith("."):
        text = text[:-1]
    elif text.endswith(".\n"):
        text = text[:-2] + "\n"
    return text.lower()


def whole_answer(problem: Problem) -> str:
    """Return the reference as exact_match sees it if the target is the whole solution."""
    return cleaned(problem.solution)


def gold_alone(problem: Problem) -> str:
    """Return the reference as exact_match sees it if the target is only the number."""
    return cleaned(problem.gold)


def _first(pattern: re.Pattern[str], text: str, how: str) -> Answer | None:
    match = pattern.search(text)
    return None if match is None else Answer(match[1], cleaned(match[1]), match.span(1), how)


def extract_strict(text: str, reference: str) -> Answer | None:
    """Extract the first "#### N"."""
    return _first(MARKED, text, "the first '#### N'") if HASH in text else None


extract_flexible = last_number(FLEXIBLE_PATTERN, clean=cleaned)


def extract_cot(text: str, reference: str) -> Answer | None:
    """Extract the first "The answer is N" and one more character."""
    if not mentions_answer(text):
        return None
    return _first(COT_PATTERN, text, "the first 'The answer is N.'")


STRICT = Scorer(
    name="lm-eval/gsm8k/strict-match",
    summary="the first '#### N', exact_match",
    source=f"{SOURCE}/gsm8k.yaml, filter strict-match",
    reference=whole_answer,
    extract=extract_strict,
    compare=verbatim,
)

FLEXIBLE = Scorer(
    name="lm-eval/gsm8k/flexible-extract",
    summary="the last number-like run, exact_match",
    source=f"{SOURCE}/gsm8k.yaml, filter flexible-extract",
    reference=whole_answer,
    extract=extract_flexible,
    compare=verbatim,
)

COT_STRICT = Scorer(
    name="lm-eval/gsm8k-cot/strict-match",
    summary="the first 'The answer is N' and one more character, exact_match",
    source=f"{SOURCE}/gsm8k-cot.yaml, filter strict-match",
    reference=gold_alone,
    extract=extract_cot,
    compare=verbatim,
)


# Unlike gsm8k_cot's, this pattern must end in a digit: it matches "The answer is 18" at the end.
SELF_CONSISTENCY_PATTERN = re.compile(r"The answer is (\-?[0-9\.\,]*[0-9]+)")


def extract_self_consistency(text: str, reference: str) -> Answer | None:
    """Extract the first "The answer is N" up to its last digit."""
    if not mentions_answer(text):
        return None
    return _first(SELF_CONSISTENCY_PATTERN, text, "the first 'The answer is N'")


COT_FLEXIBLE = Scorer(
    name="lm-eval/gsm8k-cot/flexible-extract",
    summary="the last number-like run, exact_match against the number alone",
    source=f"{SOURCE}/gsm8k-cot.yaml, filter flexible-extract",
    reference=gold_alone,
    extract=extract_flexible,
    compare=verbatim,
)

ZEROSHOT_STRICT = Scorer(
    name="lm-eval/gsm8k-cot-zeroshot/strict-match",
    summary="the first 'The answer is N' and one more character, exact_match",
    source=f"{SOURCE}/gsm8k-cot-zeroshot.yaml, filter strict-match",
    reference=whole_answer,
    extract=extract_cot,
    compare=verbatim,
)

ZEROSHOT_FLEXIBLE = Scorer(
    name="lm-eval/gsm8k-cot-zeroshot/flexible-extract",
    summary="the last number-like run, exact_match",
    source=f"{SOURCE}/gsm8k-cot-zeroshot.yaml, filter flexible-extract",
    reference=whole_answer,
    extract=extract_flexible,
    compare=verbatim,
)

SCORE_FIRST = Scorer(
    name="lm-eval/gsm8k-cot-self-consistency/score-first",
    summary="the first 'The answer is N' of the first sample, exact_match",
    source=f"{SOURCE}/gsm8k-cot-self-consistency.yaml, filter score-first",
    reference=gold_alone,
    extract=extract_self_consistency,
    compare=verbatim,
)


LLAMA3_SOURCE = (
    "EleutherAI/lm-evaluation-harness @ 4e7e0d47, lm_eval/tasks/llama3/instruct/gsm8k/gsm8k.yaml"
)
THE_FINAL_ANSWER_IS = "The final answer is "
FINAL_ANSWER_IS = "final answer is "
COT_LLAMA_PATTERN = re.compile(r"The final answer is ((-?[$0-9.,]{2,})|(-?[0-9]+))")
LLAMA_PATTERN = re.compile(r"final answer is (\-?[0-9\.\,]+)")


def _last(pattern: re.Pattern[str], literal: str, text: str, how: str) -> Answer | None:
    match = last_match_behind(literal, pattern, text) if mentions_answer(text) else None
    return None if match is None else Answer(match[1], cleaned(match[1]), match.span(1), how)


def extract_cot_llama(text: str, reference: str) -> Answer | None:
    """Extract the last "The final answer is N"; "$" and periods belong to N."""
    return _last(COT_LLAMA_PATTERN, THE_FINAL_ANSWER_IS, text, "the last 'The final answer is N'")


def extract_llama(text: str, reference: str) -> Answer | None:
    """Extract the last "final answer is N"; no "$" before N."""
    return _last(LLAMA_PATTERN, FINAL_ANSWER_IS, text, "the last 'final answer is N'")


COT_LLAMA_STRICT = Scorer(
    name="lm-eval/gsm8k-cot-llama/strict-match",
    summary="the last 'The final answer is N', exact_match",
    source=f"{SOURCE}/gsm8k-cot-llama.yaml, filter strict-match",
    reference=gold_alone,
    extract=extract_cot_llama,
    compare=verbatim,
)

COT_LLAMA_FLEXIBLE = Scorer(
    name="lm-eval/gsm8k-cot-llama/flexible-extract",
    summary="the last number-like run, exact_match",
    source=f"{SOURCE}/gsm8k-cot-llama.yaml, filter flexible-extract",
    reference=gold_alone,
    extract=extract_flexible,
    compare=verbatim,
)

LLAMA_STRICT = Scorer(
    name="lm-eval/gsm8k-llama/strict-match",
    summary="the last 'final answer is N' without a '$', exact_match",
    source=f"{LLAMA3_SOURCE}, filter strict_match",
    reference=gold_alone,
    extract=extract_llama,
    compare=verbatim,
)

LLAMA_FLEXIBLE = Scorer(
    name="lm-eval/gsm8k-llama/flexible-extract",
    summary="the last number-like run, exact_match",
    source=f"{LLAMA3_SOURCE}, filter flexible_extract",
    reference=gold_alone,
    extract=extract_flexible,
    compare=verbatim,
)


# The regex filter's result for a text without an answer; it is counted like an answer.
INVALID = "[invalid]"


def ballot(text: str) -> str:
    """Return the number as it is written: "1,000" and "1000" are two candidates."""
    answer = extract_self_consistency(text, "")
    return INVALID if answer is None else answer.text


def compare_winner(winner: str, reference: str) -> bool:
    """Compare the winner by exact_match."""
    return cleaned(winner) == reference


def _majority(voters: int, chain: str) -> Vote:
    return Vote(
        name=f"lm-eval/gsm8k-cot-self-consistency/maj@{voters}",
        summary=f"the most frequent 'The answer is N' of {voters} samples, '[invalid]' among them",
        source=f"{SOURCE}/gsm8k-cot-self-consistency.yaml, filter maj@{voters}: {chain}",
        voters=voters,
        ballot=ballot,
        nothing=INVALID,
        reference=gold_alone,
        compare=compare_winner,
    )


MAJ_64 = _majority(64, "regex, majority_vote over all repeats")
MAJ_8 = _majority(8, "take_first_k 8, regex, majority_vote")
