"""Input arguments of commands: files, run folders, tables in several files, FILE#RUN; scorers."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.datasets.load import Dataset, is_here, load_datasets
from gradeschool.datasets.platinum import platinum_changes
from gradeschool.datasets.sources import OWN_PROBLEMS
from gradeschool.errors import InputError
from gradeschool.formats.own_run import (
    COMPLETIONS_FILE,
    completions_file,
    dataset_of,
    manifest_of,
    missing_samples,
)
from gradeschool.formats.read import (
    OWN,
    SampleFile,
    name_of,
    name_of_unnamed,
    nothing_in,
    require,
)
from gradeschool.formats.samples import UNNAMED, ReadOptions, Sample
from gradeschool.formats.tables import Row
from gradeschool.problem import Problem
from gradeschool.scoring.checks import Checks, id_base
from gradeschool.scoring.matching import Matcher
from gradeschool.scoring.samples import Run, collect

DEFAULT_DATASET = "gsm8k"
PATTERN = re.compile(r"[*?\[]")
PARTS = ("*.parquet", "*.arrow")  # the files of a folder that is one table
OTHER_TABLES = (".jsonl", ".csv", ".tsv", ".xlsx", ".eval")  # beside these are no such part
MOST_NAMES = 5  # runs named in a message
TEST_SPLIT = "test"


class Source:
    """One table of completions, opened: how it is read is known, and its dataset is loaded.

    name: as the user gave it. parts: its files in order; one, except for tables in several files.
    run: the run of rows that name none. only: the one selected run, "" for all. options: for this
    file. warn: called with sentences on how it is read.
    """

    def __init__(
        self,
        name: str,
        parts: tuple[Path, ...],
        run: str,
        only: str,
        options: ReadOptions,
        warn: Callable[[str], None],
    ) -> None:
        """Open the first file. Raises InputError if it is not certain how to read it."""
        self.name = name
        self.parts = parts
        self.run = run
        self.only = only
        self.options = options
        self.warn = warn
        if parts:
            self.file = SampleFile(parts[0], run, options)
        self.dataset = OWN_GOLDS
        self.matcher = Matcher((), OWN_PROBLEMS, by_id=False)
        self.checks: Checks | None = None

    def begin(self, rows: Sequence[Row]) -> None:
        """Open a table without a local file by its first rows."""
        self.file = SampleFile(Path(self.name), self.run, self.options, rows)
        self.match_with(self.dataset)

    @property
    def brings_problems(self) -> bool:
        """Whether the first rows all have golds of their own, so that no dataset is needed."""
        usable = [sample.reference for sample in self.file.head if not sample.fault]
        return bool(usable) and all(reference.gold is not None for reference in usable)

    def match_with(self, dataset: Dataset) -> None:
        """Find out from the first rows how they name the problems of a dataset, and say it."""
        file, options = self.file, self.options
        self.dataset = dataset
        columns = None if file.reader is None else file.reader.columns
        own_golds = columns is not None and {"gold"} <= columns.named & columns.roles.keys()
        matcher = Matcher(dataset.problems, dataset.name)
        if file.kind == OWN:
            self.matcher = matcher
            return
        has_questions = any(sample.reference.question is not None for sample in file.head)
        has_golds = any(sample.reference.gold is not None for sample in file.head)
        base = options.id_base
        by_id = (
            options.dataset is not None
            or base is not None
            or (manifest_of(file.path).get("dataset") is not None)
        )
        if base is None and not has_questions and not options.in_order:
            found = id_base(file.head, matcher)
            base, by_id = found or 0, by_id or found is not None
        if has_questions:
            by_id = not has_golds
        self.matcher = Matcher(dataset.problems, dataset.name, by_id, base or 0, own_golds)
        self.checks = Checks(self.name, self.matcher, columns, options)
        problems = (
            f"problems of {dataset.name!r}" if dataset.problems else "the file's own problems"
        )
        if dataset.problems and has_golds and not by_id:
            problems = (
                f"{problems} by their questions, else the file's own"
                if has_questions
                else ("the file's own problems")
            )
        counted = f" (ids from {base})" if base else ""
        self.warn(f"read {self.name!r}: {file}; {problems}{counted}")

    def batches(self) -> Iterator[list[Sample]]:
        """Yield the samples of the selected run, or of all runs, matched with their problems.

        Rows that cannot be used come with their fault; those among them that name no run have the
        run UNNAMED. Raises InputError if a file cannot be read, or contains nothing.
        """
        runs: dict[str, None] = {}
        for path in self.parts:
            file = self.file if path == self.parts[0] else SampleFile(path, self.run, self.options)
            is_empty = True
            for batch in file.batches():
                matched = [self.matcher.match(sample) for sample in batch]
                self.check(matched)
                is_empty = False
                runs.update(dict.fromkeys(sample.run for sample in matched))
                if self.only:
                    matched = [each for each in matched if each.run in (self.only, UNNAMED)]
                yield matched
            if is_empty:
                raise nothing_in(path)
        if self.only and self.only not in runs:
            raise no_such_run(parted(self.name)[0], self.only, runs)

    def check(self, samples: Iterable[Sample]) -> None:
        """Count the facts of matched samples for `conclude`; `batches` does so itself."""
        if self.checks is not None:
            self.checks.add(samples)

    def conclude(self) -> list[str]:
        """Return the warnings of the checks over all samples, after the last batch.

        Raises InputError if the samples show that the file was not read as it was meant.
        """
        return [] if self.checks is None else self.checks.conclude()


def open_sources(
    names: Sequence[str], options: ReadOptions, warn: Callable[[str], None]
) -> list[Source]:
    """Return the tables of these names, each with the dataset to score it against.

    A name is a file, a run folder, or a pattern ("runs/*.parquet") or folder of Parquet files that
    form one table; "#RUN" after it selects one run. Without a dataset in the options, it is the
    run folder's own, else GSM8K's test split. Raises InputError, DataError.
    """
    opened = _opened(names, options, warn)
    wanted = {
        name
        for source, name in opened
        if options.dataset or is_here(name) or not source.brings_problems
    }
    loaded = load_datasets(wanted)
    for source, name in opened:
        source.match_with(loaded.get(name, OWN_GOLDS))
    return [source for source, _ in opened]


def _opened(
    names: Sequence[str], options: ReadOptions, warn: Callable[[str], None]
) -> list[tuple[Source, str]]:
    """Return the tables with the names of their datasets, before any of these is fetched."""
    opened = []
    for number, name in enumerate(names):
        parts, used = files_of(name, options.dataset)
        chosen = options.for_file(number, len(names))
        source = Source(name, parts, unnamed_run(name), parted(name)[1], chosen, warn)
        opened.append((source, used))
    return opened


OWN_GOLDS = Dataset(OWN_PROBLEMS, (), "")


def files_of(name: str, dataset: str | None) -> tuple[tuple[Path, ...], str]:
    """Return the files of a table and the name of its dataset; raises InputError for no files."""
    parts = _parts(parted(name)[0])
    return parts, dataset or dataset_of(parts[0]) or DEFAULT_DATASET


CheckRuns = Callable[[Sequence[str]], None]


def check_sources(names: Sequence[str], options: ReadOptions) -> None:
    """Raise InputError for a table that cannot be read, before slower preparations."""
    _opened(names, options, lambda message: None)


def parted(spec: str) -> tuple[str, str]:
    """Split FILE#RUN at the first "#" where a file name ends; both parts may contain others."""
    if _exists(spec):
        return spec, ""
    marks = [place for place, character in enumerate(spec) if character == "#"]
    place = next(
        (place for place in marks if _exists(spec[:place])), marks[0] if marks else len(spec)
    )
    return spec[:place], spec[place + 1 :]


