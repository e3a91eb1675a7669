"""`gradeschool export`: what is written comes back with the same verdicts, and nothing leaks."""

import json
import os
import re
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gradeschool import load_dataset
from gradeschool.formats.read import read_samples
from gradeschool.formats.run_folder import digest_of
from gradeschool.protocols.registry import get_protocol
from gradeschool.reports.export import inspect_scorer_name, storable
from tests.support.command import Command
from tests.support.exports import TARGETS, export, samples_of
from tests.support.exports import answers as answers  # a fixture
from tests.support.files import jsonl
from tests.support.recorded_run import run as run  # a fixture
from tests.support.report_page import HOSTILE

CANARY = "sk-canary-4815162342"
CHOSEN = ("--scorer", "gradeschool/reader", "--scorer", "openai/2021")
every_format = pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name == "parquet")) for name in samples_of],
)


def scores(gradeschool: Command, path: Path, *options: object) -> dict[str, Any]:
    """Return the one run of a file under all scorers that call no library."""
    result = gradeschool("score", path, "-d", "sample", "--json", *options)
    assert result.status in (0, 3), result.err
    (sample,) = result.json()["runs"]
    return {name: value for name, value in sample.items() if name != "flags"}


def members(path: Path) -> dict[str, Any]:
    with zipfile.ZipFile(path) as archive:
        return {name: json.loads(archive.read(name)) for name in archive.namelist()}


def lm_eval(folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    (results,), (samples,) = folder.glob("*/results_*.json"), folder.glob("*/samples_*.jsonl")
    rows = [json.loads(line) for line in samples.read_text("ascii").split("\n") if line]
    return json.loads(results.read_text("ascii")), rows


def changed_rows(run: Path, number: int, **fields: object) -> list[dict[str, Any]]:
    """Change one row of a run folder; return all of them."""
    path = run / "completions.jsonl"
    rows = [json.loads(line) for line in path.read_text().split("\n") if line]
    rows[number] |= fields
    rows[number]["digest"] = digest_of(*(rows[number][x] for x in ("key", "completion", "error")))
    jsonl(path, rows)
    return rows


@every_format
def test_a_run_keeps_its_scores(gradeschool: Command, run: Path, tmp_path: Path, name: str) -> None:
    written = export(gradeschool, run, name, tmp_path)
    assert scores(gradeschool, samples_of[name](written)) == scores(gradeschool, run)
    contents = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    export(gradeschool, run, name, tmp_path, "--force")
    assert contents == {path: path.read_bytes() for path in contents}, "other bytes"


@every_format
def test_hostile_and_failed_samples_come_back(
    gradeschool: Command, answers: Path, tmp_path: Path, name: str
) -> None:
    written = samples_of[name](export(gradeschool, answers, name, tmp_path))
    back, before = scores(gradeschool, written), scores(gradeschool, answers)
    left_out = 1 if name == "lm-eval" else 0
    assert before["n"] == back["n"] + left_out == len(HOSTILE) + 3
    for scorer, was in before["scorers"].items():
        now = back["scorers"][scorer]
        assert now["error"] == was["error"] - left_out
        assert {**now, "error": 0} == {**was, "error": 0}, scorer
    texts = sorted(sample.text for sample in read_samples(written) if not sample.error)
    rows = [json.loads(line) for line in answers.read_text().split("\n") if line]
    assert texts == sorted(storable(row["completion"]) for row in rows if "completion" in row)


@pytest.mark.parametrize(
    ("written", "begun"),
    [("2026-01-02T03:04:05", "2026-01-02T03:04:05+00:00"), ("yesterday", "2026-05-06T07:08:09")],
)
def test_dates_are_utc_or_those_of_the_file(
    gradeschool: Command, run: Path, tmp_path: Path, written: str, begun: str
) -> None:
    manifest = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(manifest | {"created": written, "updated": None}))
    changed = datetime(2026, 5, 6, 7, 8, 9, tzinfo=UTC).timestamp()
    os.utime(run / "completions.jsonl", (changed, changed))
    log = members(export(gradeschool, run, "inspect", tmp_path))["header.json"]
    assert log["stats"]["started_at"].startswith(begun)


