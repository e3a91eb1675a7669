"""Read a file of completions: its format, by a signature, and its samples.

A file of another tool is recognised by fields that only that tool writes, and read in one way. Any
other table is read by its columns (`columns.py`).
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import chain, islice
from pathlib import Path
from typing import Any

from gradeschool.errors import InputError
from gradeschool.formats.columns import Columns, choose_columns, describe_columns
from gradeschool.formats.inspect_log import inspect_archive, inspect_json, is_inspect
from gradeschool.formats.lm_eval import LmEvalSamples, is_lm_eval, is_lm_eval_results
from gradeschool.formats.openai import batch, is_batch, is_openai_solutions, openai_solutions
from gradeschool.formats.own_run import (
    COMPLETIONS_FILE,
    completions_file,
    counting_rows,
    is_own,
    stored_sample,
)
from gradeschool.formats.samples import DEFAULTS, UNNAMED, ReadOptions, Sample, faulty
from gradeschool.formats.tables import (
    FORMATS,
    Row,
    read_rows,
    read_whole,
    require_file,
    rows_of_json,
)

BATCH_ROWS = 1024
BATCH_BYTES = 4 * 2**20  # of texts; a batch ends with the sample that reaches this
HEAD = 64  # rows that show how a file is read
SAMPLE_SUFFIXES = (".jsonl", ".json", ".csv", ".tsv", ".xlsx", ".eval", ".parquet")
INSPECT, LM_EVAL, OWN, TABLE = "inspect log", "lm-eval samples", "run folder", "table"
SOLUTIONS, BATCH_OUTPUT = "OpenAI's example solutions", "OpenAI batch output"


class SampleReader:
    """How the rows of one file become samples; small, so that a copy can go to another process.

    kind: the format. columns: of a table.
    """

    def __init__(
        self, path: Path, rows: list[Row], default_run: str, options: ReadOptions = DEFAULTS
    ) -> None:
        """Detect the format from the first rows. Raises InputError if they are uncertain."""
        self.path = path
        self.default_run = default_run
        self.columns: Columns | None = None
        self.lm_eval: LmEvalSamples | None = None
        readable = [row for row in rows if not row.fault]
        first = readable[0].fields if readable else {}
        if rows and not readable and path.suffix not in (".csv", ".parquet"):
            raise InputError(
                f"no row of {str(path)!r} can be used: row {rows[0].number} {rows[0].fault}; "
                f"a file has one of these formats: {FORMATS}"
            )
        if options.named and readable:
            self.kind = TABLE
        elif is_own(first):
            self.kind = OWN
        elif is_lm_eval(first):
            self.kind = LM_EVAL
            self.lm_eval = LmEvalSamples(path, default_run, first.get("filter"))
        elif is_openai_solutions(first):
            self.kind = SOLUTIONS
        elif is_batch(first):
            self.kind = BATCH_OUTPUT
        else:
            self.kind = TABLE
        if self.kind == TABLE and readable:
            fields = [row.fields for row in readable]
            self.columns = choose_columns(fields, options.named, str(path), options.in_order)

    def read(self, row: Row) -> list[Sample]:
        """Return the samples of a row: one, several, or none."""
        if row.fault:
            return [faulty(row.number, UNNAMED, row.fault)]
        if self.kind == OWN:
            stored = stored_sample(row, self.default_run)
            return [stored or faulty(row.number, UNNAMED, "is not a row of a run folder")]
        if self.lm_eval is not None:
            return self.lm_eval.read(row)
        if self.kind == SOLUTIONS:
            return list(openai_solutions(row))
        if self.kind == BATCH_OUTPUT:
            if not is_batch(row.fields):
                return [faulty(row.number, UNNAMED, "is not a line of batch output")]
            return list(batch(row, self.default_run))
        if self.columns is None:
            return [faulty(row.number, UNNAMED, "cannot be read: the rows before it are damaged")]
        return self.columns.read(row, self.default_run)

    def __str__(self) -> str:
        """Return how the file is read, for a message."""
        return self.kind if self.columns is None else str(self.columns)


class SampleFile:
    """A file or run folder, opened: its format is known, its samples can be read in batches.

    rows: the first rows of a table that is no local file. head: the samples of its first rows.
    Raises InputError if the file cannot be read or is empty,
    or if it is not certain how to read it.
    """

    def __init__(
        self,
        path: Path,
        default_run: str | None = None,
        options: ReadOptions = DEFAULTS,
        rows: Sequence[Row] = (),
    ) -> None:
        self.options = options
        self.reader: SampleReader | None = None
        self._whole: Any = None
        if rows:
            self.path, self.default_run = path, default_run or path.stem
            self._begin(list(rows[:HEAD]))
            return
        require(path)
        self.path = _completions_of(path) if path.is_dir() else path
        self.default_run = default_run or name_of(path)
        require_file(self.path)
        self._whole = read_whole(self.path)
        if isinstance(self._whole, dict) and is_lm_eval_results(self._whole):
            beside = sorted(str(file) for file in self.path.parent.glob("samples_*.jsonl"))
            which = f"give {', '.join(beside[:3])}" if beside else "run lm_eval with --log_samples"
            raise InputError(
                f"{str(self.path)!r} has lm-eval's results without the texts, which are in the "
                f"samples_*.jsonl beside it; {which}"
            )
        if self.path.suffix == ".eval" or is_inspect(self._whole):
            self.kind = INSPECT
            with closing(self._logged()) as samples:
                self.head = list(islice(samples, HEAD))
        else:
            with closing(self._rows()) as read:
                self._begin(list(islice(read, HEAD)))
        if not self.head and self.kind != LM_EVAL:
            raise nothing_in(path)

    def _begin(self, first: list[Row]) -> None:
        self.reader = SampleReader(self.path, first, self.default_run, self.options)
        self.kind = self.reader.kind
        self.head = [sample for row in first for sample in self.reader.read(row)]
        if self.reader.columns is not None:
            self.reader.columns.rows = 0

    def __str__(self) -> str:
        """Return how the file is read, for a message."""
        return self.kind if self.reader is None else str(self.reader)

    def batches(self) -> Iterator[list[Sample]]:
        """Yield the samples in the order of the file, in batches that are bounded by bytes."""
        batch: list[Sample] = []
        size = 0
        for sample in self._samples():
            batch.append(sample)
            size += len(sample.text)
            if len(batch) >= BATCH_ROWS or size >= BATCH_BYTES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def _samples(self) -> Iterator[Sample]:
        if self.reader is None:
            yield from self._logged()
            return
        counting = None
        if self.kind == OWN:  # a sample that failed and was asked again has several rows
            with closing(self._rows()) as rows:
                counting = counting_rows(rows)
        if self.reader.columns is not None:
            self.reader.columns.rows = 0
        with closing(self._rows()) as rows:
            for row in rows:
                if counting is None or row.number in counting:
                    yield from self.reader.read(row)
        if self.reader.lm_eval is not None:
            self.reader.lm_eval.check(str(self.path))

    def _rows(self) -> Generator[Row, None, None]:
        if self._whole is not None:
            yield from rows_of_json(self._whole, self.path)
        else:
            yield from read_rows(self.path)

    def _logged(self) -> Generator[Sample, None, None]:
        if self.path.suffix == ".eval":
            yield from inspect_archive(self.path)
        else:
            yield from inspect_json(self._whole, self.path)


def read_samples(
    path: Path, default_run: str | None = None, options: ReadOptions = DEFAULTS
) -> list[Sample]:
    """Return the samples of a file or run folder, in order, without their problems.

    default_run: the run of rows that name no run; by default the name of the file. Rows that cannot
    be used come with their `fault`. Raises InputError if the file as a whole cannot be read.
    """
    file = SampleFile(path, default_run, options)
    samples = list(chain.from_iterable(file.batches()))
    if not samples:
        raise nothing_in(path)
    run = name_of_unnamed((sample.run for sample in samples), file.default_run)
    return [row._replace(run=run) if row.run == UNNAMED else row for row in samples]


def show_columns(path: Path) -> str:
    """Return the columns of a table with examples and the roles that fit."""
    require(path)
    path = _completions_of(path) if path.is_dir() else path
    with closing(read_rows(path)) as rows:
        head = [row.fields for row in islice(rows, HEAD) if not row.fault]
    return describe_columns(head, str(path))


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
