"""Runs under every scorer of a report, what is recorded about them, and the measures shown of them.

`judge_runs` reads runs and scores them; page, figures and Markdown show the results.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.answers.numbers import normalize
from gradeschool.answers.regions import form_of
from gradeschool.completion import Finish, Prompt
from gradeschool.datasets.load import load_dataset
from gradeschool.datasets.platinum import LabelChanges, label_changes
from gradeschool.datasets.sources import OWN_PROBLEMS
from gradeschool.errors import InputError
from gradeschool.formats.own_run import results_of
from gradeschool.formats.samples import ReadOptions, Sample
from gradeschool.problem import MARKER, Problem
from gradeschool.runs.plan import recorded_prompts
from gradeschool.scorer import DEFAULT_SCORER
from gradeschool.scoring.causes import explained_samples, explaining_changes, is_guess
from gradeschool.scoring.samples import Run
from gradeschool.scoring.score import FlagAgreement
from gradeschool.scoring.sources import SourceRun, choose_runs
from gradeschool.scoring.statistics import Share, share_of
from gradeschool.scoring.table import (
    ALL,
    CORRECT,
    ERROR,
    NO_ANSWER,
    ScoredTable,
    ScorerSet,
    choose_scorers,
    scored_table,
    scorer_for,
)
from gradeschool.verdict import Answer
from gradeschool.verifier.data import sample_key
from gradeschool.verifier.scores import read_scores, scores_path

HEADLINE = 0  # the index of the headline scorer among those of a report
Warn = Callable[[str], None]


class TokenValues(NamedTuple):
    """A verifier's output for one completion: its score, and its value after each token."""

    verifier: str
    score: float
    tokens: tuple[str, ...]
    values: tuple[float, ...]


class JudgedCompletion(NamedTuple):
    """One completion, or the provider's error in its place, under every scorer of a report.

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
    """A run scored by every scorer of a report, with the causes under the first, the headline.

    results: its results.json. label_changes: see
    `datasets.platinum.label_changes`. prompts: sent prompts by problem id, only those that the keys
    of a run folder prove. headline: the table of the headline scorer alone. guesses: how many of
    its correct verdicts rest on a guess.
    """

    source: SourceRun
    results: Mapping[str, Any]
    label_changes: LabelChanges
    prompts: Mapping[str, Prompt]
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
        return self.source.manifest

    @property
    def scorers(self) -> tuple[str, ...]:
        """The names of the scorers."""
        return self.table.scorers.names

    def column(self, scorer: int) -> bytes:
        """Return a scorer's outcome on each completion."""
        return bytes([each.outcomes[scorer] for each in self.completions])

    def share(
        self, scorer: int = HEADLINE, only: Iterable[JudgedCompletion] | None = None
    ) -> Share:
        """Return a scorer's accuracy over the run, or over some of its completions."""
        texts = (each for each in (self.completions if only is None else only)
                 if not each.sample.error)  # fmt: skip
        return _share((each.problem.id, each.outcomes[scorer]) for each in texts)

    def samples(self) -> tuple[int, int]:
        """Return the fewest and the most samples of a problem, (0, 0) without completions."""
        counts = Counter(each.problem.id for each in self.completions).values()
        return min(counts, default=0), max(counts, default=0)

    def causes(self) -> Counter[str]:
        """Count the causes under the headline scorer, as in `explain`."""
        return Counter(each.cause for each in self.completions if each.cause)


def _share(outcomes: Iterable[tuple[str, int]]) -> Share:
    """Return the accuracy over the outcomes of texts, each with the id of its problem."""
    tallies: dict[str, list[int]] = {}  # by problem: correct, judged, failures of the scorer
    for id, outcome in outcomes:
        tally = tallies.setdefault(id, [0, 0, 0])
        tally[0] += outcome == CORRECT
        tally[1 if outcome != ERROR else 2] += 1
    return share_of((right, size, errors) for right, size, errors in tallies.values())


