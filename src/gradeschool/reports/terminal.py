"""Score tables for the terminal."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rich import box
from rich.console import Console
from rich.table import Table

from gradeschool.reports.printable import printable
from gradeschool.rule import clip
from gradeschool.scoring.score import RuleScore, RunScore

GAP = 2  # blanks between two columns
NAME_WIDTH = 60  # a longer name of a run is cut
# A run's name is folded to the width of its figures, but not below this.
FOLDED_WIDTH = 17
# A rule's name is folded where it would take more than a third of the line, but not below this.
FOLDED_RULE = 28
FIGURES = ("correct", "accuracy", "95 % interval", "wrong", "no\nanswer", "error")
FIGURES_WIDTH = 61  # of the columns above, gaps and margins included
OTHER_FIGURES = ("Platinum", "95 % interval")
OTHER_WIDTH = 26
# Where a rule's name is folded; a part that is still too long is folded at its hyphens.
SEAM, HYPHEN = re.compile(r"(?<=/)|(?=[@#])"), re.compile(r"(?<=-)")
INDENT = "  "


def score_table(scores: Sequence[RunScore], console: Console) -> None:
    """Print rules x runs: a row of figures for one run, cells of two lines for several.

    Scores under the labels of GSM8K-Platinum stand beside those under the official ones.
    """
    if len(scores) == 1:
        console.print(_single(scores[0], console.width - FIGURES_WIDTH))
        return
    longest = max(len(rule.rule) for rule in scores[0].rules)
    names = min(longest, max(FOLDED_RULE, console.width // 3))
    line: list[RunScore] = []
    used = names + GAP
    for score in scores:
        width = _width(score) + GAP
        if line and used + width > console.width:
            console.print(_several(line, names))
            line, used = [], names + GAP
        line.append(score)
        used += width
    console.print(_several(line, names))


def _table(title: str | None = None) -> Table:
    return Table(
        box=box.SIMPLE_HEAD,
        title=title,
        title_justify="left",
        pad_edge=False,
        padding=(0, 0, 0, GAP - 1),
    )


def folded(name: str, width: int) -> str:
    """Return a name in lines of this width, broken at its seams, the further ones indented."""
    lines = [""]
    for part in SEAM.split(name):
        fits = len(part) <= width - len(INDENT)
        for piece in [part] if fits else HYPHEN.split(part):
            if lines[-1].strip() and len(lines[-1]) + len(piece) > width:
                lines.append(INDENT)
            lines[-1] += piece
    return "\n".join(lines)


def _run_name(score: RunScore) -> str:
    return clip(printable(score.run, keep=""), NAME_WIDTH)


def _single(score: RunScore, names: int) -> Table:
    other = score.platinum
    title = f"{_run_name(score)}, {_counted(score.n, 'completion')}"
    title += f", {other.n} of them in Platinum" if other else ""
    table = _table(", ".join([title, *_forms(score)]))
    table.add_column("rule", overflow="fold", vertical="top")
    for name in (*FIGURES, *(OTHER_FIGURES if other else ())):
        table.add_column(name, justify="right", no_wrap=True)
    names -= OTHER_WIDTH if other else 0
    for at, rule in enumerate(score.rules):
        table.add_row(
            folded(rule.rule, names),
            str(rule.correct),
            _accuracy(rule),
            _interval(rule),
            str(rule.wrong),
            str(rule.no_answer),
            str(rule.error),
            *((_accuracy(other.rules[at]), _interval(other.rules[at])) if other else ()),
        )
    return table


def _forms(score: RunScore) -> list[str]:
    """Return how many completions are empty, cut off or run on: "12.5 % truncated"."""
    forms = score.forms
    return [f"{100 * n / forms.n:.1f} % {name}" for name, n in forms.named()] if forms else []


def _heading(score: RunScore) -> list[str]:
    """Return what stands under a run's name."""
    return [f"n = {score.n}", *_forms(score)]


