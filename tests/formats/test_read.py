"""Plain rows, arrays, tables and runs of ours: what is read, and what is said of bad rows."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gradeschool.completion import Completion, Finish
from gradeschool.errors import InputError
from gradeschool.formats.own_run import dataset_of, to_line
from gradeschool.formats.read import read_samples
from gradeschool.formats.samples import Reference, Sample

Row = dict[str, Any]


def jsonl(path: Path, rows: Sequence[object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def read(path: Path, *rows: object) -> list[Sample]:
    """Read rows back from `answers.jsonl` of a folder."""
    return read_samples(jsonl(path / "answers.jsonl", rows))


def texts(recordings: Sequence[Sample]) -> list[str]:
    return [sample.text for sample in recordings]


# Plain rows


@pytest.mark.parametrize("name", ["completion", "output", "response", "answer"])
def test_every_name_of_a_text(tmp_path: Path, name: str) -> None:
    """The text stands in a column of any of the four names."""
    [sample] = read(tmp_path, {"index": 3, name: "it is 4"})
    assert (sample.text, sample.fault, sample.row) == ("it is 4", "", 1)


def test_an_answer_beside_a_response_is_the_datas_own(tmp_path: Path) -> None:
    """A row of a dataset with a model's response added is never scored on its gold answer."""
    for name in ("completion", "output", "response"):
        [sample] = read(tmp_path, {"question": "How?", "answer": "#### 18", name: "17"})
        assert sample.text == "17"


@pytest.mark.parametrize("name", ["completions", "responses", "completion", "output"])
def test_a_list_of_texts_is_several_samples(tmp_path: Path, name: str) -> None:
    """Each text of a list is a sample of its own, numbered from the row's sample or 0."""
    file_samples = read(
        tmp_path, {"index": 0, name: ["a", "b"]}, {"index": 1, "sample": 4, name: ["c"]}
    )
    assert [(item.text, item.sample, item.row) for item in file_samples] == [
        ("a", 0, 1),
        ("b", 1, 1),
        ("c", 4, 2),
    ]


def test_content_parts_are_one_text(tmp_path: Path) -> None:
    """A list of parts, as chat APIs give it, is one completion."""
    parts = [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]
    assert texts(read(tmp_path, {"index": 0, "output": parts})) == ["ab"]


def test_an_unreadable_row_belongs_to_the_one_run_of_its_file(tmp_path: Path) -> None:
    """A row that names no run is counted with the file's run, or apart where it has several."""
    (tmp_path / "one.jsonl").write_text('{"index": 0, "completion": "a", "model": "m"}\n{oops\n')
    assert [sample.run for sample in read_samples(tmp_path / "one.jsonl")] == ["m", "m"]
    rows = [{"index": 0, "completion": "a", "model": model} for model in "mn"]
    assert [sample.run for sample in read(tmp_path, *rows, {"a": 1})] == ["m", "n", "answers"]


def test_lines_end_at_newlines_alone(tmp_path: Path) -> None:
    """U+2028, U+0085 and lone surrogates stay inside a completion; CRLF, BOM, blank lines pass."""
    text = "a\u2028b\u0085c\x0bd\ud800\x00"
    line = json.dumps({"index": 0, "completion": text}).encode("ascii")
    raw = json.dumps({"index": 1, "completion": "a\u2028b\u0085c"}, ensure_ascii=False).encode()
    path = tmp_path / "answers.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + line + b"\r\n\r\n\n" + raw + b"\r\n")
    file_samples = read_samples(path)
    assert texts(file_samples) == [text, "a\u2028b\u0085c"]
    assert [sample.row for sample in file_samples] == [1, 4]


def test_rows_that_are_no_json(tmp_path: Path) -> None:
    """Invalid UTF-8, broken JSON, deep nesting and huge integers cost their own row alone."""
    good = b'{"index": 1, "completion": "good"}'
    path = tmp_path / "answers.jsonl"
    bad = [
        b'{"index": 0, "completion": "\xff"}',
        b'{"index": 0, "completion": "cut',
        b'{"index": 0, "completion": ' + b"[" * 10**5 + b"]" * 10**5 + b"}",
        b'{"index": 0, "completion": "a", "n": ' + b"9" * 10**6 + b"}",
        b"\x00\x01\x02",
    ]
    path.write_bytes(b"\n".join([good, *bad, good]))
    file_samples = read_samples(path)
    assert [sample.fault.split(" (")[0] for sample in file_samples] == [
        "",
        "is not valid UTF-8",
        "is not valid JSON",
        "is nested too deeply to be read",
        "contains an integer with too many digits to read; write it as a string",
        "is not valid JSON",
        "",
    ]


# JSON arrays


