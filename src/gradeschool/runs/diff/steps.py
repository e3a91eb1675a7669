"""Decompose the difference of two accuracies: change one thing at a time, from A to B.

The steps begin with A's completions under A's scorer and end with B's under B's scorer, so that
their points add up to the total difference. Their order is fixed, which matters if two steps affect
the same completion: labels, scorer, stop strings, limit, then the texts that none of these
explains, first those with another prompt, then the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from gradeschool.errors import InputError
from gradeschool.formats.settings import LIMIT
from gradeschool.problem import Problem
from gradeschool.runs.diff.pairs import DiffSide, PairedSamples, SamplePair
from gradeschool.scorer import Scorer
from gradeschool.scoring.statistics import mean_share
from gradeschool.scoring.table import (
    CORRECT,
    ERROR,
    ScorerSet,
    Tally,
    nothing_judged,
    tally_by_problem,
)

SET, LABELS, SCORER = "problems, samples and errors on one side only", "labels", "scorer"
STOP, LIMITS = "stop strings", "texts cut short"
PROMPTS, TEXTS = "other texts, other prompts", "other texts, same prompts"
UNPROMPTED = "other texts, prompts not recorded"
ROUNDING = 1e-12  # tolerance for differences of equal shares
STEPS_OF_TEXTS = (PROMPTS, TEXTS, UNPROMPTED)


@dataclass(frozen=True, slots=True)
class DiffStep:
    """One change on the way from A to B.

    points: of accuracy, B minus A. texts: number of completions that it replaces. gained, lost:
    number of verdicts that it changes to correct, and from correct.
    """

    name: str
    points: float
    texts: int
    gained: int
    lost: int

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class DiffAccount:
    """All steps. judged: pairs that every step can judge.

    tallies_a, tallies_b: each side's samples of each problem, all that its scorer can judge.
    turned: A's completions whose verdict B's scorer changes to correct and from correct, then B's.
    """

    accuracy_a: float
    accuracy_b: float
    tallies_a: tuple[Tally, ...]
    tallies_b: tuple[Tally, ...]
    judged: int
    steps: tuple[DiffStep, ...]
    turned: tuple[tuple[int, int], tuple[int, int]]


class ReadText(NamedTuple):
    """The text of a pair after a step, read by A's (0) or B's scorer, with its problem."""

    text: str
    scorer: int
    problem: Problem


Change = Callable[[SamplePair, ReadText], ReadText]


def account_of(
    a: DiffSide, b: DiffSide, paired: PairedSamples, scorers: tuple[Scorer, Scorer]
) -> DiffAccount:
    """Return the steps of the difference of two sides, each under its own scorer.

    Raises InputError for a side without a sample that its scorer can judge, and for sides that
    share no sample.
    """
    # One for each side's problems, as their labels may differ.
    judges = ScorerSet(scorers), ScorerSet(scorers)
    tallies = [tuple(tally_by_problem(_codes(side, judges[own], own)).values())
               for own, side in enumerate((a, b))]  # fmt: skip
    for side, judged, scorer in zip((a, b), tallies, scorers, strict=True):
        if not judged:
            raise nothing_judged(side.run.name, scorer.name)
    if not paired.pairs:
        raise InputError(
            f"{a.run.name!r} and {b.run.name!r} have no sample of the same problem; give two "
            "results of one dataset"
        )
    changes = _changes(a, b)
    walks = [_walk(pair, changes, judges) for pair in paired.pairs]
    kept = [walk for walk in walks if all(code != ERROR for code, _ in walk)]
    whole = [mean_share(each) for each in tallies]
    n = len(kept)
    common = [sum(walk[end][0] == CORRECT for walk in kept) for end in (0, -1)]
    steps = [_step(name, number, kept) for number, (name, _) in enumerate(changes, start=1)]
    gap = whole[1] - whole[0] - ((common[1] - common[0]) / n if n else 0.0)
    gap = gap if abs(gap) > ROUNDING else 0.0
    lone = len(a.run.samples) + len(b.run.samples) - 2 * n
    return DiffAccount(
        accuracy_a=whole[0],
        accuracy_b=whole[1],
        tallies_a=tallies[0],
        tallies_b=tallies[1],
        judged=n,
        steps=(DiffStep(SET, 100 * gap, lone, 0, 0), *steps),
        turned=(_turned(a, judges[0], 0), _turned(b, judges[1], 1)),
    )


def _changes(a: DiffSide, b: DiffSide) -> list[tuple[str, Change]]:
    limits = a.settings.get(LIMIT), b.settings.get(LIMIT)
    same_limit = limits[0] is not None and limits[0] == limits[1]

    def stopped(pair: SamplePair, state: ReadText) -> ReadText:
        if stop_acts(pair, a.stops, b.stops):
            return state._replace(text=pair.b.text)
        return state._replace(text=cut_at(pair.a.text, b.stops))

    def limited(pair: SamplePair, state: ReadText) -> ReadText:
        return state._replace(text=pair.b.text) if pair.cut and not same_limit else state

    def when(equal: bool | None) -> Change:
        def texts(pair: SamplePair, state: ReadText) -> ReadText:
            return state._replace(text=pair.b.text) if pair.prompts_equal is equal else state

        return texts

    return [
        (LABELS, lambda pair, state: state._replace(problem=pair.problem_b)),
        (SCORER, lambda pair, state: state._replace(scorer=1)),
        (STOP, stopped),
        (LIMITS, limited),
        (PROMPTS, when(False)),
        (TEXTS, when(True)),
        (UNPROMPTED, when(None)),
    ]


def cut_at(text: str, stops: Sequence[str]) -> str:
    """Return a text up to the first stop string in it."""
    places = [place for stop in stops if stop and (place := text.find(stop)) >= 0]
    return text[: min(places, default=len(text))]


def stop_acts(pair: SamplePair, stops_a: Sequence[str], stops_b: Sequence[str]) -> bool:
    """Return whether two texts differ only by stop strings: cut at all of them, both are equal."""
    if pair.texts_equal:
        return False
    cut_a = cut_at(pair.a.text, stops_b).rstrip()
    return bool(cut_a) and cut_a == cut_at(pair.b.text, stops_a).rstrip()


def _walk(
    pair: SamplePair, changes: Sequence[tuple[str, Change]], judges: tuple[ScorerSet, ScorerSet]
) -> list[tuple[int, bool]]:
    """Return the outcome after each step, and whether the step replaced the text."""
    state = ReadText(pair.a.text, 0, pair.problem_a)
    walked = [(_code(state, judges[0]), False)]
    for _, change in changes:
        after = change(pair, state)
        code = walked[-1][0] if after == state else _code(after, judges[1])
        walked.append((code, after.text != state.text))
        state = after
    return walked


def _step(name: str, number: int, walks: Sequence[Sequence[tuple[int, bool]]]) -> DiffStep:
    gained = sum(walk[number - 1][0] != CORRECT == walk[number][0] for walk in walks)
    lost = sum(walk[number - 1][0] == CORRECT != walk[number][0] for walk in walks)
    points = 100 * (gained - lost) / len(walks) if walks else 0.0
    return DiffStep(name, points, sum(walk[number][1] for walk in walks), gained, lost)


def _code(state: ReadText, judges: ScorerSet) -> int:
    return judges.outcomes(state.text, state.problem)[state.scorer]


def _codes(side: DiffSide, judges: ScorerSet, scorer: int) -> list[tuple[str, int]]:
    return [
        (sample.problem.id, _code(ReadText(sample.text, scorer, sample.problem), judges))
        for sample in side.run.samples
        if sample.problem is not None and not sample.error
    ]


def _turned(side: DiffSide, judges: ScorerSet, own: int) -> tuple[int, int]:
    """Return how many of a side's verdicts the other scorer turns to correct, and from it."""
    codes = ([code for _, code in _codes(side, judges, scorer)] for scorer in (own, 1 - own))
    pairs = [pair for pair in zip(*codes, strict=True) if ERROR not in pair]
    gained = sum(before != CORRECT == after for before, after in pairs)
    return gained, sum(before == CORRECT != after for before, after in pairs)
