"""Read rows of JSONL and CSV (gzipped or not), JSON, Parquet, Arrow and Excel.

Every size is limited, because a file may be hostile or not a table at all. The limits are far above
what completions need.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import zlib
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from gradeschool.errors import InputError, require_packages
from gradeschool.scorer import clip


class Row(NamedTuple):
    """One row: its 1-based number, its fields, and what is wrong with it ("" for nothing)."""

    number: int
    fields: Mapping[str, Any]
    fault: str = ""


class LineBatch(NamedTuple):
    """Lines of JSONL that are not parsed yet, each with its row number."""

    numbered: Sequence[tuple[int, bytes]]

    def rows(self) -> Iterator[Row]:
        """Parse the lines into rows."""
        return (Row(number, *parse_line(line)) for number, line in self.numbered)


class CellBatch(NamedTuple):
    """A record batch of Parquet, with the number of each row."""

    numbers: Sequence[int]
    batch: Any

    def rows(self) -> Iterator[Row]:
        """Convert the cells to Python values. Raises InputError for text that is not UTF-8."""
        names = self.batch.schema.names
        columns = [_values(column) for column in self.batch.columns]
        for number, *values in zip(self.numbers, *columns, strict=True):
            yield Row(number, dict(zip(names, values, strict=True)))


class ParsedBatch(NamedTuple):
    """Parsed rows."""

    parsed: Sequence[Row]

    def rows(self) -> Iterator[Row]:
        """Yield the rows."""
        return iter(self.parsed)


# Rows of a file, few enough to send to another process, which parses them.
TableBatch = LineBatch | CellBatch | ParsedBatch
BATCH_ROWS = 1024
DECODER, JSON_SPACE = json.JSONDecoder(), " \t\n\r"
SEPARATORS = ",;\t|"  # of CSV; the most frequent in the header counts
ARROW_FILE = b"ARROW1"  # an Arrow file begins with this, a stream does not
# The columns that name the run of a row, in lower case.
RUN_FIELDS = ("run", "run_name", "model", "model_name", "model_id", "generator", "llm", "engine")
# Raised for a damaged Excel file by openpyxl, zipfile and the XML parser (a SyntaxError).
EXCEL_DAMAGE = (zlib.error, EOFError, OSError, ValueError, KeyError, IndexError,
                TypeError, AttributeError, RuntimeError, SyntaxError)  # fmt: skip
BATCH_BYTES = 4 * 2**20  # JSONL: a batch ends with the line that reaches this
CSV = (".csv", ".tsv", ".tab")
ARROW = (".arrow", ".feather")
EXCEL = ".xlsx"
NO_JSON = (*CSV, *ARROW, ".parquet", EXCEL)  # endings of files that are not JSON
LARGEST_ROW = 32 * 2**20  # bytes of a line of JSONL or CSV
LARGEST_WHOLE = 512 * 2**20  # bytes of a file that is one JSON value
LARGEST_SHEET = 256 * 2**20  # bytes of an Excel file once unpacked
MOST_TITLE_ROWS = 10  # rows above the header of an Excel table, header included
MOST_COLUMNS = 10_000
SPREAD_ROWS = 32  # read from all over a large file, to find out how it names problems
LONG_TEXTS = 2**20  # bytes of the distinct texts in a Parquet column; writers stop at as many
RowSelection = Callable[[int], bool]


def every_row(number: int) -> bool:
    """Select every row."""
    return True


def read_rows(path: Path) -> Generator[Row, None, None]:
    """Yield the rows of a .jsonl, .csv or .parquet file (any other ending is read as JSONL).

    JSONL and CSV may be gzipped, with .gz after their ending. An unreadable row is yielded with its
    `fault` and no fields, and reading continues. Closing the generator closes the file. Raises
    InputError if the file itself cannot be read, MissingExtraError for Parquet without pyarrow.
    """
    for batch in read_batches(path):
        yield from batch.rows()


def read_batches(
    path: Path, selected: RowSelection = every_row
) -> Generator[TableBatch, None, None]:
    """Yield the selected rows of a file in batches; see `read_rows`.

    Only one batch at a time is in memory, however long the file is.
    """
    if not path.is_file():
        kind = "is a folder" if path.is_dir() else "does not exist"
        raise InputError(f"{str(path)!r} {kind}; give the path of a file")
    if path.suffix in (".parquet", *ARROW):
        yield from _arrow_batches(path, selected)
        return
    if path.suffix == EXCEL:
        yield from _in_batches(row for row in _excel_rows(path) if selected(row.number))
        return
    with _opened(path) as file:
        if _unpacked_suffix(path) in CSV:
            yield from _in_batches(
                row for row in _csv_rows(file, path.name) if selected(row.number)
            )
        else:
            _require_text(path, file)
            yield from _line_batches(file, selected)


PACKED = {
    b"\x28\xb5\x2f\xfd": "is compressed with zstd; unpack it",
    b"BZh": "is compressed with bzip2; unpack it, or use gzip",
    b"\xfd7zXZ": "is compressed with xz; unpack it, or use gzip",
    b"PK\x03\x04": "is a zip archive; unpack it",
    b"\x1f\x8b": "is compressed with gzip; give it a name that ends in .jsonl.gz or .csv.gz",
    b"PAR1": "is a Parquet file; give it a name that ends in .parquet",
    b"\x80\x04": "is a pickle, which is not read: it could run code; save it as JSONL or Parquet",
    b"\x80\x05": "is a pickle, which is not read: it could run code; save it as JSONL or Parquet",
    codecs.BOM_UTF16_LE: "is UTF-16; save it as UTF-8",
    codecs.BOM_UTF16_BE: "is UTF-16; save it as UTF-8",
}


def _require_text(path: Path, file: BinaryIO) -> None:
    """Raise InputError for a file of another kind than JSON lines."""
    start = file.read(8)
    file.seek(0)
    for mark, text in PACKED.items():
        if start.startswith(mark):
            raise InputError(f"{str(path)!r} {text}")


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file, gzipped or not. Raises InputError, also while it is read."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            yield cast("BinaryIO", file)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{str(path)!r} is a damaged gzip file: {error}; copy it again") from error
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {error.strerror}") from error


def _unpacked_suffix(path: Path) -> str:
    return (path.with_suffix("") if path.suffix == ".gz" else path).suffix


def spread_rows(path: Path) -> list[Row]:
    """Return some rows from all over a large JSONL file; for other files, no rows.

    Their numbers are unknown, so each has the number 0.
    """
    if path.suffix in (*NO_JSON, ".gz") or path.stat().st_size < BATCH_BYTES:
        return []
    rows = []
    with path.open("rb") as file:
        for index in range(SPREAD_ROWS):
            file.seek(path.stat().st_size * index // SPREAD_ROWS)
            file.readline()
            rows.append(Row(0, *parse_line(file.readline())))
    return [row for row in rows if not row.fault]


def _lines(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield the non-empty lines with their numbers; b"" for a line that is too long."""
    number = 0
    while line := file.readline(LARGEST_ROW):
        number += 1
        if number == 1:
            line = line.removeprefix(codecs.BOM_UTF8)
        if len(line) == LARGEST_ROW and not line.endswith(b"\n"):
            while (rest := file.readline(LARGEST_ROW)) and not rest.endswith(b"\n"):
                pass
            yield number, b""
        elif not line.isspace() and line:
            yield number, line


