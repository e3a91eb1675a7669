"""What a command cannot use is refused in a sentence, status 2, before anything is fetched."""

from pathlib import Path
from typing import NoReturn

import pytest

from gradeschool.datasets import load
from tests.support.command import Command, command_lines

RECORDED = "recorded/sample#handwritten/chat"
# The words of a command line -> what its message says. Without the mistake, each would fetch GSM8K.
# The working folder has an empty folder "empty", "answers.jsonl" with one answer of the run "a",
# "two.jsonl" with one of "b" and one of "c", "bytes.jsonl" and "bytes.gz" that are no text,
# "checkpoint" with a configuration of a model, and "there.html".
MISTAKES = {
    f"eval -m {RECORDED} -d empty": "'empty' is a folder",
    f"eval -m {RECORDED} -d sampel": "did you mean sample?",
    f"eval -m {RECORDED} -d fresh:-1": "'fresh:-1' names no fresh problems",
    f"eval -m {RECORDED} -d sample -n 0": "0 is not in the range",
    f"eval -m {RECORDED} -d sample --temperature nan": "'nan' is not a finite number",
    "eval -m http://[bad/v1 -d sample": "'http://[bad/v1' is not a usable http://",
    "eval -m http://127.0.0.1:9/v1 -d sample": "is the server running?",
    "eval -m http://127.0.0.1:9/v1/m?api_key=k -d sample": "contains a user name, password, query",
    "compare a b --margin 2": "--margin needs --not-worse-than or --gate",
    "compare a b --not-worse-than c --max-failures 2": "--max-failures needs --gate",
    "score empty": "'empty' has no completions.jsonl",
    "score bytes.gz": "'bytes.gz' is a damaged gzip file",
    "export a b --to parquet -o x.parquet": "one run is exported at a time; given: 'a', 'b'",
    "audit nothing:score": "'nothing:score' cannot be called",
    "doctor localhost:8000": "'localhost:8000' has an unknown form",
    "doctor http://127.0.0.1:9/v1": "is the server running?",
    "protocols show lm-eval": "did you mean lm-eval/",
    "protocols prompts lm-eval/gsm8k/strict-match": "did you mean lm-eval/gsm8k?",
    "profile -m tiny -d sample -d mgsm:xx": "no dataset is called 'mgsm:xx'",
    "data fetch gsm-symbolic:p3": "did you mean gsm-symbolic:p2",
    "data generate --seed -1": "-1 is not in the range",
    "score bytes.jsonl": "no row of 'bytes.jsonl' can be used",
    "score answers.jsonl --vote absent": "no vote is called 'absent'",
    "score answers.jsonl -o verdicts.txt": "'verdicts.txt'",
    "compare answers.jsonl absent.jsonl": "'absent.jsonl' does not exist",
    "profile answers.jsonl two.jsonl -o x.doc": "the page cannot be written as 'x.doc'",
    "view absent": "'absent' is not a folder",
    "why answers.jsonl --expected-run absent.jsonl": "'absent.jsonl' does not exist",
    "report answers.jsonl -o there.html": "'there.html'",
    "export answers.jsonl --to inspect -o rows.parquet": "'rows.parquet'",
    "verifier rank answers.jsonl --baseline absent.jsonl --verifier absent": "'absent.jsonl'",
    "verifier rank answers.jsonl --verifier absent": "has no verifier scores of 'absent'",
    "verifier rank answers.jsonl --verifier old --generator tiny": "--generator needs",
    "verifier score answers.jsonl --verifier absent": "there is no verifier 'absent'",
    "verifier train --generator absent --samples answers.jsonl -o model": "'absent' contains no",
    "eval -m absent -p zero-shot/chat": "the model 'absent' has an unknown form",
    "eval -m recorded/answers.jsonl#b": "is not one run",
    "eval -m tiny -p absent": "no protocol is called 'absent'",
    "eval -m tiny -k 5": "5 samples at temperature 0",
    "eval -m transformers/absent": "'absent'",
    "eval -m llama.cpp/absent.gguf": "'absent.gguf'",
    "eval -m recorded/answers.jsonl --price absent": "the price 'absent'",
    "eval -m recorded/answers.jsonl --max-cost 1": "give --price",
    "eval -m http://127.0.0.1:9/v1/m --calculator -p zero-shot/chat": "the calculator cannot be",
    "eval -m http://127.0.0.1:9/v1/m --calculator -p openai/2021 --batch": "the calculator cannot",
    "verifier sample -m recorded/answers.jsonl --temperature 0 -o run": "100 samples at",
    "verifier finetune -m new:0.2M -d absent -o model": "is called 'absent'",
    "verifier export empty -o model.gguf": "'empty' contains no model",
    "runs show empty": "'empty' is not a run folder",
    "protocols show absent": "no protocol or scorer is called 'absent'",
    "data fetch gsm8k absent": "no dataset is called 'absent'",
    "data generate --split absent": "'absent'",
}


# A command line with an option that has one value -> the name in the message.
TWICE = {
    "score x.jsonl -d sample -d gsm8k": "--dataset is given 2 times; give it once",
    "eval -m tiny -n 3 -n 4": "--limit is given 2 times; give it once",
    "eval -m tiny --calculator --no-calculator": "--calculator is given 2 times; give it once",
    "compare a b --scorer openai/2021 --scorer multi-pattern": "--scorer is given 2 times",
    "data generate -n 3 --limit 4": "is given 2 times; give it once",
}


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A working folder on a machine without GSM8K, where to fetch anything fails the test."""

    def fetch(source: object) -> NoReturn:
        pytest.fail(f"{source} was fetched before the mistake was reported")

    monkeypatch.setattr("gradeschool.datasets.files.fetch", fetch)
    monkeypatch.setattr(load, "_load_source", load._load_source.__wrapped__)  # as in a new process
    monkeypatch.delenv("GRADESCHOOL_DATA", raising=False)
    folder = tmp_path / "working"
    (folder / "empty").mkdir(parents=True)
    (folder / "checkpoint").mkdir()
    (folder / "checkpoint" / "config.json").write_text("{}")
    (folder / "answers.jsonl").write_text('{"index": 0, "run": "a", "completion": "#### 18"}\n')
    (folder / "two.jsonl").write_text(
        "".join(f'{{"index": 0, "run": "{run}", "completion": "#### 18"}}\n' for run in "bc")
    )
    (folder / "bytes.jsonl").write_bytes(bytes(range(128, 256)))
    (folder / "bytes.gz").write_bytes(bytes(range(128, 256)))
    (folder / "there.html").write_text("mine")
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("words", command_lines(MISTAKES | TWICE))
def test_a_mistake_is_reported_before_anything_is_fetched(
    gradeschool: Command, folder: Path, words: str
) -> None:
    before = {path.name: path.stat().st_size for path in folder.rglob("*")}
    ended = gradeschool(*words.split())
    assert (MISTAKES | TWICE)[words] in " ".join(ended.err.split())
    assert ended.status == 2
    assert ended.out == ""
    assert "Traceback" not in ended.err
    assert len(ended.err.splitlines()[-1]) < 400
    assert {path.name: path.stat().st_size for path in folder.rglob("*")} == before
