"""The fields of a request's body, and which of them a server refuses to know."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from gradeschool.completion import Decoding, Prompt

# Servers fill what a request leaves out from their own or the model's defaults: llama.cpp top_k 40
# and min_p 0.05, vLLM what generation_config.json says (a repetition penalty acts on greedy
# decoding too). These values are "off" for every server; one that knows no such field ignores it
# or names it in a 400 or 422, and is then asked without. OpenAI's own API has no other defaults.
NEUTRAL: Mapping[str, float] = {
    "presence_penalty": 0,
    "frequency_penalty": 0,
    "top_k": 0,
    "min_p": 0,
    "repetition_penalty": 1,
    "repeat_penalty": 1,
}
NEUTRAL_HOSTS = ("api.openai.com",)
LENGTH, NEW_LENGTH = "max_tokens", "max_completion_tokens"
REFUSAL = re.compile(
    r"unexpected|unrecogni[sz]ed|unknown|unsupported|not (?:supported|permitted|allowed)"
    r"|extra|forbidden|invalid|must be",
    re.IGNORECASE,
)


def neutral_for(base: str) -> dict[str, float]:
    """Return the neutral fields to send to a server at this address."""
    return {} if urlsplit(base).hostname in NEUTRAL_HOSTS else dict(NEUTRAL)


def body_of(
    model: str, prompt: Prompt, decoding: Decoding, sample: int, n: int, length: str
) -> dict[str, Any]:
    """Return the body that asks for n samples, the first of them numbered `sample`."""
    fields = {
        "temperature": decoding.temperature,
        "top_p": decoding.top_p,
        length: decoding.max_tokens,
        "stop": list(decoding.stop) or None,
        "seed": None if decoding.seed is None else decoding.seed + sample,
        "n": n if n > 1 else None,
    }
    sent = {name: value for name, value in fields.items() if value is not None}
    return {"model": model, **_prompt_fields(prompt), **sent}


def refused(raw: bytes, body: Mapping[str, Any]) -> set[str]:
    """Return the neutral fields of a body that the answer to it, a 400 or 422, refuses by name."""
    text = raw.decode("utf-8", "replace")
    if REFUSAL.search(text) is None:
        return set()
    return {name for name in NEUTRAL if name in body and name in text}


def _prompt_fields(prompt: Prompt) -> dict[str, Any]:
    if prompt.text is not None:
        return {"prompt": prompt.text}
    messages = [message._asdict() for message in prompt.messages]
    if prompt.prefix is None:
        return {"messages": messages}
    return {
        "messages": [*messages, {"role": "assistant", "content": prompt.prefix}],
        "continue_final_message": True,
        "add_generation_prompt": False,
    }


def encoded(body: Mapping[str, Any]) -> bytes:
    """Return the bytes of a body; ASCII, so that a lone surrogate in a question can be sent."""
    return json.dumps(body).encode()
