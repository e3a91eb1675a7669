"""Files of OpenAI's Batch API and its published solutions, of lm-eval and of inspect."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gradeschool.completion import Finish
from gradeschool.errors import InputError, MissingExtraError
from gradeschool.formats import foreign
from gradeschool.formats.read import read_samples
from gradeschool.formats.values import ProblemReference, Sample
from tests.support.archives import DEFLATED, STORED, ZSTD, write_archive
from tests.support.files import jsonl

Row = dict[str, Any]


def read(path: Path, *rows: Row) -> list[Sample]:
    return read_samples(jsonl(path / "answers.jsonl", rows))


def batch_row(custom_id: object, *contents: object, status: int = 200, **fields: object) -> Row:
    choices = [
        {"index": index, "finish_reason": "stop",
         "message": {"role": "assistant", "content": content}}
        for index, content in enumerate(contents)
    ]  # fmt: skip
    body = {"id": "chatcmpl-1", "model": "gpt-4o-2024-08-06", "choices": choices}
    response = {"status_code": status, "request_id": "r", "body": body}
    return {"id": "b", "custom_id": custom_id, "response": response, "error": None, **fields}


def test_choices_of_a_batch_are_samples_of_the_model(tmp_path: Path) -> None:
    samples = read(tmp_path, batch_row("gsm8k-12", "a", "b"), batch_row("0013", "c"))
    assert [(item.text, item.sample, item.reference.id) for item in samples] == [
        ("a", 0, "gsm8k-12"),
        ("b", 1, "gsm8k-12"),
        ("c", -1, "0013"),
    ]
    assert {(item.run, item.finish) for item in samples} == {("gpt-4o-2024-08-06", Finish.STOP)}


def test_failed_batch_requests_are_errors_of_the_run(tmp_path: Path) -> None:
    failed = {"status_code": 429, "body": {"error": {"message": "Rate limit", "code": "x"}}}
    samples = read(
        tmp_path,
        batch_row("gsm8k-0", "a"),
        batch_row("gsm8k-1", response=None, error={"code": "batch_expired", "message": None}),
        batch_row("gsm8k-2", response=failed),
        batch_row("gsm8k-3", status=500),
    )
    errors = [sample.error for sample in samples]
    assert errors == ["", "batch_expired", "Rate limit", "status 500"]
    assert {(sample.run, sample.fault) for sample in samples} == {("gpt-4o-2024-08-06", "")}


def test_batch_rows_of_odd_forms(tmp_path: Path) -> None:
    """Null content is an empty answer; a response without text is a fault."""
    legacy = batch_row("gsm8k-1", "x")
    legacy["response"]["body"]["choices"] = [{"text": "old completions", "finish_reason": "length"}]
    odd = batch_row("gsm8k-3", "x", "y")
    odd["response"]["body"]["choices"][0] = None
    samples = read(
        tmp_path,
        batch_row("gsm8k-0", None, [{"type": "text", "text": "a"}]),
        legacy,
        odd,
        batch_row("gsm8k-4"),
        batch_row("gsm8k-5", response={"status_code": 200, "body": "<html>"}),
    )
    assert [sample.text for sample in samples] == ["", "a", "old completions", "", "", ""]
    assert [sample.fault[:30] for sample in samples] == [
        *[""] * 3,
        *["has no text: its 'response' is"] * 3,
    ]
    assert samples[2].finish is Finish.LENGTH


RESPONSE: Row = {
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
def test_a_responses_body_is_read_alike(tmp_path: Path, form: Row, items: int, text: str) -> None:
    """Its last message is the answer; the text is empty if it was cut while thinking."""
    body = {**RESPONSE, "output": RESPONSE["output"][:items]}
    response = body if form["response"] is None else {**form["response"], "body": body}
    [sample] = read(tmp_path, {**form, "response": response})
    assert (sample.text, sample.fault, sample.finish) == (text, "", Finish.LENGTH)


def test_openai_example_solutions_are_a_run_for_each_system(tmp_path: Path) -> None:
    row = {
        "question": "How?",
        "ground_truth": "#### 18",
        "175b_finetuning": {"solution": "A: 18", "is_correct": True},
        "6b_finetuning": {"solution": "A: 17", "is_correct": False},
    }
    samples = read(tmp_path, row)
    assert [(each.run, each.text, each.reference.question, each.flag) for each in samples] == [
        ("175b_finetuning", "A: 18", "How?", True),
        ("6b_finetuning", "A: 17", "How?", False),
    ]


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
            "filter": name,
            "exact_match": 0.0,
        }
        for name in filters
        for index, texts in enumerate(resps)
    ]


def test_the_first_filter_of_lm_eval_counts(tmp_path: Path) -> None:
    stamp = "2026-11-21T03-14-00.364523"
    path = jsonl(tmp_path / f"samples_gsm8k_{stamp}.jsonl", lm_eval_rows([["a", "b"], ["c", "d"]]))
    samples = read_samples(path)
    assert [(item.text, item.sample, item.row) for item in samples] == [
        ("a", 0, 1),
        ("b", 1, 1),
        ("c", 0, 2),
        ("d", 1, 2),
    ]
    assert samples[2].reference == ProblemReference("1", "Question 1?", "so\n#### 1")
    assert {item.run for item in samples} == {path.stem}
    (tmp_path / f"results_{stamp}.json").write_text('{"model_name": "org/model"}')
    assert {item.run for item in read_samples(path)} == {"org/model"}


@pytest.mark.parametrize("suffix", [".jsonl", ".json"])
def test_rows_of_other_filters_and_responses_are_refused(tmp_path: Path, suffix: str) -> None:
    rows = lm_eval_rows([["a"], ["b"]]) + lm_eval_rows([["c"], ["d"]], ("score-first", "maj@8"))
    path = jsonl(tmp_path / f"samples_gsm8k{suffix}", rows)
    if suffix == ".json":
        path.write_text(json.dumps(rows))
    with pytest.raises(InputError, match=r"2 rows of .* such as 'score-first'.* own file"):
        read_samples(path)


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


def check_inspect(file_samples: Sequence[Sample]) -> None:
    """Check what `inspect_samples` holds."""
    assert {item.run for item in file_samples} == {"openai/gpt-4o"}
    assert [(item.text, item.sample, item.finish) for item in file_samples[:3]] == [
        ("ANSWER: 1", 0, Finish.STOP),
        ("ANSWER: 1", 1, Finish.STOP),
        ("It is\n\nANSWER: 3", 0, Finish.LENGTH),
    ]
    # Numbers that inspect gave by itself, from 1, name no problem of ours.
    assert file_samples[2].reference == ProblemReference(question="Question 3?", gold="3")
    assert (file_samples[3].error, file_samples[3].fault) == ("RateLimitError('429')", "")
    assert (file_samples[4].text, file_samples[4].error, file_samples[4].fault) == ("", "", "")
    assert file_samples[5].fault == "has no text: its 'response' is null; give a string"


def test_inspect_json_log(tmp_path: Path) -> None:
    """Epochs are samples, content parts are joined as inspect joins them, failures are errors."""
    path = tmp_path / "log.json"
    path.write_text(json.dumps({**HEADER, "samples": inspect_samples()}, indent=2))
    check_inspect(read_samples(path))


@pytest.fixture(params=[STORED, DEFLATED, ZSTD])
def archive(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The same as an `.eval` archive, however its members are compressed."""
    if request.param == ZSTD:
        pytest.importorskip("zstandard", reason="zstd needs the extra 'inspect-logs'")
    write_archive(tmp_path / "log.eval", archive_members(), request.param)
    return tmp_path / "log.eval"


