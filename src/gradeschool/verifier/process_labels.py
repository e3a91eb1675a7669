"""Find the first wrong step of solutions of fresh problems, from the problem's own steps.

A step is a non-empty line of a solution; "#### N" is the last one. Its computations are its
annotations (`<<3+4=7>>7`). To find out what a computation means, every number of the problem gets
another value: `3+4` becomes a + b, and the result of an earlier step is replaced by that step's
formula. Two computations are the same quantity if their formulas agree.

A step is right if its arithmetic is correct, its results are copied correctly, and its quantity is
computed in the reference solution or leads to such a quantity ("another way"). It is wrong if
arithmetic or copy are wrong, if its quantity is neither, or if it states a number that no right
step has. So a solution with the right number has a wrong step if its formula differs from the
reference's. Undecided: solutions without "#### N", and those with an unreadable annotation.

Limits: only the numbers of a step are read, not its words; if two numbers of a problem are equal,
either may be meant; another way that ends in an error counts as wrong from its start.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from gradeschool import calculator
from gradeschool.answers.arithmetic import Arithmetic, Token, evaluate_tokens
from gradeschool.completion import Decoding, Prompt
from gradeschool.datasets.step_labels import NO_ERROR
from gradeschool.errors import InputError, ModelError
from gradeschool.models.base import Request
from gradeschool.problem import MARKER, Problem
from gradeschool.scoring.judge import judge

if TYPE_CHECKING:
    from gradeschool.verifier.data import CandidateRun

ANNOTATION = re.compile(r"<<([^<>]{0,200})=([^<>=]{0,40})>>")
NUMBER = re.compile(calculator.NUMBER)
SHOWN = re.compile(rf"\$?({calculator.NUMBER})")
PRIME = 2**61 - 1  # formulas are compared modulo this prime, at pseudo-random values
ROLL_OUTS_TOGETHER, ROLL_OUT_TOKENS = 16, 400
MOST_READINGS = 64  # maximum for an expression whose numbers may each have several meanings


class StepLabels(NamedTuple):
    """The steps of a solution and the first wrong one.

    first_wrong: its number from 0, NO_ERROR for none, None if undecided. reason: why that step is
    wrong or the solution undecided; "" for a right solution. other_ways: number of steps that are
    not in the reference but lead to one of its quantities.
    """

    steps: Sequence[str]
    first_wrong: int | None
    reason: str = ""
    other_ways: int = 0

    @property
    def labels(self) -> list[bool]:
        """Return whether each step is right, up to the first wrong one; later steps have no label.

        Empty if undecided.
        """
        if self.first_wrong is None:
            return []
        if self.first_wrong == NO_ERROR:
            return [True] * len(self.steps)
        return [True] * self.first_wrong + [False]


class _Unreadable(Exception):
    """An annotation that cannot be read."""


class _Reading(NamedTuple):
    """A formula's value, and the steps whose results it uses."""

    formula: int
    uses: frozenset[int]


class _Results:
    """The results so far: possible meanings by value."""

    def __init__(self) -> None:
        self.by_value: dict[Fraction, list[_Reading]] = {}

    def add(self, value: Fraction, readings: Iterable[_Reading], step: int) -> None:
        remembered = self.by_value.setdefault(value, [])
        remembered += [_Reading(reading.formula, reading.uses | {step}) for reading in readings]

    def of(self, value: Fraction) -> list[_Reading]:
        """Return the readings of a number: a given number, and results with that value."""
        return [_Reading(_given(value), frozenset()), *self.by_value.get(value, ())]

    def readings(self, expression: str) -> list[_Reading]:
        """Return the readings of an expression; raises _Unreadable."""
        tokens = calculator.tokenize(expression)
        choices = [self.of(_value(token.text)) for token in tokens if token.kind == "num"]
        formulas: dict[_Reading, None] = {}
        for combination, _ in zip(product(*choices), range(MOST_READINGS), strict=False):
            formula = _formula(tokens, [reading.formula for reading in combination])
            if formula is not None:
                uses = frozenset[int]().union(*(reading.uses for reading in combination))
                formulas[_Reading(formula, uses)] = None
        if not formulas:
            raise _Unreadable(expression)
        return list(formulas)


