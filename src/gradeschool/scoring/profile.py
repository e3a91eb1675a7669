"""Whether a score on GSM8K survives a change of numbers, wording or language.

The same model on an original set and on variations of its problems: every variation is paired with
the problem that it varies (`Problem.meta["seed"]`), and problems are the unit of every interval. A
set of other problems is compared without pairs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from gradeschool.errors import InputError
from gradeschool.problem import Problem
from gradeschool.scoring.compare import Comparison, Outcomes, compare, compare_unpaired
from gradeschool.scoring.statistics import holm
from gradeschool.scoring.table import Tally

# Facts about a variation by which the problems of a set are grouped.
GROUPED_BY = ("perturbation",)
LEVEL = 0.05


class InstanceSpread(NamedTuple):
    """The accuracy over the instances of a template set: one value for each instance number."""

    instances: int
    mean: float
    deviation: float
    lowest: float
    highest: float


@dataclass(frozen=True, slots=True)
class ProfileEntry:
    """One set, or a group of its problems, against the original.

    group: the value of the fact that groups them, "" for the whole set. problems: variations that
    were judged. comparison: original as baseline, by seed problem; its n is 0 where the problems
    vary none of the original's. p_holm is corrected for all entries of a profile.
    """

    run: str
    group: str
    problems: int
    comparison: Comparison
    instances: InstanceSpread | None = None

    @property
    def is_lower(self) -> bool:
        """Whether the accuracy is significantly lower than on the original."""
        return self.comparison.p_holm < LEVEL and self.comparison.difference < 0

    def as_json(self) -> dict[str, Any]:
        """Return the figures as JSON values, differences as shares."""
        pair = self.comparison
        return {
            "run": self.run,
            "group": self.group or None,
            "problems": self.problems,
            "seed_problems": pair.n,
            "accuracy": pair.accuracy_b,
            "original_accuracy": pair.accuracy_a,
            "difference": pair.difference,
            "ci95": list(pair.ci95),
            "p": pair.p,
            "p_holm": pair.p_holm,
            "test": pair.p_method,
            "instances": None if self.instances is None else self.instances._asdict(),
        }


def profile(original: Outcomes, others: Sequence[Outcomes]) -> list[ProfileEntry]:
    """Compare a model's run on every other set with its run on the original, under one scorer.

    Entries come in the order of the runs, a whole set before its groups. Raises InputError where no
    set varies a problem of the original.
    """
    seeds = _Seeds(original.problems)
    entries = [entry for other in others for entry in _entries(original, seeds, other)]
    if not any(entry.comparison.n for entry in entries):
        raise InputError(
            "no run asks a variation of a problem of the first run; give the run on gsm8k first, "
            "then those on gsm-plus, gsm-symbolic, gsm-hard, mgsm:LANG or gsm8k-platinum"
        )
    corrected = holm([entry.comparison.p for entry in entries])
    return [
        replace(entry, comparison=replace(entry.comparison, p_holm=p))
        for entry, p in zip(entries, corrected, strict=True)
    ]


def sentence(entry: ProfileEntry, original: str) -> str:
    """Say what an entry shows, with nothing that its interval does not support."""
    pair = entry.comparison
    low, high = (f"{100 * bound:+.1f}" for bound in pair.ci95)
    name = f"{entry.run}, {entry.group}" if entry.group else entry.run
    same = f"the same {pair.n:,} problems as" if pair.n else "other problems,"
    if entry.is_lower:
        verdict = "significantly lower"
    elif pair.p_holm < LEVEL:
        verdict = "significantly higher"
    else:
        verdict = f"no significant difference; a drop of {max(0.0, -100 * pair.ci95.low):.1f} or "
        verdict += "more is excluded"
    return (
        f"{original} {100 * pair.accuracy_a:.1f} %; {same} {name} {100 * pair.accuracy_b:.1f} % "
        f"({100 * pair.difference:+.1f} points, 95 % {low} to {high}): {verdict}"
    )


class _Seeds:
    """Finds the problem of the original set that a variation varies."""

    def __init__(self, problems: Mapping[str, Problem]) -> None:
        self.problems = problems
        self.by_question = {_key(problem.question): id for id, problem in problems.items()}

    def find(self, problem: Problem) -> str | None:
        """Return the id of the original problem, None where there is none."""
        seed = problem.meta.get("seed", problem.meta.get("row", ""))
        if seed in self.problems:
            return seed
        return self.by_question.get(_key(seed or problem.question))


def _key(question: str) -> str:
    return " ".join(question.split())


def _entries(base: Outcomes, seeds: _Seeds, outcomes: Outcomes) -> Iterator[ProfileEntry]:
    pairs = ((id, seeds.find(problem)) for id, problem in outcomes.problems.items())
    paired = {id: seed for id, seed in pairs if seed is not None}
    if not paired:
        [comparison] = compare_unpaired([base, outcomes])
        yield ProfileEntry(outcomes.run, "", len(outcomes.tallies), comparison)
        return
    yield _paired(base, outcomes, paired, "")
    for fact in GROUPED_BY:
        values = {outcomes.problems[id].meta.get(fact, "") for id in paired}
        for value in sorted(values) if len(values) > 1 else ():
            group = {
                id: seed
                for id, seed in paired.items()
                if outcomes.problems[id].meta.get(fact) == value
            }
            yield _paired(base, outcomes, group, value)


def _paired(
    base: Outcomes, outcomes: Outcomes, seeds: Mapping[str, str], group: str
) -> ProfileEntry:
    """Count the variations of each seed problem together, and compare them with it."""
    counts: dict[str, list[int]] = {}
    for id, seed in seeds.items():
        tally = outcomes.tallies[id]
        count = counts.setdefault(seed, [0, 0])
        count[0] += tally.correct
        count[1] += tally.judged
    tallies = {seed: Tally(*count) for seed, count in counts.items()}
    by_seed = Outcomes(outcomes.run, base.problems, tallies, outcomes.unjudged)
    [comparison] = compare([base, by_seed], common=True)
    return ProfileEntry(
        outcomes.run, group, len(seeds), comparison, None if group else _spread(outcomes)
    )


def _spread(outcomes: Outcomes) -> InstanceSpread | None:
    """Return the accuracy over instances, None for a set that has no instances of templates."""
    counts: dict[str, list[int]] = {}
    for id, tally in outcomes.tallies.items():
        if instance := outcomes.problems[id].meta.get("instance"):
            count = counts.setdefault(instance, [0, 0])
            count[0] += tally.correct
            count[1] += tally.judged
    if len(counts) < 2:
        return None
    shares = [correct / judged for correct, judged in counts.values()]
    mean = math.fsum(shares) / len(shares)
    variance = math.fsum((share - mean) ** 2 for share in shares) / (len(shares) - 1)
    return InstanceSpread(len(shares), mean, math.sqrt(variance), min(shares), max(shares))
