"""What is done with the stored completions at the end of a session, or of a merge."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.formats.read import COMPLETIONS_FILE
from gradeschool.models.base import Request
from gradeschool.protocols.registry import get_usable_scorer
from gradeschool.runs.cost import Purse
from gradeschool.runs.plan import Plan
from gradeschool.runs.results import answers_file, run_of, summarise
from gradeschool.runs.store import RESULTS_FILE, RunStore
from gradeschool.scoring.at_k import AtK
from gradeschool.scoring.score import RunScore
from gradeschool.scoring.table import ScorerSet


class Scored(NamedTuple):
    """The score of what is stored, and the curve over k of its headline scorer."""

    score: RunScore
    curve: tuple[AtK, ...]


def scorers_of(plan: Plan) -> ScorerSet:
    """Return the scorers of a protocol, ready to judge; raises MissingExtraError."""
    return ScorerSet([get_usable_scorer(name) for name in plan.protocol.scorers])


def write_results(
    plan: Plan,
    name: str,
    store: RunStore,
    requests: Sequence[Request],
    scorers: ScorerSet,
    *,
    purse: Purse | None = None,
    seconds: float = 0.0,
    right: Collection[str] = (),
) -> Scored:
    """Score what is stored and write results.json and the protocol's answers file.

    name: the run's, for people. scorers: see `scorers_of`. seconds: the time of this session.
    right: keys that the headline scorer is known to find right.
    """
    run = run_of(name, requests, store.completions)
    score, curve, fields = summarise(run, scorers, requests, store.completions, right)
    fields["seconds"] = round(seconds, 3)
    if purse is not None:
        fields["cost"] = {"dollars": round(purse.spent, 6), "price": list(purse.price)}
    fields["completions_file"] = fingerprint(store.folder / COMPLETIONS_FILE)
    store.write_json(RESULTS_FILE, fields)
    if plan.protocol.answers_file:
        file, body = answers_file(plan.protocol.answers_file, name, requests, store.completions)
        store.write_whole(file, body)
    return Scored(score, tuple(curve))


def fingerprint(path: Path, size: int | None = None) -> dict[str, Any]:
    """Return the size and SHA-256 of a file, or of its first `size` bytes."""
    left = path.stat().st_size if size is None else min(size, path.stat().st_size)
    digest, read = hashlib.sha256(), 0
    with path.open("rb") as file:
        while left > read and (part := file.read(min(2**20, left - read))):
            digest.update(part)
            read += len(part)
    return {"bytes": read, "sha256": digest.hexdigest()}
