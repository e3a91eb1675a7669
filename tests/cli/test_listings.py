"""`gradeschool protocols` and `data`: lists, prompts as bytes, datasets and their digests."""

import hashlib
import json
from pathlib import Path

import pytest

from gradeschool import all_protocols, all_scorers
from gradeschool.datasets.sources import SOURCES
from tests.formats.test_read import jsonl
from tests.support.command import Command, run_script
from tests.support.command import gradeschool as gradeschool  # a fixture

# All 1,319 prompts, each followed by a NUL byte, as the real harness makes them.
DIGESTS = {
    "lm-eval/gsm8k": "90c166d5c3e3026061cfa63a694800e2cc31cdc12da84ff0fea81cccf9c93092",
    "lm-eval/gsm8k-cot": "531b35535c8ccd654e81497d889db7a41079b14c041ff938f598948279beb4d4",
}


@pytest.mark.parametrize("columns", [80, 120, 200])
def test_the_list_names_everything(gradeschool: Command, columns: int) -> None:
    """Every protocol and scorer, whole, within the width."""
    result = gradeschool("protocols", "list", columns=columns)
    words = {line.strip().partition("  ")[0] for line in result.out.splitlines()}
    assert result.status == 0
    assert max(map(len, result.out.splitlines())) <= columns
    for name in (*all_protocols(), *all_scorers()):
        assert name in words


def test_the_list_as_json(gradeschool: Command) -> None:
    """Protocols with digest, form, shots and scorers; scorers with summary and source."""
    results = gradeschool("protocols", "list", "--json").json()
    assert [item["name"] for item in results["protocols"]] == list(all_protocols())
    assert [item["name"] for item in results["scorers"]] == list(all_scorers())
    for item in results["protocols"]:
        assert item["form"] in ("chat", "completion")
        assert set(item["scorers"]) <= set(all_scorers())
        assert item["digest"] == all_protocols()[item["name"]].digest()
    assert all(item["summary"] and item["source"] for item in results["scorers"])


@pytest.mark.official
@pytest.mark.parametrize("name", DIGESTS)
def test_prompts_to_the_byte(data: Path, name: str) -> None:
    """`--format nul` writes the harness's own bytes, nothing before, between or behind them."""
    import subprocess

    from tests.support.command import SCRIPT, environment

    result = subprocess.run(
        [SCRIPT, "protocols", "prompts", name, "-d", "gsm8k", "--format", "nul"],
        capture_output=True,
        env=environment({}),
    )
    assert (result.returncode, result.stderr) == (0, b"")
    assert hashlib.sha256(result.stdout).hexdigest() == DIGESTS[name]


def test_prompts_in_both_formats(gradeschool: Command, tmp_path: Path) -> None:
    """A line of JSON or NUL-ended bytes for each problem, in order, whatever the text holds."""
    questions = ["How many?\nTwo lines", "a\u2028b", "数 é", "\ud800"]
    rows = [
        {"id": f"p{place}", "question": text, "answer": "1"} for place, text in enumerate(questions)
    ]
    path = jsonl(tmp_path / "problems.jsonl", rows)
    nul = gradeschool("protocols", "prompts", "openai/2021", "-d", path, "--format", "nul", "-n", 3)
    assert nul.out == "".join(f"{text}\n\0" for text in questions[:3])
    lines = gradeschool("protocols", "prompts", "openai/2021", "-d", path).out.splitlines()
    assert [json.loads(line) for line in lines] == [
        {"id": f"p{place}", "prompt": f"{text}\n"} for place, text in enumerate(questions)
    ]


def test_prompts_of_a_chat(gradeschool: Command) -> None:
    """Messages as JSON; a begun answer is the last message, and marked."""
    results = gradeschool("protocols", "prompts", "zero-shot/chat", "-d", "sample", "-n", 2)
    chats = [json.loads(line) for line in results.out.splitlines()]
    assert [[turn["role"] for turn in chat["messages"]] for chat in chats] == [
        ["system", "user"]
    ] * 2
    nul = gradeschool(
        *("protocols", "prompts", "zero-shot/chat", "-d", "sample", "-n", 2, "--format", "nul")
    )
    assert [json.loads(text) for text in nul.out.split("\0")[:-1]] == [
        chat["messages"] for chat in chats
    ]


