"""Comparing our scorers with the harnesses themselves, completion by completion."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from gradeschool.problem import Problem
from gradeschool.protocols.registry import get_scorer
from gradeschool.scorer import call_at_once
from tests.peers.views import missing_extra, peer_view, view

# What was compared, by kind, in this run: the closing lines of the tests print it.
COMPARED: Counter[str] = Counter()
NUMBER = re.compile(r"-?[0-9][0-9,]*(\.[0-9]+)?")
SHOWN = 12  # differences that a failing test prints
# One completion in so many is compared: 1 at night. Of scorers that call a library, one in ten of
# these, for some harnesses fork a process for each.
EVERY = int(os.environ.get("GRADESCHOOL_EVERY") or 40)
LIBRARY_EVERY = 10 * min(EVERY, 16)
LONGEST = 1000  # characters of a reading that a library's scorer hands back


class Case(NamedTuple):
    """A completion and the problem that it answers; `name` tells people which one it is."""

    name: str
    completion: str
    problem: Problem


class Asked(Protocol):
    """What answers requests: a harness in its environment, or published definitions."""

    name: str

    def ask(self, requests: Iterable[dict[str, Any]]) -> Iterator[Any]:
        """Yield the answers in the order of the requests."""
        ...


@cache
def all_recorded(data: Path) -> tuple[Case, ...]:
    """Return the recorded completions of real models: 36,992 rows."""
    solutions = (data / "gsm8k" / "test.jsonl").read_text("utf-8").split("\n")[:-1]
    problems = [
        Problem.from_row(str(number), row["question"], row["answer"])
        for number, row in enumerate(map(json.loads, solutions))
    ]
    cases = []
    for path in sorted((data / "completions").glob("*.jsonl")):
        for number, line in enumerate(path.read_text("utf-8").split("\n")[:-1]):
            row = json.loads(line)
            name = f"{path.name}, line {number}"
            cases.append(Case(name, row["completion"], problems[row["index"]]))
    assert len(cases) == 36_992
    return tuple(cases)


ENGLISH = re.compile(r"####|The answer is|[Aa]nswer:?")
LOCAL_EVERY = 40  # recorded completions for each that is made local


def localised(cases: Sequence[Case], phrase: str) -> list[Case]:
    """Put a phrase of another language where completions write "####" or "answer"."""
    every = LOCAL_EVERY * (16 if EVERY > 1 else 1)
    return [
        case._replace(completion=ENGLISH.sub(phrase, case.completion)) for case in cases[::every]
    ]


def with_number_golds(cases: Sequence[Case]) -> list[Case]:
    """Keep the cases whose gold is a number as data writes it.

    Scorers that take "nothing found" for a value of its own find it in odd golds too, and then call
    a completion without any answer correct; ours say that there is none.
    """
    return [case for case in cases if NUMBER.fullmatch(case.problem.gold)]


def request(completion: str, problem: Problem, scorers: Sequence[str]) -> dict[str, Any]:
    """Return what a peer is asked of a completion."""
    return {
        "completion": completion,
        "gold": problem.gold,
        "solution": problem.solution,
        "scorers": list(scorers),
    }


def differences(
    peer: Asked, cases: Sequence[Case], scorers: Sequence[str] | Mapping[str, str], what: str
) -> list[str]:
    """Return a line for every verdict or extracted string in which a scorer and its peer differ.

    scorers: names, or the peer's names with ours. what: under which the comparison is counted.
    """
    named = scorers if isinstance(scorers, Mapping) else dict(zip(scorers, scorers, strict=True))
    pairs = [(theirs, get_scorer(ours)) for theirs, ours in named.items()]
    pairs = [(theirs, scorer) for theirs, scorer in pairs if not missing_extra(scorer)]
    asked = [request(case.completion, case.problem, [name for name, _ in pairs]) for case in cases]
    views = {
        name: call_at_once(view, [(scorer, case.completion, case.problem) for case in cases])
        if scorer.extra
        else [view(scorer, case.completion, case.problem) for case in cases]
        for name, scorer in pairs
    }
    lines = []
    for number, (case, answers) in enumerate(zip(cases, peer.ask(asked), strict=True)):
        for name, scorer in pairs:
            theirs, ours = peer_view(scorer.name, answers[name]), views[name][number]
            if scorer.extra and theirs.read is not None:
                theirs = theirs._replace(read=theirs.read[:LONGEST])
            if theirs != ours:
                text, gold = case.completion[-300:], case.problem.gold
                lines.append(
                    f"{scorer.name}: ours {ours}, theirs {theirs}: {case.name}, {gold!r}, {text!r}"
                )
    COMPARED[f"{what}: verdicts of {peer.name}"] += len(cases) * len(pairs)
    return lines


def assert_none(differences: Sequence[str]) -> None:
    """Fail with the first differences where there are any."""
    lines = [f"{len(differences)} differences:", *differences[:SHOWN]]
    assert not differences, "\n".join(lines)
