"""Kinds of misses of a run: format, arithmetic, distraction or reasoning.

Every miss has one kind, so the shares of the kinds sum to the share of misses, and the changes of
the kinds sum to a loss.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from enum import StrEnum

from gradeschool.answers.arithmetic import equations
from gradeschool.answers.failures import Failure
from gradeschool.answers.quantities import exact, exact_form, quantities, word_quantities
from gradeschool.answers.regions import Region
from gradeschool.problem import MARKER, Problem
from gradeschool.scoring.causes import Side, VerdictCause, explain_verdict, view
from gradeschool.scoring.compare import Outcomes
from gradeschool.scoring.table import ScoredTable
from gradeschool.verdict import Outcome

PERCENT = re.compile(r"\s?(?:%|percent\b)")


class MissKind(StrEnum):
    """Kinds of misses.

    FORMAT: the right answer is there and the scorer misses it, or there is no answer (cut off,
    empty, a refusal). ARITHMETIC: a step is false ("12 * 34 = 418"), or the answer is rounded.
    DISTRACTION: a step uses a number of the question that the reference solution does not need.
    REASONING: all others.
    """

    ARITHMETIC = "arithmetic"
    DISTRACTION = "distraction"
    FORMAT = "format"
    REASONING = "reasoning"


OF_ARITHMETIC = frozenset({Failure.ARITHMETIC_SLIP, Failure.ROUNDING})
WITHOUT_ANSWER = frozenset({
    Failure.NO_RESPONSE, Failure.FILTERED, Failure.UNFINISHED_THINKING, Failure.TRUNCATED,
    Failure.REFUSAL, Failure.CODE_ONLY, Failure.NO_NUMBER, Failure.NOT_STATED,
})  # fmt: skip


def with_misses(outcomes: Outcomes, table: ScoredTable) -> Outcomes:
    """Return the outcomes of a table's run with its misses by kind and problem.

    They are the misses of the table's first scorer.
    """
    misses: dict[str, Counter[str]] = {kind.value: Counter() for kind in MissKind}
    unneeded: dict[str, frozenset[str]] = {}
    for sample, verdicts in zip(table.samples, table.verdicts, strict=True):
        problem, verdict = sample.problem, verdicts[0]
        if problem is None or verdict.outcome in (Outcome.CORRECT, Outcome.ERROR):
            continue
        sample_view = view(sample.text, problem, sample.finish, {}, table.scorers.thinking_marks)
        cause = explain_verdict(sample_view, verdict)
        if problem.id not in unneeded:
            unneeded[problem.id] = unneeded_numbers(problem)
        kind = _kind(cause, sample_view.region, unneeded[problem.id])
        misses[kind.value][problem.id] += 1
    return replace(outcomes, misses=misses)


def _kind(cause: VerdictCause | None, region: Region, unneeded: frozenset[str]) -> MissKind:
    if cause is None:
        return MissKind.REASONING
    failure = cause.cause.failure
    if cause.side is Side.MISSED or failure in WITHOUT_ANSWER:
        return MissKind.FORMAT
    if failure in OF_ARITHMETIC:
        return MissKind.ARITHMETIC
    text = region.text[region.start : region.end]
    return MissKind.DISTRACTION if _uses(text, unneeded) else MissKind.REASONING


def unneeded_numbers(problem: Problem) -> frozenset[str]:
    """Return the numbers of a question, in digits, that its reference solution does not contain.

    Empty if the solution has no steps, since the needed numbers are then unknown.
    """
    solution = problem.solution.rpartition(MARKER)[0]
    if not any(True for _ in quantities(solution)):
        return frozenset()
    needed = {exact_form(number.value) for number in quantities(problem.solution)}
    needed |= {exact_form(number.value) for number in word_quantities(solution, 0, len(solution))}
    question = problem.question
    unneeded = set()
    for number in quantities(question):
        forms = {exact_form(number.value)}
        share = exact(number.value)
        if share is not None and PERCENT.match(question, number.end):
            forms |= {
                exact_form(str(form / 100)) for form in (share, abs(100 - share), 100 + share)
            }
        if not forms & needed:
            unneeded.add(exact_form(number.value))
    return frozenset(unneeded)


def _uses(text: str, numbers: frozenset[str]) -> bool:
    """Return whether a step of a text computes with one of these numbers."""
    return bool(numbers) and any(
        token.kind == "num" and exact_form(token.text.replace(",", "")) in numbers
        for equation in equations(text)
        for token in equation.left
    )
