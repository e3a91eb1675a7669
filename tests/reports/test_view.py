"""`gradeschool view`: who may see the pages, what they show, and what it survives."""

import html
import shutil
import socket
import struct
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from gradeschool import evaluate
from gradeschool.errors import InputError
from gradeschool.reports.viewer import RunViewer
from tests.support.recorded_run import accuracy
from tests.support.recorded_run import run as run  # a fixture
from tests.support.view import View
from tests.support.view import view as view  # a fixture


def test_only_the_printed_address_opens(view: View) -> None:
    for path in ("/", "/wrong/", "/wrong/run", "/../etc/passwd", "//"):
        status, body, _ = view.get(path)
        assert (status, body) == (403, "Open the address that was printed.\n"), path
    assert view.get("", host="evil.example")[0] == 403
    status, body, headers = view.get("")
    assert status == 200
    assert "connect-src 'none'; " in html.unescape(body)
    assert "48 of 48" in body
    assert headers["Cache-Control"] == "no-store"
    assert headers["Referrer-Policy"] == "no-referrer"


def test_a_browser_that_closes_a_page_while_it_loads_is_no_error(view: View) -> None:
    """The fixture checks that nothing else than "stopped" is on stderr."""
    parts = urlsplit(view.address)
    for path in ("", "run?run=chat"):
        with socket.create_connection((parts.hostname, parts.port)) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            request = f"GET {parts.path}{path} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n"
            connection.sendall(request.encode())
    assert view.get("")[0] == 200


@pytest.mark.parametrize("query", ["", "?run=absent", "?run=../runs/chat", "?run=chat&run=absent"])
def test_a_run_that_is_not_there_is_not_served(view: View, query: str) -> None:
    status, body, _ = view.get(f"run{query}")
    assert status == 404
    assert body.startswith("no such runs")
    assert view.get("page.html")[0] == 404


def test_a_row_of_the_leaderboard_follows_its_run(run: Path) -> None:
    viewer = RunViewer(run.parent)
    (row,) = viewer.rows()
    assert (row["name"], row["protocol"]) == ("chat", "zero-shot/chat")
    assert (row["answered"], row["planned"], row["failed"]) == (48, 48, 0)
    assert f"{100 * row['accuracy']:.2f} %" == accuracy(run)
    assert row["interval"][0] < row["accuracy"] < row["interval"][1]
    stored = run / "completions.jsonl"
    stored.write_bytes(b"".join(stored.read_bytes().splitlines(keepends=True)[:20]))
    (row,) = viewer.rows()
    assert (row["answered"], row["planned"]) == (20, 48)


def test_a_scorer_that_fails_on_texts_gives_bounds(tmp_path: Path) -> None:
    """The number that inspect cannot hold is too large for a float."""
    texts = iter(["ANSWER: 600", "ANSWER: 1", *["九" * 400] * 2])
    evaluate(lambda prompt: next(texts), "inspect/gsm8k-0shot", "sample", limit=4,
             output=tmp_path / "runs" / "some", connections=1)  # fmt: skip
    viewer = RunViewer(tmp_path / "runs")
    (row,) = viewer.rows()
    low, high = row["percent"].split(" to ")
    assert float(high) - float(low) == 50
    assert row["interval"][0] < float(low) / 100 < float(high) / 100 < row["interval"][1]
    assert f'<td class="number">{row["percent"]}</td>' in viewer.index()
    assert "2 errors here: the scorer itself fails" in viewer.report(["some"])


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("run.json", b"{"),
        ("run.json", b'{"protocol": 5, "dataset": [], "decoding": "x", "engine": 1}'),
        ("completions.jsonl", b"\xff\xfe not JSON\n" * 3),
        ("completions.jsonl", None),  # a folder
    ],
)
def test_a_damaged_run_hides_no_other(run: Path, file: str, content: bytes | None) -> None:
    path = shutil.copytree(run, run.parent / "damaged") / file
    path.unlink()
    path.mkdir() if content is None else path.write_bytes(content)
    viewer = RunViewer(run.parent)
    rows = {row["name"]: row for row in viewer.rows()}
    assert f"{100 * rows['chat']['accuracy']:.2f} %" == accuracy(run)
    assert "accuracy" not in rows["damaged"]
    assert "of 48</span> correct over 48 problems" in viewer.report(["chat"])


def test_a_run_that_vanishes_is_left_out(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    viewer = RunViewer(run.parent)
    gone = shutil.copytree(run, run.parent / "gone")
    found = viewer.runs()
    monkeypatch.setattr(viewer, "runs", lambda: found)
    shutil.rmtree(gone)
    assert [row["name"] for row in viewer.rows() if "accuracy" in row] == ["chat"]


def test_links_out_of_the_folder_are_not_followed(run: Path, tmp_path: Path) -> None:
    outside = shutil.copytree(run, tmp_path / "elsewhere" / "secret")
    (run.parent / "linked").symlink_to(outside)
    (run.parent / "above").symlink_to(outside.parent)
    copied = shutil.copytree(run, run.parent / "copied")
    (copied / "completions.jsonl").unlink()
    (copied / "completions.jsonl").symlink_to(outside / "completions.jsonl")
    viewer = RunViewer(run.parent)
    rows = {row["name"]: row for row in viewer.rows()}
    assert set(rows) == {"chat", "copied"}
    assert "is a link to a place outside" in rows["copied"]["error"]
    for name in ("linked", "above/secret", "copied"):
        with pytest.raises(InputError):
            viewer.report([name])
