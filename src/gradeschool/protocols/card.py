"""Everything known about a protocol, a scorer or a vote, as JSON values; how two of them differ."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import asdict
from difflib import unified_diff
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from gradeschool.problem import Problem
from gradeschool.prompts import SHOTS, prompt_bytes, prompt_json
from gradeschool.protocol import LARGEST_SHOT_SOURCE, Protocol, probe_problems
from gradeschool.protocols.registry import (
    all_protocols,
    all_votes,
    available,
    entries_of,
    get_scorer,
    packages,
)
from gradeschool.scorer import Vote

QUIRK = re.compile(r"^\| ([a-z][^ `|]*) \| `(.+?)` \| (.+?) \| (.+?) \| (.+) \|$", re.MULTILINE)
LINK = re.compile(r"https?://[^\s)>\]`|]+")
VERIFIED = re.compile(r"^- (?:Verified|Versions): (.+(?:\n  .+)*)", re.MULTILINE)
LINE_BREAK = "⏎"  # in the completions of SOURCE.md


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
        if any(name in entries_of(package, kind) for kind in ("PROTOCOLS", "SCORERS", "VOTES")):
            return package
    return None


@cache
def read_source(package: ModuleType | None) -> SourceNotes:
    """Return what a package's SOURCE.md says; all of it is empty without one."""
    files = [Path(folder) / "SOURCE.md" for folder in getattr(package, "__path__", ())]
    text = "".join(file.read_text("utf-8") for file in files if file.is_file())
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
    dataset: str = "",
) -> dict[str, Any]:
    """Return all about a protocol: its prompts, decoding, scorers and sources.

    "prompt": its parts exact to the character. "shots": "place" ("text", "system", "user", "turns")
    and "rows" of the first problem's examples in their source. "example": the prompt of the first
    problem with the SHA-256 of its bytes (`prompt_bytes`), None without problems.
    """
    template, is_turns = protocol.render, protocol.render.form == "turns"
    before = template.shot or template.question
    shot = f"user: {before}\nassistant: {template.answer}" if is_turns else before + template.answer
    source = read_source(find_package(protocol.base or protocol.name))
    place, example, rows = None, None, list[int]()
    if template.answer and protocol.shots:
        place = "user" if template.form == "message" else template.form
        place = "system" if SHOTS in (template.system or "") else place
        chosen: Sequence[int] = range(protocol.shot_count)
        if callable(template.rows):  # without the source, drawn from one as large as GSM8K's
            known = shots or probe_problems(LARGEST_SHOT_SOURCE)
            drawn = template.rows(problems or probe_problems(1), known, template.count or 0)
            chosen = next(drawn)
        elif template.rows is not None:
            chosen = template.rows[: template.count]
        rows = list(chosen)
    if problems:
        prompt = next(protocol.render(problems, shots))
        content = prompt_bytes(prompt)
        example = {
            "dataset": dataset,
            "problem": problems[0].id,
            "gold": problems[0].gold,
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
        "prompt": {
            "system": template.system,
            "opening": template.opening if rows else "",
            "shot": shot if rows else "",
            "joiner": template.joiner if rows and not is_turns else "",
            "question": template.question,
            "prefix": template.prefix,
        },
        "shots": {
            "source": protocol.shots or None,
            "count": protocol.shot_count,
            "place": place,
            "rows": rows,
            "drawn_for_each_problem": callable(template.rows),
        },
        "decoding": {**asdict(protocol.decoding), "stop": list(protocol.decoding.stop)},
        "samples": protocol.samples,
        "scorers": [describe_scorer(name) for name in protocol.scorers],
        "votes": [describe_vote(all_votes()[name]) for name in protocol.votes],
        "example": example,
    }


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
    return {name: (value, other[name]) for name, value in one.items() if value != other[name]}


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
