"""Plain rows, arrays, tables and runs of ours: what is read, and what is said of bad rows."""

from __future__ import annotations

import gzip
import json
import zipfile
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st  # a fixture

from gradeschool.completion import Completion, Finish
from gradeschool.errors import InputError
from gradeschool.formats.read import read_samples
from gradeschool.formats.run_folder import to_line
from gradeschool.formats.tables import parse_line, read_rows
from gradeschool.formats.values import ProblemReference, ReadOptions, Sample, read_object
from tests.support.files import jsonl


def read(path: Path, *rows: object) -> list[Sample]:
    """Read rows back from `answers.jsonl` of a folder."""
    return read_samples(jsonl(path / "answers.jsonl", rows))


def texts(samples: Sequence[Sample]) -> list[str]:
    return [sample.text for sample in samples]


def test_an_unreadable_row_belongs_to_the_one_run_of_its_file(tmp_path: Path) -> None:
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
    samples = read_samples(path)
    assert [(each.row, each.text) for each in samples] == [(1, text), (4, "a\u2028b\u0085c")]


@pytest.mark.parametrize("name", ["answers.json", "answers.jsonl", "answers"])
@pytest.mark.parametrize("indent", [None, 2])
def test_a_json_array_is_read_as_rows(tmp_path: Path, name: str, indent: int | None) -> None:
    path = tmp_path / name
    rows = [{"index": 0, "completion": "a"}, 5, {"index": 1, "completion": "b"}]
    path.write_text("\n " + json.dumps(rows, indent=indent))
    samples = read_samples(path)
    assert texts(samples) == ["a", "", "b"]
    assert (samples[1].row, samples[1].fault) == (2, "is a JSON int, not an object")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"a": 1}', "is JSON without a list of rows"),
        (b"[1, 2", "is not valid JSON (Expecting ',' delimiter, line 1, column 6)"),
        (b"\xff\xff{", "is not valid UTF-8"),
        (b"[" * 10**5, "is nested too deeply"),
        (b"[" + b"9" * 10**6 + b"]", "contains an integer with too many digits"),
        (b"[]", "contains no completions"),
        (b'{"eval": {}, "samples": []}', "contains no completions"),
        (b"", "is not valid JSON"),
    ],
)
def test_a_json_file_that_cannot_be_used(tmp_path: Path, body: bytes, message: str) -> None:
    path = tmp_path / "log.json"
    path.write_bytes(body)
    with pytest.raises(InputError) as caught:
        read_samples(path)
    assert f"{str(path)!r} {message}" in str(caught.value)
    assert len(str(caught.value)) < 300


