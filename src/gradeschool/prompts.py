"""Prompts from templates: one text, one message, or chat turns with a prefix of the answer."""

import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from gradeschool.completion import Message, Prompt
from gradeschool.problem import MARKER, Problem

# Returns the rows of each problem's examples in their source: (problems, source, how many) -> rows.
Draw = Callable[[Sequence[Problem], Sequence[Problem], int], Iterator[Sequence[int]]]
FIELD = re.compile(r"\{([a-z ]+)\}")
QUESTION = "{question}"
CHAT_SYSTEM = (
    "Solve the following math problem step by step. "
    "End your answer with a last line of the form '#### N', where N is the final number alone."
)


def rationale(problem: Problem) -> str:
    """Return the reasoning of a solution, without its last line "#### N"."""
    return problem.solution.rpartition("\n####")[0]


def problem_fields(problem: Problem) -> dict[str, str]:
    """Return what a template may name: {question}, and for examples the parts of the solution.

    {reasoning}: the solution without its last line "#### N"; {steps}: the same without outer white
    space; {solution}: all of it; {gold}: N. {stripped question}, {stripped solution}: without outer
    white space.
    """
    return {
        "question": problem.question,
        "stripped question": problem.question.strip(),
        "reasoning": rationale(problem),
        "steps": problem.solution.rpartition(MARKER)[0].strip(),
        "solution": problem.solution,
        "stripped solution": problem.solution.strip(),
        "gold": problem.gold,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    r"""A prompt as data; called, it renders each problem with examples.

    question: the part that asks; holds "{question}" (see `problem_fields`). answer: the answer part
    of an example, behind its question; "" for prompts without examples. shot: the question part of
    an example where it is not `question`. opening: the text before the examples. joiner: between
    the examples, and before the question. form: "text"; "message": the same as one user message;
    "turns": each example is a user and an assistant turn. system: the system message; examples
    stand where it says "{shots}", and then in no other place. prefix: the start of the answer.
    rows: the examples as rows of their source, or a function that draws them for each problem; None
    for the first ones. count: how many, None for all. examples: used instead of a source. fields:
    instead of `problem_fields`.
    """

    question: str
    answer: str = ""
    shot: str = ""
    opening: str = ""
    joiner: str = "\n\n"
    form: Literal["text", "message", "turns"] = "text"
    system: str | None = None
    prefix: str | None = None
    rows: Draw | tuple[int, ...] | None = None
    count: int | None = None
    examples: tuple[Problem, ...] = ()
    fields: Callable[[Problem], Mapping[str, str]] = problem_fields

    def __call__(self, problems: Sequence[Problem], source: Sequence[Problem]) -> Iterator[Prompt]:
        """Yield the prompt of each problem; source: the examples to choose from."""
        source = self.examples or source
        asked = (self._fill(self.question, problem) for problem in problems)
        if not self.answer:
            yield from (self._prompt((), question) for question in asked)
        elif callable(self.rows):
            drawn = self.rows(problems, source, self.count or 0)
            for question, rows in zip(asked, drawn, strict=True):
                yield self._prompt([self._example(source[row]) for row in rows], question)
        else:
            rows = range(len(source)) if self.rows is None else self.rows
            examples = [self._example(source[row]) for row in rows[: self.count]]
            yield from (self._prompt(examples, question) for question in asked)

    def _fill(self, template: str, problem: Problem) -> str:
        fields = self.fields(problem)
        return FIELD.sub(lambda field: fields.get(field[1], field[0]), template)

    def _example(self, example: Problem) -> tuple[str, str]:
        return self._fill(self.shot or self.question, example), self._fill(self.answer, example)

    def _prompt(self, examples: Sequence[tuple[str, str]], question: str) -> Prompt:
        turns, blocks = list[Message](), list[str]()
        if self.form == "turns":
            turns = [Message(*turn) for pair in examples for turn in zip(ROLES, pair, strict=True)]
        else:
            blocks = [f"{before}{answer}" for before, answer in examples]
        system = self.system
        if system is not None and SHOTS in system:
            system, blocks = system.replace(SHOTS, self.joiner.join(blocks)), []
        text = (self.opening if blocks else "") + self.joiner.join([*blocks, question])
        if self.form == "text":
            return Prompt(text=text, prefix=self.prefix)
        head = () if system is None else (Message("system", system),)
        return Prompt(messages=(*head, *turns, Message("user", text)), prefix=self.prefix)


ROLES = ("user", "assistant")
SHOTS = "{shots}"


def draw_rows(seed: int, *, shuffled: bool = False, others: bool = False) -> Draw:
    """Return a draw from one random stream, by each problem in turn.

    shuffled: the stream first shuffles the problems, and then draws in that order. Without it, a
    run over the first problems gets the same examples; one in another order does not. others: one
    more is drawn, the problem itself is left out, and the first ones are kept.
    """

    def draw(
        problems: Sequence[Problem], source: Sequence[Problem], count: int
    ) -> Iterator[list[int]]:
        stream = random.Random(seed)  # noqa: S311  (reproduces a published draw)
        order = list(range(len(problems)))
        if shuffled:
            stream.shuffle(order)
        drawn = {place: stream.sample(range(len(source)), count + others) for place in order}
        for place, problem in enumerate(problems):
            kept = (row for row in drawn[place] if not others or source[row].id != problem.id)
            yield list(kept)[:count]

    return draw


def format_chat(
    question: str,
    system: str | None = CHAT_SYSTEM,
    shots: Sequence[tuple[str, str]] = (),
    prefix: str | None = None,
) -> list[dict[str, str]]:
    """Return chat messages for one question, ready for `tokenizer.apply_chat_template`.

    system: the system message, None for no system message. shots: (question, answer) examples, each
    a user and an assistant turn. prefix: the start of the assistant's answer, as a last assistant
    message (send it with `continue_final_message=True, add_generation_prompt=False`).
    """
    head = () if system is None else (Message("system", system),)
    turns = [Message(*turn) for pair in shots for turn in zip(ROLES, pair, strict=True)]
    return Prompt(messages=(*head, *turns, Message("user", question)), prefix=prefix).as_messages()


def prompt_bytes(prompt: Prompt) -> bytes:
    """Return the bytes that a prompt's SHA-256 covers: UTF-8 text, or its messages as JSON."""
    text = json.dumps(prompt.as_messages()) if prompt.text is None else prompt.text
    return text.encode("utf-8", "surrogatepass")


def prompt_json(prompt: Prompt) -> dict[str, Any]:
    """Return a prompt as JSON values."""
    if prompt.text is not None:
        return {"prompt": prompt.text}
    begun = {"continue_final_message": True} if prompt.prefix is not None else {}
    return {"messages": prompt.as_messages(), **begun}
