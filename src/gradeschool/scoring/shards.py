"""Tables of verdicts on disk (JSONL, Parquet), complete or one shard for each machine.

A table has a row for every completion and a column for every scorer. Its rows are those of the
file: repeated rows, and the numbers of unnumbered samples, are determined when rows are counted
(`totals.FileTally`), here or when tables are joined again.
"""

from __future__ import annotations

import heapq
import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol

from gradeschool.atomic import replacing, require_new, writing_output
from gradeschool.errors import InputError, require_packages
from gradeschool.formats.tables import Row, read_rows
from gradeschool.scorer import clip
from gradeschool.scoring.forms import notes_from, words_of
from gradeschool.scoring.table import ERROR, OUTCOMES, ScoredRow

# shard: "I/N", empty for a complete table. source: as the user gave it. file, part: the file's name
# and its position, from 1, among the scored files. digest: 64 bits of the text's SHA-256.
# form: empty, truncated, run-on, unfinished thinking, or none of them.
FIELDS = (
    *("shard", "source", "file", "part", "row"),
    *("run", "problem", "sample", "gold", "finish", "error", "digest", "form"),
)
WORDS = tuple(outcome.value for outcome in OUTCOMES)
CODES = {word: code for code, word in enumerate(WORDS)}
ROW_GROUP = 65_536
REMEMBERED = 100_000


class FilePlace(NamedTuple):
    """The place of completions: the fields that all rows of a file and shard share."""

    shard: str
    source: str
    file: str
    part: int


class VerdictWriter(Protocol):
    """A writer for one format of the table."""

    def write(self, place: FilePlace, rows: Sequence[ScoredRow]) -> None:
        """Append completions."""

    def finish(self) -> None:
        """Write buffered rows."""

    def close(self) -> None:
        """Close the file."""


def verdict_table(path: Path, scorers: Sequence[str]) -> AbstractContextManager[VerdictWriter]:
    """Return a context that writes a table of verdicts, atomically when it ends without an error.

    Raises InputError if the file exists already or its name ends in neither .jsonl nor .parquet;
    entering the context raises it if the file cannot be written, and MissingExtraError for Parquet
    without pyarrow.
    """
    if path.suffix not in (".jsonl", ".parquet"):
        raise InputError(
            f"the table {str(path)!r} ends in {path.suffix!r}; "
            "give a name that ends in .jsonl or .parquet"
        )
    require_new(path)
    return _replaced(path, scorers)


@contextmanager
def _replaced(path: Path, scorers: Sequence[str]) -> Iterator[VerdictWriter]:
    with writing_output(path), replacing(path) as part, part.open("wb") as file:
        writer = (_Parquet if path.suffix == ".parquet" else _Jsonl)(file, scorers)
        with closing(writer):
            yield writer
            writer.finish()


