"""Filters for lm-evaluation-harness: `!function filters.reader` after `function: custom`.

Written against lm-eval 0.4.13 (lm_eval/filters/custom.py): a filter gets the responses of every
document and returns one text for each. It needs no `take_first` after it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gradeschool.problem import Problem
from gradeschool.protocols.registry import get_usable_scorer
from gradeschool.scorer import DEFAULT_SCORER

INVALID = "[invalid]"  # lm-eval's name for no answer
Responses = Sequence[Sequence[str]]
Documents = Sequence[Mapping[str, str]]


def reader(resps: Responses, docs: Documents) -> list[str]:
    """Return the extracted answer of each document's first response."""
    return _read(DEFAULT_SCORER, resps, docs)


def numeric_equality(resps: Responses, docs: Documents) -> list[str]:
    """Return the number after "ANSWER:", else the last number, of each first response."""
    return _read("numeric-equality", resps, docs)


def _read(scorer_name: str, resps: Responses, docs: Documents) -> list[str]:
    """Return a scorer's extracted answers, or the gold if its verdict is correct ("18.0", "18").

    This makes lm-eval's exact_match equal to the scorer's verdict.
    """
    scorer = get_usable_scorer(scorer_name)
    answers = []
    for responses, doc in zip(resps, docs, strict=True):
        problem = Problem.from_row("?", doc["question"], doc["answer"])
        verdict = scorer.judge(responses[0], problem)
        if verdict.correct:
            answers.append(problem.gold)
        else:
            answers.append(verdict.answer.value if verdict.answer else INVALID)
    return answers
