"""Tests answers and verdicts."""

from __future__ import annotations

import json

from gradeschool.verdict import Answer, Outcome, Verdict, answer_of


def test_an_answer_can_be_made_from_a_tuple_of_its_fields() -> None:
    answer = answer_of(("18.", "18", (3, 6), "the last number"))
    assert isinstance(answer, Answer)
    assert answer == Answer(text="18.", value="18", span=(3, 6), how="the last number")


def test_only_the_outcome_correct_is_correct() -> None:
    verdicts = [Verdict("made", outcome, None, "") for outcome in Outcome]
    assert [verdict.outcome for verdict in verdicts if verdict.correct] == [Outcome.CORRECT]


def test_outcomes_are_written_as_these_words() -> None:
    """Files of runs and reports hold them."""
    assert [f"{outcome}" for outcome in Outcome] == ["correct", "wrong", "no_answer", "error"]
    assert json.loads(json.dumps(Outcome.NO_ANSWER)) == "no_answer"
