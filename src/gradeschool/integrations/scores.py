"""Scores from Python: texts and golds in, a result that prints, and renders in a notebook."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gradeschool.errors import InputError
from gradeschool.integrations import DEFAULT_SCORER, renamed
from gradeschool.integrations.rewards import gold_of
from gradeschool.problem import Problem
from gradeschool.protocols.registry import get_usable_scorer
from gradeschool.scorer import clip
from gradeschool.scoring.samples import Run, Sample
from gradeschool.scoring.score import RunScore, ScorerResult, score_table
from gradeschool.scoring.statistics import Interval
from gradeschool.scoring.table import scored_table
from gradeschool.verdict import Verdict

HEADS = ("scorer", "correct", "accuracy", "95 % interval", "wrong", "no answer", "error")
SHOWN = 5  # misses in a description


@dataclass(frozen=True)
class Scores:
    """The scores of some completions; `print` and notebooks show a table.

    run: counts, accuracy and interval of every scorer; the first is the headline, whose figures are
    `accuracy`, `ci95` and `correct`. verdicts: the headline's, in the order of the completions.
    """

    run: RunScore
    verdicts: tuple[Verdict, ...]

    @property
    def headline(self) -> ScorerResult:
        """Return the score by the first scorer."""
        return self.run.scorers[0]

    @property
    def accuracy(self) -> float:
        """Return correct / (correct + wrong + no answer) by the first scorer."""
        return self.headline.accuracy

    @property
    def ci95(self) -> Interval:
        """Return the 95 % interval of the accuracy."""
        return self.headline.ci95

    @property
    def correct(self) -> int:
        """Return how many completions are right by the first scorer."""
        return self.headline.correct

    def __len__(self) -> int:
        """Return the number of completions."""
        return self.run.n

    def misses(self) -> list[tuple[int, Verdict]]:
        """Return the place and the verdict of each completion that the first scorer rejects."""
        return [
            (index, verdict) for index, verdict in enumerate(self.verdicts) if not verdict.correct
        ]

    def describe_misses(self) -> str:
        """Return a line for each of the first misses, "" where there is none."""
        lines = [f"  {at}: {verdict.reason}" for at, verdict in self.misses()[:SHOWN]]
        rest = len(self.misses()) - len(lines)
        return "\n".join([*lines, *([f"  and {rest} more"] if rest > 0 else [])])

    def rows(self) -> list[tuple[str, ...]]:
        """Return the cells of the table, a row for each scorer."""
        return [
            (
                scorer.scorer,
                str(scorer.correct),
                f"{scorer.accuracy:.2%}",
                f"{100 * scorer.ci95[0]:.2f} - {100 * scorer.ci95[1]:.2f}",
                *map(str, (scorer.wrong, scorer.no_answer, scorer.error)),
            )
            for scorer in self.run.scorers
        ]

    def __str__(self) -> str:
        """Return the table as plain text."""
        table = [HEADS, *self.rows()]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        return "\n".join(
            "  ".join(
                cell.ljust(width) if index == 0 else cell.rjust(width)
                for index, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            for row in table
        )

    def _repr_html_(self) -> str:
        """Return the table as HTML, for notebooks."""
        head = "".join(f"<th>{html.escape(cell)}</th>" for cell in HEADS)
        body = "".join(
            f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>"
            for row in self.rows()
        )
        caption = f"{len(self)} completions"
        return f"<table><caption>{caption}</caption><tr>{head}</tr>{body}</table>"


def score(
    texts: Sequence[str],
    golds: Sequence[object],
    scorer: str | Sequence[str] = DEFAULT_SCORER,
    *,
    rule: str | Sequence[str] = "",
) -> Scores:
    """Return the scores of completions against their golds.

    golds: one for each text: a number, a solution ("... #### 18"), a GSM8K row or a Problem.
    scorer: a name or several; the first is the headline. rule: its old name. Raises InputError
    where texts and golds differ in number or a gold cannot be read, UnknownNameError and
    MissingExtraError for a scorer.
    """
    scorer = renamed(scorer, rule)
    if len(texts) != len(golds):
        raise InputError(f"{len(texts)} texts but {len(golds)} golds; give a gold for each text")
    if not texts:
        raise InputError("there are no texts to score; give at least one")
    samples = []
    for index, (text, gold) in enumerate(zip(texts, golds, strict=True)):
        if not isinstance(text, str):
            raise InputError(
                f"text {index} is a {type(text).__name__}: {clip(repr(text))}; give a str"
            )
        samples.append(Sample(_problem(gold, index), 0, text, "", index))
    return scores_of(Run("", samples), [scorer] if isinstance(scorer, str) else list(scorer))


def scores_of(run: Run, scorers: Sequence[str]) -> Scores:
    """Return the scores of a run by the scorers of these names, and the first one's verdicts."""
    if not scorers:
        raise InputError("no scorer is named; give at least one")
    table = scored_table(run, [get_usable_scorer(name) for name in scorers])
    return Scores(score_table(table), tuple(verdicts[0] for verdicts in table.verdicts))


def _problem(gold: object, index: int) -> Problem:
    """Return the problem of a gold; its place is its id, so that no two are taken for one."""
    if isinstance(gold, Problem):
        return replace(gold, id=gold.id if gold.id != "?" else str(index))
    text = gold_of(gold)
    if text is None:
        what = clip(gold) if isinstance(gold, str) else type(gold)
        raise InputError(f"gold {index} is {what!r}; give a number, a solution or a row")
    return replace(Problem.from_gold(text), id=str(index))
