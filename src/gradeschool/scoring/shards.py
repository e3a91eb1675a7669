"""Shards: a share of the rows for each of several machines, and their tables joined again."""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gradeschool.errors import InputError
from gradeschool.scoring.score import Columns
from gradeschool.scoring.table import Place, read_table
from gradeschool.scoring.verdicts import Scored

WRITTEN = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")


@dataclass(frozen=True, slots=True)
class Shard:
    """The share `index` of `count`, counted from 1."""

    index: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read "I/N". Raises InputError."""
        found = WRITTEN.fullmatch(text)
        shard = cls(int(found[1]), int(found[2])) if found else cls(0, 0)
        if not 1 <= shard.index <= shard.count:
            raise InputError(
                f"the shard is {text!r}; give I/N, counted from 1: of four 1/4, 2/4, 3/4 and 4/4"
            )
        return shard

    def wanted(self, file: int) -> Callable[[int], bool]:
        """Return which rows of a file are in the shard, by number.

        Row r of file f, both counted from 1, is in shard (r + f - 2) mod N + 1: files of one row
        are shared out too.
        """
        first = self.index - file + 1
        return lambda row: (row - first) % self.count == 0

    def __str__(self) -> str:
        """Return "I/N"."""
        return f"{self.index}/{self.count}"


def join(paths: Sequence[Path]) -> tuple[Columns, Iterator[tuple[Place, Scored]]]:
    """Return the scorers and the rows of the tables of all shards, in the order of the files.

    Raises InputError where the tables are of different scorers, or a shard is missing or there
    twice.
    """
    tables = [(path, *read_table(path)) for path in paths]
    written = [(path, columns) for path, columns, _ in tables if columns.scorers]
    if not written:
        raise InputError(f"{', '.join(repr(str(path)) for path in paths)} hold no verdicts")
    path, columns = written[0]
    for other, theirs in written:
        if theirs.scorers != columns.scorers:
            raise InputError(
                f"{str(other)!r} and {str(path)!r} hold the verdicts of different scorers; "
                "score every shard with the same --scorer"
            )
    check = _Complete(len(paths))
    rows = heapq.merge(*(check.seen(path, rows) for path, _, rows in tables), key=_order)
    return columns, check.after(rows)


def _order(row: tuple[Place, Scored]) -> tuple[int, int]:
    return row[0].part, row[1].row


class _Complete:
    """Sees to it that every shard is there, once; a shard without rows has an empty table."""

    def __init__(self, tables: int) -> None:
        self.tables = tables
        self.files: dict[str, Path] = {}
        self.empty = tables

    def seen(
        self, path: Path, rows: Iterator[tuple[Place, Scored]]
    ) -> Iterator[tuple[Place, Scored]]:
        last = None
        for row in rows:
            if row[0].shard != last:
                self.empty -= last is None
                last = row[0].shard
                if self.files.setdefault(last, path) is not path:
                    raise InputError(
                        f"{str(self.files[last])!r} and {str(path)!r} hold the same rows "
                        f"(shard {last or 'of all'}); give each shard once"
                    )
            yield row

    def after(self, rows: Iterator[tuple[Place, Scored]]) -> Iterator[tuple[Place, Scored]]:
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
