"""Compares runs problem by problem: under one scorer, or one run under two scorers.

A profile tells whether a score on GSM8K survives a change of numbers, wording or language. It
compares a model on an original set with the same model on variations of its problems. Each
variation is paired with the problem that it varies (`Problem.meta["seed"]`), and problems are the
unit of every interval. A set of other problems is compared without pairs. Every miss has one kind
(format, arithmetic or reasoning), so the changes of the kinds sum to a loss.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from gradeschool.datasets.load import FRESH
from gradeschool.errors import InputError
from gradeschool.printable import (
    accuracy_words,
    count,
    gain,
    p_value,
    percent,
    point_bounds,
    points,
)
from gradeschool.problem import Problem
from gradeschool.scorer import clip
from gradeschool.scoring import statistics
from gradeschool.scoring.matching import squeeze
from gradeschool.scoring.table import ERROR, ScoredTable, Tally, nothing_judged

SHOWN_IDS = 5
LEVEL = 0.05  # of p
GROUPED_BY = "perturbation"  # the fact about a variation that groups the problems of a set
# Sets and perturbations that change a problem but not its difficulty.
AS_DIFFICULT = frozenset({"gsm-symbolic", "numerical substitution", "problem understanding"})
TOO_WIDE = 10.0  # points; if a larger loss is not excluded, the problems are too few


@dataclass(frozen=True)
class Outcomes:
    """One run under one scorer, by problem id.

    failed_samples: number of samples without a verdict, which are left out. scorer_errors: number
    of texts on which the scorer itself fails, by problem. unjudged_problems: ids of the problems of
    which the run has samples, none of which could be judged. misses: number of wrong samples of a
    problem, by kind of miss; {} if not counted. dataset: its name, "" if unknown.
    """

    run: str
    problems: Mapping[str, Problem]
    tallies: Mapping[str, Tally]
    failed_samples: int
    misses: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    unjudged_problems: tuple[str, ...] = ()
    dataset: str = ""
    scorer_errors: Mapping[str, int] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the run's name, its accuracy or the bounds of it, and its interval."""
        share = self.share
        return {
            "run": self.run,
            "problems": len(self.tallies),
            "accuracy": None if share.bounds else share.accuracy,
            **({"accuracy_bounds": list(share.bounds)} if share.bounds else {}),
            "ci95": list(share.interval),
        }

    @cached_property
    def share(self) -> statistics.Share:
        """The accuracy, its interval and, if the scorer fails on texts, its bounds."""
        ids = {**self.tallies, **self.scorer_errors}
        return statistics.share_of(
            (*self.tallies.get(id, (0, 0)), self.scorer_errors.get(id, 0)) for id in ids
        )


def run_outcomes(table: ScoredTable) -> Outcomes:
    """Return the outcomes of a run under the first scorer; errors are counted and left out.

    Raises InputError if the scorer can judge no completion.
    """
    run, tallies = table.run, table.tallies()
    if not tallies:
        raise nothing_judged(run.name, table.scorers.names[0])
    every = dict.fromkeys(problem.id for problem in run.problems() if problem)
    judged = zip(table.problems, table.outcomes, strict=True)
    return Outcomes(
        run.name,
        {problem.id: problem for problem in table.problems if problem.id in tallies},
        tallies,
        len(run.samples) - sum(tally.judged for tally in tallies.values()),
        unjudged_problems=tuple(id for id in every if id not in tallies),
        dataset=run.dataset,
        scorer_errors=Counter(problem.id for problem, outcomes in judged if outcomes[0] == ERROR),
    )


class Change(NamedTuple):
    """A problem on which two runs differ: the share of right samples in each."""

    problem: str
    before: float
    after: float


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """One run against the first; every difference is `run` minus `baseline`, -1..1.

    n: problems that both judged; 0 for an unpaired comparison. accuracy_a, accuracy_b: on those
    problems only. left_out: problems that both contain, without a judged completion in one or both.
    p_holm: p corrected for the number of comparisons.
    detectable: the smallest true difference that this many problems detect with 80 % power. needed:
    the number of problems that would detect the observed difference with that power.
    """

    baseline: str
    run: str
    n: int
    accuracy_a: float
    accuracy_b: float
    difference: float
    ci95: statistics.Interval
    ci_method: str
    p: float
    p_method: str
    p_holm: float
    gained: tuple[Change, ...] = ()
    lost: tuple[Change, ...] = ()
    detectable: float | None = None
    needed: int | None = None
    left_out: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Return the difference in one line, in points."""
        change = gain(self.difference, self.ci95, 2)
        return f"<{self.run} against {self.baseline}: {change} points, p {p_value(self.p_holm)}>"

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values, differences as shares."""
        fields = asdict(self)
        for side in ("gained", "lost"):
            fields[side] = [change._asdict() for change in fields[side]]
        return fields


