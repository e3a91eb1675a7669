"""The data of trainings: questions and solutions as tokens, labels, and rows of a batch."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import product
from random import Random
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from gradeschool.datasets.step_labels import NO_ERROR
from gradeschool.errors import InputError
from gradeschool.percentages import percent
from gradeschool.problem import Problem
from gradeschool.verifier.candidates import CandidateRun, ProblemCandidates
from gradeschool.verifier.process_labels import ReferenceSteps, label_steps

MOST_PAIRS = 8  # of a problem's right and wrong solutions, for the pairwise loss
# The text of the language loss in joint training: reference solutions, or right samples.
Language = Literal["reference", "right"]
# The target of a solution's values: its final answer, or its first wrong step.
Supervision = Literal["outcome", "process"]
Objective = Literal["joint", "verification", "pairwise"]


class QuestionSolution(NamedTuple):
    """A question and one solution; `finished`: the solution ended before the token limit."""

    question: str
    solution: str
    finished: bool = True


class SolutionTokens(NamedTuple):
    """The tokens of a question and of a solution."""

    question: tuple[int, ...]
    solution: tuple[int, ...]


class StepTokens(NamedTuple):
    """The tokens of a question and of a solution's steps; ends: where each step ends (past it)."""

    text: SolutionTokens
    ends: tuple[int, ...]


def encode(tokenizer: Any, question: str, solution: str) -> SolutionTokens:
    """Return the tokens of the question with a line break, and of the solution with the end token.

    The question's tokens are those of the prompt of `openai/2021`, or a user's turn (`use_chat`).
    The solution is tokenised after the prompt if that leaves the prompt's tokens unchanged,
    otherwise separately.
    """
    prompt, end, is_chat = f"{question}\n", tokenizer.eos_token_id, uses_chat(tokenizer)
    if is_chat:  # the template has the first token
        turns = [{"role": "user", "content": question}]
        prompt = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
    more = {"add_special_tokens": False} if is_chat else {}
    before: list[int] = list(tokenizer(prompt, **more)["input_ids"])
    if before and before[-1] == end and not is_chat:
        before.pop()  # some tokenizers add an end token to every text
    together: list[int] = list(tokenizer(prompt + solution, **more)["input_ids"])
    if together[: len(before)] == before:
        after = together[len(before) :]
    else:
        after = list(tokenizer(solution, add_special_tokens=False)["input_ids"])
    if not after or after[-1] != end:
        after.append(end)
    return SolutionTokens(tuple(before), tuple(after))


def use_chat(tokenizer: Any, where: str) -> None:
    """Make a tokenizer read questions as a user's turn; raises InputError without a template."""
    if not tokenizer.chat_template:
        raise InputError(
            f"the tokenizer in {where!r} has no chat template, which --chat needs; leave it out"
        )
    tokenizer.reads_chat = True


def uses_chat(tokenizer: Any) -> bool:
    """Return whether a tokenizer reads questions as a user's turn."""
    return bool(getattr(tokenizer, "reads_chat", False))


def encode_pairs(tokenizer: Any, pairs: Sequence[QuestionSolution]) -> list[SolutionTokens]:
    """Return the tokens of pairs; an unfinished solution has no end token."""
    by_question: dict[str, dict[QuestionSolution, SolutionTokens]] = {}
    for pair in pairs:
        known = by_question.setdefault(pair.question, {})
        if pair in known:
            continue
        text = encode(tokenizer, pair.question, pair.solution)
        if not pair.finished and len(text.solution) > 1:
            text = SolutionTokens(text.question, text.solution[:-1])
        known[pair] = text
    return [by_question[pair.question][pair] for pair in pairs]


