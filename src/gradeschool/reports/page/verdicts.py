"""Every scorer over every completion of a page, and why the misses are misses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from gradeschool.answers.failures import form_of
from gradeschool.completion import Finish
from gradeschool.problem import Problem
from gradeschool.reports.page.gather import Entry, PageRun
from gradeschool.scorer import Scorer, ScorerFailure
from gradeschool.scoring.at_k import Ballot
from gradeschool.scoring.causes import explain_verdict, view
from gradeschool.scoring.statistics import Interval, clustered_wilson
from gradeschool.scoring.table import (
    CORRECT,
    ERROR,
    NO_ANSWER,
    OUTCOMES,
    ScoredTable,
    ScorerSet,
    tally_by_problem,
)
from gradeschool.verdict import Answer, Verdict


@dataclass(slots=True)
class Judged:
    """A run with the outcome of every scorer on every completion.

    codes: for each entry one byte for each scorer (`OUTCOMES`); all ERROR where there is no text.
    causes: why the headline scorer did not call an entry correct, "" where it did or could not
    judge. answers: what the headline scorer reads, None for nothing.
    """

    run: PageRun
    scorers: tuple[str, ...]
    headline: int
    codes: list[bytes] = field(default_factory=list)
    causes: list[str] = field(default_factory=list)
    answers: list[Answer | None] = field(default_factory=list)

    def ballots(self) -> dict[str, list[Ballot]]:
        """Return the votes of each problem in the order of its samples, errors left out."""
        found: dict[str, list[tuple[int, Ballot]]] = {}
        for entry, codes, answer in zip(self.run.entries, self.codes, self.answers, strict=True):
            code = codes[self.headline]
            if code != ERROR:
                ballot = Ballot(answer.value if answer else None, code == CORRECT)
                found.setdefault(entry.problem.id, []).append((entry.sample, ballot))
        return {
            problem: [ballot for _, ballot in sorted(cast, key=lambda one: one[0])]
            for problem, cast in found.items()
        }


class Share(NamedTuple):
    """A count, of how many, as a share with its 95 % interval clustered by problem."""

    correct: int
    judged: int
    accuracy: float
    interval: Interval


def judge_run(
    run: PageRun, scorers: ScorerSet, headline: int, changes: Mapping[str, Problem | None]
) -> Judged:
    """Apply scorers to a run; the headline scorer's misses get a cause.

    changes: problems whose labels are disputed (`platinum_changes`).
    """
    judged = Judged(run, scorers.names, headline)
    scorer = scorers.scorers[headline]
    outcomes_of_samples = iter(ScoredTable(run.chosen.run, scorers).outcomes)
    for entry in run.entries:
        outcomes, answer, cause = bytes([ERROR]) * len(scorers.names), None, ""
        if not entry.error:
            outcomes = next(outcomes_of_samples)
            answer = read_by(scorer, entry)
            if outcomes[headline] not in (CORRECT, ERROR):
                verdict = Verdict(scorer.name, OUTCOMES[outcomes[headline]], answer, "")
                cause = cause_of(entry, verdict, changes)
        judged.codes.append(outcomes)
        judged.answers.append(answer)
        judged.causes.append(cause)
    return judged


def read_by(scorer: Scorer, entry: Entry) -> Answer | None:
    """Return what a scorer reads in a completion; nothing where the published code fails on it."""
    try:
        return scorer.extract(entry.text, scorer.reference(entry.problem))
    except ScorerFailure:
        return None


def cause_of(entry: Entry, verdict: Verdict, changes: Mapping[str, Problem | None]) -> str:
    """Return why a completion is not called correct, in words that can be counted."""
    seen = view(entry.text, entry.problem, entry.facts.finish.value, changes)
    explained = explain_verdict(seen, verdict)
    return str(explained) if explained else ""


def share_of(judged: Judged, scorer: int, only: Sequence[int] | None = None) -> Share:
    """Return a scorer's accuracy over a run, or over the entries with these numbers."""
    entries = judged.run.entries
    tallies = tally_by_problem(
        (entries[index].problem.id, judged.codes[index][scorer])
        for index in (range(len(entries)) if only is None else only)
    )
    return share_of_clusters(list(tallies.values()))


def share_of_clusters(clusters: Sequence[tuple[int, int]]) -> Share:
    """Return the share of (right, n) by problem."""
    right, n = sum(right for right, _ in clusters), sum(n for _, n in clusters)
    return Share(right, n, right / n if n else 0.0, clustered_wilson(clusters))


class Rates(NamedTuple):
    """How many completions of a run were cut, empty, ran on, gave no answer, or are errors."""

    completions: int
    truncated: int
    empty: int
    run_on: int
    no_answer: int
    errors: int
    finish_known: bool


def rates_of(judged: Judged) -> Rates:
    """Count what an accuracy alone hides.

    finish_known: some row gave a finish reason; without one, a text that ends in the middle of a
    sentence counts as cut.
    """
    entries = judged.run.entries
    texts = [entry for entry in entries if not entry.error]
    forms = [form_of(e.text, e.facts.finish.value, e.problem.question) for e in texts]
    return Rates(
        completions=len(entries),
        truncated=sum(form.truncated for form in forms),
        empty=sum(form.empty for form in forms),
        run_on=sum(form.ran_on for form in forms),
        no_answer=sum(codes[judged.headline] == NO_ANSWER for codes in judged.codes),
        errors=sum(codes[judged.headline] == ERROR for codes in judged.codes) + judged.run.faults,
        finish_known=any(entry.facts.finish is not Finish.UNKNOWN for entry in texts),
    )
