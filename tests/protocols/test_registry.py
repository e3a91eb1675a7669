"""Names of protocols, scorers and votes: found in the package that they begin with, or in any."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gradeschool.errors import UnknownNameError
from gradeschool.protocols.registry import (
    all_protocols,
    all_scorers,
    all_votes,
    get_protocol,
    get_scorer,
    get_vote,
)
from tests.support.command import run_script


def test_a_name_is_the_same_object_however_it_is_found() -> None:
    for name, protocol in all_protocols().items():
        assert get_protocol(name) is protocol
    for name, scorer in all_scorers().items():
        assert get_scorer(name) is scorer
    for name, vote in all_votes().items():
        assert get_vote(name) is vote


def test_one_protocol_and_its_scorers_read_no_other_package() -> None:
    code = (
        "import sys; from gradeschool.protocols.registry import get_protocol, get_scorer; "
        "scorers = get_protocol('zero-shot/chat').scorers; [get_scorer(name) for name in scorers]; "
        "print(*(name.split('.')[2] for name in sys.modules"
        " if name.startswith('gradeschool.protocols.')))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    )
    assert set(result.stdout.split()) == {"registry", "zero_shot", "gradeschool"}


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


@pytest.mark.parametrize("name", ["lm-eval/no", "registry/x", "../registry", "", "no-such/package"])
def test_a_name_of_nothing_is_an_error(name: str) -> None:
    for get in (get_protocol, get_scorer, get_vote):
        with pytest.raises(UnknownNameError):
            get(name)
