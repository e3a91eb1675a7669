"""`gradeschool score` and `explain`: what is printed, at any width, for people and for programs."""

import json
import re
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from gradeschool import __version__
from gradeschool.cli import VERBS
from gradeschool.models.recorded import SAMPLE_FILE
from gradeschool.reports.terminal import FOLDED_SCORER
from gradeschool.scoring.sources import choose_scorers
from gradeschool.scoring.statistics import wilson
from tests.formats.test_read import jsonl
from tests.support.command import SCRIPT, Command, environment, run_script
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


# score


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
    assert result.out.splitlines()[-1] == "The scorers that find answers come to the same accuracy."
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
    cell = len("models/Some-Model") + 2
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


# explain


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
    rows = [{"index": 29, "completion": "#### 13.", "sample": at} for at in range(30)]
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
    letters = [line[0] for line in rest if " scorers  no answer: nothing read" in line]
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
                "evidence": "the text says 5 (behind the last '####'), the scorer accepts '0'",
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
        (["F#x", "--scorer", *TWO], "{F!r} holds no run 'x'; it holds '{F}#answers'"),
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


# What holds for every verb


@pytest.mark.parametrize(
    "words",
    [
        [],
        *([verb] for verb in VERBS),
        ["protocols", "list"],
        ["protocols", "prompts"],
        *(["data", verb] for verb in ("list", "fetch", "verify")),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_every_verb_has_help(gradeschool: Command, words: Sequence[str], flag: str) -> None:
    """Everything has help of at most 80 columns, with one line for each option."""
    result = gradeschool(*words, flag)
    assert (result.status, result.err) == (0, "")
    assert result.out.startswith(f"Usage: gradeschool {' '.join(words)}".rstrip())
    assert max(map(len, result.out.splitlines())) <= 80
    assert "..." not in result.out.partition("Commands:")[2]


def test_the_installed_script_prints_version_and_help() -> None:
    """The console script is installed and knows its version."""
    assert run_script("--version").out == f"gradeschool, version {__version__}\n"
    assert all(verb in run_script("--help").out for verb in VERBS)
    assert run_script().status == 2


def test_a_misspelt_verb_gets_a_suggestion(gradeschool: Command) -> None:
    """The message names similar verbs."""
    result = gradeschool("scroe", "x")
    assert (result.status, result.err) == (
        2,
        "gradeschool: no command is called 'scroe'; did you mean score or compare?\n",
    )


@pytest.mark.parametrize("arguments", [["score"], ["score", "--nope"], ["explain"]])
def test_wrong_options_print_the_usage(gradeschool: Command, arguments: Sequence[str]) -> None:
    """Usage and exit status 2."""
    result = gradeschool(*arguments)
    assert result.status == 2
    assert result.err.startswith("Usage: gradeschool")


@pytest.mark.parametrize(
    "arguments",
    [
        ["score", "F", *SAMPLE],
        ["score", "F", *SAMPLE, "--json"],
        ["explain", "F", *SAMPLE, "--scorer", *TWO, "-n", "9999"],
        ["protocols", "list"],
        ["protocols", "prompts", "zero-shot/chat", "-d", "F"],
        ["data", "list"],
    ],
    ids=" ".join,
)
def test_a_closed_pipe_ends_the_command_quietly(tmp_path: Path, arguments: Sequence[str]) -> None:
    """`| head -c 1` ends the command quietly, with exit status 0."""
    rows = [
        {
            "index": index % 48,
            "completion": "13.",
            "question": f"{index}",
            "answer": "1",
            "run": str(index),
        }
        for index in range(5000)
    ]
    if "prompts" not in arguments:
        rows = [{"index": 29, "completion": "#### 13.", "run": str(index)} for index in range(300)]
    path = jsonl(tmp_path / "a.jsonl", rows)
    command = shlex.join([str(SCRIPT), *(str(path) if word == "F" else word for word in arguments)])
    result = subprocess.run(
        ["bash", "-c", f"{command} | head -c 1; echo ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        env=environment({}),
    )
    assert (result.stdout[1:], result.stderr) == ("0\n", "")


def test_no_color_is_respected(tmp_path: Path) -> None:
    """FORCE_COLOR gives colours, NO_COLOR and a pipe none."""
    words = ("explain", answers(tmp_path), "--scorer", *TWO, *SAMPLE)
    coloured = run_script(*words, FORCE_COLOR="1", TERM="xterm").out
    assert "\x1b[" in coloured
    plain = run_script(*words, FORCE_COLOR="1", TERM="xterm", NO_COLOR="1").out
    assert not re.search(r"\x1b\[[0-9;]*[34]\d", plain)
    piped = run_script(*words).out
    assert "\x1b" not in piped
    assert "[A:5]" in piped


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_terminal_that_cannot_show_a_character_gets_its_escape(
    tmp_path: Path, encoding: str
) -> None:
    """A terminal that cannot show a character gets its escape."""
    path = jsonl(tmp_path / "a.jsonl", [{"index": 29, "completion": "数 13 → \ud800", "run": "数"}])
    result = run_script("explain", path, "--scorer", *TWO, *SAMPLE, PYTHONIOENCODING=encoding)
    assert result.status == 0
    assert "\\ud800" in result.out
    assert ("数" if encoding == "utf-8" else "\\u6570") in result.out


def test_an_interrupt_exits_with_130(
    gradeschool: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C prints one line and exits as shells expect."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("gradeschool.scoring.stream._tasks", interrupt)
    result = gradeschool("score", answers(tmp_path), *SAMPLE)
    assert (result.status, result.err.strip()) == (130, "gradeschool: interrupted")


def test_with_json_an_error_is_json_on_stdout_too(gradeschool: Command) -> None:
    """A program that reads JSON gets the message, too."""
    result = gradeschool("score", "nope.jsonl", "--json")
    assert result.status == 2
    assert json.loads(result.out) == {
        "error": "'nope.jsonl' does not exist; give the path of a file"
    }
    assert result.err == "gradeschool: 'nope.jsonl' does not exist; give the path of a file\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
@pytest.mark.parametrize("verb", ["score", "explain"])
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_full_disk_is_one_line_and_status_2(tmp_path: Path, verb: str, form: list[str]) -> None:
    """A failed write is one line and exit status 2."""
    scorers = ["--scorer", *TWO]
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            [SCRIPT, verb, answers(tmp_path), *scorers, *SAMPLE, *form],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=environment({}),
        )
    assert result.returncode == 2
    assert (
        result.stderr == "gradeschool: cannot read or write: [Errno 28] No space left on device\n"
    )
