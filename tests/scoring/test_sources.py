"""What `score` is given besides files: one run of several, standard input."""

from __future__ import annotations

import io
import json
import os
import re
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gradeschool import load_dataset
from gradeschool.completion import Completion, Finish, Usage
from gradeschool.datasets.load import Dataset
from gradeschool.errors import DataError
from gradeschool.formats.run_folder import to_line
from gradeschool.formats.values import ReadOptions
from gradeschool.scoring import sources
from gradeschool.scoring.at_k import read_candidates
from gradeschool.scoring.sources import load_runs, split_run
from tests.support.command import Command
from tests.support.files import jsonl

SCORERS = ("--scorer", "openai/2021", "multi-pattern")
PROBLEMS, SAMPLES = 6, 2


@pytest.fixture
def problems(tmp_path: Path) -> Path:
    rows = [{"question": f"What is {n} + 0?", "answer": f"#### {n}"} for n in range(PROBLEMS)]
    return jsonl(tmp_path / "problems.jsonl", rows)


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """Two runs in turn: "low" marks the answers of three problems of six, "high" of five."""
    rows = [
        {"index": n, "sample": k, "run": run,
         "completion": f"{'####' if n < right else 'Answer:'} {n}"}
        for n in range(PROBLEMS)
        for k in range(SAMPLES)
        for run, right in (("low", 3), ("high", 5))
    ]  # fmt: skip
    return jsonl(tmp_path / "answers.jsonl", rows)


def correct(done_json: dict[str, list[dict[str, dict[str, dict[str, int]]]]]) -> dict[str, int]:
    return {str(run["run"]): run["scorers"]["openai/2021"]["correct"] for run in done_json["runs"]}


@pytest.mark.slow
@pytest.mark.parametrize("more", [(), ("--jobs", "2")])
def test_one_run_of_several_is_scored_alone_and_as_among_the_others(
    gradeschool: Command, answers: Path, problems: Path, more: tuple[str, ...]
) -> None:
    where = ("-d", problems, *SCORERS, "--json", *more)
    both = gradeschool("score", answers, *where).json()["runs"]
    [high] = gradeschool("score", f"{answers}#high", *where).json()["runs"]
    assert high == next(run for run in both if run["run"] == "high")
    turned = gradeschool("score", f"{answers}#high", f"{answers}#low", *where).json()["runs"]
    assert turned == both[::-1]


def test_standard_input_is_a_file_like_others_and_leaves_nothing_behind(
    gradeschool: Command, answers: Path, problems: Path, monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:  # fmt: skip
    kept = tmp_path / "temporary"
    kept.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(kept))

    def scored(*more: str) -> str:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(answers.read_bytes())))
        return gradeschool("score", "-", "-d", problems, *SCORERS, *more).out

    assert correct(json.loads(scored("--json"))) == {"low": 3 * SAMPLES, "high": 5 * SAMPLES}
    assert "gradeschool explain" in gradeschool("score", answers, "-d", problems, *SCORERS).out
    assert "gradeschool explain" not in scored()  # a file that is gone explains nothing
    assert list(kept.iterdir()) == []


def test_a_pipe_is_read_to_its_end(
    gradeschool: Command, answers: Path, problems: Path, tmp_path: Path
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(answers.read_bytes(),))
    writer.start()
    whole = gradeschool("score", pipe, "-d", problems, *SCORERS, "--json").json()
    writer.join()
    assert correct(whole) == {"low": 3 * SAMPLES, "high": 5 * SAMPLES}


