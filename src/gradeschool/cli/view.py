"""`gradeschool view`."""

from __future__ import annotations

from pathlib import Path

import click

from gradeschool.cli.options import Verb
from gradeschool.reports.printable import say


@click.command(cls=Verb)
@click.argument("folder", type=click.Path(path_type=Path), default="runs")
@click.option("--port", type=click.IntRange(0, 65535), default=0, show_default=True,
              help="Port on 127.0.0.1; 0 selects a free port.")  # fmt: skip
def command(folder: Path, port: int) -> None:
    """Show the runs of a folder (by default runs) in the browser, also while they run.

    Prints an address of this machine, which contains a secret, and serves until Ctrl-C: a
    leaderboard, the report of each run with every prompt and completion, and several runs side by
    side. A page shows what is stored when it is loaded. Contacts no other machine, and changes
    nothing.

    Example: gradeschool view runs
    """
    from gradeschool.reports.viewer import RunViewer, serve

    try:
        serve(RunViewer(folder), port, say)
    except KeyboardInterrupt:
        say("stopped", err=True)