@every_format
def test_hostile_names_stay_in_the_target(gradeschool: Command, tmp_path: Path, name: str) -> None:
    ids = ["../../up", "\ud800", "a/b", "7", ""]
    problems = jsonl(tmp_path / "problems.jsonl", [
        {"id": id, "question": f"What is 1 + {index}?", "answer": str(1 + index)}
        for index, id in enumerate(ids)
    ])  # fmt: skip
    answers = jsonl(tmp_path / "answers.jsonl", [
        {"index": index, "model": "../..\ud800\u202e/x", "completion": f"#### {1 + index}"}
        for index in range(len(ids))
    ])  # fmt: skip
    target = tmp_path / "out" / TARGETS[name]
    gradeschool.done("export", answers, "-d", problems, "--to", name, "-o", target)
    assert {path.name for path in tmp_path.iterdir()} == {"answers.jsonl", "out", "problems.jsonl"}
    assert [path.name for path in (tmp_path / "out").iterdir()] == [target.name]
    assert all(str(path.name).isprintable() for path in (tmp_path / "out").rglob("*"))
    back = gradeschool.done("score", samples_of[name](target), "-d", problems, "--json")
    (sample,) = back.json()["runs"]
    assert sample["scorers"]["openai/2021"]["correct"] == len(ids)


@pytest.mark.slow
def test_no_secret_address_or_path_leaves(gradeschool: Command, run: Path, tmp_path: Path) -> None:
    for name in ("OPENAI_API_KEY", "HF_TOKEN"):
        gradeschool.monkeypatch.setenv(name, CANARY)
    file = run / "run.json"
    fields = json.loads(file.read_text())
    fields["model"] = f"tiny at http://user:{CANARY}@inner.example/v1"
    fields["server"] = {"base": f"http://inner.example/{CANARY}"}
    rows = Path(tmp_path / CANARY / "problems.jsonl")
    rows.parent.mkdir()
    shipped = Path(__file__).parents[2] / "src/gradeschool/datasets/sample/problems.jsonl"
    rows.write_bytes(shipped.read_bytes())
    fields["dataset"]["name"] = str(rows)
    file.write_text(json.dumps(fields))
    for name in samples_of:
        written = export(gradeschool, run, name, tmp_path)
        every_row = "".join(_contents(path) for path in (written, *written.rglob("*")))
        assert "beekeeper" in every_row
        assert CANARY not in every_row
        assert "inner.example" not in every_row


def _contents(path: Path) -> str:
    if path.suffix == ".eval":
        return json.dumps(members(path))
    if path.suffix == ".parquet":
        from pyarrow import parquet

        table = parquet.read_table(path)
        return str(table.to_pylist()) + str(table.schema.metadata)
    return path.read_text() if path.is_file() else ""


def test_bad_exports_are_one_sentence(gradeschool: Command, answers: Path, tmp_path: Path) -> None:
    out = tmp_path / "o.eval"
    several = jsonl(tmp_path / "several.jsonl",
                    [{"index": 0, "run": name, "completion": "#### 600"} for name in "ab"]
                    + [{"index": 0, "run": "c", "error": "late"}])  # fmt: skip
    (tmp_path / "file").write_text("")
    before = sorted(tmp_path.iterdir())
    for spec, target, words in (
        (several, out, f"'{several}#a', '{several}#b'"),
        (answers, tmp_path / "out.json", "must end in .eval"),
        (f"{several}#c", out, "1 sample has no completion"),
        (tmp_path / "none", out, "does not exist"),
        (answers, tmp_path / "file/a.eval", "cannot write|is a folder|Not a directory"),
    ):
        result = gradeschool("export", spec, "--to", "inspect", "-d", "sample", "-o", target)
        assert result.status == 2
        assert re.search(re.escape(words) if target == out else words, result.err), result.err
        assert "Traceback" not in result.err
    assert sorted(tmp_path.iterdir()) == before


