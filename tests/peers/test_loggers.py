"""`--log` with the real libraries: what each has stored is what the run folder says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.peers.install import missing
from tests.peers.pages import run

pytestmark = pytest.mark.peers

PEER = "loggers"
OPTIONS = ("--log", "wandb", "--log", "mlflow")
EVAL = ("eval", "-m", "recorded/sample#handwritten/cot", "-d", "sample", "-o", "run")
KEY = "sk-never-logged-0123456789"

# Each library's own reader; values by name, of metrics as (step, value).
READ = """
import json, struct, sys
from pathlib import Path

stored = {}

from mlflow import MlflowClient
client = MlflowClient()
[run] = client.search_runs([client.get_experiment_by_name("gradeschool").experiment_id])
history = {name: [(m.step, m.value) for m in client.get_metric_history(run.info.run_id, name)]
           for name in run.data.metrics}
stored["mlflow"] = {"status": run.info.status, "parameters": dict(run.data.params),
                    "metrics": history}

from wandb.proto import wandb_internal_pb2 as messages
def records(data):
    # LevelDB's log format: blocks of 32 KiB, parts with a header of checksum, length and kind
    # (1 whole, 2 first, 3 middle, 4 last); W&B's own header of 7 bytes comes first.
    place, parts = 7, b""
    while place < len(data):
        if 32768 - place % 32768 < 7:
            place += 32768 - place % 32768
            continue
        length, kind = struct.unpack("<HB", data[place + 4 : place + 7])
        parts += data[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in (1, 4):
            yield parts
            parts = b""

config, summary, status = {}, {}, None
for path in sorted(Path("wandb").glob("offline-run-*/*.wandb")):
    for data in records(path.read_bytes()):
        record = messages.Record()
        record.ParseFromString(data)
        kind = record.WhichOneof("record_type")
        if kind == "config" or kind == "run":
            part = record.config if kind == "config" else record.run.config
            for item in part.update:
                config[item.key or ".".join(item.nested_key)] = json.loads(item.value_json)
        elif kind == "summary":
            for item in record.summary.update:
                summary[item.key or "/".join(item.nested_key)] = json.loads(item.value_json)
        elif kind == "exit":
            status = record.exit.exit_code
stored["wandb"] = {"config": config, "summary": summary, "status": status}

print(json.dumps(stored))
"""


@pytest.fixture
def offline(tmp_path: Path) -> dict[str, str]:
    """The variables that keep every library on this machine."""
    if reason := missing(PEER):
        pytest.skip(reason)
    return {
        "WANDB_MODE": "offline",
        "WANDB_DIR": str(tmp_path),
        "MLFLOW_TRACKING_URI": f"sqlite:///{tmp_path / 'mlflow.db'}",
        "OPENAI_API_KEY": KEY,
    }


def test_an_evaluation_is_stored_by_every_library(tmp_path: Path, offline: dict[str, str]) -> None:
    for limit in ("12", "20"):  # the second one resumes the first
        process = run(PEER, tmp_path, "python", "-m", "gradeschool", *EVAL, "-n", limit, *OPTIONS,
                      "--json", **offline)  # fmt: skip
        assert process.returncode == 0, process.stderr[-3000:]
        assert json.loads(process.stdout)["runs"][0]["n"] == int(limit)
        assert "failed" not in process.stderr
    (tmp_path / "read.py").write_text(READ, "utf-8")
    process = run(PEER, tmp_path, "python", "read.py", **offline)
    assert process.returncode == 0, process.stderr[-3000:]
    stored = json.loads(process.stdout)
    manifest, results = (json.loads((tmp_path / "run" / name).read_text("utf-8"))
                         for name in ("run.json", "results.json"))  # fmt: skip
    for scorer, score in results["scorers"].items():
        for name in ("correct", "accuracy"):
            final = f"{scorer}/{name}"
            assert stored["wandb"]["summary"][final] == pytest.approx(score[name])
            in_mlflow = stored["mlflow"]["metrics"][re.sub(r"[^\w. /:-]", "_", final)]
            assert in_mlflow[-1] == [0, pytest.approx(score[name])]
    for parameters in (stored["mlflow"]["parameters"], stored["wandb"]["config"]):
        assert parameters["model"] == manifest["model"]
        assert parameters["protocol.digest"] == manifest["protocol"]["digest"]
    assert stored["mlflow"]["status"] == "FINISHED" and stored["wandb"]["status"] == 0
    everything = b"".join(
        path.read_bytes()
        for path in tmp_path.rglob("*")
        if path.is_file() and "lent" not in str(path)
    )
    assert KEY.encode() not in everything


def test_a_logger_that_cannot_be_reached_does_not_end_the_run(
    tmp_path: Path, offline: dict[str, str]
) -> None:
    changes = offline | {
        "MLFLOW_TRACKING_URI": "http://127.0.0.1:9",
        "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0",
    }
    process = run(PEER, tmp_path, "python", "-m", "gradeschool", *EVAL, "-n", "5", "--quiet",
                  "--log", "mlflow", **changes)  # fmt: skip
    assert process.returncode == 0, process.stderr[-3000:]
    assert process.stderr.count("--log mlflow failed") == 1
    assert json.loads((tmp_path / "run/results.json").read_text("utf-8"))["n"] == 5


def test_wandb_without_a_key_is_refused_before_anything_is_sent(
    tmp_path: Path, offline: dict[str, str]
) -> None:
    changes = offline | {"WANDB_MODE": "online", "HOME": str(tmp_path), "WANDB_API_KEY": ""}
    process = run(PEER, tmp_path, "python", "-m", "gradeschool", *EVAL, "--log", "wandb", **changes)
    assert process.returncode == 2
    assert "run `wandb login`, or set WANDB_MODE=offline" in process.stderr
    assert not (tmp_path / "run").exists()
