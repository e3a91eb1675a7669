"""`--log` with the real libraries: what each has stored is what the JSONL log says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.peers.install import missing
from tests.peers.pages import run

pytestmark = pytest.mark.peers

PEER = "loggers"
LOGGERS = ("wandb", "mlflow", "trackio", "tensorboard", "jsonl")
OPTIONS = [word for name in LOGGERS for word in ("--log", name)]
EVAL = ("eval", "-m", "recorded/sample#handwritten/cot", "-d", "sample", "-o", "run")
KEY = "sk-never-logged-0123456789"

# Each library's own reader; values by name, of metrics as (step, value).
READ = """
import json, struct, sys
from pathlib import Path

folder, unit = sys.argv[1:]
stored = {}

from mlflow import MlflowClient
client = MlflowClient()
[run] = client.search_runs([client.get_experiment_by_name("gradeschool").experiment_id])
history = {name: [(m.step, m.value) for m in client.get_metric_history(run.info.run_id, name)]
           for name in run.data.metrics}
stored["mlflow"] = {"status": run.info.status, "parameters": dict(run.data.params),
                    "metrics": history}

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(f"{folder}/tensorboard")
events.Reload()
texts = {name: events.Tensors(name)[-1].tensor_proto.string_val[0].decode()
         for name in events.Tags()["tensors"]}
stored["tensorboard"] = {
    "metrics": {name: [(e.step, e.value) for e in events.Scalars(name)]
                for name in events.Tags()["scalars"]}, "texts": texts}

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

config, summary, metrics, status = {}, {}, {}, None
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
        elif kind == "history":
            row = {item.key or "/".join(item.nested_key): json.loads(item.value_json)
                   for item in record.history.item}
            for name, value in row.items():
                if unit in row and name != unit:
                    metrics.setdefault(name, []).append((row[unit], value))
        elif kind == "exit":
            status = record.exit.exit_code
stored["wandb"] = {"config": config, "summary": summary, "metrics": metrics, "status": status}

import sqlite3
[path] = Path("trackio").glob("*.db")
base = sqlite3.connect(path)
metrics, others = {}, {}
for step, row in base.execute("select step, metrics from metrics order by id"):
    for name, value in json.loads(row).items():
        if isinstance(value, (int, float)):
            metrics.setdefault(name, []).append((step, value))
        else:
            others[name] = value
[config] = [json.loads(row[0]) for row in base.execute("select config from configs")]
stored["trackio"] = {"metrics": metrics, "config": config, "others": others}
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
        "TRACKIO_DIR": str(tmp_path / "trackio"),
        "OPENAI_API_KEY": KEY,
    }


def logged(folder: Path, name: str) -> list[dict[str, Any]]:
    lines = (folder / name / "log.jsonl").read_text("ascii").split("\n")
    return [json.loads(line) for line in lines if line]


def stored_by_library(folder: Path, name: str, unit: str, offline: dict[str, str]) -> Any:
    (folder / "read.py").write_text(READ, "utf-8")
    process = run(PEER, folder, "python", "read.py", name, unit, **offline)
    assert process.returncode == 0, process.stderr[-3000:]
    return json.loads(process.stdout)


def series(rows: list[dict[str, Any]], unit: str) -> dict[str, list[list[float]]]:
    """Return the metrics of a JSONL log: [[step, value], ...] by name."""
    values: dict[str, list[list[float]]] = {}
    for row in rows:
        if row["event"] == "metrics":
            for name in row.keys() - {"event", unit}:
                values.setdefault(name, []).append([row[unit], row[name]])
    return values


# What the libraries write in place of characters that their names cannot hold.
REPLACED = {"mlflow": r"[^\w. /:-]", "tensorboard": r"[^-/\w.]"}


def renamed(library: str, name: str) -> str:
    return re.sub(REPLACED[library], "_", name) if library in REPLACED else name


def compare(stored: Any, rows: list[dict[str, Any]], unit: str) -> None:
    """Assert that each library stored the parameters, the metrics and the results."""
    expected = series(rows, unit)
    results = next(row for row in rows if row["event"] == "results")
    final = {name: value for name, value in results.items() if name.startswith("final/")}
    parameters = {name: rows[0][name] for name in rows[0].keys() - {"event", "run", "id"}}
    for library in ("mlflow", "tensorboard", "wandb", "trackio"):
        for name, points in expected.items():
            values = stored[library]["metrics"][renamed(library, name)]
            assert [step for step, _ in values] == [step for step, _ in points], (library, name)
            assert [value for _, value in values] == pytest.approx([value for _, value in points])
    for library in ("mlflow", "tensorboard", "trackio"):
        metrics = stored[library]["metrics"]
        last = {name: metrics[renamed(library, name)][-1][1] for name in final}
        assert last == pytest.approx(final), library
    assert {name: stored["wandb"]["summary"][name] for name in final} == pytest.approx(final)
    config = stored["wandb"]["config"]
    assert {name: config[name] for name in parameters} == parameters
    config = stored["trackio"]["config"]
    assert {name: config[name] for name in parameters} == parameters
    texts = {name: str(value) for name, value in parameters.items()}
    assert {name: stored["mlflow"]["parameters"][name] for name in texts} == texts
    assert all(
        f"| {name} |" in stored["tensorboard"]["texts"]["parameters/text_summary"] for name in texts
    )
    assert stored["mlflow"]["status"] == "FINISHED" and stored["wandb"]["status"] == 0


def test_an_evaluation_is_stored_by_every_library(tmp_path: Path, offline: dict[str, str]) -> None:
    for limit in ("12", "20"):  # the second one resumes the first
        process = run(PEER, tmp_path, "python", "-m", "gradeschool", *EVAL, "-n", limit, *OPTIONS,
                      "--json", **offline)  # fmt: skip
        assert process.returncode == 0, process.stderr[-3000:]
        assert json.loads(process.stdout)["runs"][0]["n"] == int(limit)
        for name in LOGGERS:
            assert process.stderr.count(f"{name} log: ") == 1
        assert "left out" not in process.stderr
    rows = logged(tmp_path, "run")
    begins = [index for index, row in enumerate(rows) if row["event"] == "parameters"]
    stored = stored_by_library(tmp_path, "run", "samples", offline)
    second = rows[begins[1] :]
    whole = [second[0], *[row for row in rows if row["event"] == "metrics"], second[-2]]
    # MLflow's parameters are those of the first session.
    stored["mlflow"]["parameters"] |= {"problems": "20"}
    compare(stored, whole, "samples")
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
                  "--log", "mlflow", "--log", "jsonl", **changes)  # fmt: skip
    assert process.returncode == 0, process.stderr[-3000:]
    assert process.stderr.count("--log mlflow failed and is left out") == 1
    assert logged(tmp_path, "run")[-1] == {"event": "end", "finished": True}


def test_wandb_without_a_key_is_refused_before_anything_is_sent(
    tmp_path: Path, offline: dict[str, str]
) -> None:
    changes = offline | {"WANDB_MODE": "online", "HOME": str(tmp_path), "WANDB_API_KEY": ""}
    process = run(PEER, tmp_path, "python", "-m", "gradeschool", *EVAL, "--log", "wandb", **changes)
    assert process.returncode == 2
    assert "run `wandb login`, or set WANDB_MODE=offline" in process.stderr
    assert not (tmp_path / "run").exists()
