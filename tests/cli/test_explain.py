"""`gradeschool explain`: its JSON, its arguments, rows that cannot be used."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.answers import SAMPLE, TWO, answers
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture


def test_explain_json_has_each_differing_completion(gradeschool: Command, tmp_path: Path) -> None:
    """Every completion that differs, with what was read, where, and why."""
    result = gradeschool("explain", answers(tmp_path, "m"), "--scorer", *TWO, *SAMPLE, "--json")
    report = result.json()
    assert (result.status, report["completions"], len(report["differ"])) == (0, 5, 3)
    assert report["differ"][1] == {
        "run": "m",
        "problem": "2",
        "sample": 2,
        "row": 3,
        "gold": "0",
        "completion": "#### 5 or rather 0",
        "kind": "wrong / correct",
        "group": "B wrong answer accepted: another number",
        "verdicts": [
            {
                "scorer": "openai/2021",
                "outcome": "wrong",
                "reason": "the first '#### N': '5' is not '0'",
                "read": "5",
                "value": "5",
                "span": [5, 6],
            },
            {
                "scorer": "lm-eval/gsm8k/flexible-extract",
                "outcome": "correct",
                "reason": "the last number: '0' matches '0'",
                "read": "0",
                "value": "0",
                "span": [17, 18],
            },
        ],
        "causes": [
            {
                "side": "no right answer",
                "cause": "wrong value",
                "evidence": "it says 5, not 0",
                "span": None,
            },
            {
                "side": "wrong answer accepted",
                "cause": "another number",
                "evidence": "the text says 5 (after the last '####'), the scorer accepts '0'",
                "span": [5, 6],
            },
        ],
    }


@pytest.mark.parametrize(
    "order",
    [
        ["F", "--scorer", "A", "B"],
        ["--scorer", "A", "--scorer", "B", "F"],
        ["A", "F", "--scorer", "B"],
    ],
)
def test_explain_takes_its_words_in_any_order(
    gradeschool: Command, tmp_path: Path, order: Sequence[str]
) -> None:
    """A scorer's name is a scorer wherever it stands."""
    words = {"F": str(answers(tmp_path)), "A": TWO[1], "B": TWO[0]}
    result = gradeschool("explain", *(words.get(word, word) for word in order), *SAMPLE)
    assert "differ on 3 of 5 completions" in result.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["F", "--scorer", "openai/2021", "multi"],
            "no scorer is called 'multi'; did you mean multi-",
        ),
        (
            ["F", "--scorer", "openai/2021", "openai/2022"],
            "no scorer is called 'openai/2022'; did you",
        ),
        (["F", "G", "--scorer", *TWO], "explain reads one file at a time, not "),
        (["--scorer", *TWO], "no file is given, only scorers"),
        (["nope.jsonl", "--scorer", *TWO], "'nope.jsonl' does not exist"),
        (["F#x", "--scorer", *TWO], "{F!r} contains no run 'x'; it contains '{F}#answers'"),
    ],
)
def test_explain_rejects_bad_arguments_in_one_line(
    gradeschool: Command, tmp_path: Path, arguments: Sequence[str], message: str
) -> None:
    """One line, exit status 2."""
    words = {"F": str(answers(tmp_path)), "G": str(answers(tmp_path, name="b.jsonl"))}
    words["F#x"] = f"{words['F']}#x"
    result = gradeschool("explain", *(words.get(word, word) for word in arguments), *SAMPLE)
    assert result.status == 2
    assert result.err.splitlines()[-1].startswith(f"gradeschool: {message.format(**words)}")


def test_explain_counts_rows_that_cannot_be_used(gradeschool: Command, tmp_path: Path) -> None:
    """They are reported, and the exit status is 3, as with score."""
    path = answers(tmp_path)
    path.write_text(path.read_text() + "{oops\n")
    result = gradeschool("explain", path, "--scorer", *TWO, *SAMPLE, "--json")
    assert (result.status, result.json()["completions"]) == (3, 6)
    assert "row 6 of" in result.err
