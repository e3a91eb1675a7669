"""Text for people: safe to show, and numbers in words (percentages, intervals, counts, p values).

Names, texts and messages come from files, servers and models. A terminal would obey escape codes in
them. The HTML page escapes in its templates (`reports.pages`).
"""

import re
from collections.abc import Iterable, Sequence
from shlex import quote

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
    return quote(printable(text))


def markdown_text(text: str) -> str:
    """Return a text as Markdown that shows the same characters: no markup, no link, no HTML."""
    return MARKDOWN.sub(r"\\\1", printable(text, keep=""))


# Numbers


def count(number: int, item: str, many: str = "") -> str:
    """Return a count with its noun; many: the plural if it is not formed by an s."""
    return f"{number:,} {item if number == 1 else many or item + 's'}"


def percent(share: float, digits: int = 2) -> str:
    """Return a share in percent: "72.45 %"."""
    return f"{100 * share:.{digits}f} %"


def bounds(interval: Iterable[float], digits: int = 2, between: str = " - ") -> str:
    """Return an interval of a share in percent, without the sign: "71.23 - 80.10"."""
    return between.join(f"{100 * bound:.{digits}f}" for bound in interval)


def accuracy_words(accuracy: float, between: Iterable[float] | None = None) -> str:
    """Return an accuracy in percent, or its bounds if samples are errors: "40.00 to 100.00 %"."""
    return percent(accuracy) if between is None else f"{bounds(between, between=' to ')} %"


def points(difference: float, digits: int = 2) -> str:
    """Return a difference of shares in points: "+1.24", never "-0.00"."""
    return f"{100 * difference:+z.{digits}f}"


def point_bounds(interval: Iterable[float], digits: int = 2) -> str:
    """Return an interval of a difference in points: "-0.31 to +2.64"."""
    return " to ".join(points(bound, digits) for bound in interval)


def gain(difference: float, interval: Iterable[float], digits: int = 1) -> str:
    """Return a difference with its interval: "+1.2 (-0.3 to +2.6)"."""
    return f"{points(difference, digits)} ({point_bounds(interval, digits)})"


def p_value(p: float) -> str:
    """Return a p value: three decimals, a power of ten, or a bound."""
    if p < 1e-12:
        return "<1e-12"
    return f"{p:.3f}" if p >= 0.001 else f"{p:.0e}"


def decimals(value: float | None) -> str:
    """Return a value with three decimals, such as an AUC, "" for None."""
    return "" if value is None else f"{value:.3f}"


def aligned(rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Return the rows of a table as lines: `left` columns of texts, then numbers, aligned right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if index < left else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
