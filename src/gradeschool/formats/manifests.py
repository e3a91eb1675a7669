"""What the run.json beside a file of completions says of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gradeschool.formats.read import MANIFEST_FILE


def dataset_of(path: Path) -> str | None:
    """Return the dataset of a run folder (or of a file in one), None where nothing says it."""
    dataset = _manifest(path).get("dataset")
    name = dataset.get("name") if isinstance(dataset, dict) else None
    return name if isinstance(name, str) else None


def scorer_of(path: Path) -> str | None:
    """Return the scorer that a run folder's protocol scores by, None where nothing says it."""
    protocol = _manifest(path).get("protocol")
    scorers = protocol.get("scorers") if isinstance(protocol, dict) else None
    name = scorers[0] if isinstance(scorers, list) and scorers else None
    return name if isinstance(name, str) else None


def _manifest(path: Path) -> dict[str, Any]:
    try:
        manifest = (path if path.is_dir() else path.parent) / MANIFEST_FILE
        fields = json.loads(manifest.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return fields if isinstance(fields, dict) else {}
