"""Completions on which two rules differ, with what each of them read and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gradeschool.problem import Problem
from gradeschool.rule import Rule
from gradeschool.scoring.collect import Run
from gradeschool.verdict import Verdict


class Disagreement(NamedTuple):
    """One completion and its verdicts, in the order of the rules."""

    run: str
    problem: Problem
    sample: int
    row: int
    text: str
    verdicts: tuple[Verdict, ...]

    @property
    def kind(self) -> str:
        """Return the outcomes in a word that can be counted: "correct / wrong"."""
        return " / ".join(verdict.outcome.value for verdict in self.verdicts)


def disagreements(runs: Sequence[Run], rules: Sequence[Rule]) -> Iterator[Disagreement]:
    """Yield the completions on which the rules' outcomes are not all the same, in file order."""
    for run in runs:
        for sample in run.samples:
            problem = sample.problem
            if problem is None or sample.error:
                continue
            verdicts = tuple(rule.judge(sample.text, problem) for rule in rules)
            if len({verdict.outcome for verdict in verdicts}) > 1:
                yield Disagreement(
                    run.name, problem, sample.sample, sample.row, sample.text, verdicts
                )
