"""Collects everything known about a protocol or a scorer, for people and programs."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from gradeschool.completion import Prompt
from gradeschool.problem import Problem
from gradeschool.prompts.rendering import prompt_bytes, prompt_json
from gradeschool.prompts.shape import PromptShape, shape
from gradeschool.protocol import Protocol
from gradeschool.protocols.registry import all_protocols, all_votes, available, get_scorer, packages
from gradeschool.scorer import Scorer
from gradeschool.vote import Vote

SCORER_NAME = re.compile(r"[a-z][^ `]*")
LINK = re.compile(r"https?://[^\s)>\]`|]+")
COLUMNS = 5  # scorer, completion, gold, the scorer's verdict, what the example shows
LINE_BREAK = "⏎"


class Quirk(NamedTuple):
    """A completion where a scorer differs from a careful reader; `says` is its outcome."""

    scorer: str
    completion: str
    gold: str
    says: str
    shows: str


def package_of(name: str) -> ModuleType:
    """Return the package that contains the protocol or scorer of that name."""
    return next(
        package
        for package in packages()
        if any(entry.name == name for entry in (*package.PROTOCOLS, *package.SCORERS))
    )


@cache
def source_text(package: ModuleType) -> str:
    """Return the text of a package's SOURCE.md, "" if there is none."""
    path = Path(package.__file__ or "").parent / "SOURCE.md"
    return path.read_text("utf-8") if path.is_file() else ""


def links(package: ModuleType) -> tuple[str, ...]:
    """Return the links of a package's SOURCE.md, each once."""
    every = (link.rstrip(".,;:") for link in LINK.findall(source_text(package)))
    return tuple(dict.fromkeys(every))


def quirks(package: ModuleType) -> tuple[Quirk, ...]:
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
def links_of(function: object) -> tuple[str, ...]:
    """Return the links, mostly permalinks, in the module that defines a function."""
    module = sys.modules.get(getattr(function, "__module__", ""))
    path = Path((module and module.__file__) or "")
    every = LINK.findall(path.read_text("utf-8")) if path.is_file() else []
    return tuple(dict.fromkeys(link.rstrip(".,;:") for link in every))


# Two problems show whether examples are drawn anew for each.
COMPARED = 3


@dataclass(frozen=True, slots=True)
class PromptExample:
    """The exact prompt of one problem, and the SHA-256 of its bytes (`prompt_bytes`)."""

    dataset: str
    problem: Problem
    prompt: Prompt
    sha256: str


@dataclass(frozen=True, slots=True)
class ProtocolCard:
    """A protocol: its prompts, decoding, scorers and sources.

    redrawn: whether another problem of the same dataset gets other examples. example: None if no
    problem was given.
    """

    protocol: Protocol
    digest: str
    shape: PromptShape
    redrawn: bool
    scorers: tuple[ScorerCard, ...]
    votes: tuple[Vote, ...]
    links: tuple[str, ...]
    example: PromptExample | None


@dataclass(frozen=True, slots=True)
class ScorerCard:
    """A scorer, its protocols, and examples of how it differs from a careful reader."""

    scorer: Scorer
    protocols: tuple[str, ...]
    quirks: tuple[Quirk, ...]
    links: tuple[str, ...]
    available: bool


def scorer_card(name: str) -> ScorerCard:
    """Return the card of a scorer; UnknownNameError lists similar names."""
    scorer, package = get_scorer(name), package_of(name)
    users = [protocol.name for protocol in all_protocols().values() if name in protocol.scorers]
    return ScorerCard(
        scorer=scorer,
        # The protocol that the scorer is named after comes first.
        protocols=tuple(sorted(users, key=lambda user: not name.startswith(f"{user}/"))),
        quirks=tuple(quirk for quirk in quirks(package) if quirk.scorer == name),
        links=tuple(dict.fromkeys((*links_of(scorer.extract), *links(package)))),
        available=available(scorer),
    )


