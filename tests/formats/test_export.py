"""`gradeschool export`: every format comes back with the same verdicts; bad input; no secrets."""

import hashlib
import json
import os
import re
import uuid
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradeschool import load_dataset
from gradeschool.formats.every_eval_ever import every_eval_ever_files
from gradeschool.formats.export import (
    ExportedRun,
    ExportedSample,
    ExportedScore,
    encoded,
    save_files,
    storable,
)
from gradeschool.formats.inspect_log import inspect_files
from gradeschool.problem import Problem
from gradeschool.protocols.registry import all_scorers, get_scorer
from gradeschool.verdict import Outcome, Verdict
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.exports import TARGETS, export, samples_of
from tests.support.exports import answers as answers  # fixtures
from tests.support.exports import run as run
from tests.support.hostile_report import HOSTILE

CANARY = "sk-canary-4815162342"
SCORERS = [scorer for scorer in all_scorers().values() if not scorer.extra]
SURROGATES = st.characters(categories=["Cs"])
TEXTS = st.text(st.one_of(st.sampled_from("0123456789.,$#\\boxed{} answer is:\n-"), SURROGATES))


def scores(gradeschool: Command, path: Path) -> dict[str, Any]:
    """Return the one run of a file under all scorers that call no library."""
    result = gradeschool("score", path, "-d", "sample", "--json")
    assert result.status == 0, result.err
    (sample,) = result.json()["runs"]
    return dict(sample)


@pytest.mark.parametrize("name", samples_of)
def test_a_run_folder_comes_back_with_the_same_scores(
    gradeschool: Command, run: Path, tmp_path: Path, name: str
) -> None:
    """Under every scorer, with the same name, intervals and forms."""
    written = export(gradeschool, run, name, tmp_path)
    assert scores(gradeschool, samples_of[name](written)) == scores(gradeschool, run)


@pytest.mark.parametrize("name", samples_of)
def test_hostile_and_failed_samples_come_back(
    gradeschool: Command, answers: Path, tmp_path: Path, name: str
) -> None:
    """Several samples of a problem, lone surrogates, controls, an error: the same verdicts."""
    written = export(gradeschool, answers, name, tmp_path)
    back, before = scores(gradeschool, samples_of[name](written)), scores(gradeschool, answers)
    left_out = 1 if name == "lm-eval" else 0
    assert before["n"] == back["n"] + left_out == len(HOSTILE) + 3
    for scorer, was in before["scorers"].items():
        now = back["scorers"][scorer]
        assert now["error"] == was["error"] - left_out
        assert {**now, "error": 0} == {**was, "error": 0}, scorer


@pytest.mark.parametrize("name", samples_of)
def test_texts_come_back_to_the_letter(
    gradeschool: Command, answers: Path, tmp_path: Path, name: str
) -> None:
    """What is read back from any format is what Parquet, the plainest, gives."""
    from gradeschool.formats.read import read_samples

    written = export(gradeschool, answers, name, tmp_path)
    back = read_samples(samples_of[name](written))
    samples = sorted(sample.text for sample in back if not sample.error)
    rows = [json.loads(line) for line in answers.read_text().split("\n") if line]
    assert samples == sorted(storable(row["completion"]) for row in rows if "completion" in row)


@pytest.mark.parametrize("name", samples_of)
def test_the_same_run_gives_the_same_bytes(
    gradeschool: Command, run: Path, tmp_path: Path, name: str
) -> None:
    """Dates and ids are the run's, whenever and wherever it is exported."""
    first, second = tmp_path / "first", tmp_path / "second"
    contents = []
    for folder in (first, second):
        folder.mkdir()
        export(gradeschool, run, name, folder)
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        contents.append({str(path.relative_to(folder)): path.read_bytes() for path in files})
    assert contents[0] == contents[1]
    assert contents[0]


@given(TEXTS)
def test_no_scorer_reads_a_lone_surrogate(text: str) -> None:
    """U+FFFD in its place changes no outcome, and no place in the text."""
    problem = Problem.from_gold("18")
    assert len(storable(text)) == len(text)
    for scorer in SCORERS:
        before, after = scorer.judge(text, problem), scorer.judge(storable(text), problem)
        assert before.outcome is after.outcome, scorer.name


@given(st.text(st.characters()))
def test_json_is_ascii_and_holds_the_text(text: str) -> None:
    """One line for any reader, also those that split at U+2028; storable by all."""
    written = encoded({"text": text})
    assert written.isascii()
    assert len(written.decode().splitlines()) == 1
    assert json.loads(written) == {"text": storable(text)}


