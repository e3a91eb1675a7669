"""Judges one text against one gold answer with one scorer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from numbers import Number
from typing import Any

from gradeschool.answers.golds import read_solution
from gradeschool.completion import completion_text
from gradeschool.errors import InputError, UnknownNameError
from gradeschool.problem import Problem
from gradeschool.protocols.registry import get_usable_scorer
from gradeschool.scorer import DEFAULT_SCORER, Scorer, clip
from gradeschool.verdict import Verdict


def judge(
    text: str | Sequence[Mapping[str, Any]],
    gold: str | float | Number | Problem | Mapping[str, Any] | None = None,
    scorer: str | Callable[..., Any] | Scorer = DEFAULT_SCORER,
) -> Verdict:
    """Return a scorer's verdict on one completion.

    text: the text, or the messages of a chat, of which the last of the assistant is read. gold: the
    number ("18", 18, "1,250"), the whole reference solution ("... #### 18"), a GSM8K row, whose
    question helps to tell units apart, or a Problem. scorer: a name from `gradeschool protocols
    list`, or a function of your own (`scoring.own_scorer`). Raises UnknownNameError for another
    name, MissingExtraError if its library is not installed, and InputError for an unusable gold,
    scorer or completion; never raises because of the content of a text.
    """
    given = text if isinstance(text, str) else text_of(text)
    if given is None:
        raise InputError(f"the completion is a {type(text).__name__}: {clip(repr(text))}; give its "
                         "text, a str, or messages with one of the assistant")  # fmt: skip
    if gold is None:
        raise InputError("there is no gold; give the right answer: a number or a solution")
    if not (isinstance(scorer, str | Scorer) or callable(scorer)):
        raise InputError(f"the scorer is {scorer!r}; give one name or function")
    if not isinstance(scorer, Scorer):
        is_known = isinstance(scorer, str) and ":" not in scorer
        scorer = usable_scorer(scorer) if is_known else _remembered_scorer(scorer)
    if not isinstance(gold, Problem):
        gold = problem_of(gold, expressions=bool(scorer.dataset))
    return scorer.judge(given, gold)


def text_of(completion: object) -> str | None:
    """Return a text, or that of a chat's last assistant message; None for anything else."""
    if isinstance(completion, list | tuple) and completion:
        is_chat = all(isinstance(turn, Mapping) for turn in completion)
        return completion_text(completion) if is_chat else None
    return completion if isinstance(completion, str) else None


def usable_scorer(scorer: str | Callable[..., Any]) -> Scorer:
    """Return the scorer of a name, or a function of the user by its name or itself.

    Raises UnknownNameError, MissingExtraError for a scorer whose library is not installed, and
    InputError for a function that cannot be called.
    """
    try:
        return get_usable_scorer(scorer if isinstance(scorer, str) else "")
    except UnknownNameError:
        from importlib.metadata import entry_points

        from gradeschool.scoring.own_scorer import own_scorer

        if not isinstance(scorer, str) or ":" in scorer:
            return own_scorer(scorer)
        for point in entry_points(group="gradeschool.scorers", name=scorer):
            return own_scorer(point.value, scorer)
        raise


_remembered_scorer = lru_cache(64)(usable_scorer)  # with the process of a function


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
