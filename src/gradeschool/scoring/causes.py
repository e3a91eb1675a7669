"""Causes of verdicts: the text according to the answer extractor, and the scorer against both.

A scorer misses for one of three reasons: the text gives no right answer, the text is right and the
scorer overlooks it, or something failed. It may also accept an answer that the text does not give.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from gradeschool.answers.extractor import (
    ExtractedAnswer,
    extract_final_answer,
    rests_on_guess,
)
from gradeschool.answers.failures import (
    Cause,
    Failure,
    Near,
    cause_of_text,
    is_right,
    relation_to_gold,
)
from gradeschool.answers.quantities import same_answer
from gradeschool.answers.regions import Marks, Region, committed_region
from gradeschool.completion import empty_cause
from gradeschool.datasets.platinum import disputed
from gradeschool.formats.samples import ReadOptions, Sample
from gradeschool.problem import Problem
from gradeschool.scorer import Scorer, clip
from gradeschool.scoring.samples import Run
from gradeschool.scoring.table import ScoredTable, scored_table
from gradeschool.verdict import Answer, Outcome, Verdict

OF_SCORERS = {
    Near.SIGN: Failure.SIGN_LOST,
    Near.GROUP: Failure.COMMA_SPLIT,
    Near.SCALE: Failure.SCALE,
    Near.ROUNDED: Failure.ROUNDING,
    Near.AFFIX: Failure.AFFIX,
    Near.SAME: Failure.UNIT_KEPT,
}
# Wrong answers of these kinds may be right under another label.
OF_LABELS = frozenset({Failure.WRONG_VALUE, Failure.SCALE, Failure.ROUNDING, Failure.SIGN_LOST})


LabelChanges = Mapping[str, Problem | None]
# A run is strong above this accuracy; a weaker run says little about a label.
STRONG = 0.7
MOST_MEASURED, FEWEST_MEASURED = 300, 10
CORRECT_BY_GUESS = "correct, but guessed"


class Side(StrEnum):
    """Where a cause lies."""

    TEXT = "no right answer"
    MISSED = "right answer missed"
    ACCEPTED = "wrong answer accepted"
    SYSTEM = "error"


class VerdictCause(NamedTuple):
    """The cause of one verdict, and the side on which it lies."""

    side: Side
    cause: Cause

    def __str__(self) -> str:
        """Return both as words that can be counted: "right answer missed: comma split"."""
        if self.side in (Side.TEXT, Side.SYSTEM):
            return self.cause.failure.value
        return f"{self.side.value}: {self.cause.failure.value}"


class View(NamedTuple):
    """The answer that the extractor reads in a completion; cause: why it is not right, or None."""

    text: str
    gold: str
    reading: ExtractedAnswer | None
    region: Region
    cause: Cause | None


def label_changes(run: Run, changes: Mapping[str, Problem | None]) -> LabelChanges:
    """Return the disputed labels that may explain why completions of a run are not right.

    changes: disputed problems by id, with their gold in GSM8K-Platinum, None if it removed them. A
    removed problem is evidence only for a strong run: a weak one misses it like the others. Whether
    a run is strong (STRONG) is measured by the answer extractor on other problems: on at
    most MOST_MEASURED samples, spread over the run. With fewer than FEWEST_MEASURED, no label is
    left out.
    """
    samples = [
        sample
        for sample in run.samples
        if sample.problem and not sample.error and sample.problem.id not in changes
    ]
    if not changes or len(samples) < FEWEST_MEASURED:
        return changes
    samples = samples[:: len(samples) // MOST_MEASURED + 1]
    right = sum(
        is_right(extract_final_answer(sample.text, sample.problem.question), sample.problem.gold)
        for sample in samples
        if sample.problem
    )
    if right / len(samples) > STRONG:
        return changes
    return {id: problem for id, problem in changes.items() if problem is not None}


def view(
    text: str,
    problem: Problem,
    finish: str | None,
    changes: Mapping[str, Problem | None],
    marks: Marks = (),
) -> View:
    """Analyse a completion once, for any number of scorers.

    finish: the server's finish reason. changes: disputed labels (`label_changes`).
    marks: pairs of marks of thinking besides the usual ones.
    """
    reading = extract_final_answer(text, problem.question, marks)
    region = committed_region(text, problem.question, tuple(marks))
    cause = cause_of_text(text, reading, region, problem.gold, finish)
    if cause is not None and reading is not None and problem.id in changes:
        cause = _of_label(cause, reading, changes[problem.id])
    return View(text, problem.gold, reading, region, cause)


def explain_verdict(sample_view: View, verdict: Verdict) -> VerdictCause | None:
    """Return the cause of a verdict; None if both scorer and text are right."""
    if verdict.outcome is Outcome.ERROR:
        return VerdictCause(Side.SYSTEM, Cause(Failure.SCORER_FAILED, verdict.reason))
    right = is_right(sample_view.reading, sample_view.gold)
    if verdict.correct:
        return None if right else VerdictCause(Side.ACCEPTED, _accepted(sample_view, verdict))
    if right and sample_view.reading is not None:
        return VerdictCause(Side.MISSED, _missed(sample_view, sample_view.reading, verdict))
    return VerdictCause(Side.TEXT, sample_view.cause) if sample_view.cause else None


def provider_error(message: str) -> VerdictCause:
    """Return the cause of a missing completion."""
    return VerdictCause(Side.SYSTEM, Cause(Failure.PROVIDER_ERROR, clip(message, 200)))


def _of_label(cause: Cause, reading: ExtractedAnswer, other: Problem | None) -> Cause:
    """Return the label as the cause if it is disputed and nothing in the text explains the miss."""
    if other is not None and same_answer(reading.value, other.gold):
        evidence = f"it says {reading.value}, which is the gold of GSM8K-Platinum"
        return Cause(Failure.SUSPECTED_LABEL, evidence)
    if other is None and cause.failure in OF_LABELS:
        evidence = (
            f"{cause.evidence}; GSM8K-Platinum removed the problem as ambiguous or mislabelled"
        )
        return Cause(Failure.SUSPECTED_LABEL, evidence)
    return cause


def _missed(sample_view: View, reading: ExtractedAnswer, verdict: Verdict) -> Cause:
    """Return why a scorer misses an answer that is in the text."""
    answer, there = verdict.answer, (reading.start, reading.end)
    if answer is None:
        evidence = f"the text says {reading.value} ({reading.how}), where the scorer does not look"
        return Cause(Failure.FORMAT_MISSING, evidence, there)
    read = clip(answer.value)
    if _ran_on(sample_view, answer):
        return Cause(Failure.RUN_ON, f"{read!r} is in the run-on part of the text", answer.span)
    if _same_place(answer, there):
        failure = _relation(answer.value, sample_view, reading) or Failure.UNIT_KEPT
        return Cause(
            failure, f"the text says {reading.value}, the scorer turns it into {read!r}", there
        )
    evidence = f"the text says {reading.value} ({reading.how}), the scorer read {read!r} elsewhere"
    return Cause(Failure.OTHER_NUMBER, evidence, there)


def _accepted(sample_view: View, verdict: Verdict) -> Cause:
    """Return why a scorer accepts an answer that the text does not give."""
    answer, reading = verdict.answer, sample_view.reading
    read = clip(answer.value) if answer else ""
    if answer is not None and _ran_on(sample_view, answer):
        return Cause(Failure.RUN_ON, f"{read!r} is in the run-on part of the text", answer.span)
    if reading is None:
        why = f": {sample_view.cause.failure.value}" if sample_view.cause else ""
        return Cause(Failure.OTHER_NUMBER, f"{read!r} is accepted; no answer is stated{why}")
    there = (reading.start, reading.end)
    same = answer is not None and relation_to_gold(answer.value, reading.value) is Near.SAME
    if answer is None or same or _same_place(answer, there):
        failure = _relation(reading.value, sample_view, reading)
        if failure is not None:
            evidence = f"the text says {reading.value}, the scorer takes it for {sample_view.gold}"
            return Cause(failure, evidence, there)
    evidence = f"the text says {reading.value} ({reading.how}), the scorer accepts {read!r}"
    return Cause(Failure.OTHER_NUMBER, evidence, there)


def _ran_on(sample_view: View, answer: Answer) -> bool:
    return (
        sample_view.region.ran_on
        and answer.span is not None
        and answer.span[0] >= sample_view.region.end
    )


def _same_place(answer: Answer, there: tuple[int, int]) -> bool:
    """Return whether a scorer read the characters of the extractor's answer, or part of them."""
    if answer.span is None:
        return True
    start, end = answer.span
    return start <= there[1] and end >= there[0]


