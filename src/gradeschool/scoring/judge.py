"""One text, one gold answer, one rule."""

from __future__ import annotations

from functools import lru_cache

from gradeschool.problem import Problem
from gradeschool.protocols.registry import get_rule
from gradeschool.verdict import Verdict

DEFAULT_RULE = "multi-pattern"


def judge(text: str, gold: str | int | Problem, rule: str = DEFAULT_RULE) -> Verdict:
    """Return a rule's verdict on one completion.

    gold: the number ("18", 18, "1,250"), the whole reference solution ("... #### 18"), or a
    Problem. rule: a name from `gradeschool protocols list`. Raises UnknownNameError for another
    rule and InputError for an empty gold; never raises because of the text.
    """
    problem = gold if isinstance(gold, Problem) else _problem(str(gold))
    return get_rule(rule).judge(text, problem)


@lru_cache(4096)
def _problem(gold: str) -> Problem:
    return Problem.from_gold(gold)