def _exists(name: str) -> bool:
    if os.path.exists(name):  # noqa: PTH110  (Path's raises for a name that is too long)
        return True
    return PATTERN.search(name) is not None and bool(glob.glob(name))  # noqa: PTH207


def once_each(specs: Iterable[str]) -> list[str]:
    """Return FILE or FILE#RUN arguments without those that name an earlier one by another path."""
    named: dict[tuple[str, str], str] = {}
    for spec in specs:
        file, run = parted(spec)
        named.setdefault((os.path.realpath(completions_file(Path(file))), run), spec)
    return list(named.values())


def no_such_run(file: str, run: str, runs: Iterable[str]) -> InputError:
    """Return the error for a file that does not contain the selected run."""
    names = ", ".join(repr(f"{file}#{name}") for name in runs)
    return InputError(f"{file!r} contains no run {run!r}; it contains {names}")


def several_runs(spec: str, runs: Sequence[str]) -> InputError:
    """Return the error for a file that contains several runs where one is needed."""
    names = ", ".join(repr(f"{spec}#{name}") for name in runs[:MOST_NAMES])
    more = f" and {len(runs) - MOST_NAMES} more" if len(runs) > MOST_NAMES else ""
    return InputError(f"{spec!r} contains {len(runs)} runs; choose one: {names}{more}")


