"""Runs chosen on the command line: FILE, or FILE#RUN for one run of several."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.formats.own_run import manifest_of, scorer_of
from gradeschool.scoring.collect import Run
from gradeschool.scoring.load import load_runs
from gradeschool.scoring.sources import check_sources, no_such_run, parted

DEFAULT_SCORERS = ("gradeschool/reader", "gradeschool/parse-answer")


class Chosen(NamedTuple):
    """A run with the file or folder it stands in and what its run.json says, {} where none."""

    run: Run
    path: Path
    manifest: dict[str, Any]


def choose_runs(
    specs: Sequence[str], dataset: str | None, warn: Callable[[str], None]
) -> list[Chosen]:
    """Return the runs that FILE or FILE#RUN arguments mean, under names that differ.

    A file is read once, however many of its runs are named. Raises InputError for a run that a
    file does not hold.
    """
    check_sources(specs, dataset)
    loaded: dict[Path, list[Run]] = {}
    chosen: list[Chosen] = []
    for spec in dict.fromkeys(specs):
        file, name = parted(spec)
        path = Path(file)
        if path not in loaded:
            loaded[path] = load_runs(path, dataset, warn)
        found = [run for run in loaded[path] if not name or run.name == name]
        if not found:
            raise no_such_run(str(path), name, (run.name for run in loaded[path]))
        manifest = manifest_of(path)
        chosen += [Chosen(run, path, manifest) for run in found]
    _name_apart(chosen)
    return chosen


def _name_apart(chosen: Sequence[Chosen]) -> None:
    """Put the path behind names that several runs share."""
    names = [one.run.name for one in chosen]
    for one, name in zip(chosen, names, strict=True):
        if names.count(name) > 1:
            one.run.name = f"{name} ({one.path})"


def headline_scorer(manifests: Sequence[Mapping[str, Any]], known: Sequence[str]) -> str:
    """Return the scorer that runs are headed by: their protocols' own where they agree.

    Recordings without a protocol, and runs of several, are read by the careful reader.
    """
    own = {scorer_of(manifest) for manifest in manifests}
    if len(own) == 1 and (scorer := own.pop() or "") in known:
        return scorer
    return next(name for name in DEFAULT_SCORERS if name in known)


def protocols_of(manifests: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the different protocols that runs were asked under; of recordings none is known."""
    named = (manifest.get("protocol") for manifest in manifests)
    return list(dict.fromkeys(str(one.get("name")) for one in named if isinstance(one, dict)))
