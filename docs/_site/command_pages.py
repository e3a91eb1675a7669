"""The command line's reference: `--help` of every verb, from the commands themselves."""

from __future__ import annotations

import click

from gradeschool.cli import VERBS
from gradeschool.cli import command as root
from names import fence, table

WIDTH = 92
INDEX = """\
# Command line

Data goes to standard output, progress to standard error; `--json` gives listings to programs, and
`NO_COLOR` is obeyed.

{table}

| exit status | meaning |
|---|---|
| 0 | done |
| 1 | a threshold was missed, or something was found that counts |
| 2 | bad input: the message says what was wrong and what to do |
| 3 | finished, but some samples failed; `eval` and `sample` ask for those again if repeated |
| 130 | interrupted; the same command goes on |

{help}
"""


def pages() -> dict[str, str]:
    """Return the Markdown of every verb's page and of the index by file."""
    context = click.Context(root, info_name="gradeschool", max_content_width=WIDTH)
    rows = [(f"[`gradeschool {verb}`]({verb}.md)", VERBS[verb]) for verb in VERBS]
    index = INDEX.format(table=table(("verb", "what it does"), rows), help=_help(root, context))
    found = {"commands/index.md": index}
    for verb in VERBS:
        command = root.get_command(context, verb)
        if command is not None:
            found[f"commands/{verb}.md"] = "\n".join(_sections(command, verb, context, 1))
    return found


def _sections(command: click.Command, name: str, parent: click.Context, level: int) -> list[str]:
    """Return the section of a command and of its subcommands."""
    context = click.Context(command, info_name=name, parent=parent, max_content_width=WIDTH)
    lines = [f"{'#' * level} {context.command_path}", "", _help(command, context), ""]
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            found = command.get_command(context, inner)
            if found is not None:
                lines += _sections(found, inner, context, level + 1)
    return lines


def _help(command: click.Command, context: click.Context) -> str:
    context.terminal_width = WIDTH
    return fence(command.get_help(context))
