"""Recordings of lm-eval, inspect, the OpenAI Batch API and OpenAI's published solutions."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gradeschool.completion import Finish
from gradeschool.errors import InputError, MissingExtraError
from gradeschool.formats import inspect_log
from gradeschool.formats.read import read_samples
from gradeschool.formats.samples import FileSample, Reference
from tests.formats.test_read import jsonl, read
from tests.support.archives import DEFLATED, STORED, ZSTD, write_archive

Row = dict[str, Any]


# lm-eval


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


# inspect


def inspect_sample(number: int, epoch: int = 1, **fields: object) -> Row:
    """A sample as inspect 0.3.285 logs it, the fields that matter and some that do not."""
    output = {
        "model": "openai/gpt-4o",
        "choices": [{"message": {"role": "assistant", "content": "x"}, "stop_reason": "stop"}],
        "completion": f"ANSWER: {number}",
    }
    usual = {"id": number, "epoch": epoch, "input": f"Question {number}?", "target": str(number)}
    return {**usual, "messages": [], "output": output, "scores": {}, "events": [], **fields}


def inspect_samples() -> list[Row]:
    parts = [
        {"type": "reasoning", "reasoning": "perhaps 5"},
        {"type": "text", "text": "It is\n"},
        {"type": "text", "text": "ANSWER: 3"},
    ]
    message = {"role": "assistant", "content": parts}
    return [
        inspect_sample(1),
        inspect_sample(1, epoch=2),
        inspect_sample(
            3,
            input=[{"role": "system", "content": "s"}, {"role": "user", "content": "Question 3?"}],
            target=["3"],
            output={"choices": [{"message": message, "stop_reason": "max_tokens"}]},
        ),
        inspect_sample(
            4,
            error={"message": "RateLimitError('429')", "traceback": "..."},
            output={"model": "m", "choices": [], "completion": ""},
        ),
        inspect_sample(5, output={"model": "m", "choices": [], "completion": ""}),
        inspect_sample(6, output=None),
    ]


HEADER = {"version": 2, "status": "success", "eval": {"task": "gsm8k", "model": "openai/gpt-4o"}}


def check_inspect(file_samples: Sequence[FileSample]) -> None:
    """Check what `inspect_samples` holds."""
    assert {item.run for item in file_samples} == {"openai/gpt-4o"}
    assert [(item.text, item.sample, item.finish) for item in file_samples[:3]] == [
        ("ANSWER: 1", 0, Finish.STOP),
        ("ANSWER: 1", 1, Finish.STOP),
        ("It is\n\nANSWER: 3", 0, Finish.LENGTH),
    ]
    # Numbers that inspect gave by itself, from 1, name no problem of ours.
    assert file_samples[2].reference == Reference(question="Question 3?", answer="3")
    assert (file_samples[3].error, file_samples[3].fault) == ("RateLimitError('429')", "")
    assert (file_samples[4].text, file_samples[4].error, file_samples[4].fault) == ("", "", "")
    assert file_samples[5].fault == "has no output text"


def test_inspect_json_log(tmp_path: Path) -> None:
    """Epochs are samples, content parts are joined as inspect joins them, failures are errors."""
    path = tmp_path / "log.json"
    path.write_text(json.dumps({**HEADER, "samples": inspect_samples()}, indent=2))
    check_inspect(read_samples(path))


@pytest.mark.parametrize("method", [STORED, DEFLATED, ZSTD])
def test_inspect_archive(tmp_path: Path, method: int) -> None:
    """An `.eval` archive says the same as the JSON log, however its members are compressed."""
    if method == ZSTD:
        pytest.importorskip("zstandard", reason="zstd needs the extra 'inspect-logs'")
    path = tmp_path / "log.eval"
    write_archive(path, archive_members(), method)
    check_inspect(read_samples(path))


def archive_members() -> dict[str, bytes]:
    samples = {
        f"samples/{sample['id']}_epoch_{sample['epoch']}.json": json.dumps(sample).encode()
        for sample in inspect_samples()
    }
    journal = {"_journal/start.json": b"{}", "_journal/summaries/1.json": b"[]"}
    return {
        **journal,
        **samples,
        "summaries.json": b"[]",
        "header.json": json.dumps(HEADER).encode(),
    }


@pytest.mark.parametrize("method", [STORED, DEFLATED, ZSTD])
def test_a_damaged_member_costs_its_own_sample(tmp_path: Path, method: int) -> None:
    """A bit that fell over in one sample is told with the member's name; the others are read."""
    if method == ZSTD:
        pytest.importorskip("zstandard", reason="zstd needs the extra 'inspect-logs'")
    path = tmp_path / "log.eval"
    write_archive(path, archive_members(), method)
    raw = bytearray(path.read_bytes())
    number = raw.index(b"samples/3_epoch_1.json") + 60
    raw[number : number + 8] = b"\x07\xff\xff\x07\xff\xff\xff\x07"
    path.write_bytes(raw)
    file_samples = read_samples(path)
    assert [bool(sample.fault) for sample in file_samples] == [
        False,
        False,
        True,
        False,
        False,
        True,
    ]
    assert file_samples[2].fault.startswith("(samples/3_epoch_1.json) cannot be read: ")


@pytest.mark.parametrize("body", [b"", b"PK\x03\x04", b"no archive at all"])
def test_a_file_that_is_no_archive(tmp_path: Path, body: bytes) -> None:
    """A torn download is one message."""
    path = tmp_path / "log.eval"
    path.write_bytes(body)
    with pytest.raises(InputError, match="is not a readable inspect archive"):
        read_samples(path)


def test_a_missing_zstandard_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line with the pip command."""
    pytest.importorskip("zstandard", reason="zstd needs the extra 'inspect-logs'")
    path = tmp_path / "log.eval"
    write_archive(path, archive_members(), ZSTD)

    def refuse(name: str) -> object:
        raise ImportError(name)

    monkeypatch.setattr("importlib.import_module", refuse)
    with pytest.raises(MissingExtraError, match=r"pip install 'gradeschool\[inspect-logs\]'"):
        read_samples(path)


def test_a_member_that_is_too_large_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sample beyond the limit is a fault of its own."""
    monkeypatch.setattr(inspect_log, "LARGEST_MEMBER", 350)
    path = tmp_path / "log.eval"
    write_archive(path, archive_members(), DEFLATED)
    faults = [sample.fault for sample in read_samples(path)]
    assert "is larger than 350 bytes" in faults[2]
    assert faults[0] == ""


# OpenAI batch output


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
        ("c", None, "0013"),
    ]
    assert {item.run for item in file_samples} == {"gpt-4o-2024-08-06"}
    assert {item.finish for item in file_samples} == {Finish.STOP}


@pytest.mark.parametrize(
    ("custom_id", "expected"),
    [
        ("gsm8k-12", ("gsm8k-12", None)),
        ("12", ("12", None)),
        ("request-12-sample-3", ("request-12", 3)),
        ("gsm8k/12/sample_3", ("gsm8k/12", 3)),
        ("12-sample3", ("12", 3)),
        ("example-3", ("example-3", None)),
        (12, ("12", None)),
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


def test_an_inspect_input_may_begin_the_answer(tmp_path: Path) -> None:
    """The question is the last message that is not the assistant's."""
    turns = [{"role": "user", "content": "Q?"}, {"role": "assistant", "content": "Answer:"}]
    reference = inspect_log._reference({"input": turns, "target": "18"})
    assert (reference.question, reference.answer) == ("Q?", "18")


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
