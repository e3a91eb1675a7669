"""Finding rules and protocols by name: every room is discovered, none is listed."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from types import ModuleType

from gradeschool import protocols as rooms_package
from gradeschool.errors import MissingExtraError, UnknownNameError
from gradeschool.protocol import Protocol
from gradeschool.rule import Rule
from gradeschool.vote import Vote

ENTRY_POINTS = "gradeschool.protocols"


@cache
def rooms() -> tuple[ModuleType, ...]:
    """Return every room: the packages of this folder, then those that other packages provide."""
    own = [
        importlib.import_module(f"{rooms_package.__name__}.{found.name}")
        for found in pkgutil.iter_modules(rooms_package.__path__)
        if found.ispkg
    ]
    plugins = [entry.load() for entry in entry_points(group=ENTRY_POINTS)]
    return (*own, *plugins)


@cache
def all_rules() -> dict[str, Rule]:
    """Return every rule by name, sorted."""
    found = {rule.name: rule for room in rooms() for rule in room.RULES}
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


def get_rule(name: str) -> Rule:
    """Return the rule of that name; UnknownNameError says which names are close."""
    try:
        return all_rules()[name]
    except KeyError:
        raise UnknownNameError("rule", name, all_rules()) from None


def available(rule: Rule) -> bool:
    """Whether the optional dependency that a rule calls, if it calls one, is installed."""
    return not rule.extra or find_spec(rule.extra.replace("-", "_")) is not None


def get_usable_rule(name: str) -> Rule:
    """Return the rule of that name; MissingExtraError where what it calls is not installed."""
    rule = get_rule(name)
    if not available(rule):
        raise MissingExtraError(f"the rule {name!r}", rule.extra)
    return rule


def get_protocol(name: str) -> Protocol:
    """Return the protocol of that name; UnknownNameError says which names are close."""
    try:
        return all_protocols()[name]
    except KeyError:
        raise UnknownNameError("protocol", name, all_protocols()) from None


def get_vote(name: str) -> Vote:
    """Return the vote of that name; UnknownNameError says which names are close."""
    try:
        return all_votes()[name]
    except KeyError:
        raise UnknownNameError("vote", name, all_votes()) from None
