"""Scorers that are functions of the user: "my.py:f", a function itself, an entry point."""

from __future__ import annotations

import logging
import weakref
from collections.abc import Callable
from math import inf
from typing import Any

from gradeschool.answers.quantities import WORD_NUMBER, same_answer
from gradeschool.errors import InputError
from gradeschool.problem import Problem
from gradeschool.scorer import LibraryAnswer, ReturnedScore, Scorer, ScorerFailure
from gradeschool.user_function import Call, UserFunction
from gradeschool.verdict import Answer

OWN_FUNCTION = "a function of your own"  # summary of each of these scorers
ACCEPTED = 0.5  # the smallest number by which a function accepts an answer
MOST_HANGS = 3  # calls that hang, before a function is called no more
LOGGER = logging.getLogger("gradeschool")
RIGHT = 18  # the gold of TRIALS
# Right answers to 18, by which the way to call a function is found; most functions read one.
TRIALS = ("#### 18", r"The result is $\boxed{18}$.", "The answer is 18", "<answer>18</answer>")


class _Gold(str):
    """A gold with its problem, which a function of the user may take."""

    problem: Problem


def _gold_of(problem: Problem) -> str:
    gold = _Gold(problem.gold)
    gold.problem = problem
    return gold


def is_gold(text: str | None, gold: str) -> bool:
    """Return whether the text that a function returned is the gold, as a text or a number."""
    return text is not None and (text.strip() == gold.strip() or same_answer(text, gold))


def has_number(text: str) -> bool:
    """Return whether a text has a digit or a number in words."""
    return any(map(str.isdigit, text)) or WORD_NUMBER.search(text) is not None


def _find_call(called: UserFunction) -> tuple[Call, float | None]:
    """Return the first way to call a function in which it accepts a plain right answer, its score.

    Else the first in which it does not raise, as for a function that reads another format; else the
    first of all. Raises InputError if it cannot be imported or called.
    """
    calls = called.calls()
    usable = []
    for call in calls:
        for text in TRIALS:
            reply = called.reply(text, "18", None, call)
            if (reply.score or 0) >= ACCEPTED or is_gold(reply.text, "18"):
                return call, reply.score
            if reply.raised:
                break
        else:
            usable.append(call)
    return (usable or calls)[0], None


def own_scorer(function: str | Callable[..., Any], name: str = "") -> Scorer:
    """Return a scorer that calls a function of the user in a child process, bounded in time.

    function: "FILE.py:FUNCTION", "MODULE:FUNCTION" or the function itself; takes the completion
    and the gold, the problem or both (`user_function.Call`). True or a number from ACCEPTED on is
    correct, a smaller one wrong; a text is the extracted answer, which is compared with the gold as
    a number; None and an empty text are no answer. Whatever else happens is an error of this row,
    such as a text without a number that is no part of the completion, or a number that may be the
    answer itself: beyond -1 and 1 from a function that gave no reward to a plain right answer.
    After MOST_HANGS texts that hang, the function is called no more, with a warning.
    """
    called = UserFunction(function)
    try:
        call, reward = _find_call(called)
    except InputError:
        called.stop()
        raise
    most = 1 if reward is None else -1 if reward == RIGHT else inf  # of a number that is a score
    hung: dict[tuple[str, str], str] = {}  # the failures of texts, which may be asked for again

    def extract(text: str, reference: str) -> Answer | None:
        if (row := (text, str(reference))) in hung:
            raise ScorerFailure(hung[row])
        if len(hung) >= MOST_HANGS:
            raise ScorerFailure(f"never asked: it hung on {MOST_HANGS} completions before")
        problem = reference.problem if isinstance(reference, _Gold) else None
        reply = called.reply(*row, problem, call)
        if reply.hung:
            hung[row] = reply.raised
            if len(hung) == MOST_HANGS:
                LOGGER.warning(
                    "gradeschool: %s hung on %d completions and is called no more; those after "
                    "them were never asked and count as errors of the scorer",
                    called.name,
                    MOST_HANGS,
                )
        if reply.raised:
            raise ScorerFailure(reply.raised)
        how = f"{called.name} returned"
        if reply.score is not None:
            if abs(reply.score) > most:
                raise ScorerFailure(
                    f"returned {reply.shown}, no score: return True for a right answer, or a text"
                )
            value = ReturnedScore(reply.shown, reply.score >= ACCEPTED)
            return Answer(reply.shown, value, None, how)
        if reply.text:
            start = text.rfind(reply.text)
            if start < 0 and not has_number(reply.text) and has_number(reference):  # a verdict
                raise ScorerFailure(
                    f"returned {reply.shown}, no number and no part of the text; return True or "
                    "False, or the answer as a text, and None for no answer"
                )
            span = None if start < 0 else (start, start + len(reply.text))
            return Answer(reply.text, reply.text, span, how)
        if reply.text is None and reply.shown not in ("None", "[None]"):
            raise ScorerFailure(f"returned {reply.shown}; return a bool, a number or a text")
        return None

    def compare(value: str, reference: str) -> bool:
        if isinstance(value, LibraryAnswer):
            return value.is_equal
        return is_gold(value, reference)

    weakref.finalize(extract, called.stop)  # its child ends with the scorer
    return Scorer(name or called.name, OWN_FUNCTION, called.name, _gold_of, extract, compare)
