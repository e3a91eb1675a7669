"""Datasets by address: the Hugging Face hub, a URL, columns of one's own."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from aiohttp import web

from gradeschool import load_dataset
from gradeschool.datasets import files
from gradeschool.datasets.files import _choose_tables
from gradeschool.datasets.load import is_here
from gradeschool.errors import DataError, InputError
from tests.support.command import Command, CommandResult, run_script
from tests.support.http_server import API_ROOT, serve
from tests.support.hub import COMMIT, TOKEN, Hub, Repository, running_hub

ROWS = [{"problem": f"{n} + 1?", "expected_answer": str(n + 1)} for n in range(3)]
JSONL = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
COLUMNS = "question=problem,gold=expected_answer"


# Columns


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
    with pytest.raises(InputError, match="'text=problem' names no column"):
        load_dataset(f"{path}#text=problem")


def test_eval_and_score_read_own_columns(gradeschool: Command, tmp_path: Path) -> None:
    path, run = tmp_path / "own.jsonl", tmp_path / "run"
    path.write_bytes(JSONL)
    words = ("-m", "tiny", "-d", path, "--columns", COLUMNS, "-o", run, "--quiet")
    assert gradeschool("eval", *words).status == 0
    assert json.loads((run / "run.json").read_text())["dataset"]["name"] == f"{path}#{COLUMNS}"
    assert gradeschool("eval", *words, "--json").json()["runs"][0]["n"] == 3
    assert gradeschool("score", run, "--json").json()["runs"][0]["n"] == 3
    bad = gradeschool("eval", "-m", "tiny", "-d", path, "--columns", "question=frage,gold=problem")
    assert (bad.status, "has no question" in bad.err) == (2, True)


# URLs


@dataclass
class Origin:
    """A server that answers with files, by their path."""

    files: dict[str, bytes]
    url: str = ""

    async def answer(self, request: web.Request) -> web.Response:
        """Return a file, or 404."""
        body = self.files.get(request.path)
        return web.Response(status=404) if body is None else web.Response(body=body)


@pytest.fixture
def server() -> Iterator[Origin]:
    origin = Origin({"/data/own.jsonl": JSONL, "/data/own.txt": JSONL})
    app = web.Application()
    app.router.add_get("/{path:.*}", origin.answer)
    with serve(app) as base:
        origin.url = base.removesuffix(API_ROOT)
        yield origin


def test_a_url_is_fetched_once_and_its_digest_kept(server: Origin) -> None:
    name = f"{server.url}/data/own.jsonl#{COLUMNS}"
    assert not is_here(name)
    assert load_dataset(name).sha256 == hashlib.sha256(JSONL).hexdigest()
    server.files["/data/own.jsonl"] = JSONL.replace(b"0 + 1", b"7 + 1")
    assert is_here(name)
    assert load_dataset(name).problems[0].question == "0 + 1?"
    files.find_file(files.source_at(name.partition("#")[0])).path.unlink()  # type: ignore[union-attr]
    with pytest.raises(DataError, match=r"expected [0-9a-f]{64}; nothing was kept"):
        load_dataset(name)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/data/own.txt", "does not end in .jsonl, .json, .csv, .parquet"),
        ("/data/none.jsonl", "Not Found"),
    ],
)
def test_a_url_without_a_table_is_refused(server: Origin, path: str, message: str) -> None:
    with pytest.raises((InputError, DataError), match=message):
        load_dataset(f"{server.url}{path}")


def test_large_and_unencrypted_addresses_are_refused(
    server: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LARGEST_BYTES", 50)
    with pytest.raises(DataError, match="leads to more than 50 bytes"):
        load_dataset(f"{server.url}/data/own.jsonl")
    with pytest.raises(InputError, match="is not encrypted; give its https:// address"):
        load_dataset("http://example.org/own.jsonl")


# The hub


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