def test_parquet_has_a_row_per_sample(gradeschool: Command, answers: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(export(gradeschool, answers, "parquet", tmp_path, *CHOSEN))
    rows = table.to_pylist()
    assert len(rows) == len(HOSTILE) + 3
    assert rows[0]["completion"] == "The total is $600.\n#### 600"
    assert [rows[0][name] for name in ("run", "problem_id", "sample", "gold", "read")] == [
        "org/model-7b", "0", 0, "600", "600",
    ]  # fmt: skip
    assert [rows[index]["openai/2021"] for index in (1, 2)] == ["error", "no_answer"]
    assert rows[2]["gradeschool/reader"] == "correct"


def test_inspect_has_epochs_and_scores(gradeschool: Command, answers: Path, tmp_path: Path) -> None:
    fields = members(export(gradeschool, answers, "inspect", tmp_path, *CHOSEN))
    good, failed = fields["samples/0_epoch_1.json"], fields["samples/0_epoch_2.json"]
    assert (good["id"], good["epoch"], good["target"]) == (0, 1, "600")
    assert good["output"]["choices"][0]["stop_reason"] == "stop"
    score = good["scores"]["gradeschool/reader"]
    assert (score["value"], score["answer"]) == ("C", "600")
    assert good["output"]["completion"][slice(*score["metadata"]["span"])] == "600"
    assert failed["error"]["message"] == "timeout: the server said nothing"
    assert failed["scores"] == {}
    missed = fields["samples/29_epoch_1.json"]["scores"]["openai/2021"]
    assert (missed["value"], missed["answer"]) == ("N", None)
    header = fields["header.json"]
    assert header["eval"]["config"]["epochs"] == len(HOSTILE) + 1
    assert header["eval"]["task_args"] == {"dataset": "sample"}
    assert header["results"]["total_samples"] == len(HOSTILE) + 3
    assert header["results"]["completed_samples"] == len(HOSTILE) + 2
    assert [score["name"] for score in header["results"]["scores"]] == list(CHOSEN[1::2])
    assert inspect_scorer_name("inspect/match-numeric@<=0.3.220") == (
        "gradeschool/inspect/match-numeric:<=0_3_220"
    )


def test_inspect_shows_proven_prompts(gradeschool: Command, run: Path, tmp_path: Path) -> None:
    """A row with another key has the question alone; a part of a run is "cancelled"."""
    rows = changed_rows(run, 1, key="0" * 64)
    fields = members(export(gradeschool, run, "inspect", tmp_path))
    assert fields["header.json"]["status"] == "success"
    problems = load_dataset("sample").problems
    prompts = get_protocol("zero-shot/chat").render(problems, ())
    for index, (problem, prompt) in enumerate(zip(problems, prompts, strict=True)):
        turns = [{"role": turn.role, "content": turn.content} for turn in prompt.messages]
        sent = fields[f"samples/{index}_epoch_1.json"]["input"]
        assert sent == (problem.question if index == 1 else turns)
    jsonl(run / "completions.jsonl", rows[:40])
    part = members(export(gradeschool, run, "inspect", tmp_path, "--force"))
    assert part["header.json"]["status"] == "cancelled"


def test_tokens_and_reasoning_are_exported(gradeschool: Command, run: Path, tmp_path: Path) -> None:
    changed_rows(run, 0, prompt_tokens=7, completion_tokens=5, reasoning="hmm", model="by")
    fields = members(export(gradeschool, run, "inspect", tmp_path))
    sample = fields["samples/0_epoch_1.json"]
    usage = {"input_tokens": 7, "output_tokens": 5, "total_tokens": 12}
    assert (sample["output"]["usage"], sample["output"]["model"]) == (usage, "by")
    assert sample["messages"][-1]["content"][0] == {"type": "reasoning", "reasoning": "hmm"}
    assert list(fields["header.json"]["stats"]["model_usage"].values()) == [usage]
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(export(gradeschool, run, "parquet", tmp_path)).to_pylist()
    assert [table[0][f"{side}_tokens"] for side in ("prompt", "completion")] == [7, 5]
    assert table[1]["prompt_tokens"] is None


def test_lm_eval_has_rows_by_filter(gradeschool: Command, answers: Path, tmp_path: Path) -> None:
    """All samples of a document are in one row; the figure of a run is the mean over documents."""
    results, rows = lm_eval(export(gradeschool, answers, "lm-eval", tmp_path, *CHOSEN))
    assert [(row["doc_id"], row["filter"]) for row in rows] == [
        (0, "gradeschool/reader"), (29, "gradeschool/reader"),
        (0, "openai/2021"), (29, "openai/2021"),
    ]  # fmt: skip
    assert [len(row["resps"][0]) for row in rows[:2]] == [1, len(HOSTILE) + 1]
    assert rows[0]["filtered_resps"] == ["600"]
    assert [rows[index]["filtered_resps"][0][0] for index in (1, 3)] == ["13", "[invalid]"]
    (figures,) = results["results"].values()
    means = [(rows[index]["exact_match"] + rows[index + 1]["exact_match"]) / 2 for index in (0, 2)]
    assert figures["exact_match,gradeschool/reader"] == pytest.approx(means[0])
    assert figures["exact_match,openai/2021"] == means[1] == 0.5
    (config,) = results["configs"].values()
    assert config["metadata"]["gradeschool"]["left_out"] == 1
    assert results["model_name"] == "org/model-7b"
    words = ("--to", "lm-eval", "-d", "sample", "-o", tmp_path / "again")
    assert f"; 1 of {len(HOSTILE) + 3} is left out\n" in gradeschool("export", answers, *words).err


def test_a_scorer_that_fails_on_a_text_has_no_figure(gradeschool: Command, tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text("def f(completion, gold):\n    return 1 / len(completion) > 0\n")
    rows = [{"index": index, "completion": text} for index, text in enumerate(("#### 5", ""))]
    answers = jsonl(tmp_path / "answers.jsonl", rows)
    words = ("export", answers, "-d", "sample", "--to", "lm-eval", "--scorer", f"{own}:f")
    result = gradeschool(*words, "-o", tmp_path / "lm")
    assert (result.status, "itself fails on texts" in result.err) == (0, True), result.err
    results, _ = lm_eval(tmp_path / "lm")
    assert not any("exact_match" in name for name in results["results"]["sample"])
    accuracy = results["configs"]["sample"]["metadata"]["gradeschool"]["accuracy"]
    assert [(each["value"], each["bounds"]) for each in accuracy.values()] == [(None, [0.5, 1.0])]


def test_lm_evals_own_scorers_are_filters(gradeschool: Command, tmp_path: Path, data: Path) -> None:
    output = tmp_path / "said.jsonl"
    output.write_text(json.dumps({"index": 0, "model": "m", "completion": "#### 18"}) + "\n")
    request = ("-m", f"recorded/{output}", "-p", "lm-eval/gsm8k", "-n", 1, "-o", tmp_path / "run")
    gradeschool.done("eval", *request)
    results, rows = lm_eval(export(gradeschool, tmp_path / "run", "lm-eval", tmp_path))
    assert [row["filter"] for row in rows] == [
        "strict-match", "flexible-extract", "gradeschool/reader",
    ]  # fmt: skip
    assert list(results["results"]) == ["gsm8k"]
    assert results["n-shot"] == {"gsm8k": 5}
    assert results["n-samples"] == {"gsm8k": {"original": 1319, "effective": 1}}
    protocol = get_protocol("lm-eval/gsm8k")
    shots = load_dataset(protocol.shots).problems
    (prompt,) = protocol.render(load_dataset("gsm8k").problems[:1], shots)
    assert rows[0]["arguments"]["gen_args_0"]["arg_0"] == prompt.text
