"""A completion in the terminal, with what was read in it in brackets and in colour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rich.text import Text

from gradeschool.reports.printable import printable

# A completion of up to SHORT characters is shown whole, of a longer one CONTEXT around what was
# read, and its end.
SHORT, CONTEXT, END = 1000, 200, 120


class Mark(NamedTuple):
    """A piece of a text, from start to end, with a letter and a style of its own."""

    start: int
    end: int
    letter: str
    style: str


def marked(text: str, marks: Sequence[Mark]) -> Text:
    """Return a completion with each mark in brackets with its letter, and coloured."""
    shown = Text()
    for low, high in _windows(marks, len(text)):
        if low:
            shown.append(" …\n… " if shown else "… ")
        edges = {edge for mark in marks for edge in mark[:2] if low <= edge <= high}
        places = sorted({low, high, *edges})
        for place, following in zip(places, [*places[1:], high], strict=True):
            _append_brackets(shown, marks, place)
            inside = [mark.style for mark in marks if mark.start <= place < following <= mark.end]
            shown.append(printable(text[place:following]), inside[-1] if inside else "")
    return shown


def _append_brackets(shown: Text, marks: Sequence[Mark], place: int) -> None:
    """Append the brackets of a place: those that close, empty ones, those that open."""
    for mark in reversed(marks):
        if mark.start < mark.end == place:
            shown.append("]", mark.style)
    for mark in marks:
        if mark.start == place:
            empty = mark.end == place
            shown.append(f"[{mark.letter}:{']' if empty else ''}", mark.style)


def _windows(marks: Sequence[Mark], length: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a text that are shown, in order."""
    if length <= SHORT:
        yield 0, length
        return
    edges = sorted({edge for mark in marks for edge in mark[:2]})
    parts = [(max(0, edge - CONTEXT), min(length, edge + CONTEXT)) for edge in edges]
    low, high = (parts or [(length - SHORT, length)])[0]
    for start, end in [*parts[1:], (length - END, length)]:
        if start > high:
            yield low, high
            low = start
        high = max(high, end)
    yield low, high
