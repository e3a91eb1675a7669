"""The table of verdicts (`score -o`): a row for each sample, a column for each scorer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradeschool.answers.regions import NAMES
from gradeschool.atomic import replacing, require_new, writing_output
from gradeschool.errors import InputError, require_packages
from gradeschool.scoring.table import ERROR, OUTCOMES

if TYPE_CHECKING:
    from gradeschool.scoring.score import ScoredRow

FIELDS = {"source": str, "row": int, "run": str, "problem": str, "sample": int, "gold": str,
          "finish": str, "error": str, "form": str}  # fmt: skip
OF_ROW = [name for name in FIELDS if name not in ("source", "error", "form")]
WORDS = tuple(outcome.value for outcome in OUTCOMES)
ROW_GROUP = 65_536


def check_table(path: Path) -> None:
    """Raise InputError for a file that exists or whose name ends in neither suffix."""
    if path.suffix not in (".jsonl", ".parquet"):
        raise InputError(
            f"the table {str(path)!r} ends in {path.suffix!r}; "
            "give a name that ends in .jsonl or .parquet"
        )
    require_new(path)


@contextmanager
def verdict_table(
    path: Path, scorers: Sequence[str]
) -> Iterator[Callable[[str, Sequence[ScoredRow]], None]]:
    """Yield a function that appends rows of a source to a table of verdicts (.jsonl or .parquet).

    The file appears when the block ends well. Raises InputError if it cannot be written,
    MissingExtraError for Parquet without pyarrow.
    """
    check_table(path)
    waiting: list[dict[str, Any]] = []
    parquet: Any = None
    with writing_output(path), replacing(path) as part, part.open("wb") as file:
        if path.suffix == ".parquet":
            require_packages("writing Parquet", "parquet", "pyarrow")
            import pyarrow as arrow
            from pyarrow.parquet import ParquetWriter

            kinds = {str: arrow.string(), int: arrow.int64()}
            columns = [*((name, kinds[kind]) for name, kind in FIELDS.items())]
            columns += [(name, arrow.dictionary(arrow.int8(), arrow.string())) for name in scorers]
            parquet = ParquetWriter(file, arrow.schema(columns), compression="zstd")

        def flush() -> None:
            if parquet is None:
                file.writelines(json.dumps(fields).encode() + b"\n" for fields in waiting)
            elif waiting:
                parquet.write_table(arrow.Table.from_pylist(waiting, parquet.schema))
            waiting.clear()

        def write(source: str, rows: Sequence[ScoredRow]) -> None:
            for row in rows:
                form = ", ".join(name for i, name in enumerate(NAMES) if row.form >> i & 1)
                outcomes = row.outcomes or [ERROR] * len(scorers)
                fields = {
                    "source": source,
                    **{name: getattr(row, name) for name in OF_ROW},
                    "error": row.error or row.fault,
                    "form": form if row.outcomes else "unknown",
                    **dict(zip(scorers, map(WORDS.__getitem__, outcomes), strict=True)),
                }
                if parquet is not None:  # UTF-8 cannot encode lone surrogates: "\ud800" is written
                    fields = {
                        name: value.encode("utf-8", "backslashreplace").decode()
                        if isinstance(value, str) else value
                        for name, value in fields.items()
                    }  # fmt: skip
                waiting.append(fields)
            if parquet is None or len(waiting) >= ROW_GROUP:
                flush()

        yield write
        flush()
        if parquet is not None:
            parquet.close()