def shared_by_all(outcomes: Sequence[Outcomes]) -> list[Outcomes]:
    """Return runs restricted to the problems that all of them contain.

    They are unchanged if there is no such problem: `compare` reports it.
    """
    shared = set.intersection(*(set(run.tallies) for run in outcomes))
    if not shared:
        return list(outcomes)

    def restrict(by_problem: Mapping[str, Any]) -> dict[str, Any]:
        return {id: value for id, value in by_problem.items() if id in shared}

    return [replace(run, tallies=restrict(run.tallies), scorer_errors=restrict(run.scorer_errors))
            for run in outcomes]  # fmt: skip


def compare(outcomes: Sequence[Outcomes], common: bool = False) -> list[Comparison]:
    """Compare every run with the first, paired by problem.

    A problem without a judged completion in one of two runs is left out of both. common: compare on
    the common problems if the sets differ. Raises InputError if they differ without it, and if an
    id means two problems.
    """
    first = outcomes[0]
    return holm_corrected([_paired(first, other, common) for other in outcomes[1:]])


def compare_unpaired(outcomes: Sequence[Outcomes]) -> list[Comparison]:
    """Compare every run with the first as if they shared no problems."""
    a, comparisons = outcomes[0], []
    for b in outcomes[1:]:
        difference, interval, p = statistics.unpaired(
            list(a.tallies.values()), list(b.tallies.values())
        )
        comparisons.append(
            Comparison(a.run, b.run, 0, statistics.mean_share(a.tallies.values()),
                       statistics.mean_share(b.tallies.values()), difference, interval,
                       "unpaired score interval (Newcombe)", p, "unpaired z test", p)
        )  # fmt: skip
    return holm_corrected(comparisons)