@lru_cache(100_000)
def _given(value: Fraction) -> int:
    """Return the pseudo-random value that replaces a number."""
    return int.from_bytes(hashlib.sha256(str(value).encode()).digest()[:16], "big") % PRIME


def _formula(tokens: Sequence[Token], values: Sequence[int]) -> int | None:
    """Return an expression modulo PRIME with its numbers replaced; None if it has no value."""
    numbers = iter(values)  # the parser takes each number once, in order
    arithmetic = Arithmetic(lambda _: next(numbers), _combined, _given(Fraction(100)))
    value = evaluate_tokens(tokens, arithmetic)
    return None if value is None else value % PRIME


def _combined(kind: str, left: int, right: int) -> int:
    if kind == "plus":
        return left + right
    if kind == "minus":
        return left - right
    if kind == "times":
        return left * right % PRIME
    if kind == "floor":
        raise _Unreadable("a whole-number division")
    if not right % PRIME:
        raise ZeroDivisionError
    return left * pow(right, -1, PRIME) % PRIME


class ReferenceSteps:
    """The quantities of a fresh problem, from its solution.

    Raises InputError if the problem is not fresh, or its solution has no computation.
    """

    def __init__(self, problem: Problem) -> None:
        if "structure" not in problem.meta:
            raise InputError(
                f"problem {problem.id!r} is not a fresh problem: its solution does not contain "
                "every true value; label a run on fresh:SEED or a file from "
                "`gradeschool data generate`"
            )
        results = _Results()
        self.formulas: set[int] = set()
        lines = split_steps(problem.solution)
        for number, line in enumerate(lines[:-1]):
            computations = ANNOTATION.findall(line)
            for expression, written in computations:
                readings = results.readings(expression)
                results.add(_value(written), readings, number)
                self.formulas |= {reading.formula for reading in readings}
            if not computations:  # "Try 7 meters": a guess in the solution
                self.formulas |= {_given(_value(text)) for text in NUMBER.findall(line)}
        if not self.formulas:
            raise InputError(f"the solution of problem {problem.id!r} has no annotated step")
        gold = _value(problem.gold)
        self.answers = {reading.formula for reading in results.by_value.get(gold, ())}
        self.answers |= {_given(gold)} & self.formulas  # a guessed answer


def split_steps(solution: str) -> list[str]:
    """Return the non-empty lines of a solution."""
    return [line.strip() for line in solution.split("\n") if line.strip()]


def label_steps(
    solution: str, problem: Problem, reference: ReferenceSteps | None = None
) -> StepLabels:
    """Return the labels of a solution of a fresh problem; see the module.

    reference: of the problem, if already computed. Raises InputError for other problems.
    """
    reference = reference or ReferenceSteps(problem)
    steps = split_steps(solution)
    if not steps or not steps[-1].startswith(MARKER):
        return StepLabels(steps, None, "no final answer")
    results = _Results()
    reasons: dict[int, str] = {}
    unlike: set[int] = set()  # steps whose quantity is not in the reference
    used: set[int] = set()
    try:
        for number, line in enumerate(steps[:-1]):
            matched, reason = _judge(line, number, results, reference)
            if reason == UNLIKE:
                unlike.add(number)
            elif reason:
                reasons[number] = reason
            used |= matched
        readings = results.of(_value(steps[-1].removeprefix(MARKER)))
    except (_Unreadable, ValueError, ZeroDivisionError) as error:
        return StepLabels(steps, None, f"cannot be read: {error}")
    right = [reading for reading in readings if reading.formula in reference.answers]
    if right:
        used |= min((reading.uses for reading in right), key=len)
    else:
        same = _value(steps[-1].removeprefix(MARKER)) == _value(problem.gold)
        reasons[len(steps) - 1] = "the right number by a wrong way" if same else "a wrong answer"
    reasons |= dict.fromkeys(unlike - used, UNLIKE)
    first = min(reasons, default=NO_ERROR)
    return StepLabels(steps, first, reasons.get(first, ""), len(unlike & used))


UNLIKE = "a quantity that the problem does not have"


