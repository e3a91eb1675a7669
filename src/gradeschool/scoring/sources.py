"""Input arguments of commands, and the runs in them.

An argument is a file, a run folder, a table in several files, or FILE#RUN. `Source` reads one in
batches; `load_runs` and `choose_runs` keep its texts in memory. `Numbering` decides which rows
count: repeats, further samples, unusable rows.
"""

import glob
import hashlib
import os
import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count as count_from
from itertools import product
from pathlib import Path
from typing import Any

from gradeschool.datasets.load import OWN_PROBLEMS, SOURCES, Dataset, is_here, load_dataset
from gradeschool.errors import DataError, InputError
from gradeschool.formats import run_folder
from gradeschool.formats.read import (
    RUN_FOLDER,
    SampleFile,
    completions_of,
    default_run_name,
    nothing_in,
    run_of_unnamed,
)
from gradeschool.formats.values import UNNAMED, UNNUMBERED, ReadOptions, Sample, mapping
from gradeschool.printable import count
from gradeschool.problem import Problem
from gradeschool.scoring.checks import AlikeTexts, Checks
from gradeschool.scoring.matching import Matcher, begin_with_prompts, find_id_base

DEFAULT_DATASET = "gsm8k"
PATTERN = re.compile(r"[*?\[]")
PARTS = ("*.parquet", "*.arrow")  # the files of a folder that is one table
OTHER_TABLES = (".jsonl", ".csv", ".tsv", ".xlsx", ".eval")  # not part of such a table
NO_DATASET = Dataset(OWN_PROBLEMS, (), "")
MOST_MESSAGES = 5  # messages of one kind
FORGIVEN = 3  # a run without any usable row is refused if it has more unusable ones than this
UNUSABLE = "cannot be used"
Warn = Callable[[str], None]


@dataclass
class Source:
    """One table of completions, opened: how it is read is known, and its dataset is loaded.

    name: as the user gave it. path: without "#RUN". only: the one selected run, "" for all. parts:
    its files in order. options: for this file. file: the first one, opened. warn: called with
    sentences on how it is read. checks: over all samples, concluded after the last batch.
    """

    name: str
    path: str
    only: str
    parts: Sequence[Path]
    options: ReadOptions
    file: SampleFile
    warn: Warn
    dataset: Dataset = field(init=False)
    matcher: Matcher = field(init=False)
    checks: Checks | AlikeTexts = field(init=False)

    def use_dataset(self, dataset: Dataset) -> None:
        """Find out from the first rows how they name the problems of a dataset, and say it.

        Raises InputError if a run's dataset has changed since; warns if the user named it anyway. A
        dataset with a name has its digest checked by `load_dataset`, and may have several files.
        """
        file, options, columns = self.file, self.options, self.file.columns
        self.dataset = dataset
        self.matcher = Matcher(dataset.problems, dataset.name)
        self.checks = AlikeTexts(self.name)
        recorded = mapping(run_folder.manifest_of(self.parts[0]).get("dataset"))
        digest = recorded.get("sha256")
        is_same = digest in (None, dataset.sha256) or dataset.name in SOURCES
        if not is_same and recorded.get("name") == dataset.name:
            said = f"{dataset.name!r} has changed since the run {self.name!r}"
            if not options.dataset:
                raise InputError(
                    f"{said}: its SHA-256 is {dataset.sha256[:12]}, not {str(digest)[:12]}; "
                    f"restore the file, or give -d {dataset.name} to score the texts with its "
                    "present golds"
                )
            self.warn(f"{said}; its present golds are used, not those of the run")
        if file.kind == RUN_FOLDER:
            return
        has_questions = has_golds = False
        for sample in file.head:
            has_questions = has_questions or sample.reference.question is not None
            has_golds = has_golds or sample.reference.gold is not None
        base = options.id_base
        has_ids = options.dataset is not None or base is not None
        has_ids = has_ids or "dataset" in run_folder.manifest_of(file.path)
        if base is None and not has_questions and not options.in_order:
            base = find_id_base(file.head, self.matcher)
            has_ids = has_ids or base is not None
        if has_questions:
            has_ids = not has_golds
        takes_file_golds = columns is not None and {"gold"} <= columns.named & columns.roles.keys()
        self.matcher = Matcher(dataset.problems, dataset.name, has_ids, base or 0, takes_file_golds)
        self.matcher.cuts_prompts = begin_with_prompts(file.head, self.matcher)
        self.checks = Checks(self.name, self.matcher, columns, options)
        problems = f"problems of {dataset.name!r}"
        if not dataset.problems or (has_golds and not has_ids and not has_questions):
            problems = "the file's own problems"
            if has_questions:
                problems += f" ({DEFAULT_DATASET!r} is not here to compare their golds)"
        elif has_golds and not has_ids:
            problems += " by their questions, else the file's own"
        elif has_golds and not takes_file_golds:
            problems += ", with its golds, not the file's"
        counted = f" (ids from {base})" if base else ""
        kind = str(columns or file.kind)
        if file.lm_eval is not None:
            kind += f", filter {file.lm_eval.filter!r} and its flags"
        self.warn(f"read {self.name!r}: {kind}; {problems}{counted}")
        if columns is not None and columns.unused:
            self.warn(
                f"each row of {self.name!r} is a problem of its own, although other columns look "
                f"like the problem and its sample; if they are: --columns {columns.unused}"
            )
        if self.matcher.cuts_prompts:
            self.warn(f"the texts of {self.name!r} begin with their prompt; what follows is scored")

    def batches(self) -> Generator[list[Sample], None, None]:
        """Yield the samples of the selected run, or of all runs, matched with their problems.

        Rows that cannot be used come with their fault; those among them that name no run have the
        run UNNAMED. Raises InputError if a file cannot be read, or contains nothing.
        """
        runs: dict[str, None] = {}
        for path in self.parts:
            file, is_empty = self.file, True
            if path != self.parts[0]:
                file = SampleFile(path, file.default_run, self.options)
            for batch in file.batches():
                is_empty, matched = False, list(map(self.matcher.match, batch))
                if self.only:
                    runs |= dict.fromkeys(sample.run for sample in matched)
                    matched = [each for each in matched if each.run in (self.only, UNNAMED)]
                self.checks.add(matched)
                yield matched
            if is_empty:
                raise nothing_in(path)
        if self.only and self.only not in runs:
            raise no_such_run(self.path, self.only, runs)


