"""Fresh problems by name: `fresh:SEED`, `fresh:SEED:SPLIT`, `fresh:SEED:SPLIT:COUNT`."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from gradeschool.datasets.fresh.generate import SPLITS, fresh_problems
from gradeschool.errors import InputError
from gradeschool.problem import Problem

COUNT, MOST = 1_000, 1_000_000
NAME = re.compile(r"fresh:([0-9]{1,18})(?::([a-z-]+))?(?::([0-9]{1,7}))?")


class Fresh(NamedTuple):
    """The fresh problems that a name stands for; sha256: of their rows as JSON lines."""

    name: str
    problems: tuple[Problem, ...]
    sha256: str


@lru_cache(4)
def load_fresh(name: str) -> Fresh:
    """Return the problems of a name; `fresh:2026` are the first 1,000 of the split test.

    Raises InputError for a name of another form, UnknownNameError for a split that there is not.
    """
    found = NAME.fullmatch(name)
    if found is None:
        raise InputError(
            f"{name!r} names no fresh problems; write fresh:SEED, fresh:SEED:SPLIT or "
            f"fresh:SEED:SPLIT:COUNT (splits: {', '.join(SPLITS)})"
        )
    count = int(found[3] or COUNT)
    if not 1 <= count <= MOST:
        raise InputError(f"{name!r} asks for {count:,} problems; ask for 1 to {MOST:,}")
    problems = fresh_problems(int(found[1]), count, split=found[2] or "test")
    return Fresh(name, problems, rows_digest(problems))


def row(problem: Problem) -> str:
    """Return a problem as a line of a GSM8K file, with what it is made of."""
    fields = {"id": problem.id, "question": problem.question, "answer": problem.solution}
    return json.dumps({**fields, **problem.meta}) + "\n"


def rows_digest(problems: Iterable[Problem]) -> str:
    """Return the SHA-256 of the rows of problems."""
    digest = hashlib.sha256()
    for problem in problems:
        digest.update(row(problem).encode("ascii"))
    return digest.hexdigest()
