"""From a path on the command line to runs ready to score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from gradeschool.formats.read import read_samples
from gradeschool.protocols.registry import all_scorers, available, get_usable_scorer
from gradeschool.scorer import Scorer
from gradeschool.scoring.collect import Run, collect
from gradeschool.scoring.matching import Matcher
from gradeschool.scoring.sources import DEFAULT_DATASET as DEFAULT_DATASET
from gradeschool.scoring.sources import no_such_run, parted, sources

ALL = "all"


def load_runs(path: Path, dataset: str | None, warn: Callable[[str], None]) -> list[Run]:
    """Return the runs of a file, a run folder, or a pattern or folder of Parquet files.

    FILE#RUN stands for one run of several. All texts are in memory, as who shows or compares them
    needs; `score_sources` does without. dataset: a name or path; None takes the run folder's own,
    else GSM8K's test split. Raises InputError, DataError.
    """
    [source] = sources([str(path)], dataset)
    matcher = Matcher(source.dataset.problems, source.dataset.name)
    recorded = (one for part in source.parts for one in read_samples(part, source.run))
    runs = collect(recorded, matcher, source.name, warn)
    if source.only and source.only not in [run.name for run in runs]:
        raise no_such_run(parted(source.name)[0], source.only, [run.name for run in runs])
    return [run for run in runs if source.only in ("", run.name)]


def choose_scorers(names: Sequence[str]) -> list[Scorer]:
    """Return the scorers of these names.

    None stands for every scorer that reads a text by itself, in microseconds; "all" for those that
    call a library too (milliseconds a completion), where its extra is installed. Raises
    UnknownNameError, and MissingExtraError for a scorer by name whose extra is not installed.
    """
    if not names:
        return [scorer for scorer in all_scorers().values() if not scorer.extra]
    if ALL in names:
        return [scorer for scorer in all_scorers().values() if available(scorer)]
    return [get_usable_scorer(name) for name in dict.fromkeys(names)]
