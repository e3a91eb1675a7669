"""Recorded logs of inspect."""

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
from gradeschool.formats.samples import Reference, Sample
from tests.support.archives import DEFLATED, STORED, ZSTD, write_archive

Row = dict[str, Any]


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
    assert file_samples[2].reference == Reference(question="Question 3?", gold="3")
    assert (file_samples[3].error, file_samples[3].fault) == ("RateLimitError('429')", "")
    assert (file_samples[4].text, file_samples[4].error, file_samples[4].fault) == ("", "", "")
    assert file_samples[5].fault == "has no text: its 'response' is null; give a string"


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
    assert [number for number, each in enumerate(file_samples) if each.fault] == [2, 5]
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
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'gradeschool\[inspect-logs\]'"):
        read_samples(path)


def test_a_member_that_is_too_large_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sample beyond the limit is a fault of its own."""
    monkeypatch.setattr(foreign, "LARGEST_MEMBER", 350)
    path = tmp_path / "log.eval"
    write_archive(path, archive_members(), DEFLATED)
    faults = [sample.fault for sample in read_samples(path)]
    assert "is larger than 350 bytes" in faults[2]
    assert faults[0] == ""
