"""Read the rows of tables: JSON lines and CSV (gzipped or not), JSON, Parquet, Arrow and Excel.

Every size is limited, because a file may be hostile or no table at all. The limits are far above
what completions need; together they keep a process below a gigabyte.
"""

import codecs
import csv
import gzip
import io
import json
import re
import struct
import zlib
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

from gradeschool.errors import InputError, require_packages
from gradeschool.formats.values import ROLES, rank_of_texts
from gradeschool.scorer import clip


class Row(NamedTuple):
    """One row: its 1-based number, its fields, and what is wrong with it ("" for nothing)."""

    number: int
    fields: Mapping[str, Any]
    fault: str = ""


DECODER, JSON_SPACE = json.JSONDecoder(), " \t\n\r"
SEPARATORS = ",;\t|"  # of CSV; the most frequent in the header counts
ARROW_FILE = b"ARROW1"  # an Arrow file begins with this, a stream does not
CSV = (".csv", ".tsv", ".tab")
ARROW = (".arrow", ".feather")
EXCEL = ".xlsx"
FORMATS = (
    "JSON lines, JSON, CSV, Excel, Parquet, Arrow, or a log of inspect, lm-eval, lighteval, HELM "
    "or OpenAI"
)
RUN_FIELDS = {*ROLES["run"][:8]}  # beside sheets that are runs, the others name no run
# Raised for a damaged Excel file by openpyxl, zipfile and the XML parser (a SyntaxError).
EXCEL_DAMAGE = (zlib.error, EOFError, OSError, ValueError, KeyError, IndexError,
                TypeError, AttributeError, RuntimeError, SyntaxError)  # fmt: skip
LARGEST_ROW = 32 * 2**20  # bytes of a line of JSON or CSV, or of a cell of Parquet or Arrow
LONGEST_LINE = 256 * 2**20  # bytes; a file with a longer one is refused as a whole
LARGEST_WHOLE = 128 * 2**20  # bytes of a file that is one JSON value
MOST_VALUES = 1_000_000  # objects and lists in one line, or (times 4) in one file of JSON
LARGEST_LITERAL = 64 * 2**10  # characters of a CSV cell that is parsed as a list
LISTS = ('["', "['", "[{")  # how such a cell begins
MOST_UNPACKED, LEAST_UNPACKED = 100, 2 * 2**20  # times and bytes; texts shrink to a third or tenth
LARGEST_SHEET = 256 * 2**20  # bytes of an Excel file once unpacked
OBJECTS = {"inputs", "outputs", "reference_outputs"}  # columns of LangSmith that hold JSON
# In the names of lists and sheets that have the rows with one verdict.
VERDICT = re.compile(
    r"(?:(?:in)?correct|right|wrong|pass(?:ed)?|success(?:es)?|fail(?:ed|ures?)?|bad|good|mistakes?"
    r"|errors?)(?:[_ -](?:answers|cases|examples|items|ones|problems|rows|samples))?"
)
LONG_KEY = 30  # characters of a question that is the key of its row
MOST_EMPTY_ROWS = 100_000  # of an Excel file, one after the other
MOST_BLANK_LINES = 1_000_000  # of JSON lines or CSV
MOST_TITLE_ROWS = 10  # rows above the header of an Excel table, header included
MOST_COLUMNS, LONGEST_NAME = 10_000, 120  # columns of a header, characters of a name in it
USUAL_NAME = re.compile(r"[A-Za-z_][\w .-]{0,30}")  # of a column; a row of texts and golds has none
LARGEST_BATCH = 400 * 2**20  # bytes of a compressed batch of Arrow once unpacked
ARROW_START = 8  # bytes before the first message of an Arrow file
ARROW_ROWS = 256  # rows of Parquet or Arrow that are converted together, unless they are large
LARGEST_SLICE = 16 * 2**20  # bytes of such rows
LONG_TEXTS = 2**20  # bytes of the distinct texts in a Parquet column; writers stop at as many
PACKED = {  # how the first line of a file begins that is no text
    (b"\x28\xb5\x2f\xfd",): "is compressed with zstd; unpack it",
    (b"BZh", b"\xfd7zXZ"): "is compressed with bzip2 or xz; unpack it, or use gzip",
    (b"PK\x03\x04",): "is a zip archive; unpack it",
    (b"\x1f\x8b",): "is compressed with gzip; give it a name that ends in .jsonl.gz or .csv.gz",
    (b"PAR1",): "is a Parquet file; give it a name that ends in .parquet",
    (b"\x80\x04", b"\x80\x05"): "is a pickle, which is not read: it could run code; save it as "
    "JSONL or Parquet",
    (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE): "is UTF-16; save it as UTF-8",
}


