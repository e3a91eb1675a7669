"""Damaged and hostile files: a message for people or a faulty row, never another exception.

Files of every format, as their writers write them, are mutated: bytes are flipped, cut, repeated
and spliced, values of JSON are replaced by ones that no writer writes. GRADESCHOOL_FUZZ_CASES sets
the cases per format: 20,000 in the long part of CI.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gradeschool.answers.golds import read_gold
from gradeschool.completion import Completion
from gradeschool.datasets.load import load_dataset
from gradeschool.errors import GradeschoolError
from gradeschool.formats.foreign import inspect_settings, is_lm_eval, lm_eval_settings
from gradeschool.formats.read import read_samples
from gradeschool.formats.run_folder import read_completions, read_json, to_line
from gradeschool.formats.tables import rows_of_json
from gradeschool.formats.values import ReadOptions, question_texts, texts_of
from gradeschool.scoring.sources import load_runs
from tests.support.archives import DEFLATED, ZSTD, write_archive
from tests.support.files import jsonl

CASES = int(os.environ.get("GRADESCHOOL_FUZZ_CASES", "25"))
TOKENS = (
    b"\x00", b"\n", b"\r", b'"', b"'", b",", b"{", b"}", b"[", b"]", b":", b"\\", b"\\ud800",
    b"\xff\xfe", b"\xef\xbb\xbf", b"NaN", b"-Infinity", b"1e999", b"9" * 5000, b"[" * 3000,
    b'{"a":' * 500, b"null", b"true", b"-1", b"\xed\xa0\x80", b"\x1b[31m", b"PK\x03\x04", b"PAR1",
    b"ARROW1", b"\x1f\x8b",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, float("nan"), float("inf"), 10**400, -(10**18), "", " ",
    "\ud800", "9" * 5000, "\x00", [], {}, [[]], [{}], [None], {"a": None}, ["a"], [["a"]],
    {"role": 1},
    [{"role": "assistant"}], [{"role": 3, "content": {}}], {"choices": [None]}, "1e999", "0x1",
    {"content": [{"type": "text", "text": None}]}, [1, "a", None, {}], "NaN", "١٢",
)  # fmt: skip

PROBLEMS = load_dataset("sample").problems[:12]

REPLY = {"message": {"role": "assistant", "content": "#### 1"}, "finish_reason": "stop"}
ROWS: dict[str, list[dict[str, Any]]] = {
    "a.jsonl": [
        *({"run": "a", "index": n, "sample": 0, "completion": f"#### {n}", "finish": "stop"}
          for n in range(12)),
        {"id": "3", "error": {"code": 500}}],
    "samples_gsm8k_1.jsonl": [
        {"doc_id": n, "doc": {"question": f"Q{n}?", "answer": f"#### {n}"}, "resps": [[text]],
         "filter": "strict-match", "arguments": {"gen_args_0": {"arg_0": "Q", "arg_1": {}}}}
        for n, text in enumerate("abc")],
    "batch.jsonl": [
        {"custom_id": f"gsm8k-{n}-sample-0", "error": None,
         "response": {"status_code": 200, "body": {"model": "m", "choices": [REPLY]}}}
        for n in range(12)],
    "solutions.jsonl": [
        {"question": problem.question, "ground_truth": problem.solution,
         "6b": {"solution": "#### 1", "is_correct": False}} for problem in PROBLEMS],
    "nested.jsonl": [
        {"vars": {"question": problem.question}, "outputs": [{"response": "a", "label": True}]}
        for problem in PROBLEMS],
}  # fmt: skip


def dumped(path: Path, value: object) -> Path:
    path.write_text(json.dumps(value))
    return path


def _lines(name: str, folder: Path) -> Path:
    return jsonl(folder / name, ROWS[name])


def run_folder(folder: Path) -> Path:
    run = folder / "run"
    run.mkdir()
    dumped(run / "run.json", {"schema": 1, "dataset": {"name": "sample"}, "protocol": {}})
    lines = [
        to_line(Completion(f"{n:064x}", problem.id, 0, "#### 1", run="r"), problem.question)
        for n, problem in enumerate(PROBLEMS)
    ]
    (run / "completions.jsonl").write_bytes(b"".join(lines))
    return run / "completions.jsonl"


def inspect_value() -> dict[str, Any]:
    samples = [
        {"id": index + 1, "epoch": 1, "input": problem.question, "target": problem.gold,
         "messages": [{"role": "user", "content": problem.question}],
         "output": {"model": "m", "choices": [
             {"message": {"role": "assistant", "content": "#### 1"}, "stop_reason": "stop"}]}}
        for index, problem in enumerate(PROBLEMS)
    ]  # fmt: skip
    header = {"eval": {"model": "m", "task": "gsm8k", "packages": {"inspect_ai": "0.3.285"}},
              "plan": {"config": {"temperature": 0.0}}}  # fmt: skip
    return {**header, "samples": samples}


def inspect_json(folder: Path) -> Path:
    return dumped(folder / "a.json", inspect_value())


def _archive(method: int, folder: Path) -> Path:
    value = inspect_value()
    members = {"header.json": {name: value[name] for name in ("eval", "plan")}}
    members |= {f"samples/{row['id']}_epoch_1.json": row for row in value["samples"]}
    path = folder / "a.eval"
    write_archive(
        path, {name: json.dumps(member).encode() for name, member in members.items()}, method
    )
    return path


def gzipped(folder: Path) -> Path:
    path = folder / "a.jsonl.gz"
    path.write_bytes(gzip.compress(_lines("a.jsonl", folder).read_bytes()))
    return path


def _table(folder: Path, name: str) -> tuple[Any, Path]:
    arrow = pytest.importorskip("pyarrow", reason="pyarrow writes the file")
    texts = [f"#### {problem.gold}" for problem in PROBLEMS]
    table = {"question": [problem.question for problem in PROBLEMS], "response": texts}
    return arrow.table(table), folder / name


def parquet(folder: Path) -> Path:
    from pyarrow import parquet as writer

    table, path = _table(folder, "a.parquet")
    writer.write_table(table, path)
    return path


def arrow_stream(folder: Path) -> Path:
    from pyarrow import ipc

    table, path = _table(folder, "a.arrow")
    with ipc.new_stream(path, table.schema) as stream:
        stream.write_table(table)
    return path


def excel(folder: Path) -> Path:
    book = pytest.importorskip("openpyxl", reason="openpyxl writes the file").Workbook()
    for row in (("question", "response"), *((p.question, f"#### {p.gold}") for p in PROBLEMS)):
        book.active.append(row)
    book.save(folder / "a.xlsx")
    return folder / "a.xlsx"


def tsv(folder: Path) -> Path:
    lines = [f"{problem.question}\t#### {problem.gold}" for problem in PROBLEMS]
    (folder / "a.tsv").write_text("\n".join(["question\tresponse", *lines]))
    return folder / "a.tsv"


WRITERS: dict[str, Callable[[Path], Path]] = {
    **{name: partial(_lines, name) for name in ROWS},
    "inspect, deflated": partial(_archive, DEFLATED),
    "inspect, zstd": partial(_archive, ZSTD),
    **{each.__name__: each for each in (run_folder, inspect_json, gzipped, parquet, arrow_stream,
                                        excel, tsv)},
}  # fmt: skip
BINARY = (".parquet", ".arrow", ".feather", ".xlsx", ".eval", ".gz")


def mutated(content: bytes, rng: random.Random, others: list[bytes]) -> bytes:
    """Return bytes with one to four changes."""
    for _ in range(rng.randint(1, 4)):
        start = rng.randrange(len(content) + 1)
        end = min(len(content), start + rng.choice((1, 2, 8, 100, 3000)))
        match rng.randrange(6):
            case 0:
                content = content[:start] + rng.choice(TOKENS) + content[start:]
            case 1:
                content = content[:start] + content[end:]
            case 2:
                content = content[:end] + content[start:]
            case 3:
                content = content[:start] + rng.randbytes(end - start) + content[end:]
            case 4:
                content = content[:start]
            case 5:
                other = rng.choice(others)
                cut = rng.randrange(len(other) + 1)
                content = content[:start] + other[cut : cut + 500] + content[end:]
    return content


def replaced(value: Any, rng: random.Random) -> Any:
    """Return a JSON value of which some part is another one."""
    if rng.random() < 0.15 or not isinstance(value, dict | list) or not value:
        return rng.choice(VALUES)
    if isinstance(value, list):
        index = rng.randrange(len(value))
        return [*value[:index], replaced(value[index], rng), *value[index + 1 :]]
    name = rng.choice(list(value))
    changed = {**value, name: replaced(value[name], rng)}
    if rng.random() < 0.1:
        del changed[name]
    return changed


def dumps(value: Any) -> bytes:
    try:
        return json.dumps(value).encode()
    except ValueError:  # an integer of more digits than Python writes
        return b'{"id": ' + b"9" * 5000 + b"}"


def with_values(content: bytes, rng: random.Random) -> bytes:
    """Return JSON, or lines of JSON, with other values."""
    try:
        return dumps(replaced(json.loads(content), rng))
    except ValueError:
        lines = content.split(b"\n")
    index = rng.randrange(len(lines))
    try:
        lines[index] = dumps(replaced(json.loads(lines[index]), rng))
    except ValueError:
        return content
    return b"\n".join(lines)


def read_everything(path: Path) -> None:
    """Read a file in every way that a command does."""
    read_samples(path)
    load_runs(path, ReadOptions(dataset="sample"), lambda _: None)


def assert_read_or_refused(read: Callable[[], object]) -> None:
    """Call a reader; its own error, in one short line, is as good as a result."""
    try:
        read()
    except GradeschoolError as error:
        assert 0 < len(str(error)) < 1500, error


@pytest.fixture
def other_contents(tmp_path: Path) -> list[bytes]:
    contents = []
    writers: tuple[Callable[[Path], Path], ...] = (
        partial(_lines, "a.jsonl"), inspect_json, gzipped,
    )  # fmt: skip
    for index, write in enumerate(writers):
        folder = tmp_path / f"other{index}"
        folder.mkdir()
        contents.append(write(folder).read_bytes())
    return contents


@pytest.mark.parametrize("name", WRITERS)
def test_a_damaged_file_is_told(tmp_path: Path, name: str, other_contents: list[bytes]) -> None:
    """No exception but the package's own, whatever happened to the file."""
    path = WRITERS[name](tmp_path)
    whole = path.read_bytes()
    rng = random.Random(zlib.crc32(name.encode()))
    read_everything(path)
    for case in range(CASES):
        is_text = path.suffix not in BINARY
        values = is_text and case % 2
        content = with_values(whole, rng) if values else mutated(whole, rng, other_contents)
        path.write_bytes(content)
        try:
            assert_read_or_refused(lambda: read_everything(path))
            assert_settings_are_read_or_refused(path)
        except Exception as error:
            error.add_note(f"case {case} of {name}: {content[:300]!r}")
            raise


