"""`gradeschool view`: who may see the pages, what they show, and that they follow a run."""

from __future__ import annotations

import html
import http.client
import json
import shutil
import signal
import socket
import struct
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

import gradeschool as package
from tests.support.browser import chromium as chromium  # a fixture
from tests.support.command import SCRIPT, Command, run_script
from tests.support.command import gradeschool as gradeschool  # a fixture

READY = "html[data-ready]"
SECONDS = 30


class View(NamedTuple):
    """A running `gradeschool view`: its folder and its address."""

    folder: Path
    address: str

    def get(self, path: str, host: str = "") -> tuple[int, str, dict[str, str]]:
        """Return status, body and headers of a path below the token, or of "/..." itself."""
        parts = urlsplit(self.address)
        connection = http.client.HTTPConnection(parts.netloc, timeout=SECONDS)
        whole = path if path.startswith("/") else f"{parts.path}{path}"
        connection.request("GET", whole, headers={"Host": host} if host else {})
        response = connection.getresponse()
        body = response.read().decode()
        connection.close()
        return response.status, body, dict(response.getheaders())


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> Iterator[View]:
    """A server over two runs of the shipped sample."""
    folder = tmp_path_factory.mktemp("view") / "runs"
    for style in ("chat", "cot"):
        model = f"recorded/sample#handwritten/{style}"
        ended = run_script("eval", "-m", model, "-d", "sample", "-o", folder / style, "--quiet")
        assert ended.status == 0, ended.err
    server = subprocess.Popen(
        [SCRIPT, "view", folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert server.stdout
    address = server.stdout.readline().strip()
    assert address.startswith("http://127.0.0.1:")
    try:
        yield View(folder, address)
    finally:
        server.send_signal(signal.SIGINT)
        out, err = server.communicate(timeout=SECONDS)
    assert (server.returncode, out, err) == (0, "", "stopped\n")


def test_only_the_address_that_was_printed_opens(view: View) -> None:
    for path in ("/", "/state", "/wrong/", "/wrong/state", "/../etc/passwd", "//"):
        status, body, _ = view.get(path)
        assert (status, body) == (403, "Open the address that was printed.\n"), path
    assert view.get("", host="evil.example")[0] == 403
    status, body, headers = view.get("")
    assert status == 200
    assert "connect-src 'self'; " in html.unescape(body)
    assert headers["Cache-Control"] == "no-store"
    assert headers["Referrer-Policy"] == "no-referrer"


def test_the_state_is_the_leaderboard(view: View) -> None:
    rows = {row["name"]: row for row in json.loads(view.get("state")[1])}
    assert {name: (row["answered"], row["planned"]) for name, row in rows.items()} == {
        "chat": (48, 48),
        "cot": (48, 48),
    }
    assert rows["chat"]["accuracy"] == pytest.approx(43 / 48)
    assert rows["cot"]["protocol"] == "zero-shot/chat"


def test_a_browser_that_closes_a_page_while_it_loads_is_no_error(view: View) -> None:
    """The fixture checks that nothing else than "stopped" is on stderr."""
    parts = urlsplit(view.address)
    for path in ("", "run?run=chat", "state"):
        with socket.create_connection((parts.hostname, parts.port)) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            request = f"GET {parts.path}{path} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n"
            connection.sendall(request.encode())
    assert view.get("state")[0] == 200


def test_the_list_says_that_it_loads(view: View) -> None:
    assert '<p id="status" role="status" class="tally">Loading</p>' in view.get("")[1]


@pytest.mark.parametrize("query", ["", "?run=absent", "?run=../runs/chat", "?run=chat&run=absent"])
def test_a_run_that_is_not_there_is_not_served(view: View, query: str) -> None:
    status, body, _ = view.get(f"run{query}")
    assert status == 404
    assert body.startswith("no such runs")
    assert view.get("page.html")[0] == 404


def test_too_many_runs_for_one_page_are_called_so(view: View) -> None:
    query = "&".join(f"run={number}" for number in range(13))
    status, body, _ = view.get(f"run?{query}")
    assert (status, body) == (404, "at most 12 runs on one page; 13 are selected\n")


def test_what_view_refuses(gradeschool: Command, tmp_path: Path) -> None:
    refused = gradeschool("view", tmp_path / "absent")
    assert (refused.status, refused.out) == (2, "")
    assert "is not a folder" in refused.err


def opened(chromium: Any, address: str, **options: Any) -> tuple[Any, list[str]]:
    """Open an address; return the page, and what it logged or asked of another server."""
    page = chromium.new_context(**options).new_page()
    faults: list[str] = []
    page.on("console", lambda message: faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    own = urlsplit(address).netloc

    def check(request: Any) -> None:
        if urlsplit(request.url).netloc != own:
            faults.append(request.url)

    page.on("request", check)
    page.goto(address)
    page.wait_for_selector(READY, timeout=1000 * SECONDS)
    return page, faults


@pytest.mark.parametrize("width", [390, 1200])
def test_runs_are_listed_filtered_and_seen_side_by_side(
    chromium: Any, view: View, width: int
) -> None:
    page, faults = opened(chromium, view.address, viewport={"width": width, "height": 900})
    names = page.locator(".board tbody th a").all_inner_texts()
    assert names == ["chat", "cot"]  # the more accurate first
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.fill("#runs-q", "cot")
    assert page.locator(".board tbody tr").count() == 1
    page.fill("#runs-q", "")
    for box in page.locator("input[type=checkbox]").all():
        box.check()
    page.click("#compare")
    page.wait_for_selector(READY, timeout=1000 * SECONDS)
    assert "2 runs on" in page.inner_text("h1")
    assert page.locator("#detail .completion").count() == 2  # both answers to the first problem
    page.locator("details.prompt summary").first.click()
    page.wait_for_selector("details.prompt .role")
    assert page.locator("details.prompt .role").all_inner_texts() == ["system", "user"]
    page.click("text=All runs")
    page.wait_for_selector("#board table")
    assert faults == []


def test_a_run_is_followed_while_it_goes(chromium: Any, view: View) -> None:
    steps = [threading.Event() for _ in range(2)]
    asked = iter(range(1000))

    def model(messages: object) -> str:
        number = next(asked)
        if number in (4, 8):
            assert steps[number // 4 - 1].wait(SECONDS)
        return "#### 600"

    def work() -> None:
        package.evaluate(model, dataset="sample", limit=10, output=view.folder / "going",
                         name="slow", connections=1)  # fmt: skip

    thread = threading.Thread(target=work)
    thread.start()
    try:
        page, faults = opened(chromium, view.address)
        row = page.locator("tr.going", has_text="going")
        row.get_by_text("4 of 10").wait_for(timeout=1000 * SECONDS)
        report, more_faults = opened(chromium, f"{view.address}run?run=going")
        report.get_by_text("4 of 10 answered").wait_for(timeout=1000 * SECONDS)
        steps[0].set()
        row.get_by_text("8 of 10").wait_for(timeout=1000 * SECONDS)
        report.get_by_text("Show 4 new answers").click()
        report.wait_for_selector(READY, timeout=1000 * SECONDS)
        assert "of 8 correct" in " ".join(report.inner_text("main").split())
    finally:
        for step in steps:
            step.set()
        thread.join(SECONDS)
    page.get_by_text("10 of 10").wait_for(timeout=1000 * SECONDS)
    assert page.locator("tr.going", has_text="going").count() == 0
    assert faults + more_faults == []
    shutil.rmtree(view.folder / "going")  # the other tests share the server


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_the_leaderboard(chromium: Any, view: View, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page, _ = opened(chromium, view.address, color_scheme=scheme, bypass_csp=True)
    results = axe.Axe().run(page).response["violations"]
    assert [item["id"] for item in results if item["impact"] in ("serious", "critical")] == []
