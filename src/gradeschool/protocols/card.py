"""Everything known about a protocol, a scorer or a vote, and how two of them differ."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Mapping, Sequence
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
from gradeschool.protocols.registry import all_protocols, all_votes, available, get_scorer, packages
from gradeschool.scorer import DEFAULT_SCORER, Scorer
from gradeschool.vote import Vote

SCORER_NAME = re.compile(r"[a-z][^ `]*")
LINK = re.compile(r"https?://[^\s)>\]`|]+")
VERIFIED = re.compile(r"^- (?:Verified|Versions): (.+(?:\n  .+)*)", re.MULTILINE)
SHOT_NAME = re.compile(r"\{(question|reasoning|answer) of shot (\d+)\}")
COLUMNS = 5  # scorer, completion, gold, the scorer's verdict, what the example shows
LINE_BREAK = "⏎"
COMPARED = 3  # problems; two show whether examples are drawn anew for each
# Fields that only name a protocol, or repeat other fields in words.
NAMES = {"kind", "name", "digest", "summary", "source", "links", "verified", "scorers", "votes",
         "example", "base", "changes"}  # fmt: skip


class Quirk(NamedTuple):
    """A completion where a scorer differs from a careful reader; `says` is its outcome."""

    scorer: str
    completion: str
    gold: str
    says: str
    shows: str


def find_package(name: str) -> ModuleType | None:
    """Return the package with the protocol or scorer of that name, None for a user's own."""
    for package in packages():
        if any(entry.name == name for entry in (*package.PROTOCOLS, *package.SCORERS)):
            return package
    return None


@cache
def source_text(package: ModuleType | None) -> str:
    """Return the text of a package's SOURCE.md, "" if there is none."""
    path = Path((package and package.__file__) or "").parent / "SOURCE.md"
    return path.read_text("utf-8") if package and path.is_file() else ""


def verified(package: ModuleType | None) -> str:
    """Return what SOURCE.md says of the versions compared with, and of what others do otherwise."""
    return " ".join(" ".join(VERIFIED.findall(source_text(package))).split())


def quirks(package: ModuleType | None) -> tuple[Quirk, ...]:
    """Return the rows of SOURCE.md's tables with the columns scorer, completion, gold and verdict.

    A completion is between backticks; "⏎" is a line break in it.
    """
    rows = []
    for line in source_text(package).split("\n"):
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if len(cells) == COLUMNS and SCORER_NAME.fullmatch(cells[0]) and cells[1].startswith("`"):
            scorer, completion, gold, says, shows = cells
            text = completion.strip("`").replace(LINE_BREAK, "\n")
            rows.append(Quirk(scorer, text, gold, says, shows))
    return tuple(rows)


@cache
def links(*modules: str) -> tuple[str, ...]:
    """Return the links in the files of modules and in their SOURCE.md, each once."""
    every: list[str] = []
    for name in modules:
        module = sys.modules.get(name)
        path = Path((module and module.__file__) or "")
        text = path.read_text("utf-8") if path.suffix == ".py" else ""
        every += LINK.findall(text + source_text(module))
    return tuple(dict.fromkeys(link.rstrip(".,;:") for link in every))


class PromptExample(NamedTuple):
    """The exact prompt of one problem, and the SHA-256 of its bytes (`prompt_bytes`)."""

    dataset: str
    problem: Problem
    prompt: Prompt
    sha256: str


class ScorerCard(NamedTuple):
    """A scorer, its protocols, and examples of how it differs from a careful reader."""

    scorer: Scorer
    protocols: tuple[str, ...]
    quirks: tuple[Quirk, ...]
    links: tuple[str, ...]
    verified: str
    available: bool

    def as_json(self) -> dict[str, Any]:
        """Return the card as JSON values."""
        return {
            "kind": "scorer",
            "name": self.scorer.name,
            "summary": self.scorer.summary,
            "source": self.scorer.source,
            "verified": self.verified,
            "links": list(self.links),
            "extra": self.scorer.extra or None,
            "available": self.available,
            "protocols": list(self.protocols),
            "quirks": [quirk._asdict() for quirk in self.quirks],
        }


