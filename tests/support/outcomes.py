"""Compute outcomes of a scorer on many texts, in one batch for scorers of a library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from gradeschool.library_scorer import call_at_once
from gradeschool.problem import Problem
from gradeschool.scorer import Scorer
from gradeschool.verdict import Outcome, Verdict

# Answers to a problem with the gold, or with a number near it, by the name of their form.
FORMS: dict[str, Callable[[Problem, int], str]] = {
    "solution": lambda problem, _: problem.solution,
    "hashes": lambda problem, _: f"#### {problem.gold}",
    "sentence": lambda problem, _: f"The answer is {problem.gold}.",
    "answer": lambda problem, _: f"ANSWER: {problem.gold}",
    "box": lambda problem, _: f"The result is $\\boxed{{{problem.gold}}}$",
    "no comma": lambda problem, gold: f"#### {gold}",  # of the 14 golds that have one
    "plus one": lambda problem, gold: f"ANSWER: {gold + 1}",
    "one before": lambda problem, gold: f"ANSWER: {'-' if gold < 0 else ''}1{abs(gold)}",
    "hundredfold": lambda problem, gold: f"#### {gold * 100}",
}
ANY_PROBLEM = Problem.from_gold("0")


def judge_against(scorer: Scorer, text: str, reference: str) -> Verdict:
    """The verdict against a reference that `scorer.reference` returned before."""
    return replace(scorer, reference=lambda problem: reference).judge(text, ANY_PROBLEM)


def outcomes_of(scorer: Scorer, pairs: Sequence[tuple[str, str]]) -> list[Outcome]:
    """The outcomes of (text, reference) pairs, in their order."""

    def outcome(text: str, reference: str) -> Outcome:
        return judge_against(scorer, text, reference).outcome

    return call_at_once(outcome, pairs) if scorer.extra else [outcome(*pair) for pair in pairs]