def open_sources(names: Sequence[str], options: ReadOptions, warn: Warn) -> list[Source]:
    """Return the tables of these names, each with the dataset to score it against.

    A name is a file, a run folder, or a pattern ("runs/*.parquet") or folder of Parquet files that
    form one table; "#RUN" after it selects one run. Without a dataset in the options, it is the run
    folder's own, else GSM8K's test split. Raises InputError, DataError.
    """
    sources, datasets = [], []
    for name, file_options in options.for_each(names):
        path, only = split_run(name)
        parts = named_files(path)
        run = default_run_name(Path(path).parent if _is_pattern(path) else Path(path))
        file = SampleFile(parts[0], run, file_options)
        dataset = file_options.dataset or run_folder.dataset_of(parts[0]) or DEFAULT_DATASET
        if not (file_options.dataset or is_here(dataset)):
            usable = [each.reference for each in file.head if not each.fault]
            if usable and all(reference.gold is not None for reference in usable):
                dataset = ""  # no dataset is needed, and none is fetched
        sources.append(Source(name, path, only, parts, file_options, file, warn))
        datasets.append(dataset)
    loaded = {"": NO_DATASET}
    # Those that are here first: a wrong name fails before a fetch.
    for name in sorted({*datasets} - {""}, key=lambda name: (not is_here(name), name)):
        try:
            loaded[name] = load_dataset(name)
        except DataError as error:
            source = sources[datasets.index(name)]
            if options.dataset or (columns := source.file.columns) is None:
                raise
            wanted = ("gold",) if "id" in columns.roles else ("question", "gold")
            missing = [role for role in wanted if role not in columns.roles]
            row = next((each.row for each in source.file.head if each.reference.gold is None), 0)
            lacks = f"row {row} has no gold"
            if missing:
                lacks = f"no column was found for the {' and the '.join(missing)}"
                lacks += f" (--columns {','.join(f'{role}=COLUMN' for role in missing)})"
            read = f"read {source.name!r}: {columns}; {lacks}"
            raise DataError(f"{read}, so {name!r} is needed: {error}") from error
    for source, name in zip(sources, datasets, strict=True):
        source.use_dataset(loaded[name])
    return sources


