"""Bad input on the command line: a clear message with the row, or a counted error; no traceback."""

import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from gradeschool.verdict import Outcome
from tests.support.command import Command, CommandResult, run_script
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.files import jsonl

SCORERS = ("--scorer", "openai/2021", "--scorer", "multi-pattern", "-d", "sample")
LONGEST_LINE = 500


def row(index: object = 0, completion: object = "#### 600", **fields: object) -> bytes:
    return json.dumps({"index": index, "completion": completion, **fields}).encode()


GOOD = row()
DEEP = b"[" * 10**5 + b"]" * 10**5
DIGITS = b"9" * 10**6


class Case(NamedTuple):
    """A file, how the command ends, outcomes that are errors, and what stderr says.

    `{F}` in a message stands for the file's path in quotes.
    """

    body: bytes
    status: int
    errors: int
    messages: tuple[str, ...] = ()


CASES = {
    "empty": Case(b"", 2, 0, ("{F} contains no completions; give a file with one row each",)),
    "blank": Case(b"\n \r\n\n", 2, 0, ("{F} contains no completions",)),
    "no text": Case(
        GOOD + b'\n{"index": 1}', 3, 1, ("row 2 of {F} has no text: its 'completion' is null",)
    ),
    "no problem": Case(b'{"completion": "5"}\n' + GOOD, 3, 1, ("row 1 of {F} names no problem",)),
    "index outside": Case(
        b"\n".join((GOOD, row(48), row(-1), row(10**30))),
        3,
        3,
        (
            "row 2 of {F} has the id '48', but 'sample' has rows 0 to 47; correct it",
            "row 3 of {F} has the id '-1'",
            "row 4 of {F} has the id '1000000",
        ),
    ),
    "unknown question": Case(
        GOOD + b'\n{"question": "Who?", "completion": "5"}',
        3,
        1,
        ("row 2 of {F} has a question that is not in 'sample': 'Who?'",),
    ),
    "question of another row": Case(
        GOOD + b"\n" + row(1, question="A farmer"), 3, 1, ("has a question that is not in",)
    ),  # a question decides, whatever the index says
    "duplicate": Case(
        b"\n".join((GOOD, row(1), GOOD)), 0, 0, ("row 3 of {F} repeats a sample of problem '0'",)
    ),
    "same sample, other text": Case(
        b"\n".join((row(sample=0), row(1), row(completion="5", sample=0))),
        0,
        0,
        ("row 3 of {F} contains problem '0' of run 'answers' again, with another text",),
    ),
    "invalid UTF-8": Case(
        GOOD + b'\n{"index": 1, "completion": "\xff"}', 3, 1, ("row 2 of {F} is not valid UTF-8",)
    ),
    "surrogates": Case(row(completion="\ud800 #### 600 \udfff", run="\ud800"), 0, 0),
    "line separators": Case(
        json.dumps({"index": 0, "completion": "\u2028\x85#### 600"}, ensure_ascii=False).encode(),
        0,
        0,
    ),
    "escaped NUL": Case(row(completion="\x00#### 600\x00"), 0, 0),
    "bare NUL": Case(
        GOOD + b'\n{"index": 1, "completion": "\x00"}', 3, 1, ("row 2 of {F} is not valid JSON",)
    ),
    "10 MB": Case(row(completion="x 5" * (10**7 // 3)), 0, 0),
    # multi-pattern reads it through floats and overflows, as documented: an error of that scorer.
    "million digits": Case(row(completion=f"#### {'9' * 10**6}"), 3, 1),
    "million digits as a number": Case(
        GOOD + b'\n{"index": 1, "completion": ' + DIGITS + b"}",
        3,
        1,
        ("row 2 of {F} contains an integer with too many digits to read; write it as a string",),
    ),
    "million digits as index": Case(
        GOOD + b'\n{"index": "' + DIGITS + b'", "completion": "5"}',
        3,
        1,
        ("row 2 of {F} has the id '9999",),
    ),
    "million characters of id": Case(
        GOOD + b'\n{"id": "' + DIGITS + b'", "completion": "5"}',
        3,
        1,
        ("row 2 of {F} has the id '9999",),
    ),
    "long names of columns": Case(
        GOOD + b'\n{"' + DIGITS + b'": 1}', 3, 1, ("row 2 of {F} has no text",)
    ),
    "long name of a run": Case(row(run="r" * 10**6), 0, 0),
    "mixed runs": Case(b"\n".join((row(run="a"), row(run="b"), row(model="c"), GOOD)), 0, 0),
    "CRLF and BOM": Case(b"\xef\xbb\xbf" + GOOD + b"\r\n\r\n" + row(1) + b"\r\n", 0, 0),
    "deep": Case(
        GOOD + b'\n{"index": 1, "completion": ' + DEEP + b"}",
        3,
        1,
        ("row 2 of {F} is nested too deeply to be read",),
    ),
    "an array": Case(b"[" + GOOD + b",\n5]", 3, 1, ("row 2 of {F} is a JSON int, not an object",)),
    "a torn array": Case(b"[" + GOOD + b",\n", 2, 0, ("{F} is not valid JSON (",)),
    "a deep array": Case(DEEP, 2, 0, ("{F} is nested too deeply to be read",)),
    "nothing usable": Case(
        b'{"a": null}\n' * 9,
        2,
        0,
        ("{F} has no text in any column; its columns are 'a'",),
    ),
    "binary": Case(random.Random(0).randbytes(10**5), 2, 0, ("no row of {F} can be used",)),
    "terminal escapes": Case(
        b"\n".join(
            (row(run="\x1b[31mred\x07"), row(run="[/bold] :smile:\n"), row(99, run="\x1b]"))
        ),
        3,
        1,
        ("has the id '99'",),
    ),
}

LARGE = {"10 MB", "million digits", "long name of a run"}


def check(ended: CommandResult, case: Case, path: Path) -> None:
    """Check what every command owes to bad input."""
    assert ended.status == case.status
    assert "Traceback" not in ended.out + ended.err
    assert "\x1b" not in ended.out + ended.err
    assert "\x07" not in ended.out + ended.err
    lines = ended.err.splitlines()
    assert all(line.startswith("gradeschool: ") for line in lines)
    assert max(map(len, lines), default=0) < LONGEST_LINE
    lines = [line for line in lines if not line.startswith("gradeschool: read ")]
    assert case.status == 3 or bool(lines) == bool(case.messages)
    for message in case.messages:
        assert message.replace("{F}", repr(str(path))) in ended.err


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in LARGE)) for name in CASES]
)
def test_score(gradeschool: Command, tmp_path: Path, name: str) -> None:
    """The table and the JSON say the same of every bad file; every row is in some count."""
    case = CASES[name]
    path = tmp_path / "answers.jsonl"
    path.write_bytes(case.body)
    check(gradeschool("score", path, *SCORERS), case, path)
    ended = gradeschool("score", path, *SCORERS, "--json")
    check(ended, case, path)
    result = ended.json()
    if case.status == 2:
        assert result["error"] in ended.err
        return
    for run in result["runs"]:
        for counts in run["scorers"].values():
            assert sum(counts[outcome] for outcome in Outcome) == run["n"]
    errors = [run["scorers"]["multi-pattern"]["error"] for run in result["runs"]]
    assert sum(errors) == case.errors


