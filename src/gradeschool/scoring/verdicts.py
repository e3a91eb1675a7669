"""The first half of scoring: each completion by itself, in any order and in any process."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from gradeschool.answers.failures import form_of
from gradeschool.datasets.platinum import disputed
from gradeschool.errors import InputError
from gradeschool.formats.samples import FileSample
from gradeschool.problem import Problem
from gradeschool.scorer import Scorer
from gradeschool.scoring.forms import notes_of
from gradeschool.scoring.matching import Matcher
from gradeschool.scoring.matrix import Matrix


class Scored(NamedTuple):
    """What is kept of a completion once its text has been read.

    run: as the file says, "" where the row does not tell. problem: its id; None where the row
    cannot be used, and `error` says why. sample: as the file says. digest: of the text, never 0.
    error: the provider's failure. codes: the outcome of each group of scorers (`Matrix.codes`);
    empty where there is no text to read. notes: what else the text tells (see `scoring.forms`).
    """

    row: int
    run: str
    problem: str | None
    gold: str
    sample: int | None
    finish: str
    digest: int
    error: str
    codes: bytes
    notes: bytes = b""


class Judge:
    """Scorers and a dataset, ready for completions."""

    def __init__(
        self, problems: Sequence[Problem], dataset: str, scorers: Sequence[Scorer]
    ) -> None:
        self.matcher = Matcher(problems, dataset)
        self.matrix = Matrix(scorers)
        self.changes = disputed(problems)

    def judge(self, recordings: Iterable[FileSample]) -> list[Scored]:
        """Return what every scorer makes of some completions, in their order."""
        found = [(one, *self._problem(one)) for one in recordings]
        self.matrix.expect((one.text, problem) for one, problem, _ in found if problem is not None)
        read = [(one.text, problem) for one, problem, _ in found if problem and not one.error]
        codes = iter(self.matrix.codes_of(read))
        return [
            self._scored(*row, b"" if row[1] is None or row[0].error else next(codes))
            for row in found
        ]

    def _problem(self, recorded: FileSample) -> tuple[Problem | None, str]:
        """Return the problem of a row, or None and why there is none."""
        if recorded.fault:
            return None, recorded.fault
        try:
            return self.matcher.find(recorded.reference), ""
        except InputError as missing:
            return None, str(missing)

    def _scored(
        self, recorded: FileSample, problem: Problem | None, fault: str, codes: bytes
    ) -> Scored:
        row, run, sample, finish = recorded.row, recorded.run, recorded.sample, recorded.finish
        if problem is None:
            return Scored(row, run, None, "", sample, finish, 1, fault, b"")
        text, error = recorded.text, recorded.error
        mark = digest(text)
        form = None if error else form_of(text, finish, problem.question)
        notes = notes_of(
            form, self._other_codes(text, problem) if problem.id in self.changes else b""
        )
        return Scored(row, run, problem.id, problem.gold, sample, finish, mark, error, codes, notes)

    def _other_codes(self, text: str, problem: Problem) -> bytes | None:
        """Return the codes under the gold that Platinum gives, None where it has none."""
        other = self.changes[problem.id]
        if other is None:
            return None
        return self.matrix.codes(text, replace(other, id=f"{other.id} revised"))


def digest(text: str) -> int:
    """Return 64 bits of a text's SHA-256, never 0: whether two texts of a problem are the same."""
    whole = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(whole[:8], "little") or 1
