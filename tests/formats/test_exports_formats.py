"""What stands in the files of `gradeschool export`, format by format."""

import hashlib
import importlib
import json
import uuid
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from gradeschool import load_dataset
from gradeschool.errors import InputError
from gradeschool.formats.every_eval_ever import every_eval_ever_files
from gradeschool.formats.export import (
    ExportedFile,
    ExportedRun,
    ExportedSample,
    ExportedScore,
    save_files,
)
from gradeschool.formats.hub import eval_results_files, model_index_files
from gradeschool.formats.inspect_log import inspect_files, inspect_scorer_name
from gradeschool.formats.lm_eval import lm_eval_files
from gradeschool.protocols.registry import get_protocol, get_scorer
from gradeschool.verdict import Outcome, Verdict
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.exports import answers as answers  # fixtures
from tests.support.exports import export
from tests.support.exports import run as run
from tests.support.hostile_report import HOSTILE

SCORERS = ("--scorer", "gradeschool/reader", "--scorer", "openai/2021")


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("ascii").split("\n") if line]


def lm_eval(folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    (results,), (samples,) = folder.glob("*/results_*.json"), folder.glob("*/samples_*.jsonl")
    stamp = results.stem.removeprefix("results_")
    assert samples.stem.endswith(f"_{stamp}")
    return json.loads(results.read_text("ascii")), rows_of(samples)


def members(path: Path) -> dict[str, Any]:
    with zipfile.ZipFile(path) as archive:
        return {name: json.loads(archive.read(name)) for name in archive.namelist()}


def test_lm_eval_has_a_row_for_each_document_and_filter(
    gradeschool: Command, answers: Path, tmp_path: Path
) -> None:
    """All samples of a document in one row; its figure is their mean, as is the run's of those."""
    results, rows = lm_eval(export(gradeschool, answers, "lm-eval", tmp_path, *SCORERS))
    assert [(row["doc_id"], row["filter"]) for row in rows] == [
        (0, "gradeschool/reader"), (29, "gradeschool/reader"),
        (0, "openai/2021"), (29, "openai/2021"),
    ]  # fmt: skip
    assert [len(row["resps"][0]) for row in rows[:2]] == [1, len(HOSTILE) + 1]
    assert rows[0]["filtered_resps"] == ["600"]
    assert rows[1]["filtered_resps"][0][0] == "13"
    assert rows[3]["filtered_resps"][0][0] == "[invalid]"
    assert rows[3]["exact_match"] == 0.0
    (figures,) = results["results"].values()
    means = [(rows[index]["exact_match"] + rows[index + 1]["exact_match"]) / 2 for index in (0, 2)]
    assert figures["exact_match,gradeschool/reader"] == pytest.approx(means[0])
    assert figures["exact_match,openai/2021"] == means[1] == 0.5
    (config,) = results["configs"].values()
    assert config["metadata"]["gradeschool"]["left_out"] == 1
    assert config["metadata"]["gradeschool"]["protocol"] is None  # the file records none
    assert results["model_name"] == "org/model-7b"


def test_lm_evals_own_scorers_are_filters_by_their_own_names(
    gradeschool: Command, tmp_path: Path, data: Path
) -> None:
    """Task and filters are called as in lm-eval; the prompts are those that were sent."""
    output = tmp_path / "said.jsonl"
    output.write_text(json.dumps({"index": 0, "model": "m", "completion": "#### 18"}) + "\n")
    request = ("-m", f"recorded/{output}", "-p", "lm-eval/gsm8k", "-n", 1, "-o", tmp_path / "run")
    assert gradeschool("eval", *request).status == 0
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
    assert rows[0]["prompt_hash"] == hashlib.sha256(str(prompt.text).encode()).hexdigest()


def test_inspect_samples(gradeschool: Command, answers: Path, tmp_path: Path) -> None:
    """Epochs, targets, stops, scores, spans; a failed sample has its error and no score."""
    fields = members(export(gradeschool, answers, "inspect", tmp_path, *SCORERS))
    good = fields["samples/0_epoch_1.json"]
    assert (good["id"], good["epoch"], good["target"]) == (0, 1, "600")
    assert good["output"]["choices"][0]["stop_reason"] == "stop"
    score = good["scores"]["gradeschool/reader"]
    assert (score["value"], score["answer"]) == ("C", "600")
    start, end = score["metadata"]["span"]
    assert good["output"]["completion"][start:end] == "600"
    failed = fields["samples/0_epoch_2.json"]
    assert failed["error"]["message"] == "timeout: the server said nothing"
    assert failed["scores"] == {}
    missed = fields["samples/29_epoch_1.json"]["scores"]["openai/2021"]
    assert (missed["value"], missed["answer"]) == ("N", None)
    header = fields["header.json"]
    assert header["eval"]["config"]["epochs"] == len(HOSTILE) + 1
    assert header["eval"]["task_args"] == {"dataset": "sample"}
    assert header["eval"]["metadata"]["protocol"] is None
    assert header["results"]["total_samples"] == len(HOSTILE) + 3
    assert header["results"]["completed_samples"] == len(HOSTILE) + 2
    assert len(fields["summaries.json"]) == len(HOSTILE) + 3
    assert [score["name"] for score in header["results"]["scores"]] == list(SCORERS[1::2])


def test_inspect_scorers_are_named_as_they_are_registered() -> None:
    """As `gradeschool.integrations.inspect_scorers` says, which needs inspect to be imported."""
    assert inspect_scorer_name("gradeschool/reader") == "gradeschool/reader"
    named = inspect_scorer_name("inspect/match-numeric@<=0.3.220")
    assert named == "gradeschool/inspect/match-numeric:<=0_3_220"


def test_prompts_are_there_where_the_key_proves_them(
    gradeschool: Command, run: Path, tmp_path: Path
) -> None:
    """The messages of the protocol; a row with another key has the question alone."""
    path = run / "completions.jsonl"
    lines = path.read_text().split("\n")
    row = json.loads(lines[1])
    lines[1] = json.dumps({**row, "key": "0" * 64})
    path.write_text("\n".join(lines))
    fields = members(export(gradeschool, run, "inspect", tmp_path))
    problems = load_dataset("sample").problems
    prompts = get_protocol("zero-shot/chat").render(problems, ())
    for index, (problem, prompt) in enumerate(zip(problems, prompts, strict=True)):
        sample = fields[f"samples/{index}_epoch_1.json"]
        turns = [{"role": turn.role, "content": turn.content} for turn in prompt.messages]
        assert sample["input"] == (problem.question if index == 1 else turns)
        assert sample["metadata"] == {"question": problem.question, "solution": problem.solution}


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
    folder = export(gradeschool, answers, "every-eval-ever", tmp_path, *SCORERS)
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


def test_lm_eval_has_the_samples_of_a_document_by_their_numbers(tmp_path: Path) -> None:
    """A run stores them as they arrive; a majority vote breaks ties by their order."""
    run = run_with_a_silent_scorer()
    (first,) = run.samples
    samples = [first._replace(sample=number, text=f"#### {number}") for number in (2, 0, 1)]
    save_files(tmp_path, lm_eval_files(replace(run, samples=tuple(samples))))
    _, rows = lm_eval(tmp_path)
    assert [row["resps"] for row in rows] == [[["#### 0", "#### 1", "#### 2"]]] * 2


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


def test_a_leaderboard_takes_no_score_of_nothing() -> None:
    run = replace(run_with_a_silent_scorer(), dataset="gsm8k")
    index = b"".join(written(model_index_files(run)))
    assert b"gradeschool/reader" in index
    assert b"openai/2021" not in index
    silent = replace(run, scores=run.scores[1:])
    with pytest.raises(InputError, match="openai/2021 can judge none of its completions"):
        eval_results_files(silent)


def written(files: Sequence[ExportedFile]) -> Iterator[bytes]:
    """The content of each file of an export."""
    for file in files:
        stream = BytesIO()
        file.write(stream)
        yield stream.getvalue()


def test_parquet(gradeschool: Command, answers: Path, tmp_path: Path) -> None:
    """A row a sample; lone surrogates are U+FFFD, and the file says so."""
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(export(gradeschool, answers, "parquet", tmp_path, *SCORERS))
    rows = table.to_pylist()
    assert len(rows) == len(HOSTILE) + 3
    assert rows[0]["completion"] == "The total is $600.\n#### 600"
    assert [rows[0][name] for name in ("run", "problem_id", "sample", "gold", "read")] == [
        "org/model-7b", "0", 0, "600", "600",
    ]  # fmt: skip
    assert rows[1]["openai/2021"] == "error"
    assert rows[2]["openai/2021"] == "no_answer"
    assert rows[2]["gradeschool/reader"] == "correct"
    assert "lone \ufffd surrogate #### 5" in {row["completion"] for row in rows}
    about = json.loads(table.schema.metadata[b"gradeschool"])
    assert about["protocol"] is None
    assert about["surrogates"] == "lone surrogates are written as U+FFFD"


def test_a_leaderboard_takes_whole_runs_of_gsm8k_alone(
    gradeschool: Command, run: Path, answers: Path, tmp_path: Path
) -> None:
    """Other datasets and failed samples are refused, in words; no file is left."""
    for name, target in (("eval-results", "a.yaml"), ("model-index", "a.md")):
        for spec in (run, answers):
            dataset = ("-d", "sample") if spec is answers else ()
            result = gradeschool("export", spec, "--to", name, "-o", tmp_path / target, *dataset)
            assert result.status == 2
            assert "is not a result for openai/gsm8k" in result.err
            assert result.err.endswith("the test split of GSM8K; export to another format\n")
            assert not (tmp_path / target).exists()


def test_hub_files(gradeschool: Command, tmp_path: Path, data: Path) -> None:
    """Parsed by huggingface_hub itself: entry of the benchmark, and the card's results."""
    hub = pytest.importorskip("huggingface_hub")
    cards = importlib.import_module("huggingface_hub.repocard")
    yaml = importlib.import_module("yaml")
    path = tmp_path / "answers.jsonl"
    rows = [{"index": index, "model": "org/m", "completion": "#### 18"} for index in range(1319)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = tmp_path / ".eval_results" / "gsm8k.yaml"
    words = ("--scorer", "openai/2021", "--scorer", "gradeschool/reader")
    ended = gradeschool("export", path, "--to", "eval-results", "-o", out, *words)
    assert ended.status == 0, ended.err
    (entry,) = hub.parse_eval_result_entries(yaml.safe_load(out.read_text()))
    assert (entry.dataset_id, entry.task_id) == ("openai/gsm8k", "gsm8k")
    right = sum(problem.gold == "18" for problem in load_dataset("gsm8k").problems)
    assert entry.value == round(100 * right / 1319, 2) > 0
    assert hub.eval_result_entries_to_yaml([entry]) == yaml.safe_load(out.read_text())
    assert "openai/2021" in entry.notes
    card = tmp_path / "card.md"
    ended = gradeschool("export", path, "--to", "model-index", "-o", card, *words)
    assert ended.status == 0, ended.err
    loaded = cards.ModelCard.load(card)
    results = loaded.data.eval_results
    assert [result.metric_value for result in results] == [entry.value] * 2
    assert {result.dataset_type for result in results} == {"openai/gsm8k"}
    assert "protocol" not in card.read_text()
    some = tmp_path / "some.jsonl"
    some.write_text("".join(json.dumps(row) + "\n" for row in rows[:100]))
    ended = gradeschool("export", some, "--to", "eval-results", "-o", tmp_path / "b.yaml")
    assert "it has answers to 100 of 1,319 problems; finish it, or export" in ended.err


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


def test_the_failed_samples_that_lm_eval_leaves_out_are_counted(
    gradeschool: Command, answers: Path, tmp_path: Path
) -> None:
    words = ("--to", "lm-eval", "-d", "sample", "-o", tmp_path / "lm")
    total = len(HOSTILE) + 3
    assert f"; 1 of {total} is left out\n" in gradeschool("export", answers, *words).err
    one = tmp_path / "one.jsonl"
    one.write_text('{"index": 0, "completion": "#### 600"}\n')
    shown = gradeschool("export", one, *words, "--force").out
    assert "1 completion, " in shown
