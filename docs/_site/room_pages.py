"""One page for each harness: its protocols and scorers, its SOURCE.md, and the indexes."""

from __future__ import annotations

import re
from types import ModuleType

from gradeschool.protocols.registry import all_protocols, all_scorers, rooms
from gradeschool.protocols.sources import source_text
from names import (
    code,
    link,
    plain,
    protocol_page,
    room_name,
    room_page,
    room_title,
    scorer_page,
    slug,
    table,
)

PAGE = """\
# {title}

{about}

{protocols}

{scorers}

{votes}

## Where it comes from

{source}
"""
PROTOCOLS = """\
# Protocols

A protocol is everything between a problem and its verdict: the prompt, the decoding, and the
scorers
that read the answer. {protocols} protocols of {rooms} harnesses, each frozen under its name: where
a harness changed, there are two names. Every page below is made from the protocol itself.

<input class="filter" type="search" placeholder="Filter: chat, lm-eval, box, zero-shot"
  aria-label="Filter protocols" hidden>
<p class="filter-count" role="status" hidden></p>

{tables}
"""
SCORERS = """\
# Scorers

A scorer reads a completion's text and compares what it finds with the gold; it sees nothing else.
All {scorers} run on the same recorded completions: `gradeschool score answers.jsonl --scorer all`.

<input class="filter" type="search" placeholder="Filter: boxed, last number, math-verify"
  aria-label="Filter scorers" hidden>
<p class="filter-count" role="status" hidden></p>

{tables}

Votes, which count the samples of a problem together, are [on a page of their own](../votes.md).
"""


def pages() -> dict[str, str]:
    """Return the Markdown of every harness's page and of the two indexes by file."""
    found = {room_page(room): page(room) for room in rooms()}
    return found | {"protocols/index.md": protocol_index(), "scorers/index.md": scorer_index()}


def page(room: ModuleType) -> str:
    """Return the page of a harness."""
    doc = (room.__doc__ or "").split("\n")[0]
    votes = getattr(room, "VOTES", ())
    return PAGE.format(
        title=room_title(room),
        about=plain(doc),
        protocols=f"## Protocols\n\n{_protocols(room, '../../')}" if room.PROTOCOLS else "",
        scorers=f"## Scorers\n\n{_scorers(room, '../../')}" if room.SCORERS else "",
        votes="## Votes\n\n" * bool(votes)
        + "\n".join(
            f"- [`{vote.name}`](../../votes.md#{slug(vote.name)}): {vote.summary}" for vote in votes
        ),
        source=source(room),
    )


def source(room: ModuleType) -> str:
    """Return a room's SOURCE.md below a heading of the second level."""
    text = re.sub(r"\A# .*\n", "", source_text(room))
    text = re.sub(r"^#", "##", text, flags=re.MULTILINE)
    text = re.sub(r"(?<=[^\n|])\n(\|.*\n\|-)", r"\n\n\1", text)
    text = re.sub(r"^((?!- |  |\n).+)\n(?=- )", r"\1\n\n", text, flags=re.MULTILINE)
    return plain(text)


def protocol_index() -> str:
    """Return the index of protocols by harness."""
    tables = (
        f"## {room_name(room)}\n\n{_about(room)}\n\n{_protocols(room, '../')}"
        for room in _sorted()
        if room.PROTOCOLS
    )
    count = sum(bool(room.PROTOCOLS) for room in rooms())
    return PROTOCOLS.format(protocols=len(all_protocols()), rooms=count, tables="\n\n".join(tables))


def scorer_index() -> str:
    """Return the index of scorers by harness."""
    tables = (
        f"## {room_name(room)}\n\n{_about(room)}\n\n{_scorers(room, '../')}"
        for room in _sorted()
        if room.SCORERS
    )
    return SCORERS.format(scorers=len(all_scorers()), tables="\n\n".join(tables))


def _sorted() -> list[ModuleType]:
    return sorted(rooms(), key=room_name)


def _about(room: ModuleType) -> str:
    about = (room.__doc__ or "").split("\n")[0].removeprefix(room_title(room))
    return f"[{room_title(room)}](../{room_page(room)}){plain(about)}"


def _protocols(room: ModuleType, up: str) -> str:
    rows = [
        (
            link(one.name, protocol_page(one.name), up),
            "chat" if one.is_chat else "completion",
            plain(one.summary),
        )
        for one in sorted(room.PROTOCOLS, key=lambda one: one.name)
    ]
    return table(("protocol", "form", "what it is"), rows)


def _scorers(room: ModuleType, up: str) -> str:
    rows = [
        (
            link(one.name, scorer_page(one.name), up),
            plain(one.summary),
            one.extra and code(one.extra),
        )
        for one in sorted(room.SCORERS, key=lambda one: one.name)
    ]
    return table(("scorer", "how it reads", "calls"), rows)


def rooms_with_pages() -> list[tuple[str, str, list[str]]]:
    """Return (name, page, the pages of its protocols) of each harness."""
    return [
        (
            room_name(room),
            room_page(room),
            [protocol_page(name) for name in sorted(one.name for one in room.PROTOCOLS)],
        )
        for room in _sorted()
    ]
