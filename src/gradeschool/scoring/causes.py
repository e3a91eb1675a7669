"""Causes of verdicts: what the extractor reads in a text, and how a scorer differs from that.

A scorer misses for one of three reasons: the text gives no right answer, the text is right and the
scorer overlooks it, or something failed. It may also accept an answer that the text does not give.
"""

from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from itertools import cycle
from string import ascii_uppercase
from typing import NamedTuple

from gradeschool.answers.extractor import ExtractedAnswer, extract_final_answer
from gradeschool.answers.failures import Cause, Failure, cause_of_text, is_right, relation_to_gold
from gradeschool.answers.quantities import same_answer
from gradeschool.answers.regions import Marks, Region, answer_region
from gradeschool.completion import empty_cause
from gradeschool.datasets.load import OWN_PROBLEMS, LabelChanges, label_changes, load_dataset
from gradeschool.formats.values import Sample
from gradeschool.problem import Problem
from gradeschool.scorer import Outcome, ReturnedScore, Verdict, clip
from gradeschool.scoring.sources import Run
from gradeschool.scoring.table import ScoredTable


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


class TextReading(NamedTuple):
    """The answer that the extractor reads in a completion.

    right: whether it is the gold. cause: why it is not, or None.
    """

    text: str
    gold: str
    reading: ExtractedAnswer | None
    region: Region
    right: bool
    cause: Cause | None


def read_text(
    text: str, problem: Problem, finish: str | None, changes: LabelChanges, marks: Marks = ()
) -> TextReading:
    """Analyse a completion once, for any number of scorers.

    finish: the server's finish reason. changes: revised labels; if the text gives the revised gold,
    the cause is a suspected label. marks: pairs of marks of thinking besides the usual ones.
    """
    reading = extract_final_answer(text, problem.question, marks)
    region = answer_region(text, problem.question, tuple(marks))
    cause = cause_of_text(text, reading, region, problem.gold, finish)
    other = changes.get(problem.id)
    if cause and reading and other and same_answer(reading.value, other.gold):
        evidence = f"it says {reading.value}, which is the gold of GSM8K-Platinum"
        cause = Cause(Failure.SUSPECTED_LABEL, evidence)
    return TextReading(text, problem.gold, reading, region, is_right(reading, problem.gold), cause)


def explain_verdict(seen: TextReading, verdict: Verdict) -> VerdictCause | None:
    """Return the cause of a verdict; None if both scorer and text are right."""
    if verdict.outcome is Outcome.ERROR:
        return VerdictCause(Side.SYSTEM, Cause(Failure.SCORER_FAILED, verdict.reason))
    if not (verdict.correct or seen.right):
        return VerdictCause(Side.TEXT, seen.cause) if seen.cause else None
    if verdict.correct and seen.right:
        return None
    side = Side.ACCEPTED if verdict.correct else Side.MISSED
    answer, reading = verdict.answer, seen.reading
    value = answer.value if answer else ""
    read = repr(clip(value)) if answer else "''"
    span = answer.span if answer else None
    if seen.region.ran_on and span is not None and span[0] >= seen.region.end:
        return VerdictCause(
            side, Cause(Failure.RUN_ON, f"{read} is in the run-on part of the text", span)
        )
    if reading is None:
        why = f": {seen.cause.failure.value}" if seen.cause else ""
        evidence = f"{read} is accepted; no answer is stated{why}"
        return VerdictCause(side, Cause(Failure.OTHER_NUMBER, evidence))
    there, says = (reading.start, reading.end), f"the text says {reading.value}"
    # Whether the scorer read the characters of the extractor's answer, or part of them.
    is_same_place = span is None or (span[0] <= there[1] and span[1] >= there[0])
    failure, evidence = Failure.OTHER_NUMBER, f"{says} ({reading.how}), the scorer accepts {read}"
    if is_score := isinstance(value, ReturnedScore):  # not an answer, with no place
        failure, evidence = Failure.OWN_VERDICT, f"{says} ({reading.how}), {verdict.reason}"
    if side is Side.ACCEPTED:
        is_same = relation_to_gold(value, reading.value) is Failure.UNIT_KEPT
        if answer is None or is_same or is_same_place:
            related = _relation(reading.value, seen, reading)
            if related is not None:
                failure, evidence = related, f"{says}, the scorer takes it for {seen.gold}"
    elif is_score:
        pass
    elif answer is None:
        failure = Failure.FORMAT_MISSING
        evidence = f"{says} ({reading.how}), where the scorer does not look"
    elif is_same_place:
        failure = _relation(value, seen, reading) or Failure.UNIT_KEPT
        evidence = f"{says}, the scorer turns it into {read}"
    else:
        evidence = f"{says} ({reading.how}), the scorer read {read} elsewhere"
    return VerdictCause(side, Cause(failure, evidence, there))


