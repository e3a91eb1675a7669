r"""Finds protocols, scorers and votes by name, in the packages of harnesses and in files of a user.

The package that a name begins with ("lm-eval/gsm8k" in `lm_eval`) is searched before all packages
are imported. If a plugin uses a built-in name, the built-in entry is returned.

A protocol of a user is `mine.py:PROTOCOL`, or a TOML file with the changes of
`Protocol.with_changes`:

base = "lm-eval/gsm8k"                 # without it, `prompt` is needed
name = "mine"                          # of a whole protocol; by default the file's name
form = "chat"                          # of a whole protocol: chat, or text
dataset = "gsm8k"                      # of a whole protocol
shots = 3                              # or "examples.jsonl", beside the TOML file

A harness's own protocols are in its protocols.toml: a table for each under its name, with the
fields of `Template`, `Decoding` and `Protocol`:

tasks = "lm-evaluation-harness, lm_eval/tasks"
["lm-eval/aime{year}"]
base = "lm-eval/gsm8k"                 # a protocol before it, of which the rest is taken
each = [{year = "24"}, {year = "25"}]
source = "{tasks}/aime/aime{year}.yaml"
temperature = "server"                 # the server's own

each: a list of tables; each makes one protocol and adds its entries to the settings; "mgsm" for the
languages of MGSM. A text may name the file's own texts, the values of that table, and {summary} of
the base, in braces. Decoding is greedy by default.

Its votes are in votes.toml and its scorers in scorers.toml, likewise, with the fields of `Vote` and
`Scorer`, or for one that calls a library those of `library_scorer`:

["openai/2021"]
summary = "the first '#### N', equal as a string"
source = "openai/grade-school-math @ 3101c7d5, grade_school_math/dataset.py"
reference = "official_gold"
extract = "first_marked"               # "after_label.de" is an entry of the dictionary after_label

`reference`, `extract`, `compare`, `ballot`, and a text in `rows` and `fields` name objects of the
package, or of `protocols.extractions`.
"""

import importlib
import json
import runpy
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, replace
from functools import cache, partial
from operator import itemgetter
from pathlib import Path
from types import ModuleType
from typing import Any

from gradeschool import protocols as protocols_package
from gradeschool.completion import Decoding
from gradeschool.errors import (
    InputError,
    MissingExtraError,
    UnknownNameError,
    close_names,
    is_installed,
)
from gradeschool.prompts import QUESTION, Template
from gradeschool.protocol import CHANGES, Protocol
from gradeschool.protocols import MGSM, extractions
from gradeschool.scorer import DEFAULT_SCORER, MARKED_READER, Scorer, Vote, clip, library_scorer

# What the files of a harness hold

BLANK = Protocol("", "", "", Template(question=QUESTION), Decoding(), ())
MGSM_ROWS = [{"language": language, **row} for language, row in MGSM.items()]
# Settings that name an object.
OBJECTS = {"reference", "extract", "compare", "ballot", "rows", "fields"}


@cache
def entries_of(package: ModuleType, kind: str) -> dict[str, Any]:
    """Return what a package has of "PROTOCOLS", "SCORERS" or "VOTES", by name."""
    made = {entry.name: entry for entry in getattr(package, kind, ())}
    for table, words in _tables(package, f"{kind.lower()}.toml"):
        base = made.get(_filled(table.pop("base", ""), words), BLANK)
        if kind == "PROTOCOLS":
            words["summary"] = base.summary
        settings: dict[str, Any] = {
            key: None if value == "server" else _filled(value, words)
            for key, value in table.items()
        }
        for key in OBJECTS & settings.keys():
            if isinstance(settings[key], str):
                name, _, language = settings[key].partition(".")
                found = getattr(package, name, None) or getattr(extractions, name)
                settings[key] = found[language] if language else found
        own = partial(_of_kind, settings)
        if kind == "PROTOCOLS":
            render = replace(base.render, **own(Template))
            decoding = replace(base.decoding, **own(Decoding))
            entry = replace(base, render=render, decoding=decoding, **own(Protocol))
        elif kind == "VOTES":
            entry = Vote(**own(Vote))
        elif "function" in settings:
            entry = library_scorer(
                **own(Scorer), function=settings["function"], how=settings["how"]
            )
        else:
            entry = Scorer(**own(Scorer))
        made[entry.name] = entry
    return made


def _of_kind(settings: Mapping[str, Any], kind: Any) -> dict[str, Any]:
    """Return the settings that are fields of a dataclass."""
    names = [field.name for field in fields(kind)]
    return {name: settings[name] for name in names if name in settings}


def _tables(package: ModuleType, name: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield the settings of each entry of a harness's file, and the words that they may name."""
    import tomllib  # 5 ms, which many commands save

    for path in getattr(package, "__path__", ()):
        file = Path(path) / name
        tables = tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}
        texts = {key: text for key, text in tables.items() if isinstance(text, str)}
        for key, table in tables.items():
            if key not in texts:
                each = table.pop("each", [{}])
                for row in MGSM_ROWS if each == "mgsm" else each:
                    yield {"name": key, **table, **row}, {**texts, **row}


def _filled(value: Any, words: dict[str, Any]) -> Any:
    """Return a setting with the words in the places that name them; lists become tuples."""
    if isinstance(value, list):
        return tuple(_filled(item, words) for item in value)
    if isinstance(value, str):
        for key, word in words.items():
            value = value.replace(
                f"{{{key}}}", f"{word:g}" if isinstance(word, float) else str(word)
            )
    return value