def test_a_name_is_split_where_a_file_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("plain", "a#b", "t#1.parquet"):
        (tmp_path / name).touch()
    for spec, expected in {
        "plain": ("plain", ""),
        "plain#run#1": ("plain", "run#1"),
        "a#b": ("a#b", ""),
        "a#b#c": ("a#b", "c"),
        "t#*.parquet": ("t#*.parquet", ""),
        "t#*.parquet#x": ("t#*.parquet", "x"),
        "absent#x": ("absent", "x"),
        "absent": ("absent", ""),
    }.items():
        assert split_run(spec) == expected


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (
            {"question": "How many?", "gold": None},
            "row 1 has no gold, so 'gsm8k' is needed: no net",
        ),
        ({"id": 5}, "no column was found for the gold (--columns gold=COLUMN)"),
        ({}, "for the question and the gold (--columns question=COLUMN,gold=COLUMN)"),
    ],
)
def test_a_dataset_that_cannot_be_fetched_is_said_to_be_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: dict[str, Any], reason: str
) -> None:
    def fetch(name: str) -> Dataset:
        raise DataError("no net")

    monkeypatch.setattr(sources, "is_here", lambda name: False)
    monkeypatch.setattr(sources, "load_dataset", fetch)
    path = jsonl(
        tmp_path / "a.jsonl", [row | {"response": "It is 5."}, {"gold": 5} if "gold" in row else {}]
    )
    with pytest.raises(DataError, match=f"read '.*': response=response.*{re.escape(reason)}"):
        sources.open_sources([str(path)], ReadOptions(), print)


