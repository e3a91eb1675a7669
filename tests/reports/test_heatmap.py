"""A page of values token by token: colours, what is told, chosen solutions, refusals."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gradeschool.formats.samples import Sample
from gradeschool.problem import Problem
from gradeschool.reports.heatmap import ValuedSolution, _clearest, _told, bin_of
from gradeschool.reports.page.gather import TokenValues
from gradeschool.verifier.candidates import text_key
from tests.reports.test_page_in_browser import rows_of, shown_text, until
from tests.support.browser import Open
from tests.support.browser import chromium as chromium  # a fixture
from tests.support.browser import open_page as open_page  # a fixture
from tests.support.command import run_script
from tests.support.hostile_report import HOSTILE


@pytest.mark.parametrize(
    ("value", "bin"), [(-0.3, 0), (0.0, 0), (0.049, 0), (0.5, 5), (0.96, 10), (7.0, 10)]
)
def test_values_outside_of_a_share_have_the_last_colours(value: float, bin: int) -> None:
    assert bin_of(value) == bin


@pytest.mark.parametrize(
    ("token", "words"), [(" ", "“a space”"), ("\n\n", "“↵”"), (" so\n", "“so”")]
)
def test_a_line_break_is_no_space(token: str, words: str) -> None:
    summary = _told(["It", token, "5"], [0.5, 0.1, 0.9])
    assert f"lowest 0.10 after {words} (token 2 of 3)" in summary


def test_a_text_is_shown_once_and_other_problems_before_a_second_text() -> None:
    shown = [
        ValuedSolution(
            "run", problem, Sample(sample, problem=problem, sample=sample, text=text), True, valued
        )
        for sample, (id, text, score) in enumerate(
            [("a", "5", 0.9), ("a", "5", 0.9), ("a", "five", 0.8), ("b", "5", 0.1)]
        )
        for valued in [TokenValues("v", score, (text,), (score,))]
        for problem in [Problem(id, "q", "5", "#### 5")]
    ]
    clearest = _clearest(shown, True, -1)
    assert [(solution.problem.id, solution.sample.text) for solution in clearest] == [
        ("a", "5"), ("b", "5"), ("a", "five"),
    ]  # fmt: skip


def scored(folder: Path, texts: Sequence[str], values: Sequence[float]) -> tuple[Path, Path]:
    """Problems and completions, each text one token a character, of the same value everywhere."""
    problems = rows_of(
        folder / "problems.jsonl",
        [
            {"question": f"{text} number {index}?", "answer": "5"}
            for index, text in enumerate(texts)
        ],
    )
    answers = rows_of(
        folder / "answers.jsonl",
        [{"index": index, "completion": text, "run": "r"} for index, text in enumerate(texts)],
    )
    rows_of(
        folder / "answers.verifier-scores.jsonl",
        [
            {"key": text_key(f"{text} number {index}?", text), "verifier": "v</script>@1",
             "score": value, "tokens": [*text, "<eos>"], "values": [value] * (len(text) + 1)}
            for index, (text, value) in enumerate(zip(texts, values, strict=True))
        ],
    )  # fmt: skip
    return problems, answers


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both pages of hostile completions whose tokens are their characters."""
    folder = tmp_path_factory.mktemp("hostile")
    values = [index / (len(HOSTILE) - 1) for index in range(len(HOSTILE))]
    problems, answers = scored(folder, HOSTILE, values)
    result = run_script("report", answers, "-d", problems, "--heatmap", folder / "heat.html",
                      "-o", folder / "page.html")  # fmt: skip
    assert result.status == 0, result.err
    return folder


def test_the_page_holds_no_markup_of_a_token(hostile: Path) -> None:
    page = (hostile / "heat.html").read_text(encoding="utf-8")
    body = page[page.index("<main>") : page.index("</main>")]
    assert set(re.findall(r"<([a-z0-9]+)", body)) <= {
        *("main", "div", "p", "code", "span", "section", "h2", "h3", "strong", "output"),
        *("details", "summary", "table", "thead", "tbody", "tr", "th", "td"),
    }
    assert "default-src &#x27;none&#x27;; script-src &#x27;sha256-" in page
    assert page.count("<script") == 1


def test_kinds_are_told_apart_by_scorer_and_score(tmp_path: Path) -> None:
    texts = ["#### 5", "#### 6", "so 5", "so 6"]
    problems, answers = scored(tmp_path, texts, [0.9, 0.8, 0.2, 0.1])
    result = run_script("report", answers, "-d", problems, "--heatmap", tmp_path / "heat.html")
    assert result.status == 0, result.err
    page = (tmp_path / "heat.html").read_text(encoding="utf-8")
    headings = re.findall(r"<h2[^>]*>([^<]*)</h2>|<h3>([^<]*)</h3>", page)
    assert [kind or solution for kind, solution in headings] == [
        "Correct, scored high",
        "Problem 0, sample 0, score 0.90",
        "Not correct, scored high",
        "Problem 1, sample 0, score 0.80",
        "Correct, scored low",
        "Problem 2, sample 0, score 0.20",
        "Not correct, scored low",
        "Problem 3, sample 0, score 0.10",
    ]
    assert "Median score: 0.55 of 2 correct, 0.45 of 2 not correct." in page


