"""Whether a score on GSM8K survives a change of numbers, wording or language.

Compares a model on an original set with the same model on variations of its problems. Each
variation is paired with the problem that it varies (`Problem.meta["seed"]`), and problems are the
unit of every interval. A set of other problems is compared without pairs. Every miss has one kind
(format, arithmetic or reasoning), so the changes of the kinds sum to a loss.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gradeschool.answers.failures import Failure
from gradeschool.datasets.load import FRESH
from gradeschool.errors import InputError
from gradeschool.printable import percent, point_bounds, points
from gradeschool.problem import Problem
from gradeschool.scorer import Outcome
from gradeschool.scoring.causes import Side, explained_samples
from gradeschool.scoring.compare import (
    Comparison,
    Outcomes,
    compare,
    compare_unpaired,
    holm_corrected,
)
from gradeschool.scoring.matching import squeeze
from gradeschool.scoring.statistics import mean_share
from gradeschool.scoring.table import ScoredTable, Tally

WITHOUT_ANSWER = frozenset({
    Failure.NO_RESPONSE, Failure.FILTERED, Failure.UNFINISHED_THINKING, Failure.TRUNCATED,
    Failure.REFUSAL, Failure.CODE_ONLY, Failure.NO_NUMBER, Failure.NOT_STATED,
})  # fmt: skip
GROUPED_BY = "perturbation"  # the fact about a variation that groups the problems of a set
LEVEL = 0.05
# Sets and perturbations that change a problem but not its difficulty.
AS_DIFFICULT = frozenset({"gsm-symbolic", "numerical substitution", "problem understanding"})
TOO_WIDE = 10.0  # points; if a larger loss is not excluded, the problems are too few


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
            accuracy_a=mean_share(first.tallies[seed] for seed in sums),
            accuracy_b=mean_share(sums.values()),
        )

    parts = {kind: against(kind) for kind in base.misses}
    number = len(outcomes.tallies if seeds is None else seeds)
    return ProfileEntry(outcomes.run, group, number, against(None), parts, outcomes.dataset)


def sentence(entry: ProfileEntry, original: str) -> str:
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


def verdict(original: Outcomes, entries: Sequence[ProfileEntry]) -> list[str]:
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
        "sentences": [sentence(entry, original.run) for entry in entries],
        "verdict": verdict(original, entries),
    }


def seed_finder(problems: Mapping[str, Problem]) -> Callable[[Problem], str | None]:
    """Return a function that finds the id of a variation's original problem, None for none."""
    by_question = {squeeze(problem.question): id for id, problem in problems.items()}

    def find(problem: Problem) -> str | None:
        seed = problem.meta.get("seed", problem.meta.get("row", ""))
        return seed if seed in problems else by_question.get(squeeze(seed or problem.question))

    return find


# Kinds of misses. Format: the right answer is there and the scorer misses it, or there is no answer
# (cut off, empty, a refusal). Arithmetic: a step is false ("12 * 34 = 418"), or the answer is
# rounded. Reasoning: all others.
ARITHMETIC, FORMAT, REASONING = "arithmetic", "format", "reasoning"


def with_misses(outcomes: Outcomes, table: ScoredTable) -> Outcomes:
    """Return the outcomes of a table's run with its misses by kind and problem.

    They are the misses of the table's first scorer.
    """
    misses: dict[str, Counter[str]] = {kind: Counter() for kind in (ARITHMETIC, FORMAT, REASONING)}
    for _, problem, verdicts, causes, _ in explained_samples(table, {}):
        if not verdicts or verdicts[0].outcome in (Outcome.CORRECT, Outcome.ERROR):
            continue
        kind, cause = REASONING, causes[0]
        if cause and (cause.side is Side.MISSED or cause.cause.failure in WITHOUT_ANSWER):
            kind = FORMAT
        elif cause and cause.cause.failure in (Failure.ARITHMETIC_SLIP, Failure.ROUNDING):
            kind = ARITHMETIC
        misses[kind][problem.id] += 1
    return replace(outcomes, misses=misses)