def _relation(value: str, seen: TextReading, reading: ExtractedAnswer) -> Failure | None:
    relation = relation_to_gold(value, seen.gold)
    if relation is Failure.COMMA_SPLIT and "," not in seen.text[reading.start : reading.end]:
        return Failure.AFFIX
    return relation


def label_changes_for(run: Run) -> LabelChanges:
    """Return the labels of a run's dataset that GSM8K-Platinum changes."""
    if run.dataset in ("", OWN_PROBLEMS):
        return {}
    return label_changes(load_dataset(run.dataset).problems, run.problems())


class ExplainedSample(NamedTuple):
    """A sample with its verdicts and the cause of each, in the order of the scorers.

    A cause is None if scorer and text are right. A failed sample has no verdicts, one cause and
    no reading.
    """

    sample: Sample
    problem: Problem
    verdicts: tuple[Verdict, ...]
    causes: tuple[VerdictCause | None, ...]
    reading: TextReading | None

    @property
    def kind(self) -> str:
        """The outcomes: "correct / no_answer"."""
        return " / ".join(verdict.outcome.value for verdict in self.verdicts)

    @property
    def unjudged(self) -> bool:
        """True if the sample failed, or every scorer fails on its text."""
        return all(verdict.outcome is Outcome.ERROR for verdict in self.verdicts)

    @property
    def group(self) -> str:
        """The causes as words that can be counted, "" if there is none.

        Of several scorers, those that err are named; if none does, why the text is not right.
        """
        erring = [f"{letter} {cause}"
                  for letter, cause in zip(cycle(ascii_uppercase), self.causes, strict=False)
                  if cause and cause.side is not Side.TEXT and len(self.causes) > 1]  # fmt: skip
        return ", ".join(erring or [str(cause) for cause in self.causes if cause][:1])


def explained_samples(
    table: ScoredTable, changes: LabelChanges, disagreements: bool = False
) -> Iterator[ExplainedSample]:
    """Yield the samples of a table that have a problem with their causes, in file order.

    changes: revised labels. disagreements: only samples on which the scorers' outcomes differ.
    """
    verdicts_of_samples, marks = table.each_verdicts(), table.scorers.thinking_marks
    for sample in table.run.samples:
        if sample.problem is None:
            continue
        verdicts = () if sample.error else next(verdicts_of_samples)
        if disagreements and len({verdict.outcome for verdict in verdicts}) < 2:
            continue
        if sample.error:
            failure = Cause(Failure.PROVIDER_ERROR, clip(sample.error, 200))
            cause = VerdictCause(Side.SYSTEM, failure)
            yield ExplainedSample(sample, sample.problem, (), (cause,), None)
            continue
        seen = read_text(sample.text, sample.problem, sample.finish, changes, marks)
        if seen.cause and sample.stored and (why := empty_cause(sample.stored)):
            seen = seen._replace(cause=seen.cause._replace(evidence="; ".join(why)))
        causes = tuple(explain_verdict(seen, verdict) for verdict in verdicts)
        yield ExplainedSample(sample, sample.problem, verdicts, causes, seen)


# Kinds of misses. Format: the right answer is there and the scorer misses it, or there is no answer
# (cut off, empty, a refusal). Arithmetic: a step is false ("12 * 34 = 418"), or the answer is
# rounded. Reasoning: all others.
ARITHMETIC, FORMAT, REASONING = "arithmetic", "format", "reasoning"
WITHOUT_ANSWER = frozenset({
    Failure.NO_RESPONSE, Failure.FILTERED, Failure.UNFINISHED_THINKING, Failure.TRUNCATED,
    Failure.REFUSAL, Failure.CODE_ONLY, Failure.NO_NUMBER, Failure.NOT_STATED,
})  # fmt: skip


def misses_by_kind(table: ScoredTable) -> dict[str, Counter[str]]:
    """Return how many samples of each problem the table's first scorer misses, by kind of miss."""
    misses: dict[str, Counter[str]] = {kind: Counter() for kind in (ARITHMETIC, FORMAT, REASONING)}
    for _, problem, verdicts, causes, _ in explained_samples(table, {}):
        if not verdicts or verdicts[0].outcome in (Outcome.CORRECT, Outcome.ERROR):
            continue
        kind, cause = REASONING, causes[0]
        if cause and (cause.side is Side.MISSED or cause.cause.failure in WITHOUT_ANSWER):
            kind = FORMAT
        elif cause and cause.cause.failure in (Failure.ARITHMETIC_SLIP, Failure.ROUNDING):
            kind = ARITHMETIC
        misses[kind][problem.id] += 1
    return misses
