"""Tables of scores, causes, votes and maj@k for the terminal."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from rich import box
from rich.console import Console, OverflowMethod
from rich.table import Table

from gradeschool.percentages import bounds, count, percent
from gradeschool.reports.printable import printable
from gradeschool.scorer import clip

if TYPE_CHECKING:
    from gradeschool.scoring.at_k import AtK, VoteScore
    from gradeschool.scoring.score import RunScore, ScorerResult
    from gradeschool.scoring.totals import RunOrigin

GAP = 2  # spaces between two columns
NAME_WIDTH = 60  # a longer name of a run is cut
# A run's name is folded to the width of its figures, but not below this width.
FOLDED_WIDTH = 17
# A scorer's name is folded if it would take more than a third of the line, but not below this
# width.
FOLDED_SCORER = 28
FIGURES = ("correct", "accuracy", "95 % interval", "wrong", "no\nanswer", "error")
FIGURES_WIDTH = 61  # of the columns above, including gaps and margins
OTHER_FIGURES = ("Platinum", "95 % interval")
OTHER_WIDTH = 26
# Where a scorer's name can be folded; a part that is still too long is folded at its hyphens.
SEAM, HYPHEN = re.compile(r"(?<=/)|(?=[@#])"), re.compile(r"(?<=-)")
INDENT = "  "
# Where a run's name can be folded: after a space or a mark between two words.
RUN_SEAM = re.compile(r"(?<=[ /_:#@+=-])")


def score_table(scores: Sequence[RunScore], console: Console) -> None:
    """Print scorers x runs: a row of figures for one run, cells of two lines for several.

    Scores under the labels of GSM8K-Platinum are shown beside those under the official labels.
    """
    if len(scores) == 1:
        console.print(_single(scores[0], console.width - FIGURES_WIDTH))
        return
    longest = max(len(scorer.scorer) for scorer in scores[0].scorers)
    names = min(longest, max(FOLDED_SCORER, console.width // 3))
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


def simple_table(
    texts: Sequence[str],
    numbers: Sequence[str] = (),
    title: str | None = None,
    fold_numbers: bool = True,
) -> Table:
    """Return an empty table: columns of texts, then of numbers, aligned right; all are folded.

    fold_numbers: False keeps the numbers on one line, so that only the texts are folded.
    """
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False,
                  padding=(0, 1, 0, 0))  # fmt: skip
    for name in texts:
        table.add_column(name, overflow="fold")
    for name in numbers:
        overflow: OverflowMethod = "fold" if fold_numbers else "ellipsis"
        table.add_column(name, justify="right", overflow=overflow, no_wrap=not fold_numbers)
    return table


def folded(name: str, width: int) -> str:
    """Return a name in lines of this width, broken between parts; later lines are indented."""
    lines = [""]
    for part in SEAM.split(name):
        fits = len(part) <= width - len(INDENT)
        for piece in [part] if fits else HYPHEN.split(part):
            if lines[-1].strip() and len(lines[-1]) + len(piece) > width:
                lines.append(INDENT)
            lines[-1] += piece
    return "\n".join(lines)


def fold_name(name: str, width: int) -> str:
    """Return a run's name in lines of this width, broken only between words."""
    lines = [""]
    for part in RUN_SEAM.split(name):
        if lines[-1] and len(lines[-1]) + len(part.rstrip()) > width:
            lines.append("")
        lines[-1] += part
    return "\n".join(line.strip() for line in lines)


def _run_name(run: str) -> str:
    return clip(printable(run, keep=""), NAME_WIDTH)


def _single(score: RunScore, names: int) -> Table:
    other = score.platinum
    title = f"{_run_name(score.run)}, {count(score.n, 'completion')}"
    title += f", {other.n} of them in Platinum" if other else ""
    table = _table(", ".join([title, *_forms(score)]))
    table.add_column("scorer", overflow="fold", vertical="top")
    for name in (*FIGURES, *(OTHER_FIGURES if other else ())):
        table.add_column(name, justify="right", no_wrap=True)
    names -= OTHER_WIDTH if other else 0
    for index, scorer in enumerate(score.scorers):
        table.add_row(
            folded(scorer.scorer, names),
            str(scorer.correct),
            accuracy_text(scorer),
            bounds(scorer.ci95) if scorer.judged else "-",
            str(scorer.wrong),
            str(scorer.no_answer),
            str(scorer.error),
            *(
                (accuracy_text(other.scorers[index]), bounds(other.scorers[index].ci95))
                if other
                else ()
            ),
        )
    return table


def _forms(score: RunScore, samples: str = "{} to {} samples per problem") -> list[str]:
    """Return the shares of completions that are empty, cut off or run on: "12.5 % truncated".

    samples: the phrase for the fewest and the most completions per problem, added if they differ:
    each completion counts once, so some problems count more than others.
    """
    forms = score.forms
    parts = [f"{percent(n / forms.n, 1)} {name}" for name, n in forms.named()] if forms else []
    return [*parts, samples.format(*score.samples)] if score.samples else parts


def _heading(score: RunScore) -> list[str]:
    """Return the text below a run's name."""
    forms = (part.replace(" samples per problem", " per problem") for part in _forms(score))
    return [f"n = {score.n}", *forms]


def _width(score: RunScore) -> int:
    """Return the width of a run's column: of its figures, and of its folded name."""
    cells = (
        line for index in range(len(score.scorers)) for line in _cell(score, index).split("\n")
    )
    figures = max(map(len, (*cells, *_heading(score))))
    name = fold_name(_run_name(score.run), max(FOLDED_WIDTH, figures))
    return max(figures, *map(len, name.split("\n")))


