"""A real browser for tests of pages: Debian's chromium under Playwright, else the test is skipped.

A page is opened from the disk; `OpenedPage` records its console messages and requests.
"""

import shutil
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SECONDS = 60


@dataclass
class OpenedPage:
    """A page, its console messages, its errors and the URLs of its requests."""

    page: Any
    console: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


Open = Callable[..., OpenedPage]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A running browser; skips the test if there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    executable = next(filter(None, map(shutil.which, BROWSERS)), None)
    if executable is None:
        pytest.skip(f"no browser is installed (looked for {', '.join(BROWSERS)})")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=executable)
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium: Any) -> Iterator[Open]:
    """Open a file or an address and wait until its script is ready."""
    contexts = []

    def open_file(address: Path | str, hash: str = "", **options: Any) -> OpenedPage:
        context = chromium.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        record = OpenedPage(page)
        page.on("console", lambda message: record.console.append(message.text))
        page.on("pageerror", lambda error: record.console.append(str(error)))

        def dismiss(dialog: Any) -> None:
            record.console.append("a dialog")
            dialog.dismiss()

        page.on("dialog", dismiss)
        page.on("request", lambda request: record.requests.append(request.url))
        page.goto(f"{address.as_uri() if isinstance(address, Path) else address}{hash}")
        page.wait_for_selector("html[data-ready]", timeout=1000 * SECONDS)
        return record

    yield open_file
    for context in contexts:
        context.close()


def shown_text(text: str) -> str:
    """Return a text as a page shows it: what cannot be seen stands there by number."""
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


def accessibility_faults(page: Any) -> list[tuple[str, str]]:
    """Return what axe-core finds, without what is minor; skips the test without axe."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe is not installed"
    )
    violations = axe.Axe().run(page).response["violations"]
    return [(each["id"], each["nodes"][0]["html"][:160]) for each in violations
            if each["impact"] in ("serious", "critical", "moderate")]  # fmt: skip
