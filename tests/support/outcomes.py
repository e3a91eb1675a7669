"""Compute outcomes of a scorer on many texts, in one batch for scorers of a library."""

from collections.abc import Sequence
from dataclasses import replace

from gradeschool.problem import Problem
from gradeschool.scorer import Outcome, Scorer, Verdict, call_at_once

ANY_PROBLEM = Problem.from_gold("0")


def judge_against(scorer: Scorer, text: str, reference: str) -> Verdict:
    """The verdict against a reference that `scorer.reference` returned before."""
    return replace(scorer, reference=lambda problem: reference).judge(text, ANY_PROBLEM)


def outcomes_of(scorer: Scorer, pairs: Sequence[tuple[str, str]]) -> list[Outcome]:
    """The outcomes of (text, reference) pairs, in their order."""

    def outcome(text: str, reference: str) -> Outcome:
        return judge_against(scorer, text, reference).outcome

    return call_at_once(outcome, pairs) if scorer.extra else [outcome(*pair) for pair in pairs]
