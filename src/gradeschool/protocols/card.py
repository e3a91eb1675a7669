"""Everything that is known about a protocol or a scorer, collected for people and programs."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from gradeschool.completion import Prompt
from gradeschool.problem import Problem
from gradeschool.prompts.shape import Shape, shape
from gradeschool.protocol import Protocol
from gradeschool.protocols.prompt_json import prompt_bytes
from gradeschool.protocols.registry import all_protocols, all_votes, available, get_scorer
from gradeschool.protocols.sources import Quirk, links, links_of, quirks, room_of
from gradeschool.scorer import Scorer
from gradeschool.vote import Vote

# Problems that show whether examples are drawn anew for each.
COMPARED = 3


@dataclass(frozen=True, slots=True)
class Example:
    """The exact prompt of one problem, and the SHA-256 of its bytes (`prompt_bytes`)."""

    dataset: str
    problem: Problem
    prompt: Prompt
    sha256: str


@dataclass(frozen=True, slots=True)
class ProtocolCard:
    """A protocol: what it renders, how it decodes, what reads it, and where that is written.

    redrawn: whether another problem of the same dataset sees other examples. example: None where
    no problem was given.
    """

    protocol: Protocol
    digest: str
    shape: Shape
    redrawn: bool
    scorers: tuple[ScorerCard, ...]
    votes: tuple[Vote, ...]
    links: tuple[str, ...]
    example: Example | None


@dataclass(frozen=True, slots=True)
class ScorerCard:
    """A scorer, the protocols that it is part of, and examples of what it does unlike a reader."""

    scorer: Scorer
    protocols: tuple[str, ...]
    quirks: tuple[Quirk, ...]
    links: tuple[str, ...]
    available: bool


def scorer_card(name: str) -> ScorerCard:
    """Return the card of a scorer; UnknownNameError says which names are close."""
    scorer, room = get_scorer(name), room_of(name)
    return ScorerCard(
        scorer=scorer,
        protocols=tuple(one.name for one in all_protocols().values() if name in one.scorers),
        quirks=tuple(quirk for quirk in quirks(room) if quirk.scorer == name),
        links=tuple(dict.fromkeys((*links_of(scorer.extract), *links(room)))),
        available=available(scorer),
    )


def protocol_card(
    protocol: Protocol,
    problems: Sequence[Problem] = (),
    shots: Sequence[Problem] = (),
    at: int = 0,
    dataset: str = "",
) -> ProtocolCard:
    """Return the card of a protocol with the prompt of `problems[at]`, where problems are given."""
    asked = problems or [Problem(str(number), "", "", "") for number in range(COMPARED)]
    found = shape(protocol, asked, shots, at)
    other = shape(protocol, asked, shots, (at + 1) % len(asked))
    room = room_of(protocol.name)
    return ProtocolCard(
        protocol=protocol,
        digest=protocol.digest(),
        shape=found,
        redrawn=found.rows != other.rows,
        scorers=tuple(scorer_card(name) for name in protocol.scorers),
        votes=tuple(all_votes()[name] for name in protocol.votes),
        links=tuple(dict.fromkeys((*links_of(protocol.render), *links(room)))),
        example=_example(protocol, problems, shots, at, dataset) if problems else None,
    )


def _example(
    protocol: Protocol, problems: Sequence[Problem], shots: Sequence[Problem], at: int, dataset: str
) -> Example:
    prompts = enumerate(protocol.render(problems, shots))
    prompt = next(prompt for number, prompt in prompts if number == at)
    digest = hashlib.sha256(prompt_bytes(prompt)).hexdigest()
    return Example(dataset, problems[at], prompt, digest)
