"""The forms of prompts, and prompts as JSON values and bytes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gradeschool.completion import Message, Prompt
from gradeschool.problem import Problem
from gradeschool.protocol import Render

CHAT_SYSTEM = (
    "Solve the following math problem step by step. "
    "End your answer with a last line of the form '#### N', where N is the final number alone."
)


def question_text(template: str) -> Render:
    """Return a renderer of texts: the template with each question in place of "{question}"."""

    def render(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
        for problem in problems:
            yield Prompt(text=template.replace("{question}", problem.question))

    return render


def question_message(template: str, system: str | None = None) -> Render:
    """Return a renderer of chats: the template as the user message, after the system message."""
    head = () if system is None else (Message("system", system),)

    def render(problems: Sequence[Problem], shots: Sequence[Problem]) -> Iterator[Prompt]:
        for problem in problems:
            content = template.replace("{question}", problem.question)
            yield Prompt(messages=(*head, Message("user", content)))

    return render


def rationale(shot: Problem) -> str:
    """Return the reasoning of an example, without its last line "#### N"."""
    return shot.solution.rpartition("\n####")[0]


def shots_as_text(shots: Iterable[tuple[str, str]], question: str, joiner: str = "\n\n") -> str:
    """Join (question part, answer part) examples and an open question part into one text."""
    return joiner.join([*(f"{before} {answer}" for before, answer in shots), question])


def question_and_answer(shots: Iterable[tuple[str, str]], question: str) -> str:
    r"""Join (question, answer) examples and a question as "Question: ...\nAnswer: ..." blocks."""
    form = "Question: {}\nAnswer:"
    return shots_as_text(
        [(form.format(text), answer) for text, answer in shots], form.format(question)
    )


def concluded(shots: Iterable[Problem]) -> list[tuple[str, str]]:
    """Return (question, reasoning followed by "So the answer is N.") for each example.

    AI2's harnesses write the examples of Wei et al. this way (STD:GSM8k).
    """
    return [(shot.question, f"{rationale(shot)} So the answer is {shot.gold}.") for shot in shots]


def shots_as_turns(shots: Iterable[tuple[str, str]], question: str) -> tuple[Message, ...]:
    """Turn (user turn, assistant turn) examples and an open user turn into messages."""
    turns = [
        Message(role, content)
        for user, assistant in shots
        for role, content in (("user", user), ("assistant", assistant))
    ]
    return (*turns, Message("user", question))


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
    turns = (*head, *shots_as_turns(shots, question))
    return Prompt(messages=turns, prefix=prefix).as_messages()


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
