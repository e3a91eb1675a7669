"""The few forms that prompts take, shared by the protocols."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gradeschool.completion import Message
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
    return joiner.join([*(f"{asked} {answered}" for asked, answered in shots), question])


def shots_as_turns(shots: Iterable[tuple[str, str]], question: str) -> tuple[Message, ...]:
    """Turn (user turn, assistant turn) examples and an open user turn into messages."""
    turns = [
        Message(role, content)
        for asked, answered in shots
        for role, content in (("user", asked), ("assistant", answered))
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