def _line_batches(file: BinaryIO, selected: RowSelection) -> Iterator[LineBatch]:
    batch: list[tuple[int, bytes]] = []
    size = 0
    for number, line in _lines(file):
        if selected is not every_row and not selected(number):
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
    if not line:
        return {}, f"is longer than {LARGEST_ROW >> 20} MiB; split its texts into several rows"
    try:
        text = line.decode("utf-8")
        # `json.loads` takes a fifth more time: it looks for space with a pattern. Files that begin
        # with a byte order mark may have been joined.
        fields, end = DECODER.raw_decode(text, len(text) - len(text.lstrip(f"\ufeff{JSON_SPACE}")))
        if rest := text[end:].lstrip(JSON_SPACE):
            raise json.JSONDecodeError("Extra data", text, len(text) - len(rest))
    except UnicodeDecodeError as error:
        return {}, f"is not valid UTF-8 (byte {error.start} of the row)"
    except json.JSONDecodeError as error:
        return {}, f"is not valid JSON ({error.msg}, column {error.colno})"
    except ValueError:
        return {}, "contains an integer with too many digits to read; write it as a string"
    except RecursionError:
        return {}, "is nested too deeply to be read"
    if not isinstance(fields, dict):
        return {}, f"is a JSON {type(fields).__name__}, not an object"
    return fields, ""


