"""The verdicts of a run for the page, and the measures computed from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

from gradeschool.answers.numbers import normalize
from gradeschool.answers.regions import form_of
from gradeschool.completion import Finish
from gradeschool.formats.samples import Sample
from gradeschool.problem import MARKER, Problem
from gradeschool.reports.page.gather import PageRun, TokenValues
from gradeschool.reports.page.markup import percent
from gradeschool.scorer import DEFAULT_SCORER, Scorer
from gradeschool.scoring.causes import explained_samples, is_guess, label_changes
from gradeschool.scoring.statistics import Interval, clustered_wilson, mean_share
from gradeschool.scoring.table import (
    CORRECT,
    ERROR,
    NO_ANSWER,
    ScoredTable,
    ScorerSet,
    scored_table,
    tally_by_problem,
)
from gradeschool.verdict import Answer
from gradeschool.verifier.candidates import sample_key

HEADLINE = 0  # the index of the headline scorer among those of a page


class JudgedCompletion(NamedTuple):
    """One completion, or the provider's error in its place, under every scorer of a page.

    outcomes: a byte for each scorer (`OUTCOMES`), the headline scorer first; all ERROR without a
    text. answer: extracted by the headline scorer. cause: of its verdict, as in `explain`; "" if
    scorer and text are right. valued: a verifier's values.
    """

    problem: Problem
    sample: Sample
    outcomes: bytes
    answer: Answer | None
    cause: str
    valued: TokenValues | None

    @property
    def outcome(self) -> int:
        """The outcome of the headline scorer."""
        return self.outcomes[HEADLINE]


@dataclass(slots=True)
class Judged:
    """A run scored by every scorer of a page, with the causes under the first, the headline scorer.

    headline: the table of the headline scorer alone. guesses: how many of its correct verdicts rest
    on a guess.
    """

    run: PageRun
    table: ScoredTable
    headline: ScoredTable
    completions: list[JudgedCompletion] = field(default_factory=list)
    guesses: int = 0

    @property
    def name(self) -> str:
        """The name of the run."""
        return self.table.run.name

    @property
    def manifest(self) -> Mapping[str, Any]:
        """The content of its run.json."""
        return self.run.chosen.manifest

    @property
    def scorers(self) -> tuple[str, ...]:
        """The names of the scorers."""
        return self.table.scorers.names


class Share(NamedTuple):
    """A count, the total, and the share with its 95 % interval clustered by problem.

    problems: number of problems with a judged completion.
    """

    correct: int
    judged: int
    accuracy: float
    interval: Interval
    problems: int


def share_text(share: Share) -> str:
    """Format a share in percent; without judged completions, no number is given."""
    return percent(share.accuracy) if share.judged else "–"


def judge_run(run: PageRun, scorers: ScorerSet) -> Judged:
    """Apply scorers to a run; the verdicts of the first one, the headline scorer, are explained."""
    source = run.chosen.run
    judged = Judged(run, ScoredTable(source, scorers), scored_table(source, scorers.scorers[:1]))
    outcomes = judged.table.each_outcomes()
    failed = bytes([ERROR]) * len(scorers.names)
    for each in explained_samples(judged.headline, label_changes(source, run.disputed)):
        problem = each.sample.problem
        assert problem is not None  # noqa: S101  (for the type checker)
        judged.completions.append(JudgedCompletion(
            problem,
            each.sample,
            outcomes=next(outcomes) if each.verdicts else failed,
            answer=each.verdicts[0].answer if each.verdicts else None,
            cause=str(each.causes[0] or ""),
            valued=run.valued.get(sample_key(each.sample, problem)) if run.valued else None,
        ))  # fmt: skip
        judged.guesses += is_guess(each, 0)
    return judged


def share_of(
    judged: Judged, scorer: int = HEADLINE, only: Iterable[JudgedCompletion] | None = None
) -> Share:
    """Return a scorer's accuracy over a run, or over some of its completions."""
    tallies = tally_by_problem(
        (each.problem.id, each.outcomes[scorer])
        for each in (judged.completions if only is None else only)
    )
    return clustered_share(list(tallies.values()))


def clustered_share(clusters: Sequence[tuple[int, int]]) -> Share:
    """Return the share of (right, n) by problem."""
    right, n = sum(right for right, _ in clusters), sum(n for _, n in clusters)
    accuracy, interval = mean_share(clusters), clustered_wilson(clusters)
    return Share(right, n, accuracy, interval, len(clusters))


def alike(judged: Judged) -> list[list[int]]:
    """Group the scorers that agree on every completion; the headline scorer leads its group."""
    columns: dict[bytes, list[int]] = {}
    for scorer in range(len(judged.scorers)):
        columns.setdefault(column_of(judged, scorer), []).append(scorer)
    return list(columns.values())


def column_of(judged: Judged, scorer: int) -> bytes:
    """Return a scorer's outcome on each completion."""
    return bytes([each.outcomes[scorer] for each in judged.completions])


def finds_answers(column: bytes) -> bool:
    """Return whether a scorer calls something correct, and finds an answer in most completions."""
    return CORRECT in column and 2 * column.count(NO_ANSWER) < len(column) - column.count(ERROR)


def guess_sentence(judged: Judged, scorer: Scorer, share: Share) -> str | None:
    """Return a sentence on how much of an accuracy rests on guesses, as in `score --causes`.

    scorer: the headline scorer; share: its accuracy. None if the scorer is not the reader, or calls
    nothing correct.
    """
    if scorer.name != DEFAULT_SCORER or not share.correct:
        return None
    guesses = judged.guesses
    return (
        f"{guesses:,} of {share.correct:,} correct verdicts {'rests' if guesses == 1 else 'rest'} "
        f"on a guess ({100 * guesses / share.judged:.2f} points), where the text neither states "
        "nor concludes an answer."
    )