class ProtocolCard(NamedTuple):
    """A protocol: its prompts, decoding, scorers and sources.

    placeholders: the prompt with "{question}" and "{question of shot 7}" and the like for texts.
    rows: the examples as rows of their source, in order. redrawn: whether another problem gets
    others. example: None if no problem was given.
    """

    protocol: Protocol
    placeholders: Prompt
    rows: tuple[int, ...]
    redrawn: bool
    scorers: tuple[ScorerCard, ...]
    votes: tuple[Vote, ...]
    links: tuple[str, ...]
    verified: str
    example: PromptExample | None

    def parts(self) -> dict[str, str | None]:
        """Return the parts of the prompt; of one that code renders, all of it is the question."""
        render = self.protocol.render
        if not isinstance(render, Template):
            turns = self.placeholders.messages
            question = turns[-1].content if turns else self.placeholders.text
            return {"system": None, "opening": "", "shot": "", "joiner": "", "question": question,
                    "prefix": self.placeholders.prefix}  # fmt: skip
        before, answer = render.shot or render.question, render.answer
        turns_shot = f"user: {before}\nassistant: {answer}"
        shot = turns_shot if render.form == "turns" else before + answer
        return {
            "system": render.system,
            "opening": render.opening if self.rows else "",
            "shot": shot if self.rows else "",
            "joiner": render.joiner if self.rows and render.form != "turns" else "",
            "question": render.question,
            "prefix": render.prefix,
        }

    def place(self) -> str:
        """Return where the examples are: "text", "system", "user", "turns"; "" without any."""
        render = self.protocol.render
        if not self.rows or not isinstance(render, Template):
            return ""
        if render.system is not None and SHOTS in render.system:
            return "system"
        return {"message": "user"}.get(render.form, render.form)

    def as_json(self) -> dict[str, Any]:
        """Return the card as JSON values."""
        protocol, example = self.protocol, self.example
        return {
            "kind": "protocol",
            "name": protocol.name,
            "digest": protocol.digest(),
            "base": protocol.base or None,
            "changes": dict(protocol.changes),
            "summary": protocol.summary,
            "source": protocol.source,
            "verified": self.verified,
            "links": list(self.links),
            "form": "chat" if protocol.is_chat else "completion",
            "dataset": protocol.dataset,
            "prompt": {**self.parts(), "template": prompt_json(self.placeholders)},
            "shots": {
                "source": protocol.shots or None,
                "count": protocol.shot_count,
                "place": self.place() or None,
                "rows": list(self.rows),
                "drawn_for_each_problem": self.redrawn,
            },
            "decoding": {**asdict(protocol.decoding), "stop": list(protocol.decoding.stop)},
            "samples": protocol.samples,
            "scorers": [scorer.as_json() for scorer in self.scorers],
            "votes": [vote_json(vote) for vote in self.votes],
            "example": example and {
                "dataset": example.dataset,
                "problem": example.problem.id,
                "gold": example.problem.gold,
                **prompt_json(example.prompt),
                "sha256": example.sha256,
            },
        }  # fmt: skip


def scorer_card(name: str) -> ScorerCard:
    """Return the card of a scorer; UnknownNameError lists similar names.

    A function of the user ("my.py:f") is described, not called.
    """
    is_own = ":" in name
    scorer = replace(get_scorer(DEFAULT_SCORER), name=name, summary="a function of your own",
                     source=name) if is_own else get_scorer(name)  # fmt: skip
    package = find_package(name)
    users = [protocol.name for protocol in all_protocols().values() if name in protocol.scorers]
    module = "" if is_own else getattr(scorer.extract, "__module__", "")
    return ScorerCard(
        scorer=scorer,
        # The protocol that the scorer is named after comes first.
        protocols=tuple(sorted(users, key=lambda user: not name.startswith(f"{user}/"))),
        quirks=tuple(quirk for quirk in quirks(package) if quirk.scorer == name),
        links=links(module, package.__name__ if package else ""),
        verified=verified(package),
        available=available(scorer),
    )


def vote_json(vote: Vote) -> dict[str, Any]:
    """Return a vote as JSON values."""
    users = (item.name for item in all_protocols().values() if vote.name in item.votes)
    return {
        "kind": "vote",
        "name": vote.name,
        "summary": vote.summary,
        "source": vote.source,
        "links": list(links(vote.ballot.__module__)),
        "voters": vote.voters,
        "protocols": list(users),
    }


