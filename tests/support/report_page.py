"""Files of completions, a run folder, and the HTML page of a report."""

import base64
import gzip
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import Command


def report(gradeschool: Command, path: Path, *arguments: object) -> str:
    result = gradeschool("report", *arguments, "-o", path)
    assert result.status == 0, result.err
    return path.read_text(encoding="utf-8")


def rows(path: Path, row_fields: Sequence[object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in row_fields))
    return path


def written(path: Path, *row_fields: dict[str, Any]) -> Path:
    return rows(path, row_fields)


@pytest.fixture
def run_folder(gradeschool: Command, tmp_path: Path) -> Path:
    """A run of the shipped completions on the shipped problems."""
    folder = tmp_path / "run"
    result = gradeschool(
        "eval", "-m", "recorded/sample#handwritten/chat", "-d", "sample", "-o", folder
    )
    assert result.status == 0, result.err
    return folder


def blocks(page: str) -> dict[str, Any]:
    """Return the data of a page, unpacked."""
    matches = re.findall(
        r'<script type="application/gzip-base64" id="([^"]+)">([^<]*)</script>', page
    )
    return {id: json.loads(gzip.decompress(base64.b64decode(body))) for id, body in matches}
