"""Disagreements between rules for the terminal: what each read, marked in the text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from gradeschool.reports.terminal import printable
from gradeschool.rule import Rule, clip
from gradeschool.scoring.explain import Disagreement
from gradeschool.verdict import Verdict

STYLES = ("bold black on green", "bold black on yellow", "bold black on cyan", "bold on magenta")
# Characters of a long completion that are shown around what was read.
CONTEXT = 240


def print_disagreements(
    found: Sequence[Disagreement], rules: Sequence[Rule], total: int, limit: int, console: Console
) -> None:
    """Print counts by kind, then up to `limit` completions with their verdicts."""
    names = " and ".join(rule.name for rule in rules)
    console.print(f"{names} differ on {len(found)} of {total} completions", highlight=False)
    for kind, count in Counter(one.kind for one in found).most_common():
        console.print(f"  {count:6d}  {kind.replace('_', ' ')}", highlight=False)
    for one in found[:limit]:
        _print_one(one, console)
    if len(found) > limit:
        console.print(f"\n{len(found) - limit} more; show them with -n {len(found)}")


def _print_one(one: Disagreement, console: Console) -> None:
    head = f"{one.run}, problem {one.problem.id}, sample {one.sample}, row {one.row}"
    console.print()
    console.rule(Text(printable(head)), align="left")
    console.print(Text(f"gold {one.problem.gold}    {printable(clip(one.problem.question, 200))}"))
    console.print(_marked(one))
    for at, verdict in enumerate(one.verdicts):
        console.print(
            Text.assemble(
                (f"{verdict.rule}", STYLES[at % len(STYLES)]),
                f"  {verdict.outcome.value.replace('_', ' ')}: {printable(verdict.reason)}",
            )
        )


def _marked(one: Disagreement) -> Text:
    """Return the completion with the spans that the rules read, cut around them where long."""
    spans = [verdict.answer.span for verdict in one.verdicts if verdict.answer]
    edges = [edge for span in spans if span for edge in span]
    low = max(0, min(edges, default=0) - CONTEXT)
    high = min(len(one.text), max(edges, default=0) + CONTEXT)
    if high - low > 4 * CONTEXT:  # the spans stand far apart: the end tells most
        low = max(0, len(one.text) - 4 * CONTEXT)
        high = len(one.text)
    styles: list[str] = [""] * (high - low)
    for at, span in enumerate(spans):
        if span:
            for position in range(max(span[0], low), min(span[1], high)):
                styles[position - low] = STYLES[at % len(STYLES)]
    marked = Text("…" if low else "")
    for position in range(low, high):
        marked.append(printable(one.text[position]), styles[position - low])
    return marked.append("…" if high < len(one.text) else "")


def as_json(one: Disagreement) -> dict[str, Any]:
    """Return a disagreement as JSON values."""
    return {
        "run": one.run,
        "problem": one.problem.id,
        "sample": one.sample,
        "row": one.row,
        "gold": one.problem.gold,
        "completion": one.text,
        "kind": one.kind,
        "verdicts": [_verdict_json(verdict) for verdict in one.verdicts],
    }


def _verdict_json(verdict: Verdict) -> dict[str, Any]:
    answer = verdict.answer
    return {
        "rule": verdict.rule,
        "outcome": verdict.outcome.value,
        "reason": verdict.reason,
        "read": answer.text if answer else None,
        "value": answer.value if answer else None,
        "span": list(answer.span) if answer and answer.span else None,
    }
