"""The completions of a run of ours: one for each key, whatever happened on the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gradeschool.tables import Row


def is_own(fields: Mapping[str, Any]) -> bool:
    """Tell whether a row is one that `gradeschool eval` stored."""
    return {"schema", "problem_id", "sample"} <= fields.keys() and isinstance(
        fields.get("key"), str
    )


def last_of_each_key(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield the row of ours that counts for each key: the last that is no error, else the last.

    A failed sample is asked again and then has several rows. All other rows are yielded as they
    come.
    """
    counting: dict[str, Row] = {}
    for row in rows:
        if not is_own(row.fields):
            yield row
            continue
        earlier = counting.get(row.fields["key"])
        if earlier is None or earlier.fields.get("error") or not row.fields.get("error"):
            counting[row.fields["key"]] = row
    yield from counting.values()