def check_sources(names: Sequence[str], options: ReadOptions) -> None:
    """Raise InputError for a table that cannot be read, before a model or a dataset is loaded."""
    for name, file_options in options.for_each(names):
        SampleFile(named_files(split_run(name)[0])[0], None, file_options)


# Names of files


def split_run(spec: str) -> tuple[str, str]:
    """Split FILE#RUN at the first "#" where a file name ends; both parts may contain others."""
    parts = spec.split("#")
    for n in (len(parts), *range(1, len(parts))):
        file = "#".join(parts[:n])
        if os.path.exists(file) or (PATTERN.search(file) and glob.glob(file)):  # noqa: PTH110, PTH207
            return file, "#".join(parts[n:])
    return parts[0], "#".join(parts[1:])


def once_each(specs: Iterable[str]) -> list[str]:
    """Return FILE or FILE#RUN arguments without those that name an earlier one by another path."""
    named: dict[tuple[str, str], str] = {}
    for spec in specs:
        file, run = split_run(spec)
        named.setdefault((os.path.realpath(run_folder.completions_file(Path(file))), run), spec)
    return list(named.values())


def _is_pattern(name: str) -> bool:
    return PATTERN.search(name) is not None and not os.path.exists(name)  # noqa: PTH110


def named_files(name: str) -> tuple[Path, ...]:
    """Return the files of a table; raises InputError for no files.

    A folder is the table of its Parquet or Arrow files, or of those of its test split.
    """
    path = Path(name)
    if _is_pattern(name):
        if parts := tuple(sorted(Path(file) for file in glob.glob(name))):  # noqa: PTH207
            return parts
        raise InputError(f"no file matches the pattern {name!r}; correct it")
    if not os.path.isdir(path) or (path / run_folder.COMPLETIONS_FILE).is_file():  # noqa: PTH112
        return (path,)
    for folder, pattern in product((path, path / "test", path / "data"), PARTS):
        if parts := tuple(sorted(folder.glob(pattern))):
            others = [each.name for each in sorted(folder.iterdir()) if each.suffix in OTHER_TABLES]
            if others:
                raise InputError(
                    f"{str(folder)!r} contains tables of several kinds, such as {parts[0].name!r} "
                    f"and {others[0]!r}; give one of them, or a pattern such as "
                    f"{str(folder / pattern)!r}"
                )
            return parts
    return (path,)


def no_such_run(file: str, run: str, runs: Iterable[str]) -> InputError:
    """Return the error for a file that does not contain the selected run."""
    names = ", ".join(repr(f"{file}#{name}") for name in runs)
    return InputError(f"{file!r} contains no run {run!r}; it contains {names}")


# Which rows count


def digest(text: str) -> int:
    """Return 64 bits of a text's SHA-256, never 0: equal texts of a problem have equal digests."""
    whole = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(whole[:8], "little") or 1


class _Samples:
    """The digests of one problem's samples in one run, by sample number: 8 bytes for each.

    texts: of the numbers 0, 1, 2, ... far: of numbers after a gap, and negative ones. known: all
    digests as a set, None until two texts have one number. free: the first number after all.
    """

    __slots__ = ("far", "free", "known", "texts", "unnumbered")

    def __init__(self) -> None:
        self.texts = array("Q")
        self.far: dict[int, int] = {}
        self.known: set[int] | None = None
        self.free = self.unnumbered = 0

    def number(self, wanted: int, text_digest: int) -> int | None:
        """Return the number that a text gets, None if it repeats an earlier one.

        A text whose number another text has gets the first number after all others.
        """
        texts, number = self.texts, wanted
        taken = texts[wanted] if 0 <= wanted < len(texts) else self.far.get(wanted)
        if taken is not None and taken != text_digest:
            self.known = self.known or {*texts, *self.far.values()}
            number = self.free
        if taken == text_digest or (number != wanted and text_digest in (self.known or ())):
            return None
        self.free = max(self.free, number + 1)
        if number == len(texts):
            texts.append(text_digest)
        else:
            self.far[number] = text_digest
        if self.known is not None:
            self.known.add(text_digest)
        return number


