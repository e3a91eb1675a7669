"""Runs with labelled steps: exact labels or roll-outs, their counts, and the forms of trainers."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from gradeschool.completion import Decoding, Prompt
from gradeschool.datasets.step_labels import NO_ERROR
from gradeschool.errors import InputError, ModelError
from gradeschool.models.base import Request
from gradeschool.problem import Problem
from gradeschool.scoring.judge import judge
from gradeschool.verifier.data import CandidateRun
from gradeschool.verifier.process_labels import (
    NO_ANSWER,
    SAME_NUMBER,
    UNLIKE,
    WRONG_ANSWER,
    ReferenceSteps,
    StepLabels,
    label_steps,
    split_steps,
)

ROLL_OUTS_TOGETHER, ROLL_OUT_TOKENS = 16, 400
NOT_REACHED = "no roll-out reaches the right answer"
# Parts of reasons, for counting them.
KINDS = (
    UNLIKE,
    NOT_REACHED,
    "false arithmetic",
    "is copied as",
    "comes from nowhere",
    SAME_NUMBER,
    WRONG_ANSWER,
    NO_ANSWER,
    "cannot be read",
)


class LabelledStepsRow(NamedTuple):
    """A completion with the labels of its steps. right: whether its final answer is right."""

    key: str
    problem: Problem
    sample: int
    right: bool
    labels: StepLabels


def label_run(run: CandidateRun) -> Iterator[LabelledStepsRow]:
    """Yield the labelled completions of a run on fresh problems; raises InputError for others."""
    for problem, candidates in run.answered:
        reference = ReferenceSteps(problem)
        texts = dict.fromkeys(each.text for each in candidates)
        labels = {text: label_steps(text, problem, reference) for text in texts}
        for each in candidates:
            yield LabelledStepsRow(each.key, problem, each.sample, each.right, labels[each.text])


def label_counts(rows: Iterable[LabelledStepsRow]) -> dict[str, Any]:
    """Return how many solutions are right, wrong and undecided, and why."""
    outcomes: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for row in rows:
        labels = row.labels
        outcomes["solutions"] += 1
        outcomes["steps"] += len(labels.steps)
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


ROW_FORMS: Mapping[str, Callable[[LabelledStepsRow], dict[str, Any] | None]] = {
    "gradeschool": own_row,
    "trl": trl_row,
}


def format_lines(rows: Iterable[LabelledStepsRow], form: str) -> Iterator[str]:
    """Yield JSON lines in one of ROW_FORMS."""
    for fields in map(ROW_FORMS[form], rows):
        if fields is not None:
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
    from gradeschool.models.choose import choose_model

    prefixes: dict[tuple[str, str], tuple[Problem, str]] = {}  # by problem and steps so far
    for problem, candidates in run.answered:
        for steps in [split_steps(each.text) for each in candidates]:
            for end in range(1, len(steps)):
                written = "\n".join([*steps[:end], ""])
                prefixes[problem.id, written] = (problem, written)

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
    for problem, candidates in run.answered:
        for each in candidates:
            steps = split_steps(each.text)
            marks = [reached[problem.id, "\n".join([*steps[:end], ""])]
                     for end in range(1, len(steps))]  # fmt: skip
            wrong = [number for number, mark in enumerate([*marks, each.right]) if not mark]
            labels = StepLabels(steps, *((wrong[0], NOT_REACHED) if wrong else (NO_ERROR, "")))
            rows.append(LabelledStepsRow(each.key, problem, each.sample, each.right, labels))
    return rows