def assert_settings_are_read_or_refused(path: Path) -> None:
    """Read what `diff` and tables read."""
    if path.suffix == ".eval":
        assert_read_or_refused(lambda: inspect_settings(path))
    elif path.name.startswith("samples_"):
        assert_read_or_refused(lambda: lm_eval_settings(path))
    elif path.name == "completions.jsonl":
        assert_read_or_refused(lambda: list(read_completions(path)))


def test_damaged_manifests_and_datasets(tmp_path: Path, other_contents: list[bytes]) -> None:
    """run.json and files of problems, mutated in the same way."""
    rng = random.Random(5)
    run_folder(tmp_path)
    manifest, problems = tmp_path / "run" / "run.json", tmp_path / "problems.jsonl"
    jsonl(problems, [{"question": p.question, "answer": p.solution} for p in PROBLEMS])
    for path, read in ((manifest, lambda: read_json(manifest)),
                       (problems, lambda: load_dataset(str(problems)))):  # fmt: skip
        whole = path.read_bytes()
        for case in range(CASES):
            damage = with_values(whole, rng) if case % 2 else mutated(whole, rng, other_contents)
            path.write_bytes(damage)
            assert_read_or_refused(read)


MESSAGE_FIELDS = ("role", "content", "text", "type", "choices", "message", "columns", "data",
                  "tags")  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from((*MESSAGE_FIELDS, "x")), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(JSON)
