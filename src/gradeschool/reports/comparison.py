"""Comparisons of runs in the terminal and in words, and the profile of a model over variations."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from gradeschool.errors import InputError
from gradeschool.percentages import (
    accuracy_words,
    bounds,
    count,
    p_value,
    percent,
    point_bounds,
    points,
)
from gradeschool.reports.printable import printable
from gradeschool.reports.terminal import run_name, simple_table
from gradeschool.scoring.compare import Comparison, Outcomes, compare, outcomes_of
from gradeschool.scoring.profile import ProfileEntry, sentence, verdict
from gradeschool.scoring.statistics import Interval
from gradeschool.scoring.table import ScoredTable

SHOWN = 12  # number of ids of flipped problems
WIDTH = 48  # of a run's name


def print_comparison(
    outcomes: Sequence[Outcomes], comparisons: Sequence[Comparison], scorer: str, console: Console
) -> None:
    """Print the accuracies, each run's difference from the first, and the flipped problems."""
    heads = ("problems", "accuracy", "95 % interval", "errors\nleft out")
    table, sizes = simple_table(["run"], heads, fold_numbers=False), set()
    for run in outcomes:
        number, share = len(run.tallies), run.share
        samples = {tally.judged for tally in run.tallies.values()}
        fewest, most = min(samples), max(samples)
        each = f", {fewest} samples each" if most > 1 else ""
        if fewest < most:
            each = f", {fewest} to {most} samples each; each problem counts once"
        sizes.add(f", {count(number, 'problem')}{each}")
        accuracy = accuracy_words(share.accuracy, share.bounds)
        table.add_row(run_name(run.run, WIDTH), str(number), accuracy, bounds(share.interval),
                      str(run.failed_samples))  # fmt: skip
    same = sizes.pop() if len(sizes) == 1 else ""
    console.print(f"scored by {scorer}{same}", soft_wrap=True)
    console.print(table)
    if not comparisons:
        return
    several, first = len(comparisons) > 1, run_name(outcomes[0].run, WIDTH)
    table = simple_table(
        ["run"],
        ("difference", "95 % interval", "better\non", "worse\non", "p", *["p, Holm"] * several),
        f"difference from {first}, in points",
        fold_numbers=False,
    )
    for pair in comparisons:
        changed = (str(len(side)) if pair.n else "-" for side in (pair.gained, pair.lost))
        table.add_row(run_name(pair.run, WIDTH), points(pair.difference), point_bounds(pair.ci95),
                      *changed, p_value(pair.p), *[p_value(pair.p_holm)] * several)  # fmt: skip
    console.print(table)
    for pair in comparisons:
        power = "  too few problems flipped to say which difference could be detected"
        if not pair.n:
            power = ("  unpaired: for the same problems, a paired comparison detects smaller "
                     "differences")  # fmt: skip
        elif pair.detectable is not None:
            power = (f"  {pair.n} problems can detect a difference of {100 * pair.detectable:.1f} "
                     "points or more with 80 % power")  # fmt: skip
            if pair.needed is not None:
                power += f"; detecting the observed difference takes {pair.needed:,} problems"
        lines = [f"{run_name(pair.run, WIDTH)} against {first}: {difference_in_words(pair)}",
                 f"  p: {pair.p_method}; interval: {pair.ci_method}", power]  # fmt: skip
        for heading, changes in (("better on", pair.gained), ("worse on", pair.lost)):
            if changes:
                shown = ", ".join(printable(change.problem, keep="") for change in changes[:SHOWN])
                more = f", ... {len(changes)} in all (--json)" if len(changes) > SHOWN else ""
                lines.append(f"  {heading}: {shown}{more}")
        for line in lines:
            console.print(line, soft_wrap=True)


def difference_in_words(comparison: Comparison) -> str:
    """Describe in words whether a difference is significant."""
    if comparison.p_holm < 0.05:
        side = "better" if comparison.difference > 0 else "worse"
        return f"{abs(100 * comparison.difference):.2f} points {side}, a significant difference"
    return f"no significant difference ({points(comparison.difference)} points)"


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


def methods_in_words(comparisons: Sequence[Comparison]) -> str:
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


def print_profile(
    original: Outcomes, entries: Sequence[ProfileEntry], scorer: str, console: Console
) -> None:
    """Print a line for each set and group, then what each set shows in words."""
    share = original.share
    accuracy = accuracy_words(share.accuracy, share.bounds)
    console.print(
        f"scored by {scorer}; {run_name(original.run)}: {accuracy} of "
        f"{len(original.tallies):,} problems (95 % {bounds(share.interval)})",
        soft_wrap=True,
    )
    heads = ("problems", "seeds", "original", "accuracy", "points", "95 % interval", "p")
    table = simple_table(["set"], heads, fold_numbers=False)
    losses = simple_table(["loss in points"], ("total", *original.misses), fold_numbers=False)
    for entry in entries:
        pair = entry.comparison
        label = f"  {printable(entry.group, keep='')}" if entry.group else run_name(entry.run)
        table.add_row(
            *(label, str(entry.problems), str(pair.n) if pair.n else "-"),
            *(percent(pair.accuracy_a), percent(pair.accuracy_b), points(pair.difference)),
            *(point_bounds(pair.ci95), p_value(pair.p_holm)),
        )
        parts = (points(part.share) for part in entry.parts)
        losses.add_row(label, points(-pair.difference), *parts)
    console.print(table)
    for text in verdict(original, entries):
        console.print(printable(text), soft_wrap=True)
    if original.misses:
        console.print(losses)
    for entry in entries:
        if not entry.group:
            console.print(f"{printable(sentence(entry, original.run))}.", soft_wrap=True)


def profile_page(
    original: Outcomes, entries: Sequence[ProfileEntry], scorer: str, model: str
) -> str:
    """Return the page of a profile: its findings in words, and every line with its interval."""
    from gradeschool.reports.pages import axis_over, render

    return render(
        "profile.html",
        model,
        "Profile",
        original=original,
        entries=[{"is": entry, "sentence": sentence(entry, original.run)} for entry in entries],
        scorer=scorer,
        axis=axis_over([Interval(0.0, 0.0), *(entry.comparison.ci95 for entry in entries)]),
        verdict=verdict(original, entries),
    )
