"""Reading a file of completions, whatever its format."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gradeschool.errors import InputError
from gradeschool.recordings.inspect_log import inspect_archive, inspect_json
from gradeschool.recordings.lm_eval_samples import LmEvalSamples, is_lm_eval
from gradeschool.recordings.openai_batch import batch, is_batch
from gradeschool.recordings.own_run import last_of_each_key
from gradeschool.recordings.plain import plain
from gradeschool.recordings.recorded import Recorded, faulty
from gradeschool.tables import read_rows

COMPLETIONS_FILE = "completions.jsonl"
MANIFEST_FILE = "run.json"


def read_recordings(path: Path) -> Iterator[Recorded]:
    """Yield the completions of a file or run folder, in order.

    Formats: a run folder of ours, plain rows (JSONL, CSV, Parquet), lm-eval `samples_*.jsonl`,
    inspect logs (`.json`, `.eval`), OpenAI batch output. Rows that cannot be used come with their
    `fault`. Raises InputError where the file as a whole cannot be read or is empty.
    """
    if path.is_dir():
        path = _completions_of(path)
    count = 0
    for recorded in _read(path):
        count += 1
        yield recorded
    if count == 0:
        raise InputError(f"{str(path)!r} holds no completions; give a file with one row each")


def _completions_of(folder: Path) -> Path:
    file = folder / COMPLETIONS_FILE
    if not file.is_file():
        raise InputError(
            f"the folder {str(folder)!r} holds no {COMPLETIONS_FILE}; give a run folder or a file"
        )
    return file


def _read(path: Path) -> Iterator[Recorded]:
    if path.suffix == ".eval" and path.is_file():
        yield from inspect_archive(path)
        return
    if path.suffix == ".json" and path.is_file():
        yield from inspect_json(path)
        return
    default_run = path.parent.name if path.name == COMPLETIONS_FILE else path.stem
    samples = LmEvalSamples(default_run)
    rows = read_rows(path)
    if path.name == COMPLETIONS_FILE:
        rows = last_of_each_key(rows)
    for row in rows:
        if row.fault:
            yield faulty(row.number, default_run, row.fault)
        elif is_lm_eval(row.fields):
            yield from samples.read(row)
        elif is_batch(row.fields):
            yield from batch(row, default_run)
        else:
            yield from plain(row, default_run)
