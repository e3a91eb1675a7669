"""What differs between two protocols or two scorers, field by field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import unified_diff
from typing import Any, NamedTuple

from gradeschool.completion import Prompt
from gradeschool.problem import Problem
from gradeschool.protocols.card import ProtocolCard, ScorerCard
from gradeschool.protocols.card_json import protocol_json
from gradeschool.protocols.sources import Quirk

# What names a protocol or says in other words what other fields say.
NAMES = ("kind", "name", "digest", "summary", "source", "links", "scorers", "votes", "example")
CONTEXT = 1  # lines around what differs


class Difference(NamedTuple):
    """A field with its value in either."""

    field: str
    one: Any
    other: Any


class Split(NamedTuple):
    """A quirk's completion on which two scorers differ, with what each says of it."""

    quirk: Quirk
    one: str
    other: str

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        says = [self.one, self.other]
        return {"completion": self.quirk.completion, "gold": self.quirk.gold, "says": says}


def protocol_differences(one: ProtocolCard, other: ProtocolCard) -> list[Difference]:
    """Return the fields of two protocols that differ; templates and rows follow from others."""
    fields, others = _fields(one), _fields(other)
    return [
        Difference(name, value, others[name])
        for name, value in fields.items()
        if value != others[name]
    ]


def _fields(card: ProtocolCard) -> dict[str, Any]:
    values = protocol_json(card)
    flat = {"scorers": [*card.protocol.scorers, *card.protocol.votes]}
    for name, value in values.items():
        if name in NAMES:
            continue
        if isinstance(value, Mapping):
            flat |= {f"{name}: {key}": part for key, part in value.items() if key != "template"}
        else:
            flat[name] = value
    return flat


def scorer_splits(one: ScorerCard, other: ScorerCard) -> list[Split]:
    """Return the quirks of two scorers on which they differ; none where one cannot run here."""
    if not (one.available and other.available):
        return []
    found = []
    known = {(quirk.completion, quirk.gold): quirk for quirk in (*one.quirks, *other.quirks)}
    for quirk in known.values():
        problem = Problem.from_gold(quirk.gold)
        says = [card.scorer.judge(quirk.completion, problem) for card in (one, other)]
        if says[0].outcome != says[1].outcome:
            found.append(Split(quirk, says[0].outcome.value, says[1].outcome.value))
    return found


def prompt_lines(prompt: Prompt) -> list[str]:
    """Return a prompt as lines: those of its text, or of each message below its role."""
    if prompt.text is not None:
        return prompt.text.split("\n")
    lines = [line for turn in prompt.messages for line in _turn(turn.role, turn.content)]
    begun = [] if prompt.prefix is None else _turn("assistant, to be continued", prompt.prefix)
    return [*lines, *begun]


def _turn(role: str, content: str) -> list[str]:
    return [f"[{role}]", *content.split("\n")]


def prompt_difference(one: ProtocolCard, other: ProtocolCard) -> Sequence[str]:
    """Return the unified diff of two prompts of the same problem; empty where they are equal."""
    if one.example is None or other.example is None:
        return ()
    return list(
        unified_diff(
            prompt_lines(one.example.prompt),
            prompt_lines(other.example.prompt),
            one.protocol.name,
            other.protocol.name,
            n=CONTEXT,
            lineterm="",
        )
    )
