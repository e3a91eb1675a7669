"""Check `gradeschool verifier bench` on files of scores, critics and the built-in verifier."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gradeschool.datasets.step_labels import load_step_labels
from gradeschool.errors import InputError
from gradeschool.verifier.step_bench import critic_predictions
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.fixtures import SERVER_NEEDS, skip_without
from tests.support.processbench_rows import own_rows as own_rows  # a fixture


def test_the_command_scores_files_and_critics(
    own_rows: list[dict[str, Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    gradeschool: Command,
) -> None:
    monkeypatch.chdir(tmp_path)
    scores = Path("scores.jsonl")
    lines = [
        {"id": fields["id"], "scores": [0.9, 0.2 if fields["label"] == 1 else 0.8]}
        for fields in own_rows
    ]
    scores.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    run = Path("critic")
    run.mkdir()
    (run / "run.json").write_text(json.dumps({"schema": 1, "dataset": {"name": "processbench"}}))
    bench = ["verifier", "bench", "processbench"]
    ended = gradeschool(*bench, "--predictions", scores, "-o", "out.jsonl", "--json")
    assert ended.status == 0, ended
    result = ended.json()
    assert (result["solutions"], result["problems"]) == (12, 12)
    [scorer] = result["scorers"]
    assert scorer["f1"] == 1.0
    assert set(scorer["generators"]) == {"model-a", "model-b"}
    assert len(Path("out.jsonl").read_text().splitlines()) == 12
    again = gradeschool(*bench, "--predictions", scores, "-o", "out.jsonl")
    assert (again.status, "exists" in again.err) == (2, True)
    without = gradeschool(*bench)
    assert (without.status, "no scorer is given" in without.err) == (2, True)
    with pytest.raises(InputError, match="contains no critique"):
        critic_predictions(run, load_step_labels())
    with pytest.raises(InputError, match="not a run on the dataset 'processbench'"):
        critic_predictions(tmp_path, load_step_labels())
    shown = gradeschool(*bench, "--predictions", scores).out
    assert "100.00 %" in shown
    assert "SHA-256 of the problem" in shown


def test_the_built_in_verifier_is_measured(
    own_rows: list[dict[str, Any]], gradeschool: Command
) -> None:
    skip_without((*SERVER_NEEDS, "gguf"), "the built-in verifier")
    arguments = ["bench", "processbench", "--verifier", "tiny", "--logprob", "tiny", "--json"]
    [verifier, logprob] = gradeschool("verifier", *arguments).json()["scorers"]
    assert verifier["name"].startswith("tiny-verifier@")
    assert logprob["name"].startswith("log-probability tiny-generator@")
    assert sum(bucket["completions"] for bucket in verifier["calibration"]) == 24
    assert len(own_rows) == 12
