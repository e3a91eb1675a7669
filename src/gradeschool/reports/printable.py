"""What leaves the program for a person: one function for each medium, and nothing past it.

Names, texts and messages come from files, servers and models. A terminal would obey the escape
codes in them, a spreadsheet would compute cells that look like formulas. The HTML page escapes in
its own template (`reports/page/`).
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

FORMULA = ("=", "+", "-", "@", "|", "%")  # what a cell begins with that a spreadsheet computes
NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)*\Z")
CLEAR = "\r\x1b[K"  # removes the line that the cursor is in


def printable(text: str, keep: str = "\n") -> str:
    """Return a text with control characters, invisible marks and lone surrogates escaped.

    keep: control characters that stay.
    """
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in keep else char.encode("unicode_escape").decode()
        for char in text
    )


def say(text: str = "", end: str = "\n", err: bool = False) -> None:
    """Print a text on stdout, or on stderr, as a terminal may show it."""
    import click

    click.echo(printable(text) + end, err=err, nl=False)


def show_status(text: str) -> None:
    """Replace the line of a terminal's stderr by a text; "" leaves it empty."""
    sys.stderr.write(CLEAR + printable(text, keep=""))
    sys.stderr.flush()


def terminal(**options: Any) -> Console:
    """Return a console of rich that escapes what it prints, styles and cursor movements apart.

    options: of `rich.console.Console`. Markup ("[red]") and emoji (":smile:") in names are printed
    literally. A closed output raises BrokenPipeError.
    """
    from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook, RenderResult
    from rich.segment import Segment

    class Escaped:
        def __init__(self, shown: Any) -> None:
            self.shown = shown

        def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
            for part in console.render(self.shown, options):
                is_plain = part.control or part.text.isprintable()
                yield part if is_plain else Segment(printable(part.text), part.style)

    class EscapingHook(RenderHook):
        def process_renderables(
            self, renderables: Iterable[ConsoleRenderable]
        ) -> list[ConsoleRenderable]:
            return [Escaped(shown) for shown in renderables]

    class TerminalConsole(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # handled by `LazyGroup.invoke`; rich would exit with 1

    console = TerminalConsole(highlight=False, markup=False, emoji=False, **options)
    console.push_render_hook(EscapingHook())
    return console


def csv_cell(text: str) -> str:
    """Return a cell that no spreadsheet computes: a "'" stands before what looks like a formula.

    Spreadsheets skip white space before it, and some take fullwidth signs ("＝") for signs.
    """
    shown = printable(text)
    start = unicodedata.normalize("NFKC", shown.lstrip()[:1])
    return f"'{shown}" if start in FORMULA and start and not NUMBER.match(shown) else shown
