"""The command line: one file for each verb, imported when it runs."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any, NoReturn, TextIO

import click

from gradeschool import __version__
from gradeschool.errors import GradeschoolError, UnknownNameError

# verb -> the line that --help shows; the command is `command` in gradeschool.cli.<verb>.
VERBS = {
    "eval": "Ask a model, store its completions, score them.",
    "score": "Score recorded completions under every scorer.",
    "explain": "Show the completions on which scorers differ, and why.",
    "compare": "Compare runs problem by problem.",
    "diff": "Say why two results that should agree do not.",
    "report": "Write a page of runs (HTML), or Markdown, CSV, JUnit.",
    "export": "Write a run as files that other tools read.",
    "audit": "Find what a scorer or reward function gets wrong.",
    "doctor": "Find out what a server really does.",
    "finetune": "Fine-tune a language model on problems with solutions.",
    "sample": "Sample many completions a problem, and label them.",
    "verifier": "Train a verifier; score completions by one.",
    "rank": "Pick one of many completions: by verifier, by vote.",
    "gguf": "Write a model's folder as one file for llama.cpp.",
    "reproduce": "Reproduce the paper on verifiers, from nothing to its curves.",
    "runs": "List, show, verify and merge run folders; curves over k.",
    "protocols": "List, show and compare protocols and scorers; print prompts.",
    "data": "List, fetch, verify and generate datasets.",
    "integrations": "Print the paths and names that other tools take.",
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

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb; where there is none of that name, say which are close."""
        if args[0] not in VERBS and not args[0].startswith("-"):
            raise UnknownNameError("command", args[0], VERBS)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a verb; end quietly where the reader of our output left, as `head` does."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            _to_nowhere(sys.stdout)
            ctx.exit(0)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="gradeschool")
def command() -> None:
    """Evaluate models on grade-school math (GSM8K), and read their answers right.

    Exit status: 0 done, 1 a threshold was missed, 2 bad input, 3 finished but some samples failed,
    130 interrupted.
    """


def main() -> None:
    """Run the command line; whatever stops it becomes a message and an exit status."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a lone surrogate must not stop a table
    # Processes that multiprocessing and libraries start must not import from the current folder.
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        status = command(prog_name="gradeschool", standalone_mode=False)
    except GradeschoolError as error:
        _fail(error)
    except OSError as error:  # the last resort: a disk that is full, an output that is closed
        _to_nowhere(sys.stdout)
        click.echo(f"gradeschool: cannot read or write: {error}", err=True)
        sys.exit(2)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.Abort:
        click.echo("gradeschool: interrupted", err=True)
        sys.exit(130)
    sys.exit(status if isinstance(status, int) else 0)


def _to_nowhere(stream: TextIO) -> None:
    """Let what a stream still holds be written away when Python ends."""
    with suppress(OSError):  # a stream of a test has no number
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _fail(error: GradeschoolError) -> NoReturn:
    """Say what is wrong, on stdout too where a program reads JSON from there; exit with 2."""
    from gradeschool.cli.options import print_json, warn

    warn(str(error))
    if "--json" in sys.argv:
        print_json({"error": str(error)})
    sys.exit(2)
