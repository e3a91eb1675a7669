"""Rows of JSONL, CSV and Parquet files, each with the number of its row for messages."""

from __future__ import annotations

import codecs
import csv
import io
import json
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from gradeschool.errors import InputError, MissingExtraError


class Row(NamedTuple):
    """One row: its 1-based number, its fields, and what is wrong with it ("" for nothing)."""

    number: int
    fields: Mapping[str, Any]
    fault: str = ""


def read_rows(path: Path) -> Generator[Row, None, None]:
    """Yield the rows of a .jsonl, .csv or .parquet file (any other ending is read as JSONL).

    A row that cannot be read comes with its `fault` and no fields; the rows after it still come.
    Who stops half-way closes the generator, and with it the file.
    Raises InputError where the file itself cannot be read, MissingExtraError for Parquet without
    pyarrow.
    """
    if not path.is_file():
        kind = "is a folder" if path.is_dir() else "does not exist"
        raise InputError(f"{str(path)!r} {kind}; give the path of a file")
    if path.suffix == ".parquet":
        yield from _parquet_rows(path)
        return
    try:
        with path.open("rb") as file:
            yield from _csv_rows(file) if path.suffix == ".csv" else jsonl_rows(file)
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {error.strerror}") from error


def jsonl_rows(file: BinaryIO) -> Iterator[Row]:
    r"""Yield the rows of JSONL. Lines end at "\n" alone; empty lines are passed over."""
    for number, line in enumerate(file, start=1):
        if number == 1:
            line = line.removeprefix(codecs.BOM_UTF8)
        if not line.strip():
            continue
        yield Row(number, *parse_line(line))


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


def _csv_rows(file: BinaryIO) -> Iterator[Row]:
    text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
    csv.field_size_limit(2**31 - 1)
    reader = csv.DictReader(text)
    number = 1
    try:
        for number, fields in enumerate(reader, start=2):
            named = {name: value for name, value in fields.items() if name is not None}
            yield Row(number, {name: value for name, value in named.items() if value is not None})
    except UnicodeDecodeError:
        raise InputError(
            f"the CSV file is not valid UTF-8 near row {number + 1}; save it as UTF-8"
        ) from None
    except csv.Error as error:
        raise InputError(f"the CSV file cannot be read near row {number + 1}: {error}") from error
    finally:
        text.detach()  # the caller closes the file


def _parquet_rows(path: Path) -> Iterator[Row]:
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError:
        raise MissingExtraError("reading Parquet", "parquet") from None
    number = 0
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches():
                for fields in batch.to_pylist():
                    number += 1
                    yield Row(number, fields)
    except (arrow.ArrowException, OSError) as error:
        raise InputError(f"{str(path)!r} is not a readable Parquet file: {error}") from error
