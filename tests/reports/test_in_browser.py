"""Pages in a real browser: nothing runs but their own script, and the explorer works."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.browser import Open, accessibility_faults, shown_text, until
from tests.support.browser import chromium as chromium  # a fixture
from tests.support.browser import open_page as open_page  # a fixture
from tests.support.command import run_script
from tests.support.files import jsonl
from tests.support.report_page import HOSTILE, valued_files
from tests.support.view import SECONDS, View
from tests.support.view import view as view  # a fixture

pytestmark = pytest.mark.slow  # a browser, and pages made by processes of their own
SAMPLES = 30
TITLE = "document.querySelector('#detail h3').textContent"


def page_of(folder: Path, problems: list[dict[str, str]], answers: list[dict[str, object]]) -> Path:
    files = jsonl(folder / "problems.jsonl", problems), jsonl(folder / "answers.jsonl", answers)
    ended = run_script("report", files[1], "-d", files[0], "-o", folder / "page.html", "--id-base",
                       0)  # fmt: skip
    assert ended.status == 0, ended.err
    return folder / "page.html"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page whose questions, runs and completions are hostile."""
    problems = [{"question": f"{text} how many?", "answer": "5"} for text in HOSTILE]
    name = "</title><script>document.title='owned'</script>"
    answers: list[dict[str, object]] = [
        {"index": index, "completion": text, "run": name} for index, text in enumerate(HOSTILE)
    ]
    return page_of(tmp_path_factory.mktemp("hostile"), problems, answers)


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of 200 problems with 30 samples each; sample s of problem p is right if s > p / 10."""
    problems = [{"question": f"What is {i}?", "answer": str(i)} for i in range(200)]
    answers: list[dict[str, object]] = [
        {"index": p, "sample": s,
         "completion": f"Some 7 words.\nThe answer is {p if s > p / 10 else p + 1}."}
        for p in range(200) for s in range(SAMPLES)
    ]  # fmt: skip
    return page_of(tmp_path_factory.mktemp("sampled"), problems, answers)


@pytest.fixture(scope="module")
def valued(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with heat.html and page.html of hostile texts whose tokens are characters."""
    folder = tmp_path_factory.mktemp("valued")
    values = [index / (len(HOSTILE) - 1) for index in range(len(HOSTILE))]
    problems, answers = valued_files(folder, HOSTILE, values)
    ended = run_script("report", answers, "-d", problems, "--heatmap", folder / "heat.html", "-o",
                       folder / "page.html")  # fmt: skip
    assert ended.status == 0, ended.err
    return folder


def tally(page: Any) -> str:
    return str(page.inner_text("#tally"))


def test_hostile_text_is_shown_and_nothing_of_it_runs(open_page: Open, hostile: Path) -> None:
    opened = open_page(hostile)
    page = opened.page
    for index, text in enumerate(HOSTILE):
        page.evaluate(f"location.hash = 'problem={index}'")
        until(page, TITLE, f"Problem {index}")
        shown = page.evaluate("document.querySelector('.completion .text').textContent")
        assert shown == shown_text(text)
        active = "#detail :is(script, img, iframe, svg, style, base, a[href^=javascript])"
        assert page.locator(active).count() == 0
    assert (opened.console, opened.requests) == ([], [hostile.as_uri()])
    assert page.title().startswith("</title><script>")
    emoji = open_page(hostile, f"#problem={HOSTILE.index('emoji 😀😀 then #### 5')}").page
    assert emoji.inner_text(".completion mark.chosen") == "5"


def test_filters_search_and_links(open_page: Open, sampled: Path) -> None:
    opened = open_page(sampled)
    page = opened.page
    assert tally(page) == "200 problems, 6,000 completions"
    right = sum(s > p / 10 for p in range(200) for s in range(SAMPLES))
    for outcome, number in (("not", 6000 - right), ("0", right)):
        page.select_option("#f-out", outcome)
        assert tally(page) == f"200 of 200 problems, {number:,} of 6,000 completions"
    page.fill("#f-q", "answer is 57")
    until(page, "document.querySelector('#tally').textContent", "1 of 200")
    assert page.inner_text("#detail h3") == "Problem 57"
    again = open_page(sampled, page.evaluate("location.hash")).page
    assert (tally(again), again.input_value("#f-q")) == (tally(page), "answer is 57")
    page.click("#f-reset")
    until(page, "document.querySelector('#tally').textContent", "200 problems")
    assert opened.console == []
    index = 12 * SAMPLES + 25
    linked = open_page(sampled, f"#problem=12&completion={index}").page
    assert linked.inner_text(f"#c-{index} h4").startswith("correct · sample 25")
    assert linked.locator(f"#c-{index}").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390])
