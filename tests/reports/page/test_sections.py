"""Check the sections of a page: scorers, several runs, curves, tokens."""

import json
import re
import shutil
from pathlib import Path

from gradeschool.formats.samples import ReadOptions
from gradeschool.models.recorded import SAMPLE_FILE
from gradeschool.reports.figures.records import lengths
from gradeschool.reports.page.gather import gather
from gradeschool.reports.page.sections import tokens_section
from gradeschool.reports.page.verdicts import judge_run
from gradeschool.scoring.table import ERROR, ScorerSet, choose_scorers
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.report_page import blocks, report, written
from tests.support.report_page import run_folder as run_folder  # a fixture


def test_the_page_and_the_terminal_set_the_same_scorers_aside(
    gradeschool: Command, tmp_path: Path
) -> None:
    """One number in both sentences: scorers that find nothing right are not counted."""
    run = f"{SAMPLE_FILE}#handwritten/cot"
    page = report(gradeschool, tmp_path / "page.html", run, "-d", "sample")
    table = gradeschool("score", SAMPLE_FILE, "-d", "sample", "--json").json()["runs"]
    [scorers] = [entry["scorers"] for entry in table if entry["run"] == "handwritten/cot"]
    shares = [
        100 * entry["accuracy"]
        for entry in scorers.values()
        if entry["correct"] and entry["correct"] + entry["wrong"] > entry["no_answer"]
    ]
    aside = f"{len(scorers) - len(shares)} of them find no answer in most, or nothing right."
    assert aside in page
    assert f"those that find answers are {max(shares) - min(shares):.1f} points apart" in page


def test_several_runs_stand_beside_each_other(
    gradeschool: Command, run_folder: Path, tmp_path: Path
) -> None:
    """A table with the paired difference, a part for each run, names that differ."""
    again = shutil.copytree(run_folder, tmp_path / "again")
    page = report(gradeschool, tmp_path / "page.html", run_folder, again)
    assert page.count('class="run"') == 2
    assert "exact McNemar test" in page
    assert "+0.00" in page
    names = json.loads(blocks(page)["problems"])["runs"]
    assert len(set(names)) == 2


def test_runs_keep_their_differences_from_the_first_if_two_others_have_none(
    gradeschool: Command, tmp_path: Path
) -> None:
    """Only the first run's sample of problem 1 failed, and the third run has none at all."""
    right = {"index": 0, "completion": "#### 600"}
    runs = [
        written(tmp_path / "a.jsonl", right, {"index": 1, "error": "http 500"}),
        written(tmp_path / "b.jsonl", right, {"index": 1, "completion": "#### 5"}),
        written(tmp_path / "c.jsonl", right),
    ]
    page = report(gradeschool, tmp_path / "page.html", *runs, "-d", "sample")
    lines = report(gradeschool, tmp_path / "page.md", *runs, "-d", "sample")
    for shown in (page, lines):
        assert "Differences are from the first run" in shown
        assert "The runs are not compared" not in shown
    assert "Every pair:" not in page


def test_samples_have_a_curve(gradeschool: Command, tmp_path: Path) -> None:
    """maj@k and pass@k of four samples, as figure and as table."""
    rows = [
        {"index": p, "sample": s, "completion": f"#### {600 if s % 2 else 1}"}
        for p in (0, 1)
        for s in range(4)
    ]
    answers = tmp_path / "answers.jsonl"
    answers.write_text("".join(json.dumps(row) + "\n" for row in rows))
    page = report(gradeschool, tmp_path / "page.html", answers, "-d", "sample")
    assert "pass@k, %" in page
    assert 'class="curve maj"' in page


def test_tokens_and_finish_reasons_of_a_run_are_shown(
    gradeschool: Command, run_folder: Path, tmp_path: Path
) -> None:
    """Summed from the rows of the run; a limit that was hit is in the headline's rates."""
    path = run_folder / "completions.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for index, row in enumerate(rows):
        finish = "length" if index < 3 else "stop"
        row |= {"prompt_tokens": 1000, "completion_tokens": index, "finish": finish}
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    page = report(gradeschool, tmp_path / "page.html", run_folder)
    assert "<dt>completion tokens</dt><dd>1,128</dd>" in page
    assert "<dt>prompt tokens</dt><dd>48,000</dd>" in page
    assert "<dt>truncated</dt><dd>3<" in page
    assert "Tokens in a completion:" in page
    facts = blocks(page)["columns"]
    assert facts[3 * 4 * 48 :][: 4 * 48] == b"".join(
        index.to_bytes(4, "little") for index in range(48)
    )


def test_lengths_are_those_of_the_figure(tmp_path: Path) -> None:
    """In characters if no tokens are recorded; a completion that no scorer judged is left out."""
    texts = ("It is 4.", "No", "5")
    path = tmp_path / "answers.jsonl"
    rows = [{"question": "What is 2 + 2?", "gold": "4", "completion": text} for text in texts]
    written(path, *rows)
    [run] = gather([str(path)], ReadOptions(), lambda message: None)
    judged = judge_run(run, ScorerSet(choose_scorers(["gradeschool/reader"])))
    judged.completions[1] = judged.completions[1]._replace(outcomes=bytes([ERROR]))
    assert lengths(judged) == ("characters", (8,), (1,))
    table = tokens_section(judged)
    assert "Characters in a completion:" in table
    assert re.findall(r"<td[^>]*>([\d,]+)<", table) == ["1", "8", "8", "8", "1", "1", "1", "1"]


def test_problems_of_two_datasets_are_counted_apart(gradeschool: Command, tmp_path: Path) -> None:
    """They have the same ids, as the explorer knows."""
    rows = ({"index": index, "completion": "#### 1"} for index in range(5))
    model = f"recorded/{written(tmp_path / 'answers.jsonl', *rows)}"
    runs = [tmp_path / "one", tmp_path / "two"]
    for number, run in enumerate(runs, start=1):
        problems = ({"question": f"{n} + {number}?", "answer": f"#### {n}"} for n in range(5))
        dataset = written(tmp_path / f"problems-{number}.jsonl", *problems)
        words = ("eval", "-m", model, "-d", dataset, "-o", run, "--quiet")
        assert gradeschool(*words).status == 0
    page = report(gradeschool, tmp_path / "page.html", *runs)
    assert "2 runs over 10 problems, read by" in page
    assert len(json.loads(blocks(page)["problems"])["problems"]) == 10


def test_scorers_that_agree_have_no_distance(gradeschool: Command, tmp_path: Path) -> None:
    answers = written(tmp_path / "a.jsonl", {"index": 0, "completion": "#### 600"})
    page = report(gradeschool, tmp_path / "page.html", answers, "-d", "sample",
                  "--scorer", "gradeschool/reader", "--scorer", "openai/2021")  # fmt: skip
    assert "They come to the same verdicts." in page
    result = gradeschool("report", answers, "-d", "sample", "-o", tmp_path / "page.md")
    assert result.out.startswith("1 completion in ")
