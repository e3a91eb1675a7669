"""The command line: one file for each verb, imported when it runs."""

from __future__ import annotations

import sys
from importlib import import_module

import click

from gradeschool import __version__
from gradeschool.errors import GradeschoolError

# verb -> the line that --help shows; the command is `command` in gradeschool.cli.<verb>.
VERBS = {
    "eval": "Ask a model, store its completions, score them.",
    "score": "Score recorded completions under every rule.",
    "explain": "Show the completions on which rules differ, and why.",
    "protocols": "List protocols and rules, print their prompts.",
    "data": "List, fetch and verify datasets.",
}


class LazyGroup(click.Group):
    """A group whose verbs are imported when they run, so that --help starts fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a verb."""
        if cmd_name not in VERBS:
            return None
        command = import_module(f"gradeschool.cli.{cmd_name}_verb").command
        assert isinstance(command, click.Command)  # noqa: S101
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="gradeschool")
def command() -> None:
    """Evaluate models on grade-school math (GSM8K), and read their answers right.

    Exit status: 0 done, 2 bad input, 3 finished but some samples failed, 130 interrupted.
    """


def main() -> None:
    """Run the command line; errors of ours become one line and exit status 2."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a lone surrogate must not stop a table
    try:
        command()
    except GradeschoolError as error:
        click.echo(f"gradeschool: {error}", err=True)
        sys.exit(2)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output left, as `head` does
        sys.exit(0)