def unnamed_run(name: str) -> str:
    """Return the run of a table's rows that name none: the name of their file or folder."""
    name = parted(name)[0]
    path = Path(name)
    return path.parent.resolve().name if _is_pattern(name) else name_of(path)


def _is_pattern(name: str) -> bool:
    return PATTERN.search(name) is not None and not Path(name).exists()


def _parts(name: str) -> tuple[Path, ...]:
    path = Path(name)
    if _is_pattern(name):
        parts = tuple(sorted(Path(file) for file in glob.glob(name)))  # noqa: PTH207
        if not parts:
            raise InputError(f"no file matches the pattern {name!r}; correct it")
        return parts
    require(path)
    if path.is_dir() and not (path / COMPLETIONS_FILE).is_file():
        return _table_in(path) or (path,)
    return (path,)


def _table_in(folder: Path) -> tuple[Path, ...]:
    """Return the Parquet or Arrow files of a folder, or of the only possible split inside it.

    `datasets` saves a folder of Arrow files, or one such folder for each split.
    """
    for pattern in PARTS:
        if parts := tuple(sorted(folder.glob(pattern))):
            others = [path.name for path in sorted(folder.iterdir()) if path.suffix in OTHER_TABLES]
            if others:
                raise InputError(
                    f"{str(folder)!r} contains tables of several kinds, such as {parts[0].name!r} "
                    f"and {others[0]!r}; give one of them, or a pattern such as "
                    f"{str(folder / pattern)!r}"
                )
            return parts
    inside = {path: _table_in(path) for path in sorted(folder.iterdir()) if path.is_dir()}
    tables = {path: parts for path, parts in inside.items() if parts}
    if len(tables) > 1 and folder / TEST_SPLIT not in tables:
        names = ", ".join(repr(str(path)) for path in tables)
        raise InputError(f"{str(folder)!r} contains several tables; give one of {names}")
    return next((tables[path] for path in (folder / TEST_SPLIT, *tables) if path in tables), ())


def load_runs(path: Path, options: ReadOptions, warn: Callable[[str], None]) -> list[Run]:
    """Return the runs of a file, a run folder, or a pattern or folder of Parquet files.

    FILE#RUN selects one run of several. All texts are in memory, for display and comparison;
    `score_sources` does without. Raises InputError, DataError.
    """
    [source] = open_sources([str(path)], options, warn)
    samples = [sample for batch in source.batches() for sample in batch]
    name = name_of_unnamed({sample.run for sample in samples}, source.run)
    samples = [sample._replace(run=name) if sample.run == UNNAMED else sample for sample in samples]
    for warning in source.conclude():
        warn(warning)
    runs = collect(samples, source.dataset.name, source.name, warn)
    if completions_file(source.parts[0]).name == COMPLETIONS_FILE:
        for run in runs:
            _arrange(run, {problem.id: n for n, problem in enumerate(source.dataset.problems)})
    return runs


def _arrange(run: Run, places: Mapping[str, int]) -> None:
    """Put the samples of a run folder, which are stored as they arrive, in the dataset's order.

    The samples of a problem come by their numbers. Those without a problem come last, as stored.
    """
    last = len(places)

    def place(sample: Sample) -> tuple[int, int]:
        if sample.problem is None:
            return last, 0
        return places.get(sample.problem.id, last), sample.sample

    run.samples.sort(key=place)


