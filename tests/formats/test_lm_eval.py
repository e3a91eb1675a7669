"""Recordings of lm-eval's samples."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gradeschool.completion import Prompt
from gradeschool.errors import InputError
from gradeschool.formats.lm_eval import arguments_of, prompt_of
from gradeschool.formats.read import read_samples
from gradeschool.formats.samples import Reference
from tests.formats.test_read import read
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.files import jsonl

Row = dict[str, Any]


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
    assert file_samples[2].reference == Reference("1", "Question 1?", "so\n#### 1")
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
    assert read(tmp_path, *rows)[0].reference == Reference("0", "AIME?", "70")


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
