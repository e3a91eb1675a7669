"""Write and read small sample files."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def jsonl(path: Path, rows: Iterable[object]) -> Path:
    """Write rows as lines of JSON; return the path."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def stored_rows(run: Path) -> list[dict[str, Any]]:
    """The whole rows of a run folder, whose file may be absent, torn or in use."""
    path = run / "completions.jsonl"
    whole = path.read_bytes().rpartition(b"\n")[0] if path.exists() else b""
    return [json.loads(line) for line in whole.split(b"\n") if line]