class _Jsonl:
    def __init__(self, file: IO[bytes], scorers: Sequence[str]) -> None:
        self._file = file
        self._scorers = scorers
        self._verdicts: dict[bytes, str] = {}  # rows have few different outcomes

    def write(self, place: FilePlace, rows: Sequence[ScoredRow]) -> None:
        shared = f"{json.dumps(place._asdict())[:-1]}, "
        lines = [f"{shared}{json.dumps(_fields(row))[1:-1]}{self._end(row)}" for row in rows]
        self._file.write("".join(lines).encode("ascii"))

    def finish(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self._verdicts.clear()

    def _end(self, row: ScoredRow) -> str:
        end = self._verdicts.get(row.outcomes)
        if end is None:
            codes = row.outcomes or [ERROR] * len(self._scorers)
            outcomes = dict(zip(self._scorers, (WORDS[code] for code in codes), strict=True))
            if len(self._verdicts) >= REMEMBERED:
                self._verdicts.clear()
            end = self._verdicts[row.outcomes] = f", {json.dumps(outcomes)[1:]}\n"
        return end


def _fields(row: ScoredRow) -> dict[str, Any]:
    return {
        "row": row.row,
        "run": row.run,
        "problem": row.problem,
        "sample": None if row.sample < 0 else row.sample,
        "gold": row.gold,
        "finish": row.finish,
        "error": row.error,
        "digest": f"{row.digest:016x}",
        "form": words_of(row.notes),
    }


class _Parquet:
    """Row groups of `ROW_GROUP` rows; outcomes and names are dictionary columns."""

    def __init__(self, file: IO[bytes], scorers: Sequence[str]) -> None:
        require_packages("writing Parquet", "parquet", "pyarrow")
        import pyarrow as arrow
        import pyarrow.parquet as parquet

        self._arrow = arrow
        self._scorers = scorers
        word = arrow.dictionary(arrow.int32(), arrow.string())
        kinds = dict.fromkeys(FIELDS, word) | {
            "part": arrow.int32(),
            "row": arrow.int64(),
            "sample": arrow.int64(),
            "digest": arrow.string(),
        }
        self._outcomes = arrow.array(WORDS)
        outcome = arrow.dictionary(arrow.int8(), arrow.string())
        self._schema = arrow.schema([*kinds.items(), *((scorer, outcome) for scorer in scorers)])
        self._writer = parquet.ParquetWriter(file, self._schema, compression="zstd")
        self._waiting: list[tuple[FilePlace, ScoredRow]] = []

    def write(self, place: FilePlace, rows: Sequence[ScoredRow]) -> None:
        self._waiting.extend((place, row) for row in rows)
        while len(self._waiting) >= ROW_GROUP:
            self._flush(self._waiting[:ROW_GROUP])
            del self._waiting[:ROW_GROUP]

    def finish(self) -> None:
        if self._waiting:
            self._flush(self._waiting)

    def close(self) -> None:
        self._writer.close()

    def _flush(self, rows: Sequence[tuple[FilePlace, ScoredRow]]) -> None:
        fields = [place._asdict() | _fields(row) for place, row in rows]
        columns = [
            self._arrow.array(
                [_storable(row[name]) for row in fields], self._schema.field(name).type
            )
            for name in FIELDS
        ]
        errors = bytes([ERROR]) * len(self._scorers)
        outcomes = b"".join(row.outcomes or errors for _, row in rows)
        for index in range(len(self._scorers)):
            indices = self._arrow.py_buffer(outcomes[index :: len(self._scorers)])
            column = self._arrow.Array.from_buffers(self._arrow.int8(), len(rows), [None, indices])
            columns.append(self._arrow.DictionaryArray.from_arrays(column, self._outcomes))
        batch = self._arrow.record_batch(columns, schema=self._schema)
        self._writer.write_batch(batch, row_group_size=ROW_GROUP)


def _storable(value: Any) -> Any:
    r"""Write lone surrogates, which UTF-8 cannot encode, as "\ud800"."""
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    return value


def read_table(path: Path) -> tuple[tuple[str, ...], Iterator[tuple[FilePlace, ScoredRow]]]:
    """Return the scorers of a table of verdicts, and its rows in order; none if it is empty.

    Raises InputError if the file is not a table of verdicts.
    """
    rows = read_rows(path)
    first = next(rows, None)
    if first is None:
        return (), iter(())
    scorers = tuple(name for name in first.fields if name not in FIELDS)
    if first.fault or not scorers or len(first.fields) != len(scorers) + len(FIELDS):
        raise InputError(
            f"{str(path)!r} is not a table of verdicts; give tables from `gradeschool score -o`"
        )
    return scorers, (_row_of(row, scorers, path) for row in chain([first], rows))


def _row_of(row: Row, scorers: Sequence[str], path: Path) -> tuple[FilePlace, ScoredRow]:
    fields = row.fields
    try:
        outcomes = bytes(CODES[fields[scorer]] for scorer in scorers)
        place = FilePlace._make(fields[name] for name in FilePlace._fields)
        scored = ScoredRow(
            row=fields["row"],
            run=fields["run"],
            problem=fields["problem"],
            gold=fields["gold"],
            sample=-1 if fields["sample"] is None else fields["sample"],
            finish=fields["finish"],
            digest=int(fields["digest"], 16),
            error=fields["error"],
            outcomes=b"" if fields["error"] else outcomes,
            notes=notes_from(fields["form"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        fault = row.fault or f"has another shape than the first ({clip(str(error), 200)})"
        raise InputError(f"row {row.number} of the table {str(path)!r} {fault}") from error
    return place, scored


WRITTEN = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")


@dataclass(frozen=True, slots=True)
class Shard:
    """The share `index` of `count`, counted from 1."""

    index: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read "I/N". Raises InputError."""
        match = WRITTEN.fullmatch(text)
        shard = cls(int(match[1]), int(match[2])) if match else cls(0, 0)
        if not 1 <= shard.index <= shard.count:
            raise InputError(
                f"the shard is {text!r}; give I/N, counted from 1: of four 1/4, 2/4, 3/4 and 4/4"
            )
        return shard

    def selects(self, file: int) -> Callable[[int], bool]:
        """Return a function that selects the rows of a file in the shard, by row number.

        Row r of file f, both counted from 1, is in shard (r + f - 2) mod N + 1, so that files of
        one row are distributed too.
        """
        first = self.index - file + 1
        return lambda row: (row - first) % self.count == 0

    def __str__(self) -> str:
        """Return "I/N"."""
        return f"{self.index}/{self.count}"


def join_tables(
    paths: Sequence[Path],
) -> tuple[tuple[str, ...], Iterator[tuple[FilePlace, ScoredRow]]]:
    """Return the scorers and the rows of the tables of all shards, in the order of the files.

    Raises InputError if the tables have different scorers, or a shard is missing or occurs twice.
    """
    tables = [(path, *read_table(path)) for path in paths]
    written = [(path, scorers) for path, scorers, _ in tables if scorers]
    if not written:
        raise InputError(f"{', '.join(repr(str(path)) for path in paths)} contain no verdicts")
    path, scorers = written[0]
    for other, names in written:
        if names != scorers:
            raise InputError(
                f"{str(other)!r} and {str(path)!r} contain the verdicts of different scorers; "
                "score every shard with the same --scorer"
            )
    check = _Complete(len(paths))
    rows = heapq.merge(*(check.checked(path, rows) for path, _, rows in tables), key=_order)
    return scorers, check.after(rows)


def _order(row: tuple[FilePlace, ScoredRow]) -> tuple[int, int]:
    return row[0].part, row[1].row


class _Complete:
    """Checks that every shard occurs exactly once; a shard without rows has an empty table."""

    def __init__(self, tables: int) -> None:
        self.tables = tables
        self.files: dict[str, Path] = {}
        self.places: dict[int, FilePlace] = {}
        self.empty = tables

    def checked(
        self, path: Path, rows: Iterator[tuple[FilePlace, ScoredRow]]
    ) -> Iterator[tuple[FilePlace, ScoredRow]]:
        last = None
        for row in rows:
            if row[0].shard != last:
                self.empty -= last is None
                last = row[0].shard
                if self.files.setdefault(last, path) is not path:
                    raise InputError(
                        f"{str(self.files[last])!r} and {str(path)!r} contain the same rows "
                        f"(shard {last or 'of all'}); give each shard once"
                    )
            yield self._in_one_file(row[0]), row[1]

    def _in_one_file(self, place: FilePlace) -> FilePlace:
        """Return a place under the name of its file in the first shard: machines have own folders.

        Raises InputError for a file of another name.
        """
        first = self.places.setdefault(place.part, place)
        if first.source == place.source:
            return place
        if Path(first.source).name != Path(place.source).name:
            raise InputError(
                f"the tables are shards of different files: {first.source!r} and "
                f"{place.source!r}; join those of the same files, in the same order"
            )
        return first._replace(shard=place.shard)

    def after(
        self, rows: Iterator[tuple[FilePlace, ScoredRow]]
    ) -> Iterator[tuple[FilePlace, ScoredRow]]:
        yield from rows
        shards = {Shard.parse(name) for name in self.files if name}
        counts = {shard.count for shard in shards}
        if len(counts) > 1 or (counts and "" in self.files):
            raise InputError(
                f"the tables are shards of different splits: {', '.join(sorted(self.files))}; "
                "join those of one"
            )
        if counts and len(shards) + self.empty < (count := counts.pop()):
            missing = sorted(set(range(1, count + 1)) - {shard.index for shard in shards})
            names = ", ".join(f"{index}/{count}" for index in missing)
            raise InputError(f"shards are missing: {names}; give their tables too")
