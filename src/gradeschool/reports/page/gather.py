"""What a page is made of: the runs, their completions and what was recorded about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.completion import Finish
from gradeschool.datasets.load import load_dataset
from gradeschool.datasets.platinum import is_official_test, platinum_changes
from gradeschool.formats.own_run import dataset_of, from_fields, results_of
from gradeschool.formats.read import COMPLETIONS_FILE, read_samples
from gradeschool.formats.tables import read_rows
from gradeschool.problem import Problem
from gradeschool.reports.page.token_values import TokenValues, token_values
from gradeschool.scoring.sources import DEFAULT_DATASET, Chosen, choose_runs
from gradeschool.verifier.candidates import text_key


class Facts(NamedTuple):
    """What a row says of a completion beside its text; None where it does not say.

    key: the completion's, of a run of ours that a verifier scored; else "".
    """

    finish: Finish = Finish.UNKNOWN
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    key: str = ""


class Entry(NamedTuple):
    """One completion of one problem; error is set where the provider gave none."""

    problem: Problem
    sample: int
    text: str
    error: str
    facts: Facts


@dataclass(frozen=True, slots=True)
class PageRun:
    """One run of a page: its completions, the JSON files beside them, and disputed labels by id.

    valued: a verifier's values of completions by the number of their entry, where there are any.
    """

    name: str
    path: Path
    entries: tuple[Entry, ...]
    faults: int
    manifest: Mapping[str, Any]
    results: Mapping[str, Any]
    chosen: Chosen
    disputed: Mapping[str, Problem | None]
    valued: Mapping[int, TokenValues] = field(default_factory=dict)


def gather(specs: Sequence[str], dataset: str | None, warn: Callable[[str], None]) -> list[PageRun]:
    """Read the runs that FILE or FILE#RUN arguments mean; raises InputError."""
    chosen = choose_runs(specs, dataset, warn)
    paths = {one.path for one in chosen}
    valued = {path: token_values(path, warn) for path in paths}
    facts = {path: _facts_of(path, bool(valued[path])) for path in paths}
    return [_page_run(one, facts[one.path], valued[one.path], dataset) for one in chosen]


def _page_run(
    chosen: Chosen,
    facts: Mapping[int, Facts],
    valued: Mapping[str, TokenValues],
    dataset: str | None,
) -> PageRun:
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
        results=results_of(chosen.path),
        chosen=chosen,
        disputed=_disputed(dataset or dataset_of(chosen.path) or DEFAULT_DATASET, entries),
        valued=_valued(entries, valued) if valued else {},
    )


def _valued(
    entries: Sequence[Entry], valued: Mapping[str, TokenValues]
) -> Mapping[int, TokenValues]:
    """Return the values by entry: by its key, or by the key that its texts give."""
    keys = (entry.facts.key or text_key(entry.problem.question, entry.text) for entry in entries)
    return {at: valued[key] for at, key in enumerate(keys) if key in valued}


def _disputed(dataset: str, entries: Sequence[Entry]) -> Mapping[str, Problem | None]:
    """Return the disputed labels of a dataset; none where a run brings problems of its own."""
    loaded = load_dataset(dataset)
    official = {problem.id: problem for problem in loaded.problems}
    if any(official.get(entry.problem.id) != entry.problem for entry in entries):
        return {}
    official_test = is_official_test(loaded.problems)
    return platinum_changes(loaded.problems, loaded.name) if official_test else {}


def _facts_of(path: Path, keyed: bool) -> dict[int, Facts]:
    """Return the facts by row; rows that say nothing are left out."""
    return {row: facts for row, facts in _rows(path, keyed) if facts != Facts()}


def _rows(path: Path, keyed: bool) -> Iterator[tuple[int, Facts]]:
    own = path / COMPLETIONS_FILE if path.is_dir() else path
    if own.name != COMPLETIONS_FILE:
        for recorded in read_samples(path):
            yield recorded.row, Facts(recorded.finish)
        return
    for row in read_rows(own):
        completion = from_fields(row.fields)
        if completion is not None:
            key = completion.key if keyed else ""
            yield row.number, Facts(completion.finish, *completion.usage[:2], key)
