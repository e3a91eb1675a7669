"""Where files come from: origin, cache, addresses, the Hugging Face hub."""

import hashlib
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from gradeschool import load_dataset
from gradeschool.datasets import load
from gradeschool.datasets.load import SOURCES, DatasetSource, _choose_tables, is_here
from gradeschool.errors import DataError, InputError
from tests.support.command import Command, CommandResult, run_script
from tests.support.datasets import forget_loaded as forget_loaded  # a fixture
from tests.support.hub import COMMIT, TOKEN, Hub, Repository, running_hub

BODY = b'{"question": "1 + 1?", "answer": "1 + 1 = 2\\n#### 2"}\n'


def cached() -> list[Path]:
    """Every file in the cache."""
    return [path for path in load.cache_folder().rglob("*") if path.is_file()]


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

    def say(self, body: bytes) -> None:
        """Answer with this body."""
        self.body, self.claimed_length = body, len(body)


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
    assert load.find_file(tiny) is None
    assert load.locate(tiny).where == "fetched"
    for _ in range(3):
        load._load_source.cache_clear()
        assert load_dataset("tiny").problems[0].gold == "2"
    assert load.locate(tiny).where == "cache"
    assert origin.paths == ["/pinned/test.jsonl"]
    assert cached() == [load.cache_folder() / "tiny" / "test.jsonl"]
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
    assert load.locate(tiny).path == tmp_path / "tiny" / "test.jsonl"
    assert origin.paths == []


def test_nothing_is_kept_of_a_body_that_breaks_off(tiny: DatasetSource, origin: Origin) -> None:
    origin.claimed_length = 10 * len(BODY)
    origin.body = BODY[:20]
    with pytest.raises(DataError, match=r"stopped after 20 of \d+ bytes; nothing was kept"):
        load_dataset("tiny")
    assert cached() == []


def test_an_unpublished_digest_is_the_first_fetchs(tiny: DatasetSource, origin: Origin) -> None:
    pinned = replace(tiny, sha256="")
    origin.body, origin.claimed_length = b"<p>Please sign in</p>\n" * 2, 44
    with pytest.raises(DataError, match="gave 2 lines, not the 1 of the dataset 'tiny'; nothing"):
        load.fetch(pinned)
    assert cached() == []
    origin.body, origin.claimed_length = BODY, len(BODY)
    path = load.locate(pinned).path
    record = path.with_name("test.jsonl.sha256")
    assert record.read_text("ascii") == f"{tiny.sha256}\n"
    path.write_bytes(BODY[:-1])
    with pytest.raises(DataError, match=f"expected {tiny.sha256}; remove it"):
        load.locate(pinned)
    path.unlink()
    origin.body = BODY.replace(b"2", b"3")
    with pytest.raises(DataError, match=f"expected {tiny.sha256}; nothing was kept"):
        load.locate(pinned)
    origin.body = BODY
    assert load.locate(pinned).where == "fetched"
    assert load.locate(pinned).where == "cache"
    record.write_bytes(b"\xff")
    with pytest.raises(DataError, match=r"cannot read .*test\.jsonl\.sha256.*; remove it"):
        load.locate(pinned)


@pytest.mark.parametrize("variable", load.OFFLINE_VARIABLES)
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


# By address: columns of one's own, a URL, the Hugging Face hub


ROWS = [{"problem": f"{n} + 1?", "expected_answer": str(n + 1)} for n in range(3)]
JSONL = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
COLUMNS = "question=problem,gold=expected_answer"


