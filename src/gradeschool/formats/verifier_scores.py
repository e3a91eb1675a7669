"""verifier-scores.jsonl: the scores of a run's completions, by verifier."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import isfinite
from pathlib import Path
from typing import NamedTuple

from gradeschool.atomic import append_lines
from gradeschool.errors import InputError
from gradeschool.formats.tables import parse_line

SCORES_FILE = "verifier-scores.jsonl"


class ScoreRow(NamedTuple):
    """One completion's score by one verifier.

    key: of the completion. verifier: its name and digest. logprob: the mean log-probability of the
    solution's tokens under the named generator, None without one. values, tokens: at each token, if
    requested.
    """

    key: str
    verifier: str
    score: float
    logprob: float | None = None
    generator: str | None = None
    values: list[float] | None = None
    tokens: list[str] | None = None


def scores_path(source: Path) -> Path:
    """Return the path of the scores of a run folder or a file of completions."""
    if source.is_dir():
        return source / SCORES_FILE
    return source.with_name(f"{source.stem}.{SCORES_FILE}")


def read_scores(path: Path) -> Iterator[ScoreRow]:
    """Yield the rows of a file of scores, without incomplete ones; no rows if there is no file.

    A log-probability that is no finite number is None.
    """
    if not path.exists():
        return
    try:
        with path.open("rb") as file:
            for fields, _ in map(parse_line, file):
                row = ScoreRow(*map(fields.get, ScoreRow._fields))  # type: ignore[arg-type]
                names = isinstance(row.key, str) and isinstance(row.verifier, str)
                if names and is_finite(row.score):
                    yield row if is_finite(row.logprob) else row._replace(logprob=None)
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {error.strerror}") from error


def is_finite(value: object) -> bool:
    """Return whether a JSON value is a finite number."""
    return isinstance(value, int | float) and isfinite(value)


def append_scores(path: Path, rows: Iterable[ScoreRow]) -> None:
    """Append rows; see `append_lines`."""
    append_lines(path, ({name: value for name, value in row._asdict().items() if value is not None}
                        for row in rows))  # fmt: skip


def choose_scores(path: Path, verifier: str | None) -> tuple[str, dict[str, ScoreRow]]:
    """Return the name of a verifier and its rows by key, the last of each.

    verifier: its name or the beginning of it; None if the file has only one. Raises InputError
    unless it is a name in the file, or exactly one name begins with it.
    """
    by_verifier: dict[str, dict[str, ScoreRow]] = {}
    for row in read_scores(path):
        if row.verifier.startswith(verifier or ""):
            by_verifier.setdefault(row.verifier, {})[row.key] = row
    if verifier in by_verifier:  # also the beginning of "NAME:product"
        return verifier, by_verifier[verifier]
    if len(by_verifier) == 1:
        return next(iter(by_verifier.items()))
    if by_verifier:
        names = ", ".join(map(repr, by_verifier))
        raise InputError(f"{str(path)!r} contains scores of {names}; choose one with --verifier")
    whose = f" of {verifier!r}" if verifier else ""
    raise InputError(
        f"{str(path.parent)!r} has no verifier scores{whose}; use --verifier FOLDER, or score "
        "first: gradeschool verifier score"
    )
