"""`gradeschool runs`: list, show, verify, merge, curve, on folders that eval wrote."""

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
from tests.support.fault_server import (
    Behaviour,
    ReceivedRequest,
    changed,
    fault_server,
    good,
    status,
)

RECORDED = ("-m", "recorded/sample#handwritten/chat", "-d", "sample", "--quiet")


@pytest.fixture
def run(gradeschool: Command, tmp_path: Path) -> Path:
    """A run of 48 samples."""
    folder = tmp_path / "runs" / "chat"
    assert gradeschool("eval", *RECORDED, "-o", folder).status == 0
    return folder


def command_of(run: Path) -> tuple[object, ...]:
    return "eval", *RECORDED, "-o", run


def accuracy(run: Path) -> str:
    """The figure of the headline scorer, as it is shown."""
    (figures,) = json.loads((run / "results.json").read_text())["scorers"].values()
    return f"{100 * figures['accuracy']:.2f} %"


def faults(gradeschool: Command, folder: Path) -> list[str]:
    result = gradeschool("runs", "verify", folder, "--json")
    report = result.json()
    assert result.status == (1 if report["faults"] else 0)
    return [finding["text"] for finding in report["findings"] if finding["fault"]]


def test_list_shows_every_run_below_a_folder(
    gradeschool: Command, run: Path, tmp_path: Path
) -> None:
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


def test_a_broken_run_is_told_and_the_others_are_listed(
    gradeschool: Command, run: Path, tmp_path: Path
) -> None:
    (tmp_path / "runs" / "broken").mkdir()
    (tmp_path / "runs" / "broken" / "run.json").write_text("{")
    result = gradeschool("runs", "list", tmp_path / "runs", "--json")
    assert result.status == 2
    assert "cannot read" in result.err
    assert len(result.json()["runs"]) == 1


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


@pytest.mark.parametrize("verb", ["list", "show", "verify", "merge"])
def test_a_malformed_run_is_no_traceback_and_hides_no_other(
    verb: str, gradeschool: Command, run: Path, tmp_path: Path
) -> None:
    """Whatever lies in one folder, the others are listed."""
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
            more = ("-o", tmp_path / f"merged-{number}") if verb == "merge" else ()
            result = gradeschool("runs", verb, folder, *more)
            assert result.status in (0, 1, 2), (file, content[:60])
            assert "unexpected" not in result.err, (file, content[:60], result.err)
    result = gradeschool("runs", "list", tmp_path / "runs")
    assert "unexpected" not in result.err
    assert accuracy(run) in result.out


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


def test_uneven_samples_and_two_golds_for_a_question_are_said(
    gradeschool: Command, tmp_path: Path
) -> None:
    problems, samples = tmp_path / "problems.jsonl", tmp_path / "samples.jsonl"
    golds = [3, 4, 5, 5]
    questions = ["What is 3 + 0?", "What is 4 + 0?", "What is 5 + 0?", "What  is 3 + 0?"]
    pairs = zip(questions, golds, strict=True)
    problems.write_text(
        "\n".join(json.dumps({"question": text, "answer": f"#### {n}"}) for text, n in pairs)
    )
    numbers = [0] * 10 + [1, 2]
    samples.write_text(
        "\n".join(
            json.dumps({"index": number, "sample": row, "completion": f"#### {number + 3}"})
            for row, number in enumerate(numbers)
        )
    )
    scored = gradeschool("score", samples, "-d", problems)
    assert "1 to 10 samples per problem" in scored.out
    assert "'What is 3 + 0?': '3' (problem 0) and '5' (problem 3)" in scored.err
    fields = gradeschool("score", samples, "-d", problems, "--json").json()["runs"][0]
    assert fields["samples_per_problem"] == [1, 10]
    with fault_server() as server:
        ended = gradeschool("eval", "-m", f"{server.url}/m", "-d", problems, "-o", tmp_path / "r")
    assert "1 questions of the dataset have several golds" in ended.err


@pytest.mark.parametrize(
    ("model", "answered", "shown"),
    [
        ("gpt-4o", "gpt-4o-2024-08-06", False),
        ("org/tiny", "/models/tiny.gguf", False),
        ("gpt-4o", "gpt-3.5-turbo", True),
        ("gpt-4o", "gpt-4", True),
        ("gpt-4o", "gpt-4o-mini", True),
        ("gpt-4", "gpt-4-1106-preview", False),
        ("gemini-1.5-pro", "models/gemini-1.5-pro-002", False),
        ("qwen2.5", "qwen2.5:7b", False),
    ],
)
def test_a_server_that_answers_as_another_model_is_said(
    model: str, answered: str, shown: bool, gradeschool: Command, tmp_path: Path
) -> None:
    problems = tmp_path / "problems.jsonl"
    problems.write_text('{"question": "What is 3 + 0?", "answer": "#### 3"}\n')
    folder, page = tmp_path / "run", tmp_path / "page.html"
    with fault_server(lambda _: changed(lambda body: body.update(model=answered))) as server:
        ended = gradeschool("eval", "-m", f"{server.url}/{model}", "-d", problems, "-o", folder)
    gradeschool("report", folder, "-o", page)
    words = f"'{answered}' (1 answers)"
    assert (words in ended.err) == shown
    assert (words in gradeschool("runs", "show", folder).out) == shown
    assert ("another model answered" in page.read_text()) == shown


def test_show_tells_what_the_run_is(gradeschool: Command, run: Path) -> None:
    shown = gradeschool("runs", "show", run).out
    for words in ("zero-shot/chat (", "temperature 0.0", "48 answered, 0 failed", accuracy(run)):
        assert words in shown
    assert gradeschool("runs", "show", run, "--json").json()["results"]["n"] == 48
    assert "is not a run folder" in gradeschool("runs", "show", run.parent).err


def test_an_accuracy_of_fewer_samples_is_not_shown_as_that_of_all(
    gradeschool: Command, tmp_path: Path
) -> None:
    """Of a run that was continued from 20 to 48 samples and ended before its results."""
    folder = tmp_path / "continued"
    assert gradeschool("eval", *RECORDED, "-n", 20, "-o", folder).status == 0
    results, figure = (folder / "results.json").read_bytes(), accuracy(folder)
    assert figure in gradeschool("runs", "list", folder, columns=160).out
    assert "earlier" not in gradeschool("runs", "show", folder).out
    assert gradeschool("eval", *RECORDED, "-o", folder).status == 0
    (folder / "results.json").write_bytes(results)
    listed = gradeschool("runs", "list", folder, columns=80).out
    assert ["48", "0", "-"] in [line.split()[:3] for line in listed.splitlines()]
    shown = gradeschool("runs", "show", folder).out
    assert "results            of an earlier session, of 20 samples" in shown
    (line,) = [line for line in shown.splitlines() if figure in line]
    assert line.endswith("] of 20 samples")


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
    at_k = {point["k"]: point for point in result.json()["at_k"]}
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
    only = gradeschool("runs", "curve", folder, "--at", 3, "--json").json()["curves"]
    assert [point["k"] for point in next(iter(only.values()))] == [3]
    assert "problems" in gradeschool("runs", "curve", folder).out
