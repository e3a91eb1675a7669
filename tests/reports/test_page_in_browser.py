"""The report in a real browser: nothing runs but its own script, and the explorer works."""

import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from tests.support.browser import Open
from tests.support.browser import chromium as chromium  # a fixture
from tests.support.browser import open_page as open_page  # a fixture
from tests.support.command import run_script
from tests.support.hostile_report import HOSTILE

SAMPLES = 30


def rows_of(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page whose questions, golds, runs and completions are hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    problems = rows_of(
        folder / "problems.jsonl",
        [{"question": f"{text} how many?", "answer": "5"} for text in HOSTILE],
    )
    answers = rows_of(
        folder / "answers.jsonl",
        [
            {
                "index": index,
                "completion": text,
                "run": "</title><script>document.title='owned'</script>",
            }
            for index, text in enumerate(HOSTILE)
        ],
    )
    result = run_script("report", answers, "-d", problems, "-o", folder / "page.html")
    assert result.status == 0, result.err
    return folder / "page.html"


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of 200 problems with 30 samples each; sample s of problem p is right if s > p / 10."""
    folder = tmp_path_factory.mktemp("sampled")
    problems = rows_of(
        folder / "problems.jsonl",
        [{"question": f"What is {i}?", "answer": str(i)} for i in range(200)],
    )
    answers = rows_of(
        folder / "answers.jsonl",
        [
            {
                "index": p,
                "sample": s,
                "completion": f"Some 7 words.\nThe answer is {p if s > p / 10 else p + 1}.",
            }
            for p in range(200)
            for s in range(SAMPLES)
        ],
    )
    options = ("-d", problems, "--id-base", 0)
    result = run_script("report", answers, *options, "-o", folder / "page.html")
    assert result.status == 0, result.err
    return folder / "page.html"


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of two runs that differ on the last 3 of 20 problems."""
    folder = tmp_path_factory.mktemp("several")
    problems = rows_of(
        folder / "problems.jsonl",
        [{"question": f"What is {i}?", "answer": str(i)} for i in range(20)],
    )
    answers = rows_of(
        folder / "answers.jsonl",
        [
            {"index": p, "run": run, "completion": f"#### {p + (p >= 17 and run == 'b')}"}
            for run in ("a", "b")
            for p in range(20)
        ],
    )
    result = run_script("report", answers, "-d", problems, "-o", folder / "page.html")
    assert result.status == 0, result.err
    return folder / "page.html"


def shown_text(text: str) -> str:
    """Return a text as the page shows it: what cannot be seen stands there by number."""
    return "".join(
        f"U+{ord(char):04X}"
        if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co") and char not in "\n\t\u200d"
        else char
        for char in text
    )


def until(page: Any, expression: str, expected: str) -> None:
    """Wait for a value; Playwright's own waiting needs eval, which the page forbids."""
    for _ in range(200):
        value = str(page.evaluate(expression))
        if value.startswith(expected):
            return
        page.wait_for_timeout(25)
    pytest.fail(f"{expression} is {value!r}, not {expected!r}")


def tally(page: Any) -> str:
    return str(page.inner_text("#tally"))


def test_hostile_text_is_shown_and_nothing_of_it_runs(open_page: Open, hostile: Path) -> None:
    """Every completion reads as it was written; no script, no dialog, no error, no request."""
    opened = open_page(hostile)
    page = opened.page
    for index, text in enumerate(HOSTILE):
        page.evaluate(f"location.hash = 'problem={index}'")
        until(page, "document.querySelector('#detail h3').textContent", f"Problem {index}")
        assert page.evaluate(
            "document.querySelector('.completion .text').textContent"
        ) == shown_text(text)
        active = "#detail :is(script, img, iframe, svg, style, base, a[href^=javascript])"
        assert page.locator(active).count() == 0
    assert opened.console == []
    assert opened.requests == [hostile.as_uri()]
    assert page.title().startswith("</title><script>")


def test_characters_that_cannot_be_seen_are_named(open_page: Open, hostile: Path) -> None:
    """Direction marks, escapes and lone surrogates stand there by number."""
    page = open_page(hostile, "#q=abc").page
    index = HOSTILE.index("\u202eabc\u202c \u2066x\u2069 \u200b\ufeff")
    page.evaluate(f"location.hash = 'problem={index}'")
    until(page, "document.querySelector('#detail h3').textContent", f"Problem {index}")
    assert page.inner_text(".completion .text").startswith("U+202EabcU+202C U+2066x")


def test_a_reading_is_marked_behind_characters_of_two_units(open_page: Open, hostile: Path) -> None:
    """Places are counted as the browser counts, so that the mark is on the number."""
    index = HOSTILE.index("emoji 😀😀 then #### 5")
    page = open_page(hostile, f"#problem={index}").page
    assert page.inner_text(".completion mark.chosen") == "5"


def test_filters_search_and_links(open_page: Open, sampled: Path) -> None:
    """Counts follow the filters; the address holds the state and brings it back."""
    opened = open_page(sampled)
    page = opened.page
    assert tally(page) == "200 problems, 6,000 completions"
    right = sum(s > p / 10 for p in range(200) for s in range(SAMPLES))
    page.select_option("#f-out", "not")
    assert tally(page) == f"200 of 200 problems, {6000 - right:,} of 6,000 completions"
    page.select_option("#f-out", "0")
    assert tally(page) == f"200 of 200 problems, {right:,} of 6,000 completions"
    page.fill("#f-q", "answer is 57")
    until(page, "document.querySelector('#tally').textContent", "1 of 200")
    assert page.inner_text("#detail h3") == "Problem 57"
    address = page.evaluate("location.hash")
    again = open_page(sampled, address).page
    assert tally(again) == tally(page)
    assert again.input_value("#f-q") == "answer is 57"
    page.click("#f-reset")
    until(page, "document.querySelector('#tally').textContent", "200 problems")
    assert opened.console == []


def test_a_link_names_the_problem_of_its_dataset(open_page: Open, tmp_path: Path) -> None:
    """The problems of two datasets have the same ids."""
    runs = []
    for number in (3, 4):
        problems = rows_of(
            tmp_path / f"{number}.jsonl",
            [{"question": f"What is {number}?", "answer": str(number)}],
        )
        answers = rows_of(tmp_path / "answers.jsonl", [{"index": 0, "completion": "#### 3"}])
        runs.append(tmp_path / str(number))
        ended = run_script("eval", "-m", f"recorded/{answers}", "-p", "zero-shot/chat",
                           "-d", problems, "-o", runs[-1], "--quiet")  # fmt: skip
        assert ended.status == 0, ended.err
    result = run_script("report", *runs, "-o", tmp_path / "page.html")
    assert result.status == 0, result.err
    shown = []
    for link in ("#problem=0", "#problem=0&number=2"):
        page = open_page(tmp_path / "page.html", link).page
        shown.append((page.inner_text("#detail .question"), page.evaluate("location.hash")))
    assert [text for text, _ in shown] == ["What is 3?", "What is 4?"]
    assert ["number=2" in address for _, address in shown] == [False, True]


def test_a_link_to_one_completion_shows_it(open_page: Open, sampled: Path) -> None:
    """Further than the first ten of a problem, and in sight."""
    index = 12 * SAMPLES + 25
    page = open_page(sampled, f"#problem=12&completion={index}").page
    assert page.inner_text(f"#c-{index} h4").startswith("correct · sample 25")
    assert page.evaluate(
        f"(() => {{ const box = document.getElementById('c-{index}').getBoundingClientRect();"
        "return box.top < innerHeight && box.bottom > 0; })()"
    )


def test_the_list_is_worked_by_keys_and_holds_only_what_is_seen(
    open_page: Open, sampled: Path
) -> None:
    """Arrows, Home and End choose; Enter goes to the problem; a few dozen rows exist at most."""
    page = open_page(sampled).page
    page.focus("#list")
    page.keyboard.press("ArrowDown")
    until(page, "document.querySelector('#detail h3').textContent", "Problem 1")
    page.keyboard.press("End")
    until(page, "document.querySelector('#detail h3').textContent", "Problem 199")
    assert page.locator(".row").count() < 60
    active = page.get_attribute("#list", "aria-activedescendant")
    assert page.get_attribute(f"#{active}", "aria-posinset") == "200"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "detail"


def test_a_scorer_of_the_table_leads_to_where_it_disagrees(open_page: Open, hostile: Path) -> None:
    """The links of the static part are links into the explorer."""
    page = open_page(hostile).page
    link = page.locator(".scorers a[href^='#vs=']").first
    name = link.inner_text()
    link.click()
    until(page, "location.hash.includes('vs=')", "True")
    chosen = page.evaluate("document.querySelector('#f-vs').selectedOptions[0].textContent")
    assert chosen == name
    assert " of " in tally(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390])
