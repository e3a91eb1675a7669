"""Read a file of completions: its format, by a signature, and its samples.

A file of another tool is recognised by fields that only that tool writes; its rows are rewritten as
plain rows, which have the columns `PLAIN_ROWS`. Any other table is read by its own columns.
"""

import os
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

from gradeschool.errors import InputError
from gradeschool.formats import foreign, run_folder, tables
from gradeschool.formats.columns import PLAIN_ROWS, Columns, choose_columns, describe_columns
from gradeschool.formats.values import (
    DEFAULTS,
    SERVICE_FAILURE,
    UNNAMED,
    ReadOptions,
    Sample,
    mapping,
    service_failure,
)
from gradeschool.scorer import clip

BATCH_ROWS = 1024
BATCH_BYTES = 4 * 2**20  # of texts; a batch ends with the sample that reaches this
HEAD = 64  # rows that show how a file is read
LEAST_TEXTS = 64 * 2**20  # characters; a file may unpack to these, however small it is
LONGEST_TEXT = 2 * 2**20  # characters, more than any model writes; scorers take seconds for it
ADDRESS = re.compile(r"[a-z][a-z0-9]+:/(?=\w)")  # s3:/bucket, as Path writes s3://bucket
SAMPLE_SUFFIXES = (".jsonl", ".json", ".csv", ".tsv", ".xlsx", ".eval", ".parquet")
INSPECT, LM_EVAL, RUN_FOLDER, TABLE = "inspect log", "lm-eval samples", "run folder", "table"
Fields = Mapping[str, Any]
SIGNATURES = (
    (RUN_FOLDER, run_folder.is_stored_row, None),
    (LM_EVAL, foreign.is_lm_eval, None),
    *foreign.SIGNATURES,
)


class SampleFile:
    """A file or run folder, opened: its format is known, its samples can be read in batches.

    kind: the format. columns: of a table, None for other formats. head: the samples of its first
    rows. Raises InputError if the file cannot be read or is empty, or if it is not certain how to
    read it.
    """

    def __init__(
        self, path: Path, default_run: str | None = None, options: ReadOptions = DEFAULTS
    ) -> None:
        """Detect the format from the first rows. Raises InputError if they are uncertain."""
        self.path = completions_of(path)
        self.default_run = default_run or default_run_name(path)
        self._whole: Any = tables.read_whole(self.path)
        whole = self._whole if isinstance(self._whole, dict) else {}
        if "results" in whole and whole.keys() & {"configs", "n-samples", "n-shot", "versions"}:
            beside = sorted(str(file) for file in self.path.parent.glob("samples_*.jsonl"))
            which = f"give {', '.join(beside[:3])}" if beside else "run lm_eval with --log_samples"
            raise InputError(
                f"{str(self.path)!r} has lm-eval's results without the texts, which are in the "
                f"samples_*.jsonl beside it; {which}"
            )
        is_log = self.path.suffix == ".eval" or (bool(whole) and foreign.is_inspect(whole))
        self.kind = INSPECT if is_log else TABLE
        self.columns: Columns | None = None
        self.lm_eval: foreign.LmEvalSamples | None = None
        self._plain: Callable[[Fields], Iterable[Fields]] = foreign.inspect_sample
        with closing(self._rows()) as read:
            first = list(islice(read, HEAD))
        readable = [row.fields for row in first if not row.fault]
        if first and not readable and self.path.suffix not in (".csv", ".parquet", ".eval"):
            raise InputError(
                f"no row of {str(self.path)!r} can be used: row {first[0].number} "
                f"{first[0].fault}; a file has one of these formats: {tables.FORMATS}"
            )
        named = options.columns[0] if options.columns else {}
        for kind, matches, plain in SIGNATURES if readable and not named and not is_log else ():
            if matches(readable[0]):
                self.kind, self._plain = kind, plain
                break
        if self.kind == LM_EVAL:
            self.lm_eval = foreign.LmEvalSamples(self.path, readable[0].get("filter"))
            self._plain = self.lm_eval.plain
        elif self.kind == foreign.EVALS:
            found = (each.get("data") for each in readable if each.get("type") == "match")
            has_texts = any({"sampled", "prompt"} <= mapping(data).keys() for data in found)
            event = "match" if has_texts else "sampling"
            self._plain = partial(foreign.evals, event=event, first={})
        elif self.kind == TABLE and readable:
            self.columns = choose_columns(readable, named, str(self.path), options.in_order)
        self.head = list(chain.from_iterable(map(self.read, first)))
        if not self.head and self.kind not in (LM_EVAL, foreign.EVALS):
            raise nothing_in(path)

    def read(self, row: tables.Row) -> list[Sample]:
        """Return the samples of a row: one, several, or none.

        A text that is the failure of a service is an error; one that is no completion by its
        length is a fault.
        """
        number, fields, fault = row
        if not fault and self.kind == TABLE and self.columns is None:
            fault = "cannot be read: the rows before it are damaged"
        if fault:
            if self.columns is not None:  # the row has a place in the order of its run
                self.columns.rows[self.columns.last_run] += 1
            return [Sample(number, fault=fault)]
        is_stored, samples = self.kind == RUN_FOLDER, []
        if is_stored:
            samples = [run_folder.stored_sample(number, fields, self.default_run)]
        elif self.columns is not None:
            samples = self.columns.read(number, fields, self.default_run)
            samples = self.columns.with_scores(samples, fields)
        else:
            for plain in self._plain(fields):
                samples += PLAIN_ROWS.read(number, plain, self.default_run)
        for index, sample in enumerate(samples):
            text = sample.text
            if len(text) > LONGEST_TEXT:
                fault = (
                    f"has a text of {len(text):,} characters; at most {LONGEST_TEXT:,} are scored"
                )
                samples[index] = Sample(number, sample.run, fault=fault)
            elif text and not is_stored and service_failure(text):
                failure = f"{SERVICE_FAILURE}{clip(' '.join(text.split()))}"
                samples[index] = sample._replace(text="", error=sample.error or failure)
        return samples

    def batches(self) -> Iterator[list[Sample]]:
        """Yield the samples in the order of the file, in batches that are bounded by bytes.

        Raises InputError for a small file that names a long text in very many rows.
        """
        valid = None
        if self.kind == RUN_FOLDER:  # a sample that failed and was asked again has several rows
            with closing(self._rows()) as rows:
                valid = run_folder.valid_rows(rows)
        if self.columns is not None:
            self.columns.begin()
        batch: list[Sample] = []
        most = max(LEAST_TEXTS, tables.MOST_UNPACKED * self.path.stat().st_size)
        size = total = 0
        with closing(self._rows()) as rows:
            for row in rows:
                if valid is None or row.number in valid:
                    for sample in self.read(row):
                        batch.append(sample)
                        size += len(sample.text)
                if len(batch) >= BATCH_ROWS or size >= BATCH_BYTES:
                    yield batch
                    total += size
                    if total > most:
                        raise InputError(
                            f"{str(self.path)!r} repeats texts that are {total >> 20} MiB by row "
                            f"{row.number}; write each row once"
                        )
                    batch, size = [], 0
        if batch:
            yield batch
        if self.lm_eval is not None:
            self.lm_eval.check(str(self.path))

    def _rows(self) -> Generator[tables.Row, None, None]:
        if self.kind == INSPECT:
            return foreign.inspect_rows(self.path, self._whole)
        return (
            tables.read_rows(self.path)
            if self._whole is None
            else tables.rows_of_json(self._whole, self.path)
        )


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
    run = run_of_unnamed((sample.run for sample in samples), file.default_run)
    return [row._replace(run=run) if row.run == UNNAMED else row for row in samples]


