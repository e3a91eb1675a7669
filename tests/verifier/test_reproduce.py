"""The recipe: its stages, its figures' stages, and a small one from nothing to its report."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from gradeschool.errors import GradeschoolError, InputError, UnknownNameError
from gradeschool.models.llama_cpp import TINY_FOLDER
from gradeschool.reports.verifiers import write_figure, write_report
from gradeschool.verifier.reproduce import (
    FIGURES,
    LAPTOP,
    PRESETS,
    SOLUTIONS,
    TINY,
    Preset,
    Stages,
    figure_recipe,
    find_needs,
    run_stages,
    stage_codes,
    whole_recipe,
)
from tests.support.command import Command

SMALL = replace(
    LAPTOP, families=("comparison",), steps=(1, 1), problems=100, labelled=40, tested=8, k=2,
    temperature=0.7, n=8, base="new:0.05M", curve=(), seeds=(0,),
    generator={"epochs": 30, "vocabulary": 300, "lr": 1e-2, "batch": 8, **SOLUTIONS},
)  # fmt: skip


def assert_in_order(stages: Stages) -> None:
    """Every path that a stage reads is written by a stage before it."""
    before: set[str] = set()
    for output, command in stages.items():
        read = {word.removeprefix("transformers/") for word in command[:-1]}
        paths = {word for word in read if word.startswith(("problems/", "seed-"))}
        assert paths == set(find_needs(command, stages)) <= before, command
        assert command[-1] == output
        before.add(output)


@pytest.mark.parametrize("preset", PRESETS.values(), ids=lambda preset: preset.name)
def test_each_stage_needs_only_those_before_it(preset: Preset) -> None:
    assert_in_order(whole_recipe(replace(preset, base=preset.base or "folder")))


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_has_its_stages_and_points(name: str) -> None:
    stages, points = figure_recipe(LAPTOP, name)
    assert_in_order(stages)
    assert {point.run for point in points} | {point.scores for point in points} - {""} <= set(
        stages
    )
    # In the folder of the whole recipe, it finds the stages of the same names finished.
    codes, whole = stage_codes(stages), stage_codes(whole_recipe(LAPTOP))
    assert {output: whole.get(output, code) for output, code in codes.items()} == codes


def test_an_unknown_figure_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="no figure is called '9'"):
        figure_recipe(LAPTOP, "9")


def test_the_commands_are_printed_without_running(gradeschool: Command) -> None:
    ended = gradeschool.done("verifier", "reproduce", "--dry-run", "--seeds", 1)
    assert "gradeschool verifier train --generator seed-0/generator" in ended.out
    said = gradeschool.refused("verifier", "reproduce", "--preset", "gpu", "--dry-run")
    assert "needs --model" in said
    gpu = whole_recipe(replace(PRESETS["gpu"], base="folder"))  # not as small as pretrained
    assert "--samples 4" in " ".join(gpu["seed-0/samples"])


def test_the_recipe_of_the_shipped_files_is_that_of_their_source() -> None:
    source = (TINY_FOLDER / "SOURCE.md").read_text("utf-8")
    assert list(whole_recipe(TINY))[-2:] == ["seed-0/generator.gguf", "seed-0/verifier.gguf"]
    assert "verifier reproduce --preset tiny" in source


@pytest.mark.slow
def test_a_failed_stage_names_its_log_and_is_run_again(tmp_path: Path) -> None:
    bad: Stages = {"bad": ("score", "nothing.jsonl", ">", "bad")}
    with pytest.raises(GradeschoolError, match=r"(?s)'bad' ended with status 2.*full output"):
        run_stages(bad, tmp_path, 1, lambda _: None)
    good: Stages = {"out/list.json": ("protocols", "list", "--json", ">", "out/list.json")}
    run_stages(good, tmp_path, 1, lambda _: None)
    assert json.loads((tmp_path / "out" / "list.json").read_text())
    problems: Stages = {"p.jsonl": ("data", "generate", "--limit", "2", "-o", "p.jsonl")}
    (tmp_path / "p.jsonl").write_text("a recipe that was killed left it\n")
    run_stages(problems, tmp_path, 1, lambda _: None)
    assert len((tmp_path / "p.jsonl").read_text().splitlines()) == 2
    changed: Stages = {"out/list.json": ("protocols", "list", ">", "out/list.json")}
    with pytest.raises(InputError, match="was run with other settings"):
        run_stages(changed, tmp_path, 1, lambda _: None)


@pytest.mark.slow
def test_a_small_recipe_from_nothing_to_its_report(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="needs torch, which make test-all installs")
    pytest.importorskip("accelerate")
    told: list[str] = []
    run_stages(whole_recipe(SMALL), tmp_path, 2, told.append)
    report = write_report(SMALL, tmp_path).read_text("utf-8")
    assert "over the majority vote" in report.splitlines()[2]
    assert "Control 1 with a majority vote of 8" in report and "Control 2" in report
    assert "| 40 |" in report
    count = len(told)
    run_stages(whole_recipe(SMALL), tmp_path, 2, told.append)
    assert len(told) == count  # nothing is run twice
    for name in ("7a", "7b"):
        _, points = figure_recipe(SMALL, name)
        assert len(write_figure(tmp_path, name, points)) > 4
        assert (tmp_path / "figures" / f"{name}.svg").stat().st_size > 5000