def read_rows(path: Path) -> Generator[Row, None, None]:
    """Yield the rows of a table in any format (any unknown ending is read as JSON lines).

    JSON lines and CSV may be gzipped, with .gz after their ending. An unreadable row is yielded
    with its `fault` and no fields, and reading continues. Closing the generator closes the file.
    Raises InputError if the file itself cannot be read, MissingExtraError for a missing library.
    """
    try:
        kind = "" if path.is_file() else "is a folder" if path.is_dir() else "does not exist"
    except (OSError, ValueError) as error:  # a name that is too long, or has a NUL
        kind = f"cannot be read: {error}"
    if kind:
        raise InputError(f"{str(path)!r} {kind}; give the path of a file")
    if (value := read_whole(path)) is not None:
        yield from rows_of_json(value, path)
    elif path.suffix in (".parquet", *ARROW):
        yield from _arrow_rows(path)
    elif path.suffix == EXCEL:
        yield from _excel_rows(path)
    else:
        with _opened(path) as file:
            is_csv = _unpacked_suffix(path) in CSV
            rows = _csv_rows(file, path.name) if is_csv else _lines(file, str(path))
            packed: Any = file if path.suffix == ".gz" else None
            for row in rows:
                if packed and packed.tell() > max(
                    LEAST_UNPACKED, MOST_UNPACKED * packed.fileobj.tell()
                ):
                    raise InputError(
                        f"{str(path)!r} unpacks to more than {MOST_UNPACKED} times its size; "
                        "unpack it, if all its rows are meant"
                    )
                yield row


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


# JSON


def _lines(file: BinaryIO, name: str) -> Iterator[Row]:
    """Yield the rows of JSON lines; raises InputError for a file of another kind."""
    number = blank = 0
    while line := file.readline(LARGEST_ROW):
        number += 1
        if line == b"\n":
            blank += 1
            if blank > MOST_BLANK_LINES:
                raise _too_blank(name)
            continue
        if number == 1:
            for marks, text in PACKED.items():
                if line.startswith(marks):
                    raise InputError(f"{name!r} {text}")
            line = line.removeprefix(codecs.BOM_UTF8)
        if len(line) == LARGEST_ROW and not line.endswith(b"\n"):
            length = LARGEST_ROW
            while (rest := file.readline(LARGEST_ROW)) and not rest.endswith(b"\n"):
                length += LARGEST_ROW
                if length >= LONGEST_LINE:
                    raise InputError(
                        f"line {number} of {name!r} is longer than {LONGEST_LINE >> 20} MiB; "
                        "remove it, or write its texts on several lines"
                    )
            fault = f"is longer than {LARGEST_ROW >> 20} MiB; split its texts into several rows"
            yield Row(number, {}, fault)
        elif line and not line.isspace():
            yield Row(number, *parse_line(line))


def _too_blank(file: str) -> InputError:
    return InputError(f"{file!r} has more than {MOST_BLANK_LINES:,} blank lines; remove them")


def parse_line(line: bytes) -> tuple[Mapping[str, Any], str]:
    """Return the fields of one line of JSON, and what is wrong with it ("" for nothing)."""
    if len(line) > MOST_VALUES and line.count(b"[") + line.count(b"{") > MOST_VALUES:
        return {}, f"has more than {MOST_VALUES:,} lists and objects; split it"
    try:
        text = line.decode("utf-8")
        # `json.loads` takes a fifth more time: it looks for space with a pattern. Files that begin
        # with a byte order mark may have been joined.
        fields, end = DECODER.raw_decode(text, len(text) - len(text.lstrip(f"\ufeff{JSON_SPACE}")))
        if rest := text[end:].lstrip(JSON_SPACE):
            raise json.JSONDecodeError("Extra data", text, len(text) - len(rest))
    except (ValueError, RecursionError) as error:
        return {}, _json_fault(error, " of the row", "")
    if not isinstance(fields, dict):
        return {}, f"is a JSON {type(fields).__name__}, not an object"
    return fields, ""


