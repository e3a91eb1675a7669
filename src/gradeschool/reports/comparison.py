"""A comparison of runs for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table

from gradeschool.errors import InputError
from gradeschool.percentages import accuracy_words, bounds, count, p_value, point_bounds, points
from gradeschool.reports.printable import printable
from gradeschool.reports.terminal import simple_table
from gradeschool.scorer import clip
from gradeschool.scoring.compare import Change, Comparison, Outcomes, compare, outcomes_of
from gradeschool.scoring.table import ScoredTable

NAME_WIDTH = 48
SHOWN = 12  # number of ids of flipped problems


def print_comparison(
    outcomes: Sequence[Outcomes], comparisons: Sequence[Comparison], scorer: str, console: Console
) -> None:
    """Print the accuracies, each run's difference from the first, and the flipped problems."""
    sizes = {_size(outcome) for outcome in outcomes}
    same = f", {sizes.pop()}" if len(sizes) == 1 else ""
    console.print(f"scored by {scorer}{same}", soft_wrap=True)
    console.print(_accuracies(outcomes))
    if comparisons:
        console.print(_differences(comparisons, name(outcomes[0].run)))
    for comparison in comparisons:
        for line in _remarks(comparison):
            console.print(line, soft_wrap=True)


def _size(outcomes: Outcomes) -> str:
    sizes = {tally.judged for tally in outcomes.tallies.values()}
    per = f", {min(sizes)} samples each" if len(sizes) == 1 and sizes != {1} else ""
    if len(sizes) > 1:
        per = f", {min(sizes)} to {max(sizes)} samples each; each problem counts once"
    return f"{count(len(outcomes.tallies), 'problem')}{per}"


def name(run: str) -> str:
    """Return a run's name for the terminal, escaped and shortened."""
    return clip(printable(run, keep=""), NAME_WIDTH)


def compared_with_first(
    tables: Sequence[ScoredTable],
) -> tuple[list[Outcomes], dict[int, Comparison], str]:
    """Return the outcomes of runs under one scorer, and the comparisons with the first by index.

    If they cannot be compared, both are empty, and the text says why.
    """
    try:
        outcomes = [outcomes_of(table) for table in tables]
        return outcomes, dict(enumerate(compare(outcomes), start=1)), ""
    except InputError as refusal:
        # Without the options of `compare` that the message ends with.
        reason = str(refusal)
        return [], {}, f"The runs are not compared: {reason.rpartition('; give ')[0] or reason}."


def methods_of(comparisons: Sequence[Comparison]) -> str:
    """Describe the differences from the first run: interval, test, correction, what they leave out.

    For pages, which do not print the remarks of `print_comparison`.
    """
    intervals = " and ".join(dict.fromkeys(each.ci_method for each in comparisons))
    tests = " and ".join(dict.fromkeys(each.p_method for each in comparisons))
    several = len(comparisons) > 1
    corrected = f", corrected for {len(comparisons)} comparisons (Holm)" if several else ""
    sentences = [
        "Differences are from the first run, in points, on the same problems; "
        f"p: {tests}{corrected}; interval: {intervals}."
    ]
    if left_out := {id for comparison in comparisons for id in comparison.left_out}:
        sentences.append(
            f"{count(len(left_out), 'problem is', 'problems are')} left out of the differences, "
            "without a judged completion in one of two runs."
        )
    return " ".join(sentences)


def _accuracies(outcomes: Sequence[Outcomes]) -> Table:
    headings = ("problems", "accuracy", "95 % interval", "errors\nleft out")
    table = simple_table(["run"], headings, fold_numbers=False)
    for outcome in outcomes:
        table.add_row(
            name(outcome.run),
            str(len(outcome.tallies)),
            accuracy_words(outcome.share.accuracy, outcome.share.bounds),
            bounds(outcome.share.interval),
            str(outcome.unjudged),
        )
    return table


def _differences(comparisons: Sequence[Comparison], baseline: str) -> Table:
    several = len(comparisons) > 1
    headings = ("difference", "95 % interval", "better\non", "worse\non", "p",
                *(("p, Holm",) if several else ()))  # fmt: skip
    title = f"difference from {baseline}, in points"
    table = simple_table(["run"], headings, title, fold_numbers=False)
    for comparison in comparisons:
        corrected = [p_value(comparison.p_holm)] if several else []
        table.add_row(
            name(comparison.run),
            points(comparison.difference),
            point_bounds(comparison.ci95),
            str(len(comparison.gained)) if comparison.n else "-",
            str(len(comparison.lost)) if comparison.n else "-",
            p_value(comparison.p),
            *corrected,
        )
    return table


def _remarks(comparison: Comparison) -> Iterator[str]:
    yield f"{name(comparison.run)} against {name(comparison.baseline)}: {verdict_of(comparison)}"
    yield f"  p: {comparison.p_method}; interval: {comparison.ci_method}"
    if not comparison.n:
        yield "  unpaired: for the same problems, a paired comparison detects smaller differences"
        return
    if comparison.detectable is None:
        yield "  too few problems flipped to say which difference could be detected"
    else:
        needed = (
            ""
            if comparison.needed is None
            else f"; detecting the observed difference takes {comparison.needed:,} problems"
        )
        yield (
            f"  {comparison.n} problems can detect a difference of "
            f"{100 * comparison.detectable:.1f} points or more with 80 % power{needed}"
        )
    unpaired = p_value(comparison.p_unpaired)
    unpaired = f"< {unpaired[1:]}" if unpaired.startswith("<") else f"= {unpaired}"
    yield f"  an unpaired test of the same data gives p {unpaired}"
    yield from _flips("better on", comparison.gained)
    yield from _flips("worse on", comparison.lost)


def verdict_of(comparison: Comparison) -> str:
    """Describe in words whether a difference is significant."""
    if comparison.p_holm < 0.05:
        side = "better" if comparison.difference > 0 else "worse"
        return f"{abs(100 * comparison.difference):.2f} points {side}, a significant difference"
    return f"no significant difference ({points(comparison.difference)} points)"


def _flips(heading: str, changes: Sequence[Change]) -> Iterator[str]:
    if changes:
        shown = ", ".join(printable(change.problem, keep="") for change in changes[:SHOWN])
        more = f", ... {len(changes)} in all (--json)" if len(changes) > SHOWN else ""
        yield f"  {heading}: {shown}{more}"
