"""`gradeschool score`: its JSON and its arguments."""

import shlex
from pathlib import Path

import pytest

from tests.support.answers import INDEXES, SAMPLE, SCORERS, TEXTS, TWO, USUAL, answers
from tests.support.command import Command, run_script
from tests.support.files import jsonl


def test_score_json_has_the_documented_fields(tmp_path: Path) -> None:
    """One object on stdout, nothing on stderr, exit status 0; by the real script."""
    result = run_script("score", answers(tmp_path), *SAMPLE, *SCORERS, "--json")
    assert (result.status, result.err.count("\n")) == (0, 1)  # how the file was read
    expected = {"correct": 1, "wrong": 2, "no_answer": 2, "error": 0, "accuracy": 0.25}
    [run] = result.json()["runs"]
    assert (run["run"], run["n"], list(run["scorers"])) == ("answers", 5, list(TWO))
    official = run["scorers"]["openai/2021"]
    assert list(official) == [*expected, "ci95"]
    assert {name: official[name] for name in expected} == expected
    assert 0 <= official["ci95"][0] < 0.25 < official["ci95"][1] <= 1
    assert run["scorers"]["lm-eval/gsm8k/flexible-extract"]["correct"] == 4


def test_runs_of_equal_name_get_their_files_name(gradeschool: Command, tmp_path: Path) -> None:
    first, second = answers(tmp_path, "m", name="a.jsonl"), answers(tmp_path, "m", name="b.jsonl")
    result = gradeschool("score", first, second, first, *SAMPLE, *SCORERS, "--json")
    assert [run["run"] for run in result.json()["runs"]] == ["m", f"m ({second})"]


def test_a_run_folder_knows_its_dataset(gradeschool: Command, tmp_path: Path) -> None:
    """run.json names the dataset; -d overrides it."""
    path = jsonl(tmp_path / "completions.jsonl", [{"index": 0, "completion": "#### 600"}])
    (tmp_path / "run.json").write_text('{"dataset": {"name": "sample"}}')
    for target in (path, tmp_path):
        [run] = gradeschool("score", target, "--json").json()["runs"]
        assert (run["run"], run["scorers"]["openai/2021"]["correct"]) == (tmp_path.name, 1)


def test_the_suggested_explain_reads_the_same_rows(gradeschool: Command, tmp_path: Path) -> None:
    rows = [{"n": i + 1, "said": text} for i, text in zip(INDEXES[:3], TEXTS[:3], strict=True)]
    path = jsonl(tmp_path / "a b.jsonl", rows)
    reading = ("--columns", "response=said,id=n", "--id-base", "1")
    printed = gradeschool("score", path, *SAMPLE, *reading, *SCORERS).out
    [line] = [line for line in printed.splitlines() if "gradeschool explain" in line]
    words = shlex.split(line)
    assert words[2:] == [str(path), *SAMPLE, *reading, "--scorer", *reversed(TWO)]
    assert len(gradeschool(*words[1:], "--json").json()["differ"]) == 2


def test_flags_of_the_file_are_compared(gradeschool: Command, tmp_path: Path) -> None:
    """Under the table, in JSON and by explain; a large disagreement is said before the table."""
    rows = [
        {"index": index, "completion": text, "is_correct": flag}
        for index, text, flag in zip(INDEXES[:4], TEXTS[:4], (True, True, False, True), strict=True)
    ]
    path = jsonl(tmp_path / "a.jsonl", rows)
    words = ("score", path, *SAMPLE, "--scorer", TWO[1])
    flags = gradeschool(*words, "--json").json()["runs"][0]["flags"]
    assert flags == {TWO[1]: {"n": 4, "agree": 2, "only_scorer": 1, "only_flag": 1}}
    shown = gradeschool(*words)
    line = "the file's own flags: 2 of 4 agree; 1 say wrong where lm-eval/gsm8k/flexible-extract"
    assert line in shown.out
    assert line in shown.err  # half of the rows
    explained = gradeschool("explain", *words[1:], "--flags", "--json").json()
    assert (explained["flags"], explained["differ"]) == (4, 2)
    assert [case["flag"] for case in explained["cases"]] == [False, True]
    said = gradeschool.refused("explain", answers(tmp_path), *SAMPLE, "--flags")
    assert "has no verdicts of its own" in said