def _json_fault(error: Exception, of_bytes: str, line: str) -> str:
    """Return what is wrong with JSON; of_bytes: what its bytes are numbered in. line: its place."""
    if isinstance(error, UnicodeDecodeError):
        return f"is not valid UTF-8 (byte {error.start}{of_bytes})"
    if isinstance(error, json.JSONDecodeError):
        return f"is not valid JSON ({error.msg}, {line}column {error.colno})"
    if isinstance(error, RecursionError):
        return "is nested too deeply to be read"
    return "contains an integer with too many digits to read; write it as a string"


def read_whole(path: Path) -> Any:
    """Return the value of a `.json` file, or of any other text file that begins with "[".

    Returns None if the file must be read row by row: it is neither of these, or has further values
    after the first, as JSON lines do. Raises InputError if it is one value that cannot be read.
    """
    suffix = _unpacked_suffix(path)
    if suffix in (*CSV, *ARROW, ".parquet", EXCEL, ".eval") or not path.is_file():
        return None
    with _opened(path) as file:
        start = file.read(4096).removeprefix(codecs.BOM_UTF8).lstrip()
        if suffix != ".json" and not start.startswith(b"["):
            return None
        file.seek(0)
        content = file.read(LARGEST_WHOLE + 1)
    if len(content) > LARGEST_WHOLE or (
        len(content) > MOST_VALUES and content.count(b"[") + content.count(b"{") > 4 * MOST_VALUES
    ):
        if suffix == ".json" and start.startswith(b"{") and b"}\n{" in content:
            return None  # JSON lines
        raise InputError(
            f"{str(path)!r} is one JSON value of more than {LARGEST_WHOLE >> 20} MiB or "
            f"{4 * MOST_VALUES:,} lists and objects; write one object a line (JSONL)"
        )
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        line = f"line {error.lineno}, " if isinstance(error, json.JSONDecodeError) else ""
        if line and error.args[0].startswith("Extra data"):
            return None
        raise InputError(f"{str(path)!r} {_json_fault(error, '', line)}") from None


def rows_of_json(value: Any, path: Path) -> Generator[Row, None, None]:
    """Yield the rows in a JSON value; raises InputError if it has none.

    Understands an array of rows; an object with one or more such arrays (those with texts; of
    several, each is a run), of objects by number (OpenCompass) or by question, or of columns
    (pandas); an object with any of these for each run; `columns` and `data` (pandas "split", tables
    of Weights & Biases); and `results` or `details` that are any of these.
    """
    rows = _rows_in(value, str(path))
    if rows is None:
        names = ", ".join(map(repr, value)) if isinstance(value, Mapping) else type(value).__name__
        raise InputError(
            f"{str(path)!r} is JSON without a list of rows (it has {clip(names, 200)}); give one "
            "object a line, or an inspect log that was saved with its samples"
        )
    for number, fields in enumerate(rows, start=1):
        if isinstance(fields, Mapping):
            yield Row(number, fields)
        else:
            yield Row(number, {}, f"is a JSON {type(fields).__name__}, not an object")