@pytest.mark.parametrize("name", ["answers.json", "answers.jsonl", "answers"])
@pytest.mark.parametrize("indent", [None, 2])
def test_a_json_array_is_read_as_rows(tmp_path: Path, name: str, indent: int | None) -> None:
    """People save rows as one array, in files of any name; its items are numbered from 1."""
    path = tmp_path / name
    rows = [{"index": 0, "completion": "a"}, 5, {"index": 1, "completion": "b"}]
    path.write_text("\n " + json.dumps(rows, indent=indent))
    file_samples = read_samples(path)
    assert texts(file_samples) == ["a", "", "b"]
    assert (file_samples[1].row, file_samples[1].fault) == (2, "is a JSON int, not an object")


def test_jsonl_under_the_name_json(tmp_path: Path) -> None:
    """Several objects, one a line, are rows whatever the file is called."""
    path = jsonl(
        tmp_path / "answers.json", [{"index": index, "completion": "a"} for index in range(3)]
    )
    assert len(read_samples(path)) == 3


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"a": 1}', "is JSON without a list of rows"),
        (b"[1, 2", "is not valid JSON (Expecting ',' delimiter, line 1, column 6)"),
        (b"\xff\xff{", "is not valid UTF-8"),
        (b"[" * 10**5, "is nested too deeply"),
        (b"[" + b"9" * 10**6 + b"]", "contains an integer with too many digits"),
        (b"[]", "contains no completions"),
        (b'{"samples": []}', "contains no completions"),
        (b"", "is not valid JSON"),
    ],
)
def test_a_json_file_that_cannot_be_used(tmp_path: Path, body: bytes, message: str) -> None:
    """One message that names the file and says what is wrong."""
    path = tmp_path / "log.json"
    path.write_bytes(body)
    with pytest.raises(InputError) as caught:
        read_samples(path)
    assert f"{str(path)!r} {message}" in str(caught.value)
    assert len(str(caught.value)) < 300


# Tables


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_a_csv_with_another_separator(tmp_path: Path, separator: str) -> None:
    """The header shows what separates the columns; a comma in a text is then a comma."""
    path = tmp_path / "answers.csv"
    path.write_text(f"index{separator}completion\n0{separator}#### 2,125\n")
    assert texts(read_samples(path)) == ["#### 2,125"]


def test_csv(tmp_path: Path) -> None:
    """CSV with quoted line breaks; a missing cell is a missing field."""
    path = tmp_path / "answers.csv"
    path.write_text('\ufeffindex,completion,model\n0,"a,\nb",m\n1\n', encoding="utf-8")
    file_samples = read_samples(path)
    assert texts(file_samples) == ["a,\nb", ""]
    assert file_samples[0].reference == Reference(str(0))
    assert (file_samples[1].row, file_samples[1].fault[:11]) == (3, "has no text")


def test_parquet(tmp_path: Path) -> None:
    """Parquet with lists, and the NaN that pandas writes for what is missing."""
    arrow = pytest.importorskip("pyarrow", reason="Parquet needs the extra 'parquet'")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "answers.parquet"
    columns = {
        "index": [0.0, 1.0],
        "completions": [["a", "b"], ["c"]],
        "error": [float("nan")] * 2,
        "sample": [float("nan")] * 2,
    }
    parquet.write_table(arrow.table(columns), path)
    file_samples = read_samples(path)
    assert texts(file_samples) == ["a", "b", "c"]
    assert {sample.error + sample.fault for sample in file_samples} == {""}
    assert file_samples[2].reference == Reference(str(1))


# Runs of ours


def completion(sample: int, text: str, error: str = "") -> Completion:
    return Completion(f"key{sample}", "7", sample, text, Finish.STOP, error=error, run="a run")


def test_a_run_folder(tmp_path: Path) -> None:
    """Of the rows of a key the last that is no error counts, else the last; in a copy too."""
    rows = [
        completion(0, "", "timeout"),
        completion(0, "\ud800 18"),
        completion(0, "", "again"),
        completion(1, "", "timeout"),
        completion(1, "", "http 500"),
    ]
    (tmp_path / "run").mkdir()
    for path in (tmp_path / "run" / "completions.jsonl", tmp_path / "copy.jsonl"):
        path.write_bytes(b"".join(to_line(row, "How?") for row in rows))
        file_samples = read_samples(path.parent if path.parent.name == "run" else path)
        assert [(item.run, item.text, item.sample, item.error) for item in file_samples] == [
            ("a run", "\ud800 18", 0, ""),
            ("a run", "", 1, "http 500"),
        ]
        assert file_samples[0].reference == Reference(id="7", question="How?")


