"""One text, one gold answer, one scorer."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from gradeschool.errors import InputError
from gradeschool.problem import Problem
from gradeschool.protocols.registry import get_usable_scorer
from gradeschool.scorer import clip
from gradeschool.verdict import Verdict

DEFAULT_SCORER = "gradeschool/reader"


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
    Raises UnknownNameError for another scorer, MissingExtraError for one that calls a library that
    is not installed, and InputError for a gold that is none or a text that is no str; never raises
    because of what a text says.
    """
    if rule:
        import warnings  # no other use needs it

        warnings.warn("rule= is now scorer=", DeprecationWarning, stacklevel=2)
        scorer = rule
    if not isinstance(text, str):
        raise InputError(
            f"the completion is a {type(text).__name__}: {clip(repr(text))}; give its text, a str"
        )
    if gold is None:
        raise InputError("there is no gold; give the right answer: a number or a solution")
    return get_usable_scorer(scorer).judge(
        text, gold if isinstance(gold, Problem) else _problem(gold)
    )


def _problem(gold: str | int | Mapping[str, str]) -> Problem:
    if isinstance(gold, Mapping):
        if not isinstance(gold.get("answer"), str):
            raise InputError(f"the gold row has no 'answer', only {list(gold)}; give a GSM8K row")
        return _problem_of(gold["answer"])
    try:
        return _problem_of(str(gold))
    except InputError:
        raise
    except ValueError as error:  # Python refuses to write out integers of more than 4,300 digits
        raise InputError(
            "the gold is an integer too long to be written; give it as text"
        ) from error


@lru_cache(4096)
def _problem_of(gold: str) -> Problem:
    check_gold(gold)
    return Problem.from_gold(gold)


def check_gold(gold: str) -> None:
    """Raise InputError for a gold without a digit, which no number of a text can equal."""
    if gold.strip() and not any(char.isnumeric() for char in gold):
        raise InputError(
            f"the gold {clip(gold)!r} holds no number; give the number or a solution with it"
        )
