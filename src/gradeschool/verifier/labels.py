"""What a verifier learns from: the completions of a run, labelled by their final answers alone."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from gradeschool.atomic import write_file
from gradeschool.errors import InputError
from gradeschool.verifier.candidates import CandidateRun, ProblemCandidates
from gradeschool.verifier.examples import QuestionSolution, encode, texts_of

LABELS_FILE = "labels.jsonl"
# What a joint training learns the language of: reference solutions, or samples that are right.
Language = Literal["reference", "right"]


class Labels(NamedTuple):
    """How the completions of a run are labelled.

    solved: problems with a right completion. mixed: with right and wrong ones. different: texts
    that differ from the others of their problem.
    """

    problems: int
    completions: int
    right: int
    solved: int
    mixed: int
    different: int

    def as_json(self) -> dict[str, float]:
        """Return the counts, and the share that is right."""
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
    """Return labels in one line."""
    share = 100 * labels.right / max(1, labels.completions)
    return (
        f"{labels.completions:,} completions of {labels.problems:,} problems, {labels.different:,} "
        f"of them different, {share:.1f} % right; {labels.solved:,} problems solved at least once, "
        f"{labels.mixed:,} mixed"
    )


def write_labels(sampled: CandidateRun) -> None:
    """Write labels.jsonl into a run folder: a row for each completion, with its answer."""
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


class LabelledSolution(NamedTuple):
    """A sampled solution: its tokens, whether its final answer is right, how often it was drawn."""

    ids: Sequence[int]
    right: bool
    drawn: int = 1


class SolutionGroup(NamedTuple):
    """Solutions of one question.

    reference: its reference solution, where that is language data. learn_right: the solutions that
    are right are language data, each once.
    """

    question: Sequence[int]
    solutions: Sequence[LabelledSolution]
    reference: Sequence[int] | None = None
    learn_right: bool = False


class LabelledGroups(NamedTuple):
    """The groups of all problems, and the ids of problems that have none within the context."""

    groups: Sequence[SolutionGroup]
    too_long: Sequence[str]


def groups_of(
    sampled: CandidateRun, tokenizer: Any, context: int | None, language: Language | None
) -> LabelledGroups:
    """Return a group for each problem: its different solutions, counted, and the language data.

    Solutions longer than the context are left out, and problems of which nothing remains. Raises
    InputError where that is all of them, or where all labels are the same.
    """
    groups: list[SolutionGroup] = []
    too_long: list[str] = []
    for answered in sampled.answered:
        group = _group(answered, tokenizer, context, language)
        if group is None:
            too_long.append(answered.problem.id)
        else:
            groups.append(group)
    labels = {solution.right for group in groups for solution in group.solutions}
    if len(labels) < 2:
        labelled = "all right" if True in labels else "all wrong" if labels else "all too long"
        raise InputError(
            f"the completions of {str(sampled.path)!r} are {labelled}; a verifier learns from "
            "right and wrong ones: sample more, at a higher temperature, or from another generator"
        )
    return LabelledGroups(groups, too_long)


def _group(
    answered: ProblemCandidates, tokenizer: Any, context: int | None, language: Language | None
) -> SolutionGroup | None:
    problem = answered.problem
    drawn = Counter((candidate.text, candidate.finished) for candidate in answered.candidates)
    right = {candidate.text: candidate.right for candidate in answered.candidates}
    pairs = [QuestionSolution(problem.question, text, finished) for text, finished in drawn]
    texts = texts_of(tokenizer, pairs)
    question = texts[0].question
    most = None if context is None else context - len(question)
    solutions = [
        LabelledSolution(text.solution, right[pair.solution], drawn[pair.solution, pair.finished])
        for pair, text in zip(pairs, texts, strict=True)
        if most is None or len(text.solution) <= most
    ]
    if not solutions:
        return None
    reference = None
    if language == "reference":
        ids, start = encode(tokenizer, problem.question, problem.solution)
        reference = tuple(ids[start:][:most])
    return SolutionGroup(question, solutions, reference, learn_right=language == "right")
