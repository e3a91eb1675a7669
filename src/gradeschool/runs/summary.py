"""A summary of a run folder, read without locking it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradeschool.errors import InputError, StoreError
from gradeschool.formats.own_run import (
    COMPLETIONS_FILE,
    MANIFEST_FILE,
    RESULTS_FILE,
    read_completions,
    read_json,
    read_manifest,
)

DEEPEST = 4  # folders below the one that is listed


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One run folder: its run.json, its results.json (None before the end of a session), counts.

    answered, failed: samples by their last state. torn: rows that are not whole.
    """

    folder: Path
    manifest: Mapping[str, Any]
    results: Mapping[str, Any] | None
    answered: int
    failed: int
    torn: int

    @property
    def planned(self) -> int:
        """Return how many samples the run has when it is complete."""
        return int(self.manifest.get("problems", 0)) * int(self.manifest.get("samples", 0))

    @property
    def headline(self) -> Mapping[str, Any] | None:
        """Return the figures of the headline scorer, None before there are any."""
        scorers = (self.results or {}).get("scorers")
        return next(iter(scorers.values()), None) if isinstance(scorers, Mapping) else None

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return {
            "folder": str(self.folder),
            "planned": self.planned,
            "answered": self.answered,
            "failed": self.failed,
            "torn": self.torn,
            "run": dict(self.manifest),
            "results": None if self.results is None else dict(self.results),
        }


def summary_of(folder: Path) -> RunSummary:
    """Return the summary of a run folder; raises InputError where it is none."""
    manifest = read_manifest(folder)
    failed_by_key: dict[str, bool] = {}
    torn = 0
    try:
        for _, completion in read_completions(folder / COMPLETIONS_FILE):
            if completion is None:
                torn += 1
            else:
                failed = bool(completion.error) and failed_by_key.get(completion.key, True)
                failed_by_key[completion.key] = failed
    except OSError as error:
        raise StoreError(f"cannot read {str(folder)!r}: {error.strerror}") from error
    failed_count = sum(failed_by_key.values())
    return RunSummary(
        folder=folder,
        manifest=manifest,
        results=read_json(folder / RESULTS_FILE),
        answered=len(failed_by_key) - failed_count,
        failed=failed_count,
        torn=torn,
    )


def find_runs(folder: Path) -> Iterator[Path]:
    """Yield the run folders in a folder, itself included, sorted; raises InputError for none."""
    if not folder.is_dir():
        raise InputError(f"{str(folder)!r} is no folder; give the one that holds your runs")
    for depth in range(DEEPEST + 1):
        pattern = "/".join(["*"] * depth + [MANIFEST_FILE])
        yield from sorted(path.parent for path in folder.glob(pattern))