# Names

WHOLE = ("name", "form", "dataset")  # settings of a protocol without a base


@cache
def packages() -> tuple[ModuleType, ...]:
    """Return the package of every harness: first those of plugins, then the built-in ones."""
    from importlib.metadata import entry_points  # 5 ms, which commands with one protocol save

    plugins = [entry.load() for entry in entry_points(group="gradeschool.protocols")]
    return (*plugins, *map(_import_package, _package_names()))


@cache
def _package_names() -> tuple[str, ...]:
    folders = Path(protocols_package.__path__[0]).glob("*/SOURCE.md")
    return tuple(sorted(file.parent.name for file in folders))


def _import_package(name: str) -> ModuleType:
    return importlib.import_module(f"{protocols_package.__name__}.{name}")


@cache
def _entries(kind: str) -> dict[str, Any]:
    """Return the entries of all packages by name, sorted."""
    every = [entries_of(package, kind) for package in packages()]
    return dict(sorted((item for entries in every for item in entries.items()), key=itemgetter(0)))


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
        entries = entries_of(_import_package(package), kind)
        if name in entries:
            return entries[name]
    if name not in _entries(kind):
        protocol = all_protocols().get(name) if kind == "SCORERS" else None
        raise UnknownNameError(word, name, protocol.scorers if protocol else _entries(kind))
    return _entries(kind)[name]


@cache
def get_scorer(name: str) -> Scorer:
    """Return the scorer of that name; UnknownNameError lists similar names."""
    if name.startswith(MARKED_READER):
        from gradeschool.protocols.gradeschool import extract_answer

        with suppress(TypeError, ValueError):
            pairs = json.loads(name.removeprefix(MARKED_READER))
            if marks := tuple((str(opened), str(closed)) for opened, closed in pairs):
                extract = partial(extract_answer, marks=marks)
                reader = get_scorer(DEFAULT_SCORER)
                return replace(reader, name=name, extract=extract, thinking_marks=marks)
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


def is_own(name: str) -> bool:
    """Return whether a protocol's name is that of a user's file."""
    return name.endswith(".toml") or ".py:" in name


def get_protocol(name: str) -> Protocol:
    """Return the protocol of that name, or of "mine.toml" or "mine.py:PROTOCOL" (runs the file).

    UnknownNameError lists similar names; InputError says what is wrong with a file.
    """
    if not is_own(name):
        protocol: Protocol = _find("PROTOCOLS", "protocol", name)
        return protocol
    file, _, attribute = name.partition(".py:")
    path = Path(name if name.endswith(".toml") else f"{file}.py")
    if not path.is_file():
        raise InputError(f"there is no file {str(path)!r}; give the path of a protocol")
    if path.suffix == ".toml":
        import tomllib

        try:
            settings = tomllib.loads(path.read_text("utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InputError(f"{name!r} is not TOML: {error}") from None
        return protocol_from(settings, name, path.stem, path.parent)
    try:
        own = runpy.run_path(str(path)).get(attribute)
    except Exception as error:
        raise InputError(f"{str(path)!r} raises {type(error).__name__}: {error}") from error
    if not isinstance(own, Protocol):
        raise InputError(f"{name!r} is {clip(repr(own))}; name an object of the type Protocol")
    return own


def protocol_from(
    settings: Mapping[str, Any], where: str, name: str = "own", folder: Path | None = None
) -> Protocol:
    """Return the protocol that settings describe, as in a TOML file.

    where: in messages. name: of a whole protocol that sets none. folder: of a relative path.
    """
    from importlib.metadata import entry_points

    for key in settings:
        if key not in (*CHANGES, *WHOLE, "base"):
            known = close_names(key, CHANGES)
            hint = f"did you mean {known[0]}?" if known else f"known: base, {', '.join(CHANGES)}"
            raise InputError(f"{where}: {key!r} is not a setting of a protocol; {hint}")
    changes = {key: settings[key] for key in CHANGES if key in settings}
    if folder is not None and isinstance(changes.get("shots"), str):
        changes["shots"] = str(folder / changes["shots"])
    form = settings.get("form", "chat")
    if "base" in settings:
        if given := [key for key in WHOLE if key in settings]:
            raise InputError(f"{where}: {given[0]!r} is of a whole protocol; drop it or the base")
        base = get_protocol(str(settings["base"]))
    elif "prompt" not in changes:
        raise InputError(f"{where} has neither base nor prompt; give one of them")
    elif form not in ("chat", "text"):
        raise InputError(f"{where}: form is {form!r}; write chat or text")
    else:
        base = Protocol(
            name=str(settings.get("name", name)),
            summary="a protocol of your own",
            source=where,
            render=Template(question=QUESTION, form="message" if form == "chat" else "text"),
            decoding=Decoding(temperature=0.0, max_tokens=1024),
            scorers=(DEFAULT_SCORER,),
            dataset=str(settings.get("dataset", "gsm8k")),
        )
    try:
        changed = base.with_changes(**changes)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    for scorer in changed.scorers if "scorers" in changes else ():
        if ":" not in scorer and not entry_points(group="gradeschool.scorers", name=scorer):
            get_scorer(scorer)  # or UnknownNameError
    if "base" in settings:
        return changed
    described = {**settings, **changed.changes}
    return replace(changed, name=base.name, base="", changes=described, original=None)