def _csv_rows(file: BinaryIO, name: str) -> Iterator[Row]:
    """Yield the rows of CSV; the separator is detected in the header."""
    text = io.TextIOWrapper(file, encoding=_encoding(file), newline="")
    csv.field_size_limit(LARGEST_ROW)
    number = 1
    try:
        lines = _text_lines(text, name)
        header = next(lines, "")
        separator = max(SEPARATORS, key=header.count)
        reader = csv.reader(chain([header], lines), delimiter=separator, strict=True)
        columns = next(reader, [])
        check_columns(columns, f"the CSV file {name!r}")
        for number, cells in enumerate(reader, start=2):
            if not cells or (len(columns) > 1 and not any(cells)):
                continue
            if len(cells) > len(columns):
                yield Row(number, {}, "has more fields than the header; quote fields with commas")
            else:
                yield Row(number, dict(zip(columns, map(_csv_cell, cells), strict=False)))
    except UnicodeError:
        raise InputError(
            f"the CSV file {name!r} is not valid UTF-8 near row {number + 1}; save it as UTF-8"
        ) from None
    except csv.Error as error:
        raise InputError(
            f"the CSV file {name!r} cannot be read near row {number + 1}: {clip(str(error), 200)}"
        ) from error
    finally:
        text.detach()  # the caller closes the file


def _csv_cell(cell: str) -> Any:
    """Return the texts or messages that a cell lists in JSON or as Python prints them, else it."""
    if cell[:2] not in ('["', "['", "[{") or cell[-1] != "]":
        return cell
    import ast  # 2 ms that few files need

    for parse in (json.loads, ast.literal_eval):
        try:
            items = parse(cell)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        if set(map(type, items)) in ({str}, {dict}):
            return items
    return cell


def _encoding(file: BinaryIO) -> str:
    """Return the encoding of a text file: Excel saves "Unicode text" as UTF-16."""
    start = file.read(2)
    file.seek(0)
    return "utf-16" if start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8-sig"


def _text_lines(text: io.TextIOWrapper, name: str) -> Iterator[str]:
    while line := text.readline(LARGEST_ROW):
        if len(line) == LARGEST_ROW:
            raise InputError(
                f"the CSV file {name!r} has a line longer than {LARGEST_ROW >> 20} MiB; "
                "is it a CSV file?"
            )
        yield line


def check_columns(columns: Sequence[str], file: str) -> None:
    """Raise InputError for a header with a duplicate name or too many columns."""
    if len(columns) > MOST_COLUMNS:
        raise InputError(f"{file} has {len(columns)} columns; is its first row the header?")
    if twice := [name for name, count in Counter(columns).items() if count > 1]:
        raise InputError(f"{file} has two columns named {clip(twice[0])!r}; rename one")


