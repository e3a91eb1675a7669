"""JSONL files beside a training that forget what came behind the checkpoint it goes on from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gradeschool.atomic import write_file


class RowsLog:
    """A JSONL file whose rows carry an update's number; rows behind `upto` are forgotten."""

    def __init__(self, path: Path, upto: int) -> None:
        rows = []
        if path.exists():
            for line in path.read_text(encoding="utf-8").split("\n"):
                row = _row(line)
                if row is not None and row["update"] <= upto:
                    rows.append(f"{line}\n")
        write_file(path, "".join(rows).encode())
        self.path = path

    def add(self, row: Mapping[str, Any]) -> None:
        """Append a row."""
        with self.path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(f"{json.dumps(row)}\n")


def _row(line: str) -> dict[str, Any] | None:
    """Return what a line holds, None for one that was cut off."""
    try:
        row: dict[str, Any] = json.loads(line)
        int(row["update"])
    except (ValueError, KeyError, TypeError):
        return None
    return row
