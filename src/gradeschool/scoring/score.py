"""The scores of files in one pass: batches of samples -> outcomes -> rows -> counts -> scores.

`score_sources` is the whole way. `score_batch` maps a batch of samples to rows without texts: here,
in other processes (`--jobs`) or in tasks of Ray (`scoring.cluster`). `Counts` adds the rows of one
source up in bounded memory, and `score_counts` gives the figures of a run. `score_table` gives the
same figures for a run in memory.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.answers.regions import NAMES, Marks, form_of
from gradeschool.datasets.platinum import disputed
from gradeschool.errors import GradeschoolError
from gradeschool.formats.read import name_of_unnamed, nothing_in
from gradeschool.formats.samples import UNNAMED, UNNUMBERED, Sample
from gradeschool.problem import Problem, several_golds
from gradeschool.scoring.samples import Numbering, Warn, digest
from gradeschool.scoring.sources import Source, folder_notes
from gradeschool.scoring.statistics import (
    Interval,
    clustered_wilson,
    error_bounds,
    mean_share,
    wilson,
)
from gradeschool.scoring.table import BATCH, CORRECT, ERROR, OUTCOMES, ScoredTable, ScorerSet

NO_FORM = 255
REMOVED = b"\xff"  # GSM8K-Platinum removed the problem
AHEAD = 2  # batches for each process: one being scored, one waiting
Key = tuple[str, bytes, int, bytes, bool | None]  # problem, outcomes, form, revised, flag


class Row(NamedTuple):
    """A sample after scoring, without its text.

    run: as in the file, "" if the row does not say. problem: its id, None if the row cannot be
    used, with the reason in `error`. sample: as in the file, UNNUMBERED for none. error: why there
    is no text. flag: the file's own verdict. digest: of the text, never 0. outcomes: a byte for
    each scorer, empty without a text. form: a bit for each of `regions.NAMES`, NO_FORM if unknown.
    revised: outcomes under the gold of GSM8K-Platinum where it differs, or REMOVED.
    """

    row: int
    run: str
    problem: str | None
    gold: str
    sample: int
    finish: str
    error: str
    flag: bool | None
    digest: int
    outcomes: bytes
    form: int
    revised: bytes


Relabelled = Mapping[str, Problem | None]  # `platinum.disputed`: by id, None for a removed problem
ScoreRows = Callable[[Source, ScorerSet, Relabelled], Iterable[list[Row]]]


def score_batch(samples: Sequence[Sample], scorers: ScorerSet, relabelled: Relabelled) -> list[Row]:
    """Return a row for each sample, in their order."""
    rows = []
    for start in range(0, len(samples), BATCH):
        batch = samples[start : start + BATCH]
        pairs = [(each.text, each.problem) for each in batch if each.problem and not each.error]
        outcomes_of_texts = iter(scorers.outcomes_of(pairs))
        for sample in batch:
            problem, text = sample.problem, sample.text
            outcomes, form, revised = b"", NO_FORM, b""
            if problem is None:
                rows.append(Row(sample.row, sample.run, None, "", sample.sample, sample.finish,
                                sample.fault, None, 1, outcomes, form, revised))  # fmt: skip
                continue
            if not sample.error:
                outcomes = next(outcomes_of_texts)
                form = _form(text, sample.finish, problem, scorers.thinking_marks)
            if problem.id in relabelled:
                other, revised = relabelled[problem.id], REMOVED
                if other is not None:
                    revised = scorers.outcomes(text, replace(other, id=f"{other.id} revised"))
            rows.append(Row(sample.row, sample.run, problem.id, problem.gold, sample.sample,
                            sample.finish, sample.error, sample.flag, digest(text), outcomes, form,
                            revised))  # fmt: skip
    return rows


def _form(text: str, finish: str, problem: Problem, marks: Marks) -> int:
    empty, truncated, ran_on, thinking = form_of(text, finish, problem.question, marks)
    return empty + 2 * truncated + 4 * ran_on + 8 * thinking


def score_sources(
    sources: Sequence[Source],
    scorers: ScorerSet,
    warn: Warn,
    *,
    jobs: int = 1,
    labels: bool = False,
    score_rows: ScoreRows | None = None,
    write: Callable[[str, Sequence[Row]], None] = lambda source, rows: None,
) -> list[RunScore]:
    """Return the scores of every run of the sources, under distinct names.

    jobs: scoring processes; the scores do not depend on it. labels: score under the labels of
    GSM8K-Platinum too. score_rows: yields the scored rows of a source in place of this machine.
    write: called with the name of the source and each batch of rows. Messages about rows are passed
    to `warn`. Raises InputError for a source that cannot be read or has no usable row,
    GradeschoolError if a process dies.
    """
    scores: dict[str, RunScore] = {}
    checked: set[str] = set()
    for source in sources:
        if source.dataset.name not in checked and (text := several_golds(source.dataset.problems)):
            warn(text)
        checked.add(source.dataset.name)
        relabelled = disputed(source.dataset.problems) if labels else {}
        counts = Counts(source, Numbering(source.name))
        batches: Iterable[list[Row]]
        if score_rows is not None:
            batches = score_rows(source, scorers, relabelled)
        elif jobs == 1:
            scored_here = partial(score_batch, scorers=scorers, relabelled=relabelled)
            batches = map(scored_here, source.batches())
        else:
            batches = _score_in_processes(source.batches(), scorers, relabelled, jobs)
        for rows in batches:
            write(source.name, rows)
            for row in rows:
                counts.add(row)
        for warning in source.conclude():
            warn(warning)
        for score in counts.scores(scorers.names, warn):
            name = f"{score.run} ({source.name})" if score.run in scores else score.run
            scores[name] = replace(score, run=name)
    return list(scores.values())


def _score_in_processes(
    batches: Iterable[Sequence[Sample]], scorers: ScorerSet, relabelled: Relabelled, jobs: int
) -> Iterator[list[Row]]:
    """Yield the rows of each batch, in order, scored in `jobs` processes."""
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    start = get_context("spawn"), _start_process, (scorers.names, relabelled)
    try:
        pool = ProcessPoolExecutor(jobs, *start)
    except (OSError, ImportError) as error:  # some containers have no /dev/shm for semaphores
        raise GradeschoolError(f"cannot start {jobs} processes: {error}; give --jobs 1") from error
    waiting: deque[Any] = deque()
    try:
        for batch in batches:
            waiting.append(pool.submit(_score_in_process, batch))
            if len(waiting) > AHEAD * jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool as error:
        raise GradeschoolError(
            f"one of the {jobs} scoring processes died, perhaps because it ran out of memory; give "
            "fewer --jobs"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


_in_process: tuple[ScorerSet, Relabelled]


def _start_process(names: Sequence[str], relabelled: Relabelled) -> None:
    """Prepare a scoring process; on Ctrl-C, its parent stops it."""
    global _in_process
    from gradeschool.scoring.table import choose_scorers
    from gradeschool.signals import ignore_interrupts

    ignore_interrupts()
    _in_process = ScorerSet(choose_scorers(names)), relabelled


def _score_in_process(batch: Sequence[Sample]) -> list[Row]:
    return score_batch(batch, *_in_process)


@dataclass
class _RunCounts:
    """The rows of one run by `Key`.

    n: counted rows, unusable ones included. repeated: rows without a sample number that repeat
    another of their problem, which count if the run turns out to be sampled.
    """

    n: int = 0
    faults: int = 0
    counts: Counter[Key] = field(default_factory=Counter)
    repeated: Counter[Key] = field(default_factory=Counter)


@dataclass
class Counts:
    """Counts the rows of one source as they come, in bounded memory."""

    _source: Source
    _numbering: Numbering
    _runs: dict[str, _RunCounts] = field(default_factory=dict)

    def add(self, row: Row) -> None:
        """Count a row."""
        run = self._runs.get(row.run)
        if run is None:
            run = self._runs[row.run] = _RunCounts()
        if row.problem is None:
            run.n += 1
            run.faults += 1
            self._numbering.refuse(row.row, row.run, row.error)
            return
        number = self._numbering.place(
            row.row, row.run, row.problem, row.gold, row.sample, row.digest
        )
        key = row.problem, row.outcomes, row.form, row.revised, row.flag
        if number is not None:
            run.n += 1
            run.counts[key] = run.counts.get(key, 0) + 1  # twice as fast as Counter's own
        elif row.sample == UNNUMBERED:
            run.repeated[key] += 1

    def scores(self, scorers: Sequence[str], warn: Warn) -> list[RunScore]:
        """Return the scores of the source's runs after its last row, in the order of the file.

        Raises InputError if no row can be used.
        """
        source = self._source
        if not self._runs:
            raise nothing_in(Path(source.name))
        for name in self._numbering.conclude(warn):
            run = self._runs[name]
            run.counts.update(run.repeated)
            run.n += run.repeated.total()
        unnamed = name_of_unnamed(self._runs, source.run)
        named: dict[str, _RunCounts] = {}
        for name, run in self._runs.items():
            whole = named.setdefault(unnamed if name == UNNAMED else name, run)
            if whole is not run:
                whole.n, whole.faults = whole.n + run.n, whole.faults + run.faults
                whole.counts.update(run.counts)
        scores, stored = [], 0
        for name, run in named.items():
            stored += run.n - run.faults
            origin = f"{source.path}#{name}" if len(named) > 1 else source.name
            score = score_counts(name, run.n, run.counts, scorers)
            scores.append(replace(score, faults=run.faults, origin=origin))
        folder_notes(Path(source.path), stored, warn)
        return scores


@dataclass(frozen=True, slots=True)
class ScorerResult:
    """The result of one scorer on one run.

    accuracy: the mean over problems of the share of judged samples that are correct. Samples
    without a text are not judged; they are counted as errors. ci95: Wilson interval, clustered by
    problem if problems have several samples. If nothing was judged, both are undefined, and null in
    JSON. accuracy_bounds: the accuracies with all texts wrong, and all right, on which the scorer
    itself fails; None if it fails on none. Then the accuracy is the lower bound, null in JSON.
    """

    scorer: str
    correct: int
    wrong: int
    no_answer: int
    error: int
    accuracy: float
    ci95: Interval
    accuracy_bounds: Interval | None = None

    @property
    def judged(self) -> int:
        """Return the number of completions that the scorer judged: all except the errors."""
        return self.correct + self.wrong + self.no_answer

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return {
            "correct": self.correct,
            "wrong": self.wrong,
            "no_answer": self.no_answer,
            "error": self.error,
            "accuracy": self.accuracy if self.judged and not self.accuracy_bounds else None,
            **({"accuracy_bounds": list(self.accuracy_bounds)} if self.accuracy_bounds else {}),
            "ci95": list(self.ci95) if self.judged else None,
        }


class Forms(NamedTuple):
    """Counts of completions by form; n: those whose form is known. One may have several forms."""

    n: int
    empty: int
    truncated: int
    run_on: int
    thinking: int

    def named(self) -> list[tuple[str, int]]:
        """Return the name and count of each form that occurs."""
        return [(name, n) for name, n in zip(NAMES, self[1:], strict=True) if n]


class FlagAgreement(NamedTuple):
    """A scorer against the file's own verdicts.

    n: flagged rows that the scorer judged. agree: rows on which both say the same. only_scorer,
    only_flag: rows that only one of them calls correct.
    """

    n: int
    agree: int
    only_scorer: int
    only_flag: int


@dataclass(frozen=True, slots=True)
class RunScore:
    """The scores of one run; n counts its completions, errors included.

    forms: numbers of completions that are empty, cut off or run on, None if unknown. platinum: the
    scores under the labels of GSM8K-Platinum, None if they were not asked for or change none of the
    run's problems. samples: the fewest and the most completions of a problem, None if all have
    equally many. flags: each scorer against the file's own verdicts, {} if it has none. agreeing:
    names of the scorers that agree on every completion, in groups. failed: completions without a
    text, which are errors under every scorer; faults: unusable rows among them. origin: FILE or
    FILE#RUN.
    """

    run: str
    n: int
    scorers: tuple[ScorerResult, ...]
    forms: Forms | None = None
    platinum: RunScore | None = field(default=None, compare=False)
    samples: tuple[int, int] | None = field(default=None, compare=False)
    flags: Mapping[str, FlagAgreement] = field(default_factory=dict, compare=False)
    agreeing: tuple[tuple[str, ...], ...] = field(default=(), compare=False)
    failed: int = field(default=0, compare=False)
    faults: int = field(default=0, compare=False)
    origin: str = field(default="", compare=False)

    def result(self, scorer: str) -> ScorerResult:
        """Return the result of a scorer by its name."""
        return next(each for each in self.scorers if each.scorer == scorer)

    def as_json(self) -> dict[str, Any]:
        """Return {"run", "n", "forms", "scorers": {name: ...}}; other facts if there are any."""
        flags = {name: agreement._asdict() for name, agreement in self.flags.items()}
        return {
            "run": self.run,
            "n": self.n,
            **({"forms": self.forms._asdict()} if self.forms else {}),
            **({"samples_per_problem": list(self.samples)} if self.samples else {}),
            **({"platinum": self.platinum.as_json()} if self.platinum else {}),
            **({"flags": flags} if flags else {}),
            "scorers": {score.scorer: score.as_json() for score in self.scorers},
        }


def score_table(table: ScoredTable) -> RunScore:
    """Return the scores of a run in memory under every scorer of its table."""
    counts: Counter[Key] = Counter()
    for sample, problem, outcomes in zip(
        table.samples, table.problems(), table.outcomes, strict=True
    ):
        form = _form(sample.text, sample.finish, problem, table.scorers.thinking_marks)
        counts[problem.id, outcomes, form, b"", sample.flag] += 1
    return score_counts(table.run.name, len(table.run.samples), counts, table.scorers.names)


def score_counts(run: str, n: int, counts: Mapping[Key, int], scorers: Sequence[str]) -> RunScore:
    """Return the score of a run from its rows.

    n: all rows; those that are not in `counts`, or have no outcomes there, are errors.
    """
    official: Counter[tuple[str, bytes]] = Counter()
    platinum: Counter[tuple[str, bytes]] = Counter()
    forms: Counter[int] = Counter()
    flags: dict[bool, Counter[bytes]] = {True: Counter(), False: Counter()}
    is_revised = False
    for (problem, outcomes, form, revised, flag), times in counts.items():
        official[problem, outcomes] += times
        is_revised = is_revised or bool(revised)
        if revised != REMOVED:
            platinum[problem, revised or outcomes] += times
        if form != NO_FORM:
            forms[form] += times
        if flag is not None and outcomes:
            flags[flag][outcomes] += times
    score = _score_outcomes(run, n, official, scorers)
    if is_revised:
        remaining = n - official.total() + platinum.total()
        score = replace(score, platinum=_score_outcomes(run, remaining, platinum, scorers))
    if forms:
        of_form = [0] * len(NAMES)
        for bits, times in forms.items():
            for form in range(len(NAMES)):
                of_form[form] += times * (bits >> form & 1)
        score = replace(score, forms=Forms(forms.total(), *of_form))
    if flags[True] or flags[False]:
        score = replace(score, flags={name: _agreement(flags, i) for i, name in enumerate(scorers)})
    return score


def _agreement(flags: Mapping[bool, Mapping[bytes, int]], scorer: int) -> FlagAgreement:
    right: dict[bool, int] = {}
    judged: dict[bool, int] = {}
    for flag, counts in flags.items():
        judged[flag] = sum(n for each, n in counts.items() if each[scorer] != ERROR)
        right[flag] = sum(n for each, n in counts.items() if each[scorer] == CORRECT)
    n, only_flag = judged[True] + judged[False], judged[True] - right[True]
    return FlagAgreement(n, n - only_flag - right[False], right[False], only_flag)


def _score_outcomes(
    run: str, n: int, counts: Mapping[tuple[str, bytes], int], scorers: Sequence[str]
) -> RunScore:
    places: dict[str, int] = {}
    problems, weights, parts = [], [], []
    sizes: list[int] = []  # samples of each problem
    for (problem, outcomes), times in counts.items():
        if outcomes:
            place = places.setdefault(problem, len(places))
            if place == len(sizes):
                sizes.append(0)
            sizes[place] += times
            problems.append(place)
            weights.append(times)
            parts.append(outcomes)
    joined = b"".join(parts)
    failed = n - sum(weights)
    fewest, most = min(sizes, default=0), max(sizes, default=0)
    groups: dict[bytes, list[str]] = {}  # the scorers with the same outcomes
    figures: dict[bytes, ScorerResult] = {}
    results = []
    for index, scorer in enumerate(scorers):
        column = joined[index :: len(scorers)]
        groups.setdefault(column, []).append(scorer)
        if column not in figures:
            figures[column] = _result(column, problems, weights, failed, most == 1)
        results.append(replace(figures[column], scorer=scorer))
    return RunScore(
        run,
        n,
        tuple(results),
        samples=(fewest, most) if fewest < most else None,
        agreeing=tuple(map(tuple, groups.values())),
        failed=failed,
    )


def _result(
    column: bytes,
    problems: Sequence[int],
    weights: Sequence[int],
    failed: int,
    is_single: bool,
) -> ScorerResult:
    """Return the result of a scorer with these outcomes.

    problems, weights: the problem of each outcome, and how many samples have it. failed: samples
    without a text.
    """
    if is_single:
        counts = list(map(column.count, range(len(OUTCOMES))))
        judged = len(column) - counts[ERROR]
        accuracy = counts[CORRECT] / judged if judged else 0.0
        interval = wilson(counts[CORRECT], judged)
        errors = counts[ERROR]
        each = [(1, 1, 0)] * counts[CORRECT] + [(0, 1, 0)] * (judged - counts[CORRECT])
        between = error_bounds([*each, *[(0, 0, 1)] * errors]) if errors else None
    else:
        counts = [0] * len(OUTCOMES)
        clusters = [[0, 0, 0] for _ in range(max(problems, default=-1) + 1)]
        for outcome, problem, weight in zip(column, problems, weights, strict=True):
            counts[outcome] += weight
            cluster = clusters[problem]
            cluster[0] += weight * (outcome == CORRECT)
            cluster[1] += weight * (outcome != ERROR)
            cluster[2] += weight * (outcome == ERROR)
        tallies = [(correct, size) for correct, size, _ in clusters if size]
        accuracy, interval = mean_share(tallies), clustered_wilson(tallies)
        between = error_bounds((correct, size, errors) for correct, size, errors in clusters)
    if between is not None:
        accuracy, interval = between[0].low, between[1]
    correct, wrong, no_answer, error = counts
    return ScorerResult("", correct, wrong, no_answer, error + failed, accuracy, interval,
                        between and between[0])  # fmt: skip
