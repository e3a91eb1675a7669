"""The documentation site: built strictly, complete, readable without a network."""

import re
import subprocess
import sys
from collections.abc import Sequence
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import gradeschool
from gradeschool import Problem
from gradeschool.cli import COMMANDS
from gradeschool.protocols.registry import all_protocols, all_scorers, packages
from tests.support.browser import chromium as chromium  # a fixture

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.xdist_group("site")  # it is built once
ADDRESS = re.compile(
    r"""<(?:script|link|img|iframe|source)\b[^>]*?\b(?:src|href)=["']?([^"'\s>]+)"""
)
PHONE = {"width": 390, "height": 844}
SHOWN = ("index.html", "harnesses/olmes.html", "integrations.html")
LONG = 60  # characters of a question that no other text has


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site; whatever MkDocs, a plugin or Python warns about is an error."""
    pytest.importorskip("material", reason="mkdocs-material is not installed (group docs)")
    folder = tmp_path_factory.mktemp("site")
    mkdocs = [sys.executable, "-W", "error", "-m", "mkdocs"]
    # The notice is about the theme's end of life in 2027: known, and no warning about these pages.
    process = subprocess.run(
        [*mkdocs, "build", "--strict", "-d", folder],
        cwd=ROOT,
        env={"NO_MKDOCS_2_WARNING": "1", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert process.returncode == 0, process.stderr
    assert "WARNING" not in process.stderr
    return folder


@pytest.fixture(scope="module")
def texts(site: Path) -> dict[str, str]:
    """The words of every page by its address."""
    return {
        str(path.relative_to(site)): unescape(re.sub(r"<[^>]+>", "", path.read_text("utf-8")))
        for path in site.rglob("*.html")
    }


def test_every_public_name_is_on_the_site(site: Path, texts: dict[str, str]) -> None:
    for index, names in (("protocols", all_protocols()), ("scorers", all_scorers())):
        assert all(name in texts[f"{index}.html"] for name in names)
    assert len(list((site / "harnesses").glob("*.html"))) == len(packages())
    page = texts["harnesses/lm-eval.html"]
    first = gradeschool.load_dataset("sample").problems[0].question
    assert f"Question: {first}\nAnswer:" in page
    assert "[question of exemplar 1 of 5: gsm8k:train, row 6374]" in page
    assert "greedy, 256 tokens" in page
    assert "18. She keeps 7" in page
    assert all(f"Usage: gradeschool {verb}" in texts["commands.html"] for verb in COMMANDS)
    reference = (site / "reference.html").read_text("utf-8")
    for name in set(gradeschool.__all__) - {"__version__"}:
        assert re.search(rf'id="gradeschool\.(errors\.)?{name}"', reference), name


@pytest.mark.official
def test_no_page_holds_a_problem_or_an_exemplar_of_others(
    texts: dict[str, str], gsm8k_test: Sequence[Problem], gsm8k_train: Sequence[Problem]
) -> None:
    exemplars = gradeschool.load_dataset("wei2022").problems
    foreign = {problem.question[:LONG] for problem in (*gsm8k_test, *gsm8k_train, *exemplars)}
    text = "\n".join(texts.values())
    # Every text of LONG characters that a page holds, against a set: one pass.
    pieces = (text[start : start + LONG] for start in range(len(text)))
    assert not [piece for piece in pieces if piece in foreign]


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        for address in ADDRESS.findall(page.read_text("utf-8")):
            assert not re.match(r"(?:https?:)?//", address), (page, address)
    assert not [path for path in site.rglob("*.css") if "url(http" in path.read_text("utf-8")]


@pytest.mark.parametrize(
    ("scheme", "options"), [("light", {}), ("dark", {}), ("light", {"viewport": PHONE})]
)
def test_pages_open_from_the_disk_and_have_no_serious_fault_of_access(
    site: Path, chromium: Any, scheme: str, options: dict[str, Any]
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    for address in SHOWN:
        events: list[str] = []
        page = chromium.new_context(color_scheme=scheme, **options).new_page()
        page.on("console", lambda message, events=events: events.append(message.text))
        page.on("pageerror", lambda error, events=events: events.append(str(error)))
        page.on("request", lambda request, events=events: events.append(request.url))
        page.goto((site / address).as_uri())
        page.add_style_tag(content="* { transition: none !important }")
        width = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert width <= 0, f"{address} is too wide for {options}"
        assert not [event for event in events if not event.startswith("file:")]
        violations = [] if options else axe.run(page).response["violations"]
        grave = [
            (violation["id"], [node["html"] for node in violation["nodes"]][:3])
            for violation in violations
            if violation["impact"] in ("serious", "critical")
        ]
        assert not grave, address
        page.context.close()