@pytest.mark.parametrize(
    ("body", "counts", "said"),
    [
        ("return gold in completion", (4, 1, 0), ""),
        ("return completion.split()[-1]", (4, 1, 0), ""),
        ("return None", (0, 0, 0), ""),
        ("print('x' * 999); return 0.75", (5, 0, 0), ""),
        ("import os; os.fork() or os._exit(0); return True", (5, 0, 0), ""),
        ("return float('nan')", (0, 0, 5), "own.py:f fails on 5 of 5 completions of 'answers'"),
        ("raise ValueError('boom')", (0, 0, 5), "own.py:f fails on 5 of 5 completions"),
        ("import os; os._exit(3)", (0, 0, 5), "own.py:f fails on 5 of 5 completions"),
    ],
)
def test_a_function_of_the_user_scores_beside_others(
    gradeschool: Command, tmp_path: Path, body: str, counts: tuple[int, int, int], said: str
) -> None:
    gradeschool.monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(f"def f(completion, gold):\n    {body}\n")
    words = ("score", answers(tmp_path), *SAMPLE, "--scorer", "own.py:f", TWO[0], "--json")
    result = gradeschool(*words)
    scorers = result.json()["runs"][0]["scorers"]
    own = scorers["own.py:f"]
    assert (own["correct"], own["wrong"], own["error"]) == counts
    assert (scorers[TWO[0]]["correct"], scorers[TWO[0]]["error"]) == (1, 0)
    assert (result.status, said in result.err) == (3 if said else 0, True)


def test_errors_of_a_scorer_give_bounds_alone(gradeschool: Command, tmp_path: Path) -> None:
    gradeschool.monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text("def f(text, gold):\n    return text == gold or 1 / 0\n")
    rows = [
        {"question": f"What is {n} + 1?", "gold": str(n), "response": str(n) if n < 4 else "no"}
        for n in range(10)
    ]
    path = jsonl(tmp_path / "a.jsonl", rows)
    words = (path, "--scorer", "own.py:f")
    plain = gradeschool("score", *words)
    assert (plain.status, "40.00 to 100.00 %" in plain.out) == (3, True)
    both = gradeschool("score", *words, "--scorer", "gradeschool/reader").out
    assert "the same accuracy where both have a verdict, but not the same verdicts:\n" in both
    [run] = gradeschool("score", *words, "--json").json()["runs"]
    figures = run["scorers"]["own.py:f"]
    assert (figures["accuracy"], figures["accuracy_bounds"]) == (None, [0.4, 1.0])
    explained = gradeschool("explain", *words).out
    assert explained.startswith("own.py:f: 4 of 4 correct (40.00 to 100.00 %), 6 errors\n")
    compared = gradeschool("compare", *words, "--at-least", "0.5")
    assert (compared.status, "MISSED: a: accuracy 40.00 to 100.00 %" in compared.out) == (1, True)
    [run] = gradeschool("compare", *words, "--at-least", "0.3", "--json").json()["runs"]
    assert (run["accuracy"], run["accuracy_bounds"]) == (None, [0.4, 1.0])
    assert gradeschool("report", *words, "-o", "page.html").status in (0, 3)
    assert "40.00 to 100.00" in (tmp_path / "page.html").read_text()


def test_a_function_that_cannot_be_called(gradeschool: Command, tmp_path: Path) -> None:
    gradeschool.monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text("import absent_module\n")
    for name, said in (("own.py:f", "'own.py:f' cannot be called"), ("no.py:f", "no file 'no.py'")):
        assert said in gradeschool.refused("score", answers(tmp_path), *SAMPLE, "--scorer", name)


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
