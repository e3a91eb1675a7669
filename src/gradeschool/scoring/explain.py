"""Completions with each scorer's extracted answer, the verdicts, and the causes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from gradeschool.problem import Problem
from gradeschool.scorer import Scorer
from gradeschool.scoring.causes import LabelChanges, Side, VerdictCause, explained_samples
from gradeschool.scoring.samples import Run
from gradeschool.scoring.table import scored_table
from gradeschool.verdict import Outcome, Verdict

NO_CHANGES: Mapping[str, LabelChanges] = {}
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Case(NamedTuple):
    """One completion, its verdicts in the order of the scorers, and the cause of each.

    A cause is None if the scorer agrees with the answer extractor. A missing completion has no
    verdicts and one cause.
    """

    run: str
    problem: Problem
    sample: int
    row: int
    text: str
    verdicts: tuple[Verdict, ...]
    causes: tuple[VerdictCause | None, ...]

    @property
    def kind(self) -> str:
        """Return the outcomes as one text that can be counted: "correct / wrong"."""
        return " / ".join(verdict.outcome.value for verdict in self.verdicts)

    @property
    def failed(self) -> bool:
        """True if there is nothing to judge: no completion, or every scorer failed on it."""
        return all(verdict.outcome is Outcome.ERROR for verdict in self.verdicts)

    @property
    def group(self) -> str:
        """Return the causes as words that can be counted; "" if there is none.

        With several scorers, names those that err; if none does, the cause why the text is not
        right.
        """
        if len(self.causes) == 1:
            return str(self.causes[0] or "")
        of_scorers = [
            f"{LETTERS[index % len(LETTERS)]} {cause}"
            for index, cause in enumerate(self.causes)
            if cause is not None and cause.side is not Side.TEXT
        ]
        of_text = [str(cause) for cause in self.causes if cause is not None]
        return ", ".join(of_scorers or of_text[:1])


def cases(
    runs: Sequence[Run],
    scorers: Sequence[Scorer],
    changes: Mapping[str, LabelChanges] = NO_CHANGES,
    disagreements: bool = False,
) -> Iterator[Case]:
    """Yield every completion with its verdicts and causes, in file order.

    changes: disputed labels by the name of the run (`label_changes`). disagreements: only
    completions on which the scorers' outcomes differ. Rows without a problem are left out;
    loading the file counts them.
    """
    for run in runs:
        table, labels = scored_table(run, scorers), changes.get(run.name, {})
        for sample, verdicts, causes, _ in explained_samples(table, labels, disagreements):
            if sample.problem is not None:
                facts = (run.name, sample.problem, sample.sample, sample.row, sample.text)
                yield Case(*facts, verdicts, causes)


def by_group(explained: Sequence[Case]) -> list[list[Case]]:
    """Return the cases in groups, the largest first, each in file order.

    A group has the same causes and, with several scorers, the same outcomes. Ties are in the order
    of the file.
    """
    groups: dict[tuple[str, str], list[Case]] = {}
    for case in explained:
        kind = case.kind if len(case.causes) > 1 else ""
        groups.setdefault((kind, case.group), []).append(case)
    return sorted(groups.values(), key=len, reverse=True)


def counts(explained: Sequence[Case]) -> dict[str, int]:
    """Return the number of cases of each cause, the most frequent first."""
    return dict(Counter(case.group for case in explained).most_common())
