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
from gradeschool.errors import InputError, UnknownNameError
from gradeschool.masking import MASK, masked, register_secret
from gradeschool.reports import loggers
from gradeschool.reports.loggers import EvaluationLog, LoggedRun, Logger
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture

EVAL = ("eval", "-m", "recorded/sample#handwritten/cot", "-d", "sample", "-o", "run")
Event = tuple[str, int, dict[str, Any]]  # "parameters", "metrics", "results" or "end"


@pytest.fixture(autouse=True)
def events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Event]:
    """What a logger in the place of MLflow gets, from runs in an empty folder."""
    logged: list[Event] = []

    def open_recorder(run: LoggedRun) -> Logger:
        logged.append(("parameters", 0, {"id": run.id, **run.parameters}))
        return Logger(
            f"store of {run.name}",
            lambda n, values, last: logged.append(
                ("results" if last else "metrics", n, dict(values))
            ),
            lambda finished: logged.append(("end", 0, {"finished": finished})),
        )

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(loggers, "LOGGERS", {**loggers.LOGGERS, "mlflow": open_recorder})
    monkeypatch.setattr(loggers, "require_packages", lambda *names: None)
    return logged


def read(name: str) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(Path("run", name).read_text("utf-8"))
    return fields


def test_an_evaluation_logs_settings_counts_and_score(
    gradeschool: Command, events: list[Event]
) -> None:
    result = gradeschool(*EVAL, "-n", 30, "--max-tokens", 99, "--log", "mlflow")
    assert result.status == 0
    assert "mlflow log: store of run" in result.err
    (kind, _, first), *metrics, (_, _, results), end = events
    run, written = read("run.json"), read("results.json")
    assert kind == "parameters" and end == ("end", 0, {"finished": True})
    assert first["model"] == run["model"]
    assert first["protocol.digest"] == run["protocol"]["digest"]
    assert first["dataset.sha256"] == run["dataset"]["sha256"]
    assert first["changed"].startswith("max tokens 99 (the protocol: ")
    assert [n for _, n, _ in metrics] == list(range(1, 31))
    name, score = next(iter(written["scorers"].items()))
    last = metrics[-1][2]
    assert (last["answered"], last["failed"]) == (30, 0)
    assert last["correct"] == score["correct"]
    assert last["accuracy"] == score["accuracy"] == results[f"final/{name}/accuracy"]
    assert [last["accuracy_low"], last["accuracy_high"]] == score["ci95"]
    for scorer, values in written["scorers"].items():
        assert results[f"final/{scorer}/correct"] == values["correct"]


def test_failed_truncated_and_empty_samples_are_counted(
    gradeschool: Command, events: list[Event]
) -> None:
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
    assert gradeschool(*model, "--log", "mlflow", "--quiet").status == 3
    last, results, end = (values for _, _, values in events[-3:])
    written = read("results.json")
    assert end == {"finished": False}
    assert last["failed"] == results["final/failed"] == 1
    causes = {key: value for key, value in last.items() if key.startswith("errors/")}
    assert causes == {f"errors/{key}": n for key, n in written["errors"].items()}
    assert last["truncated"] == results["final/truncated"] == written["truncated"] == 1
    assert results["final/empty"] == written["empty"] == 1


def test_a_resumed_run_is_the_same_run(gradeschool: Command, events: list[Event]) -> None:
    for limit in (5, 9):
        assert gradeschool(*EVAL, "-n", limit, "--log", "mlflow", "--quiet").status == 0
    assert [n for kind, n, _ in events if kind == "metrics"] == list(range(1, 10))
    assert gradeschool(*EVAL[:-1], "two", "-n", 5, "--log", "mlflow", "--quiet").status == 0
    first, again, other = (values["id"] for kind, _, values in events if kind == "parameters")
    assert first == again != other


def log_nothing(step: int, values: object, last: bool) -> None:
    raise RuntimeError(f"no space for step {step}")


def open_broken(run: LoggedRun) -> Logger:
    return Logger("", log_nothing, lambda finished: None)


def open_closed(run: LoggedRun) -> Logger:
    raise SystemExit("no account")


