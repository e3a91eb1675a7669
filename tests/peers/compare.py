"""Comparing our scorers with a peer's peer_scorers, completion by completion."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from gradeschool.problem import Problem
from gradeschool.protocols.registry import get_scorer
from tests.peers.peer import Peer
from tests.peers.views import peer_view, view

# What was compared, by kind, in this run: the closing lines of the tests print it.
COMPARED: Counter[str] = Counter()
NUMBER = re.compile(r"-?[0-9][0-9,]*(\.[0-9]+)?")
SHOWN = 12  # differences that a failing test prints


class Case(NamedTuple):
    """A completion and the problem that it answers; `name` tells people which one it is."""

    name: str
    completion: str
    problem: Problem


def recorded(data: Path, problems: Sequence[Problem]) -> list[Case]:
    """Return the recorded completions of real models: 36,992 rows."""
    cases = []
    for path in sorted((data / "completions").glob("*.jsonl")):
        for number, line in enumerate(path.read_text("utf-8").split("\n")[:-1]):
            row = json.loads(line)
            name = f"{path.name}, line {number}"
            cases.append(Case(name, row["completion"], problems[row["index"]]))
    return cases


ENGLISH = re.compile(r"####|The answer is|[Aa]nswer:?")
LOCAL_EVERY = 40  # recorded completions for each that is made local


def localised(cases: Sequence[Case], phrase: str) -> list[Case]:
    """Put a phrase of another language where completions write "####" or "answer"."""
    return [
        case._replace(completion=ENGLISH.sub(phrase, case.completion))
        for case in cases[::LOCAL_EVERY]
    ]


def with_number_golds(cases: Sequence[Case]) -> list[Case]:
    """Keep the cases whose gold is a number as data writes it.

    Scorers that take "nothing found" for a value of its own find it in odd golds too, and then call
    a completion without any answer correct; ours say that there is none.
    """
    return [case for case in cases if NUMBER.fullmatch(case.problem.gold)]


def differences(
    peer: Peer, cases: Sequence[Case], peer_scorers: Mapping[str, str], what: str
) -> list[str]:
    """Return a line for every verdict or extracted string in which a scorer and its peer differ.

    peer_scorers: peer_scorer of the peer -> name of our scorer. what: under which the comparison is
    counted.
    """
    scorers = {peer_scorer: get_scorer(name) for peer_scorer, name in peer_scorers.items()}
    lines = []
    for case, answers in zip(cases, _answers(peer, cases, list(scorers)), strict=True):
        for peer_scorer, scorer in scorers.items():
            theirs = peer_view(scorer.name, answers[peer_scorer])
            ours = view(scorer, case.completion, case.problem)
            if theirs != ours:
                text, gold = case.completion[-300:], case.problem.gold
                lines.append(
                    f"{scorer.name}: ours {ours}, theirs {theirs}: {case.name}, {gold!r}, {text!r}"
                )
    COMPARED[f"{what}: verdicts of {peer.name}"] += len(cases) * len(scorers)
    return lines


def _answers(
    peer: Peer, cases: Sequence[Case], peer_scorers: list[str]
) -> Iterator[dict[str, list[bool | str | None]]]:
    return peer.ask(
        [
            {
                "completion": case.completion,
                "gold": case.problem.gold,
                "solution": case.problem.solution,
                "scorers": peer_scorers,
            }
            for case in cases
        ]
    )


def assert_none(differences: Sequence[str]) -> None:
    """Fail with the first differences where there are any."""
    lines = [f"{len(differences)} differences:", *differences[:SHOWN]]
    assert not differences, "\n".join(lines)
