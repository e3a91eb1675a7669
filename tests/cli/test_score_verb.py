"""`gradeschool score`: its table at any width, its JSON, its arguments."""

import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest

from gradeschool.reports.terminal import FOLDED_SCORER
from gradeschool.scoring.sources import choose_scorers
from gradeschool.scoring.statistics import wilson
from tests.formats.test_read import jsonl
from tests.support.command import Command, run_script
from tests.support.command import gradeschool as gradeschool  # a fixture

SAMPLE = ("-d", "sample")
TWO = ("openai/2021", "lm-eval/gsm8k/flexible-extract")
SCORERS = tuple(part for name in TWO for part in ("--scorer", name))
USUAL = [scorer.name for scorer in choose_scorers([])]
# Golds of the sample problems 0, 29 and 2 are 600, 13 and 0.
TEXTS = ["#### 600", "It is 13", "#### 5 or rather 0", "no idea", "so\n#### 13."]
INDEXES = [0, 29, 2, 3, 29]


def answers(folder: Path, *runs: str, name: str = "answers.jsonl") -> Path:
    rows = [
        {"index": index, "completion": text, "sample": sample, **({"run": run} if run else {})}
        for run in runs or ("",)
        for sample, (index, text) in enumerate(zip(INDEXES, TEXTS, strict=True))
    ]
    return jsonl(folder / name, rows)


def test_score_json_has_the_documented_fields(tmp_path: Path) -> None:
    """One object on stdout, nothing on stderr, exit status 0; by the real script."""
    result = run_script("score", answers(tmp_path), *SAMPLE, *SCORERS, "--json")
    assert (result.status, result.err) == (0, "")
    low, high = wilson(1, 5)  # two samples of problem 29 with different outcomes: barely clustered
    expected = {"correct": 1, "wrong": 2, "no_answer": 2, "error": 0, "accuracy": 0.2}
    [run] = result.json()["runs"]
    assert (run["run"], run["n"], list(run["scorers"])) == ("answers", 5, list(TWO))
    official = run["scorers"]["openai/2021"]
    assert list(official) == [*expected, "ci95"]
    assert {name: official[name] for name in expected} == expected
    assert 0 <= official["ci95"][0] <= low < high <= official["ci95"][1] <= 1
    assert run["scorers"]["lm-eval/gsm8k/flexible-extract"]["correct"] == 4


def test_score_takes_every_scorer_by_default(gradeschool: Command, tmp_path: Path) -> None:
    """No --scorer is every scorer that calls no library, --scorer all is those too."""
    path = answers(tmp_path)
    usual = gradeschool("score", path, *SAMPLE, "--json").json()["runs"][0]["scorers"]
    assert list(usual) == USUAL
    every = gradeschool("score", path, *SAMPLE, "--json", "--scorer", "all").json()["runs"][0][
        "scorers"
    ]
    assert list(every) == [scorer.name for scorer in choose_scorers(["all"])]
    assert {name: every[name] for name in usual} == usual


def test_the_table_of_one_run_has_all_counts_and_the_gap(
    gradeschool: Command, tmp_path: Path
) -> None:
    """A row for each scorer with all counts, then how far the scorers are apart and why."""
    path = answers(tmp_path)
    result = gradeschool("score", path, *SAMPLE, *SCORERS)
    assert result.status == 0
    assert result.out.startswith("answers, 5 completions")
    rows = {line.split()[0]: line.split()[1:] for line in result.out.splitlines() if "/" in line}
    assert rows["openai/2021"][:3] == ["1", "20.00", "%"]
    assert rows["openai/2021"][-3:] == ["2", "2", "0"]
    assert rows["lm-eval/gsm8k/flexible-extract"][:3] == ["4", "80.00", "%"]
    assert (
        "The scorers are up to 60.0 points apart: lm-eval/gsm8k/flexible-extract 80.00 %"
        in result.out
    )


def test_the_command_under_the_table_explains(gradeschool: Command, tmp_path: Path) -> None:
    """The line can be pasted into a shell; it names the file and the run of the largest gap."""
    folder = tmp_path / "my #1 runs"
    folder.mkdir()
    calm = jsonl(folder / "calm.jsonl", [{"index": 0, "completion": "#### 600", "run": "calm"}])
    path = answers(folder, "it's a run", "other")
    result = gradeschool("score", calm, path, *SAMPLE, *SCORERS)
    assert "In it's a run the scorers are up to 60.0 points apart" in result.out
    command = shlex.split(result.out.splitlines()[-1])
    assert command[:3] == ["gradeschool", "explain", f"{path}#it's a run"]
    explained = gradeschool(*command[1:])
    assert explained.status == 0
    assert "differ on 3 of 5 completions" in explained.out


def test_a_scorer_without_answers_does_not_count_for_the_gap(
    gradeschool: Command, tmp_path: Path
) -> None:
    """A scorer without answers is 100 points from all others, and the table shows that already."""
    path = jsonl(tmp_path / "a.jsonl", [{"index": 0, "completion": "5, so 600"}] * 2)
    names = ("openai/2021", "lm-eval/gsm8k/flexible-extract", "multi-pattern")
    result = gradeschool("score", path, *SAMPLE, "--scorer", *names)
    assert result.out.splitlines()[-1] == "The scorers that extract answers give the same accuracy."
    result = gradeschool("score", path, *SAMPLE, "--scorer", *names[:2])
    assert "The scorers are up to 100.0 points apart" in result.out
    result = gradeschool("score", path, *SAMPLE, "--scorer", names[0])
    assert "apart" not in result.out


