"""Run folders in the terminal: a list, a single run, and several runs by accuracy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console

from gradeschool.formats.settings import mapping
from gradeschool.percentages import accuracy_words, aligned, bounds, count, percent
from gradeschool.reports.measured import changed_settings, engine_words
from gradeschool.reports.printable import printable
from gradeschool.reports.terminal import GAP, accuracy_text
from gradeschool.runs.folder import RunSummary

if TYPE_CHECKING:
    from gradeschool.scoring.score import RunScore

COUNTED = ("requested", "missing", "failed", "truncated", "empty", "prompt_tokens",
           "completion_tokens", "reasoning_tokens", "seconds")  # fmt: skip
TALLIED = ("errors", "deviations", "answered_by")
NAMES = ("run", "model", "protocol", "dataset")
FIGURES = ("samples", "failed", "accuracy", "updated")
SCORE_FIGURES = ("accuracy", "95 % interval", "n", "no answer", "truncated", "errors")
Cells = tuple[str, ...]


def _print_rows(names: Sequence[Cells], figures: Sequence[Cells], console: Console) -> None:
    """Print rows of names and figures, headings first; names above the figures if too wide."""
    names = [tuple(printable(name, keep="") for name in row) for row in names]
    table = [(*row, *cells) for row, cells in zip(names, figures, strict=True)]
    lines = aligned(table, left=len(names[0]))
    if len(lines[0]) <= console.width:
        for line in lines:
            console.print(line, soft_wrap=True)
        return
    for row, line in zip(names, aligned(figures, left=0), strict=True):
        is_heading = row is names[0]
        title = ", ".join(filter(None, row))
        console.print(title, style="" if is_heading else "bold", soft_wrap=True)
        console.print(f"{' ' * GAP}{line}", soft_wrap=True)


def runs_table(runs: Sequence[RunSummary], console: Console) -> None:
    """Print one row per run."""
    names: list[Cells] = [NAMES]
    figures: list[Cells] = [FIGURES]
    for run in runs:
        manifest = run.manifest
        described = (_name(manifest.get(field)) for field in ("protocol", "dataset"))
        names.append((str(run.folder), str(manifest.get("model")), *described))
        whole = run.answered == run.planned
        figures.append((
            f"{run.answered}" if whole else f"{run.answered} of {run.planned}",
            str(run.failed),
            _accuracy(run.headline) if run.headline and run.earlier_samples is None else "-",
            printable(str(manifest.get("updated", "")), keep="")[:16].replace("T", " "),
        ))  # fmt: skip
    _print_rows(names, figures, console)


def print_run(run: RunSummary, console: Console) -> None:
    """Print a run's description and figures, one fact per line."""
    manifest, results = run.manifest, run.results or {}
    earlier = run.earlier_samples
    of_earlier = "" if earlier is None else f"of {count(earlier, 'sample')}"
    protocol = manifest.get("protocol")
    none = {"stop": "no stop strings", "seed": "no seed"}
    decoding = ", ".join(
        f"{name} {value}" if value not in (None, []) else none.get(name, f"no {name}")
        for name, value in mapping(manifest.get("decoding")).items()
    )
    lines = [
        ("folder", run.folder),
        ("model", manifest.get("model")),
        ("answered by", run.other_models or None),
        ("protocol", f"{_name(protocol)} ({mapping(protocol).get('digest')})"),
        ("dataset", _name(manifest.get("dataset"))),
        ("decoding", decoding),
        ("changed", ", ".join(changed_settings(manifest)) or None),
        ("engine", engine_words(manifest) or None),
        ("created", manifest.get("created")),
        ("updated", manifest.get("updated")),
        ("samples", f"{manifest.get('problems')} problems x {manifest.get('samples')}: "
                    f"{run.answered} answered, {run.failed} failed, {run.damaged} damaged rows"),
        ("results", None if earlier is None else f"of an earlier session, {of_earlier}"),
        *((name.replace("_", " "), results.get(name)) for name in COUNTED),
        *((name.replace("_", " "), _pairs(results.get(name))) for name in TALLIED),
        ("seconds an answer", _pairs(results.get("latency"))),
        ("tokens a second", _pairs(results.get("tokens_per_second"))),
        ("cost", _pairs(results.get("cost"))),
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


def _pairs(fields: Any) -> str | None:
    return ", ".join(f"{name} {value}" for name, value in mapping(fields).items()) or None


def print_leaderboard(
    rows: Sequence[tuple[Cells, RunScore]], heads: Cells, console: Console
) -> None:
    """Print one row per run, by the first scorer, the most accurate first.

    rows: the names of each run, under `heads` ("model", "protocol"), and its score.
    """
    names, figures = [heads], [SCORE_FIGURES]

    def rank(row: tuple[Cells, RunScore]) -> tuple[bool, float]:
        return not row[1].scorers[0].judged, -row[1].scorers[0].accuracy

    for name, score in sorted(rows, key=rank):
        headline, forms = score.scorers[0], score.forms
        truncated = forms.truncated / forms.n if forms and forms.n else 0
        names.append(name)
        figures.append((
            accuracy_text(headline),
            bounds(headline.ci95),
            str(score.n),
            str(headline.no_answer),
            percent(truncated, 1) if truncated else "0",
            str(headline.error),
        ))  # fmt: skip
    # The first three, and those that are not 0 in every row.
    kept = [at for at in range(len(SCORE_FIGURES))
            if at < 3 or any(cells[at] != "0" for cells in figures[1:])]  # fmt: skip
    _print_rows(names, [tuple(cells[at] for at in kept) for cells in figures], console)
