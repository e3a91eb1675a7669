"""Check tables of scores at any width, and what is printed below them."""

import shlex
from pathlib import Path

import pytest

from gradeschool.reports.terminal import FOLDED_SCORER
from tests.support.answers import SAMPLE, SCORERS, USUAL, answers
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.files import jsonl


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
