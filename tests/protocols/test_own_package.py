"""An installed package brings protocols and scorers, without touching a file of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command import run_script

MODULE = """
from gradeschool.completion import Decoding
from gradeschool.prompts import Template
from gradeschool.protocol import Protocol
from gradeschool import get_scorer
from dataclasses import replace

SCORERS = (replace(get_scorer("openai/2021"), name="outside/marker"),)
PROTOCOLS = (
    Protocol(
        name="outside/short", summary="a question and no more", source="outside.py",
        render=Template(question="Q: {question} A:"), decoding=Decoding(max_tokens=20),
        scorers=("outside/marker", "outside-last"),
    ),
)

def last(completion, gold):
    return completion.split()[-1] if completion.split() else None
"""
ENTRIES = """
[gradeschool.protocols]
outside = outside
[gradeschool.scorers]
outside-last = outside:last
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with the package as pip installs it."""
    (tmp_path / "outside.py").write_text(MODULE)
    about = tmp_path / "outside-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: outside\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(ENTRIES)
    return tmp_path


def test_an_installed_package_adds_a_protocol_and_scorers(site: Path) -> None:
    run, path = site / "run", {"PYTHONPATH": str(site)}
    words = ("-m", "tiny", "-p", "outside/short", "-d", "sample", "-n", 2, "-o", run, "--quiet")
    ended = run_script("eval", *words, "--json", **path)
    assert ended.status == 0, ended.err
    assert list(ended.json()["runs"][0]["scorers"]) == ["outside/marker", "outside-last"]
    assert "outside/short" in run_script("protocols", "list", "outside", **path).out
    scored = run_script("score", run, "--scorer", "outside-last", "openai/2021", "--json", **path)
    assert list(scored.json()["runs"][0]["scorers"]) == ["outside-last", "openai/2021"]
    absent = run_script("eval", *words)
    assert (absent.status, "no protocol is called 'outside/short'" in absent.err) == (2, True)
