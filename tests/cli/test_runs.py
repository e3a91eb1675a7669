"""Check `gradeschool runs list` and `curve`, and every verb on malformed folders."""

import json
import shutil
from pathlib import Path

import pytest

from tests.support.command import Command
from tests.support.fault_server import Behaviour, ReceivedRequest, fault_server, good, status
from tests.support.recorded_run import RECORDED, accuracy
from tests.support.recorded_run import run as run  # a fixture


def test_list_shows_all_runs_below(gradeschool: Command, run: Path, tmp_path: Path) -> None:
    gradeschool("eval", *RECORDED, "-n", 20, "-o", tmp_path / "runs" / "deep" / "er")
    listed = gradeschool("runs", "list", tmp_path / "runs", "--json").json()["runs"]
    assert [(Path(row["folder"]).name, row["answered"], row["planned"]) for row in listed] == [
        ("chat", 48, 48),
        ("er", 20, 20),
    ]
    shown = gradeschool("runs", "list", tmp_path / "runs", columns=160).out
    assert accuracy(run) in shown
    assert "zero-shot/chat" in shown
    narrow = gradeschool("runs", "list", tmp_path / "runs", columns=80).out.splitlines()
    assert len(narrow) == 2 * (1 + len(listed))  # two lines a run, no name folded
    assert all(Path(row["folder"]).name in "".join(narrow) for row in listed)
    assert gradeschool("runs", "list", tmp_path / "nowhere").status == 2
    (tmp_path / "empty").mkdir()
    assert "no runs in" in gradeschool("runs", "list", tmp_path / "empty").out


MALFORMED = {
    "a list": "[]",
    "nothing": "{}",
    "counts of another kind": '{"problems": "many", "samples": [1], "model": 3, "updated": {}}',
    "huge counts": '{"problems": 1' + "0" * 4000 + ', "samples": 2}',
    "facts of another kind": '{"protocol": 3, "dataset": [], "decoding": "x", "repairs": 4}',
}
MALFORMED_RESULTS = ['{"scorers": 3}', '{"scorers": {"a": 3}}', '{"scorers": {"a": {}}}',
                     '{"scorers": {"a": {"accuracy": "x", "ci95": 3}}, "errors": 3}',
                     '{"completions_file": 3, "answered_by": [1], "scorers": []}']  # fmt: skip
MALFORMED_ROWS = [
    *(b"{}", b"[]", b"3", b'{"key": 1}', b"\xff", b"[" * 100_000, b'{"a": ' + b"9" * 5000),
    b'{"schema": 1, "key": "k", "problem_id": "0", "sample": 0, "completion": "x", '
    b'"prompt_tokens": "many", "deviations": 3, "finish": {}, "requests": "x"}',
]


@pytest.mark.parametrize("verb", ["list", "show", "verify"])
def test_bad_runs_hide_no_other(verb: str, gradeschool: Command, run: Path, tmp_path: Path) -> None:
    cases = [
        *(("run.json", text.encode()) for text in MALFORMED.values()),
        *(("results.json", text.encode()) for text in MALFORMED_RESULTS),
        *(("completions.jsonl", row + b"\n") for row in MALFORMED_ROWS),
    ]
    for number, (file, content) in enumerate(cases):
        folder = tmp_path / "runs" / f"bad-{number}"
        shutil.copytree(run, folder)
        (folder / file).write_bytes(content)
        if verb != "list":
            result = gradeschool("runs", verb, folder)
            assert result.status in (0, 1, 2), (file, content[:60])
            assert "unexpected" not in result.err, (file, content[:60], result.err)
    result = gradeschool("runs", "list", tmp_path / "runs")
    assert "unexpected" not in result.err
    assert accuracy(run) in result.out


def test_samples_are_topped_up_and_voted_on(gradeschool: Command, tmp_path: Path) -> None:
    """Problem n's samples: n of 8 are right, the others are all wrong in the same way."""
    problems = tmp_path / "problems.jsonl"
    rows = [{"question": f"Problem {n}?", "answer": "#### 1"} for n in range(9)]
    problems.write_text("\n".join(map(json.dumps, rows)))

    def choose(request: ReceivedRequest) -> Behaviour:
        number = int(request.question.split("Problem ")[1][0])
        right = (request.body["seed"] * 3) % 8 < number
        return good("#### 1" if right else "#### 2")

    folder = tmp_path / "run"
    arguments = ("-d", problems, "-o", folder, "--temperature", 1, "--seed", 0)
    with fault_server(choose) as server:
        first = gradeschool("eval", "-m", f"{server.url}/m", *arguments, "-k", 4)
        assert (first.status, len(server.requests)) == (0, 36)
        result = gradeschool("eval", "-m", f"{server.url}/m", *arguments, "-k", 8, "--json")
        assert len(server.requests) == 72
        assert {row.body["seed"] for row in server.requests[36:]} == {4, 5, 6, 7}
        shown = gradeschool("eval", "-m", f"{server.url}/m", *arguments, "-k", 8)
    at_k = {point["k"]: point for point in result.json()["runs"][0]["at_k"]}
    assert at_k == {
        point["k"]: point for point in json.loads((folder / "results.json").read_text())["at_k"]
    }
    assert list(at_k) == [1, 2, 4, 8]
    assert at_k[1]["maj"] == at_k[1]["pass"] == 0.5
    # 5, 6, 7, 8 of 8 win; 4 of 4 tie, and sample 0 is right in every problem but the first
    assert at_k[8]["maj"] == pytest.approx(5 / 9)
    assert at_k[8]["ties"] == pytest.approx(1 / 9)
    assert at_k[8]["pass"] == pytest.approx(8 / 9)
    assert "maj@k" in shown.out
    curve = gradeschool("runs", "curve", folder, "--json").json()
    (report,) = curve["curves"].values()
    assert {point["k"]: point for point in report} == at_k
    assert "problems" in gradeschool("runs", "curve", folder).out


def test_nothing_judged_is_nothing_claimed(gradeschool: Command, tmp_path: Path) -> None:
    problems = tmp_path / "problems.jsonl"
    problems.write_text('{"question": "What is 3 + 0?", "answer": "#### 3"}\n')
    folder = tmp_path / "runs" / "failed"
    with fault_server(lambda _: status(400)) as server:
        ended = gradeschool("eval", "-m", f"{server.url}/m", "-d", problems, "-o", folder)
    assert ended.status == 3
    fields = json.loads((folder / "results.json").read_text())
    assert [(row["accuracy"], row["ci95"]) for row in fields["scorers"].values()] == [(None, None)]
    page = tmp_path / "page.html"
    for words in (
        ("score", folder),
        ("runs", "list", tmp_path / "runs"),
        ("runs", "show", folder),
        ("report", folder, "-o", page),
        ("report", folder, "-o", tmp_path / "page.md"),
    ):
        result = gradeschool(*words)
        assert "0.00 %" not in result.out + result.err + ended.out + ended.err, words
    assert "No completion of this run could be judged" in page.read_text()
    assert "0.00" not in (tmp_path / "page.md").read_text()
