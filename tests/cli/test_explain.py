"""`gradeschool explain`: which completions are shown, how they are marked, and its JSON."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from gradeschool import all_scorers
from gradeschool.models.choose import SAMPLE_FILE
from tests.support.answers import SAMPLE, TWO, answers
from tests.support.command import Command
from tests.support.files import jsonl


def test_each_scorers_answer_is_marked(gradeschool: Command, tmp_path: Path) -> None:
    result = gradeschool.done("explain", answers(tmp_path), "--scorer", *TWO, *SAMPLE)
    first, second, third, *_ = result.out.splitlines()
    assert first == f"{TWO[0]} and {TWO[1]} differ on 3 of 5 completions"
    assert second == "     1   33.3 %  no answer / correct  A right answer missed: format missing"
    assert third.startswith("     1   33.3 %  wrong / correct      ")
    for words in (
        "answers, problem 2, sample 2, row 3 ─",
        "#### [A:5] in row [B:0]",
        "\n#### [A:[B:13.]]\n",
        "A openai/2021  wrong: the first '#### N': '13.' is not '13'",
        "B lm-eval/gsm8k/flexible-extract  correct: the last number: '13' matches '13'",
    ):
        assert words in result.out
    assert "more; show them" not in result.out
    fewer = gradeschool("explain", answers(tmp_path), "--scorer", *TWO, *SAMPLE, "-n", 1).out
    assert "\n2 more; show them with -n 3\n" in fewer


def test_runs_of_one_file_are_counted_apart(gradeschool: Command, tmp_path: Path) -> None:
    rows = [{"index": 29, "completion": "#### 13", "run": run} for run in "ab"]
    path = jsonl(tmp_path / "a.jsonl", [*rows, {"index": 0, "completion": "#### 7", "run": "b"}])
    first, *runs = gradeschool("explain", path, *SAMPLE).out.splitlines()[:4]
    assert first.startswith("gradeschool/reader: 2 of 3 correct")
    assert runs == [f"2 runs together; {path}#RUN is one of them:", "  a: 1 of 1 correct",
                    "  b: 1 of 2 correct"]  # fmt: skip


def test_a_problem_of_the_file_has_the_files_own_id(gradeschool: Command, tmp_path: Path) -> None:
    row = {"question": "What is 1 plus 1?", "gold": "2", "completion": "It is 2."}
    path = jsonl(tmp_path / f"{'a' * 90}.jsonl", [row | {"id": "T6"}])
    result = gradeschool("explain", path, *SAMPLE, "--problem", "T6", columns=80)
    assert "a, problem T6, sample 0, row 1 ─" in result.out


def test_a_long_completion_is_cut_around_its_answers(gradeschool: Command, tmp_path: Path) -> None:
    text = "x" * 5000 + " #### 7 " + "y" * 5000 + " so 13 " + "z" * 5000
    path = jsonl(tmp_path / "a.jsonl", [{"index": 29, "completion": text}])
    result = gradeschool("explain", path, "--scorer", *TWO, *SAMPLE)
    assert "#### [A:7]" in result.out and "so [B:13]" in result.out
    assert len(result.out) < 3000
    assert result.out.count("…") == 5


def test_all_scorers_have_no_long_line(gradeschool: Command) -> None:
    names = [name for name, scorer in all_scorers().items() if not scorer.extra]
    words = ("explain", f"{SAMPLE_FILE}#handwritten/chat", *SAMPLE, "--scorer", *names, "-n", "2")
    first, second, *rest = gradeschool(*words, columns=80).out.splitlines()
    assert re.fullmatch(r"\d+ scorers differ on \d+ of 48 completions", first)
    assert re.fullmatch(r" +\d+ +\d+\.\d %  +\d+ correct, +\d+ wrong(, +\d+ no answer)?", second)
    assert max(map(len, [first, second, *rest])) <= 80
    letters = [line[0] for line in rest if " scorers  no answer: nothing extracted" in line]
    assert f"→ {letters[0]} right answer missed: format missing" in "".join(rest)


def test_json_has_each_differing_completion(gradeschool: Command, tmp_path: Path) -> None:
    path = answers(tmp_path, "m")
    path.write_text(path.read_text() + "{oops\n")
    result = gradeschool("explain", path, "--scorer", *TWO, *SAMPLE, "--json")
    assert (result.status, "row 6 of" in result.err) == (3, True), "rows that cannot be used"
    report = result.json()
    assert (report["completions"], len(report["differ"])) == (6, 3)
    says = dict.fromkeys(("read", "value"), "5"), dict.fromkeys(("read", "value"), "0")
    assert report["differ"][1] == {
        "run": "m",
        "problem": "2",
        "sample": 2,
        "row": 3,
        "gold": "0",
        "completion": "#### 5 in row 0",
        "kind": "wrong / correct",
        "group": "B wrong answer accepted: another number",
        "verdicts": [
            {"scorer": TWO[0], "outcome": "wrong", "span": [5, 6], **says[0],
             "reason": "the first '#### N': '5' is not '0'"},
            {"scorer": TWO[1], "outcome": "correct", "span": [14, 15], **says[1],
             "reason": "the last number: '0' matches '0'"},
        ],
        "causes": [
            {"side": "no right answer", "cause": "wrong value", "span": None,
             "evidence": "it says 5, not 0"},
            {"side": "wrong answer accepted", "cause": "another number", "span": [5, 6],
             "evidence": "the text says 5 (after the last '####'), the scorer accepts '0'"},
        ],
    }  # fmt: skip


@pytest.mark.parametrize(
    "order",
    [
        ["F", "--scorer", "A", "B"],
        ["--scorer", "A", "--scorer", "B", "F"],
        ["A", "F", "--scorer", "B"],
    ],
)
def test_arguments_in_any_order(gradeschool: Command, tmp_path: Path, order: Sequence[str]) -> None:
    words = {"F": str(answers(tmp_path)), "A": TWO[1], "B": TWO[0]}
    result = gradeschool("explain", *(words.get(word, word) for word in order), *SAMPLE)
    assert "differ on 3 of 5 completions" in result.out
