"""The whole difference of two results, put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gradeschool.errors import InputError
from gradeschool.runs.diff import side
from gradeschool.runs.diff.fields import (
    DIFFERS,
    UNKNOWN,
    Counts,
    Field,
    counts_of,
    fields_of,
    special_tokens,
)
from gradeschool.runs.diff.pairs import paired
from gradeschool.runs.diff.prompts import Parting, partings
from gradeschool.runs.diff.side import Side
from gradeschool.runs.diff.steps import TEXTS, UNPROMPTED, Ledger, ledger
from gradeschool.scorer import Scorer

MOST_KINDS = 5


@dataclass(frozen=True, slots=True)
class Diff:
    """Two results, each read by its own scorer, and where their difference comes from.

    special: completions of A and of B that hold a special token as text. because: the settings that
    differ and may have changed the texts that stay unlike; unrecorded: those that might and that
    one side does not record.
    """

    a: Side
    b: Side
    scorers: tuple[str, str]
    ledger: Ledger
    fields: tuple[Field, ...]
    counts: Counts
    partings: tuple[Parting, ...]
    special: tuple[int, int]
    because: tuple[str, ...]
    unrecorded: tuple[str, ...]

    @property
    def points(self) -> float:
        """Return the difference in accuracy, B minus A, in points."""
        return 100 * (self.ledger.accuracy_b - self.ledger.accuracy_a)

    @property
    def unexplained(self) -> float:
        """Return the points of texts that differ for a reason that no text tells."""
        return sum(one.points for one in self.ledger.steps if one.name in (TEXTS, UNPROMPTED))

    def as_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        sides = zip((self.a, self.b), self.scorers, self._accuracies(), strict=True)
        return {
            **{
                name: {
                    "run": one.run.name,
                    "kind": one.kind,
                    "scorer": scorer,
                    "accuracy": accuracy,
                    "completions": len(one.run.samples),
                }
                for name, (one, scorer, accuracy) in zip("ab", sides, strict=True)
            },
            "points": self.points,
            "judged_pairs": self.ledger.judged,
            "steps": [one.as_json() for one in self.ledger.steps],
            "texts_may_differ_because_of": list(self.because),
            "not_recorded_and_might": list(self.unrecorded),
            "unexplained_points": self.unexplained,
            "fields": [one.as_json() for one in self.fields],
            "pairs": self.counts.as_json(),
            "prompts_part": [one.as_json() for one in self.partings],
            "special_tokens_in_texts": list(self.special),
        }

    def _accuracies(self) -> tuple[float, float]:
        return self.ledger.accuracy_a, self.ledger.accuracy_b


def difference(a: Side, b: Side, scorers: tuple[Scorer, Scorer]) -> Diff:
    """Return the difference of two sides; raises InputError where they share no sample."""
    found = paired(a, b)
    if not found.pairs:
        raise InputError(
            f"{a.run.name!r} and {b.run.name!r} hold no sample of the same problem; give two "
            "results of one dataset"
        )
    account = ledger(a, b, found, scorers)
    names = (scorers[0].name, scorers[1].name)
    fields = fields_of(a, b, found, account, names)
    return Diff(
        a=a,
        b=b,
        scorers=names,
        ledger=account,
        fields=tuple(fields),
        counts=counts_of(found.pairs),
        partings=tuple(partings(found.pairs)[:MOST_KINDS]),
        special=special_tokens(found.pairs),
        because=_because(fields),
        unrecorded=tuple(_unrecorded(fields)),
    )


def _because(fields: Sequence[Field]) -> tuple[str, ...]:
    """Return the settings that differ and act on every text; a seed only where there is chance."""
    by_name = {one.name: one for one in fields}
    warm = by_name.get(side.TEMPERATURE)
    greedy = warm is not None and warm.a == warm.b == 0
    return tuple(
        name
        for name in side.EVERYWHERE
        if (one := by_name.get(name)) is not None
        and one.state == DIFFERS
        and not (name in (side.SEED, side.TOP_P) and greedy)
        and not (name == side.PROMPT_TOKENS and not one.explains)
    )


def _unrecorded(fields: Sequence[Field]) -> list[str]:
    recorded = {one.name for one in fields if one.state != UNKNOWN}
    return [name for name in side.EVERYWHERE if name not in recorded and name != side.PROMPT_TOKENS]
