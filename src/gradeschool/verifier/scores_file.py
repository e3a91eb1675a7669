"""verifier-scores.jsonl: what verifiers said of completions, appended row by row."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.errors import InputError, StoreError
from gradeschool.formats.tables import parse_line

SCORES_FILE = "verifier-scores.jsonl"


class ScoreRow(NamedTuple):
    """One completion's score by one verifier.

    key: the completion's. verifier: whose score it is, by name and digest. length: tokens of the
    solution, as the generator reads it where one was asked. logprob: their mean log-probability by
    the generator of that name, None where none was asked. values, tokens: at each token, where they
    were wanted.
    """

    key: str
    verifier: str
    score: float
    length: int
    logprob: float | None = None
    generator: str | None = None
    values: list[float] | None = None
    tokens: list[str] | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the fields that are known."""
        return {name: value for name, value in self._asdict().items() if value is not None}


def scores_path(source: Path) -> Path:
    """Return where the scores of a run folder or a file of completions lie."""
    if source.is_dir():
        return source / SCORES_FILE
    return source.with_name(f"{source.stem}.{SCORES_FILE}")


def read_scores(path: Path) -> Iterator[ScoreRow]:
    """Yield the rows of a file of scores; a torn one is passed over. No file holds no rows."""
    if not path.exists():
        return
    try:
        with path.open("rb") as file:
            for line in file:
                fields, fault = parse_line(line)
                if not fault and (row := _row(fields)) is not None:
                    yield row
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {error.strerror}") from error


def append_scores(path: Path, rows: Iterable[ScoreRow]) -> None:
    """Append rows; a line that a killed process left half written is ended first."""
    try:
        with path.open("ab+") as file:
            if file.seek(0, 2) and (file.seek(-1, 2), file.read(1))[1] != b"\n":
                file.write(b"\n")
            file.write(b"".join(json.dumps(row.as_json()).encode() + b"\n" for row in rows))
    except OSError as error:
        raise StoreError(f"cannot write {str(path)!r}: {error.strerror}") from error


def choose_scores(path: Path, verifier: str | None) -> tuple[str, dict[str, ScoreRow]]:
    """Return the name of a verifier and its rows by key, the last of each.

    verifier: the beginning of its name; None where the file holds only one. Raises InputError where
    none or several are meant.
    """
    found: dict[str, dict[str, ScoreRow]] = {}
    for row in read_scores(path):
        if verifier is None or row.verifier.startswith(verifier):
            found.setdefault(row.verifier, {})[row.key] = row
    if len(found) == 1:
        return next(iter(found.items()))
    if found:
        names = ", ".join(map(repr, found))
        raise InputError(f"{str(path)!r} holds scores of {names}; choose one with --verifier")
    whose = f" of {verifier!r}" if verifier else ""
    raise InputError(
        f"{str(path)!r} holds no scores{whose}; give a verifier's folder with --verifier, or "
        "score first: gradeschool verifier score"
    )


def _row(fields: Mapping[str, Any]) -> ScoreRow | None:
    key, verifier = fields.get("key"), fields.get("verifier")
    score = _finite(fields.get("score"))
    if not (isinstance(key, str) and isinstance(verifier, str)) or score is None:
        return None
    length = fields.get("length")
    return ScoreRow(
        key=key,
        verifier=verifier,
        score=score,
        length=length if isinstance(length, int) else 0,
        logprob=_finite(fields.get("logprob")),
        generator=str(fields["generator"]) if fields.get("generator") else None,
        values=fields.get("values") if isinstance(fields.get("values"), list) else None,
        tokens=fields.get("tokens") if isinstance(fields.get("tokens"), list) else None,
    )


def _finite(value: Any) -> float | None:
    """Return a JSON number as a float; None for anything else, NaN and what no float holds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) else None