def _excel_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of an Excel file (`_sheet_rows`); formulas give their stored results."""
    from zipfile import BadZipFile, ZipFile  # 3 ms that no other format needs

    require_packages("reading Excel files", "excel", "openpyxl")
    import openpyxl

    try:
        with path.open("rb") as file:
            with ZipFile(file) as archive:
                size = sum(member.file_size for member in archive.infolist())
            if size > LARGEST_SHEET:
                raise InputError(f"{str(path)!r} has {size} bytes once unpacked; save it as CSV")
            yield from _sheet_rows(
                openpyxl.load_workbook(file, read_only=True, data_only=True), path
            )
    except InputError:
        raise
    except (BadZipFile, *EXCEL_DAMAGE) as error:
        raise InputError(f"{str(path)!r} cannot be read as Excel: {clip(str(error))}") from error


def _sheet_rows(book: Any, path: Path) -> Iterator[Row]:
    """Yield the rows of a workbook's first sheet that has a table, below its header.

    The header is the first row with several texts; rows above it, such as a title, are left out. If
    no sheet has such a row, the first row of the first sheet is the header. Further sheets with the
    same header follow, each a run with the sheet's name if no column names the run.
    """
    with closing(book):
        tables = [(sheet, header) for sheet in book.worksheets if (header := _header_row(sheet))]
        tables = tables or [(book.worksheets[0], 1)]
        columns = _header(*tables[0])
        check_columns(columns, f"the Excel file {str(path)!r}")
        alike = [table for table in tables if _header(*table) == columns]
        names_runs = len(alike) > 1 and not {*RUN_FIELDS} & {*map(str.lower, columns)}
        last = 0
        for sheet, header in alike:
            first = last + header + 1
            run = {"run": sheet.title} if names_runs else {}
            rows = sheet.iter_rows(min_row=header + 1, values_only=True)
            for last, cells in enumerate(rows, start=first):
                if any(cell is not None for cell in cells):
                    fields = dict(zip(columns, map(_excel_cell, cells), strict=False))
                    yield Row(last, fields | run)


def _header(sheet: Any, number: int) -> list[str]:
    """Return the names in a row of a sheet, without empty ones at the end."""
    cells = next(sheet.iter_rows(min_row=number, max_row=number, values_only=True), ())
    columns = ["" if cell is None else str(cell) for cell in cells]
    while columns and not columns[-1]:
        columns.pop()
    return columns


def _header_row(sheet: Any) -> int:
    """Return the number of the first row with several texts near the top of a sheet, 0 for none."""
    head = sheet.iter_rows(max_row=MOST_TITLE_ROWS, values_only=True)
    for number, cells in enumerate(head, start=1):
        if sum(isinstance(cell, str) and bool(cell.strip()) for cell in cells) > 1:
            return number
    return 0


def _excel_cell(cell: Any) -> Any:
    return cell if cell is None or isinstance(cell, str | int | float) else str(cell)


def _arrow_batches(path: Path, selected: RowSelection) -> Iterator[CellBatch]:
    require_packages("reading Parquet and Arrow", "parquet", "pyarrow")
    import pyarrow as arrow

    last = 0
    try:
        for batch in _record_batches(path):
            batch.validate(full=True)  # otherwise a damaged file may crash the process
            numbers = range(last + 1, last + 1 + batch.num_rows)
            last += batch.num_rows
            if selected is every_row:
                yield CellBatch(numbers, batch)
            elif chosen := [number for number in numbers if selected(number)]:
                yield CellBatch(chosen, batch.take([number - numbers.start for number in chosen]))
    except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:  # Unicode: column names
        kind = "Parquet" if path.suffix == ".parquet" else "Arrow"
        reason = clip(str(error), 200)
        raise InputError(f"{str(path)!r} is not a readable {kind} file: {reason}") from error


def _record_batches(path: Path) -> Iterator[Any]:
    """Yield the rows of a Parquet or Arrow file (datasets writes Arrow streams) in batches."""
    from pyarrow import OSFile, ipc, parquet

    if path.suffix == ".parquet":
        # No read-ahead: a row group may be as large as the file.
        with parquet.ParquetFile(path, pre_buffer=False) as file:
            repeated = _repeated_texts(file)
        with parquet.ParquetFile(path, pre_buffer=False, read_dictionary=repeated) as file:
            yield from file.iter_batches(batch_size=BATCH_ROWS)
        return
    with OSFile(str(path)) as source:  # not mapped: a file that shrinks would crash the process
        if source.read(len(ARROW_FILE)) == ARROW_FILE:
            reader = ipc.open_file(source)
            batches = (reader.get_batch(index) for index in range(reader.num_record_batches))
        else:
            source.seek(0)
            batches = iter(ipc.open_stream(source))
        for batch in batches:
            for start in range(0, batch.num_rows, BATCH_ROWS):
                yield batch.slice(start, BATCH_ROWS)


def _repeated_texts(file: Any) -> list[str]:
    """Return the columns of a Parquet file that name a few long texts many times.

    They are read as dictionaries, which store each text once. Raises InputError for such a column
    inside another column.
    """
    names, metadata = {}, file.metadata
    paths = [file.schema.column(index).path for index in range(metadata.num_columns)]
    for group in range(metadata.num_row_groups):
        row_group = metadata.row_group(group)
        if row_group.total_byte_size < LONG_TEXTS:
            continue
        # pyarrow crashes the process on damaged metadata of a column; reading a row of the column
        # raises an error instead.
        plain = [path for path in paths if "." not in path]
        next(file.iter_batches(batch_size=1, row_groups=[group], columns=plain), None)
        for index, path in enumerate(paths):
            chunk = row_group.column(index)
            size, packed = chunk.total_uncompressed_size, chunk.total_compressed_size
            if not chunk.has_dictionary_page or size < LONG_TEXTS:
                continue
            dictionary = chunk.data_page_offset - (chunk.dictionary_page_offset or 0)
            if dictionary > 2 * LONG_TEXTS or size > 50 * packed:
                names[path] = size
    if nested := next((name for name in names if "." in name), ""):
        raise InputError(
            f"the column {clip(nested)!r} repeats texts of {names[nested]} bytes; write it plainly"
        )
    return list(names)


def _values(column: Any) -> list[Any]:
    """Return the cells of a column as Python values, dates and times as text."""
    import pyarrow as arrow

    try:
        if arrow.types.is_temporal(column.type):  # Arrow has a year 10,000, Python does not
            column = column.cast(arrow.string())
        if arrow.types.is_dictionary(column.type):  # each value is converted once: 50 times as fast
            words, places = _values(column.dictionary), column.indices.to_pylist()
            return [None if place is None else words[place] for place in places]
        plain: list[Any] = column.to_pylist()
    except (ValueError, OverflowError, arrow.ArrowException) as error:
        reason = clip(str(error), 200)
        raise InputError(f"a column of the Parquet file cannot be read: {reason}") from error
    return plain


# Files that are one JSON value: a log, or an array of rows


def read_whole(path: Path) -> Any:
    """Return the value of a `.json` file, or of any other text file that begins with "[".

    Returns None if the file must be read row by row: it is neither of these, or has further values
    after the first, as JSONL does. Raises InputError if it is one value that cannot be read.
    """
    if _unpacked_suffix(path) in NO_JSON or not path.is_file():
        return None
    with _opened(path) as file:
        if _unpacked_suffix(path) != ".json" and not _begins_array(file.read(256)):
            return None
        file.seek(0)
        content = file.read(LARGEST_WHOLE + 1)
    if len(content) > LARGEST_WHOLE:
        raise InputError(
            f"{str(path)!r} is one JSON value of more than {LARGEST_WHOLE >> 20} MiB; write "
            "one object a line (JSONL)"
        )
    try:
        return json.loads(content)
    except UnicodeDecodeError as error:
        raise InputError(f"{str(path)!r} is not valid UTF-8 (byte {error.start})") from error
    except json.JSONDecodeError as error:
        if error.msg == "Extra data":
            return None
        where = f"line {error.lineno}, column {error.colno}"
        raise InputError(f"{str(path)!r} is not valid JSON ({error.msg}, {where})") from error
    except ValueError as error:
        raise InputError(
            f"{str(path)!r} contains an integer with too many digits to read; write it as a string"
        ) from error
    except RecursionError:
        raise InputError(f"{str(path)!r} is nested too deeply to be read") from None


def _begins_array(head: bytes) -> bool:
    return head.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"[")


def array_rows(value: Any, path: Path) -> Iterator[Row]:
    """Yield the objects of a JSON array as rows; raises InputError for any other value."""
    if not isinstance(value, list):
        raise InputError(
            f"{str(path)!r} has neither 'samples' nor another list of rows; give an inspect log "
            "that was saved with its samples, or one JSON object a line"
        )
    for number, fields in enumerate(value, start=1):
        if isinstance(fields, dict):
            yield Row(number, fields)
        else:
            yield Row(number, {}, f"is a JSON {type(fields).__name__}, not an object")