def test_inspect_archive(archive: Path) -> None:
    check_inspect(read_samples(archive))


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


def test_a_damaged_member_costs_its_own_sample(archive: Path) -> None:
    """A bit that fell over in one sample is told with the member's name; the others are read."""
    raw = bytearray(archive.read_bytes())
    number = raw.index(b"samples/3_epoch_1.json") + 60
    raw[number : number + 8] = b"\x07\xff\xff\x07\xff\xff\xff\x07"
    archive.write_bytes(raw)
    file_samples = read_samples(archive)
    assert [number for number, each in enumerate(file_samples) if each.fault] == [2, 5]
    assert file_samples[2].fault.startswith("(samples/3_epoch_1.json) cannot be read: ")


@pytest.mark.parametrize("body", [b"", b"PK\x03\x04", b"no archive at all"])
def test_a_file_that_is_no_archive(tmp_path: Path, body: bytes) -> None:
    """A torn download is one message."""
    path = tmp_path / "log.eval"
    path.write_bytes(body)
    with pytest.raises(InputError, match="is not a readable inspect archive"):
        read_samples(path)


def test_a_missing_zstandard_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line with the pip command."""
    pytest.importorskip("zstandard", reason="zstd needs the extra 'inspect-logs'")
    path = tmp_path / "log.eval"
    write_archive(path, archive_members(), ZSTD)
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'gradeschool\[inspect-logs\]'"):
        read_samples(path)


def test_a_large_member_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sample beyond the limit is a fault of its own."""
    monkeypatch.setattr(foreign, "LARGEST_MEMBER", 350)
    path = tmp_path / "log.eval"
    write_archive(path, archive_members(), DEFLATED)
    faults = [sample.fault for sample in read_samples(path)]
    assert "is larger than 350 bytes" in faults[2]
    assert faults[0] == ""
