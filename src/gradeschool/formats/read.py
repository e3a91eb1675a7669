"""Reading a file of completions, whatever its format."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from gradeschool.errors import InputError
from gradeschool.formats.inspect_log import inspect_archive, inspect_json, is_inspect
from gradeschool.formats.layout import (
    HEAD,
    Layout,
    has_several_texts,
    is_plain,
    layout_of,
    rows_in,
)
from gradeschool.formats.lm_eval import LmEvalSamples, check_filters, is_lm_eval
from gradeschool.formats.openai import (
    batch,
    is_batch,
    is_openai_solutions,
    openai_solutions,
)
from gradeschool.formats.own_run import (
    COMPLETIONS_FILE,
    completions_file,
    counting_rows,
    is_own,
    stored_sample,
)
from gradeschool.formats.plain import TEXT_FIELDS, plain
from gradeschool.formats.samples import (
    DEFAULTS,
    UNNAMED,
    ReadOptions,
    Reference,
    Sample,
    faulty,
)
from gradeschool.formats.tables import (
    BATCH_ROWS,
    ParsedBatch,
    Row,
    RowSelection,
    TableBatch,
    array_rows,
    every_row,
    read_batches,
    read_rows,
    read_whole,
    spread_rows,
)

LOG_BATCH = 256  # samples of a log per batch; they may be long
TELLING_SAMPLES = 64  # samples examined to find out how a file names problems
SHOWN_ROWS = 3  # of a file whose columns were guessed


class Naming(NamedTuple):
    """How a file's rows name their problems.

    base: the number of the first problem in ids. by_order: rows are in the order of the dataset.
    by_gold: each row is its own problem, with its own gold. by_question: ids are those of the rows,
    not of the problems. notes: messages for the user.
    """

    base: int = 0
    by_order: bool = False
    by_gold: bool = False
    by_question: bool = False
    notes: tuple[str, ...] = ()

    def of(self, sample: Sample, first: int) -> Sample:
        """Return a sample with its reference changed to the dataset's naming.

        first: the number of the file's first row.
        """
        reference = sample.reference
        if self.base:
            reference = reference.counted_from(self.base)
        if self.by_question and reference.question is not None:
            reference = reference._replace(position=None, id=None)
        if self.by_order and reference.order is not None:
            reference = Reference(position=reference.order - first)
        if self.by_gold and reference.gold is not None:
            question, id = reference.question or "", reference.id
            if id is None and reference.position is not None:
                id = str(reference.position)
            reference = reference._replace(
                position=None, id=id, question=question, answer=reference.gold
            )
        return sample._replace(reference=reference)


class ColumnNotes(NamedTuple):
    """How a file's columns were read.

    guessed: by their names. answers: the text may be the dataset's. prompted: the samples with
    their problems named by the prompts too; () without prompts.
    """

    guessed: bool = False
    answers: bool = False
    prompted: Sequence[Sample] = ()


# Called with some samples of a file.
Examine = Callable[[Sequence[Sample], ColumnNotes], Naming]
Note = Callable[[str], None]
AS_NAMED = Naming()


def ignore(note: str) -> None:
    """Ignore a message."""


class SampleReader:
    """Reads the rows of one file; small, so that a copy of it can go to another process."""

    def __init__(self, path: Path, default_run: str, options: ReadOptions = DEFAULTS) -> None:
        self.path = path
        self.options = options
        self.default_run = default_run
        self.samples = LmEvalSamples(path, default_run)
        self.layout: Layout | None = None
        self.naming = AS_NAMED
        self.is_as_named = True
        self.first = 1
        self.prompts = False
        self._plain_names: set[tuple[str, ...]] = set()  # of rows in no other format

    def begin(
        self,
        rows: Iterator[Row],
        examine: Examine | None = None,
        is_table: bool = False,
        note: Note = ignore,
    ) -> Row | None:
        """Detect from a file's rows how to read them; return the first readable row.

        examine: finds out how the rows name their problems. is_table: the rows are those of the
        whole file `path`, which may have blank ones.
        """
        head = list(islice((row for row in rows if not row.fault), HEAD))
        if not head:
            return None
        first, columns_named = head[0], self.options.named
        self.first = first.number
        if is_lm_eval(first.fields):
            list(self.samples.read(first))  # which of lm-eval's filters is the first
        elif columns_named or not any(is_plain(row.fields) or self._is_known(row) for row in head):
            more = list(islice(rows, BATCH_ROWS))
            layout = layout_of([row.fields for row in (*head, *more)], columns_named)
            rows = chain(more, rows)
            if is_table and not layout.names_problems:
                layout = replace(layout, blank=_blank_rows(self.path))
                self.first = layout.place(first.number)
            self.layout = layout if "response" in layout.columns or columns_named else None
        if self.options.id_base is not None:
            self.naming = Naming(self.options.id_base)
        elif examine is not None and not is_own(first.fields):
            telling = self._telling_rows(chain(head, rows))
            columns = ColumnNotes(
                self.layout is not None and not self.layout.named,
                _has_answers(head, self.options),
            )
            samples = self._telling(telling)
            if self.layout is None and any("prompt" in row.fields for row in head):
                self.prompts = True
                columns = columns._replace(prompted=self._telling(telling))
            self.naming = examine(samples, columns)
            self.prompts = self.prompts and self.naming.by_question
            self._tell(note)
        self.is_as_named = self.naming == Naming(notes=self.naming.notes)
        return first

    def _is_known(self, row: Row) -> bool:
        return is_own(row.fields) or is_openai_solutions(row.fields) or is_batch(row.fields)

    def _tell(self, note: Callable[[str], None]) -> None:
        if self.layout is not None and self.naming.notes:
            note(f"read {str(self.path)!r} as {self.layout} (change it with --columns ROLE=NAME)")
        for line in self.naming.notes:
            note(line)

    def _telling_rows(self, rows: Iterator[Row]) -> list[Row]:
        """Return rows from all over a file, in the order in which they are examined."""
        first = list(islice(rows, BATCH_ROWS))
        spread = first[:: max(1, len(first) // TELLING_SAMPLES)]
        return [*spread_rows(self.path), *first[:SHOWN_ROWS], *spread, *first]

    def _telling(self, rows: Iterable[Row]) -> list[Sample]:
        """Return samples of these rows whose problems are named in different ways."""
        samples: dict[Reference, Sample] = {}
        for row in rows:
            for sample in self.read(row):
                samples.setdefault(sample.reference, sample)
            if len(samples) >= TELLING_SAMPLES:
                break
        return sorted(samples.values(), key=lambda sample: sample.row or math.inf)

    def read(self, row: Row) -> Iterable[Sample]:
        """Return the completions of a row: one, several, or none."""
        names = tuple(row.fields)
        if names in self._plain_names:
            samples: Iterable[Sample] = plain(row, self.default_run, self.prompts)
        else:
            samples = self._read(row, names)
        if self.is_as_named:
            return samples
        return [self.naming.of(sample, self.first) for sample in samples]

    def _read(self, row: Row, names: tuple[str, ...]) -> Iterable[Sample]:
        fields = row.fields
        if row.fault:
            return [faulty(row.number, UNNAMED, row.fault)]
        if self.layout is not None:
            return self.layout.samples(row, self.default_run)
        if (stored := stored_sample(row, self.default_run)) is not None:
            return [stored]
        if is_lm_eval(fields):
            return self.samples.read(row)
        if is_openai_solutions(fields):
            return openai_solutions(row)
        if is_batch(fields):
            return batch(row, self.default_run)
        if fields and "ground_truth" not in fields and not is_own(fields):
            self._plain_names.add(names)  # else the next row's values have to be seen
        return plain(row, self.default_run, self.prompts)


def _blank_rows(path: Path) -> tuple[int, ...]:
    """Return the numbers of the blank rows between the first and the last row of a file."""
    with closing(read_rows(path)) as rows:
        numbers = [row.number for row in rows]
    return tuple(sorted({*range(1, max(numbers, default=0))} - set(numbers)))


def _has_answers(head: Sequence[Row], options: ReadOptions) -> bool:
    """Return whether the texts may be the dataset's: in "answer", or beside other texts."""
    if "response" in options.named:
        return False
    return all(
        ("answer" in row.fields and row.fields.keys().isdisjoint(TEXT_FIELDS[:-1]))
        or has_several_texts(row.fields)
        for row in head
    )


