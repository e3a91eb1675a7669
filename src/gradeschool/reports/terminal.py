"""Score tables for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from gradeschool.scoring.score import RuleScore, RunScore

RULE_WIDTH = 34
CELL_WIDTH = 25


def printable(text: str) -> str:
    """Return a text that a terminal may show: control characters and surrogates escaped."""
    return "".join(
        char if char.isprintable() or char == "\n" else char.encode("unicode_escape").decode()
        for char in text
    )


def score_table(scores: Sequence[RunScore], console: Console) -> None:
    """Print rules x runs: a row of figures for one run, cells of two lines for several."""
    if len(scores) == 1:
        console.print(_single(scores[0]))
        return
    across = max(1, (console.width - RULE_WIDTH) // CELL_WIDTH)
    for start in range(0, len(scores), across):
        console.print(_several(scores[start : start + across]))


def _table(title: str | None = None) -> Table:
    return Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)


def _single(score: RunScore) -> Table:
    table = _table(f"{printable(score.run)}, {score.n} completions")
    table.add_column("rule", overflow="fold")
    for name in ("correct", "accuracy", "95 % interval", "wrong", "no answer", "error"):
        table.add_column(name, justify="right", no_wrap=True)
    for rule in score.rules:
        low, high = rule.ci95
        table.add_row(
            rule.rule,
            str(rule.correct),
            f"{100 * rule.accuracy:.2f} %",
            f"{100 * low:.2f} - {100 * high:.2f}",
            str(rule.wrong),
            str(rule.no_answer),
            str(rule.error),
        )
    return table


def _several(scores: Sequence[RunScore]) -> Table:
    table = _table()
    table.add_column("rule", overflow="fold", max_width=RULE_WIDTH)
    for score in scores:
        table.add_column(f"{printable(score.run)}\nn = {score.n}", justify="right", overflow="fold")
    for at, rule in enumerate(scores[0].rules):
        table.add_row(rule.rule, *(_cell(score.rules[at]) for score in scores))
    return table


def _cell(rule: RuleScore) -> str:
    low, high = rule.ci95
    silent = [
        f"{count} {name}"
        for count, name in ((rule.no_answer, "no answer"), (rule.error, "error"))
        if count
    ]
    lines = [
        f"{rule.correct}  {100 * rule.accuracy:.2f} %",
        f"{100 * low:.2f} - {100 * high:.2f}",
        *silent,
    ]
    return "\n".join(lines)


def spread_line(scores: Sequence[RunScore], file: str) -> str | None:
    """Return one line on how far the rules are apart, with the command that explains it."""
    gaps = []
    for score in scores:
        ranked = sorted(score.rules, key=lambda rule: rule.accuracy)
        if len(ranked) > 1:
            gaps.append((ranked[-1].accuracy - ranked[0].accuracy, score.run, ranked))
    if not gaps:
        return None
    gap, run, ranked = max(gaps, key=lambda found: found[0])
    if gap == 0:
        return "The rules agree on every run."
    low, high = ranked[0], ranked[-1]
    return (
        f"On {run} the rules are up to {100 * gap:.1f} points apart ({low.rule} "
        f"{100 * low.accuracy:.1f}, {high.rule} {100 * high.accuracy:.1f}); why:\n"
        f"  gradeschool explain {quoted(file)} --rules '{low.rule}' '{high.rule}'"
    )


def quoted(path: str) -> str:
    """Quote a path for a shell where it needs it."""
    import shlex

    return shlex.quote(path)
