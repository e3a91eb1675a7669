"""Run folders in the terminal: a list, a single run, and several runs by accuracy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console

from gradeschool.formats.settings import mapping
from gradeschool.percentages import accuracy_words, aligned, bounds, count, percent
from gradeschool.reports.measured import measured
from gradeschool.reports.printable import printable
from gradeschool.reports.terminal import GAP, accuracy_text, folded, simple_table
from gradeschool.runs.folder import RunSummary

if TYPE_CHECKING:
    from gradeschool.scoring.score import RunScore, ScorerResult

COUNTED = ("requested", "missing", "failed", "truncated", "empty", "prompt_tokens",
           "completion_tokens", "reasoning_tokens", "seconds")  # fmt: skip
NAMES = ("run", "model", "protocol", "dataset")
FIGURES = ("samples", "failed", "accuracy", "updated")
SCORE_FIGURES = ("accuracy", "95 % interval", "n", "no answer", "truncated", "errors")
TALLIED = ("errors", "deviations", "answered_by")


def runs_table(runs: Sequence[RunSummary], console: Console) -> None:
    """Print one row per run; if that is too wide, figures and description go below the name."""
    names = [NAMES, *(tuple(printable(name, keep="") for name in _names(run)) for run in runs)]
    figures = [FIGURES, *map(_figures, runs)]
    whole = [(*named, *counted) for named, counted in zip(names, figures, strict=True)]
    if len(aligned(whole)[0]) + GAP <= console.width:
        table = simple_table(NAMES, FIGURES)
        for row in whole[1:]:
            table.add_row(*row)
        console.print(table)
        return
    for named, line in zip(names, aligned(figures, left=0), strict=True):
        console.print(f"{line}{' ' * GAP}{named[0]}", style="bold", soft_wrap=True)
        console.print(" " * GAP + ", ".join(named[1:]), soft_wrap=True)


def _names(run: RunSummary) -> tuple[str, ...]:
    manifest = run.manifest
    return (
        str(run.folder),
        str(manifest.get("model")),
        _name(manifest.get("protocol")),
        _name(manifest.get("dataset")),
    )


def _figures(run: RunSummary) -> tuple[str, ...]:
    headline = run.headline if run.earlier_samples is None else None
    accuracy = "-" if headline is None else _accuracy(headline)
    result = run.answered if run.answered == run.planned else f"{run.answered} of {run.planned}"
    return (
        str(result),
        str(run.failed),
        accuracy,
        printable(str(run.manifest.get("updated", "")), keep="")[:16].replace("T", " "),
    )


def print_run(run: RunSummary, console: Console) -> None:
    """Print a run's description and figures, one fact per line."""
    manifest, results = run.manifest, run.results or {}
    settings = measured(manifest)
    earlier = run.earlier_samples
    of_earlier = "" if earlier is None else f"of {count(earlier, 'sample')}"
    protocol = manifest.get("protocol")
    digest = mapping(protocol).get("digest")
    lines = [
        ("folder", run.folder),
        ("model", manifest.get("model")),
        ("answered by", run.other_models or None),
        ("protocol", f"{_name(protocol)} ({digest})"),
        ("dataset", _name(manifest.get("dataset"))),
        ("decoding", _decoding(manifest.get("decoding"))),
        ("changed", ", ".join(settings.changes) or None),
        ("engine", settings.run_by or None),
        ("created", manifest.get("created")),
        ("updated", manifest.get("updated")),
        ("samples", f"{manifest.get('problems')} problems x {manifest.get('samples')}: "
                    f"{run.answered} answered, {run.failed} failed, {run.damaged} damaged rows"),
        ("results", None if earlier is None else f"of an earlier session, {of_earlier}"),
        *((name.replace("_", " "), results[name]) for name in COUNTED if name in results),
        *((name.replace("_", " "), _pairs(results[name])) for name in TALLIED if results.get(name)),
        ("seconds an answer", _pairs(results.get("latency")) or None),
        ("tokens a second", _pairs(results.get("tokens_per_second")) or None),
        ("cost", _pairs(results.get("cost")) or None),
    ]  # fmt: skip
    for name, value in lines:
        if value is not None:
            console.print(f"{name:18} {printable(str(value))}", soft_wrap=True)
    for scorer, figures in run.figures.items():
        accuracy = f"{_accuracy(figures)} [{bounds(figures['ci95'], between=', ')}]"
        console.print(f"{printable(scorer):34} {accuracy} {of_earlier}".rstrip(), soft_wrap=True)


def _accuracy(figures: Mapping[str, Any]) -> str:
    return accuracy_words(figures["accuracy"], figures.get("accuracy_bounds"))


def _name(fields: Any) -> str:
    return str(fields.get("name")) if isinstance(fields, Mapping) else "?"


def _decoding(fields: Any) -> str:
    none = {"stop": "no stop strings", "seed": "no seed"}
    return ", ".join(
        f"{name} {value}" if value not in (None, []) else none.get(name, f"no {name}")
        for name, value in mapping(fields).items()
    )


def _pairs(fields: Any) -> str:
    return ", ".join(f"{name} {value}" for name, value in mapping(fields).items())


class LeaderboardRow(NamedTuple):
    """One run: its distinguishing settings, and its score; the first scorer is the headline."""

    names: tuple[str, ...]
    score: RunScore


def print_leaderboard(
    rows: Sequence[LeaderboardRow], heads: Sequence[str], console: Console
) -> None:
    """Print one row per run. If a line is too short, the names are above the figures.

    heads: the headings of a row's names ("model", "protocol").
    """
    ranked = sorted(rows, key=lambda row: _rank(row.score.scorers[0]))
    names = [tuple(printable(name, keep="") for name in row.names) for row in ranked]
    figures = [_score_figures(row.score) for row in ranked]
    shown = [index for index, head in enumerate(SCORE_FIGURES)
             if index < 3 or any(cells[index] != "0" for cells in figures)]  # fmt: skip
    figures = [tuple(cells[index] for index in shown) for cells in (SCORE_FIGURES, *figures)]
    table = [(*row, *cells) for row, cells in zip((tuple(heads), *names), figures, strict=True)]
    whole = aligned(table, left=len(heads))
    if len(whole[0]) <= console.width:
        for line in whole:
            console.print(line, soft_wrap=True)
        return
    lines = aligned(figures, left=0)
    console.print(f"{', '.join(heads)}\n{' ' * GAP}{lines[0]}", soft_wrap=True)
    for cells, line in zip(names, lines[1:], strict=True):
        console.print(folded(", ".join(filter(None, cells)), console.width), style="bold",
                      soft_wrap=True)  # fmt: skip
        console.print(f"{' ' * GAP}{line}", soft_wrap=True)


def _rank(headline: ScorerResult) -> tuple[bool, float]:
    """Return the sort key: runs without judged completions come last."""
    return not headline.judged, -headline.accuracy


def _score_figures(score: RunScore) -> tuple[str, ...]:
    headline = score.scorers[0]
    truncated = score.forms.truncated / score.forms.n if score.forms and score.forms.n else 0
    return (
        accuracy_text(headline),
        bounds(headline.ci95),
        str(score.n),
        str(headline.no_answer),
        percent(truncated, 1) if truncated else "0",
        str(headline.error),
    )