@pytest.mark.parametrize("name", ["no text", "nothing usable", "terminal escapes", "deep"])
def test_explain(gradeschool: Command, tmp_path: Path, name: str) -> None:
    """`explain` reads by the same code."""
    path = tmp_path / "answers.jsonl"
    path.write_bytes(CASES[name].body)
    words = ("explain", path, "--scorer", "openai/2021", "multi-pattern", "-d", "sample")
    check(gradeschool(*words), CASES[name], path)
    gradeschool(*words, "--json").json()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["surrogates", "binary", "terminal escapes", "10 MB", "deep"])
def test_the_real_script(tmp_path: Path, name: str) -> None:
    """What touches the streams themselves, by the real console script under every scorer."""
    case = CASES[name]
    path = tmp_path / "answers.jsonl"
    path.write_bytes(case.body)
    check(run_script("score", path, *SCORERS), case, path)
    ended = run_script("score", path, *SCORERS, "--json")
    check(ended, case, path)
    ended.json()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda folder: folder / "nope.jsonl", "{F} does not exist; give the path of a file"),
        (lambda folder: folder, "the folder {F} has no completions.jsonl; give a run folder"),
        pytest.param(
            lambda _: Path("/proc/self/mem"),
            "cannot read {F}: ",
            marks=pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's /proc"),
        ),
        (lambda folder: folder / ("x" * 300), "cannot read {F}: File name too long"),
        (lambda folder: folder / "\udcff.jsonl", "does not exist"),
    ],
)
def test_a_path_that_cannot_be_used(
    gradeschool: Command, tmp_path: Path, make: Callable[[Path], Path], message: str
) -> None:
    """One line, exit status 2."""
    path = make(tmp_path)
    check(gradeschool("score", path, *SCORERS), Case(b"", 2, 0, (message,)), path)


def test_a_good_file_beside_a_bad_one(gradeschool: Command, tmp_path: Path) -> None:
    """One file that cannot be used stops the command: half a table would pass for a whole one."""
    path = jsonl(tmp_path / "a.jsonl", [{"index": 0, "completion": "5"}])
    ended = gradeschool("score", path, tmp_path / "b.jsonl", *SCORERS, "--json")
    assert ended.status == 2
    assert "b.jsonl' does not exist" in ended.json()["error"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--scorer", "openai/2020"],
            "no scorer is called 'openai/2020'; did you mean openai/2021",
        ),
        (
            ["--scorer", "\x1b[31m"],
            "no scorer is called '\\x1b[31m'; `gradeschool protocols list`",
        ),
        (["-d", "gsm9k"], "no dataset is called 'gsm9k'; did you mean gsm8k"),
        (["-d", "x.jsonl"], "'x.jsonl' does not exist"),
    ],
)
def test_names_that_nothing_has(
    gradeschool: Command, tmp_path: Path, words: list[str], message: str
) -> None:
    """The message shows the name and those that are near."""
    path = jsonl(tmp_path / "a.jsonl", [{"index": 0, "completion": "5"}])
    ended = gradeschool("score", path, *words)
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith(f"gradeschool: {message}")


def test_names_of_runs_are_shown_as_they_are(gradeschool: Command, tmp_path: Path) -> None:
    """Neither markup nor emoji nor escapes nor line breaks in a run's name reach the terminal."""
    names = ["[/bold]", ":smile:", "\x1b[31m", "a\nb", "\ud800", "\u202e"]
    path = jsonl(
        tmp_path / "a.jsonl", [{"index": 0, "completion": "#### 5", "run": name} for name in names]
    )
    shown = ["[/bold]", ":smile:", "\\x1b[31m", "a\\nb", "\\ud800", "\\u202e"]
    out = gradeschool("score", path, *SCORERS, columns=200).out
    assert all(name in out for name in shown)
    assert not any(name in out for name in names[2:])
    out = gradeschool("explain", path, "--scorer", "openai/2021", "multi-pattern", *SCORERS[4:]).out
    assert "differ on 0 of 6" in out
