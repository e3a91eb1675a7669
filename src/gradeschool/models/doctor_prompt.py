"""What a server makes of a chat before the model reads it: the template, and the first token."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradeschool.errors import ModelError
from gradeschool.models.fields import encoded
from gradeschool.models.probe import QUESTION, Answer, Finding, Forms, Probe, State

# Beside "/v1" where a server shows how it tokenizes: vLLM takes messages or a prompt, llama.cpp
# a text, which it makes of messages at another address.
TOKENIZE, TEMPLATE = "/tokenize", "/apply-template"
TURNS = [{"role": "user", "content": QUESTION}]


async def chat_template(probe: Probe, forms: Forms) -> Finding | None:
    """Return whether the chat form adds anything to the same words as a plain text."""
    if forms.chat is None:
        return None
    chat, plain = prompt_tokens(forms.chat), prompt_tokens(forms.completion)
    if chat is None or plain is None:
        says = "not known: no counts of both forms to compare"
        return Finding("chat template", State.UNKNOWN, says)
    if chat > plain:
        says = f"a chat template puts {chat - plain} tokens around a message"
        return Finding("chat template", State.FINE, says)
    says = "the chat form adds no token to a message: the model has no chat template"
    return Finding("chat template", State.DEVIATES, says)


async def first_token(probe: Probe, forms: Forms) -> Finding | None:
    """Return whether template and tokenizer both begin a chat, so that its first token comes twice.

    Only tokens as many as the server counted for the same chat are believed.
    """
    if forms.chat is None:
        return None
    tokens = await _chat_tokens(probe)
    if not tokens or len(tokens) != prompt_tokens(forms.chat):
        says = "not known: the server does not show the tokens of a chat"
        return Finding("double BOS", State.UNKNOWN, says)
    if tokens[:1] == tokens[1:2]:
        says = "a chat begins with its first token twice: the template writes it, the server again"
        return Finding("double BOS", State.DEVIATES, says)
    return Finding("double BOS", State.FINE, "a chat begins with its first token once")


def prompt_tokens(answer: Answer | None) -> int | None:
    """Return how many tokens of prompt a server counted."""
    usage = {} if answer is None else answer.body.get("usage")
    count = usage.get("prompt_tokens") if isinstance(usage, Mapping) else None
    return count if isinstance(count, int) else None


async def _chat_tokens(probe: Probe) -> list[Any]:
    """Return the tokens of a chat of one question, [] where the server does not show them."""
    root = probe.base.removesuffix("/v1")
    async with Probe(root, probe.model, probe._key, probe.seconds) as server:
        shown = await _told(server, TOKENIZE, model=probe.model, messages=TURNS)
        if not shown.get("tokens"):
            text = (await _told(server, TEMPLATE, messages=TURNS)).get("prompt")
            flags = {"add_special": True, "parse_special": True}
            shown = await _told(server, TOKENIZE, content=text, **flags) if text else {}
        probe.requests += server.requests
    tokens = shown.get("tokens")
    return tokens if isinstance(tokens, list) else []


async def _told(server: Probe, path: str, **fields: Any) -> Mapping[str, Any]:
    """Return what an address of a server answers, {} where there is no such address."""
    server.requests += 1
    try:
        told = await server.call("POST", path, encoded(fields))
    except ModelError:
        return {}
    return told if isinstance(told, Mapping) else {}
