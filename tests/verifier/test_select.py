"""Selections among completions: the best, votes, means over subsets."""

from __future__ import annotations

import itertools
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gradeschool.scoring.at_k import Ballot, vote
from gradeschool.verifier.select import (
    Option,
    RankedProblem,
    auc,
    best_of,
    break_even_auc,
    measure_auc,
    pick,
)

# An answer's rightness follows from the answer; few scores, so that there are ties.
ANSWERS = {"18": True, "19": False, "20": False, None: False}
SCORES = st.sampled_from([-0.2, 0.0, 0.25, 0.5, 0.75, 1.1])


@st.composite
def options(draw: st.DrawFn, most: int = 7) -> list[Option]:
    answers = draw(st.lists(st.sampled_from(list(ANSWERS)), min_size=1, max_size=most))
    return [Option(text, ANSWERS[text], draw(SCORES), draw(SCORES) - 2)
            for text in answers]  # fmt: skip


def picked(cast: list[Option], voters: int = 5) -> dict[str, float]:
    """What every strategy gives on all completions."""
    result = pick(RankedProblem("p", cast), True, [len(cast)], (voters,))
    return {name: values[-1] for name, values in result.by_strategy.items()}


@given(options(), st.data())
def test_best_of_n_is_the_mean_over_all_subsets(cast: list[Option], data: st.DataObject) -> None:
    n = data.draw(st.integers(1, len(cast)))
    picks = [
        cast[max(subset, key=lambda index: (cast[index].score, -index))].right
        for subset in itertools.combinations(range(len(cast)), n)
    ]
    exact = sum(picks) / len(picks)
    assert best_of(cast, [option.score for option in cast], n) == pytest.approx(exact)


@given(options())
def test_votes_are_those_of_brute_force(cast: list[Option]) -> None:
    found = picked(cast, voters=3)
    ballots = [Ballot(option.answer, option.right) for option in cast]
    assert found["majority"] == vote(ballots).correct
    in_order = sorted(cast, key=lambda option: -option.score)[:3]
    assert found["top 3"] == vote([Ballot(each.answer, each.right) for each in in_order]).correct
    answers = [answer for answer in dict.fromkeys(option.answer for option in cast) if answer]
    sums = {answer: sum(max(each.score, 1e-300) for each in cast if each.answer == answer)
            for answer in answers}  # fmt: skip
    best = max(sums, key=sums.__getitem__, default=None)
    assert found["weighted"] == ANSWERS[best]
    assert found["coverage"] == any(option.right for option in cast)
    values: dict[str | None, float] = {}
    for each in cast:
        share = sum(other.answer == each.answer for other in cast if each.answer) / len(cast)
        values[each.answer] = max(values.get(each.answer, -1), each.score + 0.2 * share)
    assert found["share"] == ANSWERS[max(values, key=values.__getitem__)]


def test_odds_weigh_a_sure_solution_above_several_doubtful_ones() -> None:
    cast = [Option("18", True, 0.9), *[Option("19", False, 0.4)] * 3]
    found = picked(cast)
    assert (found["majority"], found["weighted"], found["odds"]) == (0.0, 0.0, 1.0)
    probable = [Option("18", True, 0, -0.1), *[Option("19", False, 0, -3.0)] * 3]
    assert picked(probable)["probable"] == 1.0


@given(st.lists(st.tuples(SCORES, st.booleans()), min_size=2, max_size=40))
def test_the_auc_is_scipys(pairs: list[tuple[float, bool]]) -> None:
    above = [score for score, is_right in pairs if is_right]
    below = [score for score, is_right in pairs if not is_right]
    area = auc([score for score, _ in pairs], [is_right for _, is_right in pairs])
    if not above or not below:
        assert area is None
        return
    statistic = stats.mannwhitneyu(above, below, method="asymptotic").statistic
    assert area == pytest.approx(statistic / (len(above) * len(below)))


def test_within_problems_only_those_with_both_labels_count() -> None:
    one_label = [([0.1, 0.2], [False, False]), ([0.9, 0.8], [True, True])]
    assert measure_auc(one_label).within is None
    mixed = [([0.3, 0.4], [True, False]), ([0.6, 0.5, 0.1], [True, False, False])]
    areas = measure_auc([*one_label, *mixed])
    assert (areas.within, areas.problems) == (0.5, 2)


def noisy(name: str, count: int, distance: float) -> list[RankedProblem]:
    """Problems with three right ones among eight; scores tell them apart by a distance."""
    chance = Random(name)
    problems = []
    for number in range(count):
        cast = []
        for sample in range(8):
            is_right = sample < 3
            wrong = str(chance.choice([8, 9, 10, 11]))
            score = chance.gauss(distance * is_right, 1.0)
            cast.append(Option("7" if is_right else wrong, is_right, score, -1.0))
        chance.shuffle(cast)
        problems.append(RankedProblem(str(number), cast, 8))
    return problems


def test_the_break_even_auc_is_where_best_of_n_equals_the_majority() -> None:
    cases = noisy("even", 400, 0.0)
    need = break_even_auc(cases)
    assert need is not None
    distance = stats.norm.ppf(need) * 2**0.5
    selected = noisy("even", 2_000, distance)
    best = [pick(case, False, [8]).by_strategy for case in selected]
    gain = sum(each["best"][-1] - each["majority"][-1] for each in best) / len(best)
    assert gain == pytest.approx(0, abs=0.06)
