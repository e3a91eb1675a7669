"""Choosing a strategy on one run and measuring it on another; accuracy over tokens."""

from __future__ import annotations

from random import Random

import pytest

from gradeschool.errors import InputError
from gradeschool.verifier.choice import (
    ChosenStrategy,
    DevelopmentRun,
    StrategyChoice,
    chosen_strategy,
)
from gradeschool.verifier.rank import budget_curve, rank
from gradeschool.verifier.selection import Option, RankedProblem, SelectionSettings

SETTINGS = SelectionSettings(voters=7, draws=4)


def cases(name: str, count: int, *, scores_help: bool) -> list[RankedProblem]:
    """Problems with three right ones among eight; a score may tell them apart."""
    chance = Random(name)
    problems = []
    for number in range(count):
        options = []
        for sample in range(8):
            is_right = sample < 3
            score = chance.random() + (2.0 if is_right and scores_help else 0.0)
            options.append(Option("7" if is_right else "8", is_right, score, -1.0, 10))
        chance.shuffle(options)
        problems.append(RankedProblem(str(number), "all", options, 8, f"{name} {number}?"))
    return problems


def chosen_on(development: list[RankedProblem], reported: list[RankedProblem]) -> ChosenStrategy:
    """What one development run of the same temperature chooses."""
    runs = (DevelopmentRun("dev", 1.0, development), DevelopmentRun("run", 1.0, reported))
    return chosen_strategy(runs[:1], runs[1], has_logprob=False, settings=SETTINGS)


def test_the_development_run_chooses_and_the_other_is_measured() -> None:
    helped, blind = cases("dev", 30, scores_help=True), cases("test", 40, scores_help=False)
    chosen = chosen_on(helped, blind)
    assert chosen.choice.strategy in {"best", "top", "weighted", "frequency"}
    assert chosen.development.accuracy == 1.0
    assert chosen.reported.problems == 40
    assert chosen.reported.accuracy < 0.7  # the scores say nothing there, and nobody looked
    # What the reported run holds has no part in the choice.
    other = chosen_on(helped, cases("third", 40, scores_help=True))
    assert other.choice == chosen.choice
    assert other.reported.accuracy == 1.0


def test_several_development_runs_choose_the_temperature() -> None:
    """The run at 0.5 is better; a reported run at another temperature says nothing of it."""
    hot = DevelopmentRun("hot", 1.0, cases("dev", 30, scores_help=False))
    cold = DevelopmentRun("cold", 0.5, cases("dev", 30, scores_help=True))
    problems = cases("test", 40, scores_help=True)
    for order in ((hot, cold), (cold, hot)):
        chosen = chosen_strategy(
            order, DevelopmentRun("run", 0.5, problems), has_logprob=False, settings=SETTINGS
        )
        assert (chosen.run, chosen.temperature) == ("cold", 0.5)
        assert chosen.development.accuracy == chosen.reported.accuracy == 1.0
        assert chosen.by_run.keys() == {"hot", "cold"}
        assert chosen.by_run["hot"] < chosen.by_run["cold"]
        expected = r"prefer temperature 0.5 .*100.0 % by 'cold'.*'run' was sampled at 1.0"
        with pytest.raises(InputError, match=expected):
            chosen_strategy(
                order, DevelopmentRun("run", 1.0, problems), has_logprob=False, settings=SETTINGS
            )
    # One run chooses no temperature.
    reported = DevelopmentRun("run", 1.0, problems)
    alone = chosen_strategy([cold], reported, has_logprob=False, settings=SETTINGS)
    assert (alone.run, alone.temperature) == ("cold", 0.5)


def test_of_equal_accuracies_the_one_of_fewer_completions_is_chosen() -> None:
    right = [Option("7", True, 0.5, -1.0, 10)] * 8
    runs = [[RankedProblem("0", "all", right, 1, name)] for name in ("a?", "b?")]
    chosen = chosen_on(*runs)
    assert chosen.choice.n == 1


