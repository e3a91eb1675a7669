"""Files of runs over problems whose gold is their number."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.support.files import jsonl

PROBLEMS = 40
Write = Callable[..., Path]


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """Problems whose gold is their number."""
    rows = ({"question": f"What is {i}?", "answer": str(i)} for i in range(PROBLEMS))
    return jsonl(tmp_path / "problems.jsonl", rows)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file of completions: right where `rights` says so."""

    def written(name: str, rights: Sequence[bool], ids: Sequence[int] = (), **more: str) -> Path:
        rows = (
            {
                "index": index,
                "completion": f"The answer is {index if right else index + 1}.",
                **more,
            }
            for index, right in zip(ids or range(len(rights)), rights, strict=True)
        )
        return jsonl(tmp_path / f"{name}.jsonl", rows)

    return written


def rights(*wrong: int) -> list[bool]:
    return [index not in wrong for index in range(PROBLEMS)]


@pytest.fixture
def failed(write: Write, tmp_path: Path) -> tuple[Path, Path]:
    """Two runs, the second without a completion of problem 3."""
    a, b = write("a", rights(1)), tmp_path / "b.jsonl"
    lines = write("b", rights(1)).read_text().splitlines()
    lines[3] = json.dumps({"index": 3, "error": "http 500: overloaded"})
    b.write_text("\n".join(lines) + "\n")
    return a, b