def test_the_page_is_accessible(open_page: Open, sampled: Path, scheme: str, width: int) -> None:
    size = {"width": width, "height": 844}
    # axe is a script in the page, which the page refuses.
    page = open_page(sampled, color_scheme=scheme, viewport=size, bypass_csp=True).page
    assert accessibility_faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_arrows_say_the_values_of_hostile_tokens(chromium: Any, valued: Path) -> None:
    page = chromium.new_context(bypass_csp=True, viewport={"width": 390, "height": 800}).new_page()
    faults: list[str] = []
    page.on("console", lambda message: faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto((valued / "heat.html").as_uri())
    assert page.locator("main :is(script, img, iframe, svg, style, base, a)").count() == 0
    page.locator(".tokens").first.focus()
    said = page.locator("output").first
    assert said.inner_text().startswith("Value ")
    page.keyboard.press("ArrowRight")
    assert re.match(r"\d\.\d\d after “.+”, token 1 of \d+", said.inner_text())
    page.keyboard.press("End")
    assert "after “<eos>”" in said.inner_text()
    page.keyboard.press("Home")
    assert ", token 1 of" in said.inner_text()
    page.hover(".tokens >> nth=1 >> .tok >> nth=1")
    assert "token 2 of" in page.locator("output").nth(1).inner_text()
    assert faults == []
    assert accessibility_faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.context.close()


def test_the_explorer_shows_values_until_switched_off(open_page: Open, valued: Path) -> None:
    opened = open_page(valued / "page.html")
    page = opened.page
    for index, text in enumerate(HOSTILE):
        page.evaluate(f"location.hash = 'problem={index}'")
        until(page, TITLE, f"Problem {index}")
        # Each token by itself, so that what is drawn as one character may be several tokens.
        shown = page.evaluate("document.querySelector('.completion .tokens').textContent")
        assert shown == "".join(map(shown_text, [*text, "<eos>"]))
    assert "verifier 1.00" in page.inner_text(".completion h4")
    page.uncheck("#f-values")
    until(page, "document.querySelectorAll('.completion .tokens').length", "0")
    again = open_page(valued / "page.html", page.evaluate("location.hash")).page
    assert not again.is_checked("#f-values")
    assert again.locator(".completion .text").count() == 1
    assert opened.console == []


@pytest.mark.parametrize("width", [390, 1200])
def test_runs_are_listed_and_seen_side_by_side(open_page: Open, view: View, width: int) -> None:
    size = {"width": width, "height": 900}
    assert accessibility_faults(open_page(view.address, viewport=size, bypass_csp=True).page) == []
    opened = open_page(view.address, viewport=size)
    page = opened.page
    names = page.locator(".board tbody th a").all_inner_texts()
    assert names == ["chat", "cot"]  # the more accurate first
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.fill("#runs-q", "cot")
    assert page.locator(".board tbody tr:visible").count() == 1
    page.fill("#runs-q", "")
    for box in page.locator("input[type=checkbox]").all():
        box.check()
    page.click("#compare")
    page.wait_for_selector("html[data-ready]", timeout=1000 * SECONDS)
    assert "2 runs on" in page.inner_text("h1")
    assert page.locator("#detail .completion").count() == 2  # both answers to the first problem
    page.locator("details.prompt summary").first.click()
    page.wait_for_selector("details.prompt .role")
    assert page.locator("details.prompt .role").all_inner_texts() == ["system", "user"]
    page.click("text=All runs")
    page.wait_for_selector("#board table")
    assert opened.console == []
    assert all(url.startswith(view.address) for url in opened.requests)