class SourceRun(NamedTuple):
    """A run with its file or folder, and the content of its run.json, {} if there is none.

    notes: what `folder_notes` says about its folder.
    """

    run: Run
    path: Path
    manifest: dict[str, Any]
    notes: tuple[str, ...] = ()


def choose_run(spec: str, options: ReadOptions, warn: Callable[[str], None]) -> SourceRun:
    """Return the run of FILE or FILE#RUN; raises InputError for several runs."""
    runs = choose_runs([spec], options, warn)
    if len(runs) > 1:
        raise several_runs(spec, [run.run.name for run in runs])
    return runs[0]


def choose_runs(
    specs: Sequence[str],
    options: ReadOptions,
    warn: Callable[[str], None],
    check_runs: CheckRuns | None = None,
) -> list[SourceRun]:
    """Return the runs selected by FILE or FILE#RUN arguments, under distinct names.

    A file is read once, however many of its runs are selected. check_runs raises InputError for
    unsuitable run names. Raises InputError for a run that
    a file does not contain.
    """
    specs = once_each(specs)
    files = list(dict.fromkeys(parted(spec)[0] for spec in specs))
    for file in files:  # a wrong path is reported before the first file is read
        _parts(file)
    loaded: dict[Path, list[Run]] = {}
    notes: dict[Path, tuple[str, ...]] = {}
    chosen: list[SourceRun] = []
    for spec in specs:
        file, name = parted(spec)
        path = Path(file)
        if path not in loaded:
            chosen_columns = options.for_file(files.index(file), len(files))
            loaded[path] = load_runs(path, chosen_columns, warn)
            stored = sum(len(run.samples) - run.faults for run in loaded[path])
            notes[path] = folder_notes(path, stored, warn)
        runs = [run for run in loaded[path] if not name or run.name == name]
        if not runs:
            raise no_such_run(str(path), name, (run.name for run in loaded[path]))
        runs = [run for run in runs if all(each.run is not run for each in chosen)]
        manifest = manifest_of(path)
        chosen += [SourceRun(run, path, manifest, notes[path]) for run in runs]
    if check_runs:
        check_runs([each.run.name for each in chosen])
    _name_apart(chosen)
    return chosen


def folder_notes(path: Path, stored: int, warn: Callable[[str], None]) -> tuple[str, ...]:
    """Return sentences on the missing samples of a run folder, and warn of them.

    stored: the number of its samples, failed ones included. There are none for other files.
    """
    file = completions_file(path)
    if file.name != COMPLETIONS_FILE or not file.is_file():
        return ()
    notes = []
    if missing := missing_samples(path, manifest_of(path), stored):
        notes.append(missing)
        warn(f"{str(path)!r}: {missing}")
    return tuple(notes)


def _name_apart(chosen: Sequence[SourceRun]) -> None:
    """Append the path to names that several runs share."""
    names = [source_run.run.name for source_run in chosen]
    for source_run, name in zip(chosen, names, strict=True):
        if names.count(name) > 1:
            source_run.run.name = f"{name} ({source_run.path})"


def check_labels(datasets: Sequence[Dataset]) -> None:
    """Raise InputError if a dataset has no labels of GSM8K-Platinum."""
    for dataset in datasets:
        platinum_changes(dataset.problems, dataset.name)


def relabelled(runs: Sequence[Run], dataset: Dataset) -> list[Run]:
    """Return runs with the golds of GSM8K-Platinum, without the problems that it removed.

    Raises InputError if the dataset is not the official test split of GSM8K.
    """
    changes = platinum_changes(dataset.problems, dataset.name)
    return [replace(run, samples=list(_samples(run.samples, changes))) for run in runs]


def _samples(samples: Sequence[Sample], changes: Mapping[str, Problem | None]) -> Iterator[Sample]:
    for sample in samples:
        if sample.problem is None or sample.problem.id not in changes:
            yield sample
        elif (problem := changes[sample.problem.id]) is not None:
            yield sample._replace(problem=problem)
