"""A protocol: how problems become prompts, the decoding, and the scorers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any

from gradeschool.completion import Decoding, Prompt
from gradeschool.errors import InputError
from gradeschool.problem import Problem
from gradeschool.prompts import Template

# Prompts may use any row of GSM8K's train split as an example.
LARGEST_SHOT_SOURCE = 7473

Render = Callable[[Sequence[Problem], Sequence[Problem]], Iterator[Prompt]]


@dataclass(frozen=True, slots=True)
class Protocol:
    """A named protocol; frozen: an upstream change is a new name.

    render: (problems in evaluation order, shots) -> one prompt for each problem, in order; mostly a
    `Template`. The order matters where a harness draws shots from one random stream.
    shots: the dataset that few-shot examples come from ("gsm8k:train", "wei2022"), "" for none.
    shot_count: number of examples in a prompt.
    scorers: the scorers behind the published number; the first gives the headline.
    votes: rules that combine the samples of a problem (`gradeschool.vote`). source: repository,
    commit and files. dataset: the dataset of the published number. samples: completions of each
    problem.
    base, changes, original: of a protocol made by `with_changes`, the name of the protocol that is
    changed, the changes, and that protocol.
    """

    name: str
    summary: str
    source: str
    render: Render
    decoding: Decoding
    scorers: tuple[str, ...]
    shots: str = ""
    shot_count: int = 0
    is_chat: bool = False
    dataset: str = "gsm8k"
    samples: int = 1
    votes: tuple[str, ...] = ()
    base: str = ""
    changes: Mapping[str, Any] = field(default_factory=dict, compare=False)
    original: Protocol | None = field(default=None, compare=False, repr=False)

    @property
    def template(self) -> Template:
        """The prompt as data; raises InputError if code renders it."""
        if isinstance(self.render, Template):
            return self.render
        raise InputError(f"the prompt of {self.name} is made by code; give a whole prompt instead")

    def with_changes(self, **changes: Any) -> Protocol:
        """Return this protocol with changes, named "lm-eval/gsm8k with shots 3".

        changes: system (text, "" for none), prompt (template with "{question}"), shots (number of
        examples, or the path of a JSONL file of them), shot (template of one example),
        assistant_prefix, stop (list of texts), temperature, top_p, max_tokens, scorers (list of
        names), thinking_marks (list of [open, close], for gradeschool/reader). Raises InputError
        for what cannot be done.
        """
        from gradeschool.protocols.own import change

        return change(self, changes)

    def example_prompt(self) -> Prompt:
        """Return the prompt of a made-up problem, with made-up shots."""
        return next(_probe_prompts(self))

    def digest(self) -> str:
        """Return 12 hex digits that change when any part of the protocol changes.

        Hashes the decoding, the scorers and the prompts of two probe problems with probe shots.
        """
        return _digest(self)


@cache
def _digest(protocol: Protocol) -> str:
    prompts = [asdict(prompt) for prompt in _probe_prompts(protocol)]
    decoding = asdict(protocol.decoding)
    facts: list[Any] = [protocol.name, prompts, decoding, protocol.scorers, protocol.shots]
    if (protocol.samples, protocol.votes) != (1, ()):
        facts += [protocol.samples, protocol.votes]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:12]


def _probe_prompts(protocol: Protocol) -> Iterator[Prompt]:
    shots = _probes(LARGEST_SHOT_SOURCE) if protocol.shots else ()
    return protocol.render(_probes(2), shots)


@cache
def _probes(count: int) -> tuple[Problem, ...]:
    rows = ((f"Probe question {i}?", f"{i} + 2 = {i + 2}\n#### {i + 2}") for i in range(count))
    return tuple(Problem.from_row(f"probe-{i}", *row) for i, row in enumerate(rows))


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