def protocol_card(
    protocol: Protocol,
    problems: Sequence[Problem] = (),
    shots: Sequence[Problem] = (),
    index: int = 0,
    dataset: str = "",
) -> ProtocolCard:
    """Return the card of a protocol, with the prompt of `problems[index]` if there are problems."""
    asked = problems or [Problem(str(number), "", "", "") for number in range(COMPARED)]
    placeholders, rows = _placeholders(protocol, asked, shots, index)
    others = _placeholders(protocol, asked, shots, (index + 1) % len(asked))[1]
    package = find_package(protocol.base or protocol.name)
    module = package.__name__ if package else ""
    example = None
    if problems:
        prompt = _nth(protocol, problems, shots, index)
        digest = hashlib.sha256(prompt_bytes(prompt)).hexdigest()
        example = PromptExample(dataset, problems[index], prompt, digest)
    return ProtocolCard(
        protocol=protocol,
        placeholders=placeholders,
        rows=rows,
        redrawn=rows != others,
        scorers=tuple(scorer_card(name) for name in protocol.scorers),
        votes=tuple(all_votes()[name] for name in protocol.votes),
        links=links(f"{module}.prompts", module),
        verified=verified(package),
        example=example,
    )


def _nth(
    protocol: Protocol, problems: Sequence[Problem], shots: Sequence[Problem], index: int
) -> Prompt:
    prompts = enumerate(protocol.render(problems, shots))
    return next(prompt for number, prompt in prompts if number == index)


def _placeholders(
    protocol: Protocol, problems: Sequence[Problem], shots: Sequence[Problem], index: int
) -> tuple[Prompt, tuple[int, ...]]:
    """Render the prompt of a problem with placeholders for texts; return the rows in it too."""
    known = shots or [Problem(f"shot-{row}", "", "", "") for row in range(LARGEST_SHOT_SOURCE)]
    named = [
        Problem(
            shot.id,
            f"{{question of shot {row}}}",
            f"{{answer of shot {row}}}",
            f"{{reasoning of shot {row}}}\n{MARKER} {{answer of shot {row}}}",
        )
        for row, shot in enumerate(known)
    ]
    if not protocol.shots:
        named = []
    nameless = [replace(problem, question=QUESTION) for problem in problems]
    prompt = _nth(protocol, nameless, named, index)
    if len(rows := _rows(prompt)) > protocol.shot_count:  # all rows of a small source that is away
        prompt = _nth(protocol, nameless, named[: protocol.shot_count], index)
        rows = _rows(prompt)
    return prompt, rows


def _rows(prompt: Prompt) -> tuple[int, ...]:
    flat = prompt.text or "\n".join(turn.content for turn in prompt.messages)
    return tuple(dict.fromkeys(int(row) for _, row in SHOT_NAME.findall(flat)))


def protocol_differences(first: ProtocolCard, second: ProtocolCard) -> dict[str, tuple[Any, Any]]:
    """Return the fields of two protocols that differ, except those derived from others."""
    one, other = (_fields(card) for card in (first, second))
    return {name: (value, other[name]) for name, value in one.items() if value != other[name]}


def _fields(card: ProtocolCard) -> dict[str, Any]:
    flat: dict[str, Any] = {"scorers": [*card.protocol.scorers, *card.protocol.votes]}
    for name, value in card.as_json().items():
        if name not in NAMES:
            parts = value.items() if isinstance(value, Mapping) else ()
            flat |= {f"{name}: {key}": part for key, part in parts if key != "template"} or {
                name: value
            }
    return flat


def scorer_splits(first: ScorerCard, second: ScorerCard) -> list[tuple[Quirk, str, str]]:
    """Return the quirks on which two scorers differ, with the outcome of each.

    Empty if one of them cannot run here.
    """
    if not (first.available and second.available):
        return []
    splits = {}
    for quirk in (*first.quirks, *second.quirks):
        problem = Problem.from_gold(quirk.gold)
        one, other = (
            card.scorer.judge(quirk.completion, problem).outcome.value for card in (first, second)
        )
        if one != other:
            splits[quirk.completion, quirk.gold] = quirk, one, other
    return list(splits.values())


def prompt_lines(prompt: Prompt) -> list[str]:
    """Return a prompt as lines: those of its text, or those of each message under its role."""
    if prompt.text is not None:
        return prompt.text.split("\n")
    turns = [(turn.role, turn.content) for turn in prompt.messages]
    if prompt.prefix is not None:
        turns.append(("assistant, to be continued", prompt.prefix))
    return [line for role, content in turns for line in (f"[{role}]", *content.split("\n"))]


def prompt_difference(first: ProtocolCard, second: ProtocolCard) -> list[str]:
    """Return the unified diff of two prompts of the same problem; empty if they are equal."""
    if first.example is None or second.example is None:
        return []
    one, other = prompt_lines(first.example.prompt), prompt_lines(second.example.prompt)
    names = (first.protocol.name, second.protocol.name)
    return list(unified_diff(one, other, *names, n=1, lineterm=""))
