"""Check `gradeschool data`: lists, digests, and problems made from right completions."""

import json
from pathlib import Path

from gradeschool.datasets.load import SOURCES
from tests.support.command import Command, run_script
from tests.support.files import jsonl


def test_data_list(gradeschool: Command, data: Path) -> None:
    result = gradeschool.done("data", "list")
    assert all(f" {name} " in result.out for name in SOURCES)
    assert " ".join(result.out.split()).count("golds:") == len(SOURCES)
    results = gradeschool("data", "list", "--json").json()["datasets"]
    assert [item["name"] for item in results] == list(SOURCES)
    where = {item["name"]: item["where"] for item in results}
    assert (where["sample"], where["gsm8k"]) == ("shipped", "GRADESCHOOL_DATA")


def test_data_without_a_network(gradeschool: Command, tmp_path: Path) -> None:
    gradeschool.monkeypatch.delenv("GRADESCHOOL_DATA", raising=False)
    gradeschool.monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert "to be fetched" in gradeschool("data", "list").out
    assert "HF_HUB_OFFLINE forbids" in gradeschool.refused("data", "fetch", "gsm8k")
    assert gradeschool("data", "fetch", "sample").out.startswith("sample: shipped, /")
    missing = run_script("score", "nope.jsonl")  # nothing is fetched for a file that is not there
    assert missing.err == "gradeschool: 'nope.jsonl' does not exist; give the path of a file\n"


def test_a_wrong_digest_is_told(gradeschool: Command, tmp_path: Path) -> None:
    gradeschool.monkeypatch.setenv("GRADESCHOOL_DATA", str(tmp_path))
    (tmp_path / "gsm8k").mkdir()
    jsonl(tmp_path / "gsm8k" / "test.jsonl", [{"question": "How?", "answer": "#### 1"}])
    assert "wrong digest" in gradeschool("data", "list").out
    answers = str(jsonl(tmp_path / "answers.jsonl", [{"index": 0, "completion": "#### 1"}]))
    for words in (["data", "fetch", "gsm8k"], ["score", answers]):
        result = run_script(*words)
        assert result.status == 2
        assert "is not the gsm8k dataset: its SHA-256 is" in result.err


def test_right_texts_end_in_the_gold(gradeschool: Command, tmp_path: Path) -> None:
    """Else the text of a chat, or what follows a number, would be read as the gold."""
    (tmp_path / "sums.jsonl").write_text('{"question": "1 + 1?", "answer": "#### 2"}\n', "utf-8")
    texts = ["It is 2.\n", "#### 2", "3", "1+1=2\n#### 2 off 2\nQ: 3"]
    lines = [json.dumps({"index": 0, "completion": text}) + "\n" for text in texts]
    (tmp_path / "chat.jsonl").write_text("".join(lines), "utf-8")
    ended = gradeschool.done(
        "data", "right", tmp_path / "chat.jsonl", "-d", tmp_path / "sums.jsonl"
    )
    answers = [json.loads(line)["answer"] for line in ended.out.splitlines()]
    assert answers == ["It is 2.\n#### 2", "#### 2", "1+1=2\n#### 2"]


def test_a_wrong_dataset_ends_before_the_run_is_read(gradeschool: Command, tmp_path: Path) -> None:
    run = jsonl(tmp_path / "run.jsonl", [{"question": "1 + 1?", "gold": "2", "completion": "2"}])
    refused = gradeschool.refused("data", "right", run, "--with", "gsm9k")
    assert "gsm9k" in refused
    assert str(run) not in refused
