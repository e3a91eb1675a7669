"""What a command cannot use is refused in a sentence, status 2, before anything is fetched."""

from pathlib import Path
from typing import NoReturn

import pytest

from gradeschool.datasets import load
from tests.support.command import Command, command_lines

RECORDED, ENDPOINT = "recorded/sample#handwritten/chat", "http://127.0.0.1:9/v1/m"
KEY = "sk-secret-4815162342"
# The words of a command line -> what its message says. Without the mistake, each would fetch GSM8K.
# The working folder has an empty folder "empty", "answers.jsonl" with one answer of the run "a",
# "two.jsonl" with one of "b" and one of "c", "bytes.jsonl" and "bytes.gz" that are no text,
# "checkpoint" with a configuration of a model, and "there.html".
MISTAKES = {
    f"eval -m {RECORDED} -d empty": "'empty' is a folder",
    f"eval -m {RECORDED} -d sampel": "did you mean sample?",
    "eval --majority 3": "maj@k and pass@k have a command; see `gradeschool runs curve --help`",
    f"eval -m {RECORDED} -d fresh:-1": "'fresh:-1' names no fresh problems",
    f"eval -m {RECORDED} -d sample -n 0": "0 is not in the range",
    f"eval -m {RECORDED} -d sample --temperature nan": "'nan' is not a finite number",
    "eval -m http://[bad/v1 -d sample": "'http://[bad/v1' is not a usable http://",
    "eval -m http://127.0.0.1:9/v1 -d sample": "is the server running?",
    "eval -m http://127.0.0.1:9/v1/m?api_key=k -d sample": "contains a user name, password, query",
    "compare a b --margin 2": "--margin needs --not-worse-than or --gate",
    "compare a b --not-worse-than c --max-failures 2": "--max-failures needs --gate",
    "score s3://here/a.jsonl": "'s3://here/a.jsonl' is an address, which is not read",
    "score empty": "'empty' has no completions.jsonl",
    "score bytes.gz": "'bytes.gz' is a damaged gzip file",
    f"score {'x' * 300}": "File name too long",
    "score \udcff.jsonl": "does not exist",
    "export a b --to parquet -o x.parquet": "one run is exported at a time; given: 'a', 'b'",
    "audit nothing:score": "'nothing:score' cannot be called",
    "doctor http://127.0.0.1:9/v1/m -p openai/2020": "did you mean openai/2021",
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
    "profile answers.jsonl two.jsonl -o x.doc": "'x.doc' must end in .html",
    "view absent": "'absent' is not a folder",
    "why answers.jsonl --expected-run absent.jsonl": "'absent.jsonl' does not exist",
    "report answers.jsonl -o there.html": "'there.html'",
    "export answers.jsonl --to inspect -o rows.parquet": "'rows.parquet'",
    "verifier rank answers.jsonl --baseline absent.jsonl --verifier absent": "'absent.jsonl'",
    "verifier rank answers.jsonl --verifier absent": "there are no scores by 'absent' in answers",
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
    "eval -m http://127.0.0.1:9/v1/m --calculator -p zero-shot/chat": "the calculator cannot be",
    "eval -m http://127.0.0.1:9/v1/m --calculator -p openai/2021 --batch": "the calculator cannot",
    "verifier sample -m recorded/answers.jsonl --temperature 0 -o run": "100 samples at",
    "verifier finetune -m new:0.2M -d absent -o model": "is called 'absent'",
    "verifier export empty -o model.gguf": "'empty' contains no model",
    "runs show empty": "'empty' is not a run folder",
    "protocols show absent": "no protocol or scorer is called 'absent'",
    "data fetch gsm8k absent": "no dataset is called 'absent'",
    "data generate --split absent": "'absent'",
    "eval -m openai/x --batch -d sample": "OPENAI_API_KEY is not set",
    "eval -m recorded/answers.jsonl --batch": "has no batches; leave --batch out",
    "eval -m recorded/answers.jsonl --calculator": "the calculator cannot be used",
    "eval -m anthropic/x -p zero-shot/cot": "anthropic answers only chats",
    "eval -m recorded/answers.jsonl -d gsm8k --max-cost 1": "give --price",
    f'eval -m {ENDPOINT} --extra-body {{"max_tokens":3}}': "has an option; give --max-tokens",
    "compare a.jsonl b.jsonl --expected 80": "see `gradeschool why --help`",
    f"eval -m {ENDPOINT} --extra-body [1]": "is not a JSON object",
    f'eval -m {ENDPOINT} --extra-body {{"messages":[]}}': "is not a JSON object of fields beside",
    f"eval -m {ENDPOINT} --header {KEY}": "a value of --header is not NAME=VALUE",
    f"eval -m {ENDPOINT} --thinking on -p openai/2021": "need a chat",
    f"eval -m {ENDPOINT} --engine-args threads=2": "takes no --engine-args; leave it out",
    "protocols show lm-eval/gsm9k": "no protocol or scorer is called 'lm-eval/gsm9k'; did you mean",
    "protocols show openai/2021 -d nope": "no dataset is called 'nope'",
    "protocols diff openai/2021 multi-pattern": "'multi-pattern' is a scorer; give two protocols",
    "protocols diff lm-eval/gsm8k nope": "no protocol or scorer is called 'nope'",
    "audit": "neither a function nor a scorer is given; give MODULE:FUNCTION or --scorer NAME",
    "audit a:f --scorer openai/2021": "both a function and a scorer are given",
    "audit --scorer openai/2022": "no scorer is called 'openai/2022'; did you mean",
    "audit a:f --allow slwo": "no class or kind of finding is called 'slwo'",
    "audit scorers": "'scorers' does not name a function",
    "why answers.jsonl": "give either --expected PERCENT or --expected-run FILE",
    "why answers.jsonl --expected 3 --expected-run two.jsonl": "give either --expected",
    "why answers.jsonl --expected 101": "101",
    "why answers.jsonl --expected-run answers.jsonl": "are the same",
    "why absent.jsonl --expected 3": "'absent.jsonl' does not exist",
    "explain answers.jsonl --scorer openai/2021 multi": "did you mean multi-",
    "explain answers.jsonl two.jsonl --scorer openai/2021": "explain reads one file at a time, not",
    "explain --scorer openai/2021 multi-pattern": "no file is given, only scorers",
    "explain absent.jsonl": "'absent.jsonl' does not exist",
    "explain answers.jsonl#x -d sample": "contains no run 'x'; it contains 'answers.jsonl#a'",
    "explain answers.jsonl -d sample --problem zzz": "no completion answers the problem 'zzz'",
    "explain answers.jsonl -d sample --flags": "'answers.jsonl' has no verdicts of its own",
    "profile": "give either the runs of a profile or -m MODEL",
    "profile a b -n 3": "--limit applies only with -m MODEL",
    "profile a b --quiet --batch": "--batch applies only with -m MODEL",
    "profile a b -d gsm8k -d aime:2025": "-d is given 2 times; runs have one",
    "profile -m tiny -d sample": "only one set: 'sample'",
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

    monkeypatch.setattr("gradeschool.datasets.load.fetch", fetch)
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
def test_a_mistake_is_told_before_a_fetch(gradeschool: Command, folder: Path, words: str) -> None:
    before = {path.name: path.stat().st_size for path in folder.rglob("*")}
    ended = gradeschool(*words.split())
    assert (MISTAKES | TWICE)[words] in " ".join(ended.err.split())
    assert ended.status == 2
    assert ended.out == ""
    assert "Traceback" not in ended.err and KEY not in ended.err
    assert len(ended.err.splitlines()[-1]) < 400
    assert {path.name: path.stat().st_size for path in folder.rglob("*")} == before
