"""Judges one text against one gold answer with one scorer."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Number
from typing import Any

from gradeschool.answers.golds import read_solution
from gradeschool.errors import InputError
from gradeschool.problem import Problem
from gradeschool.protocols.registry import get_usable_scorer
from gradeschool.scorer import DEFAULT_SCORER, clip
from gradeschool.verdict import Verdict


def judge(
    text: str,
    gold: str | float | Number | Problem | Mapping[str, Any] | None = None,
    scorer: str = DEFAULT_SCORER,
) -> Verdict:
    """Return a scorer's verdict on one completion.

    gold: the number ("18", 18, "1,250"), the whole reference solution ("... #### 18"), a GSM8K row,
    whose question helps to tell units apart, or a Problem. scorer: a name from `gradeschool
    protocols list`. Raises UnknownNameError for another scorer,
    MissingExtraError if its library is not installed, and InputError for an unusable gold or a text
    that is not a str; never raises because of the content of a text.
    """
    if not isinstance(text, str):
        raise InputError(
            f"the completion is a {type(text).__name__}: {clip(repr(text))}; give its text, a str"
        )
    if gold is None:
        raise InputError("there is no gold; give the right answer: a number or a solution")
    chosen = get_usable_scorer(scorer)
    if not isinstance(gold, Problem):
        gold = problem_of(gold, expressions=bool(chosen.dataset))
    return chosen.judge(text, gold)


def problem_of(gold: object, expressions: bool = False) -> Problem:
    """Return the problem of a gold: a number, a solution, or a row with "answer" and "question".

    expressions: see `answers.golds.read_gold`. Raises InputError for a gold that cannot be read.
    """
    question: object = ""
    if isinstance(gold, Mapping):
        if "answer" not in gold:
            raise InputError(f"the gold row has no 'answer', only {list(gold)}; give a GSM8K row")
        question, gold = gold.get("question"), gold["answer"]
    number, solution = read_solution(gold, expressions)
    return Problem("?", question if isinstance(question, str) else "", number, solution)
