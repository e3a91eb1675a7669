"""Judges one text against one gold answer with one scorer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from numbers import Number, Rational
from typing import Any

from gradeschool.answers.numbers import parse_decimal, plain
from gradeschool.errors import InputError
from gradeschool.problem import Problem
from gradeschool.protocols.registry import get_usable_scorer
from gradeschool.scorer import DEFAULT_SCORER, clip
from gradeschool.verdict import Verdict

DIGIT = re.compile(r"[0-9]")
POSITIVE = re.compile(r"\A\s*\+(?=\s?[\d.$])")  # of "+18", which scorers do not expect


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
    problem = gold if isinstance(gold, Problem) else problem_of(gold)
    return get_usable_scorer(scorer).judge(text, problem)


def gold_of(gold: object) -> tuple[str, str] | None:
    """Return a gold's text and the question of its row, "" without one; None if it is no gold.

    gold: a text, a number, a list with one of these, or a row with "answer" and perhaps "question".
    """
    question: object = ""
    if isinstance(gold, Mapping):
        question, gold = gold.get("question"), gold.get("answer")
    if isinstance(gold, list | tuple) and len(gold) == 1:
        gold = gold[0]
    text = gold if isinstance(gold, str) else _written(gold)
    if text is None:
        return None
    return POSITIVE.sub("", text, count=1), question if isinstance(question, str) else ""


def _written(number: object) -> str | None:
    """Write a number in full, exactly as it prints; None for other values and infinite ones."""
    if isinstance(number, bool) or not isinstance(number, Number):
        return None
    try:
        text = str(number)
    except ValueError:  # Python refuses to write integers of more than 4,300 digits
        return None
    if isinstance(number, Rational):
        return text
    decimal = parse_decimal(text)
    return None if decimal is None else plain(decimal)


def problem_of(gold: object) -> Problem:
    """Return the problem of a gold answer; raises InputError for a gold without a number."""
    if isinstance(gold, Mapping) and "answer" not in gold:
        raise InputError(f"the gold row has no 'answer', only {list(gold)}; give a GSM8K row")
    read = gold_of(gold)
    if read is None:
        raise InputError(f"the gold cannot be read: {_shown(gold)}; give a number or a solution")
    text, question = read
    if text.strip() and not DIGIT.search(text) and not any(char.isnumeric() for char in text):
        raise InputError(
            f"the gold {clip(text)!r} contains no number; give the number or a solution with it"
        )
    return replace(Problem.from_gold(text), question=question)


def _shown(gold: object) -> str:
    try:
        return clip(repr(gold))
    except ValueError:  # as in `_written`
        return "an integer too long to be written"