class Numbering:
    """Decides which rows of a source count, and collects messages about the others.

    A row that repeats another exactly is counted once; a row that gives the same sample another
    text is a further sample. Rows without sample numbers may repeat each other if most problems of
    their run have several. Memory grows by 8 bytes a sample, not with the texts.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        # By run and problem; of a single sample 0 its digest, negative if its row has no number.
        self._samples: dict[tuple[str, str], _Samples | int] = {}
        self._golds: dict[str, str] = {}
        # By kind, run, and whether the row has a sample number: the number and the first messages.
        self._counts = Counter[tuple[str, str, bool]]()
        self._first: defaultdict[tuple[str, str, bool], list[tuple[int, str]]] = defaultdict(list)

    def note(
        self, row: int, run: str, words: str, kind: str = UNUSABLE, numbered: bool = True
    ) -> None:
        """Note what is said of a row, by default why it cannot be used."""
        self._counts[kind, run, numbered] += 1
        if len(first := self._first[kind, run, numbered]) < MOST_MESSAGES:
            first.append((row, f"row {row} of {self.source!r} {words}"))

    def number(
        self, row: int, run: str, problem: str, gold: str, sample: int, text_digest: int
    ) -> int | None:
        """Return the sample number of a row, None if it repeats an earlier one; remember it.

        sample: its number in the file, UNNUMBERED if it has none. text_digest: see `digest`.
        """
        if (first := self._golds.setdefault(problem, gold)) != gold:
            words = f"gives the gold {gold!r} to a problem that an earlier row gives {first!r}"
            self.note(row, run, words, "gives another gold")
        samples = self._samples.get((run, problem))
        numbered = sample != UNNUMBERED
        if samples is None and (sample == 0 or not numbered):
            self._samples[run, problem] = text_digest if numbered else -text_digest
            return 0
        if not isinstance(samples, _Samples):
            first_text, samples = samples, _Samples()
            self._samples[run, problem] = samples
            if first_text is not None:
                samples.number(0, abs(first_text))
                samples.unnumbered = int(first_text < 0)
        samples.unnumbered += not numbered
        wanted = sample if numbered else 0
        number = samples.number(wanted, text_digest)
        if number is None:
            words = f"repeats a sample of problem {problem!r} exactly; counted once"
            self.note(row, run, words, "repeats a row", numbered)
        elif number != wanted:
            words = f"contains problem {problem!r} of run {run!r} again, with another text"
            words += f"; counted as sample {number}"
            self.note(row, run, words, "a further sample", numbered)
        return number

    def conclude(self, warn: Warn) -> set[str]:
        """Return the sampled runs after the last row, and pass messages to `warn`.

        In a sampled run, rows have no sample numbers and most problems have several: a model may
        give the same text twice, so rows that repeat others count. Raises InputError if no row can
        be used, or none of a run with more than FORGIVEN.
        """
        usable = {run for run, _ in self._samples}
        for (kind, run, _), rows in self._counts.items():
            if not usable or (kind == UNUSABLE and run and run not in usable and rows > FORGIVEN):
                run = run if usable else ""  # "" for all runs
                keys = [key for key in self._counts if key[0] == UNUSABLE and run in ("", key[1])]
                _, said = min(message for key in keys for message in self._first[key])
                number = sum(map(self._counts.__getitem__, keys))
                others = f"; {number - 1} more rows are like it" if number > 1 else ""
                said = said.replace(f" of {self.source!r}", "", 1)
                whose = f"run {run!r} in {self.source!r}" if run else repr(self.source)
                advice = "; give the run a file and --columns of its own" if run else ""
                raise InputError(f"no row of {whose} can be used: {said}{others}{advice}")
        several: defaultdict[str, list[bool]] = defaultdict(list)
        copies: defaultdict[str, set[int]] = defaultdict(set)
        for (run, _), samples in self._samples.items():
            unnumbered = samples < 0 if isinstance(samples, int) else samples.unnumbered
            is_one_text = isinstance(samples, int) or (len(samples.texts), samples.far) == (1, {})
            if unnumbered:
                several[run].append(unnumbered > 1)
            copies[run].add(max(unnumbered, 1) if is_one_text else 0)
        sampled = {run for run, repeated in several.items() if sum(repeated) > len(repeated) / 2}
        for kind in dict.fromkeys(kind for kind, *_ in self._counts):
            keys = [key for key in self._counts
                    if key[0] == kind and (key[2] or key[1] not in sampled)]  # fmt: skip
            first = sorted(message for key in keys for message in self._first[key])[:MOST_MESSAGES]
            for _, message in first:
                warn(message)
            if (more := sum(self._counts[key] for key in keys) - len(first)) > 0:
                warn(f"... and {more} more rows of this kind ({kind})")
        for run, numbers in copies.items():
            if len(numbers) == 1 and max(numbers) > 1:
                warn(
                    f"every completion of run {run or 'without a name'!r} in {self.source!r} "
                    f"stands {max(numbers)} times, with the same text; counted as {max(numbers)} "
                    "samples of each problem. If the file was written twice, remove the copies"
                )
        return sampled


# Runs in memory


@dataclass(slots=True)
class Run:
    """The samples of one run, in the order of the file; `faults` counts unusable rows.

    dataset: the name of the dataset of its problems, OWN_PROBLEMS for the file's own, "" if
    unknown. notes: remarks on the file, shown with every figure of the run. path: of the file or
    folder, empty for texts in memory. manifest: the content of its run.json, {} if there is none.
    """

    name: str
    samples: list[Sample] = field(default_factory=list)
    faults: int = 0
    dataset: str = ""
    notes: tuple[str, ...] = ()
    path: Path = Path()
    manifest: Mapping[str, Any] = field(default_factory=dict)

    def problems(self) -> Iterator[Problem | None]:
        """Yield the problem of each sample, None for a row without one."""
        return (sample.problem for sample in self.samples)


def file_ids(runs: Iterable[Run]) -> dict[str, str]:
    """Return a file's ids of the problems that it brings, {} if they do not tell them apart."""
    ids: dict[str, str] = {}
    for run in runs:
        for sample in run.samples:
            problem, id = sample.problem, sample.reference.id
            is_own = problem and problem.meta.get("dataset") == OWN_PROBLEMS
            if problem and is_own and id and ids.setdefault(problem.id, id) != id:
                return {}
    return ids if len({*ids.values()}) == len(ids) else {}


