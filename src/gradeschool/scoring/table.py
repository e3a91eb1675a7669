"""The table of verdicts: a row for every completion, a column for every scorer; JSONL or Parquet.

It holds the rows of the file as they are: what repeats another row, and which number an unnumbered
sample has, is for whoever counts them (`FileTally`), here or when tables are joined again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol

from gradeschool.errors import InputError, MissingExtraError
from gradeschool.formats.tables import Row, read_rows
from gradeschool.scoring.forms import notes_from, words_of
from gradeschool.scoring.matrix import ERROR, OUTCOMES
from gradeschool.scoring.score import Columns
from gradeschool.scoring.verdicts import Scored

# shard: "I/N", empty where the rows are all. source: what the user gave. file, part: the file's
# name and its place, from 1, among those that were scored. digest: 64 bits of the text's SHA-256.
# form: empty, truncated, run-on, unfinished thinking, or none of them.
FIELDS = (
    *("shard", "source", "file", "part", "row"),
    *("run", "problem", "sample", "gold", "finish", "error", "digest", "form"),
)
WORDS = tuple(outcome.value for outcome in OUTCOMES)
CODES = {word: code for code, word in enumerate(WORDS)}
ROW_GROUP = 65_536
REMEMBERED = 100_000
PARTIAL = ".partial"  # what is not finished does not look as if it were


class Place(NamedTuple):
    """Where completions come from: the fields of a row that its file and shard share."""

    shard: str
    source: str
    file: str
    part: int


class Writer(Protocol):
    """A format of the table."""

    def write(self, place: Place, scored: Sequence[Scored]) -> None:
        """Append completions."""

    def finish(self) -> None:
        """Write what is left."""

    def close(self) -> None:
        """Let go of the file."""


class Table:
    """A table of verdicts on disk, complete when the `with` statement ends without an error.

    Raises InputError where the file is there already or its name ends in neither .jsonl nor
    .parquet, MissingExtraError for Parquet without pyarrow.
    """

    def __init__(self, path: Path, columns: Columns) -> None:
        if path.suffix not in (".jsonl", ".parquet"):
            raise InputError(
                f"the table {str(path)!r} ends in {path.suffix!r}; "
                "give a name that ends in .jsonl or .parquet"
            )
        if path.exists():
            raise InputError(f"{str(path)!r} is there already; remove it or give another name")
        self.path = path
        self._partial = path.with_name(path.name + PARTIAL)
        self._writer = _Parquet if path.suffix == ".parquet" else _Jsonl
        self._columns = columns

    def __enter__(self) -> Writer:
        """Open the file."""
        try:
            self._file = self._partial.open("wb")
        except OSError as error:
            raise InputError(f"cannot write {str(self.path)!r}: {error.strerror}") from error
        try:
            self._open: Writer = self._writer(self._file, self._columns)
        except MissingExtraError:
            self._file.close()
            self._partial.unlink()
            raise
        return self._open

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Give the file its name, or remove what there is of it."""
        try:
            if kind is None:
                self._open.finish()
        finally:
            self._open.close()
            self._file.close()
        if kind is None:
            self._partial.rename(self.path)
        else:
            self._partial.unlink()


