"""The scored table: the one module in which scorers meet completions.

`ScorerSet` gives the outcomes of a completion under all its scorers, as one byte each. A
`ScoredTable` holds them for a run in memory; `stream.score_sources` yields the same bytes for files
of any length. Scores, comparisons, votes, causes and reports are queries on these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, TypeVar

from gradeschool.library_scorer import call_at_once
from gradeschool.problem import Problem
from gradeschool.scorer import Scorer, ScorerFailure
from gradeschool.scoring.samples import Run
from gradeschool.verdict import Answer, Outcome, Verdict

# The outcome of one scorer is stored as an index into this.
OUTCOMES = (Outcome.CORRECT, Outcome.WRONG, Outcome.NO_ANSWER, Outcome.ERROR)
CORRECT, WRONG, NO_ANSWER, ERROR = range(len(OUTCOMES))
MOST_TEXTS = 10_000  # outcomes remembered; then all are forgotten
Result = TypeVar("Result")
Pair = tuple[str, Problem]


class AnswerComparison(NamedTuple):
    """How an extracted answer is compared, and the scorers that compare it so, by index."""

    compare: Callable[[str, str], bool]
    scorers: list[int]


class Extraction(NamedTuple):
    """One call of an extract function, for all scorers that would make the same call."""

    extract: Callable[[str, str], Answer | None]
    reference: str
    comparisons: list[AnswerComparison]


class ProblemScorers:
    """The scorers of one problem with their references, and the outcomes of texts so far."""

    def __init__(self, scorers: Sequence[Scorer], problem: Problem) -> None:
        self.extractions: list[Extraction] = []
        self.outcomes_of_text: dict[str, bytes] = {}
        # Scorers without a reference are errors whatever the text says; the others begin as
        # `no_answer`.
        initial = bytearray([NO_ANSWER]) * len(scorers)
        references: dict[object, str | None] = {}
        extractions: dict[object, Extraction] = {}
        for index, scorer in enumerate(scorers):
            if scorer.reference not in references:
                try:
                    references[scorer.reference] = scorer.reference(problem)
                except ScorerFailure:
                    references[scorer.reference] = None
            reference = references[scorer.reference]
            if reference is None:
                initial[index] = ERROR
                continue
            key = scorer.extract, reference
            extraction = extractions.get(key)
            if extraction is None:
                extraction = extractions[key] = Extraction(scorer.extract, reference, [])
                self.extractions.append(extraction)
            for comparison in extraction.comparisons:
                if comparison.compare == scorer.compare:
                    comparison.scorers.append(index)
                    break
            else:
                extraction.comparisons.append(AnswerComparison(scorer.compare, [index]))
        self.initial = bytes(initial)


class ScorerSet:
    """Scorers that are applied together to many completions of one dataset.

    Scorers that extract and compare alike are called once, and so are they on a text that repeats
    another one of the problem to the letter. Problems are told apart by their id alone.
    """

    def __init__(self, scorers: Sequence[Scorer]) -> None:
        self.scorers = tuple(scorers)
        self.names = tuple(scorer.name for scorer in scorers)
        self.calls_library = any(scorer.extra for scorer in scorers)
        self._problems: dict[str, ProblemScorers] = {}
        self._texts = 0

    def outcomes(self, text: str, problem: Problem) -> bytes:
        """Return the outcome of every scorer on a completion, one byte each (`OUTCOMES`)."""
        scorers = self._problems.get(problem.id)
        if scorers is None:
            scorers = self._problems[problem.id] = ProblemScorers(self.scorers, problem)
        outcomes = scorers.outcomes_of_text.get(text)
        if outcomes is None:
            if self._texts >= MOST_TEXTS:
                self._forget()
            self._texts += 1
            outcomes = scorers.outcomes_of_text[text] = _outcomes(text, scorers)
        return outcomes

    def outcomes_of(self, pairs: Sequence[Pair]) -> list[bytes]:
        """Return the outcomes of many completions, in their order."""
        return self._each(self.outcomes, pairs)

    def verdicts(self, text: str, problem: Problem) -> tuple[Verdict, ...]:
        """Return the verdict of every scorer on a completion: its outcome, answer and reason."""
        return tuple([scorer.judge(text, problem) for scorer in self.scorers])

    def verdicts_of(self, pairs: Sequence[Pair]) -> list[tuple[Verdict, ...]]:
        """Return the verdicts on many completions, in their order."""
        return self._each(self.verdicts, pairs)

    def _each(self, judge: Callable[[str, Problem], Result], pairs: Sequence[Pair]) -> list[Result]:
        if not self.calls_library or len(pairs) < 2:
            return [judge(text, problem) for text, problem in pairs]
        return call_at_once(judge, pairs)

    def _forget(self) -> None:
        self._texts = 0
        for scorers in self._problems.values():
            scorers.outcomes_of_text.clear()


def _outcomes(text: str, scorers: ProblemScorers) -> bytes:
    outcomes = bytearray(scorers.initial)
    for extract, reference, comparisons in scorers.extractions:
        try:
            answer = extract(text, reference)
        except ScorerFailure:
            for comparison in comparisons:
                for index in comparison.scorers:
                    outcomes[index] = ERROR
            continue
        if answer is None:
            continue
        value = answer.value
        for compare, indices in comparisons:
            try:
                outcome = CORRECT if compare(value, reference) else WRONG
            except ScorerFailure:
                outcome = ERROR
            for index in indices:
                outcomes[index] = outcome
    return bytes(outcomes)


class Tally(NamedTuple):
    """The samples of one problem: how many are right, and how many a scorer could judge."""

    correct: int
    judged: int


class ScoredTable:
    """A run in memory, and what some scorers say of its samples.

    samples: those that have a text and a problem, in the order of the file, as are `outcomes`.
    failed: how many have not; they are errors under every scorer.
    """

    def __init__(self, run: Run, scorers: ScorerSet) -> None:
        self.run = run
        self.scorers = scorers
        self.samples = [s for s in run.samples if s.problem is not None and not s.error]
        self.failed = len(run.samples) - len(self.samples)
        self._pairs = [(s.text, s.problem) for s in self.samples if s.problem is not None]

    @cached_property
    def outcomes(self) -> list[bytes]:
        """The outcomes of each sample, a byte for each scorer."""
        return self.scorers.outcomes_of(self._pairs)

    @cached_property
    def verdicts(self) -> list[tuple[Verdict, ...]]:
        """The verdicts on each sample, in the order of the scorers, with answers and reasons."""
        return self.scorers.verdicts_of(self._pairs)

    def column(self, scorer: int = 0) -> bytes:
        """Return the outcome of one scorer on each sample."""
        return bytes([outcomes[scorer] for outcomes in self.outcomes])

    def problems(self) -> Iterator[Problem]:
        """Yield the problem of each sample."""
        return (problem for _, problem in self._pairs)

    def tallies(self, scorer: int = 0) -> dict[str, Tally]:
        """Return the samples of each problem under one scorer; errors are left out."""
        return tally_by_problem(
            (problem.id, outcome)
            for problem, outcome in zip(self.problems(), self.column(scorer), strict=True)
        )


def scored_table(run: Run, scorers: Sequence[Scorer]) -> ScoredTable:
    """Return a run under some scorers; each is called when its outcomes are first needed."""
    return ScoredTable(run, ScorerSet(scorers))


def tally_by_problem(outcomes: Iterable[tuple[str, int]]) -> dict[str, Tally]:
    """Count (problem id, outcome) pairs by problem; errors are left out, never taken for wrong."""
    counts: dict[str, list[int]] = {}
    for problem, outcome in outcomes:
        if outcome != ERROR:
            count = counts.setdefault(problem, [0, 0])
            count[0] += outcome == CORRECT
            count[1] += 1
    return {problem: Tally(*count) for problem, count in counts.items()}


class ScoredRow(NamedTuple):
    """What is kept of a sample of a file once its text has been read.

    run: as the file says, "" where the row does not tell. problem: its id; None where the row
    cannot be used, and `error` says why. sample: as the file says. digest: of the text, never 0.
    error: the provider's failure. outcomes: a byte for each scorer; empty where there is no text to
    read. notes: what else the text tells (see `scoring.forms`).
    """

    row: int
    run: str
    problem: str | None
    gold: str
    sample: int | None
    finish: str
    digest: int
    error: str
    outcomes: bytes = b""
    notes: bytes = b""