def test_own_columns_are_part_of_the_name(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    path.write_bytes(JSONL)
    dataset = load_dataset(f"{path}#{COLUMNS}")
    assert [(problem.question, problem.gold) for problem in dataset.problems][:1] == [
        ("0 + 1?", "1")
    ]
    assert (dataset.name, dataset.sha256) == (
        f"{path}#{COLUMNS}", hashlib.sha256(JSONL).hexdigest()
    )  # fmt: skip
    with pytest.raises(InputError, match="'answer' or 'solution' or 'gold' or 'target', or say"):
        load_dataset(str(path))
    with pytest.raises(InputError, match="'text' is not a role; use question, gold, id"):
        load_dataset(f"{path}#text=problem")


def test_eval_and_score_read_own_columns(gradeschool: Command, tmp_path: Path) -> None:
    path, run = tmp_path / "own.jsonl", tmp_path / "run"
    path.write_bytes(JSONL)
    words = ("-m", "tiny", "-d", path, "--columns", COLUMNS, "-o", run, "--quiet")
    gradeschool.done("eval", *words)
    assert json.loads((run / "run.json").read_text())["dataset"]["name"] == f"{path}#{COLUMNS}"
    assert gradeschool("eval", *words, "--json").json()["runs"][0]["n"] == 3
    assert gradeschool("score", run, "--json").json()["runs"][0]["n"] == 3
    bad = gradeschool("eval", "-m", "tiny", "-d", path, "--columns", "question=frage,gold=problem")
    assert (bad.status, "has no question" in bad.err) == (2, True)


def test_a_url_is_fetched_once_and_its_digest_kept(origin: Origin) -> None:
    origin.say(JSONL)
    name = f"{origin.url}/data/own.jsonl#{COLUMNS}"
    assert not is_here(name)
    assert load_dataset(name).sha256 == hashlib.sha256(JSONL).hexdigest()
    origin.say(JSONL.replace(b"0 + 1", b"7 + 1"))
    assert is_here(name)
    assert load_dataset(name).problems[0].question == "0 + 1?"
    load.find_file(load.source_at(name.partition("#")[0])).path.unlink()  # type: ignore[union-attr]
    with pytest.raises(DataError, match=r"expected [0-9a-f]{64}; nothing was kept"):
        load_dataset(name)


def test_a_url_without_a_table_is_refused(origin: Origin) -> None:
    origin.status = 404
    with pytest.raises(InputError, match=r"does not end in \.jsonl, \.json, \.csv, \.parquet"):
        load_dataset(f"{origin.url}/data/own.txt")
    with pytest.raises(DataError, match="Not Found"):
        load_dataset(f"{origin.url}/data/none.jsonl")


def test_large_and_unencrypted_are_refused(origin: Origin, monkeypatch: pytest.MonkeyPatch) -> None:
    origin.say(JSONL)
    monkeypatch.setattr(load, "LARGEST_BYTES", 50)
    with pytest.raises(DataError, match="leads to more than 50 bytes"):
        load_dataset(f"{origin.url}/data/own.jsonl")
    with pytest.raises(InputError, match="is not encrypted; give its https:// address"):
        load_dataset("http://example.org/own.jsonl")


@pytest.mark.parametrize(
    ("config", "split", "chosen"),
    [
        ("main", None, ["main/test-00000-of-00002.parquet", "main/test-00001-of-00002.parquet"]),
        ("main", "train", ["main/train-00000-of-00001.parquet"]),
        ("socratic", "test", ["socratic/test.jsonl"]),
        (None, None, "3 tables fit 'hf:a/b' (main/test-00000-of-00002.parquet, "),
        ("main", "validation", "no table fits"),
    ],
)
def test_the_table_of_a_repository_is_chosen_by_words(
    config: str | None, split: str | None, chosen: list[str] | str
) -> None:
    paths = ["README.md", "main/test-00001-of-00002.parquet", "main/test-00000-of-00002.parquet",
             "main/train-00000-of-00001.parquet", "socratic/test.jsonl"]  # fmt: skip
    if isinstance(chosen, list):
        assert _choose_tables(sorted(paths), config, split, "hf:a/b") == chosen
        return
    with pytest.raises(InputError) as caught:
        _choose_tables(sorted(paths), config, split, "hf:a/b")
    assert str(caught.value).startswith(chosen)


@pytest.fixture
def hub() -> Iterator[Hub]:
    pytest.importorskip("huggingface_hub", reason="needs huggingface_hub, the extra hub")
    with running_hub() as hub:
        yield hub


def evaluate(hub: Hub, home: Path, *words: object) -> CommandResult:
    """Evaluate in a process of its own: huggingface_hub reads its variables when imported."""
    variables = {"HF_ENDPOINT": hub.url, "HF_TOKEN": TOKEN, "HF_HOME": str(home / "hf"),
                 "HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_XET": "1", "NO_PROXY": "127.0.0.1",
                 "GRADESCHOOL_CACHE": str(home / "cache")}  # fmt: skip
    result = run_script("eval", "-m", "tiny", "--quiet", "--json", *words, **variables)
    assert TOKEN not in result.out + result.err
    assert "Traceback" not in result.err
    return result


@pytest.mark.slow
def test_a_dataset_of_the_hub_is_pinned_to_its_commit(hub: Hub, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.Table.from_pylist(ROWS)
    parquet.write_table(table, tmp_path / "t.parquet")
    body = (tmp_path / "t.parquet").read_bytes()
    hub.repositories["me/own"] = Repository("dataset", True, {"data/test.parquet": body})
    run = tmp_path / "run"
    words = ("--columns", COLUMNS, "-o", run)
    first = evaluate(hub, tmp_path, "-d", "hf:me/own:default", *words)
    assert first.status == 0, first.err
    stored = json.loads((run / "run.json").read_text())["dataset"]
    pinned = f"hf:me/own:default@{COMMIT}"
    assert stored == {"name": f"{pinned}#{COLUMNS}", "sha256": hashlib.sha256(body).hexdigest()}
    hub.calls.clear()
    again = evaluate(hub, tmp_path, "-d", pinned, *words)
    assert (again.status, again.json()["runs"][0]["n"]) == (0, 3)
    assert not any("/me/own" in call for call in hub.calls)
    absent = evaluate(hub, tmp_path, "-d", "hf:me/none")
    assert (absent.status, "the hub has no dataset 'hf:me/none'" in absent.err) == (2, True)
    hub.failing = ("/api/",)
    down = evaluate(hub, tmp_path, "-d", "hf:me/own")
    assert (down.status, "the hub answers HTTP 503" in down.err) == (2, True)
