"""Scorers by name, applied to one text (`judge`) or to many.

`ScorerSet` gives the outcomes of a completion under all its scorers, as one byte each. A
`ScoredTable` contains them for a run in memory; `score.score_batch` takes the same bytes for files
of any length. Scores, comparisons, votes, causes and reports are queries on these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from numbers import Number
from typing import Any, NamedTuple

from gradeschool.answers.golds import read_solution
from gradeschool.answers.regions import Marks
from gradeschool.completion import completion_text
from gradeschool.errors import InputError, UnknownNameError
from gradeschool.formats.run_folder import scorer_of
from gradeschool.problem import Problem
from gradeschool.protocols.registry import all_scorers, available, get_usable_scorer
from gradeschool.scorer import (
    DEFAULT_SCORER,
    MARKED_READER,
    Answer,
    Outcome,
    Scorer,
    ScorerFailure,
    Verdict,
    call_at_once,
    clip,
)
from gradeschool.scoring.sources import Run

# The outcome of one scorer is stored as an index into this.
OUTCOMES = (Outcome.CORRECT, Outcome.WRONG, Outcome.NO_ANSWER, Outcome.ERROR)
CORRECT, WRONG, NO_ANSWER, ERROR = range(len(OUTCOMES))
# Texts that are scored together; `answers.search.once_per_text` remembers as many, so that the next
# scorer finds what the last one read of them.
BATCH = 64
Pair = tuple[str, Problem]
References = tuple[str | None, ...]  # what each reference function gives for a problem
ALL = "all"  # the name of all usable scorers
ScorerChoice = str | Callable[..., Any] | Scorer


def scorer_choices(chosen: ScorerChoice | Sequence[ScorerChoice]) -> list[ScorerChoice]:
    """Return one scorer or several as a list."""
    is_several = isinstance(chosen, Sequence) and not isinstance(chosen, str)
    return list(chosen) if is_several else [chosen]  # type: ignore[arg-type, list-item]


def choose_scorers(names: Sequence[ScorerChoice], dataset: str | None = None) -> list[Scorer]:
    """Return the scorers of these names; "my.py:f" or a function is the user's own.

    No names: every scorer for this dataset that needs no library (microseconds per text). "all"
    adds those of other datasets, and those that call a library (milliseconds per text) if its extra
    is installed. Raises UnknownNameError, MissingExtraError for a named scorer whose extra is not
    installed, and InputError for a function that cannot be called.
    """
    if not names:
        plain = (scorer for scorer in all_scorers().values() if not scorer.extra)
        return [scorer for scorer in plain if (dataset or "").startswith(scorer.dataset)]
    chosen = []
    if ALL in names:
        chosen = list(filter(available, all_scorers().values()))
        names = [name for name in names if name != ALL and name not in all_scorers()]
    for name in dict.fromkeys(names):
        chosen.append(name if isinstance(name, Scorer) else usable_scorer(name))
    return chosen


def usable_scorer(scorer: str | Callable[..., Any]) -> Scorer:
    """Return the scorer of a name, or a function of the user by its name or itself.

    Raises UnknownNameError, MissingExtraError for a scorer whose library is not installed, and
    InputError for a function that cannot be called.
    """
    try:
        return get_usable_scorer(scorer if isinstance(scorer, str) else "")
    except UnknownNameError:
        from importlib.metadata import entry_points

        from gradeschool.user_function import own_scorer

        if not isinstance(scorer, str) or ":" in scorer:
            return own_scorer(scorer)
        for point in entry_points(group="gradeschool.scorers", name=scorer):
            return own_scorer(point.value, scorer)
        raise


def headline_scorer(manifests: Sequence[Mapping[str, Any]]) -> str:
    """Return the name of the headline scorer of runs: that of their protocols, if they agree.

    The answer extractor is used for samples without a protocol, for runs that disagree, and for a
    scorer that this version does not have.
    """
    names = {scorer_of(manifest) or "" for manifest in manifests}
    name = names.pop() if len(names) == 1 else ""
    return name if name in all_scorers() or name.startswith(MARKED_READER) else DEFAULT_SCORER


def scorer_for(manifests: Sequence[Mapping[str, Any]], name: str | None = None) -> Scorer:
    """Return the scorer with a name, by default the headline scorer of runs, ready for use.

    Raises UnknownNameError, MissingExtraError.
    """
    return choose_scorers([name or headline_scorer(manifests)])[0]


# One text


def judge(
    text: str | Sequence[Mapping[str, Any]],
    gold: str | float | Number | Problem | Mapping[str, Any] | None = None,
    scorer: str | Callable[..., Any] | Scorer = DEFAULT_SCORER,
) -> Verdict:
    """Return a scorer's verdict on one completion.

    text: the text, or the messages of a chat, of which the last of the assistant is read. gold: the
    number ("18", 18, "1,250"), the whole reference solution ("... #### 18"), a GSM8K row, whose
    question helps to tell units apart, or a Problem. scorer: a name from `gradeschool protocols
    list`, or a function of your own (`own_scorer`). Raises UnknownNameError for another
    name, MissingExtraError if its library is not installed, and InputError for an unusable gold,
    scorer or completion; never raises because of the content of a text.
    """
    given = text_of(text)
    if given is None:
        raise InputError(f"the completion is a {type(text).__name__}: {clip(repr(text))}; give its "
                         "text, a str, or messages with one of the assistant")  # fmt: skip
    if gold is None:
        raise InputError("there is no gold; give the right answer: a number or a solution")
    if not (isinstance(scorer, str | Scorer) or callable(scorer)):
        raise InputError(f"the scorer is {scorer!r}; give one name or function")
    if not isinstance(scorer, Scorer):
        is_known = isinstance(scorer, str) and ":" not in scorer
        scorer = usable_scorer(scorer) if is_known else _remembered_scorer(scorer)
    if not isinstance(gold, Problem):
        gold = problem_of(gold, expressions=bool(scorer.dataset))
    return scorer.judge(given, gold)


def text_of(completion: object) -> str | None:
    """Return a text, or that of a chat's last assistant message; None for anything else."""
    if isinstance(completion, list | tuple) and completion:
        is_chat = all(isinstance(turn, Mapping) for turn in completion)
        return completion_text(completion) if is_chat else None
    return completion if isinstance(completion, str) else None


