"""Reads protocols.toml, the protocols of a harness as data.

A table for each protocol under its name, with the fields of `Template`, `Decoding` and `Protocol`:

    tasks = "lm-evaluation-harness, lm_eval/tasks"
    ["lm-eval/aime{year}"]
    base = "lm-eval/gsm8k"             # a protocol before it, of which the rest is taken
    each = [{year = "24"}, {year = "25"}]
    source = "{tasks}/aime/aime{year}.yaml"
    temperature = "server"             # the server's own

each: one protocol for each row, whose fields count as well; "mgsm" for the languages of MGSM. A
text may name the file's own texts, the values of the row, and {summary} of the base, in braces. In
`rows` and `fields`, a text is the name of an object of the package. Decoding is greedy by default.
"""

from __future__ import annotations

import tomllib
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from gradeschool.completion import Decoding
from gradeschool.prompts import QUESTION, Template
from gradeschool.protocol import Protocol
from gradeschool.protocols import MGSM

BLANK = Protocol("", "", "", Template(question=QUESTION), Decoding(), ())
MGSM_ROWS = [{"language": language, **row} for language, row in MGSM.items()]
OF_TEMPLATE, OF_DECODING, OF_PROTOCOL = (
    {field.name for field in fields(kind)} for kind in (Template, Decoding, Protocol)
)


@cache
def protocols_of(package: ModuleType) -> dict[str, Protocol]:
    """Return the protocols of a harness by name."""
    made = {protocol.name: protocol for protocol in getattr(package, "PROTOCOLS", ())}
    for path in getattr(package, "__path__", ()):
        file = Path(path) / "protocols.toml"
        tables = tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}
        texts = {key: text for key, text in tables.items() if isinstance(text, str)}
        for name, table in tables.items():
            if name in texts:
                continue
            each = table.pop("each", [{}])
            for row in MGSM_ROWS if each == "mgsm" else each:
                words = {**texts, **row}
                base = made.get(_filled(table.get("base", ""), words), BLANK)
                words["summary"] = base.summary
                settings = {
                    key: _filled(value, words)
                    for key, value in {"name": name, **table, **row}.items()
                }
                protocol = _protocol(base, settings, package)
                made[protocol.name] = protocol
    return made


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


def _protocol(base: Protocol, settings: dict[str, Any], package: ModuleType) -> Protocol:
    for key in ("rows", "fields"):
        if isinstance(settings.get(key), str):
            settings[key] = getattr(package, settings[key])
    template = {key: value for key, value in settings.items() if key in OF_TEMPLATE}
    decoding: dict[str, Any] = {
        key: None if value == "server" else value
        for key, value in settings.items()
        if key in OF_DECODING
    }
    others = {key: value for key, value in settings.items() if key in OF_PROTOCOL - {"base"}}
    return replace(
        base,
        render=replace(base.render, **template),
        decoding=replace(base.decoding, **decoding),
        **others,
    )
