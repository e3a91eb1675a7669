"""`gradeschool explain`: which completions differ, marked with what each scorer read."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from gradeschool.models.recorded import SAMPLE_FILE
from tests.cli.test_score_verb import SAMPLE, TWO, answers
from tests.formats.test_read import jsonl
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture


def test_explain_marks_what_each_scorer_read(gradeschool: Command, tmp_path: Path) -> None:
    """Counts by kind, then each completion with brackets around the spans, and the reasons."""
    result = gradeschool("explain", answers(tmp_path), "--scorer", *TWO, *SAMPLE)
    assert result.status == 0
    first, second, third, *_ = result.out.splitlines()
    assert first == f"{TWO[0]} and {TWO[1]} differ on 3 of 5 completions"
    assert second == "     1   33.3 %  no answer / correct  A right answer missed: format missing"
    assert third.startswith("     1   33.3 %  wrong / correct      ")
    assert "answers, problem 2, sample 2, row 3 ─" in result.out
    assert "#### [A:5] or rather [B:0]" in result.out
    assert "\n#### [A:[B:13.]]\n" in result.out
    assert "A openai/2021  wrong: the first '#### N': '13.' is not '13'" in result.out
    assert (
        "B lm-eval/gsm8k/flexible-extract  correct: the last number: '13' matches '13'"
        in result.out
    )
    assert "more; show them" not in result.out


def test_explain_shows_every_kind_first(gradeschool: Command, tmp_path: Path) -> None:
    """A rare kind of disagreement is among the examples however frequent another one is."""
    rows = [{"index": 29, "completion": "#### 13.", "sample": place} for place in range(30)]
    path = jsonl(tmp_path / "a.jsonl", [*rows, {"index": 29, "completion": "13", "sample": 99}])
    result = gradeschool("explain", path, "--scorer", *TWO, *SAMPLE, "-n", "3")
    assert "sample 99, row 31" in result.out
    assert result.out.count(" problem 29, sample") == 3
    assert result.out.endswith("\n28 more; show them with -n 31\n")
    none = gradeschool("explain", path, "--scorer", *TWO, *SAMPLE, "-n", "0")
    assert len(none.out.splitlines()) == 3


def test_explain_cuts_a_long_completion_around_what_was_read(
    gradeschool: Command, tmp_path: Path
) -> None:
    """Both spans and the end are shown, however far apart they stand, and little else."""
    text = "x" * 5000 + " #### 7 " + "y" * 5000 + " so 13 " + "z" * 5000
    path = jsonl(tmp_path / "a.jsonl", [{"index": 29, "completion": text}])
    result = gradeschool("explain", path, "--scorer", *TWO, *SAMPLE)
    assert "#### [A:7]" in result.out
    assert "so [B:13]" in result.out
    assert len(result.out) < 3000
    assert result.out.count("…") == 5


def test_explain_of_all_scorers_has_no_long_line(gradeschool: Command) -> None:
    """Counts instead of forty outcomes in a row; a cause has the letter of the scorers it is of."""
    words = ("explain", f"{SAMPLE_FILE}#handwritten/chat", *SAMPLE, "--scorer", "all", "-n", "2")
    result = gradeschool(*words, columns=80)
    first, second, *rest = result.out.splitlines()
    assert re.fullmatch(r"\d+ scorers differ on \d+ of 48 completions", first)
    assert re.fullmatch(r" +\d+ +\d+\.\d %  +\d+ correct, +\d+ wrong(, +\d+ no answer)?", second)
    assert max(map(len, [first, second, *rest])) <= 80
    letters = [line[0] for line in rest if " scorers  no answer: nothing extracted" in line]
    assert f"→ {letters[0]} right answer missed: format missing" in result.out


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
        ["--scorer", "A", "B", "F"],
        ["--scorer", "A", "--scorer", "B", "F"],
        ["A", "F", "--scorers", "B"],
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
    assert result.err.startswith(f"gradeschool: {message.format(**words)}")
    assert len(result.err.splitlines()) == 1


def test_explain_counts_rows_that_cannot_be_used(gradeschool: Command, tmp_path: Path) -> None:
    """They are reported, and the exit status is 3, as with score."""
    path = answers(tmp_path)
    path.write_text(path.read_text() + "{oops\n")
    result = gradeschool("explain", path, "--scorer", *TWO, *SAMPLE, "--json")
    assert (result.status, result.json()["completions"]) == (3, 6)
    assert "row 6 of" in result.err