_remembered_scorer = lru_cache(64)(usable_scorer)  # with the process of a function


def problem_of(gold: object, expressions: bool = False) -> Problem:
    """Return the problem of a gold: a number, a solution, or a row with "answer" and "question".

    expressions: see `answers.golds.read_gold`. Raises InputError for a gold that cannot be read.
    """
    question: object = ""
    if isinstance(gold, Mapping):
        if "answer" not in gold:
            raise InputError(f"the gold row has no 'answer', only {list(gold)}; give a GSM8K row")
        question, gold = gold.get("question"), gold["answer"]
    number, solution = read_solution(gold, expressions)
    return Problem("?", question if isinstance(question, str) else "", number, solution)


# Many texts


class ScorerSet:
    """Scorers that are applied together to many completions.

    Scorers with the same extraction and comparison are called once.
    """

    def __init__(self, scorers: Sequence[Scorer]) -> None:
        self.scorers = tuple(scorers)
        self.names: list[str] = []
        self.thinking_marks: Marks = ()
        self.calls_library = False
        self._reference_functions: list[Callable[[Problem], str]] = []
        self._references: dict[str, tuple[Problem, References]] = {}  # by id, which files reuse
        # By extraction, by reference (an index) and comparison: the indices of their scorers.
        self._extractions: dict[Any, dict[tuple[int, Any], list[int]]] = {}
        for index, scorer in enumerate(scorers):
            self.names.append(scorer.name)
            self.thinking_marks = self.thinking_marks or scorer.thinking_marks
            self.calls_library = self.calls_library or scorer.extra != ""
            if scorer.reference not in self._reference_functions:
                self._reference_functions.append(scorer.reference)
            place = self._reference_functions.index(scorer.reference)
            comparisons = self._extractions.setdefault(scorer.extract, {})
            comparisons.setdefault((place, scorer.compare), []).append(index)

    def __reduce__(self) -> tuple[Callable[..., ScorerSet], tuple[tuple[str, ...]]]:
        """Return how another process gets the set: from the names of its scorers."""
        return _scorers_named, (tuple(self.names),)

    def judge_all(self, pairs: Sequence[Pair]) -> list[bytes]:
        """Return the outcomes of completions, in their order: a byte a scorer (`OUTCOMES`).

        One scorer on a batch of texts, then the next scorer. The opposite order takes a third more
        time: the code and tables of a scorer leave the processor's caches in between.
        """
        rows: list[bytes] = []
        for start in range(0, len(pairs), BATCH):
            texts, golds, batch = [], [], pairs[start : start + BATCH]
            for text, problem in batch:
                texts.append(text)
                known, references = self._references.get(problem.id, (None, ()))
                if known is not problem and known != problem:
                    read: list[str | None] = []
                    for function in self._reference_functions:
                        try:
                            read.append(function(problem))
                        except ScorerFailure:
                            read.append(None)
                    references = tuple(read)
                    self._references[problem.id] = problem, references
                golds.append(references)
            by_function = list(zip(*golds, strict=True))
            readable = [None not in column for column in by_function]
            columns = [b""] * len(self.names)
            nothing = bytes([NO_ANSWER]) * len(texts)
            for extract, comparisons in self._extractions.items():
                answers: list[Answer | None] = []
                extracted_with: Sequence[str | None] = ()
                for (place, compare), scorers in comparisons.items():
                    column = by_function[place]
                    try:
                        if not readable[place]:
                            raise ScorerFailure("a gold cannot be read")
                        if column != extracted_with:
                            answers, extracted_with = list(map(extract, texts, column)), column
                        outcomes = nothing if not any(answers) else bytes([
                            NO_ANSWER if answer is None
                            else CORRECT if compare(answer.value, reference)
                            else WRONG
                            for answer, reference in zip(answers, column, strict=True)
                        ])  # fmt: skip
                    except ScorerFailure:  # for one of the texts: then judge each separately
                        judge = self.scorers[scorers[0]].judge
                        outcomes = bytes([OUTCOMES.index(judge(*pair).outcome) for pair in batch])
                    for scorer in scorers:
                        columns[scorer] = outcomes
            joined = b"".join(columns)
            rows += [joined[index :: len(texts)] for index in range(len(texts))]
        return rows


