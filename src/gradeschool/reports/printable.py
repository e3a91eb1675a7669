"""Make text safe to show: all output goes through one function per medium.

Names, texts and messages come from files, servers and models. A terminal would obey escape codes in
them. The HTML page escapes in its templates (`pages`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

# Characters with a meaning in a Markdown table cell.
MARKDOWN = re.compile(r"([\\`*_{}\[\]<>&|~#:@]|(?<=www)\.)", re.IGNORECASE)


def printable(text: str, keep: str = "\n") -> str:
    """Return a text with control characters, invisible marks and lone surrogates escaped.

    keep: control characters that are not escaped.
    """
    if text.isprintable():
        return text
    escaped = [
        char if char.isprintable() or char in keep else char.encode("unicode_escape").decode()
        for char in text
    ]
    return "".join(escaped)


def say(text: str = "", end: str = "\n", err: bool = False) -> None:
    """Print a text on stdout or stderr, with escapes for the terminal."""
    import click

    click.echo(printable(text) + end, err=err, nl=False)


def quoted(text: str) -> str:
    """Quote a path or a name for a shell if necessary, with escapes for the terminal."""
    from shlex import quote

    return quote(printable(text))


def terminal(**options: Any) -> Console:
    """Return a rich console that escapes what it prints, except for styles and cursor movements.

    options: of `rich.console.Console`. Markup ("[red]") and emoji (":smile:") in names are printed
    literally. A closed output raises BrokenPipeError.
    """
    from rich.console import Console
    from rich.segment import Segment

    class TerminalConsole(Console):
        def render(self, renderable: Any, options: Any = None) -> Iterator[Segment]:
            for part in super().render(renderable, options):
                is_plain = part.control or part.text.isprintable()
                yield part if is_plain else Segment(printable(part.text), part.style)

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # handled by `LazyGroup.invoke`; rich would exit with 1

    return TerminalConsole(highlight=False, markup=False, emoji=False, **options)


def markdown_text(text: str) -> str:
    """Return a text as Markdown that shows the same characters: no markup, no link, no HTML."""
    return MARKDOWN.sub(r"\\\1", printable(text, keep=""))