def _rows_in(value: Any, file: str) -> list[Any] | None:
    if isinstance(value, list):
        return [_unpacked(item) for item in value]
    if not isinstance(value, Mapping) or not value:
        return None
    numbered = {
        name: item for name, item in value.items() if name.strip().isdecimal() and (
            isinstance(item, Mapping | str) or (isinstance(item, list) and item[:1]
                                                and isinstance(item[0], str))
        )
    }  # fmt: skip
    if len(numbered) >= max(1, len(value) - 1):  # the key is the id of a row; beside them "type"
        rows = numbered.items()
        return [{"index": name, **item} if isinstance(item, Mapping)
                else {"index": name, "response": item} for name, item in rows]  # fmt: skip
    names, data = value.get("columns"), value.get("data")
    if isinstance(names, list) and isinstance(data, list):
        return [dict(zip(map(str, names), row, strict=False)) if isinstance(row, list) else row
                for row in data]  # fmt: skip
    if all(isinstance(item, Mapping) for item in value.values()):
        places = dict.fromkeys(name for cells in value.values() for name in cells)
        if all(str(place).isdecimal() for place in places):  # {column: {row: cell}}
            return [{name: cells.get(place) for name, cells in value.items()} for place in places]
        if all(len(name) >= LONG_KEY and " " in name for name in value):  # the key is the question
            return [{"question": name, **item} for name, item in value.items()]
        inside = {
            run: _rows_in(item, file) or [] for run, item in value.items() if run != "results"
        }
        if inside and all(len(rows) > 1 for rows in inside.values()):
            return [{"run": run, **row} if isinstance(row, Mapping) else row
                    for run, rows in inside.items() for row in rows]  # fmt: skip
    lists = {name: item for name, item in value.items() if isinstance(item, list) and item}
    tables = {name: item for name, item in lists.items()
              if all(isinstance(row, Mapping | list) for row in item)}  # fmt: skip
    objects = {name: item for name, item in tables.items()
               if all(isinstance(row, Mapping) for row in item)}  # fmt: skip
    if len(objects) > 1:
        ranks = {
            name: rank_of_texts([*row, *(inner for item in row.values()
                                         if isinstance(item, Mapping) for inner in item)])
            for name, (row, *_) in objects.items()
        }  # fmt: skip
        named = [name for name in objects if ranks[name] == max(ranks.values())]
        if len(named) == 1 or have_verdicts(named):
            return [row for name in named for row in objects[name]]
        if not ranks[named[0]]:
            raise InputError(
                f"{file!r} has several lists of rows, {clip(', '.join(map(repr, named)), 200)}, "
                "none with a text under a usual name; save the right one in a file of its own"
            )
        return [{"run": name, **row} for name in named for row in objects[name]]
    if len(lists) == len(value) > 1 and len({len(item) for item in lists.values()}) == 1:
        return [dict(zip(value, cells, strict=True)) for cells in zip(*lists.values(), strict=True)]
    empty = [name for name, item in value.items() if item == [] and have_verdicts([name])]
    if objects and have_verdicts(objects) and not empty:
        raise InputError(
            f"{file!r} has only the rows of {next(iter(objects))!r}; give a file with all rows"
        )
    if tables:
        return [_unpacked(item) for item in max(tables.values(), key=len)]
    for name in ("results", "details"):
        if isinstance(value.get(name), Mapping):
            return _rows_in(value[name], file)
    return [value] if any(isinstance(item, str) for item in value.values()) else None


def have_verdicts(names: Iterable[str]) -> bool:
    """Return whether lists or sheets are named by a verdict: "correct", "bad_cases"."""
    return all(VERDICT.fullmatch(name.strip().lower()) for name in names)


def _unpacked(item: Any) -> Any:
    """Return a row, taken out of a list of one; a conversation gets a name."""
    if isinstance(item, list) and item and all(isinstance(turn, Mapping) for turn in item):
        is_chat = all("role" in turn or "from" in turn for turn in item)
        return {"messages": item} if is_chat else item[0] if len(item) == 1 else item
    return item


# CSV


def _csv_rows(file: BinaryIO, name: str) -> Iterator[Row]:
    """Yield the rows of CSV; the separator is detected in the header."""
    text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
    csv.field_size_limit(LARGEST_ROW)
    number = 1
    try:
        lines = _text_lines(text, name)
        header = next(lines, "")
        is_tsv = "\t" in header and name.removesuffix(".gz").endswith(CSV[1:])
        separator = "\t" if is_tsv else max(SEPARATORS, key=header.count)
        if header[:4] == "sep=":  # Excel's own line
            separator, header = header[4:5], next(lines, "")
        reader = csv.reader(chain([header], lines), delimiter=separator, strict=True)
        columns = next(reader, [])
        _check_columns(columns, f"the CSV file {name!r}")
        blank, objects = 0, OBJECTS & {*columns}
        for number, cells in enumerate(reader, start=2):
            if not cells or (len(columns) > 1 and not any(cells)):
                blank += 1
                if blank > MOST_BLANK_LINES:
                    raise _too_blank(name)
                continue
            long = max((len(cell) for cell in cells if cell[:2] in LISTS), default=0)
            if len(cells) > len(columns) and any(cells[len(columns) :]):
                yield Row(number, {}, "has more fields than the header; quote fields with commas")
            elif long > LARGEST_LITERAL:
                fault = f"has a list of {long:,} characters in a cell; write its texts as rows"
                yield Row(number, {}, fault)
            else:
                values = (parse_list(cell) or cell or None for cell in cells)  # "" is missing
                fields: dict[str, Any] = dict(zip(columns, values, strict=False))
                if "" in fields and not fields[""] and columns[0]:
                    del fields[""]  # commas at the end of each line
                for column in objects:
                    cell = fields.get(column)
                    if isinstance(cell, str) and cell[:1] == "{" and len(cell) <= LARGEST_LITERAL:
                        inside, fault = parse_line(cell.encode("utf-8", "surrogatepass"))
                        fields[column] = cell if fault else inside
                yield Row(number, fields)
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


