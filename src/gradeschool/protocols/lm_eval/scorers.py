"""The filters and the exact_match metric of lm-evaluation-harness.

https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/tasks/gsm8k/gsm8k.yaml
https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/filters/extraction.py
"""

from __future__ import annotations

import re

from gradeschool.answers.search import last_match_in_words
from gradeschool.problem import Problem
from gradeschool.scorer import Scorer, verbatim
from gradeschool.verdict import Answer

SOURCE = "EleutherAI/lm-evaluation-harness @ 4e7e0d47, lm_eval/tasks/gsm8k"
STRICT_PATTERN = re.compile(r"#### (\-?[0-9\.\,]+)")
FLEXIBLE_PATTERN = re.compile(r"(-?[$0-9.,]{2,})|(-?[0-9]+)")
# The last "." is not escaped upstream: it takes one more character, be it a digit of the answer.
COT_PATTERN = re.compile(r"The answer is (\-?[0-9\.\,]+).")


def cleaned(text: str) -> str:
    r"""Apply `regexes_to_ignore` ("," "\$" "(?s).*#### " "\.$") and ignore_case, in that order.

    Written without the third pattern, which is quadratic: it removes all up to the last "#### ".
    """
    text = text.replace(",", "").replace("$", "")
    text = text.rpartition("#### ")[2]
    if text.endswith("."):
        text = text[:-1]
    elif text.endswith(".\n"):
        text = text[:-2] + "\n"
    return text.lower()


def whole_answer(problem: Problem) -> str:
    """Return the reference as exact_match sees it when the target is the whole solution."""
    return cleaned(problem.solution)


def gold_alone(problem: Problem) -> str:
    """Return the reference as exact_match sees it when the target is the number alone."""
    return cleaned(problem.gold)


def _answer(found: re.Match[str], group: int, how: str) -> Answer:
    text = found.group(group).strip()
    return Answer(text, cleaned(text), found.span(group), how)


def read_strict(text: str, reference: str) -> Answer | None:
    """Read the first "#### N"."""
    found = STRICT_PATTERN.search(text)
    return None if found is None else _answer(found, 1, "the first '#### N'")


def read_flexible(text: str, reference: str) -> Answer | None:
    """Read the last number-like run: two or more of "$0-9.,", or digits."""
    found = last_match_in_words(FLEXIBLE_PATTERN, text)
    return None if found is None else _answer(found, 0, "the last number")


def read_cot(text: str, reference: str) -> Answer | None:
    """Read the first "The answer is N" and one more character."""
    found = COT_PATTERN.search(text)
    return None if found is None else _answer(found, 1, "the first 'The answer is N.'")


STRICT = Scorer(
    name="lm-eval/gsm8k/strict-match",
    summary="the first '#### N', exact_match",
    source=f"{SOURCE}/gsm8k.yaml, filter strict-match",
    reference=whole_answer,
    extract=read_strict,
    compare=verbatim,
)

FLEXIBLE = Scorer(
    name="lm-eval/gsm8k/flexible-extract",
    summary="the last number-like run, exact_match",
    source=f"{SOURCE}/gsm8k.yaml, filter flexible-extract",
    reference=whole_answer,
    extract=read_flexible,
    compare=verbatim,
)

COT_STRICT = Scorer(
    name="lm-eval/gsm8k-cot/strict-match",
    summary="the first 'The answer is N' and one more character, exact_match",
    source=f"{SOURCE}/gsm8k-cot.yaml, filter strict-match",
    reference=gold_alone,
    extract=read_cot,
    compare=verbatim,
)
