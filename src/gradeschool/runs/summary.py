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
    other_models,
    planned_samples,
    read_completions,
    read_json,
    read_manifest,
)
from gradeschool.formats.settings import mapping

DEEPEST = 4  # levels of folders below the listed one


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One run folder: run.json, results.json (None before the end of a session), and counts.

    answered, failed: samples by their last state. torn: incomplete rows.
    """

    folder: Path
    manifest: Mapping[str, Any]
    results: Mapping[str, Any] | None
    answered: int
    failed: int
    torn: int

    @property
    def planned(self) -> int:
        """Return the number of samples in the complete run, 0 if run.json is damaged."""
        return planned_samples(self.manifest)

    @property
    def figures(self) -> dict[str, Mapping[str, Any]]:
        """Return the figures of the scorers with verdicts, the headline first."""
        named = self._scorers.items()
        return {str(name): figures for name, figures in named if _has_accuracy(figures)}

    @property
    def headline(self) -> Mapping[str, Any] | None:
        """Return the figures of the headline scorer, None if there are none yet."""
        return self.figures.get(next(iter(self._scorers), ""))

    @property
    def _scorers(self) -> Mapping[str, Any]:
        return mapping((self.results or {}).get("scorers"))

    @property
    def earlier_samples(self) -> int | None:
        """Return the number of samples in results.json, None if it is that of the stored ones."""
        n = (self.results or {}).get("n")
        return n if isinstance(n, int) and n != self.answered + self.failed else None

    @property
    def other_models(self) -> str:
        """Return the models that answered instead of the requested one, "" for none."""
        return other_models(
            str(self.manifest.get("model")), (self.results or {}).get("answered_by")
        )

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


def _has_accuracy(figures: Any) -> bool:
    if not isinstance(figures, Mapping):
        return False
    bounds = figures.get("ci95")
    values = [figures.get("accuracy"), *(bounds if isinstance(bounds, list) else ())]
    return len(values) == 3 and all(type(value) in (int, float) for value in values)


def summary_of(folder: Path) -> RunSummary:
    """Return the summary of a run folder; raises InputError for any other folder."""
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
    """Yield the run folders in a folder, or the folder itself, sorted; raises InputError."""
    if not folder.is_dir():
        raise InputError(f"{str(folder)!r} is not a folder; give the one with your runs")
    for depth in range(DEEPEST + 1):
        pattern = "/".join(["*"] * depth + [MANIFEST_FILE])
        yield from sorted(path.parent for path in folder.glob(pattern))
