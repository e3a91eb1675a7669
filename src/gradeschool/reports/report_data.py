"""Runs under every scorer of a report: `judge_runs` reads and scores them.

Page, figures, heat-map and Markdown show the results.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from gradeschool.completion import Finish, Prompt
from gradeschool.datasets.load import load_dataset
from gradeschool.datasets.platinum import LabelChanges, label_changes
from gradeschool.datasets.sources import OWN_PROBLEMS
from gradeschool.errors import InputError
from gradeschool.formats.own_run import results_of
from gradeschool.formats.samples import ReadOptions, Sample
from gradeschool.formats.verifier_scores import is_finite, read_scores, scores_path
from gradeschool.problem import Problem
from gradeschool.runs.plan import recorded_prompts
from gradeschool.scoring.candidates import sample_key
from gradeschool.scoring.causes import explained_samples
from gradeschool.scoring.samples import Run
from gradeschool.scoring.score import (
    REMOVED,
    Forms,
    RunScore,
    ScorerResult,
    score_batch,
    score_counts,
)
from gradeschool.scoring.sources import SourceRun, choose_runs
from gradeschool.scoring.table import (
    ALL,
    CORRECT,
    ERROR,
    ScoredTable,
    ScorerSet,
    choose_scorers,
    scorer_for,
)
from gradeschool.verdict import Answer

HEADLINE = 0  # the index of the headline scorer among those of a report
MOST_TOKENS = 5_000  # a longer completion is shown without its values
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

    results: its results.json. prompts: sent prompts by problem id, only those that the keys of a
    run folder prove. headline: the table of the headline scorer alone. score: of all scorers, with
    Platinum's labels if they change a problem. revised: how many completions have a revised gold
    there.
    """

    source: SourceRun
    results: Mapping[str, Any]
    prompts: Mapping[str, Prompt]
    headline: ScoredTable
    score: RunScore
    completions: list[JudgedCompletion]
    revised: int

    @property
    def name(self) -> str:
        """The name of the run."""
        return self.source.run.name

    @property
    def result(self) -> ScorerResult:
        """The result of the headline scorer."""
        return self.score.scorers[HEADLINE]

    @property
    def forms(self) -> Forms:
        """The counts of truncated, empty and run-on completions."""
        return self.score.forms or Forms(0, 0, 0, 0, 0)

    def samples(self) -> tuple[int, int]:
        """Return the fewest and the most samples of a problem, (0, 0) without completions."""
        counts = Counter(each.problem.id for each in self.completions).values()
        return min(counts, default=0), max(counts, default=0)

    def finish_known(self) -> bool:
        """Return whether a row has a finish reason; without any, texts only look cut."""
        return any(each.sample.finish != Finish.UNKNOWN for each in self.completions)


def judge_runs(
    specs: Sequence[str], options: ReadOptions, names: Sequence[str], warn: Warn
) -> tuple[list[Judged], ScorerSet]:
    """Read the runs of FILE or FILE#RUN arguments and score them; the headline scorer is first.

    names: the scorers; by default all that call no library, after the first scorer of the runs'
    protocol. Raises InputError, UnknownNameError, MissingExtraError.
    """
    chosen = choose_scorers(names)
    sources = choose_runs(specs, options, warn)
    named = next((name for name in names if name != ALL), None)
    first = scorer_for([source.manifest for source in sources], named)
    scorers = ScorerSet([first, *(other for other in chosen if other is not first)])
    values = {path: token_values(path, warn) for path in {source.path for source in sources}}
    return [judge_run(each, scorers, values[each.path], warn) for each in sources], scorers


