"""Everything known about a protocol, a scorer or a vote, as JSON values; how two of them differ."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import asdict, replace
from difflib import unified_diff
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from gradeschool.completion import Prompt
from gradeschool.problem import MARKER, Problem
from gradeschool.prompts import QUESTION, SHOTS, Template, prompt_bytes, prompt_json
from gradeschool.protocol import LARGEST_SHOT_SOURCE, Protocol
from gradeschool.protocols.registry import (
    all_protocols,
    all_votes,
    available,
    get_scorer,
    packages,
)
from gradeschool.vote import Vote

QUIRK = re.compile(r"^\| ([a-z][^ `|]*) \| `(.+?)` \| (.+?) \| (.+?) \| (.+) \|$", re.MULTILINE)
LINK = re.compile(r"https?://[^\s)>\]`|]+")
VERIFIED = re.compile(r"^- (?:Verified|Versions): (.+(?:\n  .+)*)", re.MULTILINE)
SHOT_NAME = re.compile(r"\{(question|reasoning|answer) of shot (\d+)\}")
LINE_BREAK = "⏎"  # in the completions of SOURCE.md
COMPARED = 3  # problems; two show whether examples are drawn anew for each


class SourceNotes(NamedTuple):
    """What a harness's SOURCE.md says.

    verified: the versions compared with, and what others do otherwise. quirks: completions where a
    scorer differs from a careful reader: {scorer, completion, gold, says (its outcome), shows}.
    """

    text: str
    links: list[str]
    verified: str
    quirks: list[dict[str, str]]


def find_package(name: str) -> ModuleType | None:
    """Return the package with the protocol, scorer or vote of a name, None for a user's own."""
    for package in packages():
        entries = (*package.PROTOCOLS, *package.SCORERS, *getattr(package, "VOTES", ()))
        if any(entry.name == name for entry in entries):
            return package
    return None


@cache
def read_source(package: ModuleType | None) -> SourceNotes:
    """Return what a package's SOURCE.md says; all of it is empty without one."""
    path = Path((package and package.__file__) or "").parent / "SOURCE.md"
    text = path.read_text("utf-8") if package and path.is_file() else ""
    verified = " ".join(" ".join(VERIFIED.findall(text)).split())
    links = dict.fromkeys(link.rstrip(".,;:") for link in LINK.findall(text))
    quirks = [
        {"scorer": scorer, "completion": completion.replace(LINE_BREAK, "\n"), "gold": gold,
         "says": says, "shows": shows}
        for scorer, completion, gold, says, shows in QUIRK.findall(text)
    ]  # fmt: skip
    return SourceNotes(text, list(links), verified, quirks)


def describe_scorer(name: str) -> dict[str, Any]:
    """Return all about a scorer; UnknownNameError lists similar names.

    A function of the user ("my.py:f") is described, not called.
    """
    source = read_source(find_package(name))
    users = [protocol.name for protocol in all_protocols().values() if name in protocol.scorers]
    facts = {"summary": "a function of your own", "source": name, "extra": None, "available": True}
    if ":" not in name:
        scorer = get_scorer(name)
        facts = {"summary": scorer.summary, "source": scorer.source, "extra": scorer.extra or None,
                 "available": available(scorer)}  # fmt: skip
    return {
        "kind": "scorer",
        "name": name,
        **facts,
        "verified": source.verified,
        "links": source.links,
        # The protocol that the scorer is named after comes first.
        "protocols": sorted(users, key=lambda user: not name.startswith(f"{user}/")),
        "quirks": [quirk for quirk in source.quirks if quirk["scorer"] == name],
    }


def describe_vote(vote: Vote) -> dict[str, Any]:
    """Return all about a vote."""
    return {
        "kind": "vote",
        **{key: getattr(vote, key) for key in ("name", "summary", "source", "voters", "nothing")},
        "links": read_source(find_package(vote.name)).links,
        "protocols": [each.name for each in all_protocols().values() if vote.name in each.votes],
    }


def describe_protocol(
    protocol: Protocol,
    problems: Sequence[Problem] = (),
    shots: Sequence[Problem] = (),
    index: int = 0,
    dataset: str = "",
) -> dict[str, Any]:
    """Return all about a protocol: its prompts, decoding, scorers and sources.

    "prompt": its parts exact to the character, and as "template" the prompt with "{question}" and
    "{question of shot 7}" and the like for texts. "shots": "place" ("text", "system", "user",
    "turns") and "rows" of the examples in their source. "example": the prompt of `problems[index]`
    with the SHA-256 of its bytes (`prompt_bytes`), None without problems.
    """
    asked = problems or [Problem(str(number), "", "", "") for number in range(COMPARED)]
    template, rows = _placeholders(protocol, asked, shots, index)
    others = _placeholders(protocol, asked, shots, (index + 1) % len(asked))[1]
    source = read_source(find_package(protocol.base or protocol.name))
    example = None
    if problems:
        prompt, problem = _nth(protocol, problems, shots, index), problems[index]
        content = prompt_bytes(prompt)
        example = {
            "dataset": dataset,
            "problem": problem.id,
            "gold": problem.gold,
            **prompt_json(prompt),
            "bytes": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
        }
    return {
        "kind": "protocol",
        "name": protocol.name,
        "digest": protocol.digest(),
        "base": protocol.base or None,
        "changes": dict(protocol.changes),
        "summary": protocol.summary,
        "source": protocol.source,
        "verified": source.verified,
        "links": source.links,
        "form": "chat" if protocol.is_chat else "completion",
        "dataset": protocol.dataset,
        "prompt": {**_parts(protocol, template, bool(rows)), "template": prompt_json(template)},
        "shots": {
            "source": protocol.shots or None,
            "count": protocol.shot_count,
            "place": _place(protocol) if rows else None,
            "rows": rows,
            "drawn_for_each_problem": rows != others,
        },
        "decoding": {**asdict(protocol.decoding), "stop": list(protocol.decoding.stop)},
        "samples": protocol.samples,
        "scorers": [describe_scorer(name) for name in protocol.scorers],
        "votes": [describe_vote(all_votes()[name]) for name in protocol.votes],
        "example": example,
    }


