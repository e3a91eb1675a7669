"""The adversarial completions beside the shared data, with the verdicts of real scorers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from gradeschool.problem import Problem
from tests.peers.compare import Case

# The rows whose text is too long for the file.
LONG = {"huge": "#### " + "9" * 10_000, "huge_zero": "#### 18." + "0" * 10_000}


class Shared(NamedTuple):
    """A case, and for every scorer its verdict (true, false, "EXC") and extracted string."""

    case: Case
    verdicts: dict[str, bool | str]
    extracted: dict[str, str | None]


def shared_cases(data: Path) -> list[Shared]:
    """Return the shared cases; skips the test where the file is absent."""
    path = data.parent / "specs" / "protocol_verdicts.jsonl"
    if not path.is_file():
        pytest.skip(f"no shared verdicts: {path} is absent")
    return shared_rows(path)


def shared_rows(path: Path) -> list[Shared]:
    """Return the cases of a file of shared verdicts."""
    return [_shared(json.loads(line)) for line in path.read_text("utf-8").split("\n")[:-1]]


def _shared(row: dict[str, Any]) -> Shared:
    text = LONG[row["id"]] if row["completion"] is None else row["completion"]
    assert len(text) == row["completion_len"], row["id"]
    case = Case(row["id"], text, Problem.from_gold(row["gold"]))
    return Shared(case, row["verdicts"], row["extracted"])
