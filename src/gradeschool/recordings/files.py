"""Reading a file of completions, whatever its format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from gradeschool.errors import InputError
from gradeschool.recordings.inspect_log import inspect_archive, inspect_json, is_inspect
from gradeschool.recordings.lm_eval_samples import LmEvalSamples, is_lm_eval
from gradeschool.recordings.openai_batch import batch, is_batch
from gradeschool.recordings.openai_solutions import is_openai_solutions, openai_solutions
from gradeschool.recordings.own_run import last_of_each_key
from gradeschool.recordings.plain import plain
from gradeschool.recordings.recorded import UNNAMED, Recorded, faulty
from gradeschool.recordings.whole_json import array_rows, read_whole
from gradeschool.tables import Row, read_rows

COMPLETIONS_FILE = "completions.jsonl"
MANIFEST_FILE = "run.json"


def read_recordings(path: Path) -> list[Recorded]:
    """Return the completions of a file or run folder, in order.

    Formats: a run folder of ours, plain rows (JSONL, a JSON array, CSV, Parquet), lm-eval
    `samples_*.jsonl`, inspect logs (`.json`, `.eval`), OpenAI batch output, OpenAI's
    example_model_solutions. Rows that cannot be used come with their `fault`. Raises InputError
    where the file as a whole cannot be read or is empty.
    """
    require(path)
    path = _completions_of(path) if path.is_dir() else path
    recordings = list(_read(path))
    if not recordings:
        raise InputError(f"{str(path)!r} holds no completions; give a file with one row each")
    runs = {recorded.run for recorded in recordings} - {UNNAMED}
    run = runs.pop() if len(runs) == 1 else _name(path)
    return [replace(one, run=run) if one.run == UNNAMED else one for one in recordings]


def require(path: Path) -> None:
    """Raise InputError unless there is something at a path."""
    try:
        found = path.exists()
    except OSError as error:  # a name that is too long, a folder that may not be entered
        raise InputError(f"cannot read {str(path)!r}: {error.strerror}") from error
    if not found:
        raise InputError(f"{str(path)!r} does not exist; give the path of a file")


def _completions_of(folder: Path) -> Path:
    file = folder / COMPLETIONS_FILE
    if not file.is_file():
        inside = sorted(str(found.parent) for found in folder.glob(f"*/{COMPLETIONS_FILE}"))
        hint = f"give one of its folders: {', '.join(inside[:5])}" if inside else (
            "give a run folder or a file"
        )  # fmt: skip
        raise InputError(f"the folder {str(folder)!r} holds no {COMPLETIONS_FILE}; {hint}")
    return file


def _name(path: Path) -> str:
    """Return the run of rows that name none: the name of their folder or file."""
    return path.resolve().parent.name if path.name == COMPLETIONS_FILE else path.stem


def _read(path: Path) -> Iterator[Recorded]:
    if path.suffix == ".eval" and path.is_file():
        yield from inspect_archive(path)
        return
    value = read_whole(path)
    if value is None:
        yield from _of_rows(last_of_each_key(read_rows(path)), path)
    elif is_inspect(value):
        yield from inspect_json(value, path)
    else:
        yield from _of_rows(array_rows(value, path), path)


def _of_rows(rows: Iterable[Row], path: Path) -> Iterator[Recorded]:
    default_run = _name(path)
    samples = LmEvalSamples(path, default_run)
    for row in rows:
        if row.fault:
            yield faulty(row.number, UNNAMED, row.fault)
        elif is_lm_eval(row.fields):
            yield from samples.read(row)
        elif is_openai_solutions(row.fields):
            yield from openai_solutions(row)
        elif is_batch(row.fields):
            yield from batch(row, default_run)
        else:
            yield from plain(row, default_run)
