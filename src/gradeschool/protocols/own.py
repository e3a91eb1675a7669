r"""Own protocols: a published one with changes, or a whole one, from TOML, Python or options.

base = "lm-eval/gsm8k"                 # without it, `prompt` is needed
name = "mine"                          # of a whole protocol; by default the file's name
form = "chat"                          # of a whole protocol: chat, or text
dataset = "gsm8k"                      # of a whole protocol
system = "You are a careful tutor."    # "" for none
prompt = "Question: {question}\nAnswer:"
shots = 3                              # or "examples.jsonl", rows {"question", "answer"}
shot = "Question: {question}\nAnswer: {reasoning} So {gold}."
assistant_prefix = "Let me think."
stop = ["Question:"]                   # [] for none
temperature = 0.0
top_p = 1.0
max_tokens = 512                       # 0 for the server's own length
scorers = ["gradeschool/reader"]
thinking_marks = [["<think>", "</think>"]]
"""

from __future__ import annotations

import importlib.util
import json
import math
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from gradeschool.completion import Decoding
from gradeschool.errors import InputError, close_names
from gradeschool.prompts import QUESTION, SHOTS, Template
from gradeschool.protocol import Protocol
from gradeschool.scorer import clip, with_marks

CHANGES = (
    "prompt", "shots", "shot", "system", "assistant_prefix", "stop", "temperature", "top_p",
    "max_tokens", "scorers", "thinking_marks",
)  # fmt: skip
WHOLE = ("name", "form", "dataset")
ANSWERS = ("{reasoning}", "{steps}", "{solution}", "{gold}")
LONGEST = 40  # characters of a text in a protocol's name