def holm_corrected(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Return comparisons whose p_holm is corrected for their number (Holm 1979)."""
    corrected, largest = list(comparisons), 0.0
    order = sorted(range(len(corrected)), key=lambda index: corrected[index].p)
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * corrected[index].p))
        corrected[index] = replace(corrected[index], p_holm=largest)
    return corrected


def _paired(a: Outcomes, b: Outcomes, common: bool) -> Comparison:
    shared = [id for id in a.tallies if id in b.tallies]
    for id in shared:
        first, second = a.problems[id], b.problems[id]
        if (first.question, first.gold) != (second.question, second.gold):
            raise InputError(
                f"{a.run!r} and {b.run!r} use the id {id!r} for different problems: "
                f"{first.question[:60]!r} (gold {first.gold!r}) and {second.question[:60]!r} "
                f"(gold {second.gold!r}); compare runs of one dataset, or give --unpaired"
            )
    only = []  # what the other run does not contain; a problem without a judged completion is there
    in_a, in_b = ({*run.tallies, *run.unjudged_problems} for run in (a, b))
    for run, others in ((a, in_b), (b, in_a)):
        if ids := [id for id in run.tallies if id not in others]:
            asked = f", which asks {clip(run.problems[ids[0]].question)!r}"
            only.append(f"{len(ids)} only in {run.run!r} ({_shown(ids)}{asked})")
    if only and not common:
        only += [left_out_text(run.run, run.unjudged_problems) for run in (a, b)
                 if run.unjudged_problems]  # fmt: skip
        raise InputError(
            f"the runs judge different problems: {'; '.join(only)}; give --common to compare "
            f"the {len(shared)} common ones, or --unpaired"
        )
    if not shared:
        raise InputError(
            f"{a.run!r} and {b.run!r} share no problem; give --unpaired to compare them anyway"
        )
    pairs = [statistics.ProblemPair(*a.tallies[id], *b.tallies[id]) for id in shared]
    changes = [Change(id, pair.right_a / pair.n_a, pair.right_b / pair.n_b)
               for id, pair in zip(shared, pairs, strict=True)]  # fmt: skip
    changes.sort(key=lambda change: -abs(change.after - change.before))
    n, difference = len(pairs), statistics.mean_difference(pairs)
    discordance = sum(pair.difference**2 for pair in pairs) / n
    largest = sum(abs(pair.difference) for pair in pairs) / n
    interval, ci_method = statistics.paired_interval(pairs)
    p, p_method = statistics.paired_test(pairs)
    unjudged = dict.fromkeys((*a.unjudged_problems, *b.unjudged_problems))
    return Comparison(
        a.run, b.run, n, statistics.mean_share(pair[:2] for pair in pairs),
        statistics.mean_share(pair[2:] for pair in pairs), difference, interval, ci_method, p,
        p_method, p,
        gained=tuple(change for change in changes if change.after > change.before),
        lost=tuple(change for change in changes if change.after < change.before),
        detectable=statistics.minimum_detectable(n, discordance, largest),
        needed=statistics.problems_needed(discordance, difference),
        left_out=tuple(id for id in unjudged if id in in_a and id in in_b),
    )  # fmt: skip


def left_out_text(run: str, ids: Sequence[str]) -> str:
    """Say which problems a comparison does not use, as a run has no judged completion of them."""
    problems = count(len(ids), "problem")
    return f"{problems} left out: no completion in {run!r} that can be judged ({_shown(ids)})"


def _shown(ids: Sequence[str]) -> str:
    return f"{', '.join(ids[:SHOWN_IDS])}{', ...' if len(ids) > SHOWN_IDS else ''}"


class Threshold(NamedTuple):
    """A threshold of one run, whether it is met, and the figures in words."""

    run: str
    met: bool
    text: str


def check(
    outcomes: Sequence[Outcomes],
    comparisons: Sequence[Comparison],
    at_least: float | None,
    margin: float | None,
) -> list[Threshold]:
    """Return the thresholds that each run must meet.

    at_least: the accuracy to reach, as a share. margin: points by which a run may be worse than the
    first; met only if the whole 95 % interval of the difference is above that (non-inferiority at
    2.5 %, one-sided). With a margin, the first run is the baseline and has no threshold.
    """
    thresholds = []
    if at_least is not None:
        for run in outcomes if margin is None else outcomes[1:]:
            shown = f"accuracy {accuracy_words(run.share.accuracy, run.share.bounds)}"
            needed = f"at least {100 * at_least:g} % is required"
            is_met = run.share.accuracy >= at_least - 1e-12
            thresholds.append(Threshold(run.run, is_met, f"{run.run}: {shown}, {needed}"))
    if margin is not None:
        for other in comparisons:
            met = 100 * other.ci95.low > -margin
            low = f"the interval's lower bound is {points(other.ci95.low)} points"
            text = f"{other.run} against {other.baseline}: {low}, it must be above -{margin:g}"
            thresholds.append(Threshold(other.run, met, text + _needed_for(other, margin)))
    return thresholds


def gate(
    outcomes: Sequence[Outcomes],
    comparisons: Sequence[Comparison],
    margin: float,
    failures: int = 0,
) -> list[Threshold]:
    """Return the thresholds of a build against the last good run, which is the first.

    A build fails if its accuracy is lower and the one-sided p is below 5 % (McNemar's test if each
    problem has one sample; corrected for several runs), so at most one in twenty equal builds
    fails. Failed samples have a threshold of their own and never count as wrong: up to `failures`
    samples without a verdict, or problems that only the good run has, are accepted. The text says
    whether a loss of `margin` points is excluded, and how many problems that takes.
    """
    good = outcomes[0]
    thresholds = []
    for run, other in zip(outcomes[1:], comparisons, strict=True):
        failed = max(run.failed_samples, len(good.tallies.keys() - run.tallies.keys()))
        counts = f"{count(failed, 'sample')} failed ({good.failed_samples} in {good.run})"
        text = f"{run.run}: {counts}, at most {failures} are accepted"
        thresholds.append(Threshold(run.run, failed <= failures, text))
        p = other.p_holm / 2 if other.difference < 0 else 1 - other.p_holm / 2
        shown = f"{points(other.difference)} points, one-sided p {p_value(p)}"
        is_excluded = "excluded" if 100 * other.ci95.low > -margin else "not excluded"
        loss = f"a loss of {margin:g} is {is_excluded}{_needed_for(other, margin)}"
        text = f"{run.run} against {good.run}: {shown} (fails below {LEVEL:g}); {loss}"
        thresholds.append(Threshold(run.run, p >= LEVEL, text))
    return thresholds


def _needed_for(comparison: Comparison, margin: float) -> str:
    """Return in words how many problems exclude a loss of that many points.

    "" if it is excluded, or if that is unknown.
    """
    changes = (*comparison.gained, *comparison.lost)
    squares = sum((change.after - change.before) ** 2 for change in changes)
    if 100 * comparison.ci95.low > -margin or not (squares and margin and comparison.n):
        return ""
    needed = statistics.problems_for_margin(squares / comparison.n, margin / 100)
    return f" (an equally good run needs {needed:,} problems to exclude it with 80 % power)"


# Profiles


@dataclass(frozen=True, slots=True)
class ProfileEntry:
    """One set, or a group of its problems, against the original.

    dataset: the set's name, "" if unknown. group: the value of the fact that groups its problems,
    "" for the whole set. problems: number of judged variations. comparison: original as baseline,
    by seed problem, with accuracies that are means over the seed problems; n is 0 if the problems
    vary none of the original's. p_holm is corrected for all entries of a profile. parts: the
    comparison of each kind of miss, whose differences sum to the negative of that one; {} if no
    misses were counted.
    """

    run: str
    group: str
    problems: int
    comparison: Comparison
    parts: Mapping[str, Comparison] = field(default_factory=dict)
    dataset: str = ""

    @property
    def name(self) -> str:
        """Return the set and the group."""
        return f"{self.run}, {self.group}" if self.group else self.run

    @property
    def is_lower(self) -> bool:
        """True if the accuracy is significantly lower than on the original."""
        return self.comparison.p_holm < LEVEL and self.comparison.difference < 0


def profile(original: Outcomes, others: Sequence[Outcomes]) -> list[ProfileEntry]:
    """Compare a model's run on every other set with its run on the original, under one scorer.

    Entries come in the order of the runs, a whole set before its groups. Raises InputError if no
    set varies a problem of the original, unless that is a set of fresh problems.
    """
    find_seed, entries = seed_finder(original.problems), []
    for other in others:
        paired: dict[str, str] = {}
        groups: dict[str, dict[str, str]] = {}
        for id, problem in other.problems.items():
            if (seed := find_seed(problem)) is not None:
                paired[id] = seed
                if value := problem.meta.get(GROUPED_BY):
                    groups.setdefault(value, {})[id] = seed
        entries.append(_entry(original, other, paired or None))
        if len(groups) > 1:
            entries += [_entry(original, other, groups[value], value) for value in sorted(groups)]
    if not _is_fresh(original) and not any(entry.comparison.n for entry in entries):
        raise InputError(
            "no run has a variation of a problem of the first run; give the run on gsm8k first, "
            "then those on gsm-plus, gsm-symbolic, gsm-hard, mgsm:LANG or gsm8k-platinum"
        )
    corrected = holm_corrected([entry.comparison for entry in entries])
    return [replace(entry, comparison=c) for entry, c in zip(entries, corrected, strict=True)]


def _entry(
    base: Outcomes, outcomes: Outcomes, seeds: Mapping[str, str] | None, group: str = ""
) -> ProfileEntry:
    """Compare a set, or the variations in a group, with the original.

    seeds: the seed problem of each variation; the variations of one are counted together. None: the
    set varies no problem of the original, and the comparison is unpaired.
    """

    def against(kind: str | None) -> Comparison:
        """Compare the right samples, or the misses of one kind."""
        first, second = base, outcomes
        if kind is not None:
            first, second = (
                replace(run, tallies={id: Tally(run.misses.get(kind, {}).get(id, 0), tally.judged)
                                      for id, tally in run.tallies.items()})
                for run in (base, outcomes)
            )  # fmt: skip
        if seeds is None:
            return compare_unpaired([first, second])[0]
        sums: dict[str, Tally] = {}
        for id, seed in seeds.items():
            earlier, (correct, judged) = sums.get(seed, Tally(0, 0)), second.tallies[id]
            sums[seed] = Tally(earlier.correct + correct, earlier.judged + judged)
        varied = Outcomes(second.run, first.problems, sums, second.failed_samples)
        return replace(
            compare([first, varied], common=True)[0],
            accuracy_a=statistics.mean_share(first.tallies[seed] for seed in sums),
            accuracy_b=statistics.mean_share(sums.values()),
        )

    parts = {kind: against(kind) for kind in base.misses}
    number = len(outcomes.tallies if seeds is None else seeds)
    return ProfileEntry(outcomes.run, group, number, against(None), parts, outcomes.dataset)


def entry_sentence(entry: ProfileEntry, original: str) -> str:
    """Return a sentence on an entry that says no more than its interval supports."""
    pair = entry.comparison
    same = f"the same {pair.n:,} problems as" if pair.n else "other problems,"
    if entry.is_lower:
        outcome = "significantly lower"
    elif pair.p_holm < LEVEL:
        outcome = "significantly higher"
    else:
        excludes_zero = pair.ci95.low > 0 or pair.ci95.high < 0
        corrected = " once p is corrected for the number of lines" if excludes_zero else ""
        most = max(0.0, -100 * pair.ci95.low)
        outcome = f"no significant difference{corrected}; a drop of {most:.1f} or more is excluded"
    return (
        f"{original} {percent(pair.accuracy_a, 1)}; {same} {entry.name} "
        f"{percent(pair.accuracy_b, 1)} ({_difference(pair)}): {outcome}"
    )


def _difference(pair: Comparison) -> str:
    """Return a difference with its interval: "-5.1 points, 95 % -6.4 to -3.8"."""
    return f"{points(pair.difference, 1)} points, 95 % {point_bounds(pair.ci95, 1)}"


def conclusions(original: Outcomes, entries: Sequence[ProfileEntry]) -> list[str]:
    """Return the conclusions of a profile in sentences.

    The first says whether the model is worse if only numbers or words change. The others name, for
    whole sets that lose, the kinds of misses whose interval excludes 0.
    """
    run = original.run
    equal = [entry for entry in entries if {entry.dataset, entry.group} & AS_DIFFICULT]
    names = "; ".join(entry.name for entry in equal)
    most = max([0.0, *(-100 * entry.comparison.ci95.low for entry in equal)])
    lower = ", ".join(
        f"{each.name} {_difference(each.comparison)}" for each in equal if each.is_lower
    )
    if lower:
        first = (
            f"{run} overstates the model: on the same problems with other numbers or words, as "
            f"difficult as they were, it loses ({lower})."
        )
    elif most > TOO_WIDE:
        first = (
            f"Too few problems to tell whether the model memorised the problems of {run}: on "
            f"problems as difficult a loss of {most:.1f} points is not excluded ({names})."
        )
    elif equal:
        first = (
            f"No loss was found on problems as difficult as those of {run} ({names}); of each, one "
            f"of {most:.1f} points or more is excluded."
        )
    elif _is_fresh(original):
        first = f"The problems of {run} are new: no model has memorised them."
    else:
        first = (
            f"Whether the model memorised the problems of {run} was not tested: no set of this "
            f"profile is as difficult ({', '.join(sorted(AS_DIFFICULT))})."
        )
    sentences = [first]
    for entry in entries:
        sure = [(kind, part) for kind, part in entry.parts.items() if part.ci95.low > 0]
        sure.sort(key=lambda each: -each[1].difference)
        if entry.is_lower and not entry.group and sure:
            parts = ", ".join(f"{kind} {_difference(part)[1:]}" for kind, part in sure)
            loss = -100 * entry.comparison.difference
            sentences.append(f"Of the {loss:.1f} points on {entry.name}: {parts}.")
    return sentences


def _is_fresh(outcomes: Outcomes) -> bool:
    return any(problem.meta.get("dataset") == FRESH for problem in outcomes.problems.values())


def profile_json(original: Outcomes, entries: Sequence[ProfileEntry]) -> dict[str, Any]:
    """Return a profile as JSON values, differences as shares, with its sentences."""
    sets = []
    for entry in entries:
        pair = entry.comparison
        sets.append({
            "run": entry.run,
            "group": entry.group or None,
            "problems": entry.problems,
            "seed_problems": pair.n,
            "accuracy": pair.accuracy_b,
            "original_accuracy": pair.accuracy_a,
            "difference": pair.difference,
            "ci95": list(pair.ci95),
            "p": pair.p,
            "p_holm": pair.p_holm,
            "test": pair.p_method,
            "loss": {kind: {"share": part.difference, "ci95": list(part.ci95)}
                     for kind, part in entry.parts.items()},
        })  # fmt: skip
    return {
        "original": original.as_json(),
        "sets": sets,
        "sentences": [entry_sentence(entry, original.run) for entry in entries],
        "verdict": conclusions(original, entries),
    }


def seed_finder(problems: Mapping[str, Problem]) -> Callable[[Problem], str | None]:
    """Return a function that finds the id of a variation's original problem, None for none."""
    by_question = {squeeze(problem.question): id for id, problem in problems.items()}

    def find(problem: Problem) -> str | None:
        seed = problem.meta.get("seed", problem.meta.get("row", ""))
        return seed if seed in problems else by_question.get(squeeze(seed or problem.question))

    return find
