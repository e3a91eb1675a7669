"""The command line: the module of a command is imported when it runs."""

import json
import os
import re
import sys
from contextlib import suppress
from importlib import import_module
from io import StringIO
from pathlib import Path
from traceback import walk_tb
from typing import Any

import click

from gradeschool import __version__
from gradeschool.errors import GradeschoolError, UnknownNameError
from gradeschool.masking import discard, masked_streams
from gradeschool.printable import printable, say

MESSAGES = "gradeschool.messages"  # key of what was said on stderr
PIPES: dict[str, str] = {}  # by the temporary file with its copy, see `options.files_and_scorers`
# Options and commands for which people look that want maj@k and pass@k.
AT_K = re.compile(r"\b(?:pass\W?(?:at\W?)?k?|maj|majority|curve|at\W?k)\b", re.I)
# Group of --help -> command -> its line; the function is `NAME_command` in gradeschool.cli.NAME.
GROUPS = {
    "Evaluate": {
        "eval": "Evaluate models: store their completions and score them.",
        "score": "Score completions from a file or run under every scorer.",
        "runs": "List, show and verify run folders; print maj@k and pass@k.",
        "doctor": "Test what a server really does with requests.",
    },
    "Understand a score": {
        "explain": "Show why completions are right or wrong under a scorer.",
        "why": "Explain why a score is not the expected one.",
        "compare": "Compare runs problem by problem.",
        "profile": "Measure what a score loses with other numbers or words.",
    },
    "Show results": {
        "report": "Write a report of runs as HTML or Markdown, and figures.",
        "view": "Show the runs of a folder in the browser, also while they run.",
        "export": "Write a run in the format of another tool.",
    },
    "Check scorers, train verifiers": {
        "audit": "Find what a scorer or reward function gets wrong.",
        "verifier": "Fine-tune, sample, train a verifier, score and rank completions.",
    },
    "Protocols and data": {
        "protocols": "List and show protocols and scorers; compare protocols; print prompts.",
        "data": "List, fetch and generate datasets.",
    },
}
# The commands that share a module.
MODULES = {"doctor": "runs", "why": "compare", "report": "results", "view": "results",
           "export": "results"}  # fmt: skip
COMMANDS = {name: line for group in GROUPS.values() for name, line in group.items()}


class LazyGroup(click.Group):
    """A group whose commands are imported when they run, so that --help starts fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; raises UnknownNameError, which names the closest ones."""
        if cmd_name.startswith("-"):  # click says that it is no option
            return None
        if cmd_name not in COMMANDS:
            raise UnknownNameError("command", cmd_name, [*COMMANDS, "runs curve"])
        module = import_module(f"gradeschool.cli.{MODULES.get(cmd_name, cmd_name)}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; exit with 0 if the reader of our output closes it, as `head` does."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            discard(sys.stdout)
            ctx.exit(0)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by group, without importing them."""
        width = max(map(len, COMMANDS))
        for heading, commands in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), line) for name, line in commands.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="gradeschool")
def command() -> None:
    """Evaluate models on grade-school math (GSM8K), and read their answers correctly.

    Exit status: 0 done, 1 a check failed (a threshold, audit, doctor, runs verify), 2 bad input,
    3 finished but some samples failed, 130 interrupted.
    """


def main() -> None:
    """Run the command line; report errors as a message and an exit status, and mask secrets."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a lone surrogate must not abort a table
    # Processes started by multiprocessing and libraries must not import from the current folder.
    os.environ["PYTHONSAFEPATH"] = "1"
    with masked_streams():
        try:
            status = command(prog_name="gradeschool", standalone_mode=False)
        except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  (also of a bug)
            status = _status(error)
        sys.exit(status if isinstance(status, int) else 0)


def _status(raised: BaseException) -> int:
    """Report an error, and return the exit status. No input ends in a traceback."""
    try:
        raise raised
    except GradeschoolError as error:
        return _report(str(error))
    except OSError as error:  # a full disk or a closed output
        discard(sys.stdout)
        return _report(f"cannot read or write: {error}")
    except click.UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # click 8.1 has no such class
            say(error.format_message(), err=True)
            return error.exit_code
        words = " ".join(error.format_message().split()).rstrip(".")
        words = re.sub(r"\. \(?Did (you mean [^?]*\?)\)?", r"; did \1", words)
        path = error.ctx.command_path if error.ctx else "gradeschool"
        if words.startswith("No such") and AT_K.search(wrong := words.partition("; did you")[0]):
            words, path = f"{wrong}; maj@k and pass@k have a command", "gradeschool runs curve"
        elif "--expected" in words and words.startswith("No such option"):
            path = "gradeschool why"
        end = " S" if words.endswith("?") else "; s"
        return _report(f"{words[:1].lower()}{words[1:]}{end}ee `{path} --help`")
    except click.ClickException as error:
        usage = StringIO()
        error.show(usage)
        say(usage.getvalue(), end="", err=True)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt) as error:  # click turns the latter into Abort
        cause = error.__cause__ or error.__context__ or error  # click 8.1 sets the second
        say(f"gradeschool: {str(cause) or 'interrupted'}", err=True)
        return 130
    except MemoryError:
        return _report("not enough memory; give a smaller file, or fewer --jobs")
    except Exception as error:  # a bug: one line, with the position for a report
        if os.environ.get("GRADESCHOOL_TRACEBACK"):
            raise
        advice = "Please report it"
        if isinstance(error, ImportError):  # of an installed package
            advice = "Install this package again, or the library of the system that it names"
        *_, (frame, line) = walk_tb(error.__traceback__)
        file = "/".join(Path(frame.f_code.co_filename).parts[-2:])
        said = printable(str(error)[:200], keep="")
        return _report(
            f"unexpected {type(error).__name__} in {file}, line {line}: {said!r}; what was stored "
            f"before is intact. {advice}; GRADESCHOOL_TRACEBACK=1 shows the traceback"
        )


def _report(message: str) -> int:
    """Print an error, with --json also as JSON on stdout; return the exit status 2."""
    warn(message)
    if "--json" in sys.argv:
        with suppress(OSError):
            print_json({"error": with_pipes(message)})
    return 2


# What every command says; the modules of the commands find it in `options`.


def with_pipes(message: str) -> str:
    """Return a message that names the pipes of the command line, not their temporary copies."""
    for copy, pipe in PIPES.items():
        message = message.replace(copy, pipe)
    return message


def warn(message: str) -> None:
    """Print a message on stderr, with control characters escaped; `print_json` prints it too."""
    said = with_pipes(message)
    if context := click.get_current_context(silent=True):
        context.meta.setdefault(MESSAGES, []).append(said)
    say(f"gradeschool: {said}", err=True)


def print_json(value: Any) -> None:
    """Print a JSON value on stdout, in ASCII so that any string can be written.

    An object gets what the command has said on stderr, as "messages".
    """
    context = click.get_current_context(silent=True)
    said = context.meta.get(MESSAGES) if context else None
    if said and isinstance(value, dict):
        value = {**value, "messages": said}
    say(json.dumps(value, indent=2))