def _judge(
    line: str, number: int, results: _Results, reference: ReferenceSteps
) -> tuple[frozenset[int], str]:
    """Return the steps that a right line uses, and why it is wrong ("" for right)."""
    if line.count(calculator.OPEN) != len(ANNOTATION.findall(line)):
        raise _Unreadable("an annotation that does not end")
    uses = frozenset[int]()
    reason = ""
    for match in ANNOTATION.finditer(line):
        value = _value(match[2])
        result = calculator.evaluate(match[1])
        if result is None:
            raise _Unreadable(f"{match[0]} has no result")
        if calculator.format_value(result) != match[2] and result != value:
            return frozenset(), f"false arithmetic: {match[0]}"
        shown = SHOWN.match(line, match.end())
        if shown and _value(shown[1]) != value:
            return frozenset(), f"{match[0]} is copied as {shown[1]}"
        readings = results.readings(match[1])
        true = [reading for reading in readings if reading.formula in reference.formulas]
        results.add(value, true or readings, number)
        if true:
            uses |= min((reading.uses for reading in true), key=len)
        else:
            reason = UNLIKE
    if ANNOTATION.search(line):
        return (frozenset(), reason) if reason else (uses, "")
    for text in (number.rstrip(".") for number in NUMBER.findall(line)):
        if not any(reading.formula in reference.formulas for reading in results.of(_value(text))):
            return frozenset(), f"{text} comes from nowhere"
    return uses, ""


def _value(text: str) -> Fraction:
    """Return a text as a number; raises ValueError."""
    number = calculator.evaluate(text.strip().strip("$ "))
    if number is None:
        raise ValueError(f"{text.strip()[:40]!r} is not a number")
    return number


class LabelledStepsRow(NamedTuple):
    """A completion with the labels of its steps. right: whether its final answer is right."""

    key: str
    problem: Problem
    sample: int
    right: bool
    labels: StepLabels


# Parts of reasons, for counting them.
NOT_REACHED = "no roll-out reaches the right answer"
KINDS = (
    UNLIKE,
    NOT_REACHED,
    "false arithmetic",
    "is copied as",
    "comes from nowhere",
    "the right number by a wrong way",
    "a wrong answer",
    "no final answer",
    "cannot be read",
)


def label_run(run: CandidateRun) -> Iterator[LabelledStepsRow]:
    """Yield the labelled completions of a run on fresh problems; raises InputError for others."""
    for answered in run.answered:
        reference = ReferenceSteps(answered.problem)
        labelled: dict[str, StepLabels] = {}
        for candidate in answered.candidates:
            if candidate.text not in labelled:
                labelled[candidate.text] = label_steps(candidate.text, answered.problem, reference)
            yield LabelledStepsRow(
                candidate.key, answered.problem, candidate.sample, candidate.right,
                labelled[candidate.text],
            )  # fmt: skip


def label_counts(rows: Iterable[LabelledStepsRow]) -> dict[str, Any]:
    """Return how many solutions are right, wrong and undecided, and why."""
    outcomes: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for row in rows:
        labels = row.labels
        outcomes["solutions"] += 1
        outcomes["steps"] += len(labels.steps)
        outcomes["steps by another way"] += labels.other_ways
        if labels.first_wrong is None:
            outcomes["not decided"] += 1
        elif labels.first_wrong == NO_ERROR:
            outcomes["without a wrong step"] += 1
        else:
            outcomes["with a wrong step"] += 1
            outcomes["with a wrong step and a right answer"] += row.right
        if labels.reason:
            reasons[next(kind for kind in KINDS if kind in labels.reason)] += 1
    return {**outcomes, "reasons": dict(reasons.most_common())}


# Training formats of other tools. They leave out undecided solutions, and the unlabelled steps
# after the first wrong one.


def own_row(row: LabelledStepsRow) -> dict[str, Any] | None:
    """Return a row in gradeschool's own form, which keeps everything."""
    labels = row.labels
    return {
        "key": row.key, "problem_id": row.problem.id, "sample": row.sample,
        "question": row.problem.question, "steps": list(labels.steps), "correct": row.right,
        "first_wrong": labels.first_wrong, "reason": labels.reason,
    }  # fmt: skip


def trl_row(row: LabelledStepsRow) -> dict[str, Any] | None:
    """Return a row of TRL's stepwise supervision (docs/source/dataset_formats.md)."""
    labels = row.labels.labels
    steps = list(row.labels.steps[: len(labels)])
    return (
        {"prompt": row.problem.question, "completions": steps, "labels": labels} if labels else None
    )


