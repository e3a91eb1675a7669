"""Runs in a child process (`gradeschool.worker`): needs the extra `math-verify`.

lighteval's own time-outs (5 s for a parse, 5 s for a comparison) are replaced by the worker's.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import Any

from gradeschool.protocols.lighteval.comparing import any_equal, expressions_equal
from gradeschool.protocols.lighteval.extraction import (
    answer_patterns,
    expression_patterns,
    extracted,
)

LATE_BOX = 55  # the priority of boxes where no other is set
LONGEST = 1000  # characters returned of an extracted answer


def extractive_match(text: str, choice: str) -> tuple[str | None, bool]:
    """Judge as `Metrics.expr_gold_metric`; `choice` is the whole reference solution."""
    answers = extracted(text, answer_patterns(), first_match=False)
    golds = _golds(choice, False) or [choice]
    return _shown(answers), any_equal(golds, answers)


def pass_at_1(text: str, choice: str) -> tuple[str | None, bool]:
    """Judge one completion as `Metrics.pass_at_k_math`; the gold is a number."""
    answers = extracted(text.strip(), answer_patterns(LATE_BOX), first_match=False)
    golds = extracted(choice.strip(), answer_patterns(LATE_BOX), first_match=False)
    return _shown(answers), any_equal(golds or [choice.strip()], answers, decimals=6)


def pass_at_1_of_solutions(text: str, choice: str) -> tuple[str | None, bool]:
    """Judge one completion as `Metrics.pass_at_k_math`; the gold is extracted from a solution."""
    answers = extracted(text.strip(), answer_patterns(LATE_BOX), first_match=False)
    golds = _golds_of_solution(choice.strip()) or [choice.strip()]
    return _shown(answers), any(
        expressions_equal(gold, answer) for gold, answer in product(golds, answers)
    )


@lru_cache(1024)
def _golds_of_solution(text: str) -> list[Any]:
    return extracted(text, answer_patterns(LATE_BOX), first_match=False)


def math_scorer(text: str, target: str) -> tuple[str | None, bool]:
    """Judge as `math_scorer`: the items extracted from both must be equal lists."""
    answers = extracted(text, answer_patterns(), first_match=True)
    return _shown(answers), answers == _golds(target, True)


@lru_cache(4096)
def _golds(text: str, first_match: bool) -> list[Any]:
    return extracted(text, expression_patterns(), first_match)


def _shown(extracted: list[Any]) -> str | None:
    texts = [item for item in extracted if isinstance(item, str)]
    return (texts[0] if texts else str(extracted[0]))[:LONGEST] if extracted else None
