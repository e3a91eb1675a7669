"""The strategy and temperature that are best on development runs, measured on another run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from gradeschool.errors import InputError
from gradeschool.percentages import percent
from gradeschool.scoring.at_k import steps
from gradeschool.verifier.rank import CurvePoint, curves_of, top_curves_of
from gradeschool.verifier.selection import (
    COVERAGE,
    MEAN,
    RankedProblem,
    SelectionSettings,
    pick,
)

SHARE_WEIGHTS = (0.0, 0.1, 0.2, 0.5, 1.0)


class StrategyChoice(NamedTuple):
    """A strategy with its settings; n: completions per problem. voters: 0 for no vote."""

    strategy: str
    n: int
    voters: int = 0
    share_weight: float = 0.0


class ChosenStrategy(NamedTuple):
    """A choice, with its accuracy on the development run and on the reported run.

    run: the development run, as the command names it. temperature: of both, None where not known.
    by_run: the highest accuracy on each development run.
    """

    choice: StrategyChoice
    development: CurvePoint
    reported: CurvePoint
    run: str
    temperature: float | None
    by_run: Mapping[str, float]


class DevelopmentRun(NamedTuple):
    """A development run, as the command names it. temperature: None where not known."""

    name: str
    temperature: float | None
    cases: Sequence[RankedProblem]


def chosen_strategy(
    developments: Sequence[DevelopmentRun],
    reported: DevelopmentRun,
    *,
    has_logprob: bool,
    settings: SelectionSettings,
) -> ChosenStrategy:
    """Choose strategy, completions, voters and share weight on some runs, and measure on another.

    The highest accuracy on a development run wins; among equals, the one with fewer completions.
    Only numbers of completions that all problems of a development run have are compared.
    Outcomes of the reported run are not used. Several development runs choose the temperature too.
    Raises InputError if the reported run shares a problem with one of them, or was sampled at
    another temperature than the chosen one.
    """
    chosen = []
    for run in developments:
        _check_problems(run, reported)
        most = min(max(len(case.options) for case in each.cases) for each in (run, reported))
        weights = {settings.share_weight, *SHARE_WEIGHTS}
        points = {
            choice: point
            for choice, point in _points(run.cases, most, has_logprob, settings, weights)
            if point.problems == sum(bool(case.options) for case in run.cases)
        }
        choice = max(points, key=lambda each: (points[each].accuracy, -each.n))
        chosen.append((points[choice], choice, most, run))
    point, choice, most, run = max(chosen, key=lambda each: (each[0].accuracy, -each[1].n))
    by_run = {each.name: best.accuracy for best, _, _, each in chosen}
    if len(chosen) > 1 and run.temperature != reported.temperature:
        shares = ", ".join(f"{percent(share, 1)} by {name!r}" for name, share in by_run.items())
        raise InputError(
            f"the development runs prefer temperature {run.temperature} ({shares}), and "
            f"{reported.name!r} was sampled at {reported.temperature}; give a run at "
            f"{run.temperature}"
        )
    kept = replace(settings, voters=choice.voters or settings.voters)
    weights = {choice.share_weight}
    measured = dict(_points(reported.cases, most, has_logprob, kept, weights))
    return ChosenStrategy(choice, point, measured[choice], run.name, run.temperature, by_run)


def _check_problems(development: DevelopmentRun, reported: DevelopmentRun) -> None:
    questions = {case.question for case in development.cases} - {""}
    if shared := [case for case in reported.cases if case.question in questions]:
        raise InputError(
            f"{len(shared)} problems of the reported run are also in the development run "
            f"(such as {shared[0].problem!r}); give a run on other problems with --dev"
        )


def _points(
    cases: Sequence[RankedProblem],
    most: int,
    has_logprob: bool,
    settings: SelectionSettings,
    share_weights: Collection[float],
) -> Iterator[tuple[StrategyChoice, CurvePoint]]:
    """Yield every choice with its accuracy; the settings' number of voters is one of them."""
    for number, weight in enumerate(sorted(share_weights)):
        of_weight = replace(settings, share_weight=weight)
        picked = [pick(case, has_logprob, of_weight, steps(most)) for case in cases if case.options]
        for name, points in curves_of(picked, most).items():
            if name in (MEAN, COVERAGE, "top") or (number and name != "frequency"):
                continue
            for point in points:
                share = weight if name == "frequency" else 0.0
                yield StrategyChoice(name, point.n, share_weight=share), point
        if number:
            continue
        for n, points in top_curves_of(picked, most).items():
            for point in points:
                yield StrategyChoice("top", n, voters=point.n), point
