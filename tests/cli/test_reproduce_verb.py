"""Check which commands `gradeschool reproduce` prints, and which packages it misses first."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture


def test_reproduce_lists_its_commands(gradeschool: Command) -> None:
    plain = gradeschool("reproduce", "--preset", "laptop", "--dry-run")
    commands = gradeschool("reproduce", "--preset", "laptop", "--dry-run", "--json").json()
    assert commands["commands"] == plain.out.splitlines()
    assert all(line.startswith("gradeschool ") for line in commands["commands"])


def test_the_stages_of_a_figure_are_printed(gradeschool: Command) -> None:
    ended = gradeschool("reproduce", "--figure", "5b", "--figure", "5a", "--dry-run")
    assert ended.status == 0, ended.err
    assert ended.out.count("verifier train") == 9  # three epochs; joint at token level is shared
    assert ended.out.count("--objective verification") == 3
    assert gradeschool("reproduce", "--figure", "9").status == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "preset", "extra"),
    [("torch", "laptop", "train"), ("matplotlib", "laptop", "report"),
     ("gguf", "tiny", "llama-cpp")],
)  # fmt: skip
def test_what_the_last_stage_needs_is_missed_before_the_first(
    module: str, preset: str, extra: str, tmp_path: Path, gradeschool: Command,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    pytest.importorskip("torch", reason="needs torch, which make test-all installs")
    monkeypatch.setitem(sys.modules, module, None)
    ended = gradeschool("reproduce", "--preset", preset, "-o", tmp_path / "all")
    assert ended.status == 2
    assert f"pip install 'gradeschool[{extra}]'" in ended.err
    assert not list(tmp_path.iterdir())
