"""Merge several folders of one run, such as shards of problems or of samples, into one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.completion import Completion
from gradeschool.errors import InputError, StoreError
from gradeschool.formats.own_run import (
    COMPLETIONS_FILE,
    MANIFEST_FILE,
    read_completions,
    read_manifest,
)
from gradeschool.runs.manifest import differing, plan_of
from gradeschool.runs.results import WrittenResults, scorers_of, write_results
from gradeschool.runs.store import RunStore


class MergedRun(NamedTuple):
    """Counts of rows: kept (one for each key), dropped (the others), torn; and the new score."""

    kept: int
    dropped: int
    torn: int
    results: WrittenResults


def merge(folders: Sequence[Path], output: Path) -> MergedRun:
    """Write the runs of these folders as one into a new folder, with its results.

    One row for each key is kept: the first that is no error, else the first. The folders must be
    of one model, protocol, dataset and decoding; StoreError says what differs. Raises InputError
    where `output` is not empty.
    """
    if output.exists() and any(output.iterdir()):
        raise InputError(f"{str(output)!r} is not empty; give a new folder with -o")
    manifests = [read_manifest(folder) for folder in folders]
    for folder, other in zip(folders[1:], manifests[1:], strict=True):
        difference = differing(manifests[0], other)
        if difference is not None:
            name, before, after = difference
            raise StoreError(
                f"{str(folders[0])!r} and {str(folder)!r} are not one run: the {name} is "
                f"{before} and {after}; merge runs that are alike"
            )
    rows, count, torn = _rows(folders)
    fields = _joined(manifests)
    plan = plan_of(fields)
    requests = plan.requests(str(fields["model"]))
    name = next((row.run for _, row in rows.values() if row.run), output.name)
    with RunStore(output) as store:
        store.write_json(MANIFEST_FILE, fields)
        store.append([line for line, _ in rows.values()], [row for _, row in rows.values()])
        results = write_results(plan, name, store, requests, scorers_of(plan))
    return MergedRun(len(rows), count - len(rows), torn, results)


def _rows(folders: Sequence[Path]) -> tuple[dict[str, tuple[bytes, Completion]], int, int]:
    """Return the row to keep for each key, and how many rows there were and how many torn."""
    kept: dict[str, tuple[bytes, Completion]] = {}
    count = torn = 0
    for folder in folders:
        for line, completion in read_completions(folder / COMPLETIONS_FILE):
            if completion is None:
                torn += 1
                continue
            count += 1
            earlier = kept.get(completion.key)
            if earlier is None or (earlier[1].error and not completion.error):
                kept[completion.key] = line, completion
    return kept, count, torn


def _count(fields: dict[str, Any], name: str) -> int:
    count = fields.get(name, 0)
    if type(count) is not int:
        raise StoreError(
            f"run.json is not as gradeschool wrote it: {name} is {count!r}; restore it"
        )
    return count


def _joined(manifests: Sequence[dict[str, Any]]) -> dict[str, Any]:
    last = max(manifests, key=lambda fields: str(fields.get("updated")))
    return {
        **last,
        "created": min(str(fields.get("created")) for fields in manifests),
        "problems": max(_count(fields, "problems") for fields in manifests),
        "samples": max(_count(fields, "samples") for fields in manifests),
    }