def judge_runs(
    specs: Sequence[str], options: ReadOptions, names: Sequence[str], warn: Warn, headline: str = ""
) -> tuple[list[Judged], ScorerSet]:
    """Read the runs of FILE or FILE#RUN arguments and score them; the headline scorer is first.

    names: the scorers; by default all that call no library, after the first scorer of the runs'
    protocol, or after `headline`. Raises InputError, UnknownNameError, MissingExtraError.
    """
    choose_scorers(names)
    sources = choose_runs(specs, options, warn)
    manifests = [source.manifest for source in sources]
    scorers = report_scorers(manifests, names, headline)
    values = {path: token_values(path, warn) for path in {source.path for source in sources}}
    return [
        judge_run(source, scorers, results_of(source.path), values[source.path], warn)
        for source in sources
    ], scorers


def report_scorers(
    manifests: Sequence[Mapping[str, Any]], names: Sequence[str] = (), headline: str = ""
) -> ScorerSet:
    """Return the scorers of a report, the headline first: by default that of the protocols."""
    first = headline or next((name for name in names if name != ALL), None)
    scorer = scorer_for(manifests, first)
    return ScorerSet([scorer, *(other for other in choose_scorers(names) if other is not scorer)])


def judge_run(
    source: SourceRun,
    scorers: ScorerSet,
    results: Mapping[str, Any],
    values: Mapping[str, TokenValues],
    warn: Warn = lambda _: None,
) -> Judged:
    """Apply scorers to a run; the verdicts of the first one, the headline scorer, are explained.

    results: its results.json. values: a verifier's values of completions, by their keys.
    """
    run, first = source.run, scorers.scorers[:1]
    by_key = sent_prompts(source.manifest, warn)
    prompts = {
        sample.problem.id: by_key[sample.stored.key]
        for sample in run.samples
        if sample.problem and sample.stored and sample.stored.key in by_key
    }
    judged = Judged(
        source, results, dataset_label_changes(run), prompts,
        ScoredTable(run, scorers), scored_table(run, first),
    )  # fmt: skip
    outcomes = iter(judged.table.outcomes)
    failed = bytes([ERROR]) * len(scorers.names)
    changes = explaining_changes(judged.headline, judged.label_changes)
    for each in explained_samples(judged.headline, changes):
        problem = each.sample.problem
        assert problem is not None  # noqa: S101  (for the type checker)
        judged.completions.append(JudgedCompletion(
            problem,
            each.sample,
            outcomes=next(outcomes) if each.verdicts else failed,
            answer=each.verdicts[0].answer if each.verdicts else None,
            cause=str(each.causes[0] or ""),
            valued=values.get(sample_key(each.sample, problem)) if values else None,
        ))  # fmt: skip
        judged.guesses += is_guess(each, 0)
    return judged


def sent_prompts(manifest: Mapping[str, Any], warn: Warn) -> Mapping[str, Prompt]:
    """Return the prompts that were sent, by the key of the completion, a digest of the prompt.

    They are rendered again, so that a prompt with another key is not the one that was sent; {} if
    they cannot be rendered here.
    """
    if "protocol" not in manifest:
        return {}
    try:
        return recorded_prompts(manifest)
    except InputError as error:
        warn(f"no prompts are shown, because they cannot be rendered here: {error}")
        return {}


def dataset_label_changes(run: Run) -> LabelChanges:
    """Return the labels of a run's dataset that Platinum changes."""
    if run.dataset in ("", OWN_PROBLEMS):
        return {}
    return label_changes(load_dataset(run.dataset).problems, run.problems())


class ScorerGroup(NamedTuple):
    """Scorers that agree on every completion, against the headline scorer.

    own: the headline scorer is one of them, and the first. finds: they call something correct, and
    find an answer in most completions. no_answer, errors: completions without an answer, and those
    that they cannot judge. gained, lost: completions that they call correct and the headline does
    not, and the reverse.
    """

    names: tuple[str, ...]
    column: bytes
    share: Share
    own: bool
    finds: bool
    no_answer: int
    errors: int
    gained: int
    lost: int


