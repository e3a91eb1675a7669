"""Finds scorers, protocols and votes by name, and discovers the packages of harnesses.

The package that a name begins with ("lm-eval/gsm8k" in `lm_eval`) is searched before all packages
are imported. If a plugin uses a built-in name, the built-in entry is returned.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

from gradeschool import protocols as protocols_package
from gradeschool.errors import MissingExtraError, UnknownNameError, is_installed
from gradeschool.protocol import Protocol
from gradeschool.scorer import MARKED, Scorer

if TYPE_CHECKING:
    from gradeschool.vote import Vote

ENTRY_POINTS = "gradeschool.protocols"


@cache
def packages() -> tuple[ModuleType, ...]:
    """Return the package of every harness: first those of plugins, then the built-in ones."""
    from importlib.metadata import entry_points  # 5 ms, which commands with one protocol save

    plugins = [entry.load() for entry in entry_points(group=ENTRY_POINTS)]
    return (*plugins, *map(_import_package, _package_names()))


@cache
def _package_names() -> tuple[str, ...]:
    modules = pkgutil.iter_modules(protocols_package.__path__)
    return tuple(module.name for module in modules if module.ispkg)


def _import_package(name: str) -> ModuleType:
    return importlib.import_module(f"{protocols_package.__name__}.{name}")


def _find_in_package(name: str, kind: str) -> Any:
    """Return the entry of this name in the package that it begins with, or None."""
    package = name.partition("/")[0].replace("-", "_")
    if package not in _package_names():
        return None
    entries = getattr(_import_package(package), kind, ())
    return next((entry for entry in entries if entry.name == name), None)


@cache
def all_scorers() -> dict[str, Scorer]:
    """Return every scorer by name, sorted."""
    by_name = {scorer.name: scorer for package in packages() for scorer in package.SCORERS}
    return dict(sorted(by_name.items()))


@cache
def all_protocols() -> dict[str, Protocol]:
    """Return every protocol by name, sorted."""
    by_name = {protocol.name: protocol for package in packages() for protocol in package.PROTOCOLS}
    return dict(sorted(by_name.items()))


@cache
def all_votes() -> dict[str, Vote]:
    """Return every vote by name, sorted; packages without any have no VOTES."""
    by_name = {vote.name: vote for package in packages() for vote in getattr(package, "VOTES", ())}
    return dict(sorted(by_name.items()))


@cache
def get_scorer(name: str) -> Scorer:
    """Return the scorer of that name; UnknownNameError lists similar names."""
    scorer: Scorer | None = _find_in_package(name, "SCORERS")
    if scorer is None and name.startswith(MARKED):
        from gradeschool.protocols.gradeschool.scorers import marked_reader

        scorer = marked_reader(name)
    try:
        return scorer or all_scorers()[name]
    except KeyError:
        raise UnknownNameError("scorer", name, all_scorers()) from None


def available(scorer: Scorer) -> bool:
    """Return whether the optional dependency of a scorer, if it has one, is installed."""
    return not scorer.extra or is_installed(scorer.extra.replace("-", "_"))


@cache
def get_usable_scorer(name: str) -> Scorer:
    """Return the scorer of that name; MissingExtraError if its dependency is not installed."""
    scorer = get_scorer(name)
    if scorer.extra and not available(scorer):
        raise MissingExtraError(f"the scorer {name!r}", scorer.extra)
    return scorer


def get_protocol(name: str) -> Protocol:
    """Return the protocol of that name, or of "mine.toml" or "mine.py:PROTOCOL".

    UnknownNameError lists similar names.
    """
    if name.endswith(".toml") or ".py:" in name:
        from gradeschool.protocols.own import load_own

        return load_own(name)
    protocol: Protocol | None = _find_in_package(name, "PROTOCOLS")
    try:
        return protocol or all_protocols()[name]
    except KeyError:
        raise UnknownNameError("protocol", name, all_protocols()) from None


def get_vote(name: str) -> Vote:
    """Return the vote of that name; UnknownNameError lists similar names."""
    vote: Vote | None = _find_in_package(name, "VOTES")
    try:
        return vote or all_votes()[name]
    except KeyError:
        raise UnknownNameError("vote", name, all_votes()) from None