def encode_steps(tokenizer: Any, question: str, steps: Sequence[str]) -> StepTokens:
    """Return a solution by steps, each ended by a line break, then the end token.

    As in training, the last step has no line break, and the end token belongs to it. A step without
    tokens has the same end as the previous step.
    """
    ids: list[int] = []
    ends = []
    for number, step in enumerate(steps, start=1):
        text = step if number == len(steps) else f"{step}\n"
        tokens = list(tokenizer(text, add_special_tokens=False)["input_ids"])
        if tokens and tokens[-1] == tokenizer.eos_token_id:
            tokens.pop()  # some tokenizers add an end token to every text
        ids += tokens
        ends.append(len(ids))
    ids.append(tokenizer.eos_token_id)
    ends[-1:] = [len(ids)]
    before = encode(tokenizer, question, "").question
    return StepTokens(SolutionTokens(before, tuple(ids)), tuple(ends))


def step_ends(tokenizer: Any, question: str, solution: str, tokens: Sequence[int]) -> list[int]:
    """Return the ends of the steps of a solution among its tokens (past their last tokens).

    A step is a non-empty line with its line break; a token that goes on past the line break belongs
    to it. The last step ends with the solution. tokens: of the solution, as by `encode_pairs`.
    """
    lines = solution.split("\n")
    text, ends = encode_steps(tokenizer, question, lines)
    if text.solution[: len(tokens)] != tuple(tokens):  # lines alone have other tokens

        def line_breaks(size: int) -> int:
            return str(tokenizer.decode(list(tokens[:size]))).count("\n")

        sizes = range(len(tokens) + 1)
        breaks = (bisect_left(sizes, line, key=line_breaks) for line in range(1, len(lines)))
        ends = (*breaks, len(tokens))
    kept = [min(end, len(tokens)) for end, line in zip(ends, lines, strict=True) if line.strip()]
    return [*kept[:-1], len(tokens)]


@runtime_checkable
class StepReader(Protocol):
    """A model that scores the steps of solutions: a published reward model, a server, a critic."""

    name: str

    def step_scores(
        self, solutions: Sequence[tuple[str, Sequence[str]]], last_only: bool = False
    ) -> list[list[float]]:
        """Return a score for each step of each solution (its question, its steps).

        last_only: only the last step's score is used, so that others may be left out.
        """


# Labels


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

    def __str__(self) -> str:
        """Return the counts in one line."""
        share = percent(self.right / max(1, self.completions), 1)
        return (
            f"{self.completions:,} completions of {self.problems:,} problems, {self.different:,} "
            f"of them different, {share} right; {self.solved:,} problems solved at least once, "
            f"{self.mixed:,} mixed"
        )


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


# Rows of a batch


class TrainingRow(NamedTuple):
    """A question with a solution, which begins at `start`, and what is learnt from it.

    drawn: how often the solution was sampled, its weight in the verification loss; 0 for none.
    right_tokens: number of solution tokens whose value should be 1; the rest should be 0. ends: of
    the steps among the solution's tokens. speaks_from: first token of the language loss, None for
    none. logprob: of the solution (nats) under the initial model, for the pairwise loss.
    """

    ids: tuple[int, ...]
    start: int
    drawn: int = 0
    right_tokens: int = 0
    ends: tuple[int, ...] = ()
    speaks_from: int | None = None
    logprob: float = 0.0

    @property
    def text(self) -> SolutionTokens:
        """Return question and solution."""
        return SolutionTokens(self.ids[: self.start], self.ids[self.start :])

    @property
    def is_right(self) -> bool:
        """Return whether every token's value should be 1."""
        return self.right_tokens >= len(self.ids) - self.start


# What is learnt from together: one solution, with its reference solution, or a pair.
Item = tuple[TrainingRow, ...]


class TrainingItems(NamedTuple):
    """The items of a training, and the ids of problems that gave none.

    too_long: longer than the model's context. undecided: without a decided first wrong step.
    """

    items: list[Item]
    too_long: list[str]
    undecided: list[str] = []  # noqa: RUF012  (never changed)


def language_items(
    tokenizer: Any, problems: Iterable[Problem], context: int | None, whole: bool
) -> TrainingItems:
    """Return the items of a fine-tuning. whole: learn the question too.

    Raises InputError if no problem fits into the context.
    """
    items: list[Item] = []
    too_long: list[str] = []
    longest = 0
    for problem in problems:
        question, solution = encode(tokenizer, problem.question, problem.solution)
        longest = max(longest, len(question) + len(solution))
        if context is not None and len(question) + len(solution) > context:
            too_long.append(problem.id)
            continue
        first = 1 if whole else len(question)
        items.append((TrainingRow(question + solution, len(question), speaks_from=first),))
    if not items:
        raise InputError(
            f"there is no example to train on: the longest of {len(too_long)} has {longest} "
            f"tokens, the model's context {context!r}; give another dataset or a model of more "
            "context"
        )
    return TrainingItems(items, too_long)


