"""Every verb refuses what it cannot use: status 2, one sentence with the value, no traceback."""

from pathlib import Path

import pytest

from gradeschool.cli import VERBS
from tests.support.command import Command, command_lines
from tests.support.command import gradeschool as gradeschool  # a fixture

RECORDED = "recorded/sample#handwritten/chat"
# The words of a command line -> what the message holds. The working folder has an empty folder
# "none", and files "bytes.jsonl" and "bytes.gz".
CASES = {
    f"eval -m {RECORDED} -d none": "'none' is a folder",
    f"eval -m {RECORDED} -d sampel": "did you mean sample?",
    f"eval -m {RECORDED} -d fresh:-1": "'fresh:-1' names no fresh problems",
    f"eval -m {RECORDED} -d sample -n 0": "0 is not in the range",
    f"eval -m {RECORDED} -d sample --price x": "the price 'x'",
    f"eval -m {RECORDED} -d sample --temperature nan": "'nan' is not a finite number",
    "eval -m recorded/none -d sample": "'none' has no completions.jsonl",
    "eval -m recorded/bytes.jsonl -d sample": "no row of 'bytes.jsonl' can be used",
    "eval -m http://[bad/v1 -d sample": "'http://[bad/v1' is not a usable http://",
    "eval -m http://127.0.0.1:9/v1 -d sample": "is the server running?",
    "eval -m http://127.0.0.1:9/v1/m?api_key=k -d sample": "contains a user name, password, query",
    "compare a b --margin 2": "--margin needs --not-worse-than or --gate",
    "compare a b --not-worse-than c --max-failures 2": "--max-failures needs --gate",
    "report a -o x.html --format pdf": "--format needs --figures",
    "score sample --vote lm-eval/gsm8k-cot-self-consistency/maj@8 --labels platinum": (
        "leave --labels out"
    ),
    "doctor http://127.0.0.1:9/v1": "is the server running?",
    "score nothing.jsonl": "'nothing.jsonl' does not exist",
    "score none": "'none' has no completions.jsonl",
    "score bytes.gz": "'bytes.gz' is a damaged gzip file",
    "explain none": "'none' has no completions.jsonl",
    "explain bytes.jsonl#run": "bytes.jsonl",
    "compare none none": "'none' has no completions.jsonl",
    "profile none none": "'none' has no completions.jsonl",
    "diff none none": "'none' has no completions.jsonl",
    "view nothing": "'nothing' is not a folder",
    "why none --expected 50": "'none' has no completions.jsonl",
    "why bytes.jsonl --expected 101": "101",
    "report none -o x.html": "'none' has no completions.jsonl",
    "report none -o x.doc": "'x.doc'",
    "export none --to parquet -o x.parquet": "'none' has no completions.jsonl",
    "export a b --to parquet -o x.parquet": "one run is exported at a time; given: 'a', 'b'",
    "audit nothing:score": "'nothing:score' cannot be called",
    "doctor localhost:8000": "'localhost:8000' has an unknown form",
    "doctor http://[bad/v1": "'http://[bad/v1' is not a usable http://",
    "finetune -m none -d sample -o x": "'none' contains no model",
    "sample -m transformers/none -d sample -o x": "",
    "verifier train --generator none --samples none -o x": "'none'",
    "verifier score none --verifier tiny": "",
    "rank none": "'none' has no completions.jsonl",
    "gguf none -o x.gguf": "",
    "reproduce --figure 99 -o x": "'99'",
    "runs show none": "'none' is not a run folder",
    "runs curve none": "'none' has no completions.jsonl",
    "protocols show nothing": "no protocol or scorer is called 'nothing'; `gradeschool protocols",
    "protocols show lm-eval": "did you mean lm-eval/",
    "protocols prompts lm-eval/gsm8k/strict-match": "did you mean lm-eval/gsm8k?",
    "data fetch nothing": "no dataset is called 'nothing'",
    "data fetch mgsm:xx": "no dataset is called 'mgsm:xx'; did you mean mgsm:",
    "data fetch gsm-symbolic:p3": "did you mean gsm-symbolic:p2",
    "eval -m tiny -d mawps": "no dataset is called 'mawps'",
    "profile -m tiny -d sample -d mgsm:xx": "no dataset is called 'mgsm:xx'",
    "data generate --seed -1": "-1 is not in the range",
    "integrations nothing": "no tool is called 'nothing'",
}


@pytest.mark.parametrize("words", command_lines(CASES))
def test_what_cannot_be_used_is_refused_in_a_sentence(
    gradeschool: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("none").mkdir()
    Path("bytes.jsonl").write_bytes(bytes(range(128, 256)))
    Path("bytes.gz").write_bytes(bytes(range(128, 256)))
    result = gradeschool(*words.split())
    assert result.status == 2
    assert "Traceback" not in result.out + result.err
    assert CASES[words] in " ".join(result.err.split())
    assert len(result.err.splitlines()[-1]) < 400
    assert not any(path.name.startswith("x") for path in tmp_path.iterdir())


def test_every_verb_is_tried() -> None:
    assert {words.split()[0] for words in CASES} == set(VERBS)
