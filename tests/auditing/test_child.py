"""Check scorers that wait, die, tamper with the worker or replace what it uses."""

from collections.abc import Callable

import pytest

from gradeschool.auditing.calling import AuditedScorer, Question
from gradeschool.auditing.target import target_of
from tests.support import scorers


@pytest.mark.parametrize(
    ("function", "message"),
    [(scorers.sleeps, "no answer within 20 s"), (scorers.dies, "exit status -")],
)
def test_a_scorer_that_is_stopped_is_asked_on(
    function: Callable[..., object], message: str
) -> None:
    with AuditedScorer(target_of(function), 0.5) as scorer:
        stopped, following = scorer.replies(
            [Question(scorers.LONG_RUN, "18"), Question("#### 18", "18")]
        )
    assert message in stopped.raised
    assert stopped.hung is (function is scorers.sleeps)
    assert scorer.accepts(following)


TAMPERING = [
    (scorers.writes_to_every_pipe, "the function wrote to the worker's own channel"),
    (scorers.writes_nonsense, "the function wrote to the worker's own channel"),
    (scorers.forges_by_the_channel, "the function wrote to the worker's own channel"),
    (scorers.ends_with_status, "the process died with exit status 75"),
    (scorers.sends_the_signal_of_a_long_computation, "the process died with exit status -"),
    (scorers.closes_everything, "the process died with exit status 1"),
]


@pytest.mark.parametrize(("function", "message"), TAMPERING)
def test_a_scorer_that_tampers_is_named(function: Callable[..., object], message: str) -> None:
    with AuditedScorer(target_of(function), 0.5) as scorer:
        questions = [Question("#### 7", "7"), Question(scorers.LONG_RUN, "9"),
                     *(Question("#### 18", gold) for gold in ("18", "19", "8"))]  # fmt: skip
        replies = scorer.replies(questions)
    assert replies[0].score == 1.0
    assert message in replies[1].raised
    assert not replies[1].hung
    assert [reply.score for reply in replies[3:]] == [0.0, 1.0]
    # A forged answer takes the place of its own; the scorer's own then comes where the next is due.
    assert replies[2].score == 1.0 or replies[2].raised == message


def test_a_scorer_that_replaces_json_is_judged() -> None:
    with AuditedScorer(target_of(scorers.replaces_json), 0.5) as scorer:
        replies = scorer.replies([Question("#### 18", "18"), Question("#### 18", "19")])
    assert [reply.score for reply in replies] == [1.0, 0.0]
