"""`--log`: what is logged, what is masked, and what happens when a logger fails."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gradeschool import evaluate
from gradeschool.datasets.load import load_dataset
from gradeschool.errors import InputError, MissingExtraError, UnknownNameError
from gradeschool.masking import MASK, masked, register_secret
from gradeschool.reports import loggers
from gradeschool.reports.loggers import (
    EvaluationLog,
    LoggedRun,
    Logger,
    open_jsonl,
)
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture

EVAL = ("eval", "-m", "recorded/sample#handwritten/cot", "-d", "sample", "-o", "run")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows(path: Path = Path("run/log.jsonl")) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("ascii").split("\n") if line]


def read(name: str) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(Path("run", name).read_text("utf-8"))
    return fields


def no_space(step: int, values: object, last: bool) -> None:
    raise RuntimeError(f"no space for step {step}")


def open_broken(run: LoggedRun) -> Logger:
    return open_jsonl(run)._replace(log=no_space)


def open_closed(run: LoggedRun) -> Logger:
    raise SystemExit("no account")


def test_an_evaluation_logs_settings_counts_and_score(gradeschool: Command) -> None:
    result = gradeschool(*EVAL, "-n", 30, "--max-tokens", 99, "--log", "jsonl")
    assert result.status == 0
    assert "jsonl log: run/log.jsonl" in result.err
    first, *metrics, results, end = rows()
    run, written = read("run.json"), read("results.json")
    assert first["event"] == "parameters" and end == {"event": "end", "finished": True}
    assert first["model"] == run["model"]
    assert first["protocol.digest"] == run["protocol"]["digest"]
    assert first["dataset.sha256"] == run["dataset"]["sha256"]
    assert first["changed"].startswith("max tokens 99 (the protocol: ")
    assert [row["samples"] for row in metrics] == list(range(1, 31))
    name, score = next(iter(written["scorers"].items()))
    last = metrics[-1]
    assert (last["answered"], last["failed"]) == (30, 0)
    assert last["correct"] == score["correct"]
    assert last["accuracy"] == score["accuracy"] == results[f"final/{name}/accuracy"]
    assert [last["accuracy_low"], last["accuracy_high"]] == score["ci95"]
    for scorer, values in written["scorers"].items():
        assert results[f"final/{scorer}/correct"] == values["correct"]


def test_failed_truncated_and_empty_samples_are_counted(gradeschool: Command) -> None:
    """Truncated by the limit, or by the text if no finish reason is recorded."""
    problems = load_dataset("sample").problems[:5]
    texts = ("4", "So she sells them for", "So she", " ")
    reasons: tuple[dict[str, str], ...] = ({}, {}, {"finish_reason": "stop"}, {})
    lines = [
        json.dumps({"question": problem.question, "completion": text, **reason})
        for problem, text, reason in zip(problems, texts, reasons, strict=False)
    ]
    Path("cut.jsonl").write_text("\n".join(lines), "utf-8")
    model = ("eval", "-m", "recorded/cut.jsonl", "-d", "sample", "-n", 5, "-o", "run")
    assert gradeschool(*model, "--log", "jsonl", "--quiet").status == 3
    *_, last, results, end = rows()
    written = read("results.json")
    assert end["finished"] is False
    assert last["failed"] == results["final/failed"] == 1
    causes = {key: value for key, value in last.items() if key.startswith("errors/")}
    assert causes == {f"errors/{key}": n for key, n in written["errors"].items()}
    assert last["truncated"] == results["final/truncated"] == written["truncated"] == 1
    assert results["final/empty"] == written["empty"] == 1


def test_a_resumed_run_is_the_same_run(gradeschool: Command) -> None:
    for limit in (5, 9):
        assert gradeschool(*EVAL, "-n", limit, "--log", "jsonl", "--quiet").status == 0
    parameters = [row for row in rows() if row["event"] == "parameters"]
    assert len({row["id"] for row in parameters}) == 1
    assert [row["samples"] for row in rows() if row["event"] == "metrics"] == list(range(1, 10))
    assert gradeschool(*EVAL[:-1], "two", "-n", 5, "--log", "jsonl", "--quiet").status == 0
    assert rows(Path("two/log.jsonl"))[0]["id"] != parameters[0]["id"]


@pytest.mark.parametrize(
    ("broken", "words"), [(open_broken, "no space for step 1"), (open_closed, "no account")]
)
def test_a_failing_logger_is_reported_once(
    gradeschool: Command,
    monkeypatch: pytest.MonkeyPatch,
    broken: Callable[[LoggedRun], Logger],
    words: str,
) -> None:
    monkeypatch.setattr(loggers, "LOGGERS", {**loggers.LOGGERS, "tensorboard": broken})
    monkeypatch.setattr(loggers, "check_loggers", lambda names: None)
    result = gradeschool(*EVAL, "-n", 6, "--log", "tensorboard", "--log", "jsonl", "--quiet")
    assert result.status == 0
    message = f"gradeschool: --log tensorboard failed and is left out: {words}"
    assert result.err.splitlines() == [message]
    assert rows()[-1] == {"event": "end", "finished": True}
    assert read("results.json")["n"] == 6


def test_a_hanging_logger_does_not_keep_the_run(
    gradeschool: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = threading.Event()

    def wait(finished: bool) -> None:
        release.wait(30)

    def open_hanging(run: LoggedRun) -> Logger:
        return open_jsonl(run)._replace(close=wait)

    monkeypatch.setattr(loggers, "LOGGERS", {"jsonl": open_hanging})
    monkeypatch.setattr(loggers, "CLOSE_SECONDS", 0.2)
    result = gradeschool(*EVAL, "-n", 3, "--log", "jsonl", "--quiet", "--json")
    release.set()
    assert result.status == 0 and result.json()["runs"][0]["n"] == 3
    assert "--log jsonl did not finish within 0.2 s" in result.err


def test_a_logger_without_its_package_is_refused_first(
    gradeschool: Command, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    result = gradeschool(*EVAL, "--log", "mlflow")
    assert result.status == 2
    assert result.err == (
        "gradeschool: --log mlflow needs an extra: pip install 'gradeschool[mlflow]'\n"
    )
    assert not Path("run").exists()
    (folder / "trackio_of_earlier_runs").mkdir()  # a folder of that name is no package
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(loggers, "PACKAGES", {"trackio": "trackio_of_earlier_runs"})
    with pytest.raises(MissingExtraError, match=r"--log trackio needs an extra"):
        loggers.check_loggers(["trackio"])


def test_secrets_are_masked_before_a_logger_gets_them(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    key = "sk-logged-0123456789abcdef"
    register_secret(key)
    calls: list[object] = []

    def refuse(finished: bool) -> None:
        raise RuntimeError(f"refused: {key}")

    def open_recorder(run: LoggedRun) -> Logger:
        calls.append(run._replace(folder=Path()))
        return Logger(f"http://host/{key}", lambda *args: calls.append(args), refuse)

    monkeypatch.setattr(loggers, "LOGGERS", {"jsonl": open_recorder})
    monkeypatch.setattr(loggers, "manifest_of", lambda folder: {"model": f"m at {key}"})
    figures = dict.fromkeys(("correct", "wrong", "no_answer", "error", "accuracy"), 1)
    names = ("n", "requested", "failed", "missing", "truncated", "empty", "prompt_tokens",
             "completion_tokens", "seconds")  # fmt: skip
    results = {"scorers": {key: {**figures, "ci95": None}}, "errors": {key: 1},
               **dict.fromkeys(names, 1)}  # fmt: skip
    monkeypatch.setattr(loggers, "results_of", lambda folder: results)
    messages: list[str] = []
    with EvaluationLog(["jsonl"], folder / f"run-{key}", messages.append, messages.append) as log:
        log.finish(True)
    assert key not in repr(calls) and key not in repr(messages)
    assert f"m at {MASK}" in repr(calls) and f"final/errors/{MASK}" in repr(calls)
    assert messages == [
        f"jsonl log: http://host/{MASK}",
        f"--log jsonl failed and is left out: refused: {MASK}",
    ]
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "https://me:pass-word-of-mine@mlflow.example")
    monkeypatch.setenv("WANDB_API_KEY", "0123456789abcdef0123456789abcdef01234567")
    loggers.check_loggers(["jsonl"])
    assert masked("pass-word-of-mine 0123456789abcdef0123456789abcdef01234567") == f"{MASK} {MASK}"


def test_an_evaluation_from_python_is_logged(capsys: pytest.CaptureFixture[str]) -> None:
    scores = evaluate(lambda prompt: "#### 4", dataset="sample", limit=3, output="run", log="jsonl")
    assert [row["event"] for row in rows()] == ["parameters", *["metrics"] * 3, "results", "end"]
    assert rows()[-2]["final/n"] == len(scores)
    assert capsys.readouterr() == ("", "")
    with pytest.raises(UnknownNameError, match="no logger is called 'wandbb'; did you mean wandb"):
        evaluate("tiny", log=["wandbb"], output="other")
    with pytest.raises(InputError, match="log needs the folder of the run; give output"):
        evaluate(lambda prompt: "4", dataset="sample", log=["jsonl"])
    assert not Path("other").exists()