def parse_list(cell: str) -> list[Any] | None:
    """Return the texts or objects that a cell lists in JSON or as Python prints them, else None."""
    if cell[:2] not in LISTS or cell[-1] != "]" or len(cell) > LARGEST_LITERAL:
        return None
    import ast  # 2 ms that few files need

    for parse in (json.loads, ast.literal_eval):
        try:
            items: list[Any] = parse(cell)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        if set(map(type, items)) in ({str}, {dict}):
            return items
    return None


def _text_lines(text: io.TextIOWrapper, name: str) -> Iterator[str]:
    while line := text.readline(LARGEST_ROW):
        if len(line) == LARGEST_ROW:
            raise InputError(
                f"the CSV file {name!r} has a line longer than {LARGEST_ROW >> 20} MiB; "
                "is it a CSV file?"
            )
        yield line


def _check_columns(columns: Sequence[str], file: str) -> None:
    """Raise InputError for a header with a duplicate name, or of no names but a row of texts."""
    if len(columns) > MOST_COLUMNS:
        raise InputError(f"{file} has {len(columns)} columns; is its first row the header?")
    long = next((name for name in columns if len(name) > LONGEST_NAME), "")
    if long and not any(map(USUAL_NAME.fullmatch, columns)):
        raise InputError(
            f"{file} has a column named {clip(long)!r}; its first row is no header, add one such "
            "as question, gold, response"
        )
    counts = Counter(name for name in columns if name)
    if twice := [name for name, count in counts.items() if count > 1]:
        raise InputError(f"{file} has two columns named {clip(twice[0])!r}; rename one")


# Excel