def _relation(value: str, sample_view: View, reading: ExtractedAnswer) -> Failure | None:
    relation = relation_to_gold(value, sample_view.gold)
    if relation is Near.GROUP and "," not in sample_view.text[reading.start : reading.end]:
        return Failure.AFFIX
    return None if relation is None else OF_SCORERS[relation]


class ExplainedSample(NamedTuple):
    """A sample with its verdicts and the cause of each, in the order of the scorers.

    A missing completion has no verdicts, one cause and no view.
    """

    sample: Sample
    verdicts: tuple[Verdict, ...]
    causes: tuple[VerdictCause | None, ...]
    view: View | None


def explained_samples(
    table: ScoredTable, changes: LabelChanges, disagreements: bool = False
) -> Iterator[ExplainedSample]:
    """Yield the samples of a table that have a problem with their causes, in file order.

    The only source of causes for all reports. changes: disputed labels (`label_changes`).
    disagreements: only samples on which the scorers' outcomes differ.
    """
    verdicts_of_samples = table.each_verdicts()
    for sample in table.run.samples:
        if sample.problem is None:
            continue
        verdicts = () if sample.error else next(verdicts_of_samples)
        if disagreements and len({verdict.outcome for verdict in verdicts}) < 2:
            continue
        if sample.error:
            yield ExplainedSample(sample, (), (provider_error(sample.error),), None)
            continue
        sample_view = view(
            sample.text, sample.problem, sample.finish, changes, table.scorers.thinking_marks
        )
        if sample_view.cause and sample.stored and (why := empty_cause(sample.stored)):
            sample_view = sample_view._replace(
                cause=sample_view.cause._replace(evidence="; ".join(why))
            )
        causes = tuple(explain_verdict(sample_view, verdict) for verdict in verdicts)
        yield ExplainedSample(sample, verdicts, causes, sample_view)