class _Jsonl:
    def __init__(self, file: IO[bytes], columns: Columns) -> None:
        self._file = file
        self._columns = columns
        self._verdicts: dict[bytes, str] = {}  # rows have few different outcomes in all

    def write(self, place: Place, scored: Sequence[Scored]) -> None:
        shared = f"{json.dumps(place._asdict())[:-1]}, "
        lines = [f"{shared}{json.dumps(_fields(one))[1:-1]}{self._end(one)}" for one in scored]
        self._file.write("".join(lines).encode("ascii"))

    def finish(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self._verdicts.clear()

    def _end(self, one: Scored) -> str:
        end = self._verdicts.get(one.codes)
        if end is None:
            outcomes = dict(
                zip(self._columns.scorers, _words(one.codes, self._columns), strict=True)
            )
            if len(self._verdicts) >= REMEMBERED:
                self._verdicts.clear()
            end = self._verdicts[one.codes] = f", {json.dumps(outcomes)[1:]}\n"
        return end


def _fields(one: Scored) -> dict[str, Any]:
    return {
        "row": one.row,
        "run": one.run,
        "problem": one.problem,
        "sample": one.sample,
        "gold": one.gold,
        "finish": one.finish,
        "error": one.error,
        "digest": f"{one.digest:016x}",
        "form": words_of(one.notes),
    }


def _words(codes: bytes, columns: Columns) -> list[str]:
    return [WORDS[codes[place] if codes else ERROR] for place in columns.places]


class _Parquet:
    """Row groups of `ROW_GROUP` rows; outcomes and names are dictionary columns."""

    def __init__(self, file: IO[bytes], columns: Columns) -> None:
        try:
            import pyarrow as arrow
            import pyarrow.parquet as parquet
        except ImportError:
            raise MissingExtraError("writing Parquet", "parquet") from None
        self._arrow = arrow
        self._columns = columns
        self._groups = max(columns.places, default=-1) + 1
        word = arrow.dictionary(arrow.int32(), arrow.string())
        kinds = dict.fromkeys(FIELDS, word) | {
            "part": arrow.int32(),
            "row": arrow.int64(),
            "sample": arrow.int64(),
            "digest": arrow.string(),
        }
        self._outcomes = arrow.array(WORDS)
        outcome = arrow.dictionary(arrow.int8(), arrow.string())
        self._schema = arrow.schema(
            [*kinds.items(), *((scorer, outcome) for scorer in columns.scorers)]
        )
        self._writer = parquet.ParquetWriter(file, self._schema, compression="zstd")
        self._waiting: list[tuple[Place, Scored]] = []

    def write(self, place: Place, scored: Sequence[Scored]) -> None:
        self._waiting.extend((place, one) for one in scored)
        while len(self._waiting) >= ROW_GROUP:
            self._flush(self._waiting[:ROW_GROUP])
            del self._waiting[:ROW_GROUP]

    def finish(self) -> None:
        if self._waiting:
            self._flush(self._waiting)

    def close(self) -> None:
        self._writer.close()

    def _flush(self, rows: Sequence[tuple[Place, Scored]]) -> None:
        fields = [place._asdict() | _fields(one) for place, one in rows]
        columns = [
            self._arrow.array(
                [_storable(row[name]) for row in fields], self._schema.field(name).type
            )
            for name in FIELDS
        ]
        errors = bytes([ERROR]) * self._groups
        codes = b"".join(one.codes or errors for _, one in rows)
        for place in self._columns.places:
            indices = self._arrow.py_buffer(codes[place :: self._groups])
            column = self._arrow.Array.from_buffers(self._arrow.int8(), len(rows), [None, indices])
            columns.append(self._arrow.DictionaryArray.from_arrays(column, self._outcomes))
        batch = self._arrow.record_batch(columns, schema=self._schema)
        self._writer.write_batch(batch, row_group_size=ROW_GROUP)


def _storable(value: Any) -> Any:
    r"""Write lone surrogates, which are no UTF-8, as "\ud800"."""
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    return value


def read_table(path: Path) -> tuple[Columns, Iterator[tuple[Place, Scored]]]:
    """Return the scorers of a table of verdicts, and its rows in order; none where it is empty.

    Raises InputError where the file is no table of verdicts.
    """
    rows = read_rows(path)
    first = next(rows, None)
    if first is None:
        return Columns((), ()), iter(())
    scorers = tuple(name for name in first.fields if name not in FIELDS)
    if first.fault or not scorers or len(first.fields) != len(scorers) + len(FIELDS):
        raise InputError(
            f"{str(path)!r} is no table of verdicts; give tables that `gradeschool score -o` wrote"
        )
    columns = Columns(scorers, range(len(scorers)))
    return columns, (_row_of(row, scorers, path) for row in chain([first], rows))


def _row_of(row: Row, scorers: Sequence[str], path: Path) -> tuple[Place, Scored]:
    fields = row.fields
    try:
        codes = bytes(CODES[fields[scorer]] for scorer in scorers)
        place = Place._make(fields[name] for name in Place._fields)
        scored = Scored(
            row=fields["row"],
            run=fields["run"],
            problem=fields["problem"],
            gold=fields["gold"],
            sample=fields["sample"],
            finish=fields["finish"],
            digest=int(fields["digest"], 16),
            error=fields["error"],
            codes=b"" if fields["error"] else codes,
            notes=notes_from(fields["form"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        fault = row.fault or f"has another shape than the first ({error})"
        raise InputError(f"row {row.number} of the table {str(path)!r} {fault}") from error
    return place, scored
