"""Explain a gap to an expected accuracy: missing points by cause, with evidence and a test.

`account_of_gap` uses only the run: its texts, settings and size. `account_of_difference` also uses
a run with the expected score (`runs/difference.py`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from shlex import quote
from statistics import median
from typing import Any

from gradeschool.answers.extractor import extract_final_answer
from gradeschool.answers.failures import Failure, is_right
from gradeschool.answers.regions import form_of
from gradeschool.completion import empty_cause
from gradeschool.formats import settings as names
from gradeschool.formats.samples import Sample
from gradeschool.formats.settings import mapping
from gradeschool.percentages import count, percent
from gradeschool.problem import MARKER
from gradeschool.protocol import Protocol
from gradeschool.runs.difference import (
    LABELS,
    LIMIT,
    PROMPTS,
    SCORER,
    SET,
    STOP,
    Difference,
)
from gradeschool.scorer import Scorer
from gradeschool.scoring.causes import LabelChanges, Side, explained_samples, label_changes
from gradeschool.scoring.samples import Run
from gradeschool.scoring.statistics import Interval, clustered_wilson, mean_share
from gradeschool.scoring.table import Tally, nothing_judged, scored_table
from gradeschool.verdict import Outcome

LEAST_POINTS = 0.05
# Minimum share of completions for a form to be reported.
NOTABLE = 0.02
SHORT_WORDS = 6  # a lower median means that the model answers without working
ROLES = re.compile(r"(?m)^(?:<\|im_start\|>)?(?:user|assistant|human|system)\b:?", re.IGNORECASE)
# Special tokens, which a tokenizer adds and no completion should contain.
SPECIAL = re.compile(r"<\|[a-z_0-9]{1,24}\|>|</?s>|<(?:bos|eos|pad|end_of_turn|start_of_turn)>")
FULL_PRECISION = re.compile(r"(?i)b?f(?:loat)?(?:16|32)\b")

# Causes, beside those of `runs/difference.py`.
RUN_ON, TRUNCATED, TEMPLATE, EXTRACTION = "run-on", LIMIT, "chat template", "extraction"
EMPTY, NO_WORKING, FORMAT = "empty completions", "no working", "few-shot format"
CHANGED, PRECISION, SAMPLING = "changed settings", "precision", "sampling"


@dataclass(frozen=True, slots=True)
class GapCause:
    """One cause of missing points. points: its share; None if only a test can tell.

    most: `points` is an upper limit. command: tests or fixes the cause; "" if there is none.
    """

    name: str
    points: float | None
    evidence: str
    command: str = ""
    most: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class GapAccount:
    """The missing points of a run and their causes, those with the most points first.

    expected, accuracy: shares. interval: of the accuracy, 95 %. settings: what another run records
    differently, as (name, value here, value there). notes: sentences on its texts and prompts.
    """

    scorer: str
    expected: float
    accuracy: float
    interval: Interval
    judged: int
    causes: tuple[GapCause, ...]
    settings: tuple[tuple[str, Any, Any], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def missing(self) -> float:
        """Return the missing points."""
        return 100 * (self.expected - self.accuracy)

    @property
    def within_chance(self) -> bool:
        """Whether the 95 % interval contains the expected accuracy."""
        return self.interval[0] <= self.expected <= self.interval[1]

    @property
    def rest(self) -> float:
        """Return the missing points that no cause explains."""
        return self.missing - sum(c.points for c in self.causes if c.points and not c.most)

    def as_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            "scorer": self.scorer,
            "expected": self.expected,
            "accuracy": self.accuracy,
            "ci95": list(self.interval),
            "missing_points": self.missing,
            "within_chance": self.within_chance,
            "rest_points": self.rest,
            "causes": [cause.as_json() for cause in self.causes],
            "settings": [
                {"name": name, "here": here, "there": there} for name, here, there in self.settings
            ],
            "notes": list(self.notes),
        }


def account_of_gap(
    run: Run,
    scorer: Scorer,
    expected: float,
    manifest: Mapping[str, Any],
    protocol: Protocol | None,
    changes: Sequence[str],
    labels: LabelChanges,
    place: str,
) -> GapAccount:
    """Return the causes of the points missing to an expected accuracy, from the run alone.

    manifest: its run.json, {} if there is none. changes: its settings that differ from the
    protocol's, in words. labels: the disputed labels of its dataset (`datasets.platinum.disputed`).
    place: the run as named on a command line, with the options for reading it. Raises InputError if
    no completion could be judged.
    """
    facts = _RunFacts(run, scorer, labels, place)
    named = [
        *_of_texts(facts),
        *_of_labels(facts),
        *_of_settings(facts, manifest, protocol, changes),
    ]
    ranked = sorted(named, key=lambda cause: (cause.points is None, -(cause.points or 0.0)))
    return _account(scorer.name, expected, facts.tallies, ranked)


def _account(
    scorer: str, expected: float, tallies: Sequence[Tally], causes: Sequence[GapCause]
) -> GapAccount:
    accuracy, interval = mean_share(tallies), clustered_wilson(tallies)
    judged = sum(tally.judged for tally in tallies)
    return GapAccount(scorer, expected, accuracy, interval, judged, tuple(causes))


class _RunFacts:
    """A run under its headline scorer: outcomes, and the cause of each miss."""

    def __init__(self, run: Run, scorer: Scorer, labels: LabelChanges, place: str) -> None:
        table = scored_table(run, [scorer])
        self.run, self.scorer, self.place = run, scorer, place
        pairs = [
            (sample, verdicts[0])
            for sample, verdicts in zip(table.samples, table.verdicts, strict=True)
            if verdicts[0].outcome is not Outcome.ERROR
        ]
        if not pairs:
            raise nothing_judged(run.name, scorer.name)
        self.tallies = list(table.tallies().values())
        self.samples = [sample for sample, _ in pairs]
        self.correct = sum(verdict.correct for _, verdict in pairs)
        self.disputed = labels
        self.missed = [
            (each.sample, (cause.side, cause.cause.failure) if cause else None)
            for each in explained_samples(table, label_changes(run, labels))
            for verdict, cause in zip(each.verdicts, each.causes, strict=False)
            if not verdict.correct and verdict.outcome is not Outcome.ERROR
        ]

    def points(self, count: float) -> float:
        """Return completions as points of accuracy."""
        return 100 * count / len(self.samples)


def _of_texts(facts: _RunFacts) -> list[GapCause]:
    """Return the causes that the texts of the misses show."""
    causes = Counter(cause for _, cause in facts.missed if cause)
    run_on = causes[Side.MISSED, Failure.RUN_ON]
    unread = sum(n for (side, _), n in causes.items() if side is Side.MISSED) - run_on
    named = []
    if run_on:
        named.append(GapCause(
            RUN_ON, facts.points(run_on),
            f"{count(run_on, 'completion states', 'completions state')} the right answer and "
            f"{'continues' if run_on == 1 else 'continue'} with another question, from which "
            f"{facts.scorer.name} extracts its answer",
            "evaluate with a protocol whose stop strings end the answer, or a chat protocol",
        ))  # fmt: skip
    if unread:
        kinds = Counter(f.value for (side, f), n in causes.items() for _ in range(n)
                        if side is Side.MISSED and f is not Failure.RUN_ON)  # fmt: skip
        named.append(GapCause(
            EXTRACTION, facts.points(unread),
            f"{count(unread, 'completion states', 'completions state')} the right answer and "
            f"{facts.scorer.name} does not read it: "
            f"{', '.join(f'{n} {kind}' for kind, n in kinds.most_common(3))}",
            f"gradeschool explain {facts.place} --scorer {quote(facts.scorer.name)} "
            "gradeschool/reader",
        ))  # fmt: skip
    cut = [sample for sample, cause in facts.missed
           if (cause is None or cause[0] is Side.TEXT) and _is_cut(sample)]  # fmt: skip
    empty = [sample for sample, _ in facts.missed
             if not sample.text.strip() and not _is_cut(sample)]  # fmt: skip
    others = len(facts.samples) - len(cut) - len(empty)
    share = (facts.correct + run_on + unread) / others if others > 0 else 1.0
    if len(cut) >= NOTABLE * len(facts.samples):
        named.append(GapCause(
            TRUNCATED, facts.points(len(cut) * share),
            f"{count(len(cut), 'miss was', 'misses were')} cut before "
            f"{'its' if len(cut) == 1 else 'their'} answer; the points are the gain if as "
            "many are right as among the others",
            "evaluate again with a larger --max-tokens", most=True,
        ))  # fmt: skip
    if len(empty) >= NOTABLE * len(facts.samples):
        stored = [empty_cause(sample.stored) for sample in empty if sample.stored is not None]
        causes_of = Counter(cause for cause in stored if cause is not None)
        (reason, remedy), n = causes_of.most_common(1)[0] if causes_of else (
            ("the server ends immediately, or keeps the answer in another field",
             "gradeschool doctor URL -p PROTOCOL"), 0,
        )  # fmt: skip
        named.append(GapCause(
            EMPTY, facts.points(len(empty) * share),
            f"{count(len(empty), 'completion is', 'completions are')} empty: "
            f"{f'{n} have ' if n else ''}{reason}", remedy, most=True,
        ))  # fmt: skip
    return [*named, *_of_forms(facts, share)]


def _is_cut(sample: Sample) -> bool:
    """Whether a completion ends before its answer, and did not run on after it."""
    question = sample.problem.question if sample.problem else ""
    form = form_of(sample.text, sample.finish, question)
    return form.truncated and not form.ran_on


def _of_forms(facts: _RunFacts, share: float) -> list[GapCause]:
    """Return the causes in the prompt that the texts show: template, working, format."""
    missed = [sample for sample, cause in facts.missed if cause is None or cause[0] is Side.TEXT]
    marked = [s for s in missed if SPECIAL.search(s.text) or ROLES.search(s.text)]
    named = []
    if len(marked) >= NOTABLE * len(facts.samples):
        named.append(GapCause(
            TEMPLATE, facts.points(len(marked) * share),
            f"{len(marked):,} misses contain special tokens or names of roles as text: the model's "
            "chat template is not applied, or applied twice",
            "gradeschool doctor URL -p PROTOCOL", most=True,
        ))  # fmt: skip
    words = [len(sample.text.split()) for sample in facts.samples]
    if words and 0 < median(words) < SHORT_WORDS:
        named.append(GapCause(
            NO_WORKING, None,
            f"half of the completions have at most {count(int(median(words)), 'word')}: the model "
            "answers without working, so a system message or the examples may be missing",
            "gradeschool protocols prompts PROTOCOL -n 1, then evaluate with a chain-of-thought "
            "protocol",
        ))  # fmt: skip
    return named


def _of_labels(facts: _RunFacts) -> list[GapCause]:
    """Return the points that the labels of GSM8K-Platinum would change."""
    if not facts.disputed:
        return []
    revised = sum(
        other is not None and is_right(extract_final_answer(s.text, s.problem.question), other.gold)
        for s, _ in facts.missed
        if s.problem and (other := facts.disputed.get(s.problem.id)) is not None
    )
    if not revised:
        return []
    return [GapCause(
        LABELS, facts.points(revised),
        f"{revised} misses are right by the revised labels of GSM8K-Platinum",
        f"gradeschool score {facts.place} --labels platinum",
    )]  # fmt: skip


def _of_settings(
    facts: _RunFacts,
    manifest: Mapping[str, Any],
    protocol: Protocol | None,
    changes: Sequence[str],
) -> list[GapCause]:
    """Return the settings that can cost points; only a second run can measure how many."""
    named = []
    decoding = mapping(manifest.get("decoding"))
    if changes:
        named.append(GapCause(CHANGED, None, f"not the protocol's: {', '.join(changes)}",
                              "evaluate without these options"))  # fmt: skip
    if decoding.get("temperature") and manifest.get("samples") == 1:
        named.append(GapCause(
            SAMPLING, None, f"one sample at temperature {decoding['temperature']}: another seed "
            "gives another score", "evaluate with --temperature 0, or with -k 8",
        ))  # fmt: skip
    precision = str(mapping(manifest.get("engine")).get("precision") or "")
    if precision and not FULL_PRECISION.search(precision):
        named.append(GapCause(
            PRECISION, None, f"the weights are {precision}; published scores are of 16 bits",
            "evaluate the model in BF16 or F16, then give that run as --expected-run",
        ))  # fmt: skip
    form = _of_examples(facts, protocol)
    return [*named, *([form] if form else [])]


def _of_examples(facts: _RunFacts, protocol: Protocol | None) -> GapCause | None:
    """Return the cause if examples end in "#### N" and the completions do not."""
    if protocol is None or not protocol.shots or not facts.samples:
        return None
    marked = sum(MARKER in sample.text for sample in facts.samples) / len(facts.samples)
    needs_mark = any("strict" in name or name.startswith("openai/") for name in protocol.scorers)
    if not needs_mark or marked > 0.5:
        return None
    return GapCause(
        FORMAT, None, f"only {percent(marked, 0)} of the completions end as the examples do, in "
        f"{MARKER!r}", f"gradeschool protocols prompts {protocol.name} -n 1",
    )  # fmt: skip


# The settings that explain a step.
OF_STEPS = {
    SET: (names.DATASET, names.SAMPLES),
    LABELS: (names.LABELS, names.DATASET, names.DIGEST),
    SCORER: (names.SCORER,),
    STOP: (names.STOP,),
    LIMIT: (names.LIMIT,),
    PROMPTS: (names.PROTOCOL, names.SYSTEM, names.FORM, names.SHOTS, names.SHOT_COUNT,
              names.TEMPLATE),
}  # fmt: skip
OF_TEXTS = (names.PRECISION, names.ENGINE, names.KV_CACHE, names.FLASH_ATTENTION,
            names.TEMPERATURE, names.SEED, names.TEMPLATE, names.BOS, names.TOP_P, names.MODEL,
            names.ANSWERED_BY, names.OPTIONS, names.VERSIONS, names.ADDRESS)  # fmt: skip


def account_of_difference(difference: Difference) -> GapAccount:
    """Return the causes of the points missing to a run that has the expected score."""
    known = {name: (here, there) for name, here, there in difference.settings
             if here is not None and there is not None}  # fmt: skip
    named = []
    for step in difference.steps:
        if abs(step.points) < LEAST_POINTS:
            continue
        shown = [name for name in OF_STEPS.get(step.name, OF_TEXTS) if name in known]
        # A text that differs for no other reason is named by the first setting that may explain it.
        title = step.name if step.name in OF_STEPS or not shown else shown[0]
        words = "; ".join(f"{name}: {known[name][0]} here, {known[name][1]} there"
                          for name in shown[:3])  # fmt: skip
        evidence = f"{step.changed:,} completions: {words or 'no recorded setting explains it'}"
        named.append(GapCause(title, step.points, evidence))
    ranked = sorted(named, key=lambda cause: -(cause.points or 0.0))
    account = _account(difference.scorers[0], difference.accuracies[1], difference.tallies, ranked)
    return replace(account, settings=difference.settings, notes=difference.notes)
