"""Where problems come from: named sources, files, the cache, addresses, the Hugging Face hub."""

import csv
import hashlib
import json
import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from gradeschool import Problem, load_dataset, load_gsm8k
from gradeschool.datasets import load
from gradeschool.datasets.load import (
    DATASET_ALIASES,
    SOURCES,
    DatasetSource,
    _choose_tables,
    config_shots,
    is_here,
)
from gradeschool.errors import DataError, InputError
from tests.support.command import Command, CommandResult, run_script
from tests.support.datasets import forget_loaded as forget_loaded  # a fixture
from tests.support.files import jsonl
from tests.support.hub import COMMIT, Hub, Repository
from tests.support.hub import hub as hub  # a fixture

BODY = b'{"question": "1 + 1?", "answer": "1 + 1 = 2\\n#### 2"}\n'
SAMPLE = Path(load.__file__).parent / "sample"
# Nobody has published the digest of these files: that of the first fetch is recorded.
DIGEST_UNKNOWN = {"gsm-symbolic:p1"}


@pytest.mark.parametrize("name", SOURCES)
def test_every_source_is_complete_and_pinned(name: str) -> None:
    source = SOURCES[name]
    assert source.name == name
    assert source.summary
    assert re.fullmatch(r"MIT|Apache-2\.0|CC-BY(-NC|-SA|-ND)*-4\.0", source.licence)
    assert len(source.language) == 2 and source.golds
    assert source.rows > 0
    if source.url:
        assert source.url.startswith("https://")
        assert re.search(r"/[0-9a-f]{40}/|/v\d+\.\d+\.\d+/", source.url), "no pinned revision"
        assert re.fullmatch(r"[0-9a-f]{64}" if name not in DIGEST_UNKNOWN else "", source.sha256)
    else:
        assert (SAMPLE.parent / source.path).is_file()


def test_every_source_on_this_machine_loads_with_its_rows_and_digest(data: Path) -> None:
    """On GSM8K and what is shipped; with the shared data, on all but the largest files."""
    names = [name for name in SOURCES if load.is_here(name)]
    assert {"gsm8k", "gsm8k:train", "sample"} <= set(names)
    for name in names:
        dataset = load_dataset(name)
        file = load.locate(SOURCES[name])
        assert len(dataset) == SOURCES[name].rows, name
        assert dataset.sha256 == hashlib.sha256(file.path.read_bytes()).hexdigest(), name
        assert file.where == ("GRADESCHOOL_DATA" if SOURCES[name].url else "shipped"), name
        assert len({problem.id for problem in dataset.problems}) == len(dataset), name


def test_an_alias_is_another_name_of_the_same_dataset(data: Path) -> None:
    for alias, name in DATASET_ALIASES.items():
        assert load.source_named(alias) is SOURCES[name]
        if load.is_here(alias):
            assert load_dataset(alias) is load_dataset(name)


def test_the_wei_exemplars_are_the_same_from_the_yaml_and_from_jsonl(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from_jsonl = load_dataset("wei2022").problems
    samples = [
        {
            "question": shot.question,
            "target": f"{shot.solution.rpartition(chr(10))[0]} The answer is {shot.gold}.",
        }
        for shot in from_jsonl
    ]
    text = json.dumps({"fewshot_config": {"samples": samples}}).encode()  # JSON is YAML
    (tmp_path / "exemplars").mkdir()
    (tmp_path / "exemplars" / "gsm8k-cot.yaml").write_bytes(text)
    digest = hashlib.sha256(text).hexdigest()
    monkeypatch.setitem(SOURCES, "wei2022", replace(SOURCES["wei2022"], sha256=digest))
    monkeypatch.setenv("GRADESCHOOL_DATA", str(tmp_path))
    load._load_source.cache_clear()
    assert load_dataset("wei2022").problems == from_jsonl


def test_a_missing_data_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADESCHOOL_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DataError, match=r"GRADESCHOOL_DATA is .*nowhere"):
        load_gsm8k()
    assert len(load_dataset("sample")) == 48  # shipped: needs no folder


