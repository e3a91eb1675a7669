"""The training data of a verifier: the completions of a run, labelled by their final answers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from gradeschool.atomic import write_file
from gradeschool.datasets.step_labels import NO_ERROR
from gradeschool.errors import InputError
from gradeschool.percentages import percent
from gradeschool.verifier.candidates import CandidateRun, ProblemCandidates
from gradeschool.verifier.examples import QuestionSolution, encode, step_ends, texts_of
from gradeschool.verifier.process_labels import ReferenceSteps, label_steps

LABELS_FILE = "labels.jsonl"
# The texts of the language loss in joint training: reference solutions, or right samples.
Language = Literal["reference", "right"]


class Labels(NamedTuple):
    """Counts of the labels of a run's completions.

    solved: problems with a right completion. mixed: problems with right and wrong ones. different:
    distinct texts, by problem.
    """

    problems: int
    completions: int
    right: int
    solved: int
    mixed: int
    different: int

    def as_json(self) -> dict[str, float]:
        """Return the counts, and the share of right completions."""
        return {**self._asdict(), "right_share": self.right / max(1, self.completions)}


def count_labels(answered: Sequence[ProblemCandidates]) -> Labels:
    """Count the labels of completions."""
    right = [sum(candidate.right for candidate in each.candidates) for each in answered]
    sizes = [len(each.candidates) for each in answered]
    return Labels(
        problems=len(answered),
        completions=sum(sizes),
        right=sum(right),
        solved=sum(map(bool, right)),
        mixed=sum(0 < candidate < size for candidate, size in zip(right, sizes, strict=True)),
        different=sum(len({candidate.text for candidate in each.candidates}) for each in answered),
    )


def in_words(labels: Labels) -> str:
    """Return the counts in one line."""
    share = percent(labels.right / max(1, labels.completions), 1)
    return (
        f"{labels.completions:,} completions of {labels.problems:,} problems, {labels.different:,} "
        f"of them different, {share} right; {labels.solved:,} problems solved at least once, "
        f"{labels.mixed:,} mixed"
    )


def write_labels(sampled: CandidateRun) -> None:
    """Write labels.jsonl into a run folder: one row per completion, with its answer."""
    rows = [
        {
            "key": candidate.key,
            "problem_id": answered.problem.id,
            "sample": candidate.sample,
            "label": "correct" if candidate.right else "wrong",
            "answer": candidate.answer,
        }
        for answered in sampled.answered
        for candidate in answered.candidates
    ]
    body = "".join(f"{json.dumps(row)}\n" for row in rows)
    write_file(sampled.path / LABELS_FILE, body.encode())


# The target of a solution's values: its final answer, or its first wrong step.
Supervision = Literal["outcome", "process"]


class LabelledSolution(NamedTuple):
    """A sampled solution: its tokens, whether it is right, and how often it was drawn.

    ends: of its steps (past their last tokens). wrong_from: the token from which its values should
    be 0; None means the first token if the solution is not right. logprob: of the solution (nats)
    under the initial model of a training by preference.
    """

    ids: Sequence[int]
    right: bool
    drawn: int = 1
    ends: Sequence[int] = ()
    wrong_from: int | None = None
    logprob: float = 0.0

    @property
    def right_tokens(self) -> int:
        """Return the number of tokens from the start with the target 1."""
        if self.wrong_from is not None:
            return self.wrong_from
        return len(self.ids) if self.right else 0


class SolutionGroup(NamedTuple):
    """Solutions of one question.

    reference: its reference solution, if used for the language loss. learn_right: use each right
    solution once for the language loss.
    """

    question: Sequence[int]
    solutions: Sequence[LabelledSolution]
    reference: Sequence[int] | None = None
    learn_right: bool = False


class LabelledGroups(NamedTuple):
    """The groups of all problems, and the ids of problems without one.

    too_long: no solution fits into the context. undecided: no solution has a decided first wrong
    step.
    """

    groups: Sequence[SolutionGroup]
    too_long: Sequence[str]
    undecided: Sequence[str] = ()


def groups_of(
    sampled: CandidateRun,
    tokenizer: Any,
    context: int | None,
    language: Language | None,
    supervision: Supervision = "outcome",
) -> LabelledGroups:
    """Return one group per problem: its distinct solutions with counts, and the language data.

    Solutions longer than the context are left out, also those without a decided step if
    `supervision` is "process", and problems without remaining solutions. Raises InputError if
    nothing remains, if all labels are the same, or for process labels of problems that are not
    fresh.
    """
    groups: list[SolutionGroup] = []
    too_long: list[str] = []
    undecided: list[str] = []
    for answered in sampled.answered:
        solutions = _solutions(answered, tokenizer, supervision)
        group = _group(answered, solutions, tokenizer, context, language)
        if not solutions:
            undecided.append(answered.problem.id)
        elif group is None:
            too_long.append(answered.problem.id)
        else:
            groups.append(group)
    labels = {solution.right for group in groups for solution in group.solutions}
    if len(labels) < 2:
        unused = "undecided" if undecided and not too_long else "too long"
        labelled = "all right" if True in labels else "all wrong" if labels else f"all {unused}"
        raise InputError(
            f"the completions of {str(sampled.path)!r} are {labelled}; a verifier learns from "
            "right and wrong ones: sample more, at a higher temperature, or from another generator"
        )
    return LabelledGroups(groups, too_long, undecided)


def _solutions(
    answered: ProblemCandidates, tokenizer: Any, supervision: Supervision
) -> list[LabelledSolution]:
    """Return a problem's distinct solutions with counts and the labels of the supervision."""
    question = answered.problem.question
    reference = ReferenceSteps(answered.problem) if supervision == "process" else None
    drawn = Counter((candidate.text, candidate.finished) for candidate in answered.candidates)
    right = {candidate.text: candidate.right for candidate in answered.candidates}
    pairs = [QuestionSolution(question, text, finished) for text, finished in drawn]
    solutions = []
    for pair, text in zip(pairs, texts_of(tokenizer, pairs), strict=True):
        count = drawn[pair.solution, pair.finished]
        ends = step_ends(tokenizer, question, pair.solution, text.solution)
        wrong_from = None
        if reference is not None:
            labels = label_steps(pair.solution, answered.problem, reference)
            if labels.first_wrong is None:
                continue
            wrong_from = len(text.solution)
            if labels.first_wrong != NO_ERROR:
                wrong_from = ends[labels.first_wrong - 1] if labels.first_wrong else 0
        is_right = right[pair.solution] if wrong_from is None else wrong_from == len(text.solution)
        solutions.append(LabelledSolution(text.solution, is_right, count, ends, wrong_from))
    return solutions


def _group(
    answered: ProblemCandidates,
    labelled: Sequence[LabelledSolution],
    tokenizer: Any,
    context: int | None,
    language: Language | None,
) -> SolutionGroup | None:
    ids, start = encode(tokenizer, answered.problem.question, answered.problem.solution)
    most = None if context is None else context - start
    solutions = [each for each in labelled if most is None or len(each.ids) <= most]
    if not solutions:
        return None
    reference = tuple(ids[start:][:most]) if language == "reference" else None
    return SolutionGroup(ids[:start], solutions, reference, learn_right=language == "right")
