"""What a page is made of: the runs, their completions and what was recorded about them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.completion import Finish
from gradeschool.datasets.load import load_dataset
from gradeschool.datasets.platinum import is_official_test, platinum_changes
from gradeschool.problem import Problem
from gradeschool.recordings.files import COMPLETIONS_FILE, read_recordings
from gradeschool.recordings.manifests import dataset_of
from gradeschool.runs.records import from_fields
from gradeschool.scoring.load import DEFAULT_DATASET
from gradeschool.scoring.select import Chosen, choose_runs
from gradeschool.tables import read_rows

RESULTS_FILE = "results.json"


class Facts(NamedTuple):
    """What a row says of a completion beside its text; None where it does not say."""

    finish: Finish = Finish.UNKNOWN
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class Entry(NamedTuple):
    """One completion of one problem; error is set where the provider gave none."""

    problem: Problem
    sample: int
    text: str
    error: str
    facts: Facts


@dataclass(frozen=True, slots=True)
class PageRun:
    """One run of a page: its completions, the JSON files beside them, and disputed labels by id."""

    name: str
    path: Path
    entries: tuple[Entry, ...]
    faults: int
    manifest: Mapping[str, Any]
    results: Mapping[str, Any]
    chosen: Chosen
    disputed: Mapping[str, Problem | None]


def gather(specs: Sequence[str], dataset: str | None, warn: Callable[[str], None]) -> list[PageRun]:
    """Read the runs that FILE or FILE#RUN arguments mean; raises InputError."""
    chosen = choose_runs(specs, dataset, warn)
    facts = {path: _facts_of(path) for path in {one.path for one in chosen}}
    return [_page_run(one, facts[one.path], dataset) for one in chosen]


def _page_run(chosen: Chosen, facts: Mapping[int, Facts], dataset: str | None) -> PageRun:
    nothing = Facts()
    entries = [
        Entry(one.problem, one.sample, one.text, one.error, facts.get(one.row, nothing))
        for one in chosen.run.samples
        if one.problem is not None
    ]
    return PageRun(
        name=chosen.run.name,
        path=chosen.path,
        entries=tuple(entries),
        faults=chosen.run.faults,
        manifest=chosen.manifest,
        results=_results_of(chosen.path),
        chosen=chosen,
        disputed=_disputed(dataset or dataset_of(chosen.path) or DEFAULT_DATASET, entries),
    )


def _disputed(dataset: str, entries: Sequence[Entry]) -> Mapping[str, Problem | None]:
    """Return the disputed labels of a dataset; none where a run brings problems of its own."""
    loaded = load_dataset(dataset)
    official = {problem.id: problem for problem in loaded.problems}
    if any(official.get(entry.problem.id) != entry.problem for entry in entries):
        return {}
    official_test = is_official_test(loaded.problems)
    return platinum_changes(loaded.problems, loaded.name) if official_test else {}


def _facts_of(path: Path) -> dict[int, Facts]:
    """Return the facts by row; rows that say nothing are left out."""
    return {row: facts for row, facts in _rows(path) if facts != Facts()}


def _rows(path: Path) -> Iterator[tuple[int, Facts]]:
    own = path / COMPLETIONS_FILE if path.is_dir() else path
    if own.name != COMPLETIONS_FILE:
        for recorded in read_recordings(path):
            yield recorded.row, Facts(recorded.finish)
        return
    for row in read_rows(own):
        completion = from_fields(row.fields)
        if completion is not None:
            yield row.number, Facts(completion.finish, *completion.usage[:2])


def _results_of(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(((path if path.is_dir() else path.parent) / RESULTS_FILE).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