def collect(samples: Iterable[Sample], dataset: str, source: str, warn: Warn) -> list[Run]:
    """Group the matched samples of a source by run, with their sample numbers.

    dataset: the name of the source's dataset. A row that cannot be used is a sample without a text.
    Raises InputError if no row can be used.
    """
    numbering = Numbering(source)
    runs: dict[str, Run] = {}
    placed: list[tuple[Run, Sample, int | None]] = []  # with the number, None for a repetition
    for sample in samples:
        run = runs.setdefault(sample.run, Run(sample.run))
        number: int | None = 0
        if (problem := sample.problem) is None:
            numbering.note(sample.row, run.name, sample.fault)
            run.faults += 1
            sample = sample._replace(sample=0, text="", error=sample.fault)
        else:
            number = numbering.number(sample.row, run.name, problem.id, problem.gold,
                                      sample.sample, digest(sample.text))  # fmt: skip
        placed.append((run, sample, number))
    sampled = numbering.conclude(warn)
    further: defaultdict[tuple[str, str], Iterator[int]] = defaultdict(count_from)
    for run, sample, number in placed:
        counts = number is not None or run.name in sampled
        if counts and sample.problem is not None and sample.sample == UNNUMBERED:
            number = next(further[run.name, sample.problem.id])
        if number is not None:
            run.samples.append(sample._replace(sample=number))
    for run in runs.values():
        problems = (sample.problem for sample in run.samples if sample.problem)
        is_own = all(problem.meta.get("dataset") == OWN_PROBLEMS for problem in problems)
        run.dataset = OWN_PROBLEMS if is_own else dataset
    return list(runs.values())


