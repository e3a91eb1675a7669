"""The differences between two protocols or two scorers, field by field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import unified_diff
from typing import Any, NamedTuple

from gradeschool.completion import Prompt
from gradeschool.problem import Problem
from gradeschool.protocols.card import ProtocolCard, Quirk, ScorerCard, protocol_json

# Fields that only name a protocol, or repeat other fields in words.
NAMES = ("kind", "name", "digest", "summary", "source", "links", "scorers", "votes", "example")
CONTEXT = 1  # lines around a difference


class FieldDifference(NamedTuple):
    """A field with its value in each protocol."""

    field: str
    first: Any
    second: Any

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return {"field": self.field, "first": self.first, "second": self.second}


class QuirkSplit(NamedTuple):
    """A quirk's completion on which two scorers differ, with the verdict of each."""

    quirk: Quirk
    first: str
    second: str

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        outcomes = [self.first, self.second]
        return {
            "completion": self.quirk.completion,
            "gold": self.quirk.gold,
            "outcomes": outcomes,
        }


def protocol_differences(first: ProtocolCard, second: ProtocolCard) -> list[FieldDifference]:
    """Return the fields of two protocols that differ, except those derived from others."""
    fields, others = _fields(first), _fields(second)
    return [
        FieldDifference(name, value, others[name])
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


def scorer_splits(first: ScorerCard, second: ScorerCard) -> list[QuirkSplit]:
    """Return the quirks on which two scorers differ; empty if one of them cannot run here."""
    if not (first.available and second.available):
        return []
    splits = []
    by_text = {(quirk.completion, quirk.gold): quirk for quirk in (*first.quirks, *second.quirks)}
    for quirk in by_text.values():
        problem = Problem.from_gold(quirk.gold)
        verdicts = [card.scorer.judge(quirk.completion, problem) for card in (first, second)]
        if verdicts[0].outcome != verdicts[1].outcome:
            splits.append(QuirkSplit(quirk, verdicts[0].outcome.value, verdicts[1].outcome.value))
    return splits


def prompt_lines(prompt: Prompt) -> list[str]:
    """Return a prompt as lines: those of its text, or those of each message under its role."""
    if prompt.text is not None:
        return prompt.text.split("\n")
    lines = [line for turn in prompt.messages for line in _turn(turn.role, turn.content)]
    begun = [] if prompt.prefix is None else _turn("assistant, to be continued", prompt.prefix)
    return [*lines, *begun]


def _turn(role: str, content: str) -> list[str]:
    return [f"[{role}]", *content.split("\n")]


def prompt_difference(first: ProtocolCard, second: ProtocolCard) -> Sequence[str]:
    """Return the unified diff of two prompts of the same problem; empty if they are equal."""
    if first.example is None or second.example is None:
        return ()
    return list(
        unified_diff(
            prompt_lines(first.example.prompt),
            prompt_lines(second.example.prompt),
            first.protocol.name,
            second.protocol.name,
            n=CONTEXT,
            lineterm="",
        )
    )
