"""A run with everything that other tools' formats ask for: prompts, verdicts, dates, versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.completion import Completion, Prompt
from gradeschool.datasets.load import load_dataset
from gradeschool.datasets.sources import ALIASES, SOURCES
from gradeschool.errors import InputError
from gradeschool.formats.own_run import COMPLETIONS_FILE, dataset_of, from_fields
from gradeschool.problem import Problem
from gradeschool.reports.page.gather import Entry, PageRun, gather
from gradeschool.reports.page.verdicts import cause_of
from gradeschool.runs.manifest import plan_of
from gradeschool.scorer import Scorer
from gradeschool.scoring.load import DEFAULT_DATASET
from gradeschool.scoring.matrix import Matrix
from gradeschool.scoring.notes import Warn
from gradeschool.tables import read_rows
from gradeschool.verdict import Outcome, Verdict


class Item(NamedTuple):
    """One sample with its verdicts, in the order of the scorers; none where it failed.

    place: the row of its problem in the dataset, from 0. stored: the row of the run folder, None
    for other files. prompt: what was sent, None where that cannot be known. cause: why the
    headline scorer does not call it correct.
    """

    problem: Problem
    place: int
    sample: int
    text: str
    error: str
    finish: str
    stored: Completion | None
    prompt: Prompt | None
    verdicts: tuple[Verdict, ...]
    cause: str


@dataclass(frozen=True, slots=True)
class Bundle:
    """One run to export; the first scorer is the headline.

    task: the protocol, or the dataset of a file that names none. size: problems in the dataset.
    begun, ended: of the run; of a file without a run.json, when it was last changed.
    """

    model: str
    task: str
    dataset: str
    size: int
    scorers: tuple[Scorer, ...]
    items: tuple[Item, ...]
    manifest: Mapping[str, Any]
    begun: datetime
    ended: datetime
    faults: int

    def facts(self, name: str) -> Mapping[str, Any]:
        """Return an object of run.json, {} where it has none of that name."""
        found = self.manifest.get(name)
        return found if isinstance(found, Mapping) else {}

    def answered(self) -> tuple[Item, ...]:
        """Return the samples that have a completion."""
        return tuple(item for item in self.items if not item.error)

    def is_whole(self) -> bool:
        """Tell whether every sample that the run asked for is there, failed ones included."""
        planned = (self.manifest.get("problems"), self.manifest.get("samples"))
        counts = [count for count in planned if isinstance(count, int)]
        return len(counts) < 2 or len(self.items) >= counts[0] * counts[1]


def the_run(spec: str, dataset: str | None, warn: Warn) -> PageRun:
    """Return the one run that FILE or FILE#RUN means; raises InputError where it is not one."""
    found = gather([spec], dataset, warn)
    if len(found) > 1:
        names = ", ".join(repr(f"{spec}#{run.name}") for run in found[:5])
        more = f" and {len(found) - 5} more" if len(found) > 5 else ""
        raise InputError(
            f"{spec!r} holds {len(found)} runs, an export is of one; give {names}{more}"
        )
    if all(entry.error for entry in found[0].entries):
        count = len(found[0].entries)
        raise InputError(f"{spec!r} has nothing to export: its {count} samples have no completion")
    return found[0]


def bundle_of(run: PageRun, scorers: Sequence[Scorer], dataset: str | None, warn: Warn) -> Bundle:
    """Return a run with the verdicts of these scorers, the first of which is the headline."""
    name = dataset or dataset_of(run.path) or DEFAULT_DATASET
    problems = load_dataset(name).problems
    places = {problem.id: at for at, problem in enumerate(problems)}
    protocol = run.manifest.get("protocol")
    task = protocol.get("name") if isinstance(protocol, Mapping) else None
    shown = dataset_name(name)
    begun, ended = _dates(run)
    return Bundle(
        model=run.name,
        task=str(task or shown),
        dataset=shown,
        size=len(problems),
        scorers=tuple(scorers),
        items=tuple(_items(run, scorers, places, warn)),
        manifest=run.manifest,
        begun=begun,
        ended=ended,
        faults=run.faults,
    )


def dataset_name(name: str) -> str:
    """Return a dataset's name; of a file its own alone, for folders are of one machine."""
    return ALIASES.get(name, name) if name in SOURCES or name in ALIASES else Path(name).name


def _items(
    run: PageRun, scorers: Sequence[Scorer], places: Mapping[str, int], warn: Warn
) -> list[Item]:
    usable = [entry for entry in run.entries if not entry.error]
    Matrix(scorers).expect((entry.text, entry.problem) for entry in usable)
    samples = (sample for sample in run.chosen.run.samples if sample.problem is not None)
    stored, prompts = _stored(run.path), _prompts(run.manifest, warn)
    others: dict[str, int] = {}
    items = []
    for entry, sample in zip(run.entries, samples, strict=True):
        known = stored.get(sample.row)
        id = entry.problem.id
        place = places.get(id)
        if place is None:  # a problem that the file brings itself
            place = others.setdefault(id, len(places) + len(others))
        verdicts, cause = _judged(entry, scorers, run.disputed)
        items.append(
            Item(
                problem=entry.problem,
                place=place,
                sample=entry.sample,
                text=entry.text,
                error=entry.error,
                finish=str(sample.finish),
                stored=known,
                prompt=prompts.get(known.key) if known else None,
                verdicts=verdicts,
                cause=cause,
            )
        )
    return items


def _judged(
    entry: Entry, scorers: Sequence[Scorer], disputed: Mapping[str, Problem | None]
) -> tuple[tuple[Verdict, ...], str]:
    if entry.error:
        return (), ""
    verdicts = tuple(scorer.judge(entry.text, entry.problem) for scorer in scorers)
    missed = verdicts[0].outcome in (Outcome.WRONG, Outcome.NO_ANSWER)
    return verdicts, cause_of(entry, verdicts[0], disputed) if missed else ""


def _stored(path: Path) -> dict[int, Completion]:
    """Return the rows of a run folder by number; none of other files."""
    file = path / COMPLETIONS_FILE if path.is_dir() else path
    if file.name != COMPLETIONS_FILE:
        return {}
    rows = ((row.number, from_fields(row.fields)) for row in read_rows(file))
    return {number: completion for number, completion in rows if completion is not None}


def _prompts(manifest: Mapping[str, Any], warn: Warn) -> dict[str, Prompt]:
    """Return the prompts by key: rendered again, and right because the key is their digest."""
    if "protocol" not in manifest:
        return {}
    try:
        requests = plan_of(manifest).requests(str(manifest.get("model")))
    except InputError as error:
        warn(f"the export has no prompts, for they cannot be rendered here: {error}")
        return {}
    return {request.key: request.prompt for request in requests}


def _dates(run: PageRun) -> tuple[datetime, datetime]:
    file = run.path / COMPLETIONS_FILE if run.path.is_dir() else run.path
    changed = datetime.fromtimestamp(int(file.stat().st_mtime), UTC)
    begun = _date(run.manifest.get("created"), changed)
    return begun, max(begun, _date(run.manifest.get("updated"), changed))


def _date(written: object, default: datetime) -> datetime:
    try:
        found = datetime.fromisoformat(str(written))
    except ValueError:
        return default
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
