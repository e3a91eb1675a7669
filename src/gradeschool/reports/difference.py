"""The difference of two results in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console

from gradeschool.percentages import count, percent
from gradeschool.reports.comparison import name
from gradeschool.reports.printable import printable
from gradeschool.reports.terminal import folded, simple_table
from gradeschool.runs.diff.pairs import PromptDifference
from gradeschool.runs.diff.result import DIFFERS, SAME, UNKNOWN, RunDifference, SettingDifference
from gradeschool.runs.diff.steps import PROMPTS, SET, TEXTS, UNPROMPTED
from gradeschool.scorer import clip

LONGEST_VALUE = 160
# Two columns of values share the width that the other columns leave.
LEAST_VALUE, BESIDE_VALUES = 17, 60
# One word replaces a setting that a table need not repeat.
NOT_RECORDED = "not recorded"


def print_difference(difference: RunDifference, console: Console) -> None:
    """Print two results, the settings that differ, and the steps of the difference in accuracy."""
    account = difference.account
    for letter, side, scorer, accuracy, tallies in (
        ("A", difference.a, difference.scorers[0], account.accuracy_a, account.tallies_a),
        ("B", difference.b, difference.scorers[1], account.accuracy_b, account.tallies_b),
    ):
        n = sum(judged for _, judged in tallies)
        console.print(
            f"{letter}  {name(side.run.name)} ({side.kind}): {percent(accuracy)} of "
            f"{count(n, 'completion')} by {scorer}",
            soft_wrap=True,
        )
    console.print(f"B - A: {difference.points:+z.2f} points", style="bold")
    _print_fields(difference.fields, console)
    _print_prompt_differences(difference.prompts, console)
    _print_texts(difference, console)
    _print_steps(difference, console)


def _print_fields(fields: Sequence[SettingDifference], console: Console) -> None:
    table = simple_table(["", "A", "B", "explains", ""])
    width = max(LEAST_VALUE, (console.width - BESIDE_VALUES) // 2)
    for item in fields:
        if item.state == DIFFERS or (item.state == UNKNOWN and item.explains):
            explains = "-" if item.explains is None else f"{item.explains:,} of {item.of:,}"
            a, b = (_shown(value, width) for value in (item.a, item.b))
            table.add_row(item.name, a, b, explains, item.words)
    if table.row_count:
        console.print(table)
    else:
        console.print("no recorded setting differs")
    _print_names("the same", [field.name for field in fields if field.state == SAME], console)
    for letter, other in (("A", "a"), ("B", "b")):
        lone = [
            field.name
            for field in fields
            if field.state == UNKNOWN and getattr(field, other) is None
        ]
        _print_names(f"not recorded in {letter}", lone, console)


def _print_names(heading: str, names: Sequence[str], console: Console) -> None:
    if names:
        console.print(f"{heading}: {', '.join(names)}", soft_wrap=True)


def _print_prompt_differences(differences: Sequence[PromptDifference], console: Console) -> None:
    if not differences:
        return
    console.print("\nwhere the prompts differ", style="bold")
    for difference in differences:
        where = (
            f"problem {printable(difference.problem, keep='')}, after byte {difference.shared:,}"
        )
        console.print(f"{difference.completions:,} completions, such as {where}:", soft_wrap=True)
        for letter, text in (("A", difference.a), ("B", difference.b)):
            shown = printable(difference.before + text, keep="").replace("\n", "\\n")
            console.print(f"  {letter} …{shown}{'' if text else ' (ends here)'}", soft_wrap=True)


def _print_texts(difference: RunDifference, console: Console) -> None:
    counts = difference.counts
    identical = f"{counts.equal_texts:,} of {counts.pairs:,} completions are identical"
    console.print(f"\n{identical}", soft_wrap=True, style="bold")
    compared = counts.prompts_equal + counts.prompts_differ
    if compared:
        console.print(
            f"prompts are equal for {counts.prompts_equal:,} of {compared:,}; "
            f"{counts.other_texts_same_prompts:,} of these have different completions",
            soft_wrap=True,
        )
    if any(difference.special):
        ours, theirs = difference.special
        console.print(
            f"a tokenizer's special token is in the text of {ours:,} of A's, {theirs:,} of B's",
            soft_wrap=True,
        )


def _print_steps(difference: RunDifference, console: Console) -> None:
    console.print("\nfrom A to B, one change at a time", style="bold")
    table = simple_table([""], ["points", "texts changed", "to correct", "from correct"])
    for item in difference.account.steps:
        if item.points or item.texts or item.gained or item.lost:
            flips = ("", "") if item.name == SET else (f"+{item.gained:,}", f"-{item.lost:,}")
            table.add_row(item.name, f"{item.points:+z.2f}", f"{item.texts:,}", *flips)
    table.add_section()
    table.add_row("B - A", f"{difference.points:+z.2f}", "", "", "")
    console.print(table)
    texts = {step.name: step.texts for step in difference.account.steps}
    if texts[PROMPTS] and difference.possible_causes:
        _print_names(
            "these settings may explain part of that step", difference.possible_causes, console
        )
    if texts[TEXTS] or texts[UNPROMPTED]:
        console.print(
            f"unexplained: {difference.unexplained:+z.2f} points, of texts that differ under equal "
            "or unrecorded prompts",
            soft_wrap=True,
        )
        _print_names("  may come from differing settings", difference.possible_causes, console)
        _print_names("  or from unrecorded settings", difference.unrecorded, console)


def _shown(value: Any, width: int) -> str:
    """Return a value for a column, with long words folded."""
    if value is None:
        return NOT_RECORDED
    if value in ("", []):
        return "none"
    if isinstance(value, list):
        value = ", ".join(repr(item) for item in value)
    words = clip(printable(str(value), keep=""), LONGEST_VALUE).split(" ")
    return " ".join(folded(word, width) if len(word) > width else word for word in words)
