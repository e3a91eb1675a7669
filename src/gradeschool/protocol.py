"""A protocol: how problems become prompts, the decoding, and the scorers; and changes of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from gradeschool.completion import Decoding, Prompt
from gradeschool.errors import InputError
from gradeschool.problem import Problem
from gradeschool.prompts import QUESTION, SHOTS, Template
from gradeschool.scorer import clip, with_marks

# Prompts may use any row of GSM8K's train split as an example.
LARGEST_SHOT_SOURCE = 7473
STRIPPED_QUESTION = "{stripped question}"
ANSWER_FIELDS = ("{reasoning}", "{steps}", "{solution}", "{gold}")
LONGEST = 40  # characters of a text in a protocol's name


@dataclass(frozen=True, slots=True)
class Protocol:
    """A named protocol; frozen: an upstream change is a new name.

    render: (problems in evaluation order, examples to choose from) -> one prompt for each problem,
    in order. The order matters where a harness draws examples from one random stream.
    shots: the dataset of these examples, "gsm8k:train" or "wei2022" for instance, "" for none.
    scorers: the scorers behind the published number; the first gives the headline.
    votes: rules that combine the samples of a problem (`gradeschool.scorer`). source: repository,
    commit and files. dataset: the dataset of the published number. samples: completions of each
    problem.
    original, base, changes: if `with_changes` made this protocol, the protocol that it changed,
    the name of that protocol, and the changes.
    """

    name: str
    summary: str
    source: str
    render: Template
    decoding: Decoding
    scorers: tuple[str, ...]
    shots: str = ""
    dataset: str = "gsm8k"
    samples: int = 1
    votes: tuple[str, ...] = ()
    base: str = ""
    changes: Mapping[str, Any] = field(default_factory=dict, compare=False)
    original: Protocol | None = field(default=None, compare=False, repr=False)

    @property
    def is_chat(self) -> bool:
        """Whether its prompts are messages."""
        return self.render.form != "text"

    @property
    def shot_count(self) -> int:
        """The number of examples in a prompt."""
        return (self.render.count or _most_shots(self)) if self.render.answer else 0

    def with_changes(self, **changes: Any) -> Protocol:
        """Return this protocol with changes, named "lm-eval/gsm8k with shots 3".

        changes: system (text, "" for none), prompt (template with "{question}"), shots (number of
        examples, or the path of a JSONL file of them), shot (template of one example),
        assistant_prefix, stop (list of texts), temperature, top_p, max_tokens, scorers (list of
        names), thinking_marks (list of [open, close], for gradeschool/reader). None is no change.
        Raises InputError for what cannot be done.
        """
        if unknown := changes.keys() - CHANGES:
            raise InputError(f"{min(unknown)!r} is not a change of a protocol; known: "
                             f"{', '.join(CHANGES)}")  # fmt: skip
        given = {key: changes[key] for key in CHANGES if changes.get(key) is not None}
        if given and self.original is not None:  # the same changes in any steps have one digest
            return self.original.with_changes(**{**self.changes, **given})
        protocol, made = self, dict[str, Any]()
        for key, value in given.items():
            is_list = key in ("stop", "scorers")
            if is_list and isinstance(value, str):
                value = [value]
            if not _is_right(key, value):
                raise InputError(f"{key} is {clip(repr(value))}; {CHANGES[key]}")
            if is_list:
                value = [text for text in value if text]
            elif key in ("temperature", "top_p"):
                value = float(value)
            changed = _changed(protocol, key, value)
            if changed != protocol:
                protocol, made[key] = changed, value
        if not made:
            return self
        words = (shown_change(key, value) for key, value in made.items())
        name = f"{self.name} with {', '.join(words)}"
        if self.changes:  # a whole protocol of one's own, which its settings describe
            return replace(protocol, name=name, changes={**self.changes, **made, "name": name})
        return replace(protocol, name=name, base=self.name, changes=made, original=self)

    def example_prompt(self) -> Prompt:
        """Return the prompt of a made-up problem, with made-up examples."""
        return next(_probe_prompts(self))

    def digest(self) -> str:
        """Return 12 hex digits that change when any part of the protocol changes.

        Hashes the decoding, the scorers and the prompts of two probe problems with probe examples.
        """
        prompts = list(map(asdict, _probe_prompts(self)))
        facts: list[Any] = [self.name, prompts, asdict(self.decoding), self.scorers, self.shots]
        if (self.samples, self.votes) != (1, ()):
            facts += [self.samples, self.votes]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:12]


def _probe_prompts(protocol: Protocol) -> Iterator[Prompt]:
    examples = probe_problems(LARGEST_SHOT_SOURCE) if protocol.shots else ()
    return protocol.render(probe_problems(2), examples)


@cache
def probe_problems(count: int) -> tuple[Problem, ...]:
    """Return made-up problems."""
    rows = ((f"Probe question {i}?", f"{i} + 2 = {i + 2}\n#### {i + 2}") for i in range(count))
    return tuple(Problem.from_row(f"probe-{i}", *row) for i, row in enumerate(rows))


# What `with_changes` takes, in the order in which it is applied, and the advice for a wrong value.
CHANGES = {
    "prompt": "give a text",
    "shots": "give a number from 0, or a file",
    "shot": "give a text",
    "system": "give a text",
    "assistant_prefix": "give a text",
    "stop": "give a list of texts",
    "temperature": "give a number from 0 to 2",
    "top_p": "give a number from 0 to 1",
    "max_tokens": "give a whole number, 0 for the server's own length",
    "scorers": "name at least one",
    "thinking_marks": 'give pairs, such as [["<think>", "</think>"]]',
}


def _is_right(key: str, value: Any) -> bool:
    """Return whether the value of a change has the right type."""
    is_list = isinstance(value, list | tuple)
    if key == "thinking_marks":
        pairs = value if is_list else ()
        return bool(pairs) and all(
            _is_right("stop", pair) and len(pair) == 2 and all(pair) for pair in pairs
        )
    if key in ("stop", "scorers"):
        are_texts = is_list and all(isinstance(text, str) for text in value)
        return are_texts and (key == "stop" or any(value))
    if key in ("temperature", "top_p"):
        return type(value) in (int, float) and 0 <= value <= (2 if key == "temperature" else 1)
    if key in ("shots", "max_tokens") and type(value) is int:
        return value >= 0
    return key != "max_tokens" and isinstance(value, str)


def _changed(protocol: Protocol, key: str, value: Any) -> Protocol:
    """Return a protocol with one change, whose value has the right type."""
    name = protocol.name
    if key in ("stop", "temperature", "top_p", "max_tokens"):
        setting: Any = tuple(value) if key == "stop" else value
        setting = setting or None if key == "max_tokens" else setting
        return replace(protocol, decoding=replace(protocol.decoding, **{key: setting}))
    if key == "scorers":
        return replace(protocol, scorers=tuple(value), votes=())
    if key == "thinking_marks":
        return replace(protocol, scorers=with_marks(protocol.scorers, value))
    if key in ("prompt", "shot") and not any(
        place in value for place in (QUESTION, STRIPPED_QUESTION)
    ):
        raise InputError(f"{key} has no {QUESTION}: {clip(value)!r}; write it where the question "
                         "goes")  # fmt: skip
    template = protocol.render
    if key == "prompt":
        return replace(protocol, render=replace(template, question=value, shot=""))
    if key == "shots" and isinstance(value, str):
        from gradeschool.datasets.load import load_dataset  # 10 ms, which most commands save

        if not Path(value).is_file():
            raise InputError(
                f"there is no file {value!r}; give a number of examples, or a JSONL file"
            )
        examples, form, answer = load_dataset(value).problems, template.form, template.answer
        if form == "message" and not (answer and SHOTS in (template.system or "")):
            form = "turns"
        answer = answer or ("{solution}" if form == "turns" else " {solution}")
        render = replace(
            template, rows=None, count=None, examples=examples, form=form, answer=answer
        )
        return replace(protocol, render=render, shots="")
    if key == "shots" and value == 0:
        system = None if SHOTS in (template.system or "") else template.system
        bare = Template(question=template.question, form=template.form, system=system,
                        prefix=template.prefix, fields=template.fields)  # fmt: skip
        return replace(protocol, render=bare, shots="")
    if key in ("shots", "shot") and not template.answer:
        raise InputError(f"{name} has no examples; give a file of them as shots")
    if key == "shots":
        if value == protocol.shot_count:
            return protocol
        most = _most_shots(protocol)
        if value > most:
            raise InputError(f"shots is {value}, but {protocol.shots or 'its file'} gives {name} "
                             f"{most}; give at most {most}")  # fmt: skip
        return replace(protocol, render=replace(template, count=value))
    if key == "shot":
        if not any(part in value for part in ANSWER_FIELDS):
            raise InputError(f"shot has no answer: {clip(value)!r}; write one of "
                             f"{', '.join(ANSWER_FIELDS)} in it")  # fmt: skip
        is_usual = value.startswith(template.question)
        place = QUESTION if QUESTION in value else STRIPPED_QUESTION
        end = len(template.question) if is_usual else value.index(place) + len(place)
        answer = value[end:].lstrip() if template.form == "turns" else value[end:]
        render = replace(template, shot="" if is_usual else value[:end], answer=answer)
        return replace(protocol, render=render)
    if not protocol.is_chat and value:
        advice = {
            "system": "take a chat protocol, such as its +chat form",
            "assistant_prefix": "put the start of the answer at the end of its prompt",
        }
        raise InputError(f"{name} sends one text, without {key.replace('_', ' ')}; {advice[key]}")
    if key == "assistant_prefix":
        return replace(protocol, render=replace(template, prefix=value or None))
    if SHOTS in (template.system or "") and SHOTS not in value:
        raise InputError(f"the system message of {name} holds its examples; write {SHOTS} where "
                         "they go, or set shots to 0")  # fmt: skip
    return replace(protocol, render=replace(template, system=value or None))


def _most_shots(protocol: Protocol) -> int:
    """Return how many examples a protocol can choose from."""
    from gradeschool.datasets.load import SOURCES  # as above, for protocols with examples alone

    known = protocol.render.examples or protocol.render.rows
    if isinstance(known, tuple):
        return len(known)
    rows = SOURCES[protocol.shots].rows if protocol.shots in SOURCES else 0
    return rows - 1 if callable(known) else rows  # one may be the problem itself


def shown_change(key: str, value: Any) -> str:
    """Return a change in words, as in the protocol's name: "shots 3"."""
    if key == "shots" and isinstance(value, str):
        shown = Path(value).name
    elif isinstance(value, float):
        shown = f"{value:g}"
    else:
        is_text = isinstance(value, str)
        shown = repr(clip(value, LONGEST)) if is_text else json.dumps(value, ensure_ascii=False)
    return f"{key.replace('_', ' ')} {shown}"


def overrides(decoding: Mapping[str, Any], protocol: Protocol) -> dict[str, tuple[Any, Any]]:
    """Return the settings that differ from the protocol's, as (value, protocol's value).

    decoding: as in run.json.
    """
    usual = {**asdict(protocol.decoding), "stop": list(protocol.decoding.stop)}
    return {
        name: (decoding[name], usual[name])
        for name in usual
        if name in decoding and decoding[name] != usual[name]
    }
