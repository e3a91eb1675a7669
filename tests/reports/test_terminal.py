"""Check tables of scores at any width, and what is printed below them."""

import shlex
from pathlib import Path

import pytest

from tests.support.answers import SAMPLE, SCORERS, USUAL, answers
from tests.support.command import Command
from tests.support.files import jsonl


def test_a_table_of_one_run_has_counts_and_gap(gradeschool: Command, tmp_path: Path) -> None:
    path = answers(tmp_path)
    result = gradeschool.done("score", path, *SAMPLE, *SCORERS)
    assert result.out.startswith("answers, 5 completions")
    rows = {line.split()[0]: line.split()[1:] for line in result.out.splitlines() if "/" in line}
    assert rows["openai/2021"][:3] == ["1", "25.00", "%"]
    assert rows["openai/2021"][-3:] == ["2", "2", "0"]
    assert rows["lm-eval/gsm8k/flexible-extract"][:3] == ["4", "75.00", "%"]
    assert (
        "The scorers are up to 50.0 points apart: lm-eval/gsm8k/flexible-extract 75.00 %"
        in result.out
    )


def test_the_command_under_the_table_explains(gradeschool: Command, tmp_path: Path) -> None:
    """The line can be pasted into a shell; it names the file and the run of the largest gap."""
    folder = tmp_path / "my #1 runs"
    folder.mkdir()
    calm = jsonl(folder / "calm.jsonl", [{"index": 0, "completion": "#### 600", "run": "calm"}])
    path = answers(folder, "it's a run", "other")
    result = gradeschool("score", calm, path, *SAMPLE, *SCORERS)
    assert "In it's a run the scorers are up to 50.0 points apart" in result.out
    command = shlex.split(result.out.splitlines()[-1])
    assert command[:3] == ["gradeschool", "explain", f"{path}#it's a run"]
    explained = gradeschool.done(*command[1:])
    assert "differ on 3 of 5 completions" in explained.out


def test_a_scorer_without_answers_makes_no_gap(gradeschool: Command, tmp_path: Path) -> None:
    """A scorer without answers is 100 points from all others, and the table shows that already."""
    path = jsonl(tmp_path / "a.jsonl", [{"index": 0, "completion": "5, so 600"}] * 2)
    names = ("openai/2021", "lm-eval/gsm8k/flexible-extract", "multi-pattern")
    result = gradeschool("score", path, *SAMPLE, "--scorer", *names)
    assert result.out.splitlines()[-1] == "The scorers that extract answers give the same accuracy."
    result = gradeschool("score", path, *SAMPLE, "--scorer", *names[:2])
    assert "The scorers are up to 100.0 points apart" in result.out
    result = gradeschool("score", path, *SAMPLE, "--scorer", names[0])
    assert "apart" not in result.out


def test_equal_accuracies_are_not_equal_verdicts(gradeschool: Command, tmp_path: Path) -> None:
    rows = [{"index": 0, "completion": text} for text in ("#### 600 in 5 days", "600")]
    path, names = (
        jsonl(tmp_path / "a.jsonl", rows),
        ("openai/2021", "lm-eval/gsm8k/flexible-extract"),
    )
    *_, said, command = gradeschool("score", path, *SAMPLE, "--scorer", *names).out.splitlines()
    assert said == "The scorers give the same accuracy, but not the same verdicts:"
    assert command.endswith("--scorer 'openai/2021' 'lm-eval/gsm8k/flexible-extract'")


@pytest.mark.parametrize("columns", [80, 120, 200])
def test_several_runs_fit_the_width(gradeschool: Command, tmp_path: Path, columns: int) -> None:
    names = [f"models/Some-Model-7B-v0.{index}|cot" for index in range(9)]
    result = gradeschool("score", answers(tmp_path, *names), *SAMPLE, columns=columns)
    lines = result.out.splitlines()
    assert lines[0] == "scored by gradeschool/reader"
    table = lines[: next(i for i, line in enumerate(lines) if "per problem" in line)]
    assert max(len(line.rstrip()) for line in table) <= columns
    cells = "".join(line.split("  ")[0].strip() for line in table)
    assert all(name in cells for name in names)
    assert sum(" % " in line for line in table[3:]) == len(names) + 1


def test_scorers_that_agree_share_a_line(gradeschool: Command, tmp_path: Path) -> None:
    """The headline comes first; 80 columns are enough; `all` has a line for each scorer."""
    path = answers(tmp_path)
    lines = gradeschool("score", path, *SAMPLE, columns=80).out.splitlines()
    rows = [line for line in lines if "%" in line and "/" in line]
    assert rows[0].split()[0] == "gradeschool/reader"
    assert len(lines) < 24 < len(USUAL)
    assert all(len(line.rstrip()) <= 80 for line in lines[:-2])
    assert not any("aime" in row or "mgsm" in row for row in rows)
    assert any(" + " in row for row in rows)
    assert "--scorer all lists every scorer" in "".join(lines)
    every = gradeschool("score", path, *SAMPLE, "--scorer", "all", columns=200).out
    assert all(name in every for name in USUAL)


def test_a_narrow_table_folds_names_not_figures(gradeschool: Command, tmp_path: Path) -> None:
    result = gradeschool("score", answers(tmp_path), *SAMPLE, *SCORERS, columns=80)
    assert "lm-eval/gsm8k/" in result.out
    assert "\n   flexible-extract" in result.out
