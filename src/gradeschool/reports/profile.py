"""A profile of a model over variations of GSM8K, in the terminal and as a page."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from gradeschool.percentages import accuracy_words, bounds, p_value, percent, point_bounds, points
from gradeschool.reports.pages import axis_over, render
from gradeschool.reports.printable import printable
from gradeschool.reports.terminal import run_name, simple_table
from gradeschool.scoring.compare import Outcomes
from gradeschool.scoring.profile import ProfileEntry, sentence, verdict
from gradeschool.scoring.statistics import Interval


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
