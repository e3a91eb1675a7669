"""`gradeschool data list | fetch | verify | generate | right`."""

from __future__ import annotations

import sys

import click

from gradeschool.cli.data_generate import generate_command
from gradeschool.cli.data_right import right_command
from gradeschool.cli.data_suspects import suspects_command
from gradeschool.cli.options import json_option, print_json, stdout_console


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """List, fetch, verify and generate datasets."""


@command.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """List the named datasets and where each is found."""
    from gradeschool.datasets.files import find_file
    from gradeschool.datasets.sources import SOURCES
    from gradeschool.errors import DataError

    rows = []
    for source in SOURCES.values():
        try:
            file = find_file(source)
            where = file.where if file else "to be fetched"
            path = str(file.path) if file else None
        except DataError:
            where, path = "wrong digest", None
        rows.append({"name": source.name, "rows": source.rows, "where": where, "path": path,
                     "sha256": source.sha256, "url": source.url, "licence": source.licence,
                     "summary": source.summary})  # fmt: skip
    if as_json:
        print_json({"datasets": rows})
        return
    from rich import box
    from rich.table import Table

    table = Table("dataset", "problems", "found", "what it is", box=box.SIMPLE_HEAD)
    table.caption = "fresh:SEED makes new problems: `gradeschool data generate --help`"
    table.caption_justify = "left"
    for row in rows:
        table.add_row(*(str(row[name]) for name in ("name", "rows", "where", "summary")))
    stdout_console().print(table)


@command.command("fetch")
@click.argument("names", nargs=-1)
def fetch_command(names: tuple[str, ...]) -> None:
    """Fetch datasets from their origin and verify them.

    Fetches all of them where none is named, and nothing that is here already.
    """
    from gradeschool.datasets.files import locate
    from gradeschool.datasets.load import source_named
    from gradeschool.datasets.sources import SOURCES

    for source in [source_named(name) for name in names] or SOURCES.values():
        file = locate(source)
        click.echo(f"{source.name}: {file.where}, {file.path}")


command.add_command(suspects_command)
command.add_command(generate_command)
command.add_command(right_command)


@command.command("verify")
@click.argument("names", nargs=-1)
def verify_command(names: tuple[str, ...]) -> None:
    """Check digests and row counts of datasets.

    Checks all that are here where none is named.
    """
    from gradeschool.datasets.files import find_file
    from gradeschool.datasets.load import load_dataset, source_named
    from gradeschool.datasets.sources import SOURCES
    from gradeschool.errors import DataError

    failed = False
    for source in [source_named(name) for name in names] or SOURCES.values():
        try:
            if find_file(source) is None:
                failed = failed or bool(names)
                click.echo(f"{source.name}: not on this machine")
                continue
            problems = len(load_dataset(source.name))
            click.echo(f"{source.name}: ok, {problems} problems")
        except DataError as error:
            failed = True
            click.echo(f"{source.name}: {error}", err=True)
    if failed:
        sys.exit(2)