def _several(scores: Sequence[RunScore], names: int) -> Table:
    table = _table()
    table.add_column("scorer", no_wrap=True)
    for score in scores:
        width = _width(score)
        heading = "\n".join([fold_name(_run_name(score.run), width), *_heading(score)])
        table.add_column(heading, justify="right", overflow="fold", width=width)
    for index, scorer in enumerate(scores[0].scorers):
        table.add_row(folded(scorer.scorer, names), *(_cell(score, index) for score in scores))
    return table


def _cell(score: RunScore, index: int) -> str:
    scorer = score.scorers[index]
    counts = ((scorer.no_answer, "no answer"), (scorer.error, "error"))
    silent = [f"{count} {name}" for count, name in counts if count]
    read_nothing = scorer.correct == scorer.wrong == 0
    interval = [] if read_nothing and silent else [bounds(scorer.ci95)]
    other = [f"Platinum  {accuracy_text(score.platinum.scorers[index])}"] if score.platinum else []
    return "\n".join([f"{scorer.correct}  {accuracy_text(scorer)}", *interval, *other, *silent])


def accuracy_text(scorer: ScorerResult) -> str:
    """Return the accuracy in percent, "-" without judged completions."""
    return percent(scorer.accuracy) if scorer.judged else "-"


class _Gap(NamedTuple):
    """The largest gap between two scorers of a run; whole: every scorer was considered."""

    points: float
    run: str
    low: ScorerResult
    high: ScorerResult
    whole: bool


def spread_lines(
    scores: Sequence[RunScore], origins: Mapping[str, RunOrigin], reading: str
) -> list[str]:
    """Return the largest gap between scorers, and the command that explains it.

    origins: the origin of each run, by its name in the scores. reading: the command's options for
    reading a file, as they follow it. Scorers that find no answer in most completions are ignored
    if two others remain: the table shows that they are far from all others.
    """
    gap = max(map(_gap, scores), key=lambda results: results.points)
    if gap.low is gap.high:
        return []
    scorers = "scorers" if gap.whole else "scorers that extract answers"
    if gap.points == 0:
        return [f"The {scorers} give the same accuracy."]
    where = f"In {_run_name(gap.run)} the" if len(scores) > 1 else "The"
    path = Path(origins[gap.run].source)
    several = sum(Path(origin.source) == path for origin in origins.values()) > 1
    file = quoted(f"{path}#{origins[gap.run].run}" if several else str(path))
    names = f"'{gap.high.scorer}' '{gap.low.scorer}'"
    return [
        f"{where} {scorers} are up to {100 * gap.points:.1f} points apart: {gap.high.scorer} "
        f"{accuracy_text(gap.high)}, {gap.low.scorer} {accuracy_text(gap.low)}. Why:",
        f"  gradeschool explain {file}{reading} --scorer {names}",
    ]


def _gap(score: RunScore) -> _Gap:
    reading = [
        scorer
        for scorer in score.scorers
        if scorer.correct and scorer.correct + scorer.wrong > scorer.no_answer
    ]
    looked_at = reading if len(reading) > 1 else score.scorers
    ranked = sorted(looked_at, key=lambda scorer: scorer.accuracy)
    low, high = ranked[0], ranked[-1]
    whole = len(looked_at) == len(score.scorers)
    return _Gap(high.accuracy - low.accuracy, score.run, low, high, whole)


def quoted(text: str) -> str:
    """Quote a path or a name for a shell if necessary."""
    return shlex.quote(printable(text))


def print_more(count: int, limit: int, console: Console) -> None:
    """Say how many of `count` items are not shown, unless -n 0 asked for none."""
    if 0 < limit < count:
        console.print(f"\n{count - limit} more; show them with -n {count}")


def print_cause_counts(
    causes: Mapping[str, Mapping[str, Mapping[str, int]]], console: Console
) -> None:
    """Print one table per run: scorers with their causes, most frequent first."""
    for run, scorers in causes.items():
        title = (
            f"{printable(run, keep='')}: causes of misses, wrong acceptances and correct guesses"
        )
        table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)
        table.add_column("scorer", overflow="fold", vertical="top")
        table.add_column("causes", vertical="top")
        for scorer, counts in scorers.items():
            words = [f"{count} {cause}" for cause, count in counts.items()]
            table.add_row(scorer, ", ".join(words) or "none")
        console.print(table)


def print_votes(scores: Sequence[VoteScore], console: Console) -> None:
    """Print one row for each run and vote."""
    table = simple_table(
        ("run", "vote", "problems", "accuracy", "95 % interval", "correct", "wrong")
    )
    table.add_column("no answer wins")
    for score in scores:
        table.add_row(
            printable(score.run, keep=""),
            score.vote,
            str(score.problems),
            percent(score.accuracy),
            bounds(score.ci95),
            str(score.correct),
            str(score.wrong),
            str(score.no_answer),
        )
    console.print(table)


def curve_table(
    curve: Sequence[AtK], title: str, console: Console, count_invalid: bool = False
) -> None:
    """Print one row for each k, then how ties and samples without an answer were counted."""
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)
    for name in ("k", "maj@k", "95 % interval", "pass@k", "95 % interval", "problems", "ties"):
        table.add_column(name, justify="right", no_wrap=True)
    for point in curve:
        table.add_row(
            str(point.k),
            percent(point.maj),
            bounds(point.maj_ci95),
            percent(point.pass_any),
            bounds(point.pass_ci95),
            str(point.problems),
            percent(point.ties, 1),
        )
    console.print(table)
    silent = "votes for none" if count_invalid else "does not vote"
    console.print(
        "maj@k: a problem's samples vote in groups of k; a tie goes to the answer seen first; a "
        f"sample without\nan answer {silent}. maj@1 is the accuracy. pass@k: unbiased, a mean "
        "over problems.\nIntervals: 95 %, by problem.",
        soft_wrap=True,
    )