@pytest.mark.parametrize("columns", [80, 120, 200])
def test_tables_fit_and_use_the_width(gradeschool: Command, tmp_path: Path, columns: int) -> None:
    """No line is too wide, no name or figure is lost, and no further run would have fitted."""
    names = [f"models/Some-Model-7B-v0.{index}|cot" for index in range(9)]
    path = answers(tmp_path, *names)
    result = gradeschool("score", path, *SAMPLE, columns=columns)
    lines = result.out.splitlines()
    table = lines[: next(index for index, line in enumerate(lines) if "points apart" in line)]
    widest = max(len(line.rstrip()) for line in table)
    assert widest <= columns
    counts = [line.count("n = 5") for line in table if "n = 5" in line]
    assert sum(counts) == len(names)
    assert max(counts) == counts[0]
    cell = len("1 to 2 per problem") + 2  # the widest line above a column
    assert max(counts) == len(names) or widest + cell > columns
    names_of_scorers = max(FOLDED_SCORER, columns // 3) + 1
    column = "".join(line[:names_of_scorers].strip() for line in table)
    assert all(name in column for name in USUAL)


@pytest.mark.official
@pytest.mark.parametrize("columns", [80, 120, 200])
def test_28_runs_of_all_files_are_legible(gradeschool: Command, data: Path, columns: int) -> None:
    """All 28 real runs at once: every one is there once, within the width."""
    files = sorted((data / "completions").glob("*.jsonl"))
    result = gradeschool("score", *files, "--scorer", "multi-pattern", columns=columns)
    table = [line for line in result.out.splitlines() if "gradeschool explain" not in line]
    assert sum(line.count("n = ") for line in table) == 28
    assert max(len(line.rstrip()) for line in table if "apart" not in line) <= columns
    assert "1097  83.17 %" in result.out


def test_a_table_of_80_columns_folds_names_and_keeps_figures_whole(
    gradeschool: Command, tmp_path: Path
) -> None:
    """Long names are folded at their seams, the figures stay on one line."""
    result = gradeschool("score", answers(tmp_path), *SAMPLE, *SCORERS, columns=80)
    assert "lm-eval/gsm8k/" in result.out
    assert "\n   flexible-extract" in result.out
    assert max(map(len, result.out.partition("The scorers")[0].splitlines())) <= 80


def test_runs_of_equal_name_get_the_name_of_their_file(
    gradeschool: Command, tmp_path: Path
) -> None:
    """Equal names of runs are told apart by their file; a file given twice is read once."""
    first, second = answers(tmp_path, "m", name="a.jsonl"), answers(tmp_path, "m", name="b.jsonl")
    result = gradeschool("score", first, second, first, *SAMPLE, *SCORERS, "--json")
    assert [run["run"] for run in result.json()["runs"]] == ["m", f"m ({second})"]


@pytest.mark.parametrize("order", [["F", "--scorer", "A", "B"], ["--scorer", "A", "B", "F"]])
def test_several_scorers_behind_one_option(
    gradeschool: Command, tmp_path: Path, order: Sequence[str]
) -> None:
    """`--scorer A B` works before the file and behind it."""
    words = {"F": str(answers(tmp_path)), "A": TWO[0], "B": TWO[1]}
    result = gradeschool("score", *(words.get(word, word) for word in order), *SAMPLE, "--json")
    assert list(result.json()["runs"][0]["scorers"]) == list(TWO)


def test_a_run_folder_knows_its_dataset(gradeschool: Command, tmp_path: Path) -> None:
    """run.json names the dataset; -d overrides it."""
    path = jsonl(tmp_path / "completions.jsonl", [{"index": 0, "completion": "#### 600"}])
    (tmp_path / "run.json").write_text('{"dataset": {"name": "sample"}}')
    for target in (path, tmp_path):
        [run] = gradeschool("score", target, "--json").json()["runs"]
        assert (run["run"], run["scorers"]["openai/2021"]["correct"]) == (tmp_path.name, 1)


def test_the_suggested_explain_reads_the_same_rows(gradeschool: Command, tmp_path: Path) -> None:
    """The options for reading the file are part of it, and it works as printed."""
    rows = [{"n": i + 1, "said": text} for i, text in zip(INDEXES[:3], TEXTS[:3], strict=True)]
    path = jsonl(tmp_path / "a b.jsonl", rows)
    reading = ("--columns", "response=said,id=n", "--id-base", "1")
    printed = gradeschool("score", path, *SAMPLE, *reading, *SCORERS).out
    [line] = [line for line in printed.splitlines() if "gradeschool explain" in line]
    words = shlex.split(line)
    assert words[2:] == [str(path), *SAMPLE, *reading, "--scorer", *reversed(TWO)]
    assert len(gradeschool(*words[1:], "--json").json()["differ"]) == 2
