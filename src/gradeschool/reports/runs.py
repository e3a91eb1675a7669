"""Run folders for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from gradeschool.reports.printable import printable
from gradeschool.runs.summary import RunSummary

COUNTED = ("requested", "missing", "failed", "truncated", "empty", "prompt_tokens",
           "completion_tokens", "seconds")  # fmt: skip
TALLIED = ("failures", "errors", "deviations", "answered_by")


def runs_table(runs: Sequence[RunSummary], console: Console) -> None:
    """Print a row for each run."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("run", "model", "protocol", "dataset"):
        table.add_column(name, overflow="fold")
    for name in ("samples", "failed", "accuracy", "updated"):
        table.add_column(name, justify="right", no_wrap=True)
    for run in runs:
        table.add_row(*map(printable, _cells(run)))
    console.print(table)


def _cells(run: RunSummary) -> list[str]:
    manifest = run.manifest
    headline = run.headline
    done = run.answered if run.answered == run.planned else f"{run.answered} of {run.planned}"
    return [
        str(run.folder),
        str(manifest.get("model")),
        _name(manifest.get("protocol")),
        _name(manifest.get("dataset")),
        str(done),
        str(run.failed),
        "-" if headline is None else f"{100 * float(headline['accuracy']):.2f} %",
        str(manifest.get("updated", ""))[:16].replace("T", " "),
    ]


def print_run(run: RunSummary, console: Console) -> None:
    """Print what a run is and its figures, one fact a line."""
    manifest, results = run.manifest, run.results or {}
    protocol = manifest.get("protocol")
    digest = protocol.get("digest") if isinstance(protocol, Mapping) else None
    lines = [
        ("folder", run.folder),
        ("model", manifest.get("model")),
        ("protocol", f"{_name(protocol)} ({digest})"),
        ("dataset", _name(manifest.get("dataset"))),
        ("decoding", _pairs(manifest.get("decoding"))),
        ("created", manifest.get("created")),
        ("updated", manifest.get("updated")),
        ("samples", f"{manifest.get('problems')} problems x {manifest.get('samples')}: "
                    f"{run.answered} answered, {run.failed} failed, {run.torn} torn rows"),
        *((name.replace("_", " "), results[name]) for name in COUNTED if name in results),
        *((name.replace("_", " "), _pairs(results[name])) for name in TALLIED if results.get(name)),
        ("cost", _pairs(results.get("cost")) or None),
    ]  # fmt: skip
    for name, value in lines:
        if value is not None:
            console.print(f"{name:18} {printable(str(value))}", soft_wrap=True)
    for rule, figures in (results.get("rules") or {}).items():
        low, high = figures["ci95"]
        accuracy = f"{100 * figures['accuracy']:.2f} % [{100 * low:.2f}, {100 * high:.2f}]"
        console.print(f"{printable(rule):32} {accuracy}", soft_wrap=True)


def _name(fields: Any) -> str:
    return str(fields.get("name")) if isinstance(fields, Mapping) else "?"


def _pairs(fields: Any) -> str:
    if not isinstance(fields, Mapping):
        return ""
    return ", ".join(f"{name} {value}" for name, value in fields.items())
