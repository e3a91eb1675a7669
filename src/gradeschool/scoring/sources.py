"""What `gradeschool score` is given: files, run folders, tables in several files, FILE#RUN."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gradeschool.datasets.load import Dataset, is_here, load_datasets
from gradeschool.errors import InputError
from gradeschool.formats.own_run import dataset_of
from gradeschool.formats.read import COMPLETIONS_FILE, name_of, read_samples, require

DEFAULT_DATASET = "gsm8k"
PATTERN = re.compile(r"[*?\[]")
PARTS = "*.parquet"


@dataclass(frozen=True, slots=True)
class Source:
    """One table of completions.

    name: as the user gave it. parts: its files in order, one for all but tables in several files.
    run: the name of the run of rows that name none. only: the one run that is meant, "" for all.
    """

    name: str
    parts: tuple[Path, ...]
    run: str
    dataset: Dataset
    only: str = ""


def sources(names: Sequence[str], dataset: str | None) -> list[Source]:
    """Return the tables of these names, each with the dataset that it is scored against.

    A name is a file, a run folder, or a pattern ("runs/*.parquet") or folder of Parquet files that
    are one table; with "#RUN" behind it, one run of several. dataset: a name or path; None takes
    the run folder's own, else GSM8K's test split. Raises InputError, DataError.
    """
    tables = [(name, parted(name)[1], *files_of(name, dataset)) for name in names]
    check_sources(names, dataset)
    loaded = load_datasets(used for *_, used in tables)
    return [Source(name, parts, run_of(name), loaded[used], only)
            for name, only, parts, used in tables]  # fmt: skip


def files_of(name: str, dataset: str | None) -> tuple[tuple[Path, ...], str]:
    """Return the files of a table and the name of its dataset; raises InputError for no files."""
    parts = _parts(parted(name)[0])
    return parts, dataset or dataset_of(parts[0]) or DEFAULT_DATASET


def check_sources(names: Iterable[str], dataset: str | None) -> None:
    """Raise InputError for a table that cannot be read, before a dataset is fetched for it.

    Files are looked into only where their dataset has to be fetched; elsewhere reading them says
    the same a moment later.
    """
    tables = [(name, *files_of(name, dataset)) for name in names]
    for name, parts, used in tables:
        if is_here(used):
            continue
        file, only = parted(name)
        recorded = [one for part in parts for one in read_samples(part, run_of(name))]
        if all(one.fault for one in recorded):
            first = recorded[0]
            raise InputError(f"no row of {file!r} can be used: row {first.row} {first.fault}")
        runs = dict.fromkeys(one.run for one in recorded)
        if only and only not in runs:
            raise no_such_run(file, only, runs)


def parted(spec: str) -> tuple[str, str]:
    """Part FILE#RUN at the first "#" behind which a file ends; either may hold others."""
    if _exists(spec):
        return spec, ""
    marks = [at for at, character in enumerate(spec) if character == "#"]
    at = next((at for at in marks if _exists(spec[:at])), marks[0] if marks else len(spec))
    return spec[:at], spec[at + 1 :]


def _exists(name: str) -> bool:
    if os.path.exists(name):  # noqa: PTH110  (Path's raises for a name that is too long)
        return True
    return PATTERN.search(name) is not None and bool(glob.glob(name))  # noqa: PTH207


def no_such_run(file: str, run: str, held: Iterable[str]) -> InputError:
    """Return the error of a file that holds other runs than the one that is meant."""
    names = ", ".join(repr(f"{file}#{name}") for name in held)
    return InputError(f"{file!r} holds no run {run!r}; it holds {names}")


def run_of(name: str) -> str:
    """Return the run of a table's rows that name none: the name of their file or folder."""
    name = parted(name)[0]
    path = Path(name)
    return path.parent.resolve().name if _is_pattern(name) else name_of(path)


def _is_pattern(name: str) -> bool:
    return PATTERN.search(name) is not None and not Path(name).exists()


def _parts(name: str) -> tuple[Path, ...]:
    path = Path(name)
    if _is_pattern(name):
        parts = tuple(sorted(Path(found) for found in glob.glob(name)))  # noqa: PTH207
        if not parts:
            raise InputError(f"no file matches the pattern {name!r}; correct it")
        return parts
    require(path)
    is_run = (path / COMPLETIONS_FILE).is_file()
    if path.is_dir() and not is_run and (parts := tuple(sorted(path.glob(PARTS)))):
        return parts
    return (path,)
