"""Problems as token ids: the question, a line break, the solution, the end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import Any, NamedTuple

from gradeschool.errors import InputError
from gradeschool.problem import Problem
from gradeschool.verifier.packing import Packed, pack


class TrainingExample(NamedTuple):
    """Token ids of a question and its solution; the solution begins at `start`."""

    ids: list[int]
    start: int


class Encoded(NamedTuple):
    """The examples of problems, and the ids of the problems that are longer than the context."""

    examples: list[TrainingExample]
    too_long: list[str]


def encode(tokenizer: Any, question: str, solution: str) -> TrainingExample:
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
    return TrainingExample(before + after, len(before))


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


def training_texts(problems: Sequence[Problem]) -> list[str]:
    """Return the texts that a new tokenizer is trained on."""
    return [f"{problem.question}\n{problem.solution}" for problem in problems]


class QuestionSolution(NamedTuple):
    """A question and a solution of it; `finished`: the solution ended by itself."""

    question: str
    solution: str
    finished: bool = True


class SolutionScore(NamedTuple):
    """What a verifier says of a solution.

    values: at each of its tokens, the end token included where it finished. last: the last of them,
    the solution's score. tokens: their ids. logprobs: of the solution's tokens by the generator,
    in its own tokens; None where none was asked.
    """

    values: list[float]
    last: float
    tokens: list[int]
    logprobs: list[float] | None = None

    @property
    def logprob(self) -> float | None:
        """Return the mean log-probability of the solution's tokens by the generator."""
        return sum(self.logprobs) / len(self.logprobs) if self.logprobs else None


class SolutionTokens(NamedTuple):
    """A solution's tokens behind its question's."""

    question: tuple[int, ...]
    solution: tuple[int, ...]


def texts_of(tokenizer: Any, pairs: Sequence[QuestionSolution]) -> list[SolutionTokens]:
    """Return the tokens of pairs; a solution that did not finish has no end token."""
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


def encode_all(tokenizer: Any, question: str, solutions: Sequence[str]) -> list[TrainingExample]:
    """Return what `examples.encode` does of each solution, in one call of the tokenizer."""
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


PASS_TOKENS = 8192


class ExampleBatches:
    """Batches of examples in an order that is new in every epoch and depends on the seed alone.

    An update has always `batch` examples (all, where there are fewer): one may take its last from
    the next epoch, and what does not fill an update at the very end is left out. It is computed in
    as few passes of at most `pass_tokens` tokens as there can be.
    """

    def __init__(
        self,
        examples: Sequence[TrainingExample],
        epochs: float,
        batch: int,
        seed: int = 0,
        *,
        whole: bool = False,
        pass_tokens: int = PASS_TOKENS,
    ) -> None:
        self.examples = examples
        self.batch = min(batch, len(examples))
        self.updates = max(1, int(epochs * len(examples)) // self.batch)
        self.seed = seed
        self.whole = whole
        self.pass_tokens = pass_tokens
        self._order: tuple[int, list[int]] = (-1, [])

    def __len__(self) -> int:
        """Return the number of updates."""
        return self.updates

    def epoch_ends(self) -> list[int]:
        """Return the number of the last update of each epoch, the end of the training included."""
        epochs = -(-self.updates * self.batch // len(self.examples))
        ends = [epoch * len(self.examples) // self.batch for epoch in range(1, epochs + 1)]
        return sorted({min(max(end, 1), self.updates) for end in ends})

    def update(self, number: int, processes: int) -> list[Packed]:
        """Return the passes of an update; raises InputError where processes would get nothing."""
        if processes > self.batch:
            raise InputError(
                f"a batch of {self.batch} examples is too small for {processes} processes; "
                "give a larger --batch or fewer processes"
            )
        first = number * self.batch
        chosen = [self._at(place) for place in range(first, first + self.batch)]
        parts = divided([len(example.ids) for example in chosen], processes, self.pass_tokens)
        return [pack([chosen[index] for index in part], self.whole) for part in parts]

    def _at(self, place: int) -> TrainingExample:
        """Return the example at a place of the endless stream of epochs."""
        epoch, offset = divmod(place, len(self.examples))
        if self._order[0] != epoch:
            order = list(range(len(self.examples)))
            Random(f"{self.seed}:{epoch}").shuffle(order)  # noqa: S311
            self._order = (epoch, order)
        return self.examples[self._order[1][offset]]


def divided(lengths: Sequence[int], processes: int, most: int) -> list[list[int]]:
    """Divide examples into passes of about the same length, a multiple of the processes.

    There are at least as many examples as processes. No pass has more than `most` tokens, unless
    there is no other way. Returns the indices.
    """
    passes = max(1, -(-sum(lengths) // (processes * most)))
    count = processes * min(passes, len(lengths) // processes)
    longest_first = sorted(range(len(lengths)), key=lambda index: (-lengths[index], index))
    while True:
        parts: list[list[int]] = [[] for _ in range(count)]
        sizes = [0] * count
        for index in longest_first:
            least = sizes.index(min(sizes))
            parts[least].append(index)
            sizes[least] += lengths[index]
        if max(sizes) <= most or count + processes > len(lengths):
            return parts
        count += processes
