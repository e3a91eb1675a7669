"""Write small sample files."""

import json
from collections.abc import Iterable
from pathlib import Path


def jsonl(path: Path, rows: Iterable[object]) -> Path:
    """Write rows as lines of JSON; return the path."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
