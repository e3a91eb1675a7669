"""A real browser for tests of pages: Debian's chromium under Playwright, else the test is skipped.

A page is opened from the disk; `OpenedPage` records its console messages and requests.
"""

import shutil
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
    """Open a file and wait until its explorer is ready."""
    contexts = []

    def open_file(path: Path, hash: str = "", **options: Any) -> OpenedPage:
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
        page.goto(path.as_uri() + hash)
        page.wait_for_selector("html[data-ready]", timeout=1000 * SECONDS)
        return record

    yield open_file
    for context in contexts:
        context.close()
