"""Download and cache of a dataset's files."""

import hashlib
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from gradeschool import load_dataset
from gradeschool.datasets import files, load
from gradeschool.datasets.files import SOURCES, DatasetSource
from gradeschool.errors import DataError
from tests.support.datasets import forget_loaded as forget_loaded  # a fixture

BODY = b'{"question": "1 + 1?", "answer": "1 + 1 = 2\\n#### 2"}\n'


def cached() -> list[Path]:
    """Every file in the cache."""
    return [path for path in files.cache_folder().rglob("*") if path.is_file()]


class Origin(ThreadingHTTPServer):
    """An HTTP server that answers every path with `body`, and notes the paths it was asked for.

    Asked as a proxy it gets whole URLs, and answers them itself.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.paths: list[str] = []
        self.body, self.status, self.claimed_length = BODY, 200, len(BODY)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    """Answers GET as the server says."""

    server: Origin

    def do_GET(self) -> None:
        """Note the path and send the body."""
        self.server.paths.append(self.path)
        if self.server.status == 0:
            self.wfile.write(b"this is no HTTP\r\n\r\n")
            return
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(self.server.claimed_length))
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet."""


@pytest.fixture
def origin() -> Iterator[Origin]:
    """A running server."""
    with Origin() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch, origin: Origin) -> DatasetSource:
    """A source of one problem that lies at the origin and nowhere else."""
    source = DatasetSource(
        name="tiny",
        summary="one problem",
        path="tiny/test.jsonl",
        sha256=hashlib.sha256(BODY).hexdigest(),
        rows=1,
        url=f"{origin.url}/pinned/test.jsonl",
        licence="MIT",
    )
    monkeypatch.setitem(SOURCES, "tiny", source)
    monkeypatch.delenv("GRADESCHOOL_DATA", raising=False)
    return source


def test_a_missing_dataset_is_fetched_once(
    tiny: DatasetSource, origin: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert files.find_file(tiny) is None
    assert files.locate(tiny).where == "fetched"
    for _ in range(3):
        load._load_source.cache_clear()
        assert load_dataset("tiny").problems[0].gold == "2"
    assert files.locate(tiny).where == "cache"
    assert origin.paths == ["/pinned/test.jsonl"]
    assert cached() == [files.cache_folder() / "tiny" / "test.jsonl"]
    assert cached()[0].read_bytes() == BODY
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    load._load_source.cache_clear()
    assert len(load_dataset("tiny")) == 1  # what is here is read offline


def test_a_file_that_the_user_gives_goes_before_cache_and_origin(
    tiny: DatasetSource, origin: Origin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "test.jsonl").write_bytes(BODY)
    monkeypatch.setenv("GRADESCHOOL_DATA", str(tmp_path))
    assert files.locate(tiny).path == tmp_path / "tiny" / "test.jsonl"
    assert origin.paths == []


def test_a_body_that_breaks_off_is_an_error_and_nothing_is_kept(
    tiny: DatasetSource, origin: Origin
) -> None:
    origin.claimed_length = 10 * len(BODY)
    origin.body = BODY[:20]
    with pytest.raises(DataError, match=r"stopped after 20 of \d+ bytes; nothing was kept"):
        load_dataset("tiny")
    assert cached() == []


def test_a_digest_that_nobody_published_is_that_of_the_first_fetch(
    tiny: DatasetSource, origin: Origin
) -> None:
    pinned = replace(tiny, sha256="")
    origin.body, origin.claimed_length = b"<p>Please sign in</p>\n" * 2, 44
    with pytest.raises(DataError, match="gave 2 lines, not the 1 of the dataset 'tiny'; nothing"):
        files.fetch(pinned)
    assert cached() == []
    origin.body, origin.claimed_length = BODY, len(BODY)
    path = files.locate(pinned).path
    record = path.with_name("test.jsonl.sha256")
    assert record.read_text("ascii") == f"{tiny.sha256}\n"
    path.write_bytes(BODY[:-1])
    with pytest.raises(DataError, match=f"expected {tiny.sha256}; remove it"):
        files.locate(pinned)
    path.unlink()
    origin.body = BODY.replace(b"2", b"3")
    with pytest.raises(DataError, match=f"expected {tiny.sha256}; nothing was kept"):
        files.locate(pinned)
    origin.body = BODY
    assert files.locate(pinned).where == "fetched"
    assert files.locate(pinned).where == "cache"
    record.write_bytes(b"\xff")
    with pytest.raises(DataError, match=r"cannot read .*test\.jsonl\.sha256.*; remove it"):
        files.locate(pinned)


@pytest.mark.parametrize("variable", files.OFFLINE_VARIABLES)
@pytest.mark.parametrize("value", ["1", " yes ", "0", "false"])
def test_nothing_is_fetched_where_the_user_is_offline(
    tiny: DatasetSource, origin: Origin, variable: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    if value in ("0", "false"):
        assert len(load_dataset("tiny")) == 1
        return
    with pytest.raises(DataError, match=rf"{variable} forbids .*tiny/test\.jsonl"):
        load_dataset("tiny")
    assert origin.paths == []


@pytest.mark.parametrize(("status", "reason"), [(404, "Not Found"), (503, "Unav"), (0, "HTTP")])
def test_an_origin_that_refuses_or_talks_nonsense_is_a_clear_error(
    tiny: DatasetSource, origin: Origin, status: int, reason: str
) -> None:
    origin.status = status
    with pytest.raises(DataError, match=rf"cannot fetch the dataset 'tiny' from .*{reason}"):
        load_dataset("tiny")
    assert cached() == []


def test_a_proxy_of_the_environment_is_used(
    tiny: DatasetSource, origin: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = "http://origin.invalid/pinned/test.jsonl"
    monkeypatch.setitem(SOURCES, "tiny", replace(tiny, url=url))
    monkeypatch.setenv("HTTP_PROXY", origin.url)
    assert len(load_dataset("tiny")) == 1
    assert origin.paths == [url]


def test_a_cache_that_cannot_be_written_is_a_clear_error(
    tiny: DatasetSource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    monkeypatch.setenv("GRADESCHOOL_CACHE", str(tmp_path / "file"))
    with pytest.raises(DataError, match="set GRADESCHOOL_CACHE to a folder"):
        load_dataset("tiny")