class Rates(NamedTuple):
    """How many completions of a run were cut, were empty, ran on, gave no answer, or are errors.

    texts: completions without a provider's error, of which those before `errors` are a part.
    samples: all, with failed ones and rows that could not be used; `errors` are a part of them.
    """

    texts: int
    samples: int
    truncated: int
    empty: int
    cut_or_empty: int
    run_on: int
    no_answer: int
    errors: int
    finish_known: bool


def rates_of(judged: Judged) -> Rates:
    """Count the completions that an accuracy alone hides.

    finish_known: some row has a finish reason; without any, a text that ends in the middle of a
    sentence counts as cut.
    """
    texts = [each for each in judged.completions if not each.sample.error]
    forms = [form_of(each.sample.text, each.sample.finish, each.problem.question) for each in texts]
    outcomes = [each.outcome for each in judged.completions]
    return Rates(
        texts=len(texts),
        samples=len(judged.table.run.samples),
        truncated=sum(form.truncated for form in forms),
        empty=sum(form.empty for form in forms),
        cut_or_empty=sum(form.truncated or form.empty for form in forms),
        run_on=sum(form.ran_on for form in forms),
        no_answer=outcomes.count(NO_ANSWER),
        errors=outcomes.count(ERROR) + judged.table.run.faults,
        finish_known=any(each.sample.finish != Finish.UNKNOWN for each in texts),
    )


MARK = "<<"  # begins a calculator annotation in a reference solution: one for each step
SIZES = ((10, "0 to 9"), (100, "10 to 99"), (1000, "100 to 999"), (10_000, "1,000 to 9,999"))
LARGEST = "10,000 and more"
LENGTHS = ((30, "up to 29"), (40, "30 to 39"), (50, "40 to 49"), (65, "50 to 64"))
LONGEST = "65 and more"
MOST_STEPS = 8


class Slice(NamedTuple):
    """The completions whose problem falls into one class."""

    label: str
    share: Share


class Slices(NamedTuple):
    """One classification of the problems, with the accuracy in each class, in order."""

    title: str
    unit: str
    classes: tuple[Slice, ...]


def slices_of(judged: Judged) -> list[Slices]:
    """Return accuracy by steps of the solution, size of the gold, words of the question.

    A classification with a single class is left out.
    """
    ways: tuple[tuple[str, str, Callable[[Problem], tuple[int, str] | None]], ...] = (
        ("Steps of the reference solution", "steps", _by_steps),
        ("Size of the answer", "", _by_size),
        ("Length of the question", "words", _by_length),
    )
    slices = (Slices(title, unit, _divided(judged, key)) for title, unit, key in ways)
    return [each for each in slices if len(each.classes) > 1]


def step_count(problem: Problem) -> int:
    """Return the steps of a reference solution: its annotations, else its lines; 0 without one."""
    marks = problem.solution.count(MARK)
    body = problem.solution.rpartition(MARKER)[0]
    return marks or sum(bool(line.strip()) for line in body.split("\n"))


def _divided(judged: Judged, key: Callable[[Problem], tuple[int, str] | None]) -> tuple[Slice, ...]:
    classes: dict[tuple[int, str], list[JudgedCompletion]] = {}
    for each in judged.completions:
        result = key(each.problem)
        if result is not None:
            classes.setdefault(result, []).append(each)
    return tuple(
        Slice(label, share_of(judged, only=classes[rank, label])) for rank, label in sorted(classes)
    )


def _by_steps(problem: Problem) -> tuple[int, str] | None:
    steps = min(step_count(problem), MOST_STEPS)
    if not steps:
        return None
    return steps, f"{steps} and more" if steps == MOST_STEPS else str(steps)


def _by_size(problem: Problem) -> tuple[int, str] | None:
    try:
        size = abs(Fraction(normalize(problem.gold)))
    except (ValueError, ZeroDivisionError):
        return None
    return next(((limit, name) for limit, name in SIZES if size < limit), (10**9, LARGEST))


def _by_length(problem: Problem) -> tuple[int, str] | None:
    words = len(problem.question.split())
    if not words:
        return None
    return next(((limit, name) for limit, name in LENGTHS if words < limit), (10**9, LONGEST))


class Platinum(NamedTuple):
    """A run under GSM8K-Platinum's labels: without removed problems, with revised golds."""

    share: Share
    removed: int
    revised: int


def platinum_of(judged: Judged, scorer: Scorer) -> Platinum | None:
    """Return the headline under Platinum's labels; None if no label is known to be disputed."""
    changes = judged.run.disputed
    if not changes:
        return None
    outcomes: list[tuple[str, int]] = []
    revised: list[tuple[str, Problem]] = []
    removed = 0
    for each in judged.completions:
        id = each.problem.id
        if id not in changes or each.sample.error:
            outcomes.append((id, each.outcome))
        elif (problem := changes[id]) is not None:
            revised.append((each.sample.text, problem))
        else:
            removed += 1
    for (_, problem), (outcome,) in zip(
        revised, ScorerSet([scorer]).outcomes_of(revised), strict=True
    ):
        outcomes.append((problem.id, outcome))
    share = clustered_share(list(tally_by_problem(outcomes).values()))
    return Platinum(share, removed, len(revised))


def samples_of(judged: Judged) -> tuple[int, int]:
    """Return the fewest and the most samples of a problem, (0, 0) without completions."""
    counts = Counter(each.problem.id for each in judged.completions).values()
    return min(counts, default=0), max(counts, default=0)