def _parts(protocol: Protocol, prompt: Prompt, has_shots: bool) -> dict[str, str | None]:
    """Return the parts of a prompt; of one that code renders, all of it is the question."""
    render = protocol.render
    if not isinstance(render, Template):
        question = prompt.messages[-1].content if prompt.messages else prompt.text
        render = Template(question=question or "", prefix=prompt.prefix)
    before = render.shot or render.question
    is_turns = render.form == "turns"
    shot = f"user: {before}\nassistant: {render.answer}" if is_turns else before + render.answer
    return {
        "system": render.system,
        "opening": render.opening if has_shots else "",
        "shot": shot if has_shots else "",
        "joiner": render.joiner if has_shots and not is_turns else "",
        "question": render.question,
        "prefix": render.prefix,
    }


def _place(protocol: Protocol) -> str | None:
    render = protocol.render
    if not isinstance(render, Template):
        return None
    if SHOTS in (render.system or ""):
        return "system"
    return "user" if render.form == "message" else render.form


def _nth(
    protocol: Protocol, problems: Sequence[Problem], shots: Sequence[Problem], index: int
) -> Prompt:
    prompts = enumerate(protocol.render(problems, shots))
    return next(prompt for number, prompt in prompts if number == index)


def _placeholders(
    protocol: Protocol, problems: Sequence[Problem], shots: Sequence[Problem], index: int
) -> tuple[Prompt, list[int]]:
    """Render the prompt of a problem with placeholders for texts; return the rows in it too."""
    rows = range(len(shots) or _most_rows(protocol)) if protocol.shots else ()
    named = [
        Problem(
            shots[row].id if shots else f"shot-{row}",
            f"{{question of shot {row}}}",
            f"{{answer of shot {row}}}",
            f"{{reasoning of shot {row}}}\n{MARKER} {{answer of shot {row}}}",
        )
        for row in rows
    ]
    nameless = [replace(problem, question=QUESTION) for problem in problems]
    prompt = _nth(protocol, nameless, named, index)
    flat = prompt.text or "\n".join(turn.content for turn in prompt.messages)
    return prompt, list(dict.fromkeys(int(row) for _, row in SHOT_NAME.findall(flat)))


def _most_rows(protocol: Protocol) -> int:
    """Return how many rows stand for a source that is away; a prompt may use all of a small one."""
    render = protocol.render
    uses_all = isinstance(render, Template) and render.rows is None and render.count is None
    return protocol.shot_count if uses_all else LARGEST_SHOT_SOURCE


def protocol_differences(
    first: dict[str, Any], second: dict[str, Any]
) -> dict[str, tuple[Any, Any]]:
    """Return the fields of two protocols that differ, except names and those in other words."""

    def fields(card: dict[str, Any]) -> dict[str, Any]:
        readers = [each["name"] for each in (*card["scorers"], *card["votes"])]
        flat = {"scorers": readers, **{key: card[key] for key in ("form", "dataset")}}
        for group in ("prompt", "shots", "decoding"):
            flat |= {f"{group}: {key}": value for key, value in card[group].items()}
        return {**flat, "samples": card["samples"]}

    one, other = fields(first), fields(second)
    return {
        name: (value, other[name])
        for name, value in one.items()
        if value != other[name] and name != "prompt: template"
    }


def scorer_splits(
    first: dict[str, Any], second: dict[str, Any]
) -> list[tuple[dict[str, str], str, str]]:
    """Return the quirks on which two scorers differ, with the outcome of each.

    Empty if one of them cannot run here.
    """
    splits = {}
    for quirk in (*first["quirks"], *second["quirks"]):
        if not (first["available"] and second["available"]):
            break
        text, problem = quirk["completion"], Problem.from_gold(quirk["gold"])
        one, other = (
            get_scorer(card["name"]).judge(text, problem).outcome.value for card in (first, second)
        )
        if one != other:
            splits[text, problem.gold] = quirk, one, other
    return list(splits.values())


def prompt_lines(shown: dict[str, Any]) -> list[str]:
    """Return a prompt (`prompt_json`) as lines: of its text, or of each message under its role."""
    if "prompt" in shown:
        return str(shown["prompt"]).split("\n")
    roles = [turn["role"] for turn in shown["messages"]]
    if shown.get("continue_final_message"):
        roles[-1] += ", to be continued"
    turns = zip(roles, (turn["content"] for turn in shown["messages"]), strict=True)
    return [line for role, text in turns for line in (f"[{role}]", *text.split("\n"))]


def prompt_difference(first: dict[str, Any], second: dict[str, Any]) -> list[str]:
    """Return the unified diff of two prompts of the same problem; empty if they are equal."""
    if first["example"] is None or second["example"] is None:
        return []
    one, other = (prompt_lines(card["example"]) for card in (first, second))
    return list(unified_diff(one, other, first["name"], second["name"], n=1, lineterm=""))