def prm800k_row(row: LabelledStepsRow) -> dict[str, Any] | None:
    """Return a row in the form of PRM800K (openai/prm800k, README: Data)."""
    labels, problem = row.labels.labels, row.problem
    if not labels:
        return None
    steps = [
        {"completions": [{"text": step, "rating": 1 if label else -1, "flagged": False}],
         "human_completion": None, "chosen_completion": 0 if label else None}
        for step, label in zip(row.labels.steps, labels, strict=False)
    ]  # fmt: skip
    question = {"problem": problem.question, "ground_truth_answer": problem.gold,
                "ground_truth_solution": problem.solution,
                "pre_generated_steps": list(row.labels.steps)}  # fmt: skip
    reason = "solution" if labels[-1] else "found_error"
    return {"labeler": "gradeschool", "is_quality_control_question": False,
            "is_initial_screening_question": False, "question": question,
            "label": {"steps": steps, "finish_reason": reason}}  # fmt: skip


ROW_FORMS: Mapping[str, Callable[[LabelledStepsRow], dict[str, Any] | None]] = {
    "gradeschool": own_row,
    "trl": trl_row,
    "prm800k": prm800k_row,
}


def format_lines(rows: Iterable[LabelledStepsRow], form: str) -> Iterator[str]:
    """Yield JSON lines in one of ROW_FORMS."""
    write = ROW_FORMS[form]
    for row in rows:
        if (fields := write(row)) is not None:
            yield json.dumps(fields) + "\n"


# Roll-outs: labels for any dataset


def roll_out_run(
    run: CandidateRun, spec: str, rollouts: int, temperature: float = 0.7
) -> list[LabelledStepsRow]:
    """Return the completions of a run with labels by roll-outs, as in Math-Shepherd.

    A step is right if one of `rollouts` continuations of the text up to it reaches the right answer
    (the hard estimate of Wang et al. 2024, arXiv 2312.08935); the first that none continues rightly
    is the first wrong one. spec: the model that continues, as for `-m`, with the calculator. The
    prompt is that of `openai/2021`. Raises InputError if the model does not answer.
    """
    import asyncio

    from gradeschool.models.choose import choose_model

    prefixes: dict[tuple[str, str], tuple[Problem, str]] = {}  # by problem and steps so far
    for answered in run.answered:
        for candidate in answered.candidates:
            steps = split_steps(candidate.text)
            for end in range(1, len(steps)):
                written = "\n".join([*steps[:end], ""])
                prefixes[answered.problem.id, written] = (answered.problem, written)

    async def ask() -> dict[tuple[str, str], bool]:
        model = choose_model(spec, (), "", calculator=True)
        turns = asyncio.Semaphore(model.connections or ROLL_OUTS_TOGETHER)
        decoding = Decoding(temperature, max_tokens=ROLL_OUT_TOKENS)

        async def reaches(problem: Problem, written: str, number: int) -> bool:
            prompt = f"{problem.question}\n{written}"
            key = f"roll-out {number}"
            async with turns:
                try:
                    request = Request(problem, Prompt(text=prompt), decoding, key, number)
                    reply = await model.complete(request)
                except ModelError as error:
                    raise InputError(f"the model of --rollouts does not answer: {error}") from error
            return judge(written + reply.text, problem, run.scorer).correct

        async with model:
            asked = [reaches(problem, written, number)
                     for problem, written in prefixes.values()
                     for number in range(rollouts)]  # fmt: skip
            outcomes = iter(await asyncio.gather(*asked))
        return {key: sum(next(outcomes) for _ in range(rollouts)) > 0 for key in prefixes}

    reached = asyncio.run(ask())
    rows = []
    for answered in run.answered:
        for candidate in answered.candidates:
            steps = split_steps(candidate.text)
            marks = [reached[answered.problem.id, "\n".join([*steps[:end], ""])]
                     for end in range(1, len(steps))]  # fmt: skip
            marks.append(candidate.right)
            wrong = next((number for number, mark in enumerate(marks) if not mark), NO_ERROR)
            reason = "" if wrong == NO_ERROR else NOT_REACHED
            labels = StepLabels(steps, wrong, reason)
            rows.append(LabelledStepsRow(
                candidate.key, answered.problem, candidate.sample, candidate.right, labels
            ))  # fmt: skip
    return rows
