"""What a room says of itself in SOURCE.md: the quirks that it keeps, and links to its origin."""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from gradeschool.protocols.registry import rooms

SCORER_NAME = re.compile(r"[a-z][^ `]*")
LINK = re.compile(r"https?://[^\s)>\]`|]+")
COLUMNS = 5  # scorer, completion, gold, what the scorer says, what the example shows
LINE_BREAK = "⏎"


class Quirk(NamedTuple):
    """A completion where a scorer differs from a careful reader; `says` is its outcome."""

    scorer: str
    completion: str
    gold: str
    says: str
    shows: str


def room_of(name: str) -> ModuleType:
    """Return the room that holds the protocol or scorer of that name."""
    return next(
        room
        for room in rooms()
        if any(one.name == name for one in (*room.PROTOCOLS, *room.SCORERS))
    )


@cache
def source_text(room: ModuleType) -> str:
    """Return the text of a room's SOURCE.md, "" where it has none."""
    path = Path(room.__file__ or "").parent / "SOURCE.md"
    return path.read_text("utf-8") if path.is_file() else ""


def links(room: ModuleType) -> tuple[str, ...]:
    """Return the links of a room's SOURCE.md, each once."""
    found = (link.rstrip(".,;:") for link in LINK.findall(source_text(room)))
    return tuple(dict.fromkeys(found))


def quirks(room: ModuleType) -> tuple[Quirk, ...]:
    """Return the rows of the tables that begin with a scorer, a completion, a gold and a verdict.

    A completion stands between backticks; "⏎" is a line break in it.
    """
    found = []
    for line in source_text(room).split("\n"):
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if len(cells) == COLUMNS and SCORER_NAME.fullmatch(cells[0]) and cells[1].startswith("`"):
            scorer, completion, gold, says, shows = cells
            text = completion.strip("`").replace(LINE_BREAK, "\n")
            found.append(Quirk(scorer, text, gold, says, shows))
    return tuple(found)


@cache
def links_of(function: object) -> tuple[str, ...]:
    """Return the links, permalinks mostly, in the module that defines a function."""
    module = sys.modules.get(getattr(function, "__module__", ""))
    path = Path((module and module.__file__) or "")
    found = LINK.findall(path.read_text("utf-8")) if path.is_file() else []
    return tuple(dict.fromkeys(link.rstrip(".,;:") for link in found))
