"""From verdicts as they come to the scores of every run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from gradeschool.formats.read import nothing_in
from gradeschool.scoring.notes import Warn
from gradeschool.scoring.score import Columns, RunScore, score_noted
from gradeschool.scoring.stream import Part
from gradeschool.scoring.tally import FileTally


class Found(NamedTuple):
    """Where a run was found: what the user gave, and its name in there."""

    source: str
    run: str


@dataclass(slots=True)
class Totals:
    """The scores of runs under names that differ, where each was found, and unusable rows."""

    scores: list[RunScore] = field(default_factory=list)
    found: dict[str, Found] = field(default_factory=dict)
    faults: int = 0

    def add(self, tally: FileTally, columns: Columns, warn: Warn) -> None:
        """Add the runs of a source; see `FileTally.runs`."""
        for run in tally.runs(warn):
            name = f"{run.name} ({tally.source})" if run.name in self.found else run.name
            self.found[name] = Found(tally.source, run.name)
            self.faults += run.faults
            self.scores.append(score_noted(name, run.n, run.counts, columns))


def total(
    parts: Iterable[Part],
    columns: Columns,
    default_run: Callable[[str], str],
    warn: Warn,
    expected: Sequence[str] = (),
) -> Totals:
    """Count parts, which come source by source.

    default_run: the run of a source's rows that name none. Raises InputError where no row of a
    source can be used, or none has come of one that is expected.
    """
    totals = Totals()
    tally: FileTally | None = None
    for place, scored in parts:
        if tally is None or tally.source != place.source:
            if tally is not None:
                totals.add(tally, columns, warn)
            tally = FileTally(place.source, default_run(place.source))
        for one in scored:
            tally.add(one, place.file)
    if tally is not None:
        totals.add(tally, columns, warn)
    seen = {found.source for found in totals.found.values()}
    for source in expected:
        if source not in seen:
            raise nothing_in(Path(source))
    return totals
