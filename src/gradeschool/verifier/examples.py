"""Encode problems and solutions: the question, a line break, the solution, the end token."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from gradeschool.errors import InputError
from gradeschool.problem import Problem


class TrainingExample(NamedTuple):
    """Token ids of a question and its solution; the solution begins at `start`."""

    ids: list[int]
    start: int


class EncodedExamples(NamedTuple):
    """The examples of problems, and the ids of problems that are longer than the context."""

    examples: list[TrainingExample]
    too_long: list[str]


def encode(tokenizer: Any, question: str, solution: str) -> TrainingExample:
    """Return the ids of the question, a line break, the solution and the end token.

    The prompt's ids are those of the protocol `openai/2021`. The solution is tokenised after the
    prompt if that leaves the prompt's ids unchanged, otherwise separately.
    """
    prompt = f"{question}\n"
    before: list[int] = list(tokenizer(prompt)["input_ids"])
    if before and before[-1] == tokenizer.eos_token_id:
        before.pop()  # some tokenizers add an end token to every text
    together: list[int] = list(tokenizer(prompt + solution)["input_ids"])
    if together[: len(before)] == before:
        after = together[len(before) :]
    else:
        after = list(tokenizer(solution, add_special_tokens=False)["input_ids"])
    if not after or after[-1] != tokenizer.eos_token_id:
        after.append(tokenizer.eos_token_id)
    return TrainingExample(before + after, len(before))


def encode_problems(
    tokenizer: Any, problems: Iterable[Problem], context: int | None = None
) -> EncodedExamples:
    """Encode problems; those that do not fit into the context are left out and listed.

    Raises InputError if no problem is left.
    """
    kept, too_long, most = [], [], 0
    for problem in problems:
        example = encode(tokenizer, problem.question, problem.solution)
        most = max(most, len(example.ids))
        if context is not None and len(example.ids) > context:
            too_long.append(problem.id)
        else:
            kept.append(example)
    if not kept:
        raise InputError(
            f"there is no example to train on: the longest of {len(too_long)} has {most} tokens, "
            f"the model's context {context!r}; give another dataset or a model of more context"
        )
    return EncodedExamples(kept, too_long)


def training_texts(problems: Sequence[Problem]) -> list[str]:
    """Return the training texts of a new tokenizer."""
    return [f"{problem.question}\n{problem.solution}" for problem in problems]


class QuestionSolution(NamedTuple):
    """A question and one solution; `finished`: the solution ended before the token limit."""

    question: str
    solution: str
    finished: bool = True


class SolutionScore(NamedTuple):
    """A verifier's scores of a solution.

    values: at each of its tokens, including the end token if it finished. score: of the solution,
    the last value or a reduction of the values at the ends of steps. tokens: their ids.
    """

    values: list[float]
    score: float
    tokens: list[int]


class SolutionTokens(NamedTuple):
    """The tokens of a question and of a solution."""

    question: tuple[int, ...]
    solution: tuple[int, ...]


def texts_of(tokenizer: Any, pairs: Sequence[QuestionSolution]) -> list[SolutionTokens]:
    """Return the tokens of pairs; an unfinished solution has no end token."""
    by_question: dict[str, list[QuestionSolution]] = {}
    for pair in dict.fromkeys(pairs):
        by_question.setdefault(pair.question, []).append(pair)
    texts: dict[QuestionSolution, SolutionTokens] = {}
    for question, same_question in by_question.items():
        examples = encode_all(tokenizer, question, [pair.solution for pair in same_question])
        for pair, (ids, start) in zip(same_question, examples, strict=True):
            end = len(ids) if pair.finished or len(ids) - start < 2 else -1
            texts[pair] = SolutionTokens(tuple(ids[:start]), tuple(ids[start:end]))
    return [texts[pair] for pair in pairs]


class StepTokens(NamedTuple):
    """The tokens of a question and of a solution's steps; ends: where each step ends (past it)."""

    text: SolutionTokens
    ends: tuple[int, ...]


def encode_steps(tokenizer: Any, question: str, steps: Sequence[str]) -> StepTokens:
    """Return a solution by steps, each ended by a line break, then the end token.

    As in training, the last step has no line break, and the end token belongs to it. A step without
    tokens has the same end as the previous step.
    """
    prompt, start = encode(tokenizer, question, "")
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
    return StepTokens(SolutionTokens(tuple(prompt[:start]), tuple(ids)), tuple(ends))


def step_ends(tokenizer: Any, question: str, solution: str, tokens: Sequence[int]) -> list[int]:
    """Return the ends of the steps of a solution among its tokens (past their last tokens).

    A step is a non-empty line with its line break; a token that goes on past the line break belongs
    to it. The last step ends with the solution. tokens: of the solution, as by `texts_of`.
    """
    lines = solution.split("\n")
    text, ends = encode_steps(tokenizer, question, lines)
    if text.solution[: len(tokens)] != tuple(tokens):  # lines alone have other tokens
        ends = _line_ends(tokenizer, tokens, len(lines))
    kept = [min(end, len(tokens)) for end, line in zip(ends, lines, strict=True) if line.strip()]
    return [*kept[:-1], len(tokens)]


def _line_ends(tokenizer: Any, tokens: Sequence[int], count: int) -> tuple[int, ...]:
    """Return for each of the lines how many tokens it takes to write it with its line break."""

    def line_breaks(size: int) -> int:
        return str(tokenizer.decode(list(tokens[:size]))).count("\n")

    sizes = range(len(tokens) + 1)
    ends = [bisect_left(sizes, number, key=line_breaks) for number in range(1, count)]
    return (*ends, len(tokens))


def encode_all(tokenizer: Any, question: str, solutions: Sequence[str]) -> list[TrainingExample]:
    """Return the result of `encode` for each solution, with one call of the tokenizer."""
    first = encode(tokenizer, question, solutions[0])
    before, end = first.ids[: first.start], tokenizer.eos_token_id
    examples = [first]
    if len(solutions) > 1:
        rest = tokenizer([f"{question}\n{solution}" for solution in solutions[1:]])["input_ids"]
        for solution, ids in zip(solutions[1:], rest, strict=True):
            if list(ids[: len(before)]) != before:
                examples.append(encode(tokenizer, question, solution))
                continue
            closed = list(ids) if len(ids) > len(before) and ids[-1] == end else [*ids, end]
            examples.append(TrainingExample(closed, len(before)))
    return examples
