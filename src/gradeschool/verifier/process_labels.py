"""Find the first wrong step of solutions of fresh problems, from the problem's own steps.

A step is a non-empty line of a solution; "#### N" is the last one. Its computations are its
annotations (`<<3+4=7>>7`). To find out what a computation means, every number of the problem gets
another value: `3+4` becomes a + b, and the result of an earlier step is replaced by that step's
formula. Two computations are the same quantity if their formulas agree.

A step is right if its arithmetic is correct, its results are copied correctly, and its quantity is
computed in the reference solution or leads to such a quantity ("another way"). It is wrong if
arithmetic or copy are wrong, or if its quantity is neither. A step without a computation is wrong
if it states a number that neither the question nor a right step has. So a solution with the right
number has a wrong step if its formula differs from the reference's. Undecided: solutions without
"#### N", and those with a computation that cannot be read, or is not annotated.

Limits: of a step only the annotations are read if it has any, else the numbers, never the words; if
two numbers of a problem are equal, either may be meant; another way that ends in an error counts as
wrong from its start.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import islice, product
from typing import Any, NamedTuple

from gradeschool import calculator
from gradeschool.calculator import Arithmetic, evaluate_tokens
from gradeschool.completion import Decoding, Prompt
from gradeschool.datasets.load import NO_ERROR
from gradeschool.errors import InputError
from gradeschool.models.choose import ask_model
from gradeschool.problem import MARKER, Problem
from gradeschool.scoring.at_k import CandidateRun
from gradeschool.scoring.table import judge

ANNOTATION = re.compile(r"<<([^<>]{0,200})=([^<>=]{0,40})>>")
NUMBER = re.compile(calculator.NUMBER)
SHOWN_NUMBER = re.compile(rf"\$?({calculator.NUMBER})")
PRIME = 2**61 - 1  # formulas are compared modulo this prime, at pseudo-random values
FACTORS = {Fraction(number) for number in range(2, 13)}  # 44*2 is 44+44, with no 2 in the problem
LEADING = re.compile(r"\A(?:step\s*)?\d+\s*[.:)](?:\s|\Z)", re.IGNORECASE)  # the number of a step
MOST_READINGS = 64  # maximum for an expression whose numbers may each have several meanings
UNLIKE = "a quantity that the problem does not have"
SAME_NUMBER = "the right number by a wrong way"
WRONG_ANSWER, NO_ANSWER = "a wrong answer", "no final answer"
NOT_REACHED = "no roll-out reaches the right answer"
ROLL_OUT_TEMPERATURE, ROLL_OUT_TOKENS = 0.7, 400
Steps = frozenset[int]


class StepLabels(NamedTuple):
    """The steps of a solution and the first wrong one.

    first_wrong: its number from 0, NO_ERROR for none, None if undecided. reason: why that step is
    wrong or the solution undecided; "" for a right solution.
    """

    steps: Sequence[str]
    first_wrong: int | None
    reason: str = ""


class _Reading(NamedTuple):
    """What a number may mean: a formula's value, and the steps whose results it uses."""

    formula: int
    uses: Steps


_Results = dict[Fraction, list[_Reading]]  # what the results so far may mean, by value


def _add(results: _Results, value: Fraction, readings: Iterable[_Reading], step: int) -> None:
    results.setdefault(value, []).extend(
        _Reading(reading.formula, reading.uses | {step}) for reading in readings
    )


def _read_number(results: _Results, value: Fraction) -> list[_Reading]:
    """Return the readings of a number: a given number, and results with that value."""
    return [_Reading(_given(value), Steps()), *results.get(value, ())]


def _read(results: _Results, expression: str, factors: Iterable[Fraction] = ()) -> list[_Reading]:
    """Return the readings of an expression; raises ValueError if it has none.

    factors: numbers that may also mean themselves.
    """
    tokens = calculator.tokenize(expression)
    values = [_value(each.text) for each in tokens if each.kind == "num"]
    choices = [
        _read_number(results, value) + [_Reading(int(value), Steps())] * (value in factors)
        for value in values
    ]
    numbers: Iterator[int] = iter(())  # the parser takes each once, in order
    modular = Arithmetic(lambda _: next(numbers), _combine, _given(Fraction(100)))
    found: dict[_Reading, None] = {}
    for chosen in islice(product(*choices), MOST_READINGS):
        numbers = iter([reading.formula for reading in chosen])
        formula = evaluate_tokens(tokens, modular)
        if formula is not None:
            uses = Steps().union(*(reading.uses for reading in chosen))
            found[_Reading(formula % PRIME, uses)] = None
    if not found:
        raise ValueError(expression)
    return list(found)


