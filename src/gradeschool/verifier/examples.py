"""Problems as token ids: the question, a line break, the solution, the end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from gradeschool.errors import InputError
from gradeschool.problem import Problem


class Example(NamedTuple):
    """Token ids of a question and its solution; the solution begins at `start`."""

    ids: list[int]
    start: int


class Encoded(NamedTuple):
    """The examples of problems, and the ids of the problems that are longer than the context."""

    examples: list[Example]
    too_long: list[str]


def encode(tokenizer: Any, question: str, solution: str) -> Example:
    """Return the ids of the question, a line break, the solution and the end token.

    The prompt's ids are those that the protocol `openai/2021` sends. The solution is tokenised
    with the prompt before it where that leaves the prompt's ids as they are, alone otherwise.
    """
    prompt = f"{question}\n"
    before: list[int] = list(tokenizer(prompt)["input_ids"])
    if before and before[-1] == tokenizer.eos_token_id:
        before.pop()  # some tokenizers end every text
    together: list[int] = list(tokenizer(prompt + solution)["input_ids"])
    if together[: len(before)] == before:
        after = together[len(before) :]
    else:
        after = list(tokenizer(solution, add_special_tokens=False)["input_ids"])
    if not after or after[-1] != tokenizer.eos_token_id:
        after.append(tokenizer.eos_token_id)
    return Example(before + after, len(before))


def encode_problems(
    tokenizer: Any, problems: Iterable[Problem], context: int | None = None
) -> Encoded:
    """Encode problems; those that do not fit into the context are named, and left out.

    Raises InputError where no problem is left.
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
    return Encoded(kept, too_long)


def texts_of(problems: Sequence[Problem]) -> list[str]:
    """Return the texts that a new tokenizer is trained on."""
    return [f"{problem.question}\n{problem.solution}" for problem in problems]
