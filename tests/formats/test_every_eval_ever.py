"""Samples of Every Eval Ever as other tools write them: several results and outputs, faults."""

import json
from pathlib import Path
from typing import Any

from gradeschool.formats.read import read_samples


def row(**changes: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "schema_version": "0.2.2",
        "evaluation_id": "gsm8k/org/m/1",
        "model_id": "org/m",
        "evaluation_name": "gsm8k",
        "sample_id": "gsm8k_0001",
        "interaction_type": "single_turn",
        "input": {"raw": "How many?", "reference": ["13"]},
        "output": {"raw": ["#### 13"]},
        "answer_attribution": [],
        "evaluation": {"score": 1.0, "is_correct": True},
    }
    return fields | changes


def file_of(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "x_samples.jsonl"
    path.write_text("".join(json.dumps(fields) + "\n" for fields in rows))
    return path


def test_one_output(tmp_path: Path) -> None:
    (sample,) = read_samples(file_of(tmp_path, row()))
    assert (sample.run, sample.text, sample.fault) == ("org/m", "#### 13", "")
    assert (sample.reference.question, sample.reference.answer) == ("How many?", "13")


def test_rows_of_further_results_are_not_read_again(tmp_path: Path) -> None:
    """The same outputs under a second metric are no second samples."""
    again = row(evaluation_result_id="second")
    samples = read_samples(file_of(tmp_path, row(evaluation_result_id="first"), again))
    assert len(samples) == 1


def test_several_outputs_are_several_samples(tmp_path: Path) -> None:
    samples = read_samples(file_of(tmp_path, row(output={"raw": ["a", "b"]})))
    assert [(item.text, item.sample) for item in samples] == [("a", 0), ("b", 1)]


def test_an_error_is_an_error(tmp_path: Path) -> None:
    """As are the two forms of a failed sample: no output, and none at all."""
    outputs: tuple[object, ...] = ({"raw": []}, None)
    for output in outputs:
        (sample,) = read_samples(file_of(tmp_path, row(output=output, error="timeout")))
        assert (sample.error, sample.text, sample.fault) == ("timeout", "", "")


def test_rows_that_cannot_be_used_say_why(tmp_path: Path) -> None:
    """No output and no error; a turn that is no text; no reference: the id names the problem."""
    messages = row(interaction_type="multi_turn", output=None, messages=[])
    (first,) = read_samples(file_of(tmp_path, messages))
    assert "has no 'raw' text" in first.fault
    (second,) = read_samples(file_of(tmp_path, row(output={"raw": [7]})))
    assert "has the output 7" in second.fault
    (third,) = read_samples(file_of(tmp_path, row(input={"raw": None, "reference": []})))
    assert third.reference.id == "gsm8k_0001"


def test_the_model_is_called_as_the_aggregate_calls_it(tmp_path: Path) -> None:
    """A damaged aggregate is none."""
    (tmp_path / "x.json").write_text(json.dumps({"model_info": {"name": "the model"}}))
    (sample,) = read_samples(file_of(tmp_path, row()))
    assert sample.run == "the model"
    (tmp_path / "x.json").write_text("{")
    (sample,) = read_samples(file_of(tmp_path, row()))
    assert sample.run == "org/m"
