r"""Finds protocols, scorers and votes by name, in the packages of harnesses and in files of a user.

The package that a name begins with ("lm-eval/gsm8k" in `lm_eval`) is searched before all packages
are imported. If a plugin uses a built-in name, the built-in entry is returned.

A protocol of a user is a TOML file with the changes of `Protocol.with_changes`:

base = "lm-eval/gsm8k"
shots = 3                              # or "examples.jsonl", beside the TOML file
"""

from __future__ import annotations

import importlib
import pkgutil
import tomllib
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from gradeschool import protocols as protocols_package
from gradeschool.errors import (
    InputError,
    MissingExtraError,
    UnknownNameError,
    close_names,
    is_installed,
)
from gradeschool.protocol import CHANGES, Protocol
from gradeschool.scorer import MARKED_READER, Scorer

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


@cache
def _entries(kind: str) -> dict[str, Any]:
    """Return the entries of all packages by name, sorted; packages without votes have no VOTES."""
    entries = (entry for package in packages() for entry in getattr(package, kind, ()))
    return dict(sorted((entry.name, entry) for entry in entries))


def all_scorers() -> dict[str, Scorer]:
    """Return every scorer by name, sorted."""
    return _entries("SCORERS")


def all_protocols() -> dict[str, Protocol]:
    """Return every protocol by name, sorted."""
    return _entries("PROTOCOLS")


def all_votes() -> dict[str, Vote]:
    """Return every vote by name, sorted."""
    return _entries("VOTES")


def _find(kind: str, word: str, name: str) -> Any:
    """Return the entry of this name, UnknownNameError without one; word: what it is called."""
    package = name.partition("/")[0].replace("-", "_")
    if package in _package_names():
        for entry in getattr(_import_package(package), kind, ()):
            if entry.name == name:
                return entry
    if name not in _entries(kind):
        raise UnknownNameError(word, name, _entries(kind))
    return _entries(kind)[name]


@cache
def get_scorer(name: str) -> Scorer:
    """Return the scorer of that name; UnknownNameError lists similar names."""
    if name.startswith(MARKED_READER):
        from gradeschool.protocols.gradeschool.scorers import marked_reader

        if marked := marked_reader(name):
            return marked
    scorer: Scorer = _find("SCORERS", "scorer", name)
    return scorer


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


def get_vote(name: str) -> Vote:
    """Return the vote of that name; UnknownNameError lists similar names."""
    vote: Vote = _find("VOTES", "vote", name)
    return vote


def get_protocol(name: str) -> Protocol:
    """Return the protocol of that name, or of a user's file "mine.toml".

    UnknownNameError lists similar names; InputError says what is wrong with a file.
    """
    if not name.endswith(".toml"):
        protocol: Protocol = _find("PROTOCOLS", "protocol", name)
        return protocol
    path = Path(name)
    if not path.is_file():
        raise InputError(f"there is no file {name!r}; give the path of a protocol")
    try:
        settings = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{name!r} is not TOML: {error}") from None
    for key in settings:
        if key not in (*CHANGES, "base"):
            known = close_names(key, CHANGES)
            hint = f"did you mean {known[0]}?" if known else f"known: base, {', '.join(CHANGES)}"
            raise InputError(f"{name}: {key!r} is not a setting of a protocol; {hint}")
    if "base" not in settings:
        raise InputError(f"{name} has no base; name the protocol that it changes")
    base = get_protocol(str(settings.pop("base")))
    if isinstance(settings.get("shots"), str):
        settings["shots"] = str(path.parent / settings["shots"])
    try:
        changed = base.with_changes(**settings)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    for scorer in changed.scorers if "scorers" in settings else ():
        check_scorer_name(scorer)
    return changed


def check_scorer_name(name: str) -> None:
    """Raise UnknownNameError for a name that is neither a scorer's nor a function's."""
    from importlib.metadata import entry_points

    if ":" not in name and not entry_points(group="gradeschool.scorers", name=name):
        get_scorer(name)
