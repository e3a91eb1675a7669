"""maj@k and pass@k: exact, and as the published estimators count them."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradeschool.answers.parse import majority_vote
from gradeschool.errors import InputError
from gradeschool.formats.values import Sample
from gradeschool.problem import Problem
from gradeschool.protocols.registry import get_scorer
from gradeschool.scoring.at_k import Ballot, ballots_by_problem, curve, pass_at_k, vote
from gradeschool.scoring.sources import Run
from gradeschool.scoring.table import ScoredTable

BALLOTS = st.lists(
    st.sampled_from([None, "1", "2", "3"]).map(lambda answer: Ballot(answer, answer == "1")),
    min_size=1,
    max_size=12,
)


@given(n=st.integers(1, 9), correct=st.integers(0, 9), k=st.integers(1, 9))
def test_pass_at_k_is_the_share_of_draws_with_a_right_one(n: int, correct: int, k: int) -> None:
    if correct > n or k > n:
        with pytest.raises(InputError, match="is not defined"):
            pass_at_k(n, correct, k)
        return
    draws = list(combinations([True] * correct + [False] * (n - correct), k))
    assert pass_at_k(n, correct, k) == Fraction(sum(map(any, draws)), len(draws))


@given(BALLOTS)
def test_a_vote_is_that_of_majority_vote(ballots: list[Ballot]) -> None:
    won = vote(ballots)
    assert won.answer == majority_vote([ballot.answer for ballot in ballots])
    assert won.correct == (won.answer == "1")


@given(st.dictionaries(st.text(max_size=2), BALLOTS, min_size=1, max_size=5))
def test_a_curve_is_a_share_and_pass_grows_with_k(ballots: dict[str, list[Ballot]]) -> None:
    same = {name: (cast * 12)[:12] for name, cast in ballots.items()}
    points = curve(same)
    assert [point.k for point in points] == [1, 2, 4, 8, 12]
    for point in points:
        assert point.problems == len(same)
        assert point.maj_ci95.low - 1e-9 <= point.maj <= point.maj_ci95.high + 1e-9
        assert point.pass_ci95.low - 1e-9 <= point.pass_any <= point.pass_ci95.high + 1e-9
    shares = [point.pass_any for point in points]
    assert shares == sorted(shares)
    # with one sample there is nothing to vote on
    assert points[0].maj == pytest.approx(points[0].pass_any)


def test_problems_with_fewer_samples_than_k_are_left_out_and_counted() -> None:
    right, wrong = Ballot("1", True), Ballot("2", False)
    points = curve({"a": [right] * 4, "b": [wrong] * 2})
    assert [(point.k, point.problems) for point in points] == [(1, 2), (2, 2), (4, 1)]
    assert [point.maj for point in points] == [0.5, 0.5, 1.0]  # each problem counts once
    assert curve({}) == []


def test_ballots_are_what_the_scorer_compares_in_the_order_of_samples() -> None:
    problem = Problem.from_row("7", "Q?", "#### 1,000")
    texts = ["#### 1,000", "nothing", "#### 1000", "#### 5"]
    samples = [
        Sample(number, problem=problem, sample=number, text=text)
        for number, text in enumerate(texts)
    ]
    failed = Sample(9, problem=problem, sample=9, text="", error="timeout")
    ballots = ballots_by_problem(
        ScoredTable(Run("r", [*reversed(samples), failed]), [get_scorer("openai/2021")])
    )
    assert ballots == {
        "7": [Ballot("1000", True), Ballot(None, False), Ballot("1000", True), Ballot("5", False)]
    }
    assert vote(ballots["7"]).correct
