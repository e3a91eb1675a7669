"""Options and small helpers that several verbs share."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

import click

from gradeschool.errors import InputError, UnknownNameError, close_names
from gradeschool.reports.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console


STANDARD_INPUT = "-"


class FiniteRange(click.FloatRange):
    """Numbers of a range, of which "nan" and "inf" are none."""

    name = "number"  # what --help and messages call it

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number; fails where it is not finite or not in the range."""
        number = super().convert(value, param, ctx)
        if not isfinite(number):
            self.fail(f"{value!r} is no finite number", param, ctx)
        return number


dataset_option = click.option(
    "-d",
    "--dataset",
    help="Dataset: a name from `gradeschool data list`, or a JSONL, CSV or Parquet file.",
)
labels_option = click.option(
    "--labels",
    type=click.Choice(["platinum"]),
    help="Judge by the labels of GSM8K-Platinum (110 problems removed, 10 golds revised).",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def warn(message: str) -> None:
    """Tell the user something on stderr; what a terminal would obey is escaped."""
    click.echo(f"gradeschool: {printable(message)}", err=True)


def warn_of_faults(count: int) -> None:
    """Say that rows could not be used, and exit with 3, where there are any."""
    if count:
        rows = "1 row" if count == 1 else f"{count} rows"
        warn(f"{rows} could not be used, counted as {'an error' if count == 1 else 'errors'}")
        sys.exit(3)


def scorers_option(default: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option that takes several scorers; `files_and_scorers` reads what it left behind.

    default: what is read without it, for --help.
    """
    return click.option(
        "--scorer",
        "--rule",
        "--rules",
        "--scorers",
        "scorers",
        multiple=True,
        metavar="NAME...",
        help=f"Names from `gradeschool protocols list`, or 'all'; by default {default}.",
    )


def check_scorers(*names: str | None) -> None:
    """Raise UnknownNameError or MissingExtraError for a name that stands for no usable scorer."""
    from gradeschool.protocols.registry import get_usable_scorer

    for name in names:
        if name is not None:
            get_usable_scorer(name)


def files_and_scorers(
    arguments: Sequence[str], scorers: Sequence[str]
) -> tuple[list[str], tuple[str, ...]]:
    """Return the files (as they were given) and the scorers of a command line, each once.

    `--scorer A B` gives "B" as an argument: a scorer's name that is no file is a scorer there. "-"
    is standard input, as a file of this command's. Raises InputError where no file is left,
    UnknownNameError for a word that is nearly a scorer's name.
    """
    from gradeschool.protocols.registry import all_scorers

    once = dict.fromkeys(arguments)
    arguments = [_standard_input() if name == STANDARD_INPUT else name for name in once]

    known = all_scorers() if scorers else {}
    absent = [name for name in arguments if not os.path.exists(name)]  # noqa: PTH110  (never raises)
    named = [name for name in absent if name in known]
    files = [name for name in dict.fromkeys(arguments) if name not in named]
    for name in files:
        if len(files) > 1 and name in absent and "#" not in name and close_names(name, known):
            raise UnknownNameError("scorer", name, known)
    if not files:
        raise InputError(
            f"no file is given, only scorers: {', '.join(map(repr, named))}; give a FILE"
        )
    return files, tuple(dict.fromkeys((*scorers, *named)))


def _standard_input() -> str:
    """Copy standard input, rows of JSON, into a file that is there as long as the command runs.

    A file of completions is read twice, and may be larger than the memory.
    """
    import shutil
    from pathlib import Path
    from tempfile import TemporaryDirectory

    folder = click.get_current_context().with_resource(TemporaryDirectory())
    path = Path(folder) / "stdin.jsonl"
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return str(path)


def size_in_words(size: int) -> str:
    """Return a number of bytes as people say it: "48 kB", "1.3 MB"."""
    return f"{size / 1e6:,.1f} MB" if size >= 999_500 else f"{size / 1e3:,.0f} kB"


def print_json(value: Any) -> None:
    """Print one JSON value on stdout; ASCII, so that every string can be written."""
    import json

    click.echo(json.dumps(value, indent=2))


def stdout_console() -> Console:
    """Return a console for tables: as wide as the terminal, 120 columns where there is none."""
    from rich.console import Console

    class PipedConsole(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # `main` knows what to do; rich would exit with 1

    piped = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    # Names come from files: neither markup ("[red]") nor emoji (":smile:") is read in them.
    return PipedConsole(width=120 if piped else None, highlight=False, markup=False, emoji=False)
