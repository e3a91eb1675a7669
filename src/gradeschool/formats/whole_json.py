"""Files that are one JSON value: a log, or an array of rows."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gradeschool.errors import InputError
from gradeschool.tables import Row

ROWS = (".csv", ".parquet")  # endings of files that hold no JSON


def read_whole(path: Path) -> Any:
    """Return the value of a `.json` file, or of any other text file that begins with "[".

    None where the file is to be read row by row: it is none of these, or holds further values
    behind the first, as JSONL does. Raises InputError where it is one value that cannot be read.
    """
    if path.suffix in ROWS or not path.is_file():
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
