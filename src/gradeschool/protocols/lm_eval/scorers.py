"""The filters and the exact_match metric of lm-evaluation-harness.

https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/tasks/gsm8k/gsm8k.yaml
https://github.com/EleutherAI/lm-evaluation-harness/blob/4e7e0d47f33bc71070c1d38394bafbb52b117163/lm_eval/filters/extraction.py
"""

from __future__ import annotations

import re

from gradeschool.answers.search import last_match_in_words
from gradeschool.problem import Problem
from gradeschool.scan import HAS_ANSWER, Scan, nothing
from gradeschool.scorer import HASHES_DECIDE, LAST_NUMBER_DECIDES, Claim, Scorer, always, verbatim
from gradeschool.verdict import Answer, Outcome

SOURCE = "EleutherAI/lm-evaluation-harness @ 4e7e0d47, lm_eval/tasks/gsm8k"
STRICT_PATTERN = re.compile(r"#### (\-?[0-9\.\,]+)")
FLEXIBLE_PATTERN = re.compile(r"(-?[$0-9.,]{2,})|(-?[0-9]+)")
# The last "." is not escaped upstream: it takes one more character, be it a digit of the answer.
COT_PATTERN = re.compile(r"The answer is (\-?[0-9\.\,]+).")


CORRECT, WRONG, NO_ANSWER = Outcome.CORRECT, Outcome.WRONG, Outcome.NO_ANSWER
ANNOUNCING, BY_LLAMA = "The answer is ", "final answer is"
WORD = re.compile(r"\S*\s?")


def announced(scan: Scan) -> str:
    """Return the word behind the only "The answer is", or all from the first announcement on."""
    text = scan.text
    start = text.find(ANNOUNCING)
    if BY_LLAMA in text:
        final = max(text.find(BY_LLAMA) - len("The "), 0)
        return text[final if start < 0 else min(start, final) :]
    if start < 0 or text.find(ANNOUNCING, start + 1) >= 0:
        return "" if start < 0 else text[start:]
    word = WORD.match(text, start + len(ANNOUNCING))
    return text[start : word.end()] if word else text[start:]


ANNOUNCED_DECIDES = (
    Claim(nothing, always, unless=HAS_ANSWER),
    Claim(announced, always, needs=HAS_ANSWER),
)


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


def strict_at_once(text: str, reference: str) -> Outcome:
    """Return the outcome of the strict filter without the answer."""
    found = STRICT_PATTERN.search(text)
    if found is None:
        return NO_ANSWER
    # Of what `cleaned` removes, the pattern matches commas and a last period alone.
    number = found[1].replace(",", "").removesuffix(".")
    return CORRECT if number == reference else WRONG


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
    read=read_strict,
    same=verbatim,
    claims=HASHES_DECIDE,
    at_once=strict_at_once,
)

FLEXIBLE = Scorer(
    name="lm-eval/gsm8k/flexible-extract",
    summary="the last number-like run, exact_match",
    source=f"{SOURCE}/gsm8k.yaml, filter flexible-extract",
    reference=whole_answer,
    read=read_flexible,
    same=verbatim,
    claims=LAST_NUMBER_DECIDES,
)

COT_STRICT = Scorer(
    name="lm-eval/gsm8k-cot/strict-match",
    summary="the first 'The answer is N' and one more character, exact_match",
    source=f"{SOURCE}/gsm8k-cot.yaml, filter strict-match",
    reference=gold_alone,
    read=read_cot,
    same=verbatim,
    claims=ANNOUNCED_DECIDES,
)