class RowBatch(NamedTuple):
    """Rows of a file that are not parsed yet, with their reader."""

    reader: SampleReader
    rows: TableBatch

    def samples(self) -> Iterator[Sample]:
        """Yield the completions."""
        for row in self.rows.rows():
            yield from self.reader.read(row)


class LogBatch(NamedTuple):
    """Completions of a log that does not consist of rows."""

    completions: Sequence[Sample]

    def samples(self) -> Iterator[Sample]:
        """Yield the completions."""
        return iter(self.completions)


SampleBatch = RowBatch | LogBatch


def read_samples(
    path: Path,
    default_run: str | None = None,
    examine: Examine | None = None,
    options: ReadOptions = DEFAULTS,
    note: Note = ignore,
) -> list[Sample]:
    """Return the completions of a file or run folder, in order.

    default_run: the run of rows that name no run; by default the name of the file. examine: see
    `sample_batches`.

    Formats: a run folder, plain rows (JSONL, a JSON array, CSV, Parquet), lm-eval
    `samples_*.jsonl`, inspect logs (`.json`, `.eval`), OpenAI batch
    output, OpenAI's example_model_solutions. Rows that cannot be used come with their `fault`.
    Raises InputError if the file as a whole cannot be read or is empty.
    """
    batches = sample_batches(
        path, default_run=default_run, examine=examine, options=options, note=note
    )
    samples = [sample for batch in batches for sample in batch.samples()]
    if not samples:
        raise nothing_in(path)
    run = name_of_unnamed({sample.run for sample in samples}, default_run or name_of(path))
    return [row._replace(run=run) if row.run == UNNAMED else row for row in samples]


