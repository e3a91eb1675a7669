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
@click.option("--open", "opens", is_flag=True, help="Open the page in the browser.")
def command(folder: Path, port: int, opens: bool) -> None:
    """Show the runs of a folder (by default runs) in the browser, also while they run.

    Prints an address of this machine, which contains a secret, and serves until Ctrl-C: a
    leaderboard, the report of each run with every prompt and completion, and several runs side by
    side. Pages of unfinished runs are updated. Contacts no other machine, and changes nothing.

    Example: gradeschool view runs
    """
    from gradeschool.reports.viewer import RunViewer, serve

    def announce(address: str) -> None:
        say(address)
        if opens:
            import webbrowser

            webbrowser.open(address)

    try:
        serve(RunViewer(folder), port, announce)
    except KeyboardInterrupt:
        say("stopped", err=True)
