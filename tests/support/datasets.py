"""Datasets that tests load."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gradeschool.datasets import load
from gradeschool.datasets.load import SOURCES


@pytest.fixture(autouse=True)
def forget_loaded() -> Iterator[None]:
    """Let no test see what another one loaded."""
    load._load_source.cache_clear()
    yield
    load._load_source.cache_clear()


@pytest.fixture
def own_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Twelve rows of our own in place of ProcessBench's."""
    rows = [
        {
            "id": f"own-{index}",
            "generator": "model-a" if index % 2 else "model-b",
            "problem": f"Tom has {index} apples and buys 2. How many?",
            "steps": [f"He has {index}+2.", f"That is {index + 2 + index % 3}."],
            "label": 1 if index % 3 else -1,
        }
        for index in range(12)
    ]
    body = json.dumps(rows).encode()
    source = SOURCES["processbench"]
    file = tmp_path / "data" / source.path
    file.parent.mkdir(parents=True)
    file.write_bytes(body)
    digest = hashlib.sha256(body).hexdigest()
    monkeypatch.setitem(SOURCES, "processbench", replace(source, sha256=digest, rows=12))
    monkeypatch.setenv("GRADESCHOOL_DATA", str(tmp_path / "data"))
    return rows