def verifier_items(
    sampled: CandidateRun,
    tokenizer: Any,
    context: int | None,
    *,
    objective: Objective = "joint",
    language: Language | None = "reference",
    supervision: Supervision = "outcome",
    seed: int = 0,
) -> TrainingItems:
    """Return the items of a verifier's training: one for each distinct solution, or each pair.

    language: with "reference", each solution comes with the problem's reference solution, so that
    language data and verifier data are mixed equally; with "right", right solutions are also
    language data. Raises InputError if all labels are the same, if nothing remains, or for process
    labels of problems that are not fresh.
    """
    items: list[Item] = []
    too_long: list[str] = []
    undecided: list[str] = []
    for answered in sampled.answered:
        rows = _solution_rows(answered, tokenizer, supervision)
        if not rows:
            undecided.append(answered.problem.id)
            continue
        rows = [row for row in rows if context is None or len(row.ids) <= context]
        if not rows:
            too_long.append(answered.problem.id)
        if objective == "pairwise":
            right = [row for row in rows if row.is_right]
            wrong = [row for row in rows if not row.is_right]
            pairs = list(product(right, wrong))
            Random(f"{seed}:{answered.problem.id}").shuffle(pairs)  # noqa: S311
            items += pairs[:MOST_PAIRS]
        elif language == "reference":
            problem = answered.problem
            question, solution = encode(tokenizer, problem.question, problem.solution)
            ids = (question + solution)[:context]
            reference = TrainingRow(ids, len(question), speaks_from=len(question))
            items += [(row, reference) for row in rows]
        elif language == "right":
            items += [(row._replace(speaks_from=row.start if row.is_right else None),)
                      for row in rows]  # fmt: skip
        else:
            items += [(row,) for row in rows]
    labels = {row.is_right for item in items for row in item if row.drawn}
    if len(labels) < 2:
        unused = "undecided" if undecided and not too_long else "too long"
        labelled = "all right" if True in labels else "all wrong" if labels else f"all {unused}"
        if objective == "pairwise" and not labels and not too_long and not undecided:
            labelled = "never right and wrong for the same problem"
        raise InputError(
            f"the completions of {str(sampled.path)!r} are {labelled}; a verifier learns from "
            "right and wrong ones: sample more, at a higher temperature, or from another generator"
        )
    return TrainingItems(items, too_long, undecided)


def _solution_rows(
    answered: ProblemCandidates, tokenizer: Any, supervision: Supervision
) -> list[TrainingRow]:
    """Return a problem's distinct solutions with their counts and labels."""
    question = answered.problem.question
    reference = ReferenceSteps(answered.problem) if supervision == "process" else None
    drawn = Counter((candidate.text, candidate.finished) for candidate in answered.candidates)
    right = {candidate.text: candidate.right for candidate in answered.candidates}
    pairs = [QuestionSolution(question, text, finished) for text, finished in drawn]
    rows = []
    for pair, text in zip(pairs, encode_pairs(tokenizer, pairs), strict=True):
        ends = step_ends(tokenizer, question, pair.solution, text.solution)
        tokens = len(text.solution)
        right_tokens = tokens if right[pair.solution] else 0
        if reference is not None:
            labels = label_steps(pair.solution, answered.problem, reference)
            if labels.first_wrong is None:
                continue
            right_tokens = tokens
            if labels.first_wrong != NO_ERROR:
                right_tokens = ends[labels.first_wrong - 1] if labels.first_wrong else 0
        count = drawn[pair.solution, pair.finished]
        ids, start = text.question + text.solution, len(text.question)
        rows.append(TrainingRow(ids, start, count, right_tokens, tuple(ends)))
    return rows