def show_columns(path: Path) -> str:
    """Return the columns of a table with examples and the roles that they may have."""
    path = completions_of(path)
    with closing(tables.read_rows(path)) as rows:
        head = [row.fields for row in islice(rows, HEAD) if not row.fault]
    return describe_columns(head, str(path))


def nothing_in(path: Path) -> InputError:
    """Return the error for a file without rows."""
    return InputError(f"{str(path)!r} contains no completions; give a file with one in each row")


def run_of_unnamed(runs: Iterable[str], default: str) -> str:
    """Return the run of rows that name no run: the file's one run, or the default."""
    named = set(runs) - {UNNAMED}
    return named.pop() if len(named) == 1 else default


def default_run_name(path: Path) -> str:
    """Return the run of rows that name no run: the name of their folder or file."""
    is_run = path.name == run_folder.COMPLETIONS_FILE or os.path.isdir(path)  # noqa: PTH112  (never raises)
    folder = path.parent if path.name == run_folder.COMPLETIONS_FILE else path
    return folder.resolve().name if is_run else path.stem


def completions_of(path: Path) -> Path:
    """Return a file, or the completions.jsonl of a run folder; raises InputError for neither."""
    try:
        path.stat()  # since Python 3.14, `exists` is False for a file that may not be seen
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: no name of a file
        if scheme := ADDRESS.match(str(path)):
            address = f"{scheme[0]}/{str(path)[scheme.end() :]}"
            raise InputError(
                f"{address!r} is an address, which is not read; download it and give its path"
            ) from None
        raise InputError(f"{str(path)!r} does not exist; give the path of a file") from None
    except OSError as error:  # a name that is too long, a folder that may not be entered
        raise InputError(f"cannot read {str(path)!r}: {error.strerror}") from error
    file = path / run_folder.COMPLETIONS_FILE
    if not path.is_dir() or file.is_file():
        return file if path.is_dir() else path
    inside = sorted(str(found.parent) for found in path.glob(f"*/{run_folder.COMPLETIONS_FILE}"))
    paths = [found for level in ("*", "*/*", "*/*/*") for found in sorted(path.glob(level))]
    files = [str(found) for found in paths if found.suffix in SAMPLE_SUFFIXES]
    if not files:  # splits that `datasets` saved, each in shards
        inside = inside or sorted(
            {str(found.parent) for found in paths if found.suffix == ".arrow"}
        )
    hint = "give a run folder or a file"
    if named := inside or [each for each in files if "samples_" in each] or files:
        hint = f"give one of its {'folders' if inside else 'files'}: {', '.join(named[:5])}"
    raise InputError(f"the folder {str(path)!r} has no {run_folder.COMPLETIONS_FILE}; {hint}")