def _width(score: RunScore) -> int:
    """Return the width of a run's column: of its figures, and of its name once folded."""
    cells = (line for at in range(len(score.rules)) for line in _cell(score, at).split("\n"))
    figures = max(map(len, (*cells, *_heading(score))))
    return max(figures, min(FOLDED_WIDTH, len(_run_name(score))))


def _several(scores: Sequence[RunScore], names: int) -> Table:
    table = _table()
    table.add_column("rule", no_wrap=True)
    for score in scores:
        heading = "\n".join([_run_name(score), *_heading(score)])
        table.add_column(heading, justify="right", overflow="fold", width=_width(score))
    for at, rule in enumerate(scores[0].rules):
        table.add_row(folded(rule.rule, names), *(_cell(score, at) for score in scores))
    return table


def _cell(score: RunScore, at: int) -> str:
    rule = score.rules[at]
    counts = ((rule.no_answer, "no answer"), (rule.error, "error"))
    silent = [f"{count} {name}" for count, name in counts if count]
    read_nothing = rule.correct == rule.wrong == 0
    interval = [] if read_nothing and silent else [_interval(rule)]
    other = [f"Platinum  {_accuracy(score.platinum.rules[at])}"] if score.platinum else []
    return "\n".join([f"{rule.correct}  {_accuracy(rule)}", *interval, *other, *silent])


def _accuracy(rule: RuleScore) -> str:
    judged = rule.correct + rule.wrong + rule.no_answer
    return f"{100 * rule.accuracy:.2f} %" if judged else "-"


def _interval(rule: RuleScore) -> str:
    low, high = rule.ci95
    return f"{100 * low:.2f} - {100 * high:.2f}"


def _counted(count: int, name: str) -> str:
    return f"{count} {name}{'' if count == 1 else 's'}"


class _Gap(NamedTuple):
    """The largest gap between two rules of a run; whole: every rule was looked at."""

    points: float
    run: str
    low: RuleScore
    high: RuleScore
    whole: bool


class Origin(NamedTuple):
    """Where a run was found: its file, and its name in there."""

    path: Path
    run: str


def spread_lines(
    scores: Sequence[RunScore], origins: Mapping[str, Origin], dataset: str | None = None
) -> list[str]:
    """Return how far the rules are apart where that is most, and the command that explains it.

    origins: where each run was found, by its name in the scores. Rules that find no answer in most
    completions are set aside where two others are left: they are far from all others, and the
    table shows it.
    """
    gap = max(map(_gap, scores), key=lambda found: found.points)
    if gap.low is gap.high:
        return []
    rules = "rules" if gap.whole else "rules that find answers"
    if gap.points == 0:
        return [f"The {rules} come to the same accuracy."]
    where = f"In {clip(printable(gap.run, keep=''), NAME_WIDTH)} the" if len(scores) > 1 else "The"
    path, run = origins[gap.run]
    several = sum(origin.path == path for origin in origins.values()) > 1
    file = quoted(f"{path}#{run}" if several else str(path))
    chosen = f" -d {quoted(dataset)}" if dataset else ""
    names = f"'{gap.high.rule}' '{gap.low.rule}'"
    return [
        f"{where} {rules} are up to {100 * gap.points:.1f} points apart: {gap.high.rule} "
        f"{_accuracy(gap.high)}, {gap.low.rule} {_accuracy(gap.low)}. Why:",
        f"  gradeschool explain {file}{chosen} --rule {names}",
    ]


def _gap(score: RunScore) -> _Gap:
    reading = [
        rule for rule in score.rules if rule.correct and rule.correct + rule.wrong > rule.no_answer
    ]
    looked_at = reading if len(reading) > 1 else score.rules
    ranked = sorted(looked_at, key=lambda rule: rule.accuracy)
    low, high = ranked[0], ranked[-1]
    whole = len(looked_at) == len(score.rules)
    return _Gap(high.accuracy - low.accuracy, score.run, low, high, whole)


def quoted(text: str) -> str:
    """Quote a path or a name for a shell where it needs it."""
    return shlex.quote(printable(text))
