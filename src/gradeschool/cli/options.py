"""Options and small helpers that several commands share."""

import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from math import isfinite
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from rich.console import Console

from gradeschool.answers.regions import parse_marks
from gradeschool.cli import PIPES
from gradeschool.cli import print_json as print_json
from gradeschool.cli import warn as warn
from gradeschool.errors import InputError, UnknownNameError, close_names
from gradeschool.formats.columns import parse_columns
from gradeschool.formats.read import show_columns
from gradeschool.formats.run_folder import scorer_of
from gradeschool.formats.values import ReadOptions
from gradeschool.printable import count, quoted, say
from gradeschool.protocols.registry import all_scorers
from gradeschool.reports.terminal import TerminalConsole
from gradeschool.scorer import MARKED_READER, Scorer, with_marks
from gradeschool.scoring.compare import Outcomes
from gradeschool.scoring.sources import Run
from gradeschool.scoring.table import choose_scorers, scorer_for

LEAST_NAME_WIDTH = 32  # columns for the names of a list
SHOW = "?"  # --columns without a value
READING = "gradeschool.reading"  # key of the reading options in ctx.meta
MOST_SEED = 10**18 - 1  # as for fresh problems; torch accepts less than 2**64
Option = Callable[[Any], Any]  # a decorator of commands


class Command(click.Command):
    """A command that refuses to have a single-value option twice; click keeps the last."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, or show the columns of the files for --columns without a value.

        Raises UsageError for a repeated option.
        """
        *_, parameters = self.make_parser(ctx).parse_args(list(args))
        for option, times in Counter(parameters).items():
            if isinstance(option, click.Option) and times > 1:
                is_switch = option.is_flag and not option.secondary_opts
                if not (option.multiple or option.count or is_switch):
                    name = max(option.opts, key=len)
                    raise click.UsageError(f"{name} is given {times} times; give it once")
        rest = super().parse_args(ctx, args)
        if SHOW in ctx.meta.get(READING, {}).get("columns", ()):
            for param in self.params:
                value = ctx.params.get(param.name or "")
                if isinstance(param, click.Argument) and value:
                    for file in value if isinstance(value, tuple) else (value,):
                        say(show_columns(Path(file)))
            ctx.exit(0)
        return rest


class CommandGroup(click.Group):
    """A command with commands of its own."""

    command_class = Command


def read_options() -> ReadOptions:
    """Return how the command's files are read: the values of `reading_options`.

    Raises InputError for an unknown role.
    """
    given = click.get_current_context().meta[READING]
    return ReadOptions(**given | {"columns": tuple(map(parse_columns, given["columns"]))})


def options_as_typed() -> str:
    """Return the options with which the command reads its files, as words behind a file name."""
    given = click.get_current_context().meta[READING]
    pairs = [("-d", given["dataset"]), *(("--columns", each) for each in given["columns"])]
    pairs.append(("--id-base", given["id_base"]))
    words = [f" {option} {quoted(str(value))}" for option, value in pairs if value is not None]
    return "".join([" --in-order" * given["in_order"], *words])


def option(names: str, kind: Any, help: str, **more: Any) -> Option:
    """Return an option that shows its default; kind: its type, or the names of its choices."""
    if isinstance(kind, tuple):
        kind = click.Choice(kind)
    more.setdefault("show_default", more.get("default") is not None)
    return click.option(*names.split(), type=kind, help=help, **more)


def switch(names: str, help: str, **more: Any) -> Option:
    """Return an option without a value."""
    return click.option(*names.split(), is_flag=True, help=help, **more)


def with_options(*options: Option) -> Option:
    """Return a decorator that adds options to a command, in the order of --help."""
    return lambda command: reduce(lambda inner, option: option(inner), reversed(options), command)