def test_a_foreign_column_called_key_loses_no_row(tmp_path: Path) -> None:
    """Only rows that `gradeschool eval` stored are merged by their key."""
    rows = [{"index": index, "completion": "a", "key": "same"} for index in range(3)]
    assert len(read(tmp_path, *rows)) == 3


def test_a_folder_without_a_run_names_those_inside(tmp_path: Path) -> None:
    """A folder of run folders is a frequent slip."""
    with pytest.raises(InputError, match=r"has no completions\.jsonl; give a run folder"):
        read_samples(tmp_path)
    (tmp_path / "run").mkdir()
    jsonl(tmp_path / "run" / "completions.jsonl", [])
    with pytest.raises(InputError, match=f"give one of its folders: {tmp_path}/run"):
        read_samples(tmp_path)
    with pytest.raises(InputError, match="contains no completions; give a file with one row each"):
        read_samples(tmp_path / "run")


def test_the_run_of_the_present_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`gradeschool score .` names the run after the folder, not "."."""
    monkeypatch.chdir(tmp_path)
    jsonl(Path("completions.jsonl"), [{"index": 0, "completion": "a"}])
    assert read_samples(Path())[0].run == tmp_path.name


@pytest.mark.parametrize(
    ("manifest", "expected"),
    [
        ('{"dataset": {"name": "sample"}}', "sample"),
        ('{"dataset": "sample"}', None),
        ("[1]", None),
        ("{oops", None),
        (None, None),
    ],
)
def test_a_run_tells_its_dataset(tmp_path: Path, manifest: str | None, expected: object) -> None:
    """run.json names the dataset, for the folder and for a file in it; damage is no error."""
    if manifest is not None:
        (tmp_path / "run.json").write_text(manifest)
    assert dataset_of(tmp_path) == dataset_of(tmp_path / "completions.jsonl") == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"index": 3}, Reference("3")),
        ({"index": 3.0}, Reference("3")),
        ({"id": "gsm8k-12"}, Reference("gsm8k-12")),
        ({"question_id": "0012"}, Reference("0012")),
        ({"question": "How?"}, Reference(question="How?")),
        ({"id": "x", "question": "How?", "gold": "3"}, Reference("x", "How?", "3")),
    ],
)
def test_a_problem_is_named_by_id_or_question(
    tmp_path: Path, fields: dict[str, object], expected: Reference
) -> None:
    [sample] = read(tmp_path, {**fields, "completion": "x"})
    assert sample.reference == expected


def test_runs_samples_models_and_finishes(tmp_path: Path) -> None:
    rows = [
        {"index": 0, "completion": "a", "run": "r", "model": "m", "sample": 2, "finish": "length"},
        {"index": 0, "completion": "a", "run": "s", "sample": "3", "finish": "stop"},
        {"index": 0, "completion": "a", "run": {"name": "deep"}},
        {"index": 0, "completion": "a"},
    ]
    found = [(each.run, each.sample, each.finish, each.model) for each in read(tmp_path, *rows)]
    assert found == [
        ("r", 2, Finish.LENGTH, "m"),
        ("s", 3, Finish.STOP, "s"),
        ("deep", -1, Finish.UNKNOWN, "deep"),
        ("answers", -1, Finish.UNKNOWN, ""),
    ]


@pytest.mark.parametrize("error", ["timeout", {"code": 5}, True])
def test_a_failed_request_is_an_error_and_no_text(tmp_path: Path, error: object) -> None:
    rows = [{"index": 0, "completion": "a"}, {"index": 1, "completion": None, "error": error}]
    assert [bool(sample.error) for sample in read(tmp_path, *rows)] == [False, True]
    assert [sample.fault for sample in read(tmp_path, *rows)] == ["", ""]


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ({"index": 1}, "has no text: its 'completion' is null"),
        ({"index": 1, "completion": []}, "has no text: its 'completion' is []"),
        ({"index": 1, "completion": [True]}, "has no text"),
        ([1], "is a JSON list"),
        ("torn", "is a JSON str"),
    ],
)
def test_a_bad_row_says_what_is_wrong(tmp_path: Path, row: object, fault: str) -> None:
    good = {"index": 0, "completion": "good"}
    samples = read(tmp_path, good, row, good)
    assert texts(samples) == ["good", "", "good"]
    assert samples[1].fault.startswith(fault)


@pytest.mark.parametrize("depth", range(900, 1000, 7))
def test_values_of_any_depth_are_read_or_refused(tmp_path: Path, depth: int) -> None:
    good = '{"index": 0, "completion": "a"}\n'
    deep = f'{{"index": 0, "completion": {"[" * depth}{"]" * depth}}}\n'
    path = tmp_path / "deep.jsonl"
    path.write_text(good + deep)
    assert [bool(sample.fault) for sample in read_samples(path)] == [False, True]
