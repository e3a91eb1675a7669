"""Prompts as JSON values and as bytes."""

from __future__ import annotations

import json
from typing import Any

from gradeschool.completion import Prompt


def messages(prompt: Prompt) -> list[dict[str, str]]:
    """Return the messages of a chat as they are sent; a begun answer is the last of them."""
    turns = [message._asdict() for message in prompt.messages]
    if prompt.prefix is not None:
        turns.append({"role": "assistant", "content": prompt.prefix})
    return turns


def prompt_bytes(prompt: Prompt) -> bytes:
    """Return what a prompt's SHA-256 is of: its text in UTF-8, or its messages as JSON."""
    text = json.dumps(messages(prompt)) if prompt.text is None else prompt.text
    return text.encode("utf-8", "surrogatepass")


def prompt_json(prompt: Prompt) -> dict[str, Any]:
    """Return a prompt as JSON values."""
    if prompt.text is not None:
        return {"prompt": prompt.text}
    begun = {"continue_final_message": True} if prompt.prefix is not None else {}
    return {"messages": messages(prompt), **begun}