def test_no_secret_and_no_address_leaves(
    gradeschool: Command, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither keys of the environment nor where the model was asked; folders of the machine."""
    for name in ("OPENAI_API_KEY", "HF_TOKEN"):
        monkeypatch.setenv(name, CANARY)
    file = run / "run.json"
    fields = json.loads(file.read_text())
    fields["model"] = f"tiny at http://user:{CANARY}@inner.example/v1"
    fields["server"] = {"base": f"http://inner.example/{CANARY}"}
    rows = Path(tmp_path / CANARY / "problems.jsonl")
    rows.parent.mkdir()
    rows.write_bytes((Path(__file__).parents[2] / "src/gradeschool/datasets/sample/problems.jsonl")
                     .read_bytes())  # fmt: skip
    fields["dataset"]["name"] = str(rows)
    file.write_text(json.dumps(fields))
    for name in samples_of:
        written = export(gradeschool, run, name, tmp_path)
        every_row = "".join(_contents(path) for path in written.rglob("*")) + _contents(written)
        assert "beekeeper" in every_row
        assert CANARY not in every_row
        assert "inner.example" not in every_row


def _contents(path: Path) -> str:
    if path.suffix == ".eval":
        with zipfile.ZipFile(path) as archive:
            return "".join(archive.read(name).decode() for name in archive.namelist())
    if path.suffix == ".parquet":
        from pyarrow import parquet

        table = parquet.read_table(path)
        return str(table.to_pylist()) + str(table.schema.metadata)
    return path.read_text() if path.is_file() else ""


def test_what_is_there_is_not_replaced(gradeschool: Command, run: Path, tmp_path: Path) -> None:
    """Refused with every file as it was; --force replaces."""
    for name in samples_of:
        written = export(gradeschool, run, name, tmp_path)
        target = samples_of[name](written)
        target.write_bytes(b"mine")
        again = gradeschool("export", run, "--to", name, "-o", written)
        assert again.status == 2
        assert "--force" in again.err
        assert target.read_bytes() == b"mine"
        export(gradeschool, run, name, tmp_path, "--force")
        assert target.read_bytes() != b"mine"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written(gradeschool: Command, run: Path, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    result = gradeschool("export", run, "--to", "inspect", "-o", closed / "a.eval")
    assert result.status == 2
    assert "cannot write" in result.err


def test_a_place_that_cannot_be(gradeschool: Command, run: Path, tmp_path: Path) -> None:
    """A file where a folder must be: one line, nothing left behind."""
    (tmp_path / "file").write_text("")
    before = sorted(tmp_path.iterdir())
    for name, target in (("lm-eval", "file"), ("inspect", "file/a.eval")):
        result = gradeschool("export", run, "--to", name, "-o", tmp_path / target)
        assert result.status == 2
        assert re.search("cannot write|is a folder|Not a directory", result.err)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("name", samples_of)
def test_hostile_ids_and_names(gradeschool: Command, tmp_path: Path, name: str) -> None:
    """Ids and models that are paths, formulas or no UTF-8 stay below the target, and come back."""
    problems, answers = tmp_path / "problems.jsonl", tmp_path / "answers.jsonl"
    ids = ["../../up", "\ud800", "a/b", "7", ""]
    rows = [{"id": id, "question": f"What is 1 + {index}?", "answer": str(1 + index)}
            for index, id in enumerate(ids)]  # fmt: skip
    problems.write_text("".join(json.dumps(row) + "\n" for row in rows))
    output = [{"index": index, "model": "../..\ud800\u202e/x", "completion": f"#### {1 + index}"}
            for index in range(len(ids))]  # fmt: skip
    answers.write_text("".join(json.dumps(row) + "\n" for row in output))
    target = tmp_path / "out" / TARGETS[name]
    result = gradeschool("export", answers, "-d", problems, "--to", name, "-o", target)
    assert result.status == 0, result.err
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "answers.jsonl", "out", "problems.jsonl",
    ]  # fmt: skip
    assert [path.name for path in (tmp_path / "out").iterdir()] == [target.name]
    assert all(str(path.name).isprintable() for path in (tmp_path / "out").rglob("*"))
    back = gradeschool("score", samples_of[name](target), "-d", problems, "--json")
    assert back.status == 0, back.err
    (sample,) = back.json()["runs"]
    assert sample["scorers"]["openai/2021"]["correct"] == len(ids)


CHOSEN = ("--scorer", "gradeschool/reader", "--scorer", "openai/2021")


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("ascii").split("\n") if line]


def members(path: Path) -> dict[str, Any]:
    with zipfile.ZipFile(path) as archive:
        return {name: json.loads(archive.read(name)) for name in archive.namelist()}


def test_a_run_that_is_not_whole_is_no_success(
    gradeschool: Command, run: Path, tmp_path: Path
) -> None:
    """inspect's word for it is "cancelled"."""
    assert (
        members(export(gradeschool, run, "inspect", tmp_path))["header.json"]["status"] == "success"
    )
    path = run / "completions.jsonl"
    path.write_text("\n".join(path.read_text().split("\n")[:40]) + "\n")
    part = export(gradeschool, run, "inspect", tmp_path, "--force")
    assert members(part)["header.json"]["status"] == "cancelled"


def test_every_eval_ever(gradeschool: Command, answers: Path, tmp_path: Path) -> None:
    """One result a scorer; rows that say what each read; path, checksum, a failed sample."""
    folder = export(gradeschool, answers, "every-eval-ever", tmp_path, *CHOSEN)
    (aggregate,) = folder.glob("data/sample/org/model-7b/*.json")
    (samples,) = folder.glob("data/sample/org/model-7b/*_samples.jsonl")
    assert uuid.UUID(aggregate.stem).version == 4
    whole = json.loads(aggregate.read_text())
    assert whole["eval_library"]["additional_details"]["protocol"] == "not stated"
    details = whole["detailed_evaluation_results"]
    assert folder / details["file_path"] == samples
    assert details["checksum"] == hashlib.sha256(samples.read_bytes()).hexdigest()
    rows = rows_of(samples)
    assert details["total_rows"] == len(rows) == len(HOSTILE) + 3
    read = {
        item["extraction_method"]: item["extracted_value"] for item in rows[0]["answer_attribution"]
    }
    assert read == {"gradeschool/reader": "600", "openai/2021": "600"}
    assert rows[1]["error"] == "timeout: the server said nothing"
    assert rows[1]["output"] == {"raw": []}
    right = sum(row["evaluation"]["is_correct"] for row in rows)
    headline = whole["evaluation_results"][0]
    assert headline["score_details"]["score"] == pytest.approx(right / (len(rows) - 1))
    interval = headline["score_details"]["uncertainty"]["confidence_interval"]
    assert interval["lower"] < headline["score_details"]["score"] < interval["upper"]


def run_with_a_silent_scorer() -> ExportedRun:
    """One completion that the first scorer judges; the second fails."""
    problems = load_dataset("sample").problems[:1]
    judging, silent = get_scorer("gradeschool/reader"), get_scorer("openai/2021")
    scores = (
        ExportedScore(judging, 1.0, (0.2, 1.0), None, 1, 1.0, None, {problems[0].id: (1, 1)}),
        ExportedScore(silent, 0.0, (0.0, 1.0), None, 0, 0.0, None, {}),
    )
    verdicts = (
        Verdict(judging.name, Outcome.CORRECT, None, "equal"),
        Verdict(silent.name, Outcome.ERROR, None, "it failed"),
    )
    sample = ExportedSample(problems[0], 0, 0, "#### 600", "", "stop", None, None, verdicts, "")
    time = datetime(2026, 1, 1, tzinfo=UTC)
    return ExportedRun("org/m", "sample", "sample", 1, scores, (sample,), {}, time, time, 0)


def test_a_scorer_that_judged_nothing_has_no_accuracy(tmp_path: Path) -> None:
    run = run_with_a_silent_scorer()
    save_files(tmp_path / "log.eval", inspect_files(run))
    fields = members(tmp_path / "log.eval")
    scores = fields["header.json"]["results"]["scores"]
    assert [(score["name"], score["metrics"]["accuracy"]["value"]) for score in scores] == [
        ("gradeschool/reader", 1.0)
    ]
    assert len(fields["reductions.json"]) == 1
    save_files(tmp_path / "store", every_eval_ever_files(run))
    (aggregate,) = (tmp_path / "store").glob("data/*/*/*/*.json")
    results = json.loads(aggregate.read_text())["evaluation_results"]
    assert [
        (result["evaluation_name"], result["score_details"]["score"]) for result in results
    ] == [("sample (gradeschool/reader)", 1.0)]


def test_tokens_and_reasoning_go_with_it(gradeschool: Command, run: Path, tmp_path: Path) -> None:
    """Where the server counted; inspect sums them, and shows thinking apart from the answer."""
    path = run / "completions.jsonl"
    rows = [json.loads(line) for line in path.read_text().split("\n") if line]
    rows[0] |= {"prompt_tokens": 7, "completion_tokens": 5, "reasoning": "hmm", "model": "by"}
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    fields = members(export(gradeschool, run, "inspect", tmp_path))
    sample = fields["samples/0_epoch_1.json"]
    usage = {"input_tokens": 7, "output_tokens": 5, "total_tokens": 12}
    assert sample["output"]["usage"] == usage
    assert sample["output"]["model"] == "by"
    assert sample["messages"][-1]["content"][0] == {"type": "reasoning", "reasoning": "hmm"}
    assert list(fields["header.json"]["stats"]["model_usage"].values()) == [usage]
    assert "usage" not in fields["samples/1_epoch_1.json"]["output"]
    folder = export(gradeschool, run, "every-eval-ever", tmp_path)
    (samples,) = folder.glob("data/*/*/*/*_samples.jsonl")
    first, second = rows_of(samples)[:2]
    assert first["token_usage"] == usage
    assert first["output"]["reasoning_trace"] == ["hmm"]
    assert "token_usage" not in second
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(export(gradeschool, run, "parquet", tmp_path)).to_pylist()
    assert [table[0][f"{side}_tokens"] for side in ("prompt", "completion")] == [7, 5]
    assert table[1]["prompt_tokens"] is None
