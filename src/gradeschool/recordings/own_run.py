"""The completions of a run folder: one for each key, whatever happened on the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gradeschool.tables import Row


def last_of_each_key(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield the row that counts for each key: the last that is no error, else the last.

    A failed sample is asked again and then has several rows. Rows that cannot be read, or that have
    no key, are all yielded.
    """
    counting: dict[str, Row] = {}
    for row in rows:
        key = row.fields.get("key")
        if not isinstance(key, str):
            yield row
        elif (
            key not in counting or counting[key].fields.get("error") or not row.fields.get("error")
        ):
            counting[key] = row
    yield from counting.values()
