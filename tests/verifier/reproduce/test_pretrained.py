"""`reproduce --preset pretrained`: from a model's folder to the report, with LoRA."""

from __future__ import annotations

import json
from contextlib import chdir
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("matplotlib")

from gradeschool.verifier.finetune import Finetuning, finetune
from gradeschool.verifier.reproduce import presets
from gradeschool.verifier.reproduce.findings import CONTROL_LOGPROB, findings, read_seed
from gradeschool.verifier.reproduce.presets import PRETRAINED, stages_of
from gradeschool.verifier.session import Session
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.micro import run_here


@pytest.mark.slow
def test_the_recipe_runs_from_a_pretrained_model_to_its_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("peft")
    from gradeschool.datasets.fresh import fresh_problems
    from gradeschool.datasets.fresh.generate import row
    from gradeschool.reports.reproduction import write_report

    monkeypatch.delitem(presets.SPLITS, "held-out")
    problems = fresh_problems(9, 150, steps=(1, 1), families=("comparison",))
    (tmp_path / "base.jsonl").write_text("".join(map(row, problems)))
    base = Finetuning(
        "new:0.05M", str(tmp_path / "base.jsonl"), epochs=16.0, vocabulary=400, lr=1e-2, batch=8
    )
    finetune(base, Session(tmp_path / "base"))
    preset = replace(
        PRETRAINED, model=str(tmp_path / "base"), families=("comparison",), steps=(1, 1),
        problems=40, labelled=24, tested=(8,), k=8, n=4, replay=False,
        generator=("--epochs", "1", "--lora", "4"), control=("--epochs", "1", "--lora", "4"),
        verifier=("--level", "token", "--lora", "4", "--head-lr", "1e-2"),
    )  # fmt: skip
    with chdir(tmp_path):
        for stage in stages_of(preset):
            run_here(stage)
    seeds = [read_seed(tmp_path, 0, "test")]
    results = findings(seeds)
    names = {strategy.name for strategy in results.strategies}
    assert {"generator", "control", "majority", "best", "weighted", "logprob", "mean",
            CONTROL_LOGPROB} <= names  # fmt: skip
    text = write_report(tmp_path, preset, {"test": results}, {}).read_text()
    assert "the pretrained 'base'" in text
    assert "the verifier on top of the control" in text
    second = json.loads((tmp_path / "results" / "test-second-0.json").read_text())
    assert set(second["baselines"]) and second["problems"] == 8
    for name in ("generator", "control", "verifier", "verifier-second"):
        assert (tmp_path / "seed-0" / name / "adapter" / "adapter_config.json").is_file()


def test_the_preset_tests_on_one_split_alone() -> None:
    commands = [" ".join(stage.command) for stage in stages_of(replace(PRETRAINED, model="m"))]
    assert PRETRAINED.splits == ("test",)
    assert not any("held-out" in command or "test-structures" in command for command in commands)


def test_the_preset_needs_a_model_and_others_take_none(gradeschool: Command) -> None:
    for words, message in (
        (("--preset", "pretrained"), "--preset pretrained needs --model"),
        (("--preset", "tiny", "--model", "x"), "--preset tiny takes no --model"),
        (("--preset", "pretrained", "--model", "x"), "'x' contains no model"),
    ):
        ended = gradeschool("reproduce", *words, "--dry-run")
        assert (ended.status, message in ended.err) == (2, True), ended
