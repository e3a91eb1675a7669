"""A scorer's verdict: its outcome, its reason, and what a failure of the published code is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gradeschool.problem import Problem
from gradeschool.scorer import Scorer, ScorerFailure, verbatim
from gradeschool.verdict import Answer, Outcome

PROBLEM = Problem.from_gold("18")
FIRST_WORD = Scorer(
    name="made/first-word",
    summary="the first word",
    source="this test",
    reference=lambda problem: problem.gold,
    extract=lambda text, reference: (
        Answer(text.split()[0], text.split()[0], (0, len(text.split()[0])), "the first word")
        if text.split()
        else None
    ),
    compare=verbatim,
)


def fail(*_: object) -> str:
    raise ScorerFailure("ValueError: too long")


@pytest.mark.parametrize(
    ("text", "outcome", "reason"),
    [
        ("18 eggs", Outcome.CORRECT, "the first word: '18' matches '18'"),
        ("19 eggs", Outcome.WRONG, "the first word: '19' is not '18'"),
        (" ", Outcome.NO_ANSWER, "nothing extracted; the scorer reads: the first word"),
    ],
)
def test_a_verdict_has_a_readable_reason(text: str, outcome: Outcome, reason: str) -> None:
    verdict = FIRST_WORD.judge(text, PROBLEM)
    assert (verdict.scorer, verdict.outcome, verdict.reason) == (FIRST_WORD.name, outcome, reason)
    assert verdict.correct is (outcome is Outcome.CORRECT)


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        ("reference", "the gold cannot be read: ValueError: too long"),
        ("extract", "the scorer fails: ValueError: too long"),
        ("compare", "the scorer fails: ValueError: too long"),
    ],
)
def test_a_failure_of_the_published_code_is_an_error_and_no_wrong_answer(
    part: str, reason: str
) -> None:
    failing: dict[str, Any] = {part: fail}
    verdict = replace(FIRST_WORD, **failing).judge("18", PROBLEM)
    assert (verdict.outcome, verdict.answer, verdict.reason) == (Outcome.ERROR, None, reason)


def test_long_answers_are_cut_in_the_reason_and_whole_in_the_answer() -> None:
    word = "1" * 500
    verdict = FIRST_WORD.judge(word, PROBLEM)
    assert verdict.answer is not None
    assert verdict.answer.value == word
    assert len(verdict.reason) < 120
    assert "…" in verdict.reason
