"""`--log`: what is logged, what is masked, and what happens when a logger fails."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from gradeschool.datasets.load import load_dataset
from gradeschool.masking import MASK, masked, register_secret
from gradeschool.reports import loggers
from gradeschool.reports.loggers import LoggedRun, log_run
from tests.support.command import Command

EVAL = ("eval", "-m", "recorded/sample#handwritten/cot", "-d", "sample", "-o", "run")


@pytest.fixture(autouse=True)
def logged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[LoggedRun]:
    """What a logger in the place of MLflow gets, from runs in an empty folder."""
    runs: list[LoggedRun] = []

    def record(run: LoggedRun) -> str:
        runs.append(run)
        return f"store of {run.name}"

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(loggers, "LOGGERS", {**loggers.LOGGERS, "mlflow": record})
    monkeypatch.setattr(loggers, "require_packages", lambda *names: None)
    return runs


def read(name: str) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(Path("run", name).read_text("utf-8"))
    return fields


def test_settings_and_results_are_logged(gradeschool: Command, logged: list[LoggedRun]) -> None:
    result = gradeschool.done(*EVAL, "-n", 30, "--max-tokens", 99, "--log", "mlflow")
    assert "mlflow log: store of run" in result.err
    [one], run, written = logged, read("run.json"), read("results.json")
    assert one.whole
    assert one.parameters["model"] == run["model"]
    assert one.parameters["protocol.digest"] == run["protocol"]["digest"]
    assert one.parameters["dataset.sha256"] == run["dataset"]["sha256"]
    assert str(one.parameters["changed"]).startswith("max tokens 99 (the protocol: ")
    for scorer, values in written["scorers"].items():
        figures = [one.results[f"{scorer}/{name}"] for name in ("accuracy", "low", "high")]
        assert figures == [values["accuracy"], *values["ci95"]]


def test_causes_of_failed_samples_are_logged(gradeschool: Command, logged: list[LoggedRun]) -> None:
    problems = load_dataset("sample").problems[:3]
    lines = [json.dumps({"question": problem.question, "completion": "4"}) for problem in problems]
    Path("cut.jsonl").write_text("\n".join(lines), "utf-8")
    model = ("eval", "-m", "recorded/cut.jsonl", "-d", "sample", "-n", 5, "-o", "run")
    assert gradeschool(*model, "--log", "mlflow", "--quiet").status == 3
    [one] = logged
    assert (one.whole, one.results["failed"]) == (False, 2)
    causes = {key: value for key, value in one.results.items() if key.startswith("errors/")}
    assert causes == {f"errors/{key}": n for key, n in read("results.json")["errors"].items()}


def test_a_resumed_run_is_the_same_run(gradeschool: Command, logged: list[LoggedRun]) -> None:
    for limit in (5, 9):
        gradeschool.done(*EVAL, "-n", limit, "--log", "mlflow", "--quiet")
    gradeschool.done(*EVAL[:-1], "two", "-n", 5, "--log", "mlflow", "--quiet")
    first, again, other = logged
    assert first.id == again.id != other.id
    assert [run.results["n"] for run in logged] == [5, 9, 5]


@pytest.mark.parametrize("error", [RuntimeError, SystemExit])
def test_a_failing_logger_does_not_fail_the_run(
    gradeschool: Command,
    logged: list[LoggedRun],
    monkeypatch: pytest.MonkeyPatch,
    error: type[BaseException],
) -> None:
    def refuse(run: LoggedRun) -> str:
        raise error("no account")

    monkeypatch.setitem(loggers.LOGGERS, "wandb", refuse)
    result = gradeschool(*EVAL, "-n", 6, "--log", "wandb", "--log", "mlflow", "--quiet")
    assert (result.status, result.err) == (0, "gradeschool: --log wandb failed: no account\n")
    assert logged[0].results["n"] == read("results.json")["n"] == 6


def test_a_missing_logger_is_refused(gradeschool: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "mlflow", None)
    result = gradeschool(*EVAL, "--log", "mlflow")
    assert result.status == 2
    assert result.err == (
        "gradeschool: --log mlflow needs an extra: pip install 'gradeschool[mlflow]'\n"
    )


def test_secrets_are_masked_before_a_logger_gets_them(
    monkeypatch: pytest.MonkeyPatch, logged: list[LoggedRun], tmp_path: Path
) -> None:
    key = "sk-logged-0123456789abcdef"
    register_secret(key)

    def refuse(run: LoggedRun) -> str:
        raise RuntimeError(f"refused: {key}")

    monkeypatch.setitem(loggers.LOGGERS, "wandb", refuse)
    monkeypatch.setattr(loggers, "manifest_of", lambda folder: {"model": f"m at {key}"})
    results = {"scorers": {key: {"accuracy": 1, "ci95": None}}, "errors": {key: 1}}
    monkeypatch.setattr(loggers, "results_of", lambda folder: results)
    messages: list[str] = []
    folder = tmp_path / f"run-{key}"
    log_run(["mlflow", "wandb"], folder, messages.append, messages.append)
    assert key not in repr(logged) and f"errors/{MASK}" in logged[0].results
    assert logged[0].parameters["model"] == f"m at {MASK}"
    assert messages == [f"mlflow log: store of run-{MASK}", f"--log wandb failed: refused: {MASK}"]
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "https://me:pass-word-of-mine@mlflow.example")
    monkeypatch.setenv("WANDB_API_KEY", "0123456789abcdef0123456789abcdef01234567")
    loggers.check_loggers(["mlflow"])
    assert masked("pass-word-of-mine 0123456789abcdef0123456789abcdef01234567") == f"{MASK} {MASK}"