def protocol_card(
    protocol: Protocol,
    problems: Sequence[Problem] = (),
    shots: Sequence[Problem] = (),
    index: int = 0,
    dataset: str = "",
) -> ProtocolCard:
    """Return the card of a protocol, with the prompt of `problems[index]` if there are problems."""
    rendered = problems or [Problem(str(number), "", "", "") for number in range(COMPARED)]
    parts = shape(protocol, rendered, shots, index)
    other = shape(protocol, rendered, shots, (index + 1) % len(rendered))
    package = package_of(protocol.name)
    return ProtocolCard(
        protocol=protocol,
        digest=protocol.digest(),
        shape=parts,
        redrawn=parts.rows != other.rows,
        scorers=tuple(scorer_card(name) for name in protocol.scorers),
        votes=tuple(all_votes()[name] for name in protocol.votes),
        links=tuple(dict.fromkeys((*links_of(protocol.render), *links(package)))),
        example=_example(protocol, problems, shots, index, dataset) if problems else None,
    )


def _example(
    protocol: Protocol,
    problems: Sequence[Problem],
    shots: Sequence[Problem],
    index: int,
    dataset: str,
) -> PromptExample:
    prompts = enumerate(protocol.render(problems, shots))
    prompt = next(prompt for number, prompt in prompts if number == index)
    digest = hashlib.sha256(prompt_bytes(prompt)).hexdigest()
    return PromptExample(dataset, problems[index], prompt, digest)


def scorer_json(card: ScorerCard) -> dict[str, Any]:
    """Return a scorer's card as JSON values."""
    return {
        "kind": "scorer",
        "name": card.scorer.name,
        "summary": card.scorer.summary,
        "source": card.scorer.source,
        "links": list(card.links),
        "extra": card.scorer.extra or None,
        "available": card.available,
        "protocols": list(card.protocols),
        "quirks": [quirk._asdict() for quirk in card.quirks],
    }


def vote_json(vote: Vote) -> dict[str, Any]:
    """Return a vote as JSON values."""
    return {
        "kind": "vote",
        "name": vote.name,
        "summary": vote.summary,
        "source": vote.source,
        "links": list(links_of(vote.ballot)),
        "voters": vote.voters,
        "protocols": [
            protocol.name for protocol in all_protocols().values() if vote.name in protocol.votes
        ],
    }


def protocol_json(card: ProtocolCard) -> dict[str, Any]:
    """Return a protocol's card as JSON values."""
    protocol, parts = card.protocol, card.shape
    return {
        "kind": "protocol",
        "name": protocol.name,
        "digest": card.digest,
        "summary": protocol.summary,
        "source": protocol.source,
        "links": list(card.links),
        "form": "chat" if protocol.is_chat else "completion",
        "dataset": protocol.dataset,
        "prompt": {
            "system": parts.system,
            "opening": parts.opening,
            "shot": parts.shot,
            "joiner": parts.joiner,
            "question": parts.question,
            "prefix": parts.prefix,
            "template": prompt_json(parts.template),
        },
        "shots": {
            "source": protocol.shots or None,
            "count": protocol.shot_count,
            "place": parts.place or None,
            "rows": list(parts.rows),
            "drawn_for_each_problem": card.redrawn,
        },
        "decoding": {**asdict(protocol.decoding), "stop": list(protocol.decoding.stop)},
        "samples": protocol.samples,
        "scorers": [scorer_json(scorer) for scorer in card.scorers],
        "votes": [vote_json(vote) for vote in card.votes],
        "example": _example_json(card.example),
    }


def _example_json(example: PromptExample | None) -> dict[str, Any] | None:
    if example is None:
        return None
    return {
        "dataset": example.dataset,
        "problem": example.problem.id,
        "gold": example.problem.gold,
        **prompt_json(example.prompt),
        "sha256": example.sha256,
    }