@lru_cache(1)
def _scorers_named(names: tuple[str, ...]) -> ScorerSet:
    """Return a set that was sent to this process, which makes the scorers once."""
    return ScorerSet(choose_scorers(names))


class Tally(NamedTuple):
    """The samples of one problem: the number that is right, and the number that could be judged."""

    correct: int
    judged: int


class ScoredTable:
    """A run in memory with the outcomes of some scorers, which are called when first needed.

    samples: those that have a text and a problem, in the order of the file, as are `problems` and
    `outcomes`. known: the outcomes, if they were computed before.
    """

    def __init__(
        self, run: Run, scorers: ScorerSet | Sequence[Scorer], known: list[bytes] | None = None
    ) -> None:
        self.run = run
        self.scorers = scorers if isinstance(scorers, ScorerSet) else ScorerSet(scorers)
        self._known = known
        self.samples = [each for each in run.samples if each.problem and not each.error]
        self._pairs = [(each.text, each.problem) for each in self.samples if each.problem]
        self.problems = [problem for _, problem in self._pairs]

    @cached_property
    def outcomes(self) -> list[bytes]:
        """The outcomes of each sample, a byte for each scorer."""
        return self.scorers.judge_all(self._pairs) if self._known is None else self._known

    @cached_property
    def verdicts(self) -> list[tuple[Verdict, ...]]:
        """The verdicts on each sample, in the order of the scorers, with answers and reasons."""
        return list(self.each_verdicts())

    def each_verdicts(self) -> Iterator[tuple[Verdict, ...]]:
        """Yield `verdicts` one by one: the scorers of a text share what is cached of it."""

        def judge(text: str, problem: Problem) -> tuple[Verdict, ...]:
            return tuple([scorer.judge(text, problem) for scorer in self.scorers.scorers])

        if self.scorers.calls_library:
            return iter(call_at_once(judge, self._pairs))
        return (judge(*pair) for pair in self._pairs)

    def tallies(self, scorer: int = 0) -> dict[str, Tally]:
        """Return the samples of each problem under one scorer; errors are left out."""
        pairs = zip(self.problems, self.outcomes, strict=True)
        return tally_by_problem((problem.id, outcomes[scorer]) for problem, outcomes in pairs)


def nothing_judged(run: str, scorer: str) -> InputError:
    """Return the error for a run without a completion that a scorer can judge."""
    return InputError(f"the run {run!r} contains no completion that {scorer!r} can judge")


def tally_by_problem(outcomes: Iterable[tuple[str, int]]) -> dict[str, Tally]:
    """Count (problem id, outcome) pairs by problem; errors are left out, never counted as wrong."""
    tallies: dict[str, Tally] = {}
    for problem, outcome in outcomes:
        if outcome != ERROR:
            correct, judged = tallies.get(problem, (0, 0))
            tallies[problem] = Tally(correct + (outcome == CORRECT), judged + 1)
    return tallies