def test_keys_of_a_run_folder_are_its_completions(tmp_path: Path) -> None:
    problems, answers = scored(tmp_path, ["#### 5", "#### 6"], [0.9, 0.8])
    result = run_script("eval", "-m", f"recorded/{answers}", "-d", problems, "--quiet",
                      "-o", tmp_path / "run")  # fmt: skip
    assert result.status == 0, result.err
    rows = (tmp_path / "run/completions.jsonl").read_text("ascii").splitlines()
    keys = [json.loads(row)["key"] for row in rows]
    rows_of(tmp_path / "run/verifier-scores.jsonl", [{
        "key": keys[1], "verifier": "v", "score": 0.25, "tokens": ["####", " 6"],
        "values": [0.5, 0.25]}])  # fmt: skip
    result = run_script("report", tmp_path / "run", "-o", tmp_path / "page.html")
    assert result.status == 0, result.err
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    packed = re.search(r'id="texts-0">([^<]*)<', page)
    assert packed is not None
    texts = json.loads(gzip.decompress(base64.b64decode(packed.group(1))))
    assert [row[4:] for row in texts] == [[], [[0.25, ["####", " 6"], [50, 25]]]]


def test_what_is_refused(tmp_path: Path) -> None:
    problems, answers = scored(tmp_path, ["#### 5"], [0.5])
    (tmp_path / "answers.verifier-scores.jsonl").unlink()
    bare = run_script("report", answers, "-d", problems, "--heatmap", tmp_path / "heat.html")
    assert (bare.status, "verifier score --tokens" in bare.err) == (2, True)
    named = run_script("report", answers, "-d", problems, "--heatmap", tmp_path / "heat.pdf")
    assert (named.status, "ends in .html" in named.err) == (2, True)
    assert not list(tmp_path.glob("heat*"))


# In a browser


def open_heatmap(chromium: Any, path: Path, **options: Any) -> tuple[Any, list[str], list[str]]:
    page = chromium.new_context(**options).new_page()
    console: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: console.append(message.text))
    page.on("pageerror", lambda error: console.append(str(error)))

    def dismiss(dialog: Any) -> None:
        console.append("a dialog")
        dialog.dismiss()

    page.on("dialog", dismiss)
    page.on("request", lambda request: requests.append(request.url))
    page.goto(path.as_uri())
    return page, console, requests


def test_hostile_tokens_are_shown_and_arrows_tell_their_values(
    chromium: Any, hostile: Path
) -> None:
    page, console, requests = open_heatmap(chromium, hostile / "heat.html")
    assert page.locator("main :is(script, img, iframe, svg, style, base, a)").count() == 0
    first = page.locator(".tokens").first
    first.focus()
    announcement = page.locator("output").first
    assert announcement.inner_text().startswith("Value ")
    page.keyboard.press("ArrowRight")
    assert re.match(r"\d\.\d\d after “.+”, token 1 of \d+", announcement.inner_text())
    page.keyboard.press("End")
    assert "after “<eos>”" in announcement.inner_text()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Home")
    assert ", token 1 of" in announcement.inner_text()
    page.hover(".tokens >> nth=1 >> .tok >> nth=1")
    assert "token 2 of" in page.locator("output").nth(1).inner_text()
    assert (console, requests) == ([], [(hostile / "heat.html").as_uri()])
    assert page.title().endswith("gradeschool")
    page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_the_heat_map(chromium: Any, hostile: Path, scheme: str) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe is not installed"
    )
    page, _, _ = open_heatmap(chromium, hostile / "heat.html", color_scheme=scheme,
                              viewport={"width": 390, "height": 800}, bypass_csp=True)  # fmt: skip
    violations = axe.Axe().run(page).response["violations"]
    assert [
        (violation["id"], violation["nodes"][0]["html"][:160]) for violation in violations
    ] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.context.close()


def test_the_explorer_shows_values_until_they_are_switched_off(
    open_page: Open, hostile: Path
) -> None:
    """Every hostile completion reads as it was written, token by token; the address keeps it."""
    opened = open_page(hostile / "page.html")
    page = opened.page
    for index, text in enumerate(HOSTILE):
        page.evaluate(f"location.hash = 'problem={index}'")
        until(page, "document.querySelector('#detail h3').textContent", f"Problem {index}")
        # Each token by itself, so that what is drawn as one character may be several tokens.
        shown = page.evaluate("document.querySelector('.completion .tokens').textContent")
        assert shown == "".join(map(shown_text, [*text, "<eos>"]))
    assert "verifier 1.00" in page.inner_text(".completion h4")
    page.uncheck("#f-values")
    until(page, "document.querySelectorAll('.completion .tokens').length", "0")
    assert "values=no" in page.evaluate("location.hash")
    again = open_page(hostile / "page.html", page.evaluate("location.hash")).page
    assert not again.is_checked("#f-values")
    assert again.locator(".completion .text").count() == 1
    assert opened.console == []


def test_axe_finds_nothing_in_an_explorer_with_values(open_page: Open, hostile: Path) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe is not installed"
    )
    page = open_page(hostile / "page.html", "#problem=5", bypass_csp=True).page
    violations = axe.Axe().run(page).response["violations"]
    serious = [
        violation["id"]
        for violation in violations
        if violation["impact"] in ("serious", "critical", "moderate")
    ]
    assert serious == []


def test_a_page_without_values_has_no_switch(open_page: Open, tmp_path: Path) -> None:
    problems, answers = scored(tmp_path, ["#### 5"], [0.5])
    (tmp_path / "answers.verifier-scores.jsonl").unlink()
    result = run_script("report", answers, "-d", problems, "-o", tmp_path / "page.html")
    assert result.status == 0, result.err
    assert open_page(tmp_path / "page.html").page.locator("#f-values").count() == 0
