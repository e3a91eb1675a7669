"""The recipe: its stages, its figures' stages, and a small one from nothing to its report."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from gradeschool.errors import InputError, UnknownNameError
from gradeschool.models.gguf_file import TINY_FOLDER
from gradeschool.verifier.reproduce import (
    FIGURES,
    LAPTOP,
    MUON,
    PRESETS,
    TINY,
    Preset,
    Stage,
    StageError,
    figure_recipe,
    measure,
    run_stages,
    whole_recipe,
    write_report,
)
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture

SMALL = replace(
    LAPTOP, families=("comparison",), steps=(1, 1), problems=150, labelled=60, tested=12, k=2,
    temperature=0.7, n=4, base="new:0.05M", curve=(30,), seeds=(0,), pooled=(),
    generator=("--epochs", "12", "--vocabulary", "400", "--lr", "1e-2", "--batch", "8",
               "--loss-on", "solution"),
    control=(*MUON, "--epochs", "1", "--lr", "3e-3"),
)  # fmt: skip


def assert_in_order(stages: list[Stage]) -> None:
    """Every stage needs only stages before it, and reads only what they write."""
    before: set[str] = set()
    for stage in stages:
        assert set(stage.needs) <= before, stage
        assert stage.name not in before
        before.add(stage.name)


@pytest.mark.parametrize("preset", PRESETS.values(), ids=lambda preset: preset.name)
def test_each_stage_needs_only_those_before_it(preset: Preset) -> None:
    assert_in_order(whole_recipe(replace(preset, base=preset.base or "folder")))


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_has_its_stages_and_points(name: str) -> None:
    stages, points = figure_recipe(LAPTOP, name)
    assert_in_order(stages)
    assert points
    assert all("" not in stage.command for stage in stages)


def test_an_unknown_figure_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="no figure is called '8'"):
        figure_recipe(LAPTOP, "8")


def test_the_commands_are_printed_without_running(gradeschool: Command) -> None:
    ended = gradeschool("verifier", "reproduce", "--dry-run", "--seeds", 1)
    assert ended.status == 0
    assert "gradeschool verifier train --generator seed-0/generator" in ended.out
    gpu = gradeschool("verifier", "reproduce", "--preset", "gpu", "--dry-run")
    assert (gpu.status, "needs --model" in gpu.err) == (2, True)


def test_the_recipe_of_the_shipped_files_is_that_of_their_source() -> None:
    source = (TINY_FOLDER / "SOURCE.md").read_text("utf-8")
    assert [stage.command[:2] for stage in whole_recipe(TINY)[-2:]] == [("verifier", "export")] * 2
    assert "verifier reproduce --preset tiny" in source


def test_a_failed_stage_names_its_log_and_is_run_again(tmp_path: Path) -> None:
    bad = [Stage("bad", ("score", "nothing.jsonl"))]
    with pytest.raises(StageError, match=r"(?s)'bad' ended with status 2.*full output"):
        run_stages(bad, tmp_path, 1, lambda _: None)
    good = Stage("list", ("protocols", "list", "--json"), (), "out/list.json")
    run_stages([good], tmp_path, 1, lambda _: None)
    assert json.loads((tmp_path / "out" / "list.json").read_text())
    with pytest.raises(InputError, match="was run with other settings"):
        run_stages([replace(good, command=("protocols", "list"))], tmp_path, 1, lambda _: None)


@pytest.mark.slow
def test_a_small_recipe_from_nothing_to_its_report(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs torch, which make test-all installs")
    pytest.importorskip("accelerate")
    told: list[str] = []
    run_stages(whole_recipe(SMALL), tmp_path, 2, told.append)
    report = write_report(SMALL, tmp_path).read_text("utf-8")
    assert "over the majority vote" in report.splitlines()[2]
    assert "Control 1" in report and "Control 2" in report
    assert "| 30 |" in report and "| 60 |" in report
    count = len(told)
    run_stages(whole_recipe(SMALL), tmp_path, 2, told.append)
    assert len(told) == count  # nothing is run twice
    stages, points = figure_recipe(SMALL, "direct")
    run_stages(stages, tmp_path, 1, told.append)
    both = measure(tmp_path, 0, points)
    assert [point.series for point in both] == ["with steps", "answer alone"]
