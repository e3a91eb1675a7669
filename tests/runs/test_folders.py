"""Verify, repair and merge run folders that eval wrote."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gradeschool.formats.own_run import SEAL, sealed
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.recorded_run import RECORDED
from tests.support.recorded_run import run as run  # a fixture


def command_of(run: Path) -> tuple[object, ...]:
    return "eval", *RECORDED, "-o", run


def faults(gradeschool: Command, folder: Path) -> list[str]:
    result = gradeschool("runs", "verify", folder, "--json")
    report = result.json()
    assert result.status == (1 if report["faults"] else 0)
    return [finding["text"] for finding in report["findings"] if finding["fault"]]


def test_verify_finds_nothing_wrong_with_a_run_as_it_was_written(
    gradeschool: Command, run: Path
) -> None:
    assert faults(gradeschool, run) == []
    text = gradeschool("runs", "verify", run).out
    assert "48 keys recomputed, all match" in text
    assert "results.json covers these 48 rows (SHA-256)" in text


def lines(run: Path) -> list[bytes]:
    return (run / "completions.jsonl").read_bytes().splitlines(True)


def rewritten(run: Path, change: Callable[[list[bytes]], list[bytes]]) -> None:
    (run / "completions.jsonl").write_bytes(b"".join(change(lines(run))))


def first_row(run: Path, old: bytes, new: bytes) -> bytes:
    """Return the first row, changed, with a digest that is right for it."""
    row, _, _ = lines(run)[0].replace(old, new).rpartition(SEAL)
    return sealed(row + b"}")


def manifest(run: Path, old: str, new: str, file: str = "run.json") -> None:
    path = run / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "a text was changed": (
        lambda run: rewritten(run, lambda rows: [rows[0].replace(b"a", b"b"), *rows[1:]]),
        "rows were changed or removed",
    ),
    "a text was changed, as its row says": (
        lambda run: rewritten(run, lambda rows: [rows[0].replace(b"a", b"b"), *rows[1:]]),
        "1 row was changed after it was stored: 1",
    ),
    "a digest was taken off": (
        lambda run: rewritten(run, lambda rows: [rows[0].rpartition(SEAL)[0] + b"}\n", *rows[1:]]),
        "1 row was changed after it was stored: 1",
    ),
    "a row was removed": (
        lambda run: rewritten(run, lambda rows: rows[1:]),
        "rows were changed or removed",
    ),
    "a torn tail": (
        lambda run: rewritten(run, lambda rows: [*rows, rows[0][:40]]),
        "1 row is incomplete: 49",
    ),
    "zeros at the end": (
        lambda run: rewritten(run, lambda rows: [*rows, b"\0" * 64]),
        "1 row is incomplete: 49",
    ),
    "a key of another request": (
        lambda run: rewritten(
            run,
            lambda rows: [first_row(run, b'"sample": 0', b'"sample": 1'), *rows[1:]],
        ),
        "1 row has a key that does not match its request: problem 0 sample 1",
    ),
    "a problem of another dataset": (
        lambda run: rewritten(
            run,
            lambda rows: [first_row(run, b'"problem_id": "0"', b'"problem_id": "x"'), *rows[1:]],
        ),
        "1 row belongs to no problem of the dataset: x",
    ),
    "two answers for one key": (
        lambda run: rewritten(
            run,
            lambda rows: [*rows, first_row(run, b'"completion": "', b'"completion": "other ')],
        ),
        "1 sample has several texts",
    ),
    "another model": (
        lambda run: manifest(run, "handwritten/chat", "handwritten/cot"),
        "48 rows have a key",
    ),
    "another dataset": (
        lambda run: manifest(run, '"sha256": "', '"sha256": "00'),
        "the dataset has changed",
    ),
    "a protocol that changed": (
        lambda run: manifest(run, '"digest": "', '"digest": "00'),
        "the protocol has changed",
    ),
    "a protocol that is gone": (
        lambda run: manifest(run, "zero-shot/chat", "zero-shot/chap"),
        "keys cannot be recomputed: no protocol is called 'zero-shot/chap'",
    ),
    "no protocol": (
        lambda run: manifest(run, '"protocol"', '"protocols"'),
        "run.json was changed or damaged",
    ),
    "results by another scorer": (
        lambda run: manifest(run, "gradeschool/reader", "openai/2021", "results.json"),
        "results.json has scores by openai/2021, the run's scorers are gradeschool/reader",
    ),
    "a score that was improved": (
        lambda run: manifest(run, '"correct": 43', '"correct": 44', "results.json"),
        "does not match gradeschool/reader on these rows: correct 44, not 43",
    ),
    "a vote that was improved": (
        lambda run: manifest(run, '"failures": {', '"failures": {"guess": 1, ', "results.json"),
        "results.json does not match these rows: failures",
    ),
    "no scores": (
        lambda run: manifest(run, '"scorers"', '"ruled"', "results.json"),
        "results.json has scores by no scorer",
    ),
    "a later schema": (
        lambda run: manifest(run, '"schema": 1', '"schema": 9'),
        "run.json has the schema 9",
    ),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_verify_finds_damage_says_what_and_exits_with_1(
    name: str, gradeschool: Command, run: Path
) -> None:
    damage, words = DAMAGE[name]
    damage(run)
    report = faults(gradeschool, run)
    assert any(words in text for text in report), report


@pytest.mark.parametrize(
    ("change", "words", "requested"),
    [
        (
            lambda rows: [rows[0].replace(b'"completion": "', b'"completion": "x'), *rows[1:]],
            "1 row was changed",
            1,
        ),
        (lambda rows: rows[2:], "rows that results.json counted were removed or moved", 2),
        (lambda rows: rows[::-1], "rows that results.json counted were removed or moved", 0),
    ],
)
def test_eval_repairs_a_folder_openly_and_run_json_keeps_it(
    change: Callable[[list[bytes]], list[bytes]],
    words: str,
    requested: int,
    gradeschool: Command,
    run: Path,
) -> None:
    """What was changed never counts again without a word, whatever is result next."""
    before = lines(run)
    rewritten(run, change)
    result = gradeschool(*command_of(run))
    assert result.status == 0
    assert f"{words}" in result.err
    assert sorted(lines(run)) == sorted(before)
    quarantine = run / "quarantine.jsonl"
    assert quarantine.exists() == ("changed" in words)
    assert len(lines(run)) - len(change(before)) in (requested, requested - 1)
    shown = gradeschool("runs", "verify", run)
    assert shown.status == 0
    assert "repaired at " in shown.out and words in shown.out
    again = gradeschool(*command_of(run))
    assert words not in again.err
    assert "repaired at " in gradeschool("runs", "verify", run).out


def test_eval_refuses_an_older_folder_whose_rows_were_changed(
    gradeschool: Command, run: Path
) -> None:
    """Rows of schema 1 have no digest: which of them were changed is not known."""

    def older(row: bytes) -> bytes:
        return row.replace(b'"schema": 2', b'"schema": 1').rpartition(SEAL)[0] + b"}\n"

    rewritten(run, lambda rows: [older(row) for row in rows])
    result = gradeschool(*command_of(run))
    assert result.status == 2
    assert "restore the file, or give another folder" in result.err
    (run / "results.json").unlink()
    assert gradeschool(*command_of(run)).status == 0


@pytest.mark.parametrize(
    "name", ["run.lock", "completions.jsonl", "run.json", "results.json", "quarantine.jsonl"]
)
def test_a_link_or_a_pipe_in_a_run_folder_is_neither_written_to_nor_waited_for(
    name: str, gradeschool: Command, run: Path, tmp_path: Path
) -> None:
    precious = tmp_path / "precious"
    content = (run / name).read_bytes() if (run / name).exists() else b"precious"
    precious.write_bytes(content)
    rewritten(run, lambda rows: [*rows, b"torn"])
    (run / name).unlink(missing_ok=True)
    (run / name).symlink_to(precious)
    linked = gradeschool(*command_of(run))
    assert precious.read_bytes() == content
    (run / name).unlink()
    os.mkfifo(run / name)
    piped = gradeschool(*command_of(run))
    for result in (linked, piped):
        assert result.status in (0, 2) and "unexpected" not in result.err
    assert piped.status == 2 and name in piped.err
    for verb in ("list", "show", "verify"):
        shown = gradeschool("runs", verb, run)
        assert shown.status in (0, 1, 2) and "unexpected" not in shown.err


def test_a_refused_command_repairs_nothing(gradeschool: Command, run: Path) -> None:
    rewritten(
        run, lambda rows: [rows[0].replace(b'"completion": "', b'"completion": "x'), *rows[1:]]
    )
    before = {path.name: path.read_bytes() for path in run.iterdir()}
    refused = gradeschool(
        "eval", "-m", "recorded/sample#handwritten/cot", "-d", "sample", "-o", run
    )
    assert refused.status == 2
    assert {path.name: path.read_bytes() for path in run.iterdir()} == before


def test_a_file_of_somebody_else_is_left_alone(gradeschool: Command, tmp_path: Path) -> None:
    path = tmp_path / "completions.jsonl"
    path.write_text('{"prompt": "?", "completion": "18"}\n')
    ended = gradeschool("eval", *RECORDED, "-o", tmp_path)
    assert ended.status == 2 and "is not part of a run; give another folder" in ended.err
    assert path.read_text() == '{"prompt": "?", "completion": "18"}\n'


def test_a_run_of_chosen_problems_does_not_shrink(gradeschool: Command, run: Path) -> None:
    """As `profile` writes one."""
    fields = json.loads((run / "run.json").read_text())
    ids = sorted({json.loads(row)["problem_id"] for row in lines(run)})[::2]
    (run / "run.json").write_text(json.dumps({**fields, "problem_ids": ids, "problems": len(ids)}))
    fewer = gradeschool("eval", *RECORDED, "-n", 3, "-o", run)
    assert fewer.status == 2
    assert f"a run of {len(ids)} problems, and" in fewer.err
    assert gradeschool("eval", *RECORDED, "-o", run).status == 0


def test_verify_changes_nothing(gradeschool: Command, run: Path) -> None:
    rewritten(run, lambda rows: [*rows, b"torn"])
    before = {path.name: path.read_bytes() for path in run.iterdir()}
    faults(gradeschool, run)
    assert {path.name: path.read_bytes() for path in run.iterdir()} == before


def test_rows_added_after_the_results_are_no_fault(gradeschool: Command, run: Path) -> None:
    rewritten(run, lambda rows: [*rows, rows[0]])
    assert faults(gradeschool, run) == []
    assert "rows were added since" in gradeschool("runs", "verify", run).out


def test_merge_keeps_each_sample_once_and_scores_it(
    gradeschool: Command, run: Path, tmp_path: Path
) -> None:
    part, merged = tmp_path / "part", tmp_path / "merged"
    gradeschool("eval", *RECORDED, "-n", 20, "-o", part)
    shutil.copytree(run, tmp_path / "copy")
    rewritten(tmp_path / "copy", lambda rows: rows[10:])
    manifest(part, '"samples": 1', '"samples": 1, "repairs": [{"time": "1", "what": "torn"}]')
    result = gradeschool("runs", "merge", part, tmp_path / "copy", "-o", merged, "--json").json()
    assert json.loads((merged / "run.json").read_text())["repairs"] == [
        {"time": "1", "what": "torn"}
    ]
    assert (result["kept"], result["dropped"]) == (48, 20 + 38 - 48)
    assert faults(gradeschool, merged) == []
    assert sorted(lines(merged)) == sorted(lines(run))
    whole, joined = (
        json.loads((folder / "results.json").read_text())["scorers"] for folder in (run, merged)
    )
    assert whole == joined
    # the merged folder is a run like another: nothing is asked for again
    again = gradeschool("eval", "-m", RECORDED[1], "-d", "sample", "-o", merged)
    assert "48 stored already" in again.err


def test_merge_scores_the_problems_of_all_runs(
    gradeschool: Command, run: Path, tmp_path: Path
) -> None:
    """A run of the first problems, and runs of others that name them, as `profile` writes."""

    def some(name: str, ids: set[str]) -> Path:
        folder = tmp_path / name
        shutil.copytree(run, folder)
        rewritten(folder, lambda rows: [r for r in rows if json.loads(r)["problem_id"] in ids])
        manifest = json.loads((folder / "run.json").read_text())
        manifest |= {"problems": len(ids), "problem_ids": sorted(ids, key=all_ids.index)}
        (folder / "run.json").write_text(json.dumps(manifest))
        return folder

    all_ids = [json.loads(row)["problem_id"] for row in lines(run)]
    first, middle = tmp_path / "first", some("middle", set(all_ids[25:35]))
    gradeschool("eval", *RECORDED, "-n", 20, "-o", first)
    rest = some("rest", set(all_ids[20:25] + all_ids[35:]))
    for number, (parts, kept) in enumerate([((first, middle), 30), ((first, middle, rest), 48)]):
        merged = tmp_path / f"merged-{number}"
        gradeschool("runs", "merge", *parts, "-o", merged)
        results = json.loads((merged / "results.json").read_text())
        manifest = json.loads((merged / "run.json").read_text())
        assert (results["n"], results["missing"], manifest["problems"]) == (kept, 0, kept)
        assert ("problem_ids" in manifest) == (kept < 48)
        assert faults(gradeschool, merged) == []


def test_merge_prefers_an_answer_to_an_error(
    gradeschool: Command, run: Path, tmp_path: Path
) -> None:
    def failed(rows: list[bytes]) -> list[bytes]:
        fields = json.loads(rows[0])
        return [json.dumps({**fields, "error": "timeout: x", "completion": ""}).encode() + b"\n"]

    shutil.copytree(run, tmp_path / "failed")
    rewritten(tmp_path / "failed", failed)
    gradeschool("runs", "merge", tmp_path / "failed", run, "-o", tmp_path / "merged")
    assert sorted(lines(tmp_path / "merged")) == sorted(lines(run))


def test_merge_refuses_what_is_not_one_run(gradeschool: Command, run: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    gradeschool("eval", "-m", "recorded/sample#handwritten/cot", "-d", "sample", "-o", other)
    result = gradeschool("runs", "merge", run, other, "-o", tmp_path / "merged")
    assert result.status == 2
    assert "are not one run: the model is" in result.err
    assert not (tmp_path / "merged").exists()
    full = gradeschool("runs", "merge", run, "-o", other)
    assert full.status == 2
    assert "is not empty" in full.err