def _excel_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a workbook's sheets with texts, below their headers.

    The header is the first row with several texts; rows above it, such as a title, are left out. If
    no sheet has such a row, the first row of the first sheet is the header. Sheets count whose
    header names texts; without one, the first and those with the same header. Of several sheets,
    each is a run with the sheet's name if no column names the run. Formulas give their stored
    results.
    """
    from zipfile import BadZipFile, ZipFile  # 3 ms that no other format needs

    require_packages("reading Excel files", "excel", "openpyxl")
    import openpyxl

    try:
        with path.open("rb") as file, ZipFile(file) as archive:
            size = sum(member.file_size for member in archive.infolist())
            if size > LARGEST_SHEET:
                raise InputError(f"{str(path)!r} has {size} bytes once unpacked; save it as CSV")
            with closing(openpyxl.load_workbook(file, read_only=True, data_only=True)) as book:
                yield from _sheets_rows(book, path)
    except InputError:
        raise
    except (BadZipFile, *EXCEL_DAMAGE) as error:
        raise InputError(f"{str(path)!r} cannot be read as Excel: {clip(str(error))}") from error


def _sheets_rows(book: Any, path: Path) -> Iterator[Row]:
    tables = []  # each sheet with a table, the number of its header, and its columns
    for sheet in book.worksheets:
        sheet.reset_dimensions()  # the size that the file claims hides rows beyond it
        head = list(islice(sheet.iter_rows(values_only=True), MOST_TITLE_ROWS))
        for number, cells in enumerate(head, start=1):
            if sum(isinstance(cell, str) and bool(cell.strip()) for cell in cells) > 1:
                tables.append((sheet, number, _header(cells)))
                break
    if not tables:
        sheet = book.worksheets[0]
        tables.append((sheet, 1, _header(next(sheet.iter_rows(values_only=True), ()))))
    ranks = [rank_of_texts(columns) for *_, columns in tables]
    read = [table for table, rank in zip(tables, ranks, strict=True)
            if rank == max(ranks) and (rank or table[2] == tables[0][2])]  # fmt: skip
    names = {name.lower() for *_, columns in read for name in columns}
    divided = have_verdicts([sheet.title for sheet, *_ in read])
    if divided and len(read) == 1:
        raise InputError(
            f"{str(path)!r} has only the rows of {read[0][0].title!r}; give a file with all rows"
        )
    names_runs = len(read) > 1 and not divided and not names & RUN_FIELDS
    last = 0
    for sheet, header, columns in read:
        _check_columns(columns, f"the Excel file {str(path)!r}")
        first, empty = last + header + 1, 0
        run = {"run": sheet.title} if names_runs else {}
        rows = sheet.iter_rows(min_row=header + 1, max_col=len(columns) or 1, values_only=True)
        for last, cells in enumerate(rows, start=first):
            values = [cell if cell is None or isinstance(cell, str | int | float) else str(cell)
                      for cell in cells]  # fmt: skip
            if any(cell is not None for cell in values):
                empty = 0
                yield Row(last, dict(zip(columns, values, strict=False)) | run)
                continue
            empty += 1  # openpyxl fills the gap before a row of a high number
            if empty > MOST_EMPTY_ROWS:
                raise InputError(
                    f"{str(path)!r} has {MOST_EMPTY_ROWS:,} empty rows before row {last}; save "
                    "the table as CSV"
                )


def _header(cells: Iterable[Any]) -> list[str]:
    """Return the names in a row of a sheet, without empty ones at the end."""
    columns = ["" if cell is None else str(cell) for cell in cells]
    while columns and not columns[-1]:
        columns.pop()
    return columns


# Parquet and Arrow


def _arrow_rows(path: Path) -> Iterator[Row]:
    require_packages("reading Parquet and Arrow", "parquet", "pyarrow")
    import pyarrow as arrow

    number = 1
    try:
        for batch in _record_batches(path):
            batch.validate(full=True)  # otherwise a damaged file may crash the process
            step = ARROW_ROWS
            if batch.nbytes > LARGEST_SLICE:
                step = max(1, ARROW_ROWS * LARGEST_SLICE // batch.nbytes // 4)
            for start in range(0, batch.num_rows, step):
                part = batch.slice(start, step)
                is_large = part.nbytes >= LARGEST_ROW
                for place in range(part.num_rows if is_large else 1):
                    rows = part.slice(place, 1) if is_large else part
                    if rows.nbytes >= LARGEST_ROW:
                        fault = f"has {rows.nbytes >> 20} MiB; split its texts"
                        yield Row(number, {}, fault)
                        number += 1
                        continue
                    for cells in zip(*map(_values, rows.columns), strict=True):
                        yield Row(number, dict(zip(batch.schema.names, cells, strict=True)))
                        number += 1
    except (arrow.ArrowException, OSError, struct.error, UnicodeDecodeError) as error:
        kind = "Parquet" if path.suffix == ".parquet" else "Arrow"
        reason = clip(str(error), 200)
        raise InputError(f"{str(path)!r} is not a readable {kind} file: {reason}") from error


def _record_batches(path: Path) -> Iterator[Any]:
    """Yield the rows of a Parquet or Arrow file (datasets writes Arrow streams) in batches."""
    from pyarrow import OSFile, ipc, parquet

    if path.suffix == ".parquet":
        # No read-ahead: a row group may be as large as the file.
        with parquet.ParquetFile(path, pre_buffer=False) as file:
            if file.metadata.num_rows > max(MOST_EMPTY_ROWS, path.stat().st_size):
                raise InputError(
                    f"{str(path)!r} repeats few rows {file.metadata.num_rows:,} times; write each "
                    "row once"
                )
            repeated = _repeated_texts(file, path)
        with parquet.ParquetFile(path, pre_buffer=False, read_dictionary=repeated) as file:
            yield from file.iter_batches(batch_size=ARROW_ROWS)
        return
    with OSFile(str(path)) as source:  # not mapped: a file that shrinks would crash the process
        is_file = source.read(len(ARROW_FILE)) == ARROW_FILE
        source.seek(ARROW_START if is_file else 0)
        size = max(map(_unpacked_bytes, ipc.MessageReader.open_stream(source)), default=0)
        if size > LARGEST_BATCH:
            raise InputError(
                f"{str(path)!r} has {size >> 20} MiB in one batch; write it in smaller batches"
            )
        source.seek(0)
        if is_file:
            reader = ipc.open_file(source)
            yield from map(reader.get_batch, range(reader.num_record_batches))
        else:
            yield from ipc.open_stream(source)


def _unpacked_bytes(message: Any) -> int:
    """Return the bytes of a compressed Arrow batch once unpacked, 0 if it is not compressed.

    Each buffer begins with its length. Where they begin is in the message's FlatBuffers metadata,
    a RecordBatch `{length, nodes, buffers, compression}` or a DictionaryBatch `{id, data}` with
    one: https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc
    """
    if message.type not in ("record batch", "dictionary"):
        return 0
    data, body = message.metadata.to_pybytes(), message.body

    def number(kind: str, place: int) -> int:
        return int(struct.unpack_from(f"<{kind}", data, place)[0])

    def field(table: int, index: int) -> int:
        """Return the place that a field of a table refers to, 0 for a field that is not there."""
        slots = table - number("i", table)
        slot = 4 + 2 * index
        offset = number("H", slots + slot) if slot < number("H", slots) else 0
        return table + offset + number("I", table + offset) if offset else 0

    batch = field(number("I", 0), 2)
    if message.type == "dictionary":
        batch = field(batch, 1)
    buffers = field(batch, 2)
    if not field(batch, 3):
        return 0
    sizes = 0
    for place in range(buffers + 4, buffers + 4 + 16 * number("I", buffers), 16):
        if number("q", place + 8) > 0:
            start = number("q", place)
            sizes += max(0, int.from_bytes(body[start : start + 8], "little", signed=True))
    return sizes


def _repeated_texts(file: Any, path: Path) -> list[str]:
    """Return the columns of a Parquet file that name a few long texts many times.

    They are read as dictionaries, which store each text once. Raises InputError for such a column
    inside another column, and for cells that are too large.
    """
    names, metadata = {}, file.metadata
    paths = [file.schema.column(index).path for index in range(metadata.num_columns)]
    for group in range(metadata.num_row_groups):
        row_group = metadata.row_group(group)
        if row_group.total_byte_size < LONG_TEXTS:
            continue
        if row_group.total_byte_size > LARGEST_ROW * max(1, row_group.num_rows):
            size = row_group.total_byte_size // max(1, row_group.num_rows)
            raise InputError(
                f"{str(path)!r} has rows of about {size >> 20} MiB; split its texts, at most "
                f"{LARGEST_ROW >> 20} MiB a row are read"
            )
        # pyarrow crashes the process on damaged metadata of a column; reading a row of the column
        # raises an error instead.
        plain = [each for each in paths if "." not in each]
        next(file.iter_batches(batch_size=1, row_groups=[group], columns=plain), None)
        for index, column in enumerate(paths):
            chunk = row_group.column(index)
            size, packed = chunk.total_uncompressed_size, chunk.total_compressed_size
            if not chunk.has_dictionary_page or size < LONG_TEXTS:
                continue
            dictionary = chunk.data_page_offset - (chunk.dictionary_page_offset or 0)
            if dictionary > 2 * LONG_TEXTS or size > 50 * packed:
                names[column] = size
    if nested := next((name for name in names if "." in name), ""):
        raise InputError(
            f"the column {clip(nested)!r} repeats texts of {names[nested]} bytes; write it plainly"
        )
    return list(names)


def _values(column: Any) -> list[Any]:
    """Return the cells of a column as Python values; dates, decimals and bytes as text."""
    import pyarrow as arrow

    try:
        kind = column.type  # Arrow has a year 10,000, Python does not
        if any(is_kind(kind) for is_kind in (arrow.types.is_temporal, arrow.types.is_decimal,
                                             arrow.types.is_binary)):  # fmt: skip
            column = column.cast(arrow.string())
        if arrow.types.is_dictionary(column.type):  # each value is converted once: 50 times as fast
            if column.dictionary.nbytes > 4 * LARGEST_ROW:
                raise InputError(
                    f"a column repeats texts of {column.dictionary.nbytes >> 20} MiB; split them"
                )
            words, places = _values(column.dictionary), column.indices.to_pylist()
            return [None if place is None else words[place] for place in places]
        plain: list[Any] = column.to_pylist()
    except (ValueError, OverflowError, arrow.ArrowException) as error:
        reason = clip(str(error), 200)
        raise InputError(f"a column of the Parquet file cannot be read: {reason}") from error
    return plain