@example({"a": [{"role": None}], "b": [{"role": None}, None]})  # a run with a row that is null
@settings(max_examples=max(100, CASES), deadline=None)
def test_values_of_cells_are_read_or_not(value: Any) -> None:
    """The functions that read cells raise on no JSON value."""
    texts = texts_of(value)
    assert texts is None or all(isinstance(text, str) for text in texts)
    assert all(isinstance(text, str) for text in question_texts(value))
    assert_read_or_refused(lambda: read_gold(value))
    assert_read_or_refused(lambda: list(rows_of_json(value, Path("a.json"))))
    assert not isinstance(value, dict) or is_lm_eval(value) in (True, False)


def bombs(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield files that are enormous once they are read, with the words of their refusal."""
    good = b"".join(b'{"index": %d, "completion": "#### 1"}\n' % n for n in range(50))
    line = folder / "line.jsonl.gz"
    with gzip.open(line, "wb", compresslevel=9) as file:
        file.write(b'{"index": 0, "completion": "')
        for _ in range(200):
            file.write(b"a" * 2**20)
        file.write(b'"}\n' + good)
    yield "unpacks to more than 100 times its size", line
    with gzip.open(line, "wb", compresslevel=9) as file:
        file.write(b'{"index": 3, "completion": "#### 1"}\n' * 10**7)
    yield "unpacks to more than 100 times its size", line
    endless = folder / "endless.jsonl"
    with endless.open("wb") as sparse:
        sparse.write(good)
        sparse.truncate(6 * 10**9)
    yield "is longer than 256 MiB", endless
    lists = folder / "lists.json.gz"
    lists.write_bytes(gzip.compress(b"[" + b"[]," * 20_000_000 + b"[]]"))
    yield "lists and objects", lists
    sheet = folder / "line.csv.gz"
    with gzip.open(sheet, "wb", compresslevel=9) as file:
        file.write(b"index,completion\n0,")
        for _ in range(100):
            file.write(b"a" * 2**20)
    yield "has a line longer than 32 MiB", sheet
    archive = folder / "bomb.eval"
    member = b'{"id": 1, "input": "Q", "output": {"completion": "' + b"a" * 30 * 2**20 + b'"}}'
    write_archive(archive, {f"samples/{n}_epoch_1.json": member for n in range(150)}, DEFLATED)
    yield "is larger than", archive
    arrow = pytest.importorskip("pyarrow", reason="pyarrow writes Parquet")
    from pyarrow import ipc
    from pyarrow import parquet as writer

    table = arrow.table({"index": [0, 1], "completion": ["a" * 400_000_000, "b"]})
    writer.write_table(table, folder / "cell.parquet", compression="zstd", use_dictionary=False)
    yield "MiB", folder / "cell.parquet"
    with ipc.new_stream(folder / "cell.arrow", table.schema) as stream:
        stream.write_table(table)
    yield "MiB", folder / "cell.arrow"
    repeated = arrow.DictionaryArray.from_arrays(
        arrow.array([0] * 50, arrow.int32()), arrow.array(["a" * 20_000_000])
    )
    table = arrow.table({"index": list(range(50)), "completion": repeated})
    with ipc.new_stream(folder / "repeated.arrow", table.schema) as stream:
        stream.write_table(table)
    yield "has a text of 20,000,000 characters", folder / "repeated.arrow"
    nested = arrow.StructArray.from_arrays([repeated], ["text"])
    table = arrow.table({"index": list(range(50)), "output": nested})
    writer.write_table(table, folder / "nested.parquet", compression="zstd", store_schema=False,
                       dictionary_pagesize_limit=2**30)  # fmt: skip
    yield "repeats texts of", folder / "nested.parquet"
    table = arrow.table({"index": [0] * 2000, "completion": ["a" * 1_000_000] * 2000})
    for batches in ("zstd", "lz4"):
        path, options = folder / f"{batches}.arrow", ipc.IpcWriteOptions(compression=batches)
        with ipc.new_file(path, table.schema, options=options) as stream:
            stream.write_table(table)
        yield "MiB in one batch", path
    writer.write_table(table, folder / "dictionary.parquet", compression="zstd")
    yield "repeats texts that are", folder / "dictionary.parquet"
    table = arrow.table({"index": arrow.array([0]).take(arrow.array([0] * 10**7))})
    table = table.append_column("completion", table["index"])
    writer.write_table(table, folder / "rows.parquet", compression="zstd")
    yield "repeats few rows", folder / "rows.parquet"


@pytest.mark.slow
def test_small_files_that_unpack_to_enormous_ones(tmp_path: Path) -> None:
    """Each is a message or a faulty row, in a process of less than a gigabyte."""
    import subprocess
    import sys

    program = (
        "import atexit, sys, time\n"
        "def used():\n"
        "    peak = next(line for line in open('/proc/self/status') if line.startswith('VmHWM'))\n"
        "    print('\\n' + peak.split()[1], time.process_time(), file=sys.stderr)\n"
        "atexit.register(used)\n"
        "from gradeschool.cli import main\n"
        "sys.exit(main())"
    )
    for message, path in bombs(tmp_path):
        words = [sys.executable, "-c", program, "score", str(path), "-d", "sample"]
        words += ["--scorer", "openai/2021"]
        result = subprocess.run(words, capture_output=True, text=True, timeout=120)
        assert result.returncode in (0, 2, 3), (path, result.stderr)
        assert message in result.stderr, (path, result.stderr)
        *_, last = result.stderr.strip().splitlines()
        kilobytes, seconds = last.split()
        assert int(kilobytes) < 2**20, (path, last)
        assert float(seconds) < 10, (path, last)
        path.unlink()


def test_very_many_columns_are_refused_at_once(tmp_path: Path) -> None:
    """100,000 columns take no longer than reading them."""
    path = tmp_path / "wide.csv"
    path.write_text(",".join(f"c{n}" for n in range(100_000)) + "\n" + "1," * 99_999 + "1\n")
    with pytest.raises(GradeschoolError, match="has 100000 columns; is its first row the header"):
        read_samples(path)


@pytest.mark.parametrize("column", [b"index", b"completion"])
def test_damaged_metadata_of_a_column(tmp_path: Path, column: bytes) -> None:
    """pyarrow ends the process when it is asked for such metadata, so it is not asked."""
    arrow = pytest.importorskip("pyarrow", reason="pyarrow writes Parquet")
    from pyarrow import parquet as writer

    texts = [f"{n} " * 150_000 for n in range(8)]
    path = tmp_path / "a.parquet"
    writer.write_table(
        arrow.table({"index": list(range(8)), "completion": texts}), path,
        compression="none", use_dictionary=False,
    )  # fmt: skip
    whole = path.read_bytes()
    optional = b"%\x02\x18" + bytes([len(column)]) + column  # the repetition type, then the name
    assert whole.count(optional) == 1
    path.write_bytes(whole.replace(optional, b"%\x03" + optional[2:]))
    with pytest.raises(GradeschoolError, match="is not a readable Parquet file"):
        read_samples(path)