def ranked(name: str, right: list[bool]) -> RankedProblem:
    """A problem whose completions' scores fall from the first to the last."""
    options = [
        Option("7" if is_right else "8", is_right, 1 - place / 100, -1.0, 10)
        for place, is_right in enumerate(right)
    ]
    return RankedProblem(name, "all", options, 8, name)


def test_only_numbers_of_completions_that_all_problems_have_are_compared() -> None:
    """The easy problem alone has 8 completions: its 100 % there is no better choice."""
    easy, hard = ranked("easy", [True] * 8), ranked("hard", [False, False, True, True])
    reported = [ranked("other", [True] * 8), ranked("last", [False] * 8)]
    chosen = chosen_on([easy, hard], reported)
    assert chosen.development.problems == 2
    assert (chosen.choice.n, chosen.development.accuracy) == (1, 0.75)
    assert (chosen.reported.problems, chosen.reported.accuracy) == (2, 0.5)


def test_all_completions_of_a_development_run_may_be_the_chosen_voters() -> None:
    """Only the vote of the top 7 of 7 is right, and no list of numbers of voters names 7.

    Of the two most frequent answers, "8" is the first sample and "7" has the higher score.
    """
    votes = [("8", 0.89), ("8", 0.88), ("8", 0.87), ("7", 0.9), ("7", 0.02), ("7", 0.01), ("x", 9)]
    options = [Option(answer, answer == "7", score, -1.0, 10) for answer, score in votes]
    chosen = chosen_strategy(
        [DevelopmentRun("dev", 1.0, [RankedProblem("dev", "all", options, 7, "dev")])],
        DevelopmentRun("run", 1.0, [ranked("run", [True] * 16)]),
        has_logprob=False,
        settings=SelectionSettings(voters=5, draws=4),
    )
    assert chosen.choice == StrategyChoice("top", 7, voters=7)
    assert (chosen.development.n, chosen.development.accuracy) == (7, 1.0)
    assert (chosen.reported.n, chosen.reported.accuracy) == (7, 1.0)


def test_a_development_run_on_the_same_problems_is_refused() -> None:
    run = cases("dev", 5, scores_help=True)
    with pytest.raises(InputError, match=r"5 problems of the reported run .* with --dev"):
        chosen_on(run, run)


def test_a_number_of_voters_of_ones_own_keeps_its_place_in_the_curve() -> None:
    """With 7 voters, which no list names, the point of 8 is that of 8."""
    run = cases("dev", 30, scores_help=True)
    usual = rank(run, has_logprob=False, settings=SelectionSettings(voters=5, draws=4))
    own = rank(run, has_logprob=False, settings=SETTINGS)
    assert [point.n for point in own.top[8]] == [1, 2, 3, 4, 5, 6, 7, 8]
    by_k = {point.n: point.accuracy for point in own.top[8]}
    assert {point.n: by_k[point.n] for point in usual.top[8]} == {
        point.n: point.accuracy for point in usual.top[8]
    }


def test_scores_cost_as_many_tokens_as_the_completions() -> None:
    run = cases("dev", 20, scores_help=True)
    ranking = rank(run, has_logprob=False, settings=SETTINGS)
    assert [(point.n, point.tokens) for point in ranking.budgets] == [
        (1, 10.0), (2, 20.0), (4, 40.0), (8, 80.0)
    ]  # fmt: skip
    curves = {
        name: {point.n: point.accuracy for point in points}
        for name, points in ranking.curves.items()
    }
    last = ranking.budgets[-1].accuracies
    assert last["majority"] == curves["majority"][8]
    assert last["best"] == curves["best"][4]
    assert "best" not in ranking.budgets[0].accuracies
    assert "coverage" not in last
    unknown = [
        case._replace(options=[option._replace(tokens=0) for option in case.options])
        for case in run
    ]
    assert budget_curve(ranking.curves, unknown) == []
    assert StrategyChoice("best", 4).voters == 0
