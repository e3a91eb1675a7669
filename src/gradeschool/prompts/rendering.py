"""The forms of prompts, and prompts as JSON values and bytes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from gradeschool.completion import Message, Prompt
from gradeschool.problem import Problem

CHAT_SYSTEM = (
    "Solve the following math problem step by step. "
    "End your answer with a last line of the form '#### N', where N is the final number alone."
)


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
    messages = [] if system is None else [Message("system", system)]
    messages += shots_as_turns(shots, question)
    if prefix is not None:
        messages.append(Message("assistant", prefix))
    return [message._asdict() for message in messages]


def messages(prompt: Prompt) -> list[dict[str, str]]:
    """Return the messages of a chat as they are sent; a prefix is the last of them."""
    turns = [message._asdict() for message in prompt.messages]
    if prompt.prefix is not None:
        turns.append({"role": "assistant", "content": prompt.prefix})
    return turns


def prompt_bytes(prompt: Prompt) -> bytes:
    """Return the bytes that a prompt's SHA-256 covers: UTF-8 text, or its messages as JSON."""
    text = json.dumps(messages(prompt)) if prompt.text is None else prompt.text
    return text.encode("utf-8", "surrogatepass")


def prompt_json(prompt: Prompt) -> dict[str, Any]:
    """Return a prompt as JSON values."""
    if prompt.text is not None:
        return {"prompt": prompt.text}
    begun = {"continue_final_message": True} if prompt.prefix is not None else {}
    return {"messages": messages(prompt), **begun}