class FiniteRange(click.FloatRange):
    """Numbers within bounds, if there are any, without "nan" and "inf"."""

    name = "number"  # the type's name in --help and messages

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number; fail unless it is finite and in the range."""
        number = super().convert(value, param, ctx)
        if not isfinite(number):
            self.fail(f"{value!r} is not a finite number", param, ctx)
        return number

    def _describe_range(self) -> str:
        return "" if self.min is None and self.max is None else super()._describe_range()


COUNT = click.IntRange(min=1)
PATH = click.Path(path_type=Path)
FOLDER = click.Path(path_type=Path, file_okay=False)
quiet_option = switch("--quiet", "Show no progress.")
DATASET = (
    "Dataset: a name from `gradeschool data list`; a JSONL, CSV or Parquet file or its https:// "
    "address; or hf:OWNER/NAME[:CONFIG[:SPLIT]]. By default that of the protocol or file, else "
    "gsm8k."
)
dataset_option = click.option("-d", "--dataset", default="", help=DATASET)


def _keep(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    """Keep the value of an option for `read_options`."""
    context.meta.setdefault(READING, {})[parameter.name] = value


# Of a command that reads sample files; their values are not passed to it, see `read_options`.
column_options = with_options(
    option("--columns", str, "Columns of response, question, gold, id, run, sample, finish, error, "
           "flag; without a value, print all columns with examples. Once for all files, or for "
           "each.", multiple=True, metavar="ROLE=COLUMN,...", is_flag=False, flag_value=SHOW,
           expose_value=False, callback=_keep),
    switch("--in-order", "The rows are the problems of the dataset, in its order.",
           expose_value=False, callback=_keep),
    option("--id-base", int, "Number of the first problem in ids; by default found out.",
           metavar="N", expose_value=False, callback=_keep),
)  # fmt: skip
reading_options = with_options(
    option("-d --dataset", str, DATASET, expose_value=False, callback=_keep), column_options
)
marks_option = option("--thinking-marks", str, "Marks around thinking besides the usual ones, for "
                      "gradeschool/reader; may be repeated.", multiple=True,
                      metavar="OPEN,CLOSE")  # fmt: skip
json_option = switch("--json as_json", "Print JSON.")
force_option = switch("--force", "Replace existing files.")
limit_option = option("-n --limit", COUNT, "Use only the first N problems.")


def scorer_option(help_text: str) -> Option:
    """Return the option --scorer, which takes one name and refuses an unusable scorer at once."""

    def check(_context: click.Context, _option: click.Parameter, name: str | None) -> str | None:
        if name is not None:
            choose_scorers([name])
        return name

    return click.option("--scorer", metavar="NAME", help=help_text, callback=check)


def scorers_option(default: str) -> Option:
    """Return the option --scorer, which takes several names; see `files_and_scorers`.

    default: the default scorers, for --help.
    """
    return option("--scorer scorers", str, "Names from `gradeschool protocols list`, functions of "
                  f"your own (FILE.py:FUNCTION), or 'all'; by default {default}.", multiple=True,
                  metavar="NAME...")  # fmt: skip


def files_and_scorers(
    arguments: Sequence[str], scorers: Sequence[str], marks: Sequence[str] = ()
) -> tuple[list[str], tuple[str, ...]]:
    """Return the files and the scorers of a command line, without repetitions.

    Click passes the "B" of `--scorer A B` as an argument, so an argument that is a scorer's name
    and not a file, or that ends in .py:FUNCTION, counts as a scorer. Pipes and "-", standard input,
    are copied to temporary files. Raises InputError if no file is given, UnknownNameError for a
    word close to a scorer's name. marks: the values of --thinking-marks.
    """
    given = list(dict.fromkeys(arguments))
    for place, name in enumerate(given):
        if is_pipe(name):  # a file of completions is read twice, and may be larger than memory
            folder = click.get_current_context().with_resource(TemporaryDirectory())
            pipe = "stdin" if name == "-" else name
            copy = Path(folder) / f"{Path(pipe).stem}.jsonl"
            with (
                copy.open("wb") as file,
                sys.stdin.buffer if name == "-" else Path(name).open("rb") as source,
            ):
                shutil.copyfileobj(source, file)
            PIPES[str(copy)], given[place] = pipe, str(copy)
    absent = [name for name in given if not os.path.exists(name)]  # noqa: PTH110  (never raises)
    registered = all_scorers() if scorers and absent else {}
    named = [name for name in absent if name in registered or (scorers and ".py:" in name)]
    files = [name for name in given if name not in named]
    for name in files:
        if len(files) > 1 and name in absent and "#" not in name and close_names(name, registered):
            raise UnknownNameError("scorer", name, registered)
    if not files:
        raise InputError(
            f"no file is given, only scorers: {', '.join(map(repr, named))}; give a FILE"
        )
    chosen = tuple(dict.fromkeys((*scorers, *named)))
    return files, with_marks(chosen, list(map(parse_marks, marks))) if marks else chosen


def is_pipe(name: str) -> bool:
    """Return whether a name is "-" or that of a pipe, as `<(zcat FILE)` gives."""
    exists = os.path.exists(name)  # noqa: PTH110  (never raises)
    return name == "-" or (exists and Path(name).is_fifo())


def is_own_function(scorer: str) -> bool:
    """Return whether a scorer's name is that of a function of one's own, "mine.py:f"."""
    return ":" in scorer and not scorer.startswith(MARKED_READER)


def scorer_of_runs(runs: Sequence[Run], name: str | None) -> Scorer:
    """Return the scorer of that name, by default the headline scorer of the runs."""
    manifests = [run.manifest for run in runs]
    if name is None:
        warn_of_own_scorer(manifests)
    return scorer_for(manifests, name)


def warn_of_own_scorer(manifests: Sequence[Mapping[str, Any]]) -> None:
    """Say that a run's own scorer is code, which a run folder cannot ask to run."""
    for name in dict.fromkeys(scorer_of(manifest) or "" for manifest in manifests):
        if is_own_function(name):
            warn(f"the run's own scorer is {name!r}; code that a run folder names is not run, give "
                 f"--scorer {name!r} to use it")  # fmt: skip


def warn_of_scorer_errors(outcomes: Sequence[Outcomes], scorer: str) -> bool:
    """Warn about texts on which the scorer itself fails; return whether there are any."""
    failing = [run for run in outcomes if run.scorer_errors]
    for run in failing:
        warn(f"{scorer} fails on {count(sum(run.scorer_errors.values()), 'completion')} of "
             f"{run.run!r}; its accuracy is a range: from all of these wrong to all of them right; "
             "they are left out of the differences")  # fmt: skip
    return bool(failing)


def exit_for_faults(faults: int, status: int = 0) -> None:
    """Warn about rows that could not be used; exit with the status, or with 3 for such rows."""
    if faults:
        errors = "an error" if faults == 1 else "errors"
        warn(f"{count(faults, 'row')} could not be used, counted as {errors}")
        status = status or 3
    if status:
        sys.exit(status)


def print_lists(sections: Mapping[str, Sequence[tuple[str, str]]]) -> None:
    """Print names with their descriptions beside them, or below a long name, under headings."""
    width = stdout_width()
    formatter = click.HelpFormatter(width=width)
    for heading, rows in sections.items():
        with formatter.section(heading):
            formatter.write_dl(rows, col_max=max(LEAST_NAME_WIDTH, width * 2 // 5))
    say(formatter.getvalue(), end="")


def stdout_console() -> Console:
    """Return a console for tables, as wide as the terminal, or 120 columns without one."""
    return TerminalConsole(width=stdout_width())


def stdout_width() -> int:
    """Return the columns of the terminal, 120 without one."""
    piped = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    return 120 if piped else shutil.get_terminal_size().columns
