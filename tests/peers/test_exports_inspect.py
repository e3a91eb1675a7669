"""Our `.eval` logs in the real inspect_ai: its commands, its reader, its viewer in a browser."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.peers.compare import COMPARED
from tests.peers.pages import environment, run, run_python, why_not
from tests.support.browser import chromium as chromium  # a fixture
from tests.support.command import run_script
from tests.support.exports import runs_file
from tests.support.hostile_report import HOSTILE

pytestmark = pytest.mark.peers
SCORERS = ("gradeschool/reader", "openai/2021", "inspect/match-numeric@<=0.3.220")
SECONDS = 60

READING = """
import importlib.util, json
from inspect_ai.log import read_eval_log, read_eval_log_sample_summaries
log = read_eval_log("log.eval")
frame = log.samples
if importlib.util.find_spec("pandas"):  # the old version's environment is without
    from inspect_ai.analysis import samples_df
    frame = samples_df("log.eval")
print(json.dumps({
    "status": log.status, "model": log.eval.model, "created": log.eval.created,
    "epochs": log.eval.config.epochs, "samples": len(log.samples),
    "summaries": len(read_eval_log_sample_summaries("log.eval")), "frame": len(frame),
    "metrics": {score.name: {name: metric.value for name, metric in score.metrics.items()}
                for score in log.results.scores},
    "values": [{name: score.value for name, score in (sample.scores or {}).items()}
               for sample in log.samples],
    "explained": [score.explanation for score in (log.samples[0].scores or {}).values()],
    "errors": [sample.error.message for sample in log.samples if sample.error],
    "stops": [choice.stop_reason for sample in log.samples for choice in sample.output.choices],
    "texts": [sample.output.completion for sample in log.samples],
    "usage": {name: usage.total_tokens for name, usage in log.stats.model_usage.items()}}))
"""


@pytest.fixture(params=["inspect_ai", "inspect_ai_0_3_220"])
def peer(request: pytest.FixtureRequest) -> str:
    name = str(request.param)
    if reason := why_not(name):
        pytest.skip(reason)
    return name


def exported(folder: Path) -> Path:
    """Export hostile completions of two problems and a failed sample; return the log."""
    answers = runs_file(folder / "answers.jsonl")
    scorers = (word for scorer in SCORERS for word in ("--scorer", scorer))
    result = run_script("export", answers, "-d", "sample", "--to", "inspect", "-o",
                      folder / "log.eval", *scorers)  # fmt: skip
    assert result.status == 0, result.err
    return folder / "log.eval"


def test_inspects_reader_and_data_frames_read_our_log(peer: str, tmp_path: Path) -> None:
    """Samples, epochs, scores, explanations, errors and finish reasons are there."""
    exported(tmp_path)
    process = run_python(peer, tmp_path, READING)
    assert process.returncode == 0, process.stderr[-3000:]
    read_back = json.loads(process.stdout.splitlines()[-1])
    count = len(HOSTILE) + 3
    assert (read_back["status"], read_back["model"]) == ("success", "none/org/model-7b")
    assert read_back["samples"] == read_back["summaries"] == read_back["frame"] == count
    assert read_back["epochs"] == len(HOSTILE) + 1
    assert tuple(read_back["metrics"]) == SCORERS
    assert read_back["errors"] == ["timeout: the server said nothing"]
    assert read_back["stops"].count("max_tokens") == 1
    good = next(values for values in read_back["values"] if values)
    assert good == dict.fromkeys(SCORERS, "C")
    assert "matches '600'" in read_back["explained"][0]
    assert "lone \ufffd surrogate #### 5" in read_back["texts"]


def test_inspects_commands_list_and_dump_our_log(tmp_path: Path) -> None:
    """`inspect log list` names it, `inspect log dump` prints it."""
    if reason := why_not("inspect_ai"):
        pytest.skip(reason)
    exported(tmp_path)
    listed = run("inspect_ai", tmp_path, "inspect", "log", "list", "--log-dir", ".")
    assert "log.eval" in listed.stdout, listed.stderr[-2000:]
    dumped = run("inspect_ai", tmp_path, "inspect", "log", "dump", "log.eval")
    assert dumped.returncode == 0, dumped.stderr[-2000:]
    assert len(json.loads(dumped.stdout)["samples"]) == len(HOSTILE) + 3


def test_inspect_score_gives_what_is_written(peer: str, tmp_path: Path) -> None:
    """Our own scorer, run by inspect over the log, finds the verdicts and figures that it holds."""
    run_folder = tmp_path / "run"
    options = ("-m", "recorded/sample#handwritten/chat", "-d", "sample", "-o", run_folder)
    assert run_script("eval", *options).status == 0
    result = run_script("export", run_folder, "--to", "inspect", "-o", tmp_path / "log.eval",
                      *(word for scorer in SCORERS for word in ("--scorer", scorer)))  # fmt: skip
    assert result.status == 0, result.err
    words = ("--scorer", "gradeschool/reader", "--action", "append", "--overwrite")
    scored = run(peer, tmp_path, "inspect", "score", "log.eval", *words, INSPECT_DISPLAY="plain")
    assert scored.returncode == 0, scored.stdout[-2000:] + scored.stderr[-2000:]
    read = run_python(peer, tmp_path, READING)
    assert read.returncode == 0, read.stderr[-3000:]
    rescored = json.loads(read.stdout.splitlines()[-1])
    (added,) = [name for name in rescored["metrics"] if name not in SCORERS]
    figures, expected = (rescored["metrics"][name] for name in (SCORERS[0], added))
    assert figures == pytest.approx(expected, abs=1e-12)
    assert figures["accuracy"] == 43 / 48
    assert [values[SCORERS[0]] for values in rescored["values"]] == [
        values[added] for values in rescored["values"]
    ]
    COMPARED["scores of inspect score"] += len(rescored["values"])


@contextmanager
def viewer(folder: Path) -> Iterator[str]:
    """Run `inspect view` on a folder of logs; yield its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["inspect", "view", "start", "--log-dir", str(folder), "--port", str(port)]
    with (folder / "view.txt").open("w") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=log, env=environment("inspect_ai", folder)
        )
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(SECONDS)


def fetched(address: str) -> bytes:
    """Return what an address gives, once the server is there."""
    end = time.monotonic() + SECONDS
    while True:
        try:
            with urllib.request.urlopen(address, timeout=5) as reply:
                return bytes(reply.read())
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


def test_inspects_viewer_shows_our_log(tmp_path: Path, chromium: Any) -> None:
    """The listing over loopback, and the log and a sample in a browser, without an error."""
    if reason := why_not("inspect_ai"):
        pytest.skip(reason)
    logs = tmp_path / "logs"
    logs.mkdir()
    shutil.copy(exported(tmp_path), logs / "2026-01-02T03-04-05_gsm8k_abc.eval")
    with viewer(logs) as address:
        listing = json.loads(fetched(f"{address}/api/logs"))
        assert [Path(file["name"]).name[-9:] for file in listing["files"]] == ["_abc.eval"]
        page = chromium.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(address)
        page.get_by_text("sample", exact=True).first.click(timeout=1000 * SECONDS)
        page.get_by_text(f"{len(HOSTILE) + 3} Samples").wait_for(timeout=1000 * SECONDS)
        page.get_by_text("beekeeper").first.click(timeout=1000 * SECONDS)
        page.get_by_text("The total is $600").first.wait_for(timeout=1000 * SECONDS)
        assert "gradeschool/reader" in page.content()
        assert errors == []
        page.close()
