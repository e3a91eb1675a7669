"""The strategy and temperature that are best on development runs, measured on another run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from gradeschool.errors import InputError
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
    """A strategy with its settings; n: completions of each problem. voters: 0 for none."""

    strategy: str
    n: int
    voters: int = 0
    share_weight: float = 0.0


class ChosenStrategy(NamedTuple):
    """A choice, its accuracy on the development run and on the run that is reported.

    run: the development run, as the command names it. temperature: of both, None where not known.
    """

    choice: StrategyChoice
    development: CurvePoint
    reported: CurvePoint
    run: str = ""
    temperature: float | None = None


class DevelopmentRun(NamedTuple):
    """A development run, as the command names it. temperature: None where not known."""

    name: str
    temperature: float | None
    cases: Sequence[RankedProblem]


def chosen_run(
    developments: Sequence[DevelopmentRun],
    reported: DevelopmentRun,
    *,
    has_logprob: bool,
    settings: SelectionSettings,
) -> ChosenStrategy:
    """Choose among the strategies on several development runs, of different temperatures.

    The highest accuracy on any of them wins, as in `chosen_strategy`. Raises InputError where that
    run has another temperature than the one that is reported, which then says nothing of the
    choice.
    """
    chosen = [
        chosen_strategy(run.cases, reported.cases, has_logprob=has_logprob, settings=settings)
        ._replace(run=run.name, temperature=run.temperature)
        for run in developments
    ]  # fmt: skip
    best = max(chosen, key=lambda each: (each.development.accuracy, -each.choice.n))
    if best.temperature == reported.temperature or len(chosen) == 1:
        return best
    shares = ", ".join(
        f"{100 * each.development.accuracy:.1f} % at {each.temperature} ({each.run!r})"
        for each in chosen
    )
    raise InputError(
        f"the development runs prefer temperature {best.temperature} ({shares}), and "
        f"{reported.name!r} was sampled at {reported.temperature}; give a run at "
        f"{best.temperature}"
    )


def chosen_strategy(
    development: Sequence[RankedProblem],
    reported: Sequence[RankedProblem],
    *,
    has_logprob: bool,
    settings: SelectionSettings,
) -> ChosenStrategy:
    """Choose strategy, completions, voters and share weight on one run, and measure on another.

    The highest accuracy on the development run wins; of equals the one of fewer completions. No
    outcome of the reported run has a part in it. Raises InputError where the runs share a problem.
    """
    questions = {case.question for case in development} - {""}
    if shared := [case for case in reported if case.question in questions]:
        raise InputError(
            f"{len(shared)} problems of the run that is reported are in the development run too "
            f"(such as {shared[0].problem!r}); give a run on other problems with --dev"
        )
    most = min(max(len(case.options) for case in cases) for cases in (development, reported))
    candidates = dict(_points(development, most, has_logprob, settings))
    choice = max(candidates, key=lambda each: (candidates[each].accuracy, -each.n))
    kept = replace(settings, share_weight=choice.share_weight)
    voters = (choice.voters,) if choice.voters else ()
    measured = dict(_points(reported, most, has_logprob, kept, voters))
    return ChosenStrategy(choice, candidates[choice], measured[choice])


def _points(
    cases: Sequence[RankedProblem],
    most: int,
    has_logprob: bool,
    settings: SelectionSettings,
    voters: Sequence[int] = (),
) -> Iterator[tuple[StrategyChoice, CurvePoint]]:
    """Yield every choice with its accuracy. voters: more numbers of voters."""
    weights = {settings.share_weight, *(() if voters else SHARE_WEIGHTS)}
    for number, weight in enumerate(sorted(weights)):
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
