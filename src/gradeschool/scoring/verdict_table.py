"""The table of verdicts (`score -o`): a row for each sample, a column for each scorer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from gradeschool.answers.regions import NAMES
from gradeschool.atomic import replacing, require_new, writing_output
from gradeschool.errors import InputError, require_packages
from gradeschool.scoring.table import ERROR, OUTCOMES

if TYPE_CHECKING:
    from gradeschool.scoring.score import Row

FIELDS = {
    "source": str, "row": int, "run": str, "problem": str, "sample": int, "gold": str,
    "finish": str, "error": str, "form": str,
}  # fmt: skip
WORDS = tuple(outcome.value for outcome in OUTCOMES)
ROW_GROUP = 65_536


class VerdictTable:
    """Writes rows to an open file."""

    def __init__(self, file: IO[bytes], scorers: Sequence[str], as_parquet: bool) -> None:
        self._file = file
        self._scorers = scorers
        self._waiting: list[dict[str, Any]] = []
        self._parquet: Any = None
        if as_parquet:
            require_packages("writing Parquet", "parquet", "pyarrow")
            import pyarrow as arrow
            from pyarrow import parquet

            kinds = {str: arrow.string(), int: arrow.int64()}
            columns = [*((name, kinds[kind]) for name, kind in FIELDS.items())]
            columns += [(name, arrow.dictionary(arrow.int8(), arrow.string())) for name in scorers]
            self._parquet = parquet.ParquetWriter(file, arrow.schema(columns), compression="zstd")

    def write(self, source: str, rows: Sequence[Row]) -> None:
        """Append rows of a source."""
        for row in rows:
            form = ", ".join(name for i, name in enumerate(NAMES) if row.form >> i & 1)
            fields = {
                "source": source,
                **{name: getattr(row, name) for name in FIELDS if name not in ("source", "form")},
                "form": form if row.outcomes else "unknown",
            }
            outcomes = row.outcomes or [ERROR] * len(self._scorers)
            fields.update(zip(self._scorers, map(WORDS.__getitem__, outcomes), strict=True))
            self._waiting.append(fields)
        if self._parquet is None or len(self._waiting) >= ROW_GROUP:
            self._flush()

    def _flush(self) -> None:
        if self._parquet is None:
            lines = [json.dumps(fields) + "\n" for fields in self._waiting]
            self._file.write("".join(lines).encode("ascii"))
        elif self._waiting:
            import pyarrow as arrow

            rows = [
                {name: _storable(value) for name, value in fields.items()}
                for fields in self._waiting
            ]
            schema = self._parquet.schema
            self._parquet.write_table(arrow.Table.from_pylist(rows, schema))
        self._waiting.clear()

    def finish(self) -> None:
        """Write the last rows."""
        self._flush()
        if self._parquet is not None:
            self._parquet.close()


def _storable(value: Any) -> Any:
    r"""Return a value whose lone surrogates, which UTF-8 cannot encode, are written "\ud800"."""
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    return value


def check_table(path: Path) -> None:
    """Raise InputError for a file that exists or whose name ends in neither suffix."""
    if path.suffix not in (".jsonl", ".parquet"):
        raise InputError(
            f"the table {str(path)!r} ends in {path.suffix!r}; "
            "give a name that ends in .jsonl or .parquet"
        )
    require_new(path)


@contextmanager
def verdict_table(path: Path, scorers: Sequence[str]) -> Iterator[VerdictTable]:
    """Write a table of verdicts (.jsonl or .parquet), which appears when the block ends well.

    Raises InputError if the file cannot be written, MissingExtraError for Parquet without pyarrow.
    """
    check_table(path)
    with writing_output(path), replacing(path) as part, part.open("wb") as file:
        table = VerdictTable(file, scorers, path.suffix == ".parquet")
        yield table
        table.finish()
