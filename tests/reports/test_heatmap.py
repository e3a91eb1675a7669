"""`report --heatmap`: a verifier's values token by token, and the texts of the tokens."""

import json
import re
from collections.abc import Sequence
from html import unescape
from pathlib import Path

from gradeschool.reports.report import MOST_TOKENS, token_values
from tests.support.command import Command
from tests.support.hostile_report import HOSTILE
from tests.support.report_page import blocks, report, rows
from tests.support.valued import valued_files


def heatmap(gradeschool: Command, folder: Path, texts: Sequence[str], values: list[float]) -> str:
    problems, answers = valued_files(folder, texts, values)
    path = folder / "heat.html"
    result = gradeschool("report", answers, "-d", problems, "--heatmap", path)
    assert result.status == 0, result.err
    return path.read_text(encoding="utf-8")


def test_no_markup_of_a_token_is_markup_of_the_page(gradeschool: Command, tmp_path: Path) -> None:
    values = [index / (len(HOSTILE) - 1) for index in range(len(HOSTILE))]
    page = heatmap(gradeschool, tmp_path, HOSTILE, values)
    body = page[page.index("<main>") : page.index("</main>")]
    assert set(re.findall(r"<([a-z0-9]+)", body)) <= {
        *("main", "div", "p", "code", "span", "section", "h2", "h3", "strong", "output"),
        *("details", "summary", "table", "thead", "tbody", "tr", "th", "td"),
    }
    assert "default-src 'none'; script-src 'sha256-" in unescape(page)
    assert page.count("<script") == 1


def test_four_kinds_of_solutions_are_shown(gradeschool: Command, tmp_path: Path) -> None:
    """The colours are those of the run's own scores, from the lowest to the highest."""
    texts = ["#### 5", "#### 6", "so 5", "so\n6"]
    page = heatmap(gradeschool, tmp_path, texts, [7.0, 0.8, 0.2, -0.1])
    headings = re.findall(r"<h2[^>]*>([^<]*)</h2>|<h3>([^<]*)</h3>", page)
    assert [kind or solution for kind, solution in headings] == [
        "Correct, scored high",
        "Problem 0, sample 0, score 7.00",
        "Correct, scored low",
        "Problem 2, sample 0, score 0.20",
        "Not correct, scored high",
        "Problem 1, sample 0, score 0.80",
        "Not correct, scored low",
        "Problem 3, sample 0, score -0.10",
    ]
    classes = re.findall(r'class="tok (v\d+)" data-value="([^"]*)"', page)
    assert set(classes) == {("v10", "7.00"), ("v1", "0.80"), ("v0", "0.20"), ("v0", "-0.10")}
    assert "-0.10 or less" in page and "7.00 or more" in page
    assert "Value 0.20 at first, lowest 0.20, 0.20 at last." in page
    assert "<td>↵</td>" in page


def test_values_of_a_run_folder_are_found_by_key(gradeschool: Command, tmp_path: Path) -> None:
    problems, answers = valued_files(tmp_path, ["#### 5", "#### 6"], [0.9, 0.8])
    run = tmp_path / "run"
    words = ("eval", "-m", f"recorded/{answers}", "-d", problems, "--quiet", "-o", run)
    assert gradeschool(*words).status == 0
    stored = (run / "completions.jsonl").read_text("ascii").splitlines()
    rows(run / "verifier-scores.jsonl", [
        {"key": json.loads(stored[1])["key"], "verifier": "v", "score": 0.25,
         "tokens": ["####", " 6"], "values": [0.5, 0.25]},
    ])  # fmt: skip
    texts = blocks(report(gradeschool, tmp_path / "page.html", run))["texts-0"]
    assert [row.get("values") for row in texts] == [None, [0.25, ["####", " 6"], [50, 25]]]


def test_bad_rows_are_skipped_and_the_last_verifier_counts(tmp_path: Path) -> None:
    row = {"key": "k", "verifier": "a", "score": 0.5, "values": [0.1, 0.5], "tokens": ["x", "y"]}
    bad = [
        {**row, "values": [0.1]},
        {**row, "values": [0.1, "0.5"]},
        {**row, "values": [0.1, float("nan")]},
        {**row, "tokens": ["x", 5]},
        {**row, "tokens": [], "values": []},
        {**row, "score": float("inf")},
        {**row, "tokens": ["x"] * (MOST_TOKENS + 1), "values": [0.5] * (MOST_TOKENS + 1)},
        {"key": "k", "verifier": "a", "score": 0.5},
    ]
    rows(tmp_path / "verifier-scores.jsonl", bad)
    assert token_values(tmp_path, print) == {}
    warnings: list[str] = []
    rows(tmp_path / "verifier-scores.jsonl", [row, {**row, "verifier": "b", "score": 0.7}, *bad])
    values = token_values(tmp_path, warnings.append)
    assert (values["k"].verifier, values["k"].score) == ("b", 0.7)
    assert "those by 'b' are shown, not by 'a'" in warnings[0]
    assert token_values(tmp_path / "absent", print) == {}