Causes = dict[str, int]  # counts by cause, the most frequent first


def causes_in_files(
    names: Sequence[str], options: ReadOptions, scorers: Sequence[Scorer]
) -> list[dict[str, Causes]]:
    """Return the causes of each run by scorer, in the order of `score_sources`.

    Does not warn of unusable rows: scoring the same files does. Raises InputError, DataError.
    """
    from gradeschool.scoring.sources import load_runs, open_sources

    causes = []
    for source in open_sources(names, options, lambda message: None):
        for run in load_runs(Path(source.name), source.options, lambda message: None):
            changes = label_changes(run, disputed(source.dataset.problems, run.problems()))
            causes.append(causes_in_run(scored_table(run, scorers), changes))
    return causes


def causes_in_run(table: ScoredTable, changes: Mapping[str, Problem | None]) -> dict[str, Causes]:
    """Return how often each cause occurs, by scorer, the most frequent first, and CORRECT_BY_GUESS.

    The latter counts correct verdicts on texts that state and conclude nothing: the part of an
    accuracy that rests on guesses.
    """
    explained = list(explained_samples(table, changes))
    counted = {}
    for index, name in enumerate(table.scorers.names):
        causes = [each.causes[index if each.view else 0] for each in explained]
        guesses = sum(is_guess(each, index) for each in explained)
        counts = Counter(str(cause) for cause in causes if cause is not None)
        guessed = {CORRECT_BY_GUESS: guesses} if guesses else {}
        counted[name] = dict(counts.most_common()) | guessed
    return counted


def is_guess(explained: ExplainedSample, scorer: int) -> bool:
    """Return whether a scorer's correct verdict rests on a guess (`answers.rests_on_guess`)."""
    shown = explained.view
    return shown is not None and not explained.causes[scorer] and rests_on_guess(shown.reading)
