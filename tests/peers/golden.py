"""Golden cases: completions with the verdicts that real harnesses gave them, one file a package.

A row of `golden.jsonl`: {"id", "completion" or "parts", "gold", "verdicts": {scorer: true, false or
"error"}, "read": {scorer: extracted string or null}, "source": how the verdicts were got}. A scorer
that "read" does not name is held to its verdict alone. A text too long for the file is given as
"parts": [[text, how often], ...].
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.problem import Problem

REPOSITORY = Path(__file__).resolve().parents[2]
# Of the sources, not of the installed package: wheels do not hold golden files.
PACKAGES = REPOSITORY / "src" / "gradeschool" / "protocols"
NAME = "golden.jsonl"
LONGEST = 2_000  # characters of a "completion"; longer ones are "parts"
LONGEST_READ = 100  # characters of an extracted string; longer ones are left out


class Golden(NamedTuple):
    """A golden case of a package; verdicts and read by the name of the scorer."""

    package: str
    id: str
    completion: str
    problem: Problem
    verdicts: dict[str, bool | str]
    read: dict[str, str | None]
    source: str


def package_folders() -> dict[str, Path]:
    """Return the packages of this repository by name."""
    return {path.parent.name: path.parent for path in sorted(PACKAGES.glob("*/SOURCE.md"))}


def rows_of(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a golden file; none where it is absent."""
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def text_of(row: dict[str, Any]) -> str:
    """Return the completion of a row."""
    if "completion" in row:
        return str(row["completion"])
    return "".join(text * times for text, times in row["parts"])


def golden_cases() -> list[Golden]:
    """Return the cases of all packages."""
    return [
        Golden(
            package,
            row["id"],
            text_of(row),
            Problem.from_gold(row["gold"]),
            row["verdicts"],
            row.get("read", {}),
            row["source"],
        )
        for package, folder in package_folders().items()
        for row in rows_of(folder / NAME)
    ]
