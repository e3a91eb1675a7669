"""Selections among completions: the best, votes, means over subsets."""

import itertools
import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradeschool.scoring.at_k import Ballot, vote
from gradeschool.verifier.rank import rank
from gradeschool.verifier.selection import (
    COVERAGE,
    LEAST_WEIGHT,
    MAJORITY,
    MEAN,
    Option,
    RankedProblem,
    Votes,
    best_of,
    votes,
)
from tests.verifier.test_rank import SCORES, cases

# An answer's rightness follows from the answer; few scores, so that there are ties.
ANSWERS = {"18": True, "19": False, "20": False, None: False}


@st.composite
def options(draw: st.DrawFn, most: int = 7) -> list[Option]:
    answers = draw(st.lists(st.sampled_from(list(ANSWERS)), min_size=1, max_size=most))
    return [
        Option(
            answer_text,
            ANSWERS[answer_text],
            draw(SCORES),
            draw(SCORES) - 2,
            draw(st.integers(1, 9)),
        )
        for answer_text in answers
    ]


def all_votes(cast: Sequence[Option], ns: Sequence[int], voters: Sequence[int]) -> Votes:
    return votes(cast, ns, voters, share_weight=0.2, draws=3, source=random.Random(0))


@given(options(), st.data())
def test_the_best_of_n_is_the_mean_over_all_subsets(
    cast: list[Option], data: st.DataObject
) -> None:
    n = data.draw(st.integers(1, len(cast)))
    picks = [
        cast[max(subset, key=lambda index: (cast[index].score, -index))].right
        for subset in itertools.combinations(range(len(cast)), n)
    ]
    exact = sum(picks) / len(picks)
    assert best_of(cast, [option.score for option in cast], n) == pytest.approx(exact)


@given(options())
def test_the_best_of_one_is_the_share_that_is_right(cast: list[Option]) -> None:
    share = sum(option.right for option in cast) / len(cast)
    assert best_of(cast, [option.logprob for option in cast], 1) == pytest.approx(share)
    assert all_votes(cast, [1], [1]).majority == [pytest.approx(share)]


@given(options())
def test_the_majority_is_that_of_maj_at_k(cast: list[Option]) -> None:
    ballots = [Ballot(option.answer, option.right) for option in cast]
    assert all_votes(cast, [len(cast)], [1]).majority == [vote(ballots).correct]


@given(options())
def test_the_top_k_vote_is_the_majority_of_the_best_k(cast: list[Option]) -> None:
    count = len(cast)
    in_order = sorted(cast, key=lambda option: -option.score)
    expected = [
        float(vote([Ballot(option.answer, option.right) for option in in_order[:k]]).correct)
        for k in range(1, count + 1)
    ]
    assert all_votes(cast, [count], range(1, count + 1)).top == [expected]
    assert expected[0] == best_of(cast, [option.score for option in cast], count)


@given(options())
def test_the_weighted_vote_sums_scores_that_are_above_0(cast: list[Option]) -> None:
    weights = {
        answer: sum(
            option.score if option.score > 0 else LEAST_WEIGHT
            for option in cast
            if option.answer == answer
        )
        for answer in dict.fromkeys(option.answer for option in cast)
        if answer is not None
    }
    winner = max(weights, key=weights.__getitem__, default=None)
    assert all_votes(cast, [len(cast)], [1]).weighted == [ANSWERS[winner]]


@pytest.mark.parametrize("scale", [1.0, 1e-9])
def test_a_weighted_vote_of_tiny_scores_still_weighs_them(scale: float) -> None:
    cast = [Option("19", False, scale), Option("18", True, 3 * scale), Option("19", False, scale)]
    assert all_votes(cast, [3], [1]).weighted == [1]
    without_score = [Option(None, False, 1.0), Option("18", True, 0.0), Option("19", False, -1.0)]
    assert all_votes(without_score, [3], [1]).weighted == [1]


@given(options())
def test_the_frequent_answer_is_favoured(cast: list[Option]) -> None:
    def worth(index: int) -> float:
        option = cast[index]
        same = sum(voter.answer == option.answer for voter in cast) if option.answer else 0
        return option.score + 0.2 * same / len(cast)

    best = max(map(worth, range(len(cast))))
    may_win = {cast[index].right for index in range(len(cast)) if worth(index) >= best - 1e-12}
    assert all_votes(cast, [len(cast)], [1]).frequency[0] in may_win


def test_votes_among_fewer_completions_are_the_mean_over_random_subsets() -> None:
    source = random.Random(3)
    cast = [
        Option(answer, ANSWERS[answer], source.random())
        for answer in source.choices(list(ANSWERS), k=9)
    ]
    sampled = votes(cast, [4], [2, 4], share_weight=0.2, draws=5000, source=source)
    subsets = [[cast[index] for index in drawn] for drawn in itertools.permutations(range(9), 4)]
    all_subsets = [all_votes(subset, [4], [2, 4]) for subset in subsets]
    for name in ("majority", "weighted", "frequency"):
        exact = sum(getattr(drawn, name)[0] for drawn in all_subsets) / len(all_subsets)
        assert getattr(sampled, name)[0] == pytest.approx(exact, abs=0.03), name
    exact_top = [
        sum(drawn.top[0][index] for drawn in all_subsets) / len(all_subsets) for index in (0, 1)
    ]
    assert sampled.top[0] == pytest.approx(exact_top, abs=0.03)


def test_differences_are_paired_by_problem() -> None:
    right, wrong = Option("18", True, 0.9), Option("19", False, 0.1)
    ranked = [
        RankedProblem("0", "all", [wrong, wrong, right]),
        RankedProblem("1", "all", [wrong, right, right]),
    ]
    baseline = {"0": (0, 1), "1": (0, 1), "elsewhere": (1, 1)}
    ranking = rank(ranked, has_logprob=False, baselines={"greedy": baseline})
    best = ranking.whole.result("best")
    assert best is not None
    assert best.accuracy == 1.0
    assert best.against["majority"].difference == 0.5
    assert best.against["greedy"].difference == 1.0
    assert best.against["greedy"].problems == 2
    assert ranking.whole.result("logprob") is None


def test_problems_may_have_different_numbers_of_completions() -> None:
    ranked = [*cases(6, 8), *(case._replace(problem=f"x{case.problem}") for case in cases(4, 3))]
    ranking = rank(ranked, has_logprob=False)
    assert [point.problems for point in ranking.curves["best"]] == [10, 10, 6, 6]
    assert ranking.whole.problems == 10


def test_at_equal_tokens_only_scores_that_are_read_halve_the_completions() -> None:
    ranked = [
        case._replace(options=[option._replace(tokens=5) for option in case.options])
        for case in cases(6, 8)
    ]
    for stored, free in ((), set()), (("logprob", "sum"), {"logprob", "sum"}):
        ranking = rank(ranked, has_logprob=True, stored=stored)
        [*_, last] = ranking.budgets
        assert last.tokens == 40
        assert last.accuracies.keys() == ranking.curves.keys() - {COVERAGE}
        for name, accuracy in last.accuracies.items():
            count = 8 if name in free | {MEAN, MAJORITY} else 4
            [point] = [point for point in ranking.curves[name] if point.n == count]
            assert accuracy == point.accuracy, name