def load_own(name: str) -> Protocol:
    """Return the protocol of "mine.toml" or "mine.py:PROTOCOL"; runs the Python file."""
    file, _, attribute = name.partition(".py:")
    path = Path(name if name.endswith(".toml") else f"{file}.py")
    if not path.is_file():
        raise InputError(f"there is no file {str(path)!r}; give the path of a protocol")
    if path.suffix == ".toml":
        try:
            settings = tomllib.loads(path.read_text("utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise InputError(f"{name!r} is not TOML: {error}") from None
        return protocol_from(settings, name, path.stem, path.parent)
    spec = importlib.util.spec_from_file_location(f"gradeschool_own_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise InputError(f"{str(path)!r} cannot be run as Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise InputError(f"{str(path)!r} raises {type(error).__name__}: {error}") from error
    protocol = getattr(module, attribute, None)
    if not isinstance(protocol, Protocol):
        raise InputError(f"{name!r} is {clip(repr(protocol))}; name an object of the type Protocol")
    return protocol


def protocol_from(
    settings: Mapping[str, Any], where: str, name: str = "own", folder: Path | None = None
) -> Protocol:
    """Return the protocol that settings describe, as in a TOML file.

    where: in messages. name: of a whole protocol that sets none. folder: of a relative path.
    """
    for key in settings:
        if key not in (*CHANGES, *WHOLE, "base"):
            known = close_names(key, CHANGES)
            hint = f"did you mean {known[0]}?" if known else f"known: base, {', '.join(CHANGES)}"
            raise InputError(f"{where}: {key!r} is not a setting of a protocol; {hint}")
    changes = {key: settings[key] for key in CHANGES if key in settings}
    base = settings.get("base")
    if base is not None:
        from gradeschool.protocols.registry import get_protocol

        for key in WHOLE:
            if key in settings:
                raise InputError(f"{where}: {key!r} is of a whole protocol; drop it or the base")
        return change(get_protocol(str(base)), changes, where, folder)
    if "prompt" not in changes:
        raise InputError(f"{where} has neither base nor prompt; give one of them")
    form = settings.get("form", "chat")
    if form not in ("chat", "text"):
        raise InputError(f"{where}: form is {form!r}; write chat or text")
    whole = Protocol(
        name=str(settings.get("name", name)),
        summary="a protocol of your own",
        source=where,
        render=Template(question=QUESTION, form="message" if form == "chat" else "text"),
        decoding=Decoding(temperature=0.0, max_tokens=1024),
        scorers=("gradeschool/reader",),
        is_chat=form == "chat",
        dataset=str(settings.get("dataset", "gsm8k")),
    )
    changed = change(whole, changes, where, folder)
    described = {**settings, **changed.changes}
    return replace(changed, name=whole.name, base="", changes=described, original=None)


def change(
    base: Protocol, changes: Mapping[str, Any], where: str = "", folder: Path | None = None
) -> Protocol:
    """Return a protocol with changes, whose name states them; see `Protocol.with_changes`."""
    where = where or base.name
    unknown = [key for key in changes if key not in CHANGES]
    if unknown:
        raise InputError(f"{unknown[0]!r} is not a change of a protocol; known: "
                         f"{', '.join(CHANGES)}")  # fmt: skip
    given = {key: changes[key] for key in CHANGES if changes.get(key) is not None}
    if given and base.original is not None:  # in whatever steps, the same changes have one digest
        return change(base.original, {**base.changes, **given}, where, folder)
    protocol, made = base, dict[str, Any]()
    for key, value in given.items():
        changed = CHANGE[key](protocol, value, where, folder)
        if changed == protocol:
            continue
        if key in ("temperature", "top_p"):
            made[key] = float(value)
        elif key in ("stop", "scorers"):
            made[key] = list(_texts(value, key, where))
        else:
            is_file = key == "shots" and isinstance(value, str) and folder is not None
            made[key] = str(folder / value) if is_file else value
        protocol = changed
    if not made:
        return base
    words = ", ".join(f"{key.replace('_', ' ')} {_shown(key, made[key])}" for key in made)
    name = f"{base.name} with {words}"
    if base.changes:  # a whole protocol of one's own, which its settings describe
        return replace(protocol, name=name, changes={**base.changes, **made, "name": name})
    return replace(protocol, name=name, base=base.name, changes=made, original=base)


def _shown(key: str, value: Any) -> str:
    if key == "shots" and isinstance(value, str):
        return Path(value).name
    if isinstance(value, str):
        return repr(clip(value, LONGEST))
    if isinstance(value, float):
        return f"{value:g}"
    return json.dumps(value, ensure_ascii=False)


def _text(value: Any, key: str, where: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{where}: {key} is {clip(repr(value))}; give a text")
    return value


def _texts(value: Any, key: str, where: str) -> tuple[str, ...]:
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list | tuple) or not all(isinstance(item, str) for item in items):
        raise InputError(f"{where}: {key} is {clip(repr(value))}; give a list of texts")
    return tuple(item for item in items if item)


def _template(value: Any, key: str, where: str) -> str:
    text = _text(value, key, where)
    if QUESTION not in text and "{stripped question}" not in text:
        raise InputError(f"{where}: {key} has no {QUESTION}: {clip(text)!r}; write it where the "
                         "question goes")  # fmt: skip
    return text


def _rendered(protocol: Protocol, **fields: Any) -> Protocol:
    return replace(protocol, render=replace(protocol.template, **fields))


def _system(protocol: Protocol, value: Any, where: str, folder: Path | None) -> Protocol:
    text, old = _text(value, "system", where), protocol.template.system
    if not protocol.is_chat and text:
        raise InputError(f"{where}: {protocol.name} sends one text, which has no system message; "
                         "take a chat protocol, such as its +chat form")  # fmt: skip
    if old is not None and SHOTS in old and SHOTS not in text:
        raise InputError(f"{where}: the system message of {protocol.name} holds its examples; "
                         f"write {SHOTS} where they go, or set shots to 0")  # fmt: skip
    return _rendered(protocol, system=text or None)


def _prompt(protocol: Protocol, value: Any, where: str, folder: Path | None) -> Protocol:
    question = _template(value, "prompt", where)
    if isinstance(protocol.render, Template):
        return _rendered(protocol, question=question, shot="")
    template = Template(question=question, form="message" if protocol.is_chat else "text")
    return replace(protocol, render=template, shots="", shot_count=0)


def _shots(protocol: Protocol, value: Any, where: str, folder: Path | None) -> Protocol:
    if isinstance(value, str):
        return _own_shots(protocol, value, where, folder)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise InputError(f"{where}: shots is {clip(repr(value))}; give a number from 0, or a file")
    template = protocol.template
    if value == 0:
        system = None if SHOTS in (template.system or "") else template.system
        bare = replace(template, answer="", shot="", opening="", rows=None, count=None,
                       examples=(), system=system)  # fmt: skip
        return replace(protocol, render=bare, shots="", shot_count=0)
    if not template.answer:
        raise InputError(f"{where}: {protocol.name} has no examples to choose {value} from; give a "
                         "file of them")  # fmt: skip
    most = _most_shots(protocol)
    if value > most:
        source = protocol.shots or "its file"
        raise InputError(f"{where}: shots is {value}, but {source} gives {protocol.name} {most}; "
                         f"give at most {most}")  # fmt: skip
    if value == protocol.shot_count:
        return protocol
    return replace(_rendered(protocol, count=value), shot_count=value)


def _most_shots(protocol: Protocol) -> int:
    """Return how many examples a protocol can choose from."""
    from gradeschool.datasets.sources import SOURCES

    template = protocol.template
    if template.examples:
        return len(template.examples)
    if isinstance(template.rows, tuple):
        return len(template.rows)
    source = SOURCES.get(protocol.shots)
    rows = source.rows if source else protocol.shot_count
    return rows - 1 if callable(template.rows) else rows  # one may be the problem itself


def _own_shots(protocol: Protocol, value: str, where: str, folder: Path | None) -> Protocol:
    from gradeschool.datasets.load import load_dataset

    path = Path(value) if folder is None else folder / value
    if not path.is_file():
        raise InputError(f"{where}: there is no file {str(path)!r} of examples")
    examples = load_dataset(str(path)).problems
    template = protocol.template
    form = "turns" if protocol.is_chat and template.form == "message" else template.form
    if template.answer and SHOTS in (template.system or ""):
        form = template.form
    answer = template.answer or ("{solution}" if form == "turns" else " {solution}")
    own = replace(template, answer=answer, form=form, rows=None, count=None, examples=examples)
    return replace(protocol, render=own, shots="", shot_count=len(examples))


def _shot(protocol: Protocol, value: Any, where: str, folder: Path | None) -> Protocol:
    text, template = _template(value, "shot", where), protocol.template
    if not any(field in text for field in ANSWERS):
        raise InputError(f"{where}: shot has no answer: {clip(text)!r}; write one of "
                         f"{', '.join(ANSWERS)} in it")  # fmt: skip
    if not template.answer:
        raise InputError(f"{where}: {protocol.name} has no examples; give shots as well")
    end = text.index(QUESTION) + len(QUESTION)
    if text.startswith(template.question):
        end = len(template.question)
    shot, answer = text[:end], text[end:]
    if template.form == "turns":
        answer = answer.lstrip()
    shot = "" if shot == template.question else shot
    return _rendered(protocol, shot=shot, answer=answer)


def _prefix(protocol: Protocol, value: Any, where: str, folder: Path | None) -> Protocol:
    text = _text(value, "assistant_prefix", where)
    if not protocol.is_chat and text:
        raise InputError(f"{where}: {protocol.name} sends one text; put the start of the answer at "
                         "the end of its prompt")  # fmt: skip
    return _rendered(protocol, prefix=text or None)


def _stop(protocol: Protocol, value: Any, where: str, folder: Path | None) -> Protocol:
    return replace(protocol, decoding=replace(protocol.decoding, stop=_texts(value, "stop", where)))


def _number(key: str, low: float, high: float) -> Callable[..., Protocol]:
    def set_number(protocol: Protocol, value: Any, where: str, folder: Path | None) -> Protocol:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not low <= value <= high or not math.isfinite(value):
            raise InputError(f"{where}: {key} is {clip(repr(value))}; give a number from {low:g} "
                             f"to {high:g}")  # fmt: skip
        decoding = {**asdict(protocol.decoding), key: float(value)}
        return replace(protocol, decoding=Decoding(**decoding))

    return set_number


def _max_tokens(protocol: Protocol, value: Any, where: str, folder: Path | None) -> Protocol:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise InputError(f"{where}: max_tokens is {clip(repr(value))}; give a whole number, 0 for "
                         "the server's own length")  # fmt: skip
    return replace(protocol, decoding=replace(protocol.decoding, max_tokens=value or None))


def _scorers(protocol: Protocol, value: Any, where: str, folder: Path | None) -> Protocol:
    from importlib.metadata import entry_points

    from gradeschool.protocols.registry import get_scorer

    names = _texts(value, "scorers", where)
    if not names:
        raise InputError(f"{where}: scorers is empty; name at least one")
    for name in names:
        if ":" not in name and not entry_points(group="gradeschool.scorers", name=name):
            get_scorer(name)
    return replace(protocol, scorers=names, votes=())


def _marks(protocol: Protocol, value: Any, where: str, folder: Path | None) -> Protocol:
    pairs = value if isinstance(value, list | tuple) else ()
    marks = tuple(
        tuple(pair) for pair in pairs
        if isinstance(pair, list | tuple) and len(pair) == 2 and all(pair)
        and all(isinstance(mark, str) for mark in pair)
    )  # fmt: skip
    if not marks or len(marks) != len(pairs):
        raise InputError(f"{where}: thinking_marks is {clip(repr(value))}; give pairs, such as "
                         '[["<think>", "</think>"]]')  # fmt: skip
    return replace(protocol, scorers=with_marks(protocol.scorers, marks))


CHANGE: dict[str, Callable[[Protocol, Any, str, Path | None], Protocol]] = {
    "system": _system,
    "prompt": _prompt,
    "shots": _shots,
    "shot": _shot,
    "assistant_prefix": _prefix,
    "stop": _stop,
    "temperature": _number("temperature", 0, 2),
    "top_p": _number("top_p", 0, 1),
    "max_tokens": _max_tokens,
    "scorers": _scorers,
    "thinking_marks": _marks,
}