def test_every_verb_reads_a_table_in_several_files(
    gradeschool: Command, answers: Path, problems: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    rows = answers.read_text().splitlines(keepends=True)
    (tmp_path / "parts").mkdir()
    for number, half in enumerate((rows[::2], rows[1::2])):
        (tmp_path / f"parts/{number}.jsonl").write_text("".join(half))
    several = "parts/*.jsonl"
    run, dataset = f"{several}#low", ("-d", problems)
    for command in (
        ("score", run, *dataset), ("explain", run, *dataset),
        ("report", several, *dataset, "-o", "page.html"),
        ("export", run, *dataset, "--to", "lm-eval", "-o", "exported"),
        ("why", run, "--expected-run", f"{several}#high", *dataset),
    ):  # fmt: skip
        gradeschool.done(*command)


def test_a_folder_of_several_kinds_is_refused(gradeschool: Command, tmp_path: Path) -> None:
    """Only the Parquet files would be read, the others lost without a word."""
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    (tmp_path / "b.jsonl").write_text('{"id": 0, "output": "1"}\n')
    refused = gradeschool.refused("score", tmp_path, "-d", "sample")
    assert "tables of several kinds, such as 'a.parquet' and 'b.jsonl'" in refused
    assert "*.parquet'" in refused


@pytest.fixture
def run(gradeschool: Command, tmp_path: Path) -> Path:
    """A run of 20 samples, of which 14 are stored, the last ones first."""
    folder = tmp_path / "run"
    words = ("eval", "-m", "recorded/sample#handwritten/chat", "-d", "sample", "-n", 20)
    gradeschool.done(*words, "-o", folder, "--quiet")
    stored = folder / "completions.jsonl"
    stored.write_bytes(b"".join(stored.read_bytes().splitlines(keepends=True)[13::-1]))
    return folder


def test_failures_stored_as_texts_are_named(gradeschool: Command, tmp_path: Path) -> None:
    """A proxy that answers each request with a sentence of its own is no model without answers."""
    texts = ["[upstream failed, please retry]" if n % 3 else "#### 5" for n in range(24)]
    recorded = jsonl(tmp_path / "r.jsonl", [{"index": n, "completion": text}
                                            for n, text in enumerate(texts)])  # fmt: skip
    words = ("eval", "-m", f"recorded/{recorded}", "-d", "sample", "-n", 24, "--quiet", "-o")
    for ended in (gradeschool(*words, tmp_path / "run"), gradeschool("score", tmp_path / "run")):
        assert "16 of 24 texts of " in ended.err
        assert "such as '[upstream failed, please retry]'; if these requests failed" in ended.err


def test_an_accuracy_says_how_many_it_is_of(gradeschool: Command, tmp_path: Path) -> None:
    rows = [{"question": p.question, "response": p.gold if n else None, "error": None if n else 5}
            for n, p in enumerate(load_dataset("sample").problems[:5])]  # fmt: skip
    ended = gradeschool("score", jsonl(tmp_path / "a.jsonl", rows), "-d", "sample", *SCORERS[:2])
    assert ended.status == 3
    assert "5 completions, 1 failed" in ended.out
    assert "% of 4 " in ended.out


VERBS = [("score",), ("compare", "--at-least", "0"), ("report", "-o", "report.md", "--force")]


@pytest.mark.parametrize("verb", VERBS)
def test_unfinished_runs_are_told(gradeschool: Command, run: Path, verb: tuple[str, ...]) -> None:
    gradeschool.monkeypatch.chdir(run.parent)
    said = "'run': 6 of 20 samples are missing; repeat the run's command to request them\n"
    for name in ("run", "run/completions.jsonl"):
        result = gradeschool(verb[0], name, *verb[1:])
        assert (result.status, result.err) == (0, f"gradeschool: {said}".replace("run", name, 1))
    (run / "run.json").rename(run / "run.txt")
    assert gradeschool(verb[0], "run", "-d", "sample", *verb[1:]).err == ""


@pytest.mark.parametrize("verb", VERBS)
def test_changed_rows_are_warned_of(gradeschool: Command, run: Path, verb: tuple[str, ...]) -> None:
    gradeschool.monkeypatch.chdir(run.parent)
    stored = run / "completions.jsonl"
    lines = stored.read_bytes().splitlines(keepends=True)
    changed = [line.replace(b'"completion": "', b'"completion": "#### 5 ') for line in lines[:3]]
    stored.write_bytes(b"".join([*changed, *lines[3:]]))
    ended = gradeschool(verb[0], "run", *verb[1:])
    assert (ended.status, "row 3 of 'run' was changed after it was stored" in ended.err) == (
        3,
        True,
    )
    jsonl(stored, [{"index": n, "completion": "5", "key": "k"} for n in range(9)])
    assert "changed" not in gradeschool(verb[0], "run", *verb[1:]).err


def test_a_run_folder_is_read_in_the_order_of_the_dataset(run: Path) -> None:
    """Completions are stored as they arrive; other files keep their order."""
    [loaded] = load_runs(run, ReadOptions(), lambda _: None)
    ids = [problem.id for problem in loaded.problems() if problem]
    assert ids == [str(number) for number in range(14)]
    copy = run.parent / "copy.jsonl"
    copy.write_bytes((run / "completions.jsonl").read_bytes())
    [loaded] = load_runs(copy, ReadOptions(dataset="sample"), lambda _: None)
    assert [problem.id for problem in loaded.problems() if problem] == ids[::-1]


def test_samples_are_read_by_number(gradeschool: Command, problems: Path, tmp_path: Path) -> None:
    """A vote breaks ties by their order, which must not be that of their arrival."""
    rows = [
        {"index": n, "sample": k, "completion": f"#### {k}"} for n in range(2) for k in range(3)
    ]
    recorded = jsonl(tmp_path / "recorded.jsonl", rows)
    folder = tmp_path / "sampled"
    words = ("eval", "-m", f"recorded/{recorded}", "-d", problems, "-n", 2, "-k", 3, "--quiet")
    gradeschool.done(*words, "--temperature", 0.7, "-o", folder)
    stored = folder / "completions.jsonl"
    stored.write_bytes(b"".join(stored.read_bytes().splitlines(keepends=True)[::-1]))
    [loaded] = load_runs(folder, ReadOptions(), lambda _: None)
    assert [sample.sample for sample in loaded.samples] == [0, 1, 2, 0, 1, 2]
    assert [sample.text for sample in loaded.samples[:3]] == ["#### 0", "#### 1", "#### 2"]


def test_a_changed_dataset_is_refused(gradeschool: Command, problems: Path, tmp_path: Path) -> None:
    rows = [{"question": f"What is {n} + 0?", "completion": f"#### {n}"} for n in range(PROBLEMS)]
    model, run = f"recorded/{jsonl(tmp_path / 'texts.jsonl', rows)}", tmp_path / "run"
    gradeschool("eval", "-m", model, "-d", problems, "-o", run, "--quiet")
    gradeschool.done("score", run)
    problems.write_text(problems.read_text().replace("#### 5", "#### 6"))
    verbs = (("score",), ("explain",), ("why", "--expected", "80"), ("report", "-o", "new.md"))
    for verb, *options in verbs:
        refused = gradeschool(verb, run, *options)
        assert refused.status == 2
        assert f"restore the file, or give -d {problems}" in refused.err.replace("\n", " ")
    scored = gradeschool("score", run, "-d", problems)
    assert "its present golds are used" in scored.err.replace("\n", " ")
    assert "83.33 %" in scored.out


def dataset_file(folder: Path, questions: Sequence[str]) -> Path:
    rows = [{"question": question, "answer": f"#### {index + 1}"}
            for index, question in enumerate(questions)]  # fmt: skip
    return jsonl(folder / "problems.jsonl", rows)


def run_folder(folder: Path, problems: Path, completions: Sequence[Completion]) -> Path:
    """A run folder with these completions, whose problem ids are places in the file."""
    dataset = load_dataset(str(problems))
    run = folder / "run"
    run.mkdir()
    manifest = {"model": "m", "dataset": {"name": str(problems), "sha256": dataset.sha256}}
    (run / "run.json").write_text(json.dumps(manifest))
    (run / "completions.jsonl").write_bytes(b"".join(
        to_line(each, dataset.problems[int(each.problem_id)].question) for each in completions
    ))  # fmt: skip
    return run


def completion(problem: int, text: str, error: str = "", sample: int = 0) -> Completion:
    key = f"key-{problem}-{sample}"
    return Completion(key, str(problem), sample, text, Finish.STOP, Usage(7, 5), error=error)


def test_the_candidates_are_the_completions_that_are_scored(tmp_path: Path) -> None:
    """A row that was changed after it was stored counts nowhere, as in `gradeschool score`."""
    problems = dataset_file(tmp_path, [f"What is {index} + 1?" for index in range(4)])
    stored = [
        completion(0, "", "http 500: no"),
        completion(1, "#### 2"),
        completion(0, "#### 1"),
        completion(2, "#### 4"),
        completion(3, "", "http 500: no"),
    ]
    file = run_folder(tmp_path, problems, stored) / "completions.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:3], lines[3].replace(b"#### 4", b"#### 3"), lines[4][:40]]))
    warnings: list[str] = []
    [scored] = load_runs(file.parent, ReadOptions(), lambda _: None)
    for path in (file.parent, file):
        [sampled] = read_candidates(str(path), ReadOptions(), warnings.append)
        candidates = [each for problem in sampled.answered for each in problem.candidates]
        assert [each.text for each in candidates] == ["#### 1", "#### 2"]
        assert [each.key for each in candidates] == ["key-0-0", "key-1-0"]
        assert all(each.right for each in candidates)
        assert sampled.failed == len(scored.samples) - len(candidates) == 1
    assert any("row 4" in warning and "changed" in warning for warning in warnings)


def test_two_problems_with_the_same_question_are_told_apart_by_their_ids(tmp_path: Path) -> None:
    problems = dataset_file(tmp_path, ["What is the sum?", "What is the sum?"])
    run = run_folder(tmp_path, problems, [completion(0, "#### 1"), completion(1, "#### 1")])
    [sampled] = read_candidates(str(run), ReadOptions(), print)
    assert [each.outcome for each in sampled.answered] == [(1, 1), (0, 1)]
