"""Whether a penalty on repetition acts that nobody asked for.

llama-cpp-python's server has one by default (1.1), vLLM and `transformers serve` take one from the
model's generation_config.json. It changes greedy texts.
"""

from __future__ import annotations

from typing import Any

from gradeschool.models.fields import NEUTRAL
from gradeschool.models.probe import QUESTION, Finding, Forms, Probe, State

# A text in which a penalty on repetition shows, if the model's own words do not.
REPETITIVE = "one one one one two two two two one one one one two two two two one one one one"
PENALTIES = ("presence_penalty", "frequency_penalty", "repetition_penalty", "repeat_penalty")
ON_REPETITION = {"repetition_penalty", "repeat_penalty"}
NAME = "hidden penalty"


async def hidden_penalty(probe: Probe, forms: Forms) -> Finding:
    """Return whether greedy texts are others once every penalty is turned off by name."""
    off = await _accepted(probe, forms)
    if not off:
        says = "not known: no field that turns a penalty off is accepted"
        return Finding(NAME, State.UNKNOWN, says)
    for form, greedy in zip((probe.chat, probe.complete), forms, strict=True):
        if greedy is None:
            continue
        for text in (QUESTION, REPETITIVE):
            plain = greedy if text == QUESTION else await form(text)
            if (await form(text, **off)).text == plain.text:
                continue
            if (await form(text)).text != plain.text:
                says = "not known: the text changes by itself"
                return Finding(NAME, State.UNKNOWN, says)
            says = "a penalty acts on greedy decoding unless it is turned off; runs turn it off"
            return Finding(NAME, State.DEVIATES, says)
    if not ON_REPETITION & set(off):
        says = "not known: no field that turns a penalty on repetition off is accepted"
        return Finding(NAME, State.UNKNOWN, says)
    return Finding(NAME, State.FINE, "no penalty acts unless it is asked for")


async def _accepted(probe: Probe, forms: Forms) -> dict[str, Any]:
    """Return the fields that the server takes, each with the value that turns it off."""
    ask = probe.complete if forms.completion is not None else probe.chat
    off: dict[str, Any] = {name: NEUTRAL[name] for name in PENALTIES}
    if (await ask(max_tokens=1, **off)).status == 200:
        return off
    return {
        name: value
        for name, value in off.items()
        if (await ask(max_tokens=1, **{name: value})).status == 200
    }