def test_a_begun_answer_is_marked(gradeschool: Command, data: Path) -> None:
    """OLMES begins the assistant's turn with "Answer:"."""
    result = gradeschool("protocols", "prompts", "olmes/gsm8k-tulu", "-d", "sample", "-n", 1)
    chat = json.loads(result.out)
    assert chat["messages"][-1] == {"role": "assistant", "content": "Answer:"}
    assert chat["continue_final_message"] is True


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["lm-eval/gsm9k"], "no protocol is called 'lm-eval/gsm9k'; did you mean lm-eval/gsm8k"),
        (
            ["openai/2021", "-d", "nope"],
            "no dataset is called 'nope'; `gradeschool data list` prints all names",
        ),
        (["openai/2021", "-d", "no.csv"], "'no.csv' does not exist"),
    ],
)
def test_prompts_of_nothing(gradeschool: Command, words: list[str], message: str) -> None:
    """One line, exit status 2."""
    result = gradeschool("protocols", "prompts", *words)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith(f"gradeschool: {message}")


def test_data_list(gradeschool: Command, data: Path) -> None:
    """Every named dataset, and where it is found."""
    result = gradeschool("data", "list")
    assert result.status == 0
    assert all(f" {name} " in result.out for name in SOURCES)
    assert " ".join(result.out.split()).count("golds:") == len(SOURCES)
    results = gradeschool("data", "list", "--json").json()["datasets"]
    assert [item["name"] for item in results] == list(SOURCES)
    where = {item["name"]: item["where"] for item in results}
    assert (where["sample"], where["gsm8k"]) == ("shipped", "GRADESCHOOL_DATA")


def test_data_without_a_network(
    gradeschool: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is on the machine and nothing may be fetched: each verb says so."""
    monkeypatch.delenv("GRADESCHOOL_DATA", raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert "to be fetched" in gradeschool("data", "list").out
    fetched = gradeschool("data", "fetch", "gsm8k")
    assert fetched.status == 2
    assert "HF_HUB_OFFLINE forbids" in fetched.err
    assert gradeschool("data", "fetch", "sample").out.startswith("sample: shipped, /")
    verified = gradeschool("data", "verify")
    assert verified.status == 0
    assert "gsm8k: not on this machine\n" in verified.out
    assert "sample: ok, 48 problems\n" in verified.out
    assert gradeschool("data", "verify", "gsm8k").status == 2
    missing = run_script("score", "nope.jsonl")  # nothing is fetched for a file that is not there
    assert missing.err == "gradeschool: 'nope.jsonl' does not exist; give the path of a file\n"


def test_a_wrong_digest_is_told(
    gradeschool: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is not what its name promises stops every verb that would use it."""
    monkeypatch.setenv("GRADESCHOOL_DATA", str(tmp_path))
    (tmp_path / "gsm8k").mkdir()
    jsonl(tmp_path / "gsm8k" / "test.jsonl", [{"question": "How?", "answer": "#### 1"}])
    assert "wrong digest" in gradeschool("data", "list").out
    answers = str(jsonl(tmp_path / "answers.jsonl", [{"index": 0, "completion": "#### 1"}]))
    for words in (["data", "verify"], ["data", "fetch", "gsm8k"], ["score", answers]):
        result = run_script(*words)
        assert result.status == 2
        assert "is not the gsm8k dataset: its SHA-256 is" in result.err


@pytest.mark.official
def test_data_verify(data: Path) -> None:
    """Digest and count of every dataset that is here, by the real script."""
    result = run_script("data", "verify")
    assert (result.status, result.err) == (0, "")
    assert "gsm8k: ok, 1319 problems\ngsm8k:train: ok, 7473 problems\n" in result.out


@pytest.mark.parametrize("verb", ["fetch", "verify"])
def test_an_unknown_dataset(gradeschool: Command, verb: str) -> None:
    """The message names those that are near."""
    result = gradeschool("data", verb, "gsm8")
    assert result.status == 2
    assert result.err.startswith("gradeschool: no dataset is called 'gsm8'; did you mean gsm8k")
