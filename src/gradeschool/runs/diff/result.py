"""The difference of two results as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gradeschool.errors import InputError
from gradeschool.formats import settings as names
from gradeschool.runs.diff.fields import (
    DIFFERS,
    UNKNOWN,
    PairCounts,
    SettingDifference,
    counts_of,
    fields_of,
    special_tokens,
)
from gradeschool.runs.diff.pairs import PromptDifference, paired, prompt_differences
from gradeschool.runs.diff.sides import DiffSide
from gradeschool.runs.diff.steps import TEXTS, UNPROMPTED, DiffAccount, account_of
from gradeschool.scorer import Scorer

MOST_KINDS = 5


@dataclass(frozen=True, slots=True)
class RunDifference:
    """Two results, each read by its own scorer, and where their difference comes from.

    special: completions of A and of B that hold a special token as text. because: the settings that
    differ and may have changed the texts that stay unlike; unrecorded: those that might and that
    one side does not record.
    """

    a: DiffSide
    b: DiffSide
    scorers: tuple[str, str]
    account: DiffAccount
    fields: tuple[SettingDifference, ...]
    counts: PairCounts
    prompts: tuple[PromptDifference, ...]
    special: tuple[int, int]
    because: tuple[str, ...]
    unrecorded: tuple[str, ...]

    @property
    def points(self) -> float:
        """Return the difference in accuracy, B minus A, in points."""
        return 100 * (self.account.accuracy_b - self.account.accuracy_a)

    @property
    def unexplained(self) -> float:
        """Return the points of texts that differ for a reason that the texts do not show."""
        return sum(step.points for step in self.account.steps if step.name in (TEXTS, UNPROMPTED))

    def as_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        sides = zip((self.a, self.b), self.scorers, self._accuracies(), strict=True)
        return {
            **{
                name: {
                    "run": side.run.name,
                    "kind": side.kind,
                    "scorer": scorer,
                    "accuracy": accuracy,
                    "completions": len(side.run.samples),
                }
                for name, (side, scorer, accuracy) in zip("ab", sides, strict=True)
            },
            "points": self.points,
            "judged_pairs": self.account.judged,
            "steps": [step.as_json() for step in self.account.steps],
            "texts_may_differ_because_of": list(self.because),
            "not_recorded_and_might": list(self.unrecorded),
            "unexplained_points": self.unexplained,
            "fields": [field.as_json() for field in self.fields],
            "pairs": self.counts.as_json(),
            "prompts_part": [kind.as_json() for kind in self.prompts],
            "special_tokens_in_texts": list(self.special),
        }

    def _accuracies(self) -> tuple[float, float]:
        return self.account.accuracy_a, self.account.accuracy_b


def difference(a: DiffSide, b: DiffSide, scorers: tuple[Scorer, Scorer]) -> RunDifference:
    """Return the difference of two sides; raises InputError where they share no sample."""
    samples = paired(a, b)
    if not samples.pairs:
        raise InputError(
            f"{a.run.name!r} and {b.run.name!r} hold no sample of the same problem; give two "
            "results of one dataset"
        )
    account = account_of(a, b, samples, scorers)
    scorer_names = (scorers[0].name, scorers[1].name)
    fields = fields_of(a, b, samples, account, scorer_names)
    return RunDifference(
        a=a,
        b=b,
        scorers=scorer_names,
        account=account,
        fields=tuple(fields),
        counts=counts_of(samples.pairs),
        prompts=tuple(prompt_differences(samples.pairs)[:MOST_KINDS]),
        special=special_tokens(samples.pairs),
        because=_because(fields),
        unrecorded=tuple(_unrecorded(fields)),
    )


def _because(fields: Sequence[SettingDifference]) -> tuple[str, ...]:
    """Return the settings that differ and act on every text; a seed only where there is chance."""
    by_name = {field.name: field for field in fields}
    temperature = by_name.get(names.TEMPERATURE)
    greedy = temperature is not None and temperature.a == temperature.b == 0
    return tuple(
        name
        for name in names.EVERYWHERE
        if (field := by_name.get(name)) is not None
        and field.state == DIFFERS
        and not (name in (names.SEED, names.TOP_P) and greedy)
        and not (name == names.PROMPT_TOKENS and not field.explains)
    )


def _unrecorded(fields: Sequence[SettingDifference]) -> list[str]:
    recorded = {field.name for field in fields if field.state != UNKNOWN}
    return [
        name for name in names.EVERYWHERE if name not in recorded and name != names.PROMPT_TOKENS
    ]