@pytest.mark.parametrize(
    ("broken", "words"), [(open_broken, "no space for step 1"), (open_closed, "no account")]
)
def test_a_failing_logger_is_reported_once(
    gradeschool: Command,
    events: list[Event],
    monkeypatch: pytest.MonkeyPatch,
    broken: Callable[[LoggedRun], Logger],
    words: str,
) -> None:
    monkeypatch.setitem(loggers.LOGGERS, "wandb", broken)
    monkeypatch.setattr(loggers, "check_loggers", lambda names: None)
    result = gradeschool(*EVAL, "-n", 6, "--log", "wandb", "--log", "mlflow", "--quiet")
    assert result.status == 0
    message = f"gradeschool: --log wandb failed and is left out: {words}"
    assert [line for line in result.err.splitlines() if "left out" in line] == [message]
    assert events[-1] == ("end", 0, {"finished": True})
    assert read("results.json")["n"] == 6


def test_a_hanging_logger_does_not_keep_the_run(
    gradeschool: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = threading.Event()

    def wait(finished: bool) -> None:
        release.wait(30)

    def open_hanging(run: LoggedRun) -> Logger:
        return Logger("", lambda *values: None, wait)

    monkeypatch.setitem(loggers.LOGGERS, "mlflow", open_hanging)
    monkeypatch.setattr(loggers, "CLOSE_SECONDS", 0.2)
    result = gradeschool(*EVAL, "-n", 3, "--log", "mlflow", "--quiet", "--json")
    release.set()
    assert result.status == 0 and result.json()["runs"][0]["n"] == 3
    assert "--log mlflow did not finish within 0.2 s" in result.err


def test_a_logger_without_its_package_is_refused_first(
    gradeschool: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "mlflow", None)
    result = gradeschool(*EVAL, "--log", "mlflow")
    assert result.status == 2
    assert result.err == (
        "gradeschool: --log mlflow needs an extra: pip install 'gradeschool[mlflow]'\n"
    )


def test_secrets_are_masked_before_a_logger_gets_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    key = "sk-logged-0123456789abcdef"
    register_secret(key)
    calls: list[object] = []

    def refuse(finished: bool) -> None:
        raise RuntimeError(f"refused: {key}")

    def open_recorder(run: LoggedRun) -> Logger:
        calls.append(run)
        return Logger(f"http://host/{key}", lambda *args: calls.append(args), refuse)

    monkeypatch.setitem(loggers.LOGGERS, "mlflow", open_recorder)
    monkeypatch.setattr(loggers, "manifest_of", lambda folder: {"model": f"m at {key}"})
    figures = dict.fromkeys(("correct", "wrong", "no_answer", "error", "accuracy"), 1)
    results = {"scorers": {key: {**figures, "ci95": None}}, "errors": {key: 1}}
    monkeypatch.setattr(loggers, "results_of", lambda folder: results)
    messages: list[str] = []
    folder = tmp_path / f"run-{key}"
    with EvaluationLog(["mlflow"], folder, messages.append, messages.append) as log:
        log.finish(True)
    assert key not in repr(calls) and key not in repr(messages)
    assert f"m at {MASK}" in repr(calls) and f"final/errors/{MASK}" in repr(calls)
    assert messages == [
        f"mlflow log: http://host/{MASK}",
        f"--log mlflow failed and is left out: refused: {MASK}",
    ]
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "https://me:pass-word-of-mine@mlflow.example")
    monkeypatch.setenv("WANDB_API_KEY", "0123456789abcdef0123456789abcdef01234567")
    loggers.check_loggers(["mlflow"])
    assert masked("pass-word-of-mine 0123456789abcdef0123456789abcdef01234567") == f"{MASK} {MASK}"


def test_an_evaluation_from_python_is_logged(
    events: list[Event], capsys: pytest.CaptureFixture[str]
) -> None:
    scores = evaluate(
        lambda prompt: "#### 4", dataset="sample", limit=3, output="run", log="mlflow"
    )
    assert [kind for kind, *_ in events] == ["parameters", *["metrics"] * 3, "results", "end"]
    assert events[-2][2]["final/n"] == len(scores)
    assert capsys.readouterr() == ("", "")
    with pytest.raises(UnknownNameError, match="no logger is called 'wandbb'; did you mean wandb"):
        evaluate("tiny", log=["wandbb"], output="other")
    with pytest.raises(InputError, match="log needs the folder of the run; give output"):
        evaluate(lambda prompt: "4", dataset="sample", log=["mlflow"])
    assert not Path("other").exists()