def test_axe_finds_nothing_serious(open_page: Open, sampled: Path, scheme: str, width: int) -> None:
    """Accessibility, in both colour schemes, wide and on a phone; and no sideways scrolling."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe is not installed"
    )
    page = open_page(
        sampled,
        color_scheme=scheme,
        viewport={"width": width, "height": 844},
        bypass_csp=True,  # axe is a script of ours in the page, which the page rightly refuses
    ).page
    violations = axe.Axe().run(page).response["violations"]
    serious = [
        (violation["id"], violation["nodes"][0]["html"][:160])
        for violation in violations
        if violation["impact"] in ("serious", "critical", "moderate")
    ]
    assert serious == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_problems_on_which_runs_differ_are_found(open_page: Open, several: Path) -> None:
    """The outcome "mixed" leaves them alone; a link to a run opens its part of the page."""
    page = open_page(several, "#out=mixed").page
    assert tally(page) == "3 of 20 problems, 6 of 40 completions"
    page.click("a[href='#run-1']")
    until(page, "document.querySelector('#run-1').open", "True")


def test_axe_finds_nothing_on_a_page_of_several_runs(open_page: Open, several: Path) -> None:
    """With every part of it open."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe is not installed"
    )
    page = open_page(several, bypass_csp=True).page
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    violations = axe.Axe().run(page).response["violations"]
    assert [
        (violation["id"], violation["nodes"][0]["html"][:160]) for violation in violations
    ] == []


def test_without_a_script_the_figures_are_there(chromium: Any, sampled: Path) -> None:
    """Everything but the explorer reads without JavaScript."""
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(sampled.as_uri())
    assert "Reporting checklist" in page.inner_text("main")
    assert "needs JavaScript" in page.inner_text("#explorer")
    assert page.locator("svg.strip circle").count() > 3
    context.close()
