"""Rows of JSONL, CSV (gzipped or not), JSON arrays and Parquet, each with its row number."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import re
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from gradeschool.errors import InputError, MissingExtraError


class Row(NamedTuple):
    """One row: its 1-based number, its fields, and what is wrong with it ("" for nothing)."""

    number: int
    fields: Mapping[str, Any]
    fault: str = ""


class LineBatch(NamedTuple):
    """LineBatch of JSONL that are not parsed yet, each with its row number."""

    numbered: Sequence[tuple[int, bytes]]

    def rows(self) -> Iterator[Row]:
        """Parse the lines."""
        return (Row(number, *parse_line(line)) for number, line in self.numbered)


class CellBatch(NamedTuple):
    """A record batch of Parquet, with the number of each row."""

    numbers: Sequence[int]
    batch: Any

    def rows(self) -> Iterator[Row]:
        """Make Python values of the cells. Raises InputError for text that is no UTF-8."""
        names = self.batch.schema.names
        columns = [_values(column) for column in self.batch.columns]
        for number, *values in zip(self.numbers, *columns, strict=True):
            yield Row(number, dict(zip(names, values, strict=True)))


class ParsedBatch(NamedTuple):
    """Rows that are parsed."""

    parsed: Sequence[Row]

    def rows(self) -> Iterator[Row]:
        """Yield them."""
        return iter(self.parsed)


# Rows of a file, few enough to be sent to another process, which then parses them.
TableBatch = LineBatch | CellBatch | ParsedBatch
BATCH_ROWS = 1024
SEPARATOR = re.compile(r"[;\t|]")  # in the one column of a header: the file's separator
# The key of the fields of a CSV row beyond the last column; no column has this name.
BEYOND = "\n"
BATCH_BYTES = 4 * 2**20  # JSONL: a batch ends with the line that reaches this
NO_JSON = (".csv", ".parquet")  # endings of files that hold no JSON
RowSelection = Callable[[int], bool]


def every_row(number: int) -> bool:
    """Select every row."""
    return True


def read_rows(path: Path) -> Generator[Row, None, None]:
    """Yield the rows of a .jsonl, .csv or .parquet file (any other ending is read as JSONL).

    The first two may be gzipped, with .gz after their ending. A row that cannot be read comes with
    its `fault` and no fields; the rows after it still come. A caller that stops half-way closes
    the generator, and with it the file. Raises InputError where the file itself cannot be read,
    MissingExtraError for Parquet without pyarrow.
    """
    for batch in read_batches(path):
        yield from batch.rows()


def read_batches(
    path: Path, selected: RowSelection = every_row
) -> Generator[TableBatch, None, None]:
    """Yield the rows of a file whose numbers are selected, in batches; see `read_rows`.

    One batch at a time is in memory, however long the file is.
    """
    if not path.is_file():
        kind = "is a folder" if path.is_dir() else "does not exist"
        raise InputError(f"{str(path)!r} {kind}; give the path of a file")
    if path.suffix == ".parquet":
        yield from _parquet_batches(path, selected)
        return
    packed = path.suffix == ".gz"
    try:
        with gzip.open(path) if packed else path.open("rb") as opened:
            file = cast("BinaryIO", opened)
            if (path.with_suffix("") if packed else path).suffix == ".csv":
                yield from _in_batches(
                    row for row in _csv_rows(file, path.name) if selected(row.number)
                )
            else:
                yield from _line_batches(file, selected)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{str(path)!r} is no whole gzip file: {error}; copy it anew") from error
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {error.strerror}") from error


def spread_rows(path: Path, count: int = 32) -> list[Row]:
    """Return some rows from all over a large file of JSON lines, none of any other file.

    Their numbers are not known: they have the number 0.
    """
    if path.suffix in (*NO_JSON, ".gz") or path.stat().st_size < BATCH_BYTES:
        return []
    rows = []
    with path.open("rb") as file:
        for index in range(count):
            file.seek(path.stat().st_size * index // count)
            file.readline()
            rows.append(Row(0, *parse_line(file.readline())))
    return [row for row in rows if not row.fault]


def _lines(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(file, start=1):
        if number == 1:
            line = line.removeprefix(codecs.BOM_UTF8)
        if not line.isspace() and line:
            yield number, line


def _line_batches(file: BinaryIO, selected: RowSelection) -> Iterator[LineBatch]:
    batch: list[tuple[int, bytes]] = []
    size = 0
    for number, line in _lines(file):
        if not selected(number):
            continue
        batch.append((number, line))
        size += len(line)
        if len(batch) == BATCH_ROWS or size >= BATCH_BYTES:
            yield LineBatch(batch)
            batch, size = [], 0
    if batch:
        yield LineBatch(batch)


def _in_batches(rows: Iterator[Row]) -> Iterator[ParsedBatch]:
    while batch := tuple(islice(rows, BATCH_ROWS)):
        yield ParsedBatch(batch)


def parse_line(line: bytes) -> tuple[Mapping[str, Any], str]:
    """Return the fields of one line of JSON, and what is wrong with it ("" for nothing)."""
    try:
        fields = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        return {}, f"is not valid UTF-8 (byte {error.start} of the row)"
    except json.JSONDecodeError as error:
        return {}, f"is not valid JSON ({error.msg}, column {error.colno})"
    except ValueError:
        return {}, "holds an integer of more digits than can be read; write it as a string"
    except RecursionError:
        return {}, "is nested too deeply to be read"
    if not isinstance(fields, dict):
        return {}, f"is a JSON {type(fields).__name__}, not an object"
    return fields, ""


def _csv_rows(file: BinaryIO, name: str) -> Iterator[Row]:
    text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
    csv.field_size_limit(2**31 - 1)
    reader = csv.DictReader(text, restkey=BEYOND, strict=True)
    number = 1
    try:
        columns = list(reader.fieldnames or ())
        if len(columns) == 1 and (separator := SEPARATOR.search(columns[0])):
            raise InputError(
                f"the CSV file {name!r} separates its columns by {separator[0]!r}; save it with "
                "commas"
            )
        if twice := [column for column in columns if columns.count(column) > 1]:
            raise InputError(
                f"the CSV file {name!r} has two columns named {twice[0]!r}; rename one"
            )
        for number, fields in enumerate(reader, start=2):
            if BEYOND in fields:
                yield Row(number, {}, "has more fields than the header; quote what holds a comma")
            else:
                yield Row(
                    number, {column: value for column, value in fields.items() if value is not None}
                )
    except UnicodeDecodeError:
        raise InputError(
            f"the CSV file {name!r} is not valid UTF-8 near row {number + 1}; save it as UTF-8"
        ) from None
    except csv.Error as error:
        raise InputError(
            f"the CSV file {name!r} cannot be read near row {number + 1}: {error}"
        ) from error
    finally:
        text.detach()  # the caller closes the file


def _parquet_batches(path: Path, selected: RowSelection) -> Iterator[CellBatch]:
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError:
        raise MissingExtraError("reading Parquet", "parquet") from None
    last = 0
    try:
        # Not buffered ahead: a row group may be as large as the file.
        with parquet.ParquetFile(path, pre_buffer=False) as file:
            for batch in file.iter_batches(batch_size=BATCH_ROWS):
                numbers = range(last + 1, last + 1 + batch.num_rows)
                last += batch.num_rows
                if selected is every_row:
                    yield CellBatch(numbers, batch)
                elif kept := [number for number in numbers if selected(number)]:
                    yield CellBatch(kept, batch.take([number - numbers.start for number in kept]))
    except (arrow.ArrowException, OSError) as error:
        raise InputError(f"{str(path)!r} is not a readable Parquet file: {error}") from error


def _values(column: Any) -> list[Any]:
    """Return the cells of a column as Python values."""
    import pyarrow as arrow

    try:
        if arrow.types.is_dictionary(column.type):  # each value is converted once: 50 times as fast
            words, places = _values(column.dictionary), column.indices.to_pylist()
            return [None if place is None else words[place] for place in places]
        plain: list[Any] = column.to_pylist()
    except (UnicodeDecodeError, arrow.ArrowException) as error:
        raise InputError(f"a column of the Parquet file cannot be read: {error}") from error
    return plain


# Files that are one JSON value: a log, or an array of rows


def read_whole(path: Path) -> Any:
    """Return the value of a `.json` file, or of any other text file that begins with "[".

    None where the file is to be read row by row: it is none of these, or holds further values
    after the first, as JSONL does. Raises InputError where it is one value that cannot be read.
    """
    if path.suffix in NO_JSON or not path.is_file():
        return None
    try:
        with path.open("rb") as file:
            if path.suffix != ".json" and not _begins_array(file.read(256)):
                return None
            file.seek(0)
            return json.loads(file.read())
    except UnicodeDecodeError as error:
        raise InputError(f"{str(path)!r} is not valid UTF-8 (byte {error.start})") from error
    except json.JSONDecodeError as error:
        if error.msg == "Extra data":
            return None
        where = f"line {error.lineno}, column {error.colno}"
        raise InputError(f"{str(path)!r} is not valid JSON ({error.msg}, {where})") from error
    except ValueError as error:
        raise InputError(
            f"{str(path)!r} holds an integer of more digits than can be read; write it as a string"
        ) from error
    except RecursionError:
        raise InputError(f"{str(path)!r} is nested too deeply to be read") from None
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {error.strerror}") from error


def _begins_array(head: bytes) -> bool:
    return head.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"[")


def array_rows(value: Any, path: Path) -> Iterator[Row]:
    """Yield the objects of a JSON array as rows; raises InputError where it is no array."""
    if not isinstance(value, list):
        raise InputError(
            f"{str(path)!r} holds no 'samples'; give an inspect log, or one JSON object a line"
        )
    for number, fields in enumerate(value, start=1):
        if isinstance(fields, dict):
            yield Row(number, fields)
        else:
            yield Row(number, {}, f"is a JSON {type(fields).__name__}, not an object")