def scorer_groups(judged: Judged) -> list[ScorerGroup]:
    """Return the sets of scorers that agree on every completion, by accuracy, highest first."""
    columns: dict[bytes, list[int]] = {}
    for scorer in range(len(judged.scorers)):
        columns.setdefault(judged.column(scorer), []).append(scorer)
    headline, groups = judged.column(HEADLINE), []
    for column, scorers in columns.items():
        pairs = Counter(zip(headline, column, strict=True))
        both = {pair: n for pair, n in pairs.items() if ERROR not in pair}
        no_answer, errors = column.count(NO_ANSWER), column.count(ERROR)
        groups.append(ScorerGroup(
            tuple(judged.scorers[scorer] for scorer in scorers),
            column,
            judged.share(scorers[0]),
            own=HEADLINE in scorers,
            finds=CORRECT in column and 2 * no_answer < len(column) - errors,
            no_answer=no_answer,
            errors=errors,
            gained=sum(n for (a, b), n in both.items() if a != CORRECT and b == CORRECT),
            lost=sum(n for (a, b), n in both.items() if a == CORRECT and b != CORRECT),
        ))  # fmt: skip
    return sorted(groups, key=lambda group: (-group.share.accuracy, group.names))


def guess_sentence(judged: Judged, share: Share) -> str:
    """Return a sentence on how much of an accuracy rests on guesses, as in `score --causes`.

    share: of the headline scorer. "" if that is not the reader, or calls nothing correct.
    """
    if judged.scorers[HEADLINE] != DEFAULT_SCORER or not share.correct:
        return ""
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


def outcome_rates(judged: Judged) -> Rates:
    """Count the completions that an accuracy alone hides.

    finish_known: some row has a finish reason; without any, a text that ends in the middle of a
    sentence counts as cut.
    """
    texts = [each for each in judged.completions if not each.sample.error]
    marks = judged.table.scorers.thinking_marks
    forms = [
        form_of(each.sample.text, each.sample.finish, each.problem.question, marks)
        for each in texts
    ]
    outcomes = judged.column(HEADLINE)
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


def headline_flags(judged: Judged) -> FlagAgreement | None:
    """Return the headline scorer against the file's own verdicts, None if the file has none."""
    pairs = Counter(
        (each.sample.flag, each.outcome == CORRECT)
        for each in judged.completions
        if each.sample.flag is not None and each.outcome != ERROR
    )
    agree = pairs[True, True] + pairs[False, False]
    flags = FlagAgreement(pairs.total(), agree, pairs[False, True], pairs[True, False])
    return flags if flags.n else None


def platinum_summary(judged: Judged) -> dict[str, Any] | None:
    """Return the headline under Platinum's labels; None if they change none of its problems.

    share: without removed problems, with revised golds; removed, revised: numbers of completions.
    """
    if not judged.label_changes:
        return None
    outcomes: list[tuple[str, int]] = []
    pairs: list[tuple[str, Problem]] = []
    removed = 0
    for each in judged.completions:
        id = each.problem.id
        if each.sample.error:
            continue
        if id not in judged.label_changes:
            outcomes.append((id, each.outcome))
        elif (problem := judged.label_changes[id]) is not None:
            pairs.append((each.sample.text, problem))
        else:
            removed += 1
    scored = judged.headline.scorers.outcomes_of(pairs)
    outcomes += [(problem.id, code) for (_, problem), (code,) in zip(pairs, scored, strict=True)]
    return {"share": _share(outcomes), "removed": removed, "revised": len(pairs)}


STEP = "<<"  # begins a calculator annotation in a reference solution: one for each step
MOST_STEPS, LARGEST = 8, 10**9
SIZES = ((10, "0 to 9"), (100, "10 to 99"), (1000, "100 to 999"), (10_000, "1,000 to 9,999"),
         (LARGEST, "10,000 and more"))  # fmt: skip
LENGTHS = ((30, "up to 29"), (40, "30 to 39"), (50, "40 to 49"), (65, "50 to 64"),
           (LARGEST, "65 and more"))  # fmt: skip


class Slices(NamedTuple):
    """One classification of the problems: the accuracy in each class, in order."""

    title: str
    unit: str
    classes: tuple[tuple[str, Share], ...]


