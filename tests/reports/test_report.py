"""`gradeschool report`: page and Markdown of runs, hostile text included."""

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from gradeschool import get_scorer, load_dataset
from gradeschool.datasets.load import sha256_of
from gradeschool.errors import InputError
from gradeschool.formats.values import Sample
from gradeschool.printable import markdown_text, printable
from gradeschool.problem import Problem
from gradeschool.reports.pages import environment
from gradeschool.reports.report import MOST_TOKENS, JudgedRun, markdown, report_page, token_values
from gradeschool.scoring.sources import Run
from gradeschool.scoring.table import ScorerSet
from tests.support.command import Command
from tests.support.files import jsonl
from tests.support.recorded_run import run as run  # a fixture
from tests.support.report_page import HOSTILE, blocks, report, valued_files

TEXTS = st.text(st.characters(), max_size=40)  # lone surrogates too
ON_SAMPLE = ("-d", "sample")


class Elements(HTMLParser):
    """The elements of a page with their attributes, and the text within them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def shown(page: str) -> str:
    """Return the text of a page's body without data and scripts, on one line."""
    body = page.partition("<body>")[2].partition('<script type="application')[0]
    return " ".join(Elements(body).text.split())


def facts(page: str) -> dict[str, str]:
    """Return every name and value of the lists on a page."""
    pairs = re.findall(r"<dt>(.*?)</dt>\s*<dd[^>]*>(.*?)</dd>", page, re.DOTALL)
    return {name: unescape(re.sub(r"<[^>]*>", " ", value)).strip() for name, value in pairs}


def test_a_run_folder_fills_the_page(gradeschool: Command, run: Path, tmp_path: Path) -> None:
    page = report(gradeschool, tmp_path / "page.html", run)
    manifest = json.loads((run / "run.json").read_bytes())
    (score,) = json.loads((run / "results.json").read_bytes())["scorers"].values()
    listed = facts(page)
    assert f"{100 * score['accuracy']:.2f} %95 % interval" in shown(page)
    assert manifest["protocol"]["digest"] in listed["Protocol"]
    assert manifest["dataset"]["sha256"] in listed["Test set and its digest"]
    assert listed["Decoding"].startswith("greedy, top-p 1.0, no seed, no stop strings, ")
    assert listed["Few-shot examples"] == "none (0-shot)"
    assert listed["cost of all requests, dollars"] == "not recorded"
    assert listed["Changed"] == "nothing: the protocol as published"
    again = gradeschool("report", run, "-o", tmp_path / "table.md", "--json").json()
    size = (tmp_path / "table.md").stat().st_size
    assert again["report"] == {"file": str(tmp_path / "table.md"), "bytes": size, "completions": 48}


