"""Files for those who work on the project: what they name exists, and what they show works."""

import importlib
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

import gradeschool
from gradeschool import protocols
from tests.peers.golden import rows_of
from tests.peers.views import View, view

ROOT = Path(__file__).parents[1]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
SHOWN_FILE = re.compile(r"^`([\w/.]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_protocol_of_the_guide_works_as_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files that CONTRIBUTING.md shows, written down: every golden case has its verdict."""
    files = dict(SHOWN_FILE.findall(GUIDE))
    assert len(files) == 4
    for name, text in files.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    subprocess.run([sys.executable, "riddles_golden.py"], cwd=tmp_path, check=True, timeout=60)
    folder = tmp_path / "src" / "gradeschool" / "protocols"
    monkeypatch.setattr(protocols, "__path__", [*protocols.__path__, str(folder)])
    with patch.dict(sys.modules):  # nothing of it stays for other tests
        package: Any = importlib.import_module("gradeschool.protocols.riddles")
    (scorer,), (protocol,) = package.SCORERS, package.PROTOCOLS
    assert protocol.scorers == (scorer.name,)
    assert "Probe question" in protocol.example_prompt().messages[0].content
    rows = rows_of(folder / "riddles" / "golden.jsonl")
    assert len(rows) >= 10
    for row in rows:
        problem = gradeschool.Problem.from_gold(row["gold"])
        expected = View(row["verdicts"][scorer.name], row["read"][scorer.name])
        assert view(scorer, row["completion"], problem) == expected, row["id"]


def test_the_citation_names_this_version() -> None:
    assert f"\nversion: {gradeschool.__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
