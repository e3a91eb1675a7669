"""Markdown, CSV and JUnit of runs: read back by what reads them, hostile text included."""

import csv
import io
import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from gradeschool.reports.exports import _cell
from gradeschool.reports.printable import FORMULA, csv_cell, printable
from gradeschool.scorer import clip
from tests.support.command import Command
from tests.support.command import gradeschool as gradeschool  # a fixture
from tests.support.hostile_report import HOSTILE

TEXTS = st.text(st.characters(), max_size=40)


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """Two runs on two problems of the shipped sample (golds 600 and 13), and hostile ones."""
    rows = [
        {"index": index, "run": run, "completion": text}
        for run, texts in (("old", ("#### 600", "#### 5")), ("new|`x`", ("#### 600", "#### 13")))
        for index, text in zip((0, 29), texts, strict=True)
    ]
    rows += [
        {"index": index % 48, "run": "hostile", "sample": index, "completion": text}
        for index, text in enumerate(HOSTILE)
    ]
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def exported(gradeschool: Command, path: Path, *specs: object) -> str:
    result = gradeschool("report", *specs, "-d", "sample", "-o", path, "--scorer", "openai/2021",
                       "--scorer", "multi-pattern")  # fmt: skip
    assert result.status == 0, result.err
    return path.read_text(encoding="utf-8")


def test_markdown_is_one_table_of_runs(gradeschool: Command, answers: Path, tmp_path: Path) -> None:
    """A row for each run with its difference from the first; names cannot add a column."""
    written = exported(gradeschool, tmp_path / "a.md", f"{answers}#old", f"{answers}#new|`x`")
    html = MarkdownIt("commonmark").enable("table").render(written)
    body = html.partition("<tbody>")[2].partition("</tbody>")[0]
    cells = [cell.partition(">")[2].partition("</td>")[0] for cell in body.split("<td")[1:]]
    assert cells[0] == "old"
    assert cells[1] == "50.00 %"
    assert cells[9] == "new|`x`"
    assert cells[10] == "100.00 %"
    assert cells[12].startswith("+50.00")
    assert len(cells) == 18


@given(TEXTS)
def test_a_markdown_cell_is_text(text: str) -> None:
    """A renderer gives the printable text back: no markup, no link, no image, no HTML."""
    tokens = MarkdownIt("commonmark").enable("table").parse(f"| a |\n|--|\n| x{_cell(text)}x |")
    inline = [token for token in tokens if token.type == "inline"][1]
    kinds = {child.type for child in inline.children or ()}
    assert kinds <= {"text", "text_special"}
    text_shown = "".join(child.content for child in inline.children or ())
    assert text_shown == f"x{printable(clip(text, 200), keep='')}x"


def test_csv_has_a_row_for_each_completion(
    gradeschool: Command, answers: Path, tmp_path: Path
) -> None:
    """Read back by the csv module: outcomes of both scorers; no cell is a formula."""
    written = exported(gradeschool, tmp_path / "a.csv", answers)
    rows = list(csv.DictReader(io.StringIO(written)))
    assert len(rows) == 4 + len(HOSTILE)
    assert [row["openai/2021"] for row in rows[:4]] == ["correct", "wrong", "correct", "correct"]
    assert [row["read"] for row in rows[:4]] == ["600", "5", "600", "13"]
    assert rows[1]["cause"] == "wrong value"
    for row in rows:
        for cell in row.values():
            assert not cell.startswith(FORMULA) or cell.lstrip("+-").replace(".", "").isdigit()


@given(TEXTS)
def test_no_cell_is_a_formula(text: str) -> None:
    """Whatever begins like one is quoted; numbers stay numbers."""
    cell = csv_cell(text)
    assert cell.lstrip("'") == printable(text).lstrip("'")
    assert not cell.startswith(FORMULA) or cell[1:].replace(".", "").replace(",", "").isdecimal()
    assert csv_cell("-10") == "-10"
    assert csv_cell("-1+2") == "'-1+2"


def test_junit_counts_what_failed(gradeschool: Command, answers: Path, tmp_path: Path) -> None:
    """Parsed as XML, hostile text included; failures say the cause, what was read, and the gold."""
    written = exported(gradeschool, tmp_path / "a.xml", answers)
    suites = ElementTree.fromstring(written)
    by_name = {suite.get("name"): suite for suite in suites}
    assert by_name["old"].get("tests") == "2"
    assert by_name["old"].get("failures") == "1"
    (failed,) = by_name["old"].findall("testcase/failure")
    assert failed.get("message") == "wrong value: read '5', gold '13'"
    assert failed.text == "#### 5"
    assert len(by_name["hostile"].findall("testcase")) == len(HOSTILE)
    assert {element.tag for element in suites.iter()} == {
        "testsuites", "testsuite", "testcase", "failure",
    }  # fmt: skip


def test_rows_that_cannot_be_used_are_errors(gradeschool: Command, tmp_path: Path) -> None:
    """One right answer, a failed sample, and a row of an unknown problem: two errors of three."""
    path = tmp_path / "a.jsonl"
    rows = [{"index": 0, "completion": "#### 600"}, {"index": 1, "error": "boom"},
            {"index": 99999, "completion": "1"}]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for ending in ("xml", "csv"):
        result = gradeschool("report", path, "-d", "sample", "-o", tmp_path / f"a.{ending}")
        assert result.status == 3
    (suite,) = ElementTree.parse(tmp_path / "a.xml").getroot()
    counts = [suite.get(name) for name in ("tests", "failures", "errors")]
    assert counts == ["3", "0", "2"]
    cases = suite.findall("testcase")
    assert [case.get("name") for case in cases][1:] == ["problem 1, sample 0", "row 3"]
    messages = [error.get("message") or "" for error in suite.findall("testcase/error")]
    assert messages[0] == "boom"
    assert messages[1].startswith("row 3 ")
    written = (tmp_path / "a.csv").read_text(encoding="utf-8")
    table = list(csv.DictReader(io.StringIO(written)))
    assert [row["outcome"] for row in table] == ["correct", "error", "error"]
    assert table[2]["cause"] == messages[1]
    assert table[2]["gradeschool/reader"] == "error"


def test_another_ending_is_refused(gradeschool: Command, answers: Path, tmp_path: Path) -> None:
    """Before anything is read; the message says which endings there are."""
    result = gradeschool("report", answers, "-o", tmp_path / "a.docx")
    assert result.status == 2
    assert ".html, .md, .csv, .xml" in result.err


def test_markdown_names_the_test_and_its_correction(
    gradeschool: Command, answers: Path, tmp_path: Path
) -> None:
    text = exported(gradeschool, tmp_path / "a.md", f"{answers}#old", f"{answers}#new|`x`")
    assert "; p: exact McNemar test; interval: score interval (Tango).\n" in text
    third = tmp_path / "third.jsonl"
    third.write_text(
        "".join(json.dumps({"index": n, "completion": "#### 1"}) + "\n" for n in (0, 29))
    )
    runs = (f"{answers}#old", f"{answers}#new|`x`", third)
    text = exported(gradeschool, tmp_path / "b.md", *runs)
    assert "; p: exact McNemar test, corrected for 2 comparisons (Holm); interval: " in text


def test_markdown_says_why_runs_are_not_compared(
    gradeschool: Command, answers: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text('{"index": 3, "completion": "<b>1"}\n')
    text = exported(gradeschool, tmp_path / "a.md", f"{answers}#old", other)
    shown = MarkdownIt("commonmark").enable("table").render(text)
    assert "<p>The runs are not compared: the runs judge different problems: 2 only in" in shown