def test_the_policy_allows_one_script(gradeschool: Command, run: Path, tmp_path: Path) -> None:
    page = report(gradeschool, tmp_path / "page.html", run)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    allowed = unescape(policy.group(1))
    assert allowed.startswith("default-src 'none'; ")
    for tag, inline in (("script", r"<script>(.*?)</script>"), ("style", r"<style>(.*?)</style>")):
        (content,) = re.findall(inline, page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in allowed
    for _, attributes in Elements(page).elements:
        assert not {"src", "srcset", "style", "action", "data", "poster"} & attributes.keys()
        assert (attributes.get("href") or "#").startswith("#")
        assert not any(name.startswith("on") for name in attributes)


def test_blocks_hold_texts_and_verdicts(gradeschool: Command, run: Path, tmp_path: Path) -> None:
    stored = run / "completions.jsonl"
    rows = [json.loads(line) for line in stored.read_text().splitlines()]
    rows[1] |= {"reasoning": "I think"}
    jsonl(stored, rows)
    data = blocks(report(gradeschool, tmp_path / "page.html", run))
    facts, texts = data["data"], data["texts-0"]
    assert [row["text"] for row in texts] == [row["completion"] for row in rows]
    assert [row.get("thinking") for row in texts[:3]] == [None, "I think", None]
    assert [problem[0] for problem in facts["problems"]] == [row["problem_id"] for row in rows]
    problems = {problem.id: problem for problem in load_dataset("sample").problems}
    outcomes = ("correct", "wrong", "no_answer", "error")
    for scorer, (name, codes) in enumerate(zip(facts["scorers"], facts["codes"], strict=True)):
        for row, code, text in zip(rows, codes, texts, strict=True):
            verdict = get_scorer(name).judge(row["completion"], problems[row["problem_id"]])
            assert outcomes[int(code)] == verdict.outcome.value
            if verdict.answer and verdict.answer.span:
                (reading,) = (each for each in text["readings"] if scorer in each[3])
                assert tuple(reading[:2]) == verdict.answer.span


def test_hostile_names_stay_text(gradeschool: Command, tmp_path: Path) -> None:
    rows = ({"index": index % 48, "run": name, "completion": name}
            for index, name in enumerate(HOSTILE))  # fmt: skip
    answers = jsonl(tmp_path / "answers.jsonl", rows)
    page = report(gradeschool, tmp_path / "page.html", answers, *ON_SAMPLE)
    tags = [tag for tag, _ in Elements(page).elements]
    assert not set(tags) & {"img", "iframe", "object", "embed", "base", "video", "textarea"}
    scripts = [each.get("type") for tag, each in Elements(page).elements if tag == "script"]
    assert scripts.count(None) == 1 and scripts[-2:] == ["application/gzip-base64", None]


@settings(max_examples=30)
@given(TEXTS)
def test_a_template_shows_the_printable_text(value: str) -> None:
    page = environment().from_string('<p title="{{ v }}">{{ v }}</p>').render(v=value)
    parsed = Elements(page)
    ((tag, attributes),) = parsed.elements
    assert (tag, attributes["title"]) == ("p", printable(value, keep="\n\t"))
    assert parsed.text == printable(value, keep="\n\t")


@pytest.mark.parametrize("ending", ["html", "md"])
def test_partial_runs_say_so(gradeschool: Command, run: Path, tmp_path: Path, ending: str) -> None:
    stored = run / "completions.jsonl"
    rows = stored.read_bytes().splitlines(keepends=True)[:-1]
    rows[0] = rows[0].replace(b'"completion": "', b'"completion": "Or: ')
    stored.write_bytes(b"".join(rows))
    path = tmp_path / f"page.{ending}"
    result = gradeschool("report", run, "-o", path)
    assert (result.status, "row 1 of" in result.err) == (3, True)
    assert "2 of 48 samples are missing; repeat the run" in path.read_text(encoding="utf-8")


def test_several_samples_have_a_curve_and_a_mean(gradeschool: Command, tmp_path: Path) -> None:
    rows = [{"index": 0, "sample": sample, "completion": "#### 600"} for sample in range(4)]
    rows += [{"index": index, "completion": "#### 1"} for index in range(1, 9)]
    answers = jsonl(tmp_path / "a.jsonl", rows)
    page = report(gradeschool, tmp_path / "page.html", answers, *ON_SAMPLE)
    assert "The problems have 1 to 4 samples: the accuracy is the mean over problems" in shown(page)
    assert facts(page)["Samples a problem"].startswith("1 to 4: accuracy is the mean")
    assert 'class="curve maj"' in page and "pass@k, %" in page
    lines = report(gradeschool, tmp_path / "page.md", answers, *ON_SAMPLE)
    assert "1 to 4 samples a problem; a mean over problems." in lines


def test_the_files_own_flags_are_compared() -> None:
    problem = Problem.from_gold("5")
    said = [("#### 5", True), ("#### 6", True), ("#### 5", False), ("#### 5", None)]
    samples = [
        Sample(row, text=text, sample=row, problem=problem, flag=flag)
        for row, (text, flag) in enumerate(said)
    ]
    scorers = ScorerSet([get_scorer("gradeschool/reader")])
    judged = JudgedRun(Run("run", samples), scorers, {})
    page = report_page([judged], scorers.scorers)
    assert (
        "The file's own flags: 1 of 3 agree; 1 say wrong where gradeschool/reader says correct, "
        "1 the reverse: show them." in shown(page)
    )
    assert blocks(page)["data"]["flag"] == [True, True, False, None]
    assert "the file's own flags: 1 of 3 agree" in markdown([judged], scorers.scorers)


def test_rates_are_of_texts_errors_of_samples(gradeschool: Command, tmp_path: Path) -> None:
    """One truncated text, one failed sample, two rows of unknown problems."""
    rows = [
        {"index": 0, "completion": "It is", "finish_reason": "length"},
        {"index": 1, "error": "http 500"},
        *({"index": index, "completion": "1"} for index in (99998, 99999)),
    ]
    answers = jsonl(tmp_path / "a.jsonl", rows)
    path = tmp_path / "page.html"
    ended = gradeschool("report", answers, *ON_SAMPLE, "-o", path)
    assert (ended.status, "2 rows could not be used" in ended.err) == (3, True)
    listed = facts(path.read_text())
    assert {name: listed[name].split() for name in list(listed)[:5]} == {
        "truncated": ["1", "100.0", "%"],
        "empty": ["0", "0.0", "%"],
        "ran on into a next question": ["0", "0.0", "%"],
        "the scorer found no answer": ["1", "100.0", "%"],
        "errors, not counted as wrong": ["3", "75.0", "%"],
    }
    assert listed["Truncated, empty, run-on"] == "1 truncated, 0 empty, 0 ran on, of 1"
    assert ", 3 errors left out" in shown(path.read_text())


def test_tokens_and_endings_are_shown(gradeschool: Command, run: Path, tmp_path: Path) -> None:
    path = run / "completions.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for index, row in enumerate(rows):
        row |= {"prompt_tokens": 1000, "completion_tokens": index, "reasoning_tokens": 2,
                "finish": "length" if index < 3 else "stop",
                "latency": 0.5 * (index + 1)}  # fmt: skip
    jsonl(path, rows)
    page = report(gradeschool, tmp_path / "page.html", run)
    listed = facts(page)
    assert (listed["completion tokens"], listed["prompt tokens"]) == ("1,128", "48,000")
    assert listed["thinking tokens, of these"] == "96" and listed["truncated"].startswith("3 ")
    assert "Tokens in a completion, and times:" in page
    assert "seconds an answer 48 12 21.5 24 tokens a second 47 " in " ".join(
        re.sub(r"<[^>]*>", " ", page.partition("Tokens in a completion, and times:")[2]).split()
    )
    assert blocks(page)["data"]["tokens"] == list(range(48))


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
    return jsonl(tmp_path / "answers.jsonl", rows)


def exported(gradeschool: Command, path: Path, *specs: object) -> str:
    scorers = ("--scorer", "openai/2021", "--scorer", "multi-pattern")
    return report(gradeschool, path, *specs, *ON_SAMPLE, *scorers)


def test_markdown_is_a_table_of_runs(gradeschool: Command, answers: Path, tmp_path: Path) -> None:
    """A row for each run with its difference from the first; names cannot add a column."""
    runs = (f"{answers}#old", f"{answers}#new|`x`")
    lines = exported(gradeschool, tmp_path / "a.md", *runs)
    html = MarkdownIt("commonmark").enable("table").render(lines)
    body = html.partition("<tbody>")[2].partition("</tbody>")[0]
    cells = [cell.partition(">")[2].partition("</td>")[0] for cell in body.split("<td")[1:]]
    assert len(cells) == 18
    assert [*cells[:2], *cells[9:11]] == ["old", "50.00 %", "new|`x`", "100.00 %"]
    assert cells[12].startswith("+50.00")
    assert "; p: exact McNemar test; interval: score interval (Tango).\n" in lines
    assert "| multi-pattern | 50.00 % | 100.00 % |" in lines
    other = jsonl(tmp_path / "other.jsonl", [{"index": 3, "completion": "<b>1"}])
    apart = exported(gradeschool, tmp_path / "b.md", runs[0], other)
    html = MarkdownIt("commonmark").enable("table").render(apart)
    assert "<p>The runs are not compared: the runs judge different problems: 2 only in" in html


def test_remarks_on_a_file_stand_with_its_figures(gradeschool: Command, tmp_path: Path) -> None:
    said = "12 of 12 texts of 'cut' end at exactly 80 characters, which looks cut; score the whole"
    path = jsonl(tmp_path / "cut.jsonl", (
        {"question": f"What is {n} + {n}?", "gold": str(2 * n),
         "response": f"We add the number {n} to itself, once and for all. ".ljust(80, ".")}
        for n in range(12)
    ))  # fmt: skip
    said = said.replace("'cut'", repr(str(path)))
    page = report(gradeschool, tmp_path / "a.html", path, "--scorer", "openai/2021")
    assert f'<p class="note advice">{said} texts' in unescape(page)
    assert f"cut.jsonl, SHA-256 {sha256_of(path)}" in page
    lines = report(gradeschool, tmp_path / "a.md", path, "--scorer", "openai/2021")
    assert "end at exactly 80 characters, which looks cut; score the whole texts" in lines
    assert f"cut.jsonl, SHA-256 {sha256_of(path)}.\n" in lines
    scored = gradeschool("score", path, "--scorer", "openai/2021", "--json").json()
    assert any(message.startswith(f"{said} texts") for message in scored["messages"])


@settings(max_examples=30)
@given(TEXTS)
def test_a_markdown_cell_is_text(text: str) -> None:
    cell = markdown_text(text)
    tokens = MarkdownIt("commonmark").enable("table").parse(f"| a |\n|--|\n| x{cell}x |")
    inline = [token for token in tokens if token.type == "inline"][1]
    assert {child.type for child in inline.children or ()} <= {"text", "text_special"}
    content = "".join(child.content for child in inline.children or ())
    assert content == f"x{printable(text, keep='')}x"


def test_what_cannot_be_written_is_refused(gradeschool: Command, run: Path, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("mine")
    (tmp_path / "file").touch()
    (tmp_path / "folder.html").mkdir()
    for arguments, words in (
        (("-o", tmp_path / "folder.html", "--force"), "is a folder; give the path of a file"),
        (("-o", path), "--force"),
        (("-o", tmp_path / "no" / "page.html"), "cannot write"),
        (("-o", tmp_path / "a.docx"), ".html or .md"),
        (("-o", tmp_path), "must end in .html or .md"),
        ((), "there is nothing to write"),
        (("--figures", tmp_path / "file" / "f"), "cannot write"),
    ):
        assert words in gradeschool.refused("report", run, *arguments)
    assert path.read_text() == "mine"
    gradeschool.done("report", run, "-o", path, "--force")


def heatmap(gradeschool: Command, folder: Path, texts: Sequence[str], values: list[float]) -> str:
    problems, answers = valued_files(folder, texts, values)
    path = folder / "heat.html"
    gradeschool.done("report", answers, "-d", problems, "--heatmap", path)
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
    gradeschool.done(*words)
    stored = (run / "completions.jsonl").read_text("ascii").splitlines()
    jsonl(run / "verifier-scores.jsonl", [
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
        {**row, "tokens": ["x"] * (MOST_TOKENS + 1), "values": [0.5] * (MOST_TOKENS + 1)},
        {"key": "k", "verifier": "a", "score": 0.5},
    ]
    jsonl(tmp_path / "verifier-scores.jsonl", bad)
    assert token_values(tmp_path, print) == {}
    warnings: list[str] = []
    jsonl(tmp_path / "verifier-scores.jsonl", [row, {**row, "verifier": "b", "score": 0.7}, *bad])
    values = token_values(tmp_path, warnings.append)
    assert (values["k"].verifier, values["k"].score) == ("b", 0.7)
    assert "those by 'b' are shown, not by 'a'" in warnings[0]
    assert token_values(tmp_path / "absent", print) == {}
    jsonl(tmp_path / "verifier-scores.jsonl", [row, {**row, "score": float("inf")}])
    with pytest.raises(InputError, match=r"row 2 of .* has the score inf"):
        token_values(tmp_path, print)