def load_runs(path: str | Path, options: ReadOptions, warn: Warn) -> list[Run]:
    """Return the runs of a file, a run folder, or a pattern or folder of Parquet files.

    FILE#RUN selects one run of several. All texts are in memory, for display and comparison;
    `score_sources` does without. Raises InputError, DataError.
    """
    [source] = open_sources([str(path)], options, warn)
    samples = [sample for batch in source.batches() for sample in batch]
    name = run_of_unnamed({sample.run for sample in samples}, source.file.default_run)
    samples = [sample._replace(run=name) if sample.run == UNNAMED else sample for sample in samples]
    notes = source.checks.conclude()
    try:
        runs = collect(samples, source.dataset.name, source.name, notes.append)
    finally:
        for note in notes:
            warn(note)
    file = Path(source.path)
    notes += note_missing(file, sum(len(run.samples) - run.faults for run in runs), warn)
    for run in runs:
        run.notes, run.path, run.manifest = tuple(notes), file, run_folder.manifest_of(file)
    if run_folder.completions_file(source.parts[0]).name == run_folder.COMPLETIONS_FILE:
        # Samples are stored as they arrive. Those without a problem come last.
        places = {problem.id: place for place, problem in enumerate(source.dataset.problems)}
        last = len(places)
        for run in runs:
            run.samples.sort(key=lambda each: (
                (places.get(each.problem.id, last), each.sample) if each.problem else (last, 0)
            ))  # fmt: skip
    return runs


def choose_run(spec: str, options: ReadOptions, warn: Warn) -> Run:
    """Return the run of FILE or FILE#RUN; raises InputError for several runs."""
    runs = choose_runs([spec], options, warn)
    if len(runs) > 1:
        names = ", ".join(repr(f"{spec}#{run.name}") for run in runs[:5])
        more = f" and {len(runs) - 5} more" if len(runs) > 5 else ""
        raise InputError(f"{spec!r} contains {len(runs)} runs; choose one: {names}{more}")
    return runs[0]


def choose_runs(specs: Sequence[str], options: ReadOptions, warn: Warn) -> list[Run]:
    """Return the runs selected by FILE or FILE#RUN arguments, under distinct names.

    A file is read once, however many of its runs are selected, but again for other columns: as many
    --columns as arguments are one for each. Raises InputError for a run that a file does not
    contain.
    """
    chosen: list[Run] = []
    if len(options.columns) == len(specs) > len({split_run(spec)[0] for spec in specs}):
        for number, (spec, file_options) in enumerate(options.for_each(specs), start=1):
            column = file_options.columns[0].get("response", f"{number}")
            for run in choose_runs([spec], file_options, warn):
                run.name = f"{run.name} ({column})"
                chosen.append(run)
        return chosen
    pairs = [split_run(spec) for spec in once_each(specs)]
    files = list(dict.fromkeys(file for file, _ in pairs))
    for file in files:  # a wrong path is reported before the first file is read
        completions_of(named_files(file)[0])
    loaded = {file: load_runs(file, each, warn) for file, each in options.for_each(files)}
    for file, name in pairs:
        named = [run for run in loaded[file] if name in ("", run.name)]
        if not named:
            raise no_such_run(file, name, (run.name for run in loaded[file]))
        chosen += [run for run in named if all(run is not other for other in chosen)]
    names = [run.name for run in chosen]
    for run, name in zip(chosen, names, strict=True):
        if names.count(name) > 1:
            run.name = f"{name} ({run.path})"
    return chosen


def note_missing(path: Path, stored: int, warn: Warn) -> tuple[str, ...]:
    """Return a note on the missing samples of a run folder, if there are any, and warn of them.

    stored: the number of its samples, failed ones included.
    """
    planned = run_folder.planned_samples(run_folder.manifest_of(path))
    missing = planned - stored
    if missing <= 0 or run_folder.completions_file(path).name != run_folder.COMPLETIONS_FILE:
        return ()
    verb, them = ("is", "it") if missing == 1 else ("are", "them")
    note = (
        f"{missing:,} of {count(planned, 'sample')} {verb} missing; repeat the run's command to "
        f"request {them}"
    )
    warn(f"{str(path)!r}: {note}")
    return (note,)
