"""Verify, list and repair run folders that eval wrote."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from gradeschool.formats.own_run import digest_of
from tests.support.command import Command
from tests.support.recorded_run import RECORDED
from tests.support.recorded_run import run as run  # a fixture

Rows = list[dict[str, Any]]


def rows_of(run: Path) -> Rows:
    return [json.loads(line) for line in (run / "completions.jsonl").read_text().splitlines()]


def damage_rows(change: Callable[[Rows], Rows]) -> Callable[[Path], object]:
    def rewrite(run: Path) -> None:
        rows = "".join(json.dumps(row) + "\n" for row in change(rows_of(run)))
        (run / "completions.jsonl").write_text(rows)

    return rewrite


def with_digest(row: Mapping[str, Any], **changed: object) -> dict[str, Any]:
    fields = {**row, **changed}
    digest = digest_of(fields["key"], fields["completion"], fields["error"])
    return {**fields, "digest": digest}


def damage_file(name: str, old: str, new: str) -> Callable[[Path], object]:
    def rewrite(run: Path) -> None:
        assert old in (run / name).read_text()
        (run / name).write_text((run / name).read_text().replace(old, new))

    return rewrite


def append(tail: bytes) -> Callable[[Path], object]:
    def write(run: Path) -> None:
        with (run / "completions.jsonl").open("ab") as file:
            file.write(tail)

    return write


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "a text was changed": (
        damage_rows(lambda rows: [{**rows[0], "completion": "x"}, *rows[1:]]),
        "1 row is damaged (row 1); eval requests what is missing",
    ),
    "a row was removed": (
        damage_rows(lambda rows: rows[1:]),
        "results.json counts 48 samples, and 47 are stored",
    ),
    "a key of another request": (
        damage_rows(lambda rows: [{**rows[0], "sample": 1}, *rows[1:]]),
        "1 row has a key that does not match its request: problem 0 sample 1",
    ),
    "a problem of another dataset": (
        damage_rows(lambda rows: [{**rows[0], "problem_id": "x"}, *rows[1:]]),
        "1 row has a key that does not match its request: problem x sample 0",
    ),
    "two answers for one key": (
        damage_rows(lambda rows: [*rows, with_digest(rows[0], completion="other")]),
        "1 sample has several texts",
    ),
    "another model": (
        damage_file("run.json", "handwritten/chat", "handwritten/cot"),
        "48 rows have a key",
    ),
    "a protocol that changed": (
        damage_file("run.json", '"digest": "', '"digest": "00'),
        "the protocol has changed",
    ),
    "no protocol": (
        damage_file("run.json", '"protocol"', '"protocols"'),
        "run.json was changed or damaged",
    ),
    "results by another scorer": (
        damage_file("results.json", "gradeschool/reader", "openai/2021"),
        "results.json has scores by openai/2021, the run's scorers are gradeschool/reader",
    ),
    "a score that was improved": (
        damage_file("results.json", '"correct": 43', '"correct": 44'),
        "does not match gradeschool/reader: correct 44, not 43",
    ),
    "a later schema": (
        damage_file("run.json", '"schema": 1', '"schema": 9'),
        "run.json has the schema 9",
    ),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_verify_finds_damage(name: str, gradeschool: Command, run: Path) -> None:
    damage, words = DAMAGE[name]
    damage(run)
    result = gradeschool("runs", "verify", run, "--json")
    faults = [each["text"] for each in result.json()["findings"] if each["fault"]]
    assert result.status == 1
    assert any(words in text for text in faults), faults


def test_verify_finds_nothing_wrong_with_a_new_run(gradeschool: Command, run: Path) -> None:
    result = gradeschool.done("runs", "verify", run)
    assert "48 keys recomputed, all match" in result.out
    assert "results.json has the scores of these 48 samples" in result.out


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (damage_rows(lambda rows: [{**rows[0], "completion": "x"}, *rows[1:]]), "(row 1)"),
        (damage_rows(lambda rows: rows[2:]), ""),
        (append(b'{"schema": 1, "key": "'), "(row 49)"),
        (append(b"\0" * 64 + b"\n"), "(row 49)"),
    ],
)
def test_eval_names_damaged_rows_and_requests_what_is_missing(
    damage: Callable[[Path], object], said: str, gradeschool: Command, run: Path
) -> None:
    before = {row["key"]: row["completion"] for row in rows_of(run)}
    damage(run)
    result = gradeschool.done("eval", *RECORDED, "-o", run)
    assert said in result.err
    gradeschool.done("runs", "verify", run)
    scored = gradeschool("score", run, "-d", "sample", "--scorer", "gradeschool/reader", "--json")
    assert scored.json()["runs"][0]["n"] == len(before)


@pytest.mark.parametrize("name", ["completions.jsonl", "run.json", "results.json"])
def test_a_link_or_pipe_in_a_run_folder_is_not_followed(
    name: str, gradeschool: Command, run: Path, tmp_path: Path
) -> None:
    precious = tmp_path / "precious"
    precious.write_bytes((run / name).read_bytes())
    for kind in ("link", "pipe"):
        (run / name).unlink()
        if kind == "link":
            (run / name).symlink_to(precious)
        else:
            os.mkfifo(run / name)
        for words in (("runs", "show", run), ("runs", "verify", run)):
            assert "remove it" in gradeschool.refused(*words)
        gradeschool("eval", *RECORDED, "-o", run)
        if (run / name).is_symlink():
            assert precious.read_bytes()


def test_list_survives_a_damaged_and_a_vanishing_run(
    gradeschool: Command, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gradeschool.runs import folder

    (run.parent / "damaged").mkdir()
    (run.parent / "damaged" / "run.json").write_text("{")
    (run.parent / "outside").symlink_to("/", target_is_directory=True)
    whole = folder.find_runs
    gone = run.parent / "gone"
    monkeypatch.setattr(folder, "find_runs", lambda place: [*whole(place), gone])
    result = gradeschool("runs", "list", run.parent)
    assert result.status == 2
    assert "damaged" in result.err and "gone" in result.err
    assert "zero-shot/chat" in result.out
    assert len(list(whole(run.parent))) == 2


def test_show_tells_a_run_in_progress(gradeschool: Command, run: Path) -> None:
    (run / "results.json").unlink()
    damage_rows(lambda rows: rows[:-8])(run)
    append(b'{"sch')(run)
    shown = gradeschool("runs", "show", run).out
    assert "48 problems x 1: 40 answered, 0 failed, 1 damaged rows" in shown
    assert gradeschool("runs", "list", run.parent).out.count("40 of 48") == 1
