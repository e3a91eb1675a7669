"""Our `.eval` logs in the real inspect_ai: its reader, its data frames, its command `score`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.peers.compare import COMPARED
from tests.peers.pages import run, run_python, why_not
from tests.support.command import run_script
from tests.support.exports import runs_file
from tests.support.report_page import HOSTILE

pytestmark = pytest.mark.peers
SCORERS = ("gradeschool/reader", "openai/2021", "inspect/match-numeric@<=0.3.220")

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
