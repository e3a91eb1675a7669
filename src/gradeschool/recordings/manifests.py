"""What the run.json beside a file of completions says of it."""

from __future__ import annotations

import json
from pathlib import Path

from gradeschool.recordings.files import MANIFEST_FILE


def dataset_of(path: Path) -> str | None:
    """Return the dataset of a run folder (or of a file in one), None where nothing says it."""
    try:
        manifest = (path if path.is_dir() else path.parent) / MANIFEST_FILE
        fields = json.loads(manifest.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    dataset = fields.get("dataset") if isinstance(fields, dict) else None
    name = dataset.get("name") if isinstance(dataset, dict) else None
    return name if isinstance(name, str) else None
