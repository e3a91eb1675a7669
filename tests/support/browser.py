"""A real browser for tests of pages: Debian's chromium under Playwright, else the test is skipped.

A page is opened from the disk with the network watched: `Opened` holds what it logged and asked.
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
class Opened:
    """A page, its console messages, its errors and the addresses that it asked for."""

    page: Any
    console: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


Open = Callable[..., Opened]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A running browser; skips in words where there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"no browser is installed (looked for {', '.join(BROWSERS)})")
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=found)
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium: Any) -> Iterator[Open]:
    """Open a file and wait until its explorer is ready."""
    contexts = []

    def opened(path: Path, hash: str = "", **options: Any) -> Opened:
        context = chromium.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        found = Opened(page)
        page.on("console", lambda message: found.console.append(message.text))
        page.on("pageerror", lambda error: found.console.append(str(error)))

        def dismiss(dialog: Any) -> None:
            found.console.append("a dialog")
            dialog.dismiss()

        page.on("dialog", dismiss)
        page.on("request", lambda request: found.requests.append(request.url))
        page.goto(path.as_uri() + hash)
        page.wait_for_selector("html[data-ready]", timeout=1000 * SECONDS)
        return found

    yield opened
    for context in contexts:
        context.close()
