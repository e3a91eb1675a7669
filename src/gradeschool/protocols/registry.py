"""Finding scorers and protocols by name: every room is discovered, none is listed.

A name is looked for in the room that it begins with ("lm-eval/gsm8k" in `lm_eval`) before all rooms
are imported. Of one name twice, that of this folder counts.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from gradeschool import protocols as rooms_package
from gradeschool.errors import MissingExtraError, UnknownNameError
from gradeschool.protocol import Protocol
from gradeschool.scorer import Scorer
from gradeschool.vote import Vote

ENTRY_POINTS = "gradeschool.protocols"


@cache
def rooms() -> tuple[ModuleType, ...]:
    """Return every room: those that other packages provide, then the packages of this folder."""
    from importlib.metadata import entry_points  # 5 ms that no command with one protocol needs

    plugins = [entry.load() for entry in entry_points(group=ENTRY_POINTS)]
    return (*plugins, *map(_room, _room_names()))


@cache
def _room_names() -> tuple[str, ...]:
    found = pkgutil.iter_modules(rooms_package.__path__)
    return tuple(one.name for one in found if one.ispkg)


def _room(name: str) -> ModuleType:
    return importlib.import_module(f"{rooms_package.__name__}.{name}")


def _at_home(name: str, kind: str) -> Any:
    """Return what has this name in the room that it begins with, None where there is none."""
    home = name.partition("/")[0].replace("-", "_")
    if home not in _room_names():
        return None
    return next((one for one in getattr(_room(home), kind, ()) if one.name == name), None)


@cache
def all_scorers() -> dict[str, Scorer]:
    """Return every scorer by name, sorted."""
    found = {scorer.name: scorer for room in rooms() for scorer in room.SCORERS}
    return dict(sorted(found.items()))


@cache
def all_protocols() -> dict[str, Protocol]:
    """Return every protocol by name, sorted."""
    found = {protocol.name: protocol for room in rooms() for protocol in room.PROTOCOLS}
    return dict(sorted(found.items()))


@cache
def all_votes() -> dict[str, Vote]:
    """Return every vote by name, sorted; rooms without any have no VOTES."""
    found = {vote.name: vote for room in rooms() for vote in getattr(room, "VOTES", ())}
    return dict(sorted(found.items()))


def get_scorer(name: str) -> Scorer:
    """Return the scorer of that name; UnknownNameError says which names are close."""
    scorer: Scorer | None = _at_home(name, "SCORERS")
    try:
        return scorer or all_scorers()[name]
    except KeyError:
        raise UnknownNameError("scorer", name, all_scorers()) from None


def available(scorer: Scorer) -> bool:
    """Whether the optional dependency that a scorer calls, if it calls one, is installed."""
    return not scorer.extra or find_spec(scorer.extra.replace("-", "_")) is not None


def get_usable_scorer(name: str) -> Scorer:
    """Return the scorer of that name; MissingExtraError where what it calls is not installed."""
    scorer = get_scorer(name)
    if not available(scorer):
        raise MissingExtraError(f"the scorer {name!r}", scorer.extra)
    return scorer


def get_protocol(name: str) -> Protocol:
    """Return the protocol of that name; UnknownNameError says which names are close."""
    protocol: Protocol | None = _at_home(name, "PROTOCOLS")
    try:
        return protocol or all_protocols()[name]
    except KeyError:
        raise UnknownNameError("protocol", name, all_protocols()) from None


def get_vote(name: str) -> Vote:
    """Return the vote of that name; UnknownNameError says which names are close."""
    vote: Vote | None = _at_home(name, "VOTES")
    try:
        return vote or all_votes()[name]
    except KeyError:
        raise UnknownNameError("vote", name, all_votes()) from None
