"""Rows of CSV files, gzipped or not."""

import gzip
from pathlib import Path

import pytest

from gradeschool.errors import InputError
from gradeschool.formats.tables import read_rows


def test_a_csv_row_with_an_unquoted_comma_is_not_cut(tmp_path: Path) -> None:
    """What stands beyond the last column makes the row a fault, not another answer."""
    path = tmp_path / "answers.csv"
    path.write_text('index,completion\n146,#### 2,125\n0,"#### 2,125"\n')
    cut, whole = read_rows(path)
    assert cut.fault == "has more fields than the header; quote fields with commas"
    assert (whole.fault, whole.fields["completion"]) == ("", "#### 2,125")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('index,completion\n0,"#### 18\n1,#### 3\n', "cannot be read near"),
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
