"""Read a file of completions: its format, by a signature, and its samples.

A file of another tool is recognised by fields that only that tool writes, and read in one way. Any
other table is read by its columns (`columns.py`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.errors import InputError
from gradeschool.formats import foreign
from gradeschool.formats.columns import Columns, choose_columns, describe_columns
from gradeschool.formats.inspect_log import inspect_archive, inspect_json, is_inspect
from gradeschool.formats.lm_eval import LmEvalSamples, is_lm_eval, is_lm_eval_results
from gradeschool.formats.own_run import COMPLETIONS_FILE, counting_rows, is_own, stored_samples
from gradeschool.formats.samples import DEFAULTS, UNNAMED, ReadOptions, Sample, faulty
from gradeschool.formats.tables import FORMATS, Row, read_rows, read_whole, rows_of_json
from gradeschool.formats.values import SERVICE_FAILURE, service_failure
from gradeschool.scorer import clip

BATCH_ROWS = 1024
BATCH_BYTES = 4 * 2**20  # of texts; a batch ends with the sample that reaches this
HEAD = 64  # rows that show how a file is read
LONGEST_TEXT = 2 * 2**20  # characters, more than any model writes; scorers take seconds for it
SAMPLE_SUFFIXES = (".jsonl", ".json", ".csv", ".tsv", ".xlsx", ".eval", ".parquet")
INSPECT, LM_EVAL, OWN, TABLE = "inspect log", "lm-eval samples", "run folder", "table"
EVALS = "OpenAI evals log"
Reads = Callable[[Row, str], Iterable[Sample]]


class Signature(NamedTuple):
    """How a format is recognised by its first row, and how a row is read.

    reads: the samples of a row; None if that depends on the file, see `SampleReader`.
    """

    kind: str
    matches: Callable[[Mapping[str, Any]], bool]
    reads: Reads | None


SIGNATURES = (
    Signature(OWN, is_own, stored_samples),
    Signature(LM_EVAL, is_lm_eval, None),
    Signature("OpenAI's example solutions", foreign.is_openai_solutions, foreign.openai_solutions),
    Signature("OpenAI batch output", foreign.is_batch, foreign.batch),
    Signature(EVALS, foreign.is_evals, None),
    Signature("HELM scenario state", foreign.is_helm, foreign.helm),
    Signature("lighteval details", foreign.is_lighteval, foreign.lighteval),
)


class SampleReader:
    """How the rows of one file become samples; small, so that a copy can go to another process.

    kind: the format. columns: of a table.
    """

    def __init__(
        self, path: Path, rows: list[Row], default_run: str, options: ReadOptions = DEFAULTS
    ) -> None:
        """Detect the format from the first rows. Raises InputError if they are uncertain."""
        self.default_run = default_run
        self.columns: Columns | None = None
        self.lm_eval: LmEvalSamples | None = None
        self.kind = TABLE
        self._reads: Reads | None = None
        readable = [row.fields for row in rows if not row.fault]
        if rows and not readable and path.suffix not in (".csv", ".parquet"):
            raise InputError(
                f"no row of {str(path)!r} can be used: row {rows[0].number} {rows[0].fault}; "
                f"a file has one of these formats: {FORMATS}"
            )
        named = options.columns[0] if options.columns else {}
        for signature in SIGNATURES if readable and not named else ():
            if signature.matches(readable[0]):
                self.kind, self._reads = signature.kind, signature.reads
                break
        if self.kind == LM_EVAL:
            self.lm_eval = LmEvalSamples(path, default_run, readable[0].get("filter"))
            self._reads = self.lm_eval.read
        elif self.kind == EVALS:
            self._reads = partial(foreign.evals, event=foreign.evals_event(readable))
        elif self.kind == TABLE and readable:
            self.columns = choose_columns(readable, named, str(path), options.in_order)
            self._reads = self.columns.read

    def read(self, row: Row) -> list[Sample]:
        """Return the samples of a row: one, several, or none.

        A text that is the failure of a service is an error; one that is no completion by its
        length is a fault.
        """
        if row.fault or self._reads is None:
            fault = row.fault or "cannot be read: the rows before it are damaged"
            return [faulty(row.number, UNNAMED, fault)]
        samples = list(self._reads(row, self.default_run))
        for place, sample in enumerate(samples):
            length = len(sample.text)
            if length > LONGEST_TEXT:
                fault = f"has a text of {length:,} characters; at most {LONGEST_TEXT:,} are scored"
                samples[place] = faulty(row.number, sample.run, fault)
            elif length and self.kind != OWN and service_failure(sample.text):
                failure = f"{SERVICE_FAILURE}{clip(' '.join(sample.text.split()))}"
                samples[place] = sample._replace(text="", error=sample.error or failure)
        return samples


class SampleFile:
    """A file or run folder, opened: its format is known, its samples can be read in batches.

    rows: the first rows of a table that is no local file. kind: the format. head: the samples of
    its first rows. Raises InputError if the file cannot be read or is empty, or if it is not
    certain how to read it.
    """

    def __init__(
        self,
        path: Path,
        default_run: str | None = None,
        options: ReadOptions = DEFAULTS,
        rows: Sequence[Row] = (),
    ) -> None:
        self.kind = INSPECT
        self.reader: SampleReader | None = None
        self.path = path if rows else completions_of(path)
        self.default_run = default_run or name_of(path)
        self._whole: Any = None if rows else read_whole(self.path)
        whole = self._whole
        if isinstance(whole, dict) and is_lm_eval_results(whole):
            beside = sorted(str(file) for file in self.path.parent.glob("samples_*.jsonl"))
            which = f"give {', '.join(beside[:3])}" if beside else "run lm_eval with --log_samples"
            raise InputError(
                f"{str(self.path)!r} has lm-eval's results without the texts, which are in the "
                f"samples_*.jsonl beside it; {which}"
            )
        if self.path.suffix == ".eval" or (isinstance(whole, dict) and is_inspect(whole)):
            with closing(self._logged()) as samples:
                self.head = list(islice(samples, HEAD))
        else:
            with closing(self._rows()) as read:
                first = list(rows[:HEAD]) or list(islice(read, HEAD))
            self.reader = SampleReader(self.path, first, self.default_run, options)
            self.kind = self.reader.kind
            self.head = list(chain.from_iterable(map(self.reader.read, first)))
        if not self.head and self.kind not in (LM_EVAL, EVALS):
            raise nothing_in(path)

    @property
    def columns(self) -> Columns | None:
        """The columns of a table, None for a file of another format."""
        return None if self.reader is None else self.reader.columns

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
        reader = self.reader
        if reader is None:
            yield from self._logged()
            return
        counting = None
        if self.kind == OWN:  # a sample that failed and was asked again has several rows
            with closing(self._rows()) as rows:
                counting = counting_rows(rows)
        if reader.columns is not None:
            reader.columns.rows = 0
        with closing(self._rows()) as rows:
            for row in rows:
                if counting is None or row.number in counting:
                    yield from reader.read(row)
        if reader.lm_eval is not None:
            reader.lm_eval.check(str(self.path))

    def _rows(self) -> Generator[Row, None, None]:
        return read_rows(self.path) if self._whole is None else rows_of_json(self._whole, self.path)

    def _logged(self) -> Generator[Sample, None, None]:
        if self.path.suffix == ".eval":
            return inspect_archive(self.path)
        return inspect_json(self._whole, self.path)


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
    path = completions_of(path)
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
    is_run = path.name == COMPLETIONS_FILE or os.path.isdir(path)  # noqa: PTH112  (never raises)
    folder = path.parent if path.name == COMPLETIONS_FILE else path
    return folder.resolve().name if is_run else path.stem


def completions_of(path: Path) -> Path:
    """Return a file, or the completions.jsonl of a run folder; raises InputError for neither."""
    try:
        path.stat()  # since Python 3.14, `exists` is False for a file that may not be seen
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: no name of a file
        raise InputError(f"{str(path)!r} does not exist; give the path of a file") from None
    except OSError as error:  # a name that is too long, a folder that may not be entered
        raise InputError(f"cannot read {str(path)!r}: {error.strerror}") from error
    if not path.is_dir():
        return path
    file = path / COMPLETIONS_FILE
    if file.is_file():
        return file
    inside = sorted(str(found.parent) for found in path.glob(f"*/{COMPLETIONS_FILE}"))
    paths = [found for level in ("*", "*/*", "*/*/*") for found in sorted(path.glob(level))]
    files = [str(found) for found in paths if found.suffix in SAMPLE_SUFFIXES]
    hint = "give a run folder or a file"
    if inside or files:
        named = inside or [each for each in files if "samples_" in each] or files
        hint = f"give one of its {'folders' if inside else 'files'}: {', '.join(named[:5])}"
    raise InputError(f"the folder {str(path)!r} has no {COMPLETIONS_FILE}; {hint}")
