"""Where problems come from: named sources, their digests, local files, the sample."""

import csv
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from gradeschool import Problem, load_dataset, load_gsm8k
from gradeschool.datasets import load
from gradeschool.datasets.load import ALIASES, SOURCES, config_shots
from gradeschool.errors import DataError, InputError
from tests.support.datasets import forget_loaded as forget_loaded  # a fixture

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
    for alias, name in ALIASES.items():
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


# The examples of an OpenCompass configuration: literals are read, nothing is run.


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