def judge_run(
    source: SourceRun,
    scorers: ScorerSet,
    values: Mapping[str, TokenValues],
    warn: Warn = lambda _: None,
) -> Judged:
    """Apply scorers to a run; the verdicts of the first one, the headline scorer, are explained.

    values: a verifier's values of completions, by their keys.
    """
    run, names = source.run, scorers.names
    by_key = sent_prompts(source.manifest, warn)
    changes = dataset_label_changes(run)
    rows = [row for row in score_batch(run.samples, scorers, changes) if row.problem is not None]
    headline = ScoredTable(run, scorers.scorers[:1])
    completions, prompts = [], {}
    explained = explained_samples(headline, changes)
    for (sample, verdicts, causes, _), row in zip(explained, rows, strict=True):
        problem = sample.problem
        assert problem is not None  # noqa: S101  (for the type checker)
        if sample.stored and sample.stored.key in by_key:
            prompts[problem.id] = by_key[sample.stored.key]
        completions.append(JudgedCompletion(
            problem,
            sample,
            outcomes=row.outcomes or bytes([ERROR]) * len(names),
            answer=verdicts[0].answer if verdicts else None,
            cause=str(causes[0] or ""),
            valued=values.get(sample_key(sample, problem)) if values else None,
        ))  # fmt: skip
    counts = Counter((str(row.problem), row.outcomes, row.form, row.revised, row.flag)
                     for row in rows)  # fmt: skip
    return Judged(
        source,
        results_of(source.path),
        prompts,
        headline,
        score_counts(run.name, len(run.samples), counts, names),
        completions,
        revised=sum(row.revised not in (b"", REMOVED) for row in rows),
    )


def sent_prompts(manifest: Mapping[str, Any], warn: Warn) -> Mapping[str, Prompt]:
    """Return the prompts that were sent, by the key of the completion, a digest of the prompt.

    They are rendered again, so that a prompt with another key is not the one that was sent; {} if
    they cannot be rendered here.
    """
    try:
        return recorded_prompts(manifest) if "protocol" in manifest else {}
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
    find an answer in most completions. gained, lost: completions that they call correct and the
    headline does not, and the reverse.
    """

    names: tuple[str, ...]
    result: ScorerResult
    own: bool
    finds: bool
    gained: int
    lost: int


def scorer_groups(judged: Judged) -> list[ScorerGroup]:
    """Return the sets of scorers that agree on every completion, by accuracy, highest first."""
    places = {each.scorer: place for place, each in enumerate(judged.score.scorers)}
    groups = []
    for names in judged.score.agreeing:
        place = places[names[0]]
        result = judged.score.scorers[place]
        pairs = Counter((each.outcome == CORRECT, each.outcomes[place] == CORRECT)
                        for each in judged.completions
                        if ERROR not in (each.outcome, each.outcomes[place]))  # fmt: skip
        groups.append(ScorerGroup(
            names,
            result,
            own=place == HEADLINE,
            finds=bool(result.correct) and result.correct + result.wrong > result.no_answer,
            gained=pairs[False, True],
            lost=pairs[True, False],
        ))  # fmt: skip
    return sorted(groups, key=lambda group: (-group.result.accuracy, group.names))


def token_values(source: Path, warn: Warn) -> dict[str, TokenValues]:
    """Return the values of a run folder's or file's completions by key, if there are any.

    Of several verifiers, the last one written is used, and `warn` is called. Rows whose values and
    tokens do not match are skipped.
    """
    verifiers: dict[str, dict[str, TokenValues]] = {}
    last = ""
    for key, verifier, score, _, _, values, tokens in read_scores(scores_path(source)):
        if (
            isinstance(tokens, list) and isinstance(values, list)
            and 0 < len(tokens) == len(values) <= MOST_TOKENS
            and all(map(is_finite, values))
            and all(isinstance(token, str) for token in tokens)
        ):  # fmt: skip
            last = verifier
            valued = TokenValues(last, score, tuple(tokens), tuple(map(float, values)))
            verifiers.setdefault(last, {})[key] = valued
    if len(verifiers) > 1:
        others = ", ".join(repr(name) for name in verifiers if name != last)
        warn(f"{str(source)!r} has values by several verifiers; those by {last!r} are shown, not "
             f"by {others}")  # fmt: skip
    return verifiers.get(last, {})