@lru_cache(100_000)
def _given(value: Fraction) -> int:
    """Return the pseudo-random value that replaces a number."""
    return int.from_bytes(hashlib.sha256(str(value).encode()).digest()[:16], "big") % PRIME


def _combine(kind: str, left: int, right: int) -> int:
    if kind == "floor":
        raise ValueError("a whole-number division")
    if kind == "over":
        if not right % PRIME:
            raise ZeroDivisionError
        return left * pow(right, -1, PRIME) % PRIME
    return left * right % PRIME if kind == "times" else left + (right if kind == "plus" else -right)


def _value(text: str) -> Fraction:
    """Return a text as a number; raises ValueError."""
    number = calculator.evaluate(text.strip().strip("$ "))
    if number is None:
        raise ValueError(f"{text.strip()[:40]!r} is not a number")
    return number


class ReferenceSteps:
    """The quantities of a fresh problem, from its solution.

    Raises InputError if the problem is not fresh, or its solution has no computation.
    """

    def __init__(self, problem: Problem) -> None:
        if "structure" not in problem.meta:
            raise InputError(
                f"problem {problem.id!r} is not a fresh problem: its solution does not contain "
                "every true value; label a run on fresh:SEED, or give a file of `gradeschool data "
                "generate` with -d"
            )
        results: _Results = {}
        self.formulas: set[int] = set()
        for number, line in enumerate(split_steps(problem.solution)[:-1]):
            computations = ANNOTATION.findall(line)
            for expression, written in computations:
                readings = _read(results, expression)
                _add(results, _value(written), readings, number)
                self.formulas |= {reading.formula for reading in readings}
            if not computations:  # "Try 7 meters": a guess in the solution
                self.formulas |= {_given(_value(text)) for text in NUMBER.findall(line)}
        if not self.formulas:
            raise InputError(f"the solution of problem {problem.id!r} has no annotated step")
        self.given = {_value(text.rstrip(".")) for text in NUMBER.findall(problem.question)}
        self.gold = _value(problem.gold)
        self.answers = {reading.formula for reading in results.get(self.gold, ())}
        self.answers |= {_given(self.gold)} & self.formulas  # a guessed answer


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
        return StepLabels(steps, None, NO_ANSWER)
    results: _Results = {}
    reasons: dict[int, str] = {}
    unlike: set[int] = set()  # steps whose quantity is not in the reference
    used: set[int] = set()
    try:
        for number, line in enumerate(steps[:-1]):
            matched, reason = _check_step(line, number, results, reference)
            used |= matched
            if reason == UNLIKE:
                unlike.add(number)
            elif reason:
                reasons[number] = reason
        answer = _value(steps[-1].removeprefix(MARKER))
        readings = _read_number(results, answer)
    except (ValueError, ZeroDivisionError) as error:
        return StepLabels(steps, None, f"cannot be read: {error}")
    right = [reading.uses for reading in readings if reading.formula in reference.answers]
    if right:
        used |= min(right, key=len)
    else:
        reasons[len(steps) - 1] = SAME_NUMBER if answer == reference.gold else WRONG_ANSWER
    reasons |= dict.fromkeys(unlike - used, UNLIKE)
    first = min(reasons, default=NO_ERROR)
    return StepLabels(steps, first, reasons.get(first, ""))


def _check_step(
    line: str, number: int, results: _Results, reference: ReferenceSteps
) -> tuple[Steps, str]:
    """Return the steps that a right line uses, and why it is wrong ("" for right)."""
    annotations = list(ANNOTATION.finditer(line))
    if line.count(calculator.OPEN) != len(annotations):
        raise ValueError("an annotation that does not end")
    uses, reason = Steps(), ""
    for match in annotations:
        value, result = _value(match[2]), calculator.evaluate(match[1])
        if result is None:
            raise ValueError(f"{match[0]} has no result")
        if calculator.format_value(result) != match[2] and result != value:
            return Steps(), f"false arithmetic: {match[0]}"
        shown = SHOWN_NUMBER.match(line, match.end())
        if shown and _value(shown[1]) != value:
            return Steps(), f"{match[0]} is copied as {shown[1]}"
        readings = _read(results, match[1])
        true = [each for each in readings if each.formula in reference.formulas] or [
            each for each in _read(results, match[1], FACTORS) if each.formula in reference.formulas
        ]
        _add(results, value, true or readings, number)
        if true:
            uses |= min((reading.uses for reading in true), key=len)
        else:
            reason = UNLIKE
    if annotations:
        return (Steps(), reason) if reason else (uses, "")
    if "=" in line:
        raise ValueError("a computation without an annotation")
    for text in (found.rstrip(".") for found in NUMBER.findall(LEADING.sub("", line))):
        readings = _read_number(results, _value(text))
        is_known = any(reading.formula in reference.formulas for reading in readings)
        if not is_known and _value(text) not in reference.given:
            return Steps(), f"{text} comes from nowhere"
    return uses, ""