def test_csv_has_any_separator_and_quoted_line_breaks(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    for separator in ";\t|":
        path.write_text(f"index{separator}completion\n0{separator}#### 2,125\n")
        assert texts(read_samples(path)) == ["#### 2,125"]
    path.write_text('\ufeffindex,completion,model\n0,"a,\nb",m\n1\n', encoding="utf-8")
    first, second = read_samples(path)
    assert (first.text, first.reference) == ("a,\nb", ProblemReference("0"))
    assert (second.row, second.fault[:11]) == (3, "has no text")


def test_parquet_with_lists_and_missing_values(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow", reason="Parquet needs the extra 'parquet'")
    parquet = pytest.importorskip("pyarrow.parquet")
    missing = [float("nan")] * 2
    columns = {"index": [0.0, 1.0], "completions": [["a", "b"], ["c"]], "error": missing,
               "sample": missing}  # fmt: skip
    parquet.write_table(arrow.table(columns), tmp_path / "answers.parquet")
    samples = read_samples(tmp_path / "answers.parquet")
    assert texts(samples) == ["a", "b", "c"]
    assert {sample.error + sample.fault for sample in samples} == {""}
    assert samples[2].reference == ProblemReference("1")


def completion(sample: int, text: str, error: str = "") -> Completion:
    return Completion(f"key{sample}", "7", sample, text, Finish.STOP, error=error, run="a run")


def test_a_run_folder_counts_one_row_of_each_key(tmp_path: Path) -> None:
    """The first that is no error, else the last; in a copy too."""
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
        samples = read_samples(path.parent if path.parent.name == "run" else path)
        assert [(item.run, item.text, item.sample, item.error) for item in samples] == [
            ("a run", "\ud800 18", 0, ""),
            ("a run", "", 1, "http 500"),
        ]
        assert samples[0].reference == ProblemReference(id="7", question="How?")


def test_a_foreign_column_called_key_loses_no_row(tmp_path: Path) -> None:
    rows = [{"index": index, "completion": "a", "key": "same"} for index in range(3)]
    assert len(read(tmp_path, *rows)) == 3


def test_a_folder_without_a_run_names_those_inside(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no completions\.jsonl; give a run folder"):
        read_samples(tmp_path)
    (tmp_path / "run").mkdir()
    jsonl(tmp_path / "run" / "completions.jsonl", [])
    with pytest.raises(InputError, match=f"give one of its folders: {tmp_path}/run"):
        read_samples(tmp_path)
    with pytest.raises(InputError, match="contains no completions; give a file with one in each"):
        read_samples(tmp_path / "run")


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


@pytest.mark.parametrize(
    ("row", "fault", "is_error"),
    [
        ({"index": 1}, "has no text: its 'completion' is null", False),
        ({"index": 1, "completion": []}, "has no text: its 'completion' is []", False),
        ({"index": 1, "completion": [True]}, "has no text", False),
        ([1], "is a JSON list", False),
        ("torn", "is a JSON str", False),
        ({"index": 1, "completion": "a" * 2_200_000}, "has a text of 2,200,000", False),
        *(({"index": 1, "completion": None, "error": error}, "", True)
          for error in ("timeout", {"code": 5}, True)),
    ],
)  # fmt: skip
def test_a_bad_row_is_explained(tmp_path: Path, row: object, fault: str, is_error: bool) -> None:
    good = {"index": 0, "completion": "good"}
    samples = read(tmp_path, good, row, good)
    assert texts(samples) == ["good", "", "good"]
    assert samples[1].fault.startswith(fault)
    assert (bool(samples[1].error), bool(samples[1].fault)) == (is_error, not is_error)


def test_each_list_of_texts_in_a_json_object_is_a_run(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    a, b = [{"id": 0, "response": "1"}], [{"id": 1, "response": "2", "x": 3}]
    divided = (("correct", "wrong"), ("right_answers", "bad_cases"))
    for names, runs in ((("m", "n"), ["m", "n"]), *((each, ["a", "a"]) for each in divided)):
        path.write_text(json.dumps({"accuracy": 0.5, names[0]: a, names[1]: b}))
        assert [(sample.run, sample.text) for sample in read_samples(path)] == [
            (runs[0], "1"),
            (runs[1], "2"),
        ]


def test_a_list_of_one_verdict_alone_is_not_a_result(tmp_path: Path) -> None:
    path, rows = tmp_path / "a.json", [{"id": 0, "response": "1"}]
    path.write_text(json.dumps({"accuracy": 0.5, "bad_cases": rows}))
    with pytest.raises(InputError, match="has only the rows of 'bad_cases'"):
        list(read_samples(path))
    path.write_text(json.dumps({"correct": rows, "wrong": []}))
    assert [sample.text for sample in read_samples(path)] == ["1"]


def test_order_is_counted_in_each_run_with_its_damaged_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    lines = [json.dumps({"run": run, "response": "It is 1"}) for run in "aabb"]
    path.write_text("\n".join([lines[0], "", "{damaged", *lines[1:]]))
    samples = read_samples(path, options=ReadOptions(in_order=True))
    assert [each.reference.order for each in samples if not each.fault] == [0, 2, 0, 1]


def test_sheets_with_texts_are_read(tmp_path: Path) -> None:
    book = pytest.importorskip("openpyxl").Workbook()
    tables: dict[str, list[tuple[object, ...]]] = {
        "Sheet": [("model", "n"), ("a", 1)],
        "a": [("id", "response"), (0, "1")],
        "b": [("id", "response", "x"), (0, "2", 3)],
    }
    for name, rows in tables.items():
        sheet = book.active if name == "Sheet" else book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(tmp_path / "a.xlsx")
    samples = read_samples(tmp_path / "a.xlsx")
    assert [(sample.run, sample.text) for sample in samples] == [("a", "1"), ("b", "2")]
    book["a"].title, book["b"].title = "Correct", "Wrong rows"
    book.save(tmp_path / "a.xlsx")
    assert [sample.run for sample in read_samples(tmp_path / "a.xlsx")] == ["a", "a"]
    book.remove(book["Correct"])
    book.save(tmp_path / "a.xlsx")
    with pytest.raises(InputError, match="has only the rows of 'Wrong rows'"):
        list(read_samples(tmp_path / "a.xlsx"))


def test_decimals_and_bytes_of_parquet_are_texts(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    cells = {"response": [b"It is 18."], "answer": [Decimal("18.00")], "question": ["How?"]}
    parquet.write_table(arrow.table(cells), tmp_path / "a.parquet")
    [sample] = read_samples(tmp_path / "a.parquet")
    assert (sample.text, sample.reference.gold) == ("It is 18.", "18.00")


def test_a_row_with_too_many_texts_is_a_fault(tmp_path: Path) -> None:
    rows = [{"id": n, "response": ["a"] * (3 + 20_000 * n)} for n in range(2)]
    assert [bool(sample.fault) for sample in read_samples(jsonl(tmp_path / "a.jsonl", rows))] == [
        *[False] * 3,
        True,
    ]


@pytest.mark.parametrize("text", ["[1]", "{", "", "[" * 100_000, "\udcff"])
def test_what_is_no_object_is_an_error_with_the_advice(tmp_path: Path, text: str) -> None:
    path = tmp_path / "run.json"
    path.write_text(text, errors="surrogateescape")
    with pytest.raises(InputError, match=r"run\.json' cannot be read .*; copy it again"):
        read_object(path, "copy it again")
    path.write_text('{"seed": 0}')
    assert read_object(path, "") == {"seed": 0}


def test_a_csv_row_with_an_unquoted_comma_is_not_cut(tmp_path: Path) -> None:
    """What stands beyond the last column makes the row a fault, not another answer."""
    path = tmp_path / "answers.csv"
    path.write_text('index,completion\n146,#### 2,125\n0,"#### 2,125"\n')
    cut, whole = read_rows(path)
    assert cut.fault == "has more fields than the header; quote fields with commas"
    assert (whole.fault, whole.fields["completion"]) == ("", "#### 2,125")


def test_an_empty_cell_is_a_missing_text(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("question,response\nHow many?,\nHow many?,It is 5.\n", "utf-8")
    first, second = read_samples(path)
    assert first.fault == "has no text: its 'response' is null; give a string"
    assert second.text == "It is 5."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('index,completion\n0,"#### 18\n1,#### 3\n', "cannot be read near"),
        ('inputs,output\n{},1\n"2\n', "cannot be read near"),
        ("a,b,a\n1,2,3\n", "has two columns named 'a'"),
    ],
)
def test_a_csv_that_is_none_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "answers.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=f"'answers.csv' {message}"):
        list(read_rows(path))


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
def test_a_gzipped_file_reads_as_the_file_itself(tmp_path: Path, ending: str) -> None:
    bodies = {"jsonl": '{"index": 3, "completion": "ja\\n#### 3"}\n' * 40,
              "csv": 'index,completion\n3,"ja\n#### 3"\n' + '4,"#### 4"\n' * 40}  # fmt: skip
    plain, packed = tmp_path / f"a.{ending}", tmp_path / f"a.{ending}.gz"
    plain.write_text(bodies[ending])
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert list(read_rows(packed)) == list(read_rows(plain))
    for body in (packed.read_bytes()[:-9], plain.read_bytes(), b""):
        packed.write_bytes(body)
        if body:
            with pytest.raises(InputError, match="damaged gzip file"):
                list(read_rows(packed))
        else:
            assert list(read_rows(packed)) == []


PIECES = ('{"a": 1}', "{", "}", '"a"', ": ", "1e400", "NaN", "[1, 2]", ",", "\\ud800", "é", " ",
          "\t", "\r\n", "\x0b", "\xa0", "null")  # fmt: skip


@example(' {"a": 1} \r\n')
@example('{"a": 1}{"a": 2}')
@example('\t{"a": ')
@example('{"a": 1}\xa0')
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join))
def test_a_line_is_read_as_the_standard_library_reads_it(line: str) -> None:
    """The same fields, or the same message and column."""
    fields, fault = parse_line(line.encode())
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        assert fault == f"is not valid JSON ({error.msg}, column {error.colno})"
        return
    if isinstance(value, dict):
        assert (repr(fields), fault) == (repr(value), "")
    else:
        assert fault == f"is a JSON {type(value).__name__}, not an object"


def test_files_with_a_mark_at_their_beginning_may_be_joined(tmp_path: Path) -> None:
    path = tmp_path / "both.jsonl"
    path.write_bytes('\ufeff{"n": 1}\n\ufeff{"n": 2}\n'.encode())
    assert [(row.fields, row.fault) for row in read_rows(path)] == [({"n": 1}, ""), ({"n": 2}, "")]


@pytest.mark.parametrize("number", [5, 10**12])
def test_a_row_beyond_the_stated_size_of_a_sheet_is_not_lost(tmp_path: Path, number: int) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (("index", "completion"), (0, "18"), (1, "19")):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    path = tmp_path / "b.xlsx"
    with zipfile.ZipFile(tmp_path / "a.xlsx") as whole, zipfile.ZipFile(path, "w") as changed:
        for name in whole.namelist():
            body = whole.read(name).decode()
            for old, new in (('<row r="3"', '<row r="{}"'), ('"A3"', '"A{}"'), ('"B3"', '"B{}"')):
                body = body.replace(old, new.format(number)) if "sheet1" in name else body
            changed.writestr(name, body)
    if number > 10**6:
        with pytest.raises(InputError, match="empty rows before"):
            list(read_rows(path))
    else:
        assert [row.fields["completion"] for row in read_rows(path)] == ["18", "19"]


def test_a_long_list_in_a_csv_cell_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    cell = f"[{','.join(repr('') for _ in range(10**6))}]"
    path.write_text(f'index,completion\n0,"{cell}"\n1,18\n')
    long, good = read_rows(path)
    assert "has a list of 3,000,001 characters" in long.fault
    assert good.fields["completion"] == "18"


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_a_million_blank_lines_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"{name}.gz"
    path.write_bytes(gzip.compress(b"completion\n" + b"\n" * (10**6 + 1)))
    with pytest.raises(InputError, match="1,000,000 blank lines"):
        list(read_rows(path))
