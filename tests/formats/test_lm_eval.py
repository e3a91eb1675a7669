"""lm-eval's files: what `gradeschool export` writes, and recordings of its samples."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gradeschool import load_dataset
from gradeschool.completion import Prompt
from gradeschool.errors import InputError
from gradeschool.formats.export import (
    save_files,
)
from gradeschool.formats.lm_eval import arguments_of, lm_eval_files, prompt_of
from gradeschool.formats.read import read_samples
from gradeschool.formats.samples import Reference
from gradeschool.protocols.registry import get_protocol
from tests.formats.test_export import CHOSEN, rows_of, run_with_a_silent_scorer
from tests.formats.test_read import jsonl, read
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.exports import answers as answers  # fixtures
from tests.support.exports import export
from tests.support.exports import run as run
from tests.support.hostile_report import HOSTILE

Row = dict[str, Any]


def lm_eval(folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    (results,), (samples,) = folder.glob("*/results_*.json"), folder.glob("*/samples_*.jsonl")
    stamp = results.stem.removeprefix("results_")
    assert samples.stem.endswith(f"_{stamp}")
    return json.loads(results.read_text("ascii")), rows_of(samples)


def test_lm_eval_has_a_row_for_each_document_and_filter(
    gradeschool: Command, answers: Path, tmp_path: Path
) -> None:
    """All samples of a document in one row; its figure is their mean, as is the run's of those."""
    results, rows = lm_eval(export(gradeschool, answers, "lm-eval", tmp_path, *CHOSEN))
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


def test_lm_eval_has_the_samples_of_a_document_by_their_numbers(tmp_path: Path) -> None:
    """A run stores them as they arrive; a majority vote breaks ties by their order."""
    run = run_with_a_silent_scorer()
    (first,) = run.samples
    samples = [first._replace(sample=number, text=f"#### {number}") for number in (2, 0, 1)]
    save_files(tmp_path, lm_eval_files(replace(run, samples=tuple(samples))))
    _, rows = lm_eval(tmp_path)
    assert [row["resps"] for row in rows] == [[["#### 0", "#### 1", "#### 2"]]] * 2


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


def lm_eval_rows(
    resps: Sequence[object], filters: Sequence[str] = ("strict", "flexible")
) -> list[Row]:
    """Rows as lm-eval 0.4.13 writes them: all documents of one filter, then of the next."""
    return [
        {
            "doc_id": index,
            "doc": {"question": f"Question {index}?", "answer": f"so\n#### {index}"},
            "target": f"so\n#### {index}",
            "arguments": {"gen_args_0": {"arg_0": "Question: ...", "arg_1": {"until": ["Q:"]}}},
            "resps": [texts],
            "filtered_resps": ["[invalid]"],
            "filter": name,
            "metrics": ["exact_match"],
            "doc_hash": "63aa",
            "exact_match": 0.0,
        }
        for name in filters
        for index, texts in enumerate(resps)
    ]


def test_lm_eval_samples(tmp_path: Path) -> None:
    """The responses of the first filter's rows count, one sample for each repeat."""
    stamp = "2026-11-21T03-14-00.364523"
    path = jsonl(tmp_path / f"samples_gsm8k_{stamp}.jsonl", lm_eval_rows([["a", "b"], ["c", "d"]]))
    file_samples = read_samples(path)
    assert [(item.text, item.sample, item.row) for item in file_samples] == [
        ("a", 0, 1),
        ("b", 1, 1),
        ("c", 0, 2),
        ("d", 1, 2),
    ]
    assert file_samples[2].reference == Reference(1, None, "Question 1?", "so\n#### 1")
    assert {item.run for item in file_samples} == {path.stem}
    (tmp_path / f"results_{stamp}.json").write_text('{"model_name": "org/model"}')
    assert {item.run for item in read_samples(path)} == {"org/model"}


def test_rows_of_other_filters_with_other_responses_are_refused(tmp_path: Path) -> None:
    """Two tasks in one file: skipping the second one's rows would lose them without a word."""
    rows = lm_eval_rows([["a"], ["b"]]) + lm_eval_rows([["c"], ["d"]], ("score-first", "maj@8"))
    with pytest.raises(InputError, match=r"2 rows of .* \(row 5: 'score-first'\).* own file"):
        read_samples(jsonl(tmp_path / "samples_gsm8k.jsonl", rows))


def test_rows_of_other_filters_in_an_array_are_refused_too(tmp_path: Path) -> None:
    rows = lm_eval_rows([["a"], ["b"]]) + lm_eval_rows([["c"], ["d"]], ("score-first", "maj@8"))
    path = tmp_path / "samples_gsm8k.json"
    path.write_text(json.dumps(rows))
    with pytest.raises(InputError, match=r"2 rows of .* other filters"):
        read_samples(path)


def test_lm_eval_samples_of_another_dataset(tmp_path: Path) -> None:
    """The log's own question and target go with them, whatever its columns are called."""
    rows = lm_eval_rows([["a"]], filters=["none"])
    rows[0]["doc"] = {"problem": "AIME?", "answer": 70}
    rows[0]["target"] = "70"
    assert read(tmp_path, *rows)[0].reference == Reference(0, None, "AIME?", "70")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"resps": []}, "has no 'doc' object or no list of 'resps'"),
        ({"resps": [[]]}, "has no 'doc' object or no list of 'resps'"),
        ({"doc": 3}, "has no 'doc' object or no list of 'resps'"),
        ({"resps": [[[-0.5, True]]]}, "has the response [-0.5, True]; give a text"),
    ],
)
def test_bad_lm_eval_rows(tmp_path: Path, change: Row, fault: str) -> None:
    """Samples of log-likelihood tasks and damaged rows hold no text."""
    rows = lm_eval_rows([["a"]], filters=["none"])
    assert [sample.fault for sample in read(tmp_path, *rows, {**rows[0], **change})] == ["", fault]


def test_chat_messages_that_lm_eval_writes_as_json_are_messages() -> None:
    assert prompt_of('[{"role": "user", "content": "Q?"}]') == Prompt(messages=(("user", "Q?"),))  # type: ignore[arg-type]
    assert prompt_of("[1, 2] apples?") == Prompt(text="[1, 2] apples?")
    assert prompt_of([{"role": "user", "content": [{"type": "text", "text": "Q?"}]}]) is not None
    assert prompt_of(None) is None


def test_arguments_of_older_files_are_read() -> None:
    options = {"until": ["Q:"]}
    assert arguments_of([["Q?", options]]) == ("Q?", options)
    assert arguments_of({"gen_args_0": {"arg_0": "Q?", "arg_1": options}}) == ("Q?", options)
    unusable: list[Any] = [[], [[]], [3], None, "x", {"gen_args_0": 5}]
    for odd in unusable:
        assert arguments_of(odd) == (None, {})
