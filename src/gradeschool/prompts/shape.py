"""The parts of a protocol's prompt, found by rendering it with placeholders for problems.

A protocol is code that renders; nothing else says where its examples are and what separates them.
So it renders a problem "{question}" with examples "{question of shot 7}", "{reasoning of shot 7}",
"{answer of shot 7}". The protocol's own words are what remains between these placeholders.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from gradeschool.completion import Message, Prompt
from gradeschool.problem import MARKER, Problem
from gradeschool.protocol import LARGEST_SHOT_SOURCE, Protocol

QUESTION = "{question}"
SHOT_NAME = re.compile(r"\{(question|reasoning|answer) of shot (\d+)\}")


@dataclass(frozen=True, slots=True)
class PromptShape:
    r"""The parts of one prompt.

    template: the prompt with placeholders for question and examples. rows: the examples as row
    numbers of their source, in order. place: where they are ("text", "system", "user", "turns"; ""
    for no examples). opening: the text before them. shot: one of them. joiner: the text between
    them, and before the question. question: all text after them, or the user's turn. system: the
    system message, without examples. prefix: the start of the answer.
    """

    template: Prompt
    rows: tuple[int, ...]
    place: str
    system: str | None
    opening: str
    shot: str
    joiner: str
    question: str
    prefix: str | None


def shape(
    protocol: Protocol, problems: Sequence[Problem], shots: Sequence[Problem], index: int
) -> PromptShape:
    """Return the parts of the prompt of `problems[index]`; empty `shots` mean any examples."""
    nameless = [replace(problem, question=QUESTION) for problem in problems]
    template = _nth(protocol, nameless, _named(shots) if shots else _strangers(), index)
    rows = _rows(template)
    if len(rows) > protocol.shot_count:  # all examples of a small source whose rows are not at hand
        template = _nth(protocol, nameless, _strangers()[: protocol.shot_count], index)
        rows = _rows(template)
    system = next((turn.content for turn in template.messages if turn.role == "system"), None)
    asked_last = template.messages[-1].content if template.is_chat else template.text or ""
    if not rows:
        return PromptShape(template, (), "", system, "", "", "", asked_last, template.prefix)
    holders = [turn for turn in template.messages if SHOT_NAME.search(turn.content)]
    if len(holders) > 1:
        shot = "\n".join(f"{turn.role}: {turn.content}" for turn in holders[:2])
        return PromptShape(
            template, rows, "turns", system, "", _general(shot), "", asked_last, template.prefix
        )
    holder = holders[0] if holders else Message("text", template.text or "")
    opening, shot, joiner, rest = _slices(holder.content)
    if holder.role == "system":
        system, rest = rest or None, asked_last
    return PromptShape(
        template, rows, holder.role, system, opening, shot, joiner, rest, template.prefix
    )


def _nth(
    protocol: Protocol, problems: Sequence[Problem], shots: Sequence[Problem], index: int
) -> Prompt:
    return next(
        prompt for number, prompt in enumerate(protocol.render(problems, shots)) if number == index
    )


@cache
def _strangers() -> tuple[Problem, ...]:
    return _named([Problem(f"shot-{row}", "", "", "") for row in range(LARGEST_SHOT_SOURCE)])


def _rows(template: Prompt) -> tuple[int, ...]:
    names = SHOT_NAME.findall(_flat(template))
    return tuple(dict.fromkeys(int(row) for _, row in names))


def _named(shots: Sequence[Problem]) -> tuple[Problem, ...]:
    """Replace the texts of examples by placeholders; their ids stay."""
    return tuple(
        Problem(
            shot.id,
            f"{{question of shot {row}}}",
            f"{{answer of shot {row}}}",
            f"{{reasoning of shot {row}}}\n{MARKER} {{answer of shot {row}}}",
        )
        for row, shot in enumerate(shots)
    )


def _flat(prompt: Prompt) -> str:
    return prompt.text or "\n".join(turn.content for turn in prompt.messages)


def _general(text: str) -> str:
    return SHOT_NAME.sub(r"{\1}", text)


def _slices(text: str) -> tuple[str, str, str, str]:
    """Split a text with all examples into opening, one example, joiner and the rest."""
    names = list(SHOT_NAME.finditer(text))
    starts = [name.start() for name in names if name.group(1) == "question"]
    ends = [
        name.end()
        for name, after in zip(names, [*names[1:], None], strict=True)
        if after is None or after.group(2) != name.group(2)
    ]
    before, behind = text[: starts[0]], text[ends[-1] :]
    if len(starts) == 1:
        return "", _general(text[: ends[0]]), "", behind
    between = text[ends[0] : starts[1]]
    label = _common_end(before, between)
    ending = between[: len(between) - len(label)]
    cut = ending.find("\n") if "\n" in ending else len(ending)
    ending, joiner = ending[:cut], ending[cut:]
    opening = before[: len(before) - len(label)]
    shot = label + text[starts[0] : ends[0]] + ending
    rest = behind.removeprefix(ending).removeprefix(joiner)
    return opening, _general(shot), joiner, rest


def _common_end(first: str, second: str) -> str:
    length = 0
    while length < min(len(first), len(second)) and first[-1 - length] == second[-1 - length]:
        length += 1
    # A label begins after a line break: line breaks of the joiner are not part of it.
    return first[len(first) - length :].lstrip("\n") if length else ""
