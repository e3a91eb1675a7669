"""Cards of protocols, scorers and votes as JSON values."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from gradeschool.protocols.card import Example, ProtocolCard, ScorerCard
from gradeschool.protocols.prompt_json import prompt_json
from gradeschool.protocols.registry import all_protocols
from gradeschool.protocols.sources import links_of
from gradeschool.vote import Vote


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
        "protocols": [one.name for one in all_protocols().values() if vote.name in one.votes],
    }


def protocol_json(card: ProtocolCard) -> dict[str, Any]:
    """Return a protocol's card as JSON values."""
    protocol, found = card.protocol, card.shape
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
            "system": found.system,
            "opening": found.opening,
            "shot": found.shot,
            "joiner": found.joiner,
            "question": found.question,
            "prefix": found.prefix,
            "template": prompt_json(found.template),
        },
        "shots": {
            "source": protocol.shots or None,
            "count": protocol.shot_count,
            "place": found.place or None,
            "rows": list(found.rows),
            "drawn_for_each_problem": card.redrawn,
        },
        "decoding": {**asdict(protocol.decoding), "stop": list(protocol.decoding.stop)},
        "samples": protocol.samples,
        "scorers": [scorer_json(scorer) for scorer in card.scorers],
        "votes": [vote_json(vote) for vote in card.votes],
        "example": _example_json(card.example),
    }


def _example_json(example: Example | None) -> dict[str, Any] | None:
    if example is None:
        return None
    return {
        "dataset": example.dataset,
        "problem": example.problem.id,
        "gold": example.problem.gold,
        **prompt_json(example.prompt),
        "sha256": example.sha256,
    }
