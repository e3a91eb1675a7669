"""Rows of CSV files, gzipped or not, and lines of JSON."""

import gzip
import json
import zipfile
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gradeschool.errors import InputError
from gradeschool.formats.read import read_samples
from gradeschool.formats.tables import parse_line, read_rows


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