ROWS: list[dict[str, object]] = [
    {"question": "5 * 2?", "answer": "5 * 2 = 10\n#### 10"},
    {"question": "“2,125”\u2028?", "answer": "2,125"},
]


def write(path: Path, rows: Sequence[dict[str, object]]) -> str:
    """Write rows in the format that the ending of the path names."""
    if path.suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    elif path.suffix == ".parquet":
        arrow = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet", reason="Parquet needs pyarrow")
        parquet.write_table(arrow.Table.from_pylist(rows), path)
    else:
        lines = (json.dumps(row, ensure_ascii=False) for row in rows)
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("ending", load.TABLES)
def test_a_local_file_of_any_format_gives_the_same_problems(ending: str, tmp_path: Path) -> None:
    dataset = load_dataset(write(tmp_path / f"own{ending}", ROWS))
    assert dataset.problems == (
        Problem("0", "5 * 2?", "10", "5 * 2 = 10\n#### 10"),
        Problem("1", "“2,125”\u2028?", "2,125", "#### 2,125"),
    )
    assert dataset.name == str(tmp_path / f"own{ending}")


@pytest.mark.parametrize("question", load.QUESTION_COLUMNS)
@pytest.mark.parametrize("answer", load.ANSWER_COLUMNS)
def test_columns_have_the_usual_names(question: str, answer: str, tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [{question: "1 + 1?", answer: 2, "id": "a-7"}]
    for ending in (".jsonl", ".csv", ".parquet"):
        problems = load_dataset(write(tmp_path / f"own{ending}", rows)).problems
        assert problems == (Problem("a-7", "1 + 1?", "2", "#### 2"),)


GOOD = b'{"question": "1 + 1?", "answer": "2"}\n'
BAD_ROWS = {
    "no JSON": (b"{oops\n", r"row 3 of .* is not valid JSON \(.*column 2\)"),
    "invalid UTF-8": (b'{"question": "\xff"}\n', r"row 3 of .* not valid UTF-8 \(byte 14"),
    "no question": (b'{"answer": "2"}\n', "row 3 of .* has no question .*'answer'"),
    "no answer": (b'{"question": "?"}\n', "row 3 of .* has no answer .*'question'"),
    "an empty row": (b"{}\n", r"row 3 of .* has no question \(columns: none\)"),
    "an empty answer": (b'{"question": "?", "answer": " "}\n', "row 3 of .* has no answer"),
    "null": (b'{"question": "?", "answer": null}\n', "row 3 of .* has no answer"),
    "true": (b'{"question": "?", "answer": true}\n', "row 3 of .* has no answer"),
    "not a number": (b'{"question": "?", "answer": NaN}\n', "row 3 of .* has no answer"),
    "no gold": (b'{"question": "?", "answer": "2 ####"}\n', "row 3 of .* the gold .* is empty"),
    "an id twice": (b'{"question": "?", "answer": "2", "id": 0}\n', "uses the id '0' twice"),
}


@pytest.mark.parametrize("fault", BAD_ROWS)
def test_a_bad_row_is_refused_with_its_number_and_its_fault(fault: str, tmp_path: Path) -> None:
    row, message = BAD_ROWS[fault]
    path = tmp_path / "own.jsonl"
    path.write_bytes(GOOD + b"\n" + row + GOOD)  # the empty line counts as a row
    with pytest.raises(InputError, match=message) as caught:
        load_dataset(str(path))
    assert "own.jsonl" in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("missing.jsonl", None, "does not exist"),
        ("some/missing/path", None, "does not exist"),
        ("empty.jsonl", b"", "contains no problems"),
        ("blank.jsonl", b"\n\n", "contains no problems"),
        ("broken.parquet", b"PAR1", "not a readable Parquet file"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_by_name(
    name: str, content: bytes | None, message: str, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        load_dataset(str(tmp_path / name))
    assert name in str(caught.value)
    with pytest.raises(InputError, match="is a folder; give the path of a file"):
        load_dataset(str(tmp_path))


ASKED = "Question: {}\\nLet's think step by step\\nAnswer:"
CONFIG = f"""
from somewhere import PromptTemplate
raise SystemExit("a configuration that is run")
cfg = dict(type=PromptTemplate, template=dict(round=[
    dict(role='HUMAN', prompt="{ASKED.format("How many?")}"),
    dict(role='BOT', prompt='1 + 1 = 2.\\nThe answer is 1?\\nThe answer is 2\\n'),
    dict(role='HUMAN', prompt="{ASKED.format("And 'now'?")}"),
    dict(role='BOT', prompt="Three. The answer is 1,003.\\n"),
    dict(role='HUMAN', prompt="{ASKED.format("{question}")}"),
]), path='opencompass/gsm8k')
"""


def test_shots_are_read_in_order(tmp_path: Path) -> None:
    path = tmp_path / "config.py"
    path.write_text(CONFIG, "utf-8")
    assert [*config_shots(path)] == [
        ("How many?", "1 + 1 = 2.\nThe answer is 1?", "2"),
        ("And 'now'?", "Three.", "1,003"),
    ]


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
        self.body, self.status, self.claimed_length = BODY, 200, 0  # that of the body
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
        length = self.server.claimed_length or len(self.server.body)
        self.send_header("Content-Length", str(length))
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
    origin.body = b"<p>Please sign in</p>\n" * 2
    with pytest.raises(DataError, match="gave 2 lines, not the 1 of the dataset 'tiny'; nothing"):
        load.fetch(pinned)
    assert cached() == []
    origin.body = BODY
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


OTHER_ROWS = [{"problem": f"{n} + 1?", "expected_answer": str(n + 1)} for n in range(3)]
JSONL = "".join(json.dumps(row) + "\n" for row in OTHER_ROWS).encode()
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
    origin.body = JSONL
    name = f"{origin.url}/data/own.jsonl#{COLUMNS}"
    assert not is_here(name)
    assert load_dataset(name).sha256 == hashlib.sha256(JSONL).hexdigest()
    origin.body = JSONL.replace(b"0 + 1", b"7 + 1")
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
    origin.body = JSONL
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
    ],
)
def test_tables_of_a_repository(config: str, split: str | None, chosen: list[str]) -> None:
    paths = ["README.md", "main/test-00000-of-00002.parquet", "main/test-00001-of-00002.parquet",
             "main/train-00000-of-00001.parquet", "socratic/test.jsonl"]  # fmt: skip
    assert _choose_tables(paths, config, split, "hf:a/b") == chosen
    with pytest.raises(InputError, match=r"^3 tables fit 'hf:a/b' \(main/test-00000-of-00002"):
        _choose_tables(paths, None, None, "hf:a/b")
    with pytest.raises(InputError, match=r"^no table fits"):
        _choose_tables(paths, config, "validation", "hf:a/b")


@pytest.mark.slow
def test_a_dataset_of_the_hub_is_pinned_to_its_commit(hub: Hub, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.Table.from_pylist(OTHER_ROWS)
    parquet.write_table(table, tmp_path / "t.parquet")
    body = (tmp_path / "t.parquet").read_bytes()
    hub.repositories["me/own"] = Repository("dataset", True, {"data/test.parquet": body})
    run = tmp_path / "run"
    words = ("--columns", COLUMNS, "-o", run)

    def evaluate(*words: object) -> CommandResult:
        return hub.run("eval", "-m", "tiny", "--quiet", "--json", *words, home=tmp_path)

    first = evaluate("-d", "hf:me/own:default", *words)
    assert first.status == 0, first.err
    stored = json.loads((run / "run.json").read_text())["dataset"]
    pinned = f"hf:me/own:default@{COMMIT}"
    assert stored == {"name": f"{pinned}#{COLUMNS}", "sha256": hashlib.sha256(body).hexdigest()}
    hub.calls.clear()
    again = evaluate("-d", pinned, *words)
    assert (again.status, again.json()["runs"][0]["n"]) == (0, 3)
    assert not any("/me/own" in call for call in hub.calls)
    absent = evaluate("-d", "hf:me/none")
    assert (absent.status, "the hub has no dataset 'hf:me/none'" in absent.err) == (2, True)
    hub.failing = ("/api/",)
    down = evaluate("-d", "hf:me/own")
    assert (down.status, "the hub answers HTTP 503" in down.err) == (2, True)


def test_data_list(gradeschool: Command, data: Path) -> None:
    result = gradeschool.done("data", "list")
    assert all(f" {name} " in result.out for name in SOURCES)
    assert " ".join(result.out.split()).count("golds:") == len(SOURCES)
    results = gradeschool("data", "list", "--json").json()["datasets"]
    assert [item["name"] for item in results] == list(SOURCES)
    where = {item["name"]: item["where"] for item in results}
    assert (where["sample"], where["gsm8k"]) == ("shipped", "GRADESCHOOL_DATA")


def test_data_without_a_network(gradeschool: Command, tmp_path: Path) -> None:
    gradeschool.monkeypatch.delenv("GRADESCHOOL_DATA", raising=False)
    gradeschool.monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert "to be fetched" in gradeschool("data", "list").out
    assert "HF_HUB_OFFLINE forbids" in gradeschool.refused("data", "fetch", "gsm8k")
    assert gradeschool("data", "fetch", "sample").out.startswith("sample: shipped, /")
    missing = run_script("score", "nope.jsonl")  # nothing is fetched for a file that is not there
    assert missing.err == "gradeschool: 'nope.jsonl' does not exist; give the path of a file\n"


def test_a_wrong_digest_is_told(gradeschool: Command, tmp_path: Path) -> None:
    gradeschool.monkeypatch.setenv("GRADESCHOOL_DATA", str(tmp_path))
    (tmp_path / "gsm8k").mkdir()
    jsonl(tmp_path / "gsm8k" / "test.jsonl", [{"question": "How?", "answer": "#### 1"}])
    assert "wrong digest" in gradeschool("data", "list").out
    answers = str(jsonl(tmp_path / "answers.jsonl", [{"index": 0, "completion": "#### 1"}]))
    for words in (["data", "fetch", "gsm8k"], ["score", answers]):
        result = run_script(*words)
        assert result.status == 2
        assert "is not the gsm8k dataset: its SHA-256 is" in result.err


def test_right_texts_end_in_the_gold(gradeschool: Command, tmp_path: Path) -> None:
    """Else the text of a chat, or what follows a number, would be read as the gold."""
    (tmp_path / "sums.jsonl").write_text('{"question": "1 + 1?", "answer": "#### 2"}\n', "utf-8")
    texts = ["It is 2.\n", "#### 2", "3", "1+1=2\n#### 2 off 2\nQ: 3"]
    rows = [{"index": 0, "completion": text} for text in texts]
    chat = jsonl(tmp_path / "chat.jsonl", rows)
    ended = gradeschool.done("data", "right", chat, "-d", tmp_path / "sums.jsonl")
    answers = [json.loads(line)["answer"] for line in ended.out.splitlines()]
    assert answers == ["It is 2.\n#### 2", "#### 2", "1+1=2\n#### 2"]


def test_a_wrong_dataset_ends_before_the_run_is_read(gradeschool: Command, tmp_path: Path) -> None:
    run = jsonl(tmp_path / "run.jsonl", [{"question": "1 + 1?", "gold": "2", "completion": "2"}])
    refused = gradeschool.refused("data", "right", run, "--with", "gsm9k")
    assert "gsm9k" in refused
    assert str(run) not in refused
