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
           "completion_tokens", "reasoning_tokens", "seconds", "errors", "deviations",
           "answered_by", "latency", "tokens_per_second", "cost")  # fmt: skip
WORDS = {"latency": "seconds an answer", "tokens_per_second": "tokens a second"}
Cells = tuple[str, ...]


def _print_rows(rows: Sequence[tuple[Cells, Cells]], console: Console) -> None:
    """Print rows of names and figures, headings first; names above the figures if too wide."""
    names = [tuple(printable(name, keep="") for name in row) for row, _ in rows]
    figures = [cells for _, cells in rows]
    lines = aligned([(*row, *cells) for row, cells in zip(names, figures, strict=True)],
                    left=len(names[0]))  # fmt: skip
    if len(lines[0]) <= console.width:
        for line in lines:
            console.print(line, soft_wrap=True)
        return
    for row, line in zip(names, aligned(figures, left=0), strict=True):
        title = ", ".join(filter(None, row))
        console.print(title, style="" if row is names[0] else "bold", soft_wrap=True)
        console.print(f"{' ' * GAP}{line}", soft_wrap=True)


def runs_table(runs: Sequence[RunSummary], console: Console) -> None:
    """Print one row per run."""
    rows: list[tuple[Cells, Cells]] = [
        (("run", "model", "protocol", "dataset"), ("samples", "failed", "accuracy", "updated"))
    ]
    for run in runs:
        manifest, whole = run.manifest, run.answered == run.planned
        described = (_name(manifest.get(field)) for field in ("protocol", "dataset"))
        rows.append((
            (str(run.folder), str(manifest.get("model")), *described),
            (
                f"{run.answered}" if whole else f"{run.answered} of {run.planned}",
                str(run.failed),
                _accuracy(run.headline) if run.headline and run.earlier_samples is None else "-",
                printable(str(manifest.get("updated", "")), keep="")[:16].replace("T", " "),
            ),
        ))  # fmt: skip
    _print_rows(rows, console)


def print_run(run: RunSummary, console: Console) -> None:
    """Print a run's description and figures, one fact per line."""
    manifest, results, earlier = run.manifest, run.results or {}, run.earlier_samples
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
    ]  # fmt: skip
    for name in COUNTED:
        value = results.get(name)
        if isinstance(value, Mapping):
            value = ", ".join(f"{key} {part}" for key, part in value.items()) or None
        lines.append((WORDS.get(name, name.replace("_", " ")), value))
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


def print_leaderboard(
    rows: Sequence[tuple[Cells, RunScore]], heads: Cells, console: Console
) -> None:
    """Print one row per run, by the first scorer, the most accurate first.

    rows: the names of each run, under `heads` ("model", "protocol"), and its score. A count that is
    0 in every row has no column.
    """
    figures = ("accuracy", "95 % interval", "n", "no answer", "truncated", "errors")
    shown: list[tuple[Cells, Cells]] = [(heads, figures)]
    for name, score in sorted(rows, key=lambda row: (
        not row[1].scorers[0].judged, -row[1].scorers[0].accuracy
    )):  # fmt: skip
        headline, forms = score.scorers[0], score.forms
        truncated = forms.truncated / forms.n if forms and forms.n else 0
        shown.append((name, (
            accuracy_text(headline),
            bounds(headline.ci95),
            str(score.n),
            str(headline.no_answer),
            percent(truncated, 1) if truncated else "0",
            str(headline.error),
        )))  # fmt: skip
    kept = [at for at in range(len(figures))
            if at < 3 or any(cells[at] != "0" for _, cells in shown[1:])]  # fmt: skip
    _print_rows([(name, tuple(cells[at] for at in kept)) for name, cells in shown], console)
