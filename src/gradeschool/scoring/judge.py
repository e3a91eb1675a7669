"""Judges one text against one gold answer with one scorer."""

from __future__ import annotations

import re
from collections.abc import Mapping

from gradeschool.errors import InputError
from gradeschool.problem import Problem
from gradeschool.protocols.registry import get_usable_scorer
from gradeschool.scorer import DEFAULT_SCORER, clip
from gradeschool.verdict import Verdict

DIGIT = re.compile(r"[0-9]")


def judge(
    text: str,
    gold: str | int | Problem | Mapping[str, str] | None = None,
    scorer: str = DEFAULT_SCORER,
    *,
    rule: str = "",
) -> Verdict:
    """Return a scorer's verdict on one completion.

    gold: the number ("18", 18, "1,250"), the whole reference solution ("... #### 18"), a GSM8K row
    or a Problem. scorer: a name from `gradeschool protocols list`; rule: its old name, until 0.2.0.
    Raises UnknownNameError for another scorer, MissingExtraError if its library is not installed,
    and InputError for an unusable gold or a text that is not a str; never raises because of the
    content of a text.
    """
    if rule:
        import warnings  # no other code here needs it

        warnings.warn("rule= is now scorer=", DeprecationWarning, stacklevel=2)
        scorer = rule
    if not isinstance(text, str):
        raise InputError(
            f"the completion is a {type(text).__name__}: {clip(repr(text))}; give its text, a str"
        )
    if gold is None:
        raise InputError("there is no gold; give the right answer: a number or a solution")
    problem = gold if isinstance(gold, Problem) else problem_of(gold)
    return get_usable_scorer(scorer).judge(text, problem)


def problem_of(gold: str | int | Mapping[str, str]) -> Problem:
    """Return the problem of a gold answer; raises InputError for a gold without a number."""
    if isinstance(gold, Mapping):
        if not isinstance(gold.get("answer"), str):
            raise InputError(f"the gold row has no 'answer', only {list(gold)}; give a GSM8K row")
        gold = gold["answer"]
    try:
        text = str(gold)
    except ValueError as error:  # Python refuses to write integers of more than 4,300 digits
        raise InputError(
            "the gold is an integer too long to be written; give it as text"
        ) from error
    if text.strip() and not DIGIT.search(text) and not any(char.isnumeric() for char in text):
        raise InputError(
            f"the gold {clip(text)!r} contains no number; give the number or a solution with it"
        )
    return Problem.from_gold(text)