def accuracy_slices(judged: Judged) -> list[Slices]:
    """Return accuracy by steps of the solution, size of the gold, words of the question.

    A classification with a single class is left out, as is a problem without the fact.
    """
    facts: dict[str, list[tuple[int, str] | None]] = {}
    for each in judged.completions:
        problem = each.problem
        if problem.id not in facts:
            body, size = problem.solution.rpartition(MARKER)[0], None
            lines = sum(bool(line.strip()) for line in body.split("\n"))
            steps = min(problem.solution.count(STEP) or lines, MOST_STEPS)
            shown = f"{steps} and more" if steps == MOST_STEPS else str(steps)
            with suppress(ValueError, ZeroDivisionError):
                size = abs(Fraction(normalize(problem.gold)))
            words = len(problem.question.split())
            facts[problem.id] = [
                (steps, shown) if steps else None,
                None if size is None else next((c for c in SIZES if size < c[0]), SIZES[-1]),
                next(c for c in LENGTHS if words < c[0]) if words else None,
            ]
    slices = []
    for place, (title, unit) in enumerate(
        (
            ("Steps of the reference solution", "steps"),
            ("Size of the answer", ""),
            ("Length of the question", "words"),
        )
    ):
        classes: dict[tuple[int, str], list[JudgedCompletion]] = {}
        for each in judged.completions:
            if (rank := facts[each.problem.id][place]) is not None:
                classes.setdefault(rank, []).append(each)
        if len(classes) > 1:
            shares = ((label, judged.share(only=classes[n, label])) for n, label in sorted(classes))
            slices.append(Slices(title, unit, tuple(shares)))
    return slices


def length_summary(judged: Judged) -> dict[str, Any]:
    """Return the sorted lengths of correct and of other completions.

    unit: tokens if they are recorded for all, else characters.
    """
    texts = [each for each in judged.completions if not each.sample.error]
    tokens = [each.sample.usage.completion_tokens for each in texts]
    unit = "characters" if None in tokens or not texts else "tokens"
    lengths: dict[str, list[int]] = {"correct": [], "others": []}
    for each, number in zip(texts, tokens, strict=True):
        if each.outcome != ERROR:
            size = len(each.sample.text) if unit == "characters" or number is None else number
            lengths["correct" if each.outcome == CORRECT else "others"].append(size)
    return {"unit": unit, **{name: sorted(sizes) for name, sizes in lengths.items()}}


MOST_TOKENS = 5_000  # a longer completion is shown without its values
TORN = "\ufffd"  # in a token that contains part of a character
MOST_TORN = 200  # maximum number of characters of consecutive torn tokens


def token_values(source: Path, warn: Warn) -> dict[str, TokenValues]:
    """Return the values of a run folder's or file's completions by key, if there are any.

    Of several verifiers, the last one written is used, and `warn` is called. Rows whose values and
    tokens do not match are skipped.
    """
    path = scores_path(source)
    verifiers: dict[str, dict[str, TokenValues]] = {}
    last = ""
    for row in read_scores(path):
        tokens, values = row.tokens, row.values
        if not (tokens and values and len(tokens) == len(values) <= MOST_TOKENS):
            continue
        if not (isfinite(row.score) and all(isinstance(token, str) for token in tokens)):
            continue
        if all(isinstance(value, int | float) and isfinite(value) for value in values):
            last = row.verifier
            numbers = tuple(map(float, values))
            valued = TokenValues(last, row.score, tuple(tokens), numbers)
            verifiers.setdefault(last, {})[row.key] = valued
    if len(verifiers) > 1:
        others = ", ".join(repr(name) for name in verifiers if name != last)
        warn(f"{str(path)!r} has values by several verifiers; those by {last!r} are shown, not "
             f"by {others}")  # fmt: skip
    return verifiers.get(last, {})


def pieces(text: str, tokens: Sequence[str]) -> list[str]:
    """Return the part of the text for each token; the tokens themselves if they do not match it.

    A character whose bytes are split over several tokens goes to the first of them, together with
    everything up to the next whole token. Tokens after the text's end (an end token) are kept.
    """
    results: list[str] = []
    place, torn = 0, -1  # torn: the first of the tokens whose characters are not yet known
    for token in tokens:
        if TORN in token and not text.startswith(token, place):
            torn = torn if torn >= 0 else len(results)
            results.append("")
            continue
        if torn >= 0:
            end = text.find(token, place + 1, place + MOST_TORN) if place < len(text) else -1
            end = end if end >= 0 else min(place + MOST_TORN, len(text))
            results[torn], place, torn = text[place:end], end, -1
        results.append(token)
        place += len(token) if place < len(text) else 0
    if torn >= 0:
        results[torn] = text[place:]
    return results if "".join(results).startswith(text) else list(tokens)
