"""Plain rows: which field is the text, the problem, the run, and what is wrong with a row."""

from __future__ import annotations

from typing import Any

import pytest

from gradeschool.completion import Finish
from gradeschool.formats.plain import columns_of, plain, plain_name, run_name
from gradeschool.formats.samples import Reference, Sample
from gradeschool.formats.tables import Row


def read(prompts: bool = False, **fields: Any) -> list[Sample]:
    return plain(Row(7, fields), "default", prompts)


def only(**fields: Any) -> Sample:
    [sample] = read(**fields)
    return sample


def test_a_whole_row() -> None:
    sample = only(
        index=3, sample=2, run="mine", completion="#### 5", finish_reason="length", model="m"
    )
    assert sample == Sample(7, "mine", "#### 5", Reference(position=3), 2, Finish.LENGTH, model="m")


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"output": "a"}, "a"),
        ({"response": "a", "answer": "#### 5"}, "a"),
        ({"answer": "a"}, "a"),
        ({"completion": None, "output": "a"}, "a"),
        ({"completion": {"unknown": 1}, "error": "timeout"}, ""),
        ({"completion": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "ab"),
        ({"completion": ""}, ""),
    ],
)
def test_the_text_of_a_row(fields: dict[str, Any], text: str) -> None:
    sample = only(id="1", **fields)
    assert (sample.text, sample.fault) == (text, "")


def test_a_list_of_texts_is_several_samples() -> None:
    samples = read(id="1", sample=4, completions=["a", "b"])
    assert [(each.text, each.sample) for each in samples] == [("a", 4), ("b", 5)]
    outputs = read(id="1", responses=[{"text": "a"}, {"text": "b"}])
    assert [(each.text, each.sample) for each in outputs] == [("a", 0), ("b", 1)]


@pytest.mark.parametrize(
    ("fields", "reference"),
    [
        ({"index": "12"}, Reference(position=12)),
        ({"id": 3.0}, Reference(id="3")),
        ({"question_id": "gsm8k-3"}, Reference(id="gsm8k-3")),
        ({"question": "Q?"}, Reference(question="Q?")),
        ({"id": "1", "gold": "1,250"}, Reference(id="1", gold="1,250")),
        ({"id": "1", "answer": "3 + 2\n#### 5"}, Reference(id="1", gold="3 + 2\n#### 5")),
        ({"id": "1", "target": 5}, Reference(id="1", gold="5")),
        ({"id": "1", "gold": True}, Reference(id="1")),
    ],
)
def test_how_a_row_names_its_problem(fields: dict[str, Any], reference: Reference) -> None:
    assert only(completion="a", **fields).reference == reference


def test_a_prompt_names_the_problem_where_the_caller_says_so() -> None:
    [sample] = read(prompts=True, prompt="Q: How many?", completion="a")
    assert sample.reference == Reference(question="Q: How many?")
    assert "names no problem" in only(prompt="Q: How many?", completion="a").fault


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"index": 1}, "has no text; its columns are 'index', one must be 'completion'"),
        ({"index": 1, "output": 5}, "has no text: its 'output' is 5; give a string"),
        ({"index": 1, "output": None}, "has no text: its 'output' is null; give a string"),
        ({"index": 1.5, "output": "a"}, "has the index 1.5, which is not a whole number"),
        ({"index": True, "output": "a"}, "has the index True, which is not a whole number"),
        ({"output": "a"}, "names no problem; its columns are 'output'"),
    ],
)
def test_what_is_wrong_with_a_row(fields: dict[str, Any], fault: str) -> None:
    assert only(**fields).fault.startswith(fault)


def test_columns_are_known_in_any_spelling() -> None:
    columns = columns_of(("Model Name", "Finish-Reason", "ERROR", "other"))
    assert columns == (("Model Name",), ("ERROR",), ("Finish-Reason",))
    assert plain_name(" Finish-Reason ") == "finish_reason"


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("m", "m"),
        ({"name": "m"}, "m"),
        ({"id": "m"}, "m"),
        (3, "3"),
        (None, ""),
        (float("nan"), ""),
        (True, ""),
    ],
)
def test_the_name_of_a_run_in_a_field(value: object, name: str) -> None:
    assert run_name(value) == name
