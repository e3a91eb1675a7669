"""Bad input on the command line: a clear message with the row, or a counted error; no traceback."""

import json
import random
from pathlib import Path

import pytest

from gradeschool.scorer import Outcome
from tests.support.command import Command, CommandResult

SCORERS = ("--scorer", "openai/2021", "--scorer", "multi-pattern", "-d", "sample")
LONGEST_LINE = 500
DEEP, DIGITS = b"[" * 10**5 + b"]" * 10**5, b"9" * 10**6


def row(index: object = 0, completion: object = "#### 600", **fields: object) -> bytes:
    return json.dumps({"index": index, "completion": completion, **fields}).encode()


GOOD = row()
# A file -> how the command ends, the outcomes that are errors, and what stderr says; {F} is the
# file's path in quotes.
CASES: dict[str, tuple[bytes, int, int, str]] = {
    "empty": (b"", 2, 0, "{F} contains no completions; give a file with one in each row"),
    "no text": (GOOD + b'\n{"index": 1}', 3, 1, "row 2 of {F} has no text: its 'completion' is"),
    "no problem": (b'{"completion": "5"}\n' + GOOD, 3, 1, "row 1 of {F} names no problem"),
    "index outside": (b"\n".join((GOOD, row(48), row(-1), row(10**30))), 3, 3,
                      "row 2 of {F} has the id '48', but 'sample' has rows 0 to 47; correct it"),
    "unknown question": (GOOD + b'\n{"question": "Who?", "completion": "5"}', 3, 1,
                         "row 2 of {F} has a question that is not in 'sample': 'Who?'"),
    "question of another row": (GOOD + b"\n" + row(1, question="A farmer"), 3, 1,
                                "has a question that is not in"),
    "duplicate": (b"\n".join((GOOD, row(1), GOOD)), 0, 0,
                  "row 3 of {F} repeats a sample of problem '0'"),
    "same sample, other text": (
        b"\n".join((row(sample=0), row(1), row(completion="5", sample=0))), 0, 0,
        "row 3 of {F} contains problem '0' of run 'answers' again, with another text"),
    "invalid UTF-8": (GOOD + b'\n{"index": 1, "completion": "\xff"}', 3, 1,
                      "row 2 of {F} is not valid UTF-8"),
    "surrogates": (row(completion="\ud800 #### 600 \udfff", run="\ud800"), 0, 0, ""),
    "bare NUL": (GOOD + b'\n{"index": 1, "completion": "\x00"}', 3, 1,
                 "row 2 of {F} is not valid JSON"),
    "2 MB": (row(completion="x 5" * 600_000), 0, 0, ""),
    "10 MB": (row(completion="x 5" * (10**7 // 3)), 2, 1, "has a text of 9,999,999 characters"),
    # multi-pattern reads it through floats and overflows, as documented: that scorer's error.
    "million digits": (row(completion=f"#### {'9' * 10**6}"), 3, 1, ""),
    "million digits as a number": (
        GOOD + b'\n{"index": 1, "completion": ' + DIGITS + b"}", 3, 1,
        "row 2 of {F} contains an integer with too many digits to read; write it as a string"),
    "CRLF and BOM": (b"\xef\xbb\xbf" + GOOD + b"\r\n\r\n" + row(1) + b"\r\n", 0, 0, ""),
    "deep": (GOOD + b'\n{"index": 1, "completion": ' + DEEP + b"}", 3, 1,
             "row 2 of {F} is nested too deeply to be read"),
    "an array": (b"[" + GOOD + b",\n5]", 3, 1, "row 2 of {F} is a JSON int, not an object"),
    "a torn array": (b"[" + GOOD + b",\n", 2, 0, "{F} is not valid JSON ("),
    "nothing usable": (b'{"a": null}\n' * 9, 2, 0,
                       "{F} has no text in any column; its columns are 'a'"),
    "binary": (random.Random(0).randbytes(10**5), 2, 0, "no row of {F} can be used"),
    "terminal escapes": (
        b"\n".join((row(run="\x1b[31mred\x07"), row(run="[/bold]\n"), row(99, run="\x1b]"))),
        3, 1, "has the id '99'"),
}  # fmt: skip
LARGE = {"2 MB", "10 MB", "million digits"}


def check(ended: CommandResult, status: int, message: str, path: Path) -> None:
    """Check what every command owes to bad input."""
    assert ended.status == status
    assert "Traceback" not in ended.out + ended.err
    assert "\x1b" not in ended.out + ended.err
    assert "\x07" not in ended.out + ended.err
    lines = ended.err.splitlines()
    assert all(line.startswith("gradeschool: ") for line in lines)
    assert max(map(len, lines), default=0) < LONGEST_LINE
    lines = [line for line in lines if not line.startswith("gradeschool: read ")]
    assert status == 3 or bool(lines) == bool(message)
    assert message.replace("{F}", repr(str(path))) in ended.err


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in LARGE)) for name in CASES]
)
def test_table_and_json_tell_a_bad_file(gradeschool: Command, tmp_path: Path, name: str) -> None:
    body, status, errors, message = CASES[name]
    path = tmp_path / "answers.jsonl"
    path.write_bytes(body)
    check(gradeschool("score", path, *SCORERS), status, message, path)
    ended = gradeschool("score", path, *SCORERS, "--json")
    check(ended, status, message, path)
    result = ended.json()
    if status == 2:
        assert result["error"] in ended.err
        return
    for run in result["runs"]:
        for counts in run["scorers"].values():
            assert sum(counts[outcome] for outcome in Outcome) == run["n"]
    assert sum(run["scorers"]["multi-pattern"]["error"] for run in result["runs"]) == errors
