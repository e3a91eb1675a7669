"""Options and small helpers that several verbs share."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.console import Console

dataset_option = click.option(
    "-d",
    "--dataset",
    help="Dataset: a name from `gradeschool data list`, or a JSONL, CSV or Parquet file.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def warn(message: str) -> None:
    """Tell the user something on stderr."""
    click.echo(f"gradeschool: {message}", err=True)


def print_json(value: Any) -> None:
    """Print one JSON value on stdout; ASCII, so that every string can be written."""
    import json

    click.echo(json.dumps(value, indent=2))


def stdout_console() -> Console:
    """Return a console for tables: as wide as the terminal, 120 columns where there is none."""
    import sys

    from rich.console import Console

    piped = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    return Console(width=120 if piped else None, highlight=False)
