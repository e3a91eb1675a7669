"""The completions of a run of ours: one for each key, whatever happened on the way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gradeschool.tables import Row


def is_own(fields: Mapping[str, Any]) -> bool:
    """Tell whether a row is one that `gradeschool eval` stored."""
    return {"schema", "problem_id", "sample"} <= fields.keys() and isinstance(
        fields.get("key"), str
    )


def counting_rows(rows: Iterable[Row]) -> set[int]:
    """Return the numbers of the rows that count: for each key the last that is no error.

    Where all of a key are errors it is the last of them. A failed sample is asked again and then
    has several rows. Rows that are not ours all count.
    """
    counting: dict[str, tuple[int, bool]] = {}
    others = set()
    for row in rows:
        if not is_own(row.fields):
            others.add(row.number)
            continue
        key, failed = row.fields["key"], bool(row.fields.get("error"))
        earlier = counting.get(key)
        if earlier is None or earlier[1] or not failed:
            counting[key] = row.number, failed
    return others.union(number for number, _ in counting.values())