# Runs with labelled steps


def label_run(
    run: CandidateRun, model: str | None = None, rollouts: int = 0
) -> Iterator[dict[str, Any]]:
    """Yield the labelled completions of a run on fresh problems, or on any by roll-outs.

    model: the one that continues, as for `-m`, see `roll_out`. Of a row, first_wrong is the first
    wrong step from 0, NO_ERROR for none, None for undecided, and `reason` why. Raises InputError
    for problems that are not fresh, and if the model does not answer.
    """
    reached = roll_out(run, model, rollouts) if model else {}
    for problem, candidates in run.answered:
        reference = None if model else ReferenceSteps(problem)
        known: dict[str, StepLabels] = {}
        for each in candidates:
            if each.text not in known and reference is not None:
                known[each.text] = label_steps(each.text, problem, reference)
            elif each.text not in known:
                lines = split_steps(each.text)
                marks = [reached[problem.id, _begun(lines, end)] for end in range(1, len(lines))]
                marks.append(each.right)
                wrong = marks.index(False) if False in marks else NO_ERROR
                known[each.text] = StepLabels(lines, wrong, NOT_REACHED if False in marks else "")
            steps, first_wrong, reason = known[each.text]
            yield {
                "key": each.key, "problem_id": problem.id, "sample": each.sample,
                "question": problem.question, "steps": list(steps), "correct": each.right,
                "first_wrong": first_wrong, "reason": reason,
            }  # fmt: skip


def roll_out(run: CandidateRun, model: str, rollouts: int) -> dict[tuple[str, str], bool]:
    """Return whether a right answer was reached from each beginning, as in Math-Shepherd.

    A step is right if one of `rollouts` continuations of the text up to it reaches the right answer
    (the hard estimate of Wang et al. 2024, arXiv 2312.08935); the first that none continues rightly
    is the first wrong one. The model has the calculator, and the prompt of `openai/2021`.
    """
    begun = {
        (problem.id, written): (problem, Prompt(text=f"{problem.question}\n{written}"))
        for problem, candidates in run.answered
        for steps in (split_steps(each.text) for each in candidates)
        for written in (_begun(steps, end) for end in range(1, len(steps)))
    }
    decoding = Decoding(ROLL_OUT_TEMPERATURE, max_tokens=ROLL_OUT_TOKENS, seed=0)
    found = ask_model(model, list(begun.values()), rollouts, decoding, calculator=True)
    return {
        (id, written): any(judge(written + reply, problem, run.scorer).correct for reply in replies)
        for ((id, written), (problem, _)), replies in zip(begun.items(), found, strict=True)
    }


def _begun(steps: Sequence[str], end: int) -> str:
    return "\n".join([*steps[:end], ""])


def count_labels(rows: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """Return how many solutions are right, wrong and undecided."""
    counts: Counter[str] = Counter()
    for row in rows:
        counts["solutions"] += 1
        counts["steps"] += len(row["steps"])
        if row["first_wrong"] is None:
            counts["not decided"] += 1
        elif row["first_wrong"] == NO_ERROR:
            counts["without a wrong step"] += 1
        else:
            counts["with a wrong step"] += 1
            counts["with a wrong step and a right answer"] += row["correct"]
    return counts


def trl_row(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a row as TRL's stepwise supervision (docs/source/dataset_formats.md).

    It ends with the first wrong step; None for an undecided solution.
    """
    wrong, steps = row["first_wrong"], row["steps"]
    if wrong is None:
        return None
    marks = [True] * len(steps) if wrong == NO_ERROR else [*[True] * wrong, False]
    return {"prompt": row["question"], "completions": steps[: len(marks)], "labels": marks}
