"""The difference of two protocols or two scorers in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gradeschool.protocols.card import ProtocolCard
from gradeschool.protocols.contrast import FieldDifference, QuirkSplit
from gradeschool.reports.printable import printable
from gradeschool.reports.terminal import FOLDED_SCORER, GAP, folded
from gradeschool.scoring.compare import ScoreDelta

STYLES = {"+": "green", "-": "red", "@": "dim"}


def print_fields(
    found: Sequence[FieldDifference], names: tuple[str, str], console: Console
) -> None:
    """Print the fields that differ, side by side."""
    if not found:
        console.print("every field is the same")
        return
    label = max(len(one.field) for one in found)
    width = (console.width - label - 3 * GAP) // 2
    table = _table("", *(folded(name, width) for name in names))
    for one in found:
        values = (_shown(one.field, value, width) for value in (one.first, one.second))
        table.add_row(one.field, *values)
    console.print(table)


def print_prompts(lines: Sequence[str], cards: Sequence[ProtocolCard], console: Console) -> None:
    """Print the unified diff of two prompts."""
    example = cards[0].example
    if example is None:
        return
    where = f"problem {printable(example.problem.id, keep='')} of {example.dataset}"
    if not lines:
        console.print(f"the prompts of {where} are the same")
        return
    console.print(f"prompts of {where}", style="bold")
    for line in lines:
        console.print(Text(printable(line), style=STYLES.get(line[:1], "")), soft_wrap=True)


def print_splits(splits: Sequence[QuirkSplit], names: tuple[str, str], console: Console) -> None:
    """Print the known quirks on which two scorers differ."""
    if not splits:
        console.print("they agree on every completion that either is known to read oddly")
        return
    table = _table("completion", "gold", *(folded(name, FOLDED_SCORER) for name in names))
    for quirk, one, other in splits:
        said = (one.replace("_", " "), other.replace("_", " "))
        table.add_row(printable(quirk.completion, keep=""), quirk.gold, *said)
    console.print(table)


def print_moves(moves: Sequence[ScoreDelta], names: tuple[str, str], console: Console) -> None:
    """Print by how many points recorded runs move from one scorer to the other."""
    console.print(f"the same completions read by {names[0]}, then by {names[1]}", style="bold")
    table = _table("run", "n", "first", "second", "points", "95 % interval", "flips", "p")
    for one in moves:
        low, high = (100 * bound for bound in one.interval)
        table.add_row(
            printable(one.run, keep=""),
            str(one.n),
            _share(one.before, one.n),
            _share(one.after, one.n),
            f"{one.points:+.2f}",
            f"{low:+.2f} to {high:+.2f}",
            f"-{one.lost} +{one.gained}",
            f"{one.p:.2g}",
        )
    console.print(table)
    lost, gained = sum(one.lost for one in moves), sum(one.gained for one in moves)
    total = sum(one.n for one in moves)
    console.print(f"{lost + gained} of {total} completions flip: {lost} from correct, "
                  f"{gained} to correct")  # fmt: skip


def _share(correct: int, n: int) -> str:
    return f"{100 * correct / n:.2f} %" if n else "-"


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for column in columns:
        table.add_column(printable(column), overflow="fold")
    return table


def _shown(field: str, value: Any, width: int) -> str:
    """Write a value: parts of a prompt to the character, lists of words one to a line."""
    if value is None:
        return "not set"
    if value in ("", []):
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        words = any(isinstance(one, str) for one in value)
        lines = [folded(one, width) if field == "scorers" else str(one) for one in value]
        return printable(("\n" if words else ", ").join(lines))
    return printable(repr(value) if field.startswith("prompt") else str(value))
