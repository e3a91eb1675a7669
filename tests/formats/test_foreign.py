"""OpenAI's Batch API and its published solutions."""

from pathlib import Path
from typing import Any

import pytest

from gradeschool.completion import Finish
from tests.formats.test_read import read

Row = dict[str, Any]


def batch_row(custom_id: object, *contents: object, status: int = 200, **fields: object) -> Row:
    choices = [
        {
            "index": index,
            "message": {"role": "assistant", "content": content},
            "finish_reason": "stop",
        }
        for index, content in enumerate(contents)
    ]
    body = {"id": "chatcmpl-1", "model": "gpt-4o-2024-08-06", "choices": choices}
    response = {"status_code": status, "request_id": "r", "body": body}
    return {"id": "b", "custom_id": custom_id, "response": response, "error": None, **fields}


def test_batch_output(tmp_path: Path) -> None:
    """The choices of a request are samples; the run is the model that answered."""
    file_samples = read(tmp_path, batch_row("gsm8k-12", "a", "b"), batch_row("0013", "c"))
    assert [(item.text, item.sample, item.reference.id) for item in file_samples] == [
        ("a", 0, "gsm8k-12"),
        ("b", 1, "gsm8k-12"),
        ("c", -1, "0013"),
    ]
    assert {item.run for item in file_samples} == {"gpt-4o-2024-08-06"}
    assert {item.finish for item in file_samples} == {Finish.STOP}


@pytest.mark.parametrize(
    ("custom_id", "expected"),
    [
        ("gsm8k-12", ("gsm8k-12", -1)),
        ("12", ("12", -1)),
        ("request-12-sample-3", ("request-12", 3)),
        ("gsm8k/12/sample_3", ("gsm8k/12", 3)),
        ("12-sample3", ("12", 3)),
        ("example-3", ("example-3", -1)),
        (12, ("12", -1)),
    ],
)
def test_forms_of_custom_id(tmp_path: Path, custom_id: object, expected: object) -> None:
    """A custom_id names the problem, and perhaps the sample."""
    [item] = read(tmp_path, batch_row(custom_id, "a"))
    assert (item.reference.id, item.sample) == expected


def test_failed_batch_requests(tmp_path: Path) -> None:
    """Errors of the request and of its response are errors of the run whose model answers."""
    failed = {"status_code": 429, "body": {"error": {"message": "Rate limit", "code": "x"}}}
    file_samples = read(
        tmp_path,
        batch_row("gsm8k-0", "a"),
        batch_row("gsm8k-1", response=None, error={"code": "batch_expired", "message": None}),
        batch_row("gsm8k-2", response=failed),
        batch_row("gsm8k-3", status=500),
    )
    assert [sample.error for sample in file_samples] == [
        "",
        "batch_expired",
        "Rate limit",
        "status 500",
    ]
    assert {(sample.run, sample.fault) for sample in file_samples} == {("gpt-4o-2024-08-06", "")}


def test_batch_rows_of_every_odd_form(tmp_path: Path) -> None:
    """Null content is an empty answer; a response without text is a fault."""
    legacy = batch_row("gsm8k-1", "x")
    legacy["response"]["body"]["choices"] = [{"text": "old completions", "finish_reason": "length"}]
    responses = batch_row("gsm8k-2")
    responses["response"]["body"] = {
        "model": "gpt-5",
        "status": "completed",
        "output": [
            {"type": "reasoning", "content": [{"type": "reasoning_text", "text": "perhaps 5"}]},
            {"type": "message", "content": [{"type": "output_text", "text": "18"}]},
        ],
    }
    odd = batch_row("gsm8k-3", "x", "y")
    odd["response"]["body"]["choices"][0] = None
    file_samples = read(
        tmp_path,
        batch_row("gsm8k-0", None, [{"type": "text", "text": "a"}]),
        legacy,
        responses,
        odd,
        batch_row("gsm8k-4"),
        batch_row("gsm8k-5", response={"status_code": 200, "body": "<html>"}),
    )
    assert [(sample.text, sample.fault) for sample in file_samples] == [
        ("", ""),
        ("a", ""),
        ("old completions", ""),
        ("18", ""),
        ("", "has a choice without a text (choice 0)"),
        ("y", ""),
        ("", "has a response without 'choices'"),
        ("", "has a response without 'choices'"),
    ]
    assert file_samples[2].finish is Finish.LENGTH


def test_openai_example_solutions(tmp_path: Path) -> None:
    """The published example_model_solutions.jsonl holds a solution of each system in a row."""
    row = {
        "question": "How?",
        "ground_truth": "#### 18",
        "175b_finetuning": {"solution": "A: 18", "is_correct": True},
        "6b_finetuning": {"solution": "A: 17", "is_correct": False},
    }
    assert [
        (sample.run, sample.text, sample.reference.question) for sample in read(tmp_path, row)
    ] == [
        ("175b_finetuning", "A: 18", "How?"),
        ("6b_finetuning", "A: 17", "How?"),
    ]


def test_a_batch_reply_that_reached_its_limit_is_truncated(tmp_path: Path) -> None:
    message = {"type": "message", "content": [{"type": "output_text", "text": "7"}]}
    details = {"reason": "max_output_tokens"}
    body = {"status": "incomplete", "incomplete_details": details, "output": [message]}
    row = {"custom_id": "gsm8k-3", "response": {"status_code": 200, "body": body}}
    [sample] = read(tmp_path, row)
    assert (sample.text, sample.finish) == ("7", Finish.LENGTH)


RESPONSE: dict[str, Any] = {
    "model": "gpt-5",
    "status": "incomplete",
    "incomplete_details": {"reason": "max_output_tokens"},
    "text": {"format": {"type": "text"}},
    "output": [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "perhaps 5"}]},
        {"type": "message", "content": [{"type": "output_text", "text": "Let me see."}]},
        {"type": "message", "content": [{"type": "output_text", "text": "It is 1"},
                                        {"type": "output_text", "text": "8."}]},
    ],
}  # fmt: skip


@pytest.mark.parametrize(("items", "text"), [(3, "It is 18."), (2, "Let me see."), (1, "")])
@pytest.mark.parametrize("form", [
    {"custom_id": "gsm8k-3", "response": {"status_code": 200, "body": None}},
    {"idx": 3, "response": None},
], ids=["batch", "column"])  # fmt: skip
def test_a_body_of_the_responses_api_is_read_alike_everywhere(
    tmp_path: Path, form: Row, items: int, text: str
) -> None:
    """Its last message is the answer; the text is empty if it was cut while thinking."""
    body = {**RESPONSE, "output": RESPONSE["output"][:items]}
    response = body if form["response"] is None else {**form["response"], "body": body}
    [sample] = read(tmp_path, {**form, "response": response})
    assert (sample.text, sample.fault, sample.finish) == (text, "", Finish.LENGTH)