def sample_batches(
    path: Path,
    selected: RowSelection = every_row,
    default_run: str | None = None,
    examine: Examine | None = None,
    options: ReadOptions = DEFAULTS,
    note: Note = ignore,
) -> Generator[SampleBatch, None, None]:
    """Yield the completions of a file or run folder in batches; see `read_samples`.

    selected: the rows to read, by number. examine: called with some samples of a file made of rows.
    Unreadable rows belong to the run UNNAMED.
    """
    require(path)
    path = _completions_of(path) if path.is_dir() else path
    run = default_run or name_of(path)
    if path.suffix == ".eval" and path.is_file():
        yield from _logged(inspect_archive(path), selected)
        return
    value = read_whole(path)
    if value is None:
        yield from _tabular(SampleReader(path, run, options), selected, examine, note)
    elif is_inspect(value):
        yield from _logged(inspect_json(value, path), selected)
    else:
        reader = SampleReader(path, run, options)
        rows = tuple(array_rows(rows_in(value), path))
        first = reader.begin(iter(rows), examine, note=note)
        if first is not None and is_lm_eval(first.fields):
            check_filters(rows, str(path))
        for start in range(0, len(rows), BATCH_ROWS):
            part = rows[start : start + BATCH_ROWS]
            yield RowBatch(reader, ParsedBatch([row for row in part if selected(row.number)]))


def nothing_in(path: Path) -> InputError:
    """Return the error for a file without rows."""
    return InputError(f"{str(path)!r} contains no completions; give a file with one row each")


def name_of_unnamed(runs: Iterable[str], default: str) -> str:
    """Return the run of rows that name no run: the file's one run, or the default."""
    named = set(runs) - {UNNAMED}
    return named.pop() if len(named) == 1 else default


def name_of(path: Path) -> str:
    """Return the run of rows that name no run: the name of their folder or file."""
    path = completions_file(path)
    return path.resolve().parent.name if path.name == COMPLETIONS_FILE else path.stem


def require(path: Path) -> None:
    """Raise InputError unless the path exists."""
    try:
        path.stat()  # since Python 3.14, `exists` is False for a file that may not be seen
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: no name of a file
        raise InputError(f"{str(path)!r} does not exist; give the path of a file") from None
    except OSError as error:  # a name that is too long, a folder that may not be entered
        raise InputError(f"cannot read {str(path)!r}: {error.strerror}") from error


# Patterns of files in result folders of other tools.
SAMPLE_SUFFIXES = (".jsonl", ".json", ".csv", ".tsv", ".xlsx", ".eval", ".parquet")


def _completions_of(folder: Path) -> Path:
    file = folder / COMPLETIONS_FILE
    if not file.is_file():
        inside = sorted(str(path.parent) for path in folder.glob(f"*/{COMPLETIONS_FILE}"))
        levels = ("*", "*/*", "*/*/*")
        paths = [path for level in levels for path in sorted(folder.glob(level))]
        files = [str(path) for path in paths if path.suffix in SAMPLE_SUFFIXES]
        hint = "give a run folder or a file"
        if inside or files:
            named = inside or [path for path in files if "samples_" in path] or files
            hint = f"give one of its {'folders' if inside else 'files'}: {', '.join(named[:5])}"
        raise InputError(f"the folder {str(folder)!r} has no {COMPLETIONS_FILE}; {hint}")
    return file


def _tabular(
    reader: SampleReader, selected: RowSelection, examine: Examine | None, note: Note
) -> Iterator[RowBatch]:
    path = reader.path
    with closing(read_rows(path)) as rows:
        first = reader.begin(rows, examine, is_table=True, note=note)
    if first is not None and is_lm_eval(first.fields):
        with closing(read_rows(path)) as rows:
            check_filters(rows, str(path))
    if first is not None and is_own(first.fields):
        selected = _counting(path, selected)
    for part in read_batches(path, selected):
        yield RowBatch(reader, part)


def _counting(path: Path, selected: RowSelection) -> RowSelection:
    """Select the rows of a run folder that count, which needs a pass over the whole file."""
    with closing(read_rows(path)) as rows:
        counting = counting_rows(rows)
    return lambda number: number in counting and selected(number)


def _logged(samples: Iterator[Sample], selected: RowSelection) -> Iterator[LogBatch]:
    chosen = (sample for sample in samples if selected(sample.row))
    while part := tuple(islice(chosen, LOG_BATCH)):
        yield LogBatch(part)
