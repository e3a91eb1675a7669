"""What a server really does, found out by about twenty-five small requests.

Servers accept fields that they ignore, fill in defaults that nobody asked for, and leave stop
strings in. Each probe here asks so that the answer shows it, and says what it means for a run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from urllib.parse import urlsplit

from gradeschool.errors import ModelError
from gradeschool.models.doctor_penalty import hidden_penalty
from gradeschool.models.doctor_prompt import chat_template, first_token, prompt_tokens
from gradeschool.models.endpoint import LOCAL_HOSTS, Endpoint
from gradeschool.models.probe import (
    CHAT,
    COMPLETIONS,
    QUESTION,
    Answer,
    Finding,
    Forms,
    Probe,
    State,
    first_choice,
)

NO_SUCH_MODEL = "gradeschool-no-such-model"
# The beginning of an answer that no model gives by itself.
STRANGE = "Purple hens counted"
LONG_WORDS, LONG_SECONDS = 200_000, 15.0


async def continues_prefix(endpoint: Endpoint) -> Finding:
    """Return whether a server continues an answer that the request begins; 2 or 3 requests."""
    async with Probe.like(endpoint) as probe:
        chat = await probe.chat()
        finding = await _prefix(probe, Forms(chat if chat.status == 200 else None, None))
    return finding or Finding("prefix", State.UNKNOWN, "the server has no chat form")


async def examine(probe: Probe) -> list[Finding]:
    """Return what a server does; raises ModelError where it cannot be asked at all."""
    chat, completion = await probe.chat(), await probe.complete()
    if chat.status != 200 and completion.status != 200:
        raise ModelError(
            "no answer",
            f"{probe.base} answers neither {CHAT} (HTTP {chat.status}) nor {COMPLETIONS} "
            f"(HTTP {completion.status}); check the address and the model {probe.model!r}",
        )
    forms = Forms(
        chat if chat.status == 200 else None, completion if completion.status == 200 else None
    )
    findings = [_forms(chat, completion), _usage(forms)]
    for name, look in PROBES.items():
        try:
            found = await look(probe, forms)
        except ModelError as error:
            found = Finding(name, State.UNKNOWN, f"no answer: {error}")
        if found is not None:
            findings.append(found)
    return findings


def _either(probe: Probe, forms: Forms) -> Callable[..., Awaitable[Answer]]:
    """Return how to ask in a form that the server has."""
    return probe.complete if forms.completion is not None else probe.chat


def _greedy(forms: Forms) -> str:
    answer = forms.completion or forms.chat
    return "" if answer is None else answer.text


def _forms(chat: Answer, completion: Answer) -> Finding:
    says = [
        f"{name} answered" if answer.status == 200 else f"{name} is refused (HTTP {answer.status})"
        for name, answer in (("chat", chat), ("completions", completion))
    ]
    fine = chat.status == completion.status == 200
    return Finding("forms", State.FINE if fine else State.DEVIATES, "; ".join(says))


def _usage(forms: Forms) -> Finding:
    counts = [
        (answer.body.get("usage") or {}).get("completion_tokens")
        for answer in forms
        if answer is not None
    ]
    if all(isinstance(count, int) and count > 0 for count in counts):
        return Finding("usage", State.FINE, "tokens are counted")
    return Finding("usage", State.DEVIATES, "tokens are not counted: cost is unknown")


async def _repeatable(probe: Probe, forms: Forms) -> Finding:
    again = await _either(probe, forms)()
    if again.text == _greedy(forms):
        return Finding("greedy", State.FINE, "temperature 0 gave the same text twice")
    return Finding("greedy", State.DEVIATES, "temperature 0 gave two texts: runs do not repeat")


async def _temperature(probe: Probe, forms: Forms) -> Finding:
    ask = _either(probe, forms)
    drawn = {(await ask(temperature=1.5, seed=seed)).text for seed in (1, 2, 3)}
    if len(drawn) > 1:
        return Finding("temperature", State.FINE, "temperature 1.5 gives different samples")
    says = "three samples at temperature 1.5 are one text: temperature or seed is ignored"
    return Finding("temperature", State.DEVIATES, says)


async def _seed(probe: Probe, forms: Forms) -> Finding:
    ask = _either(probe, forms)
    first, again = [(await ask(temperature=1.0, seed=11)).text for _ in range(2)]
    if first == again:
        return Finding("seed", State.FINE, "the same seed gives the same sample")
    return Finding("seed", State.DEVIATES, "the same seed gives two samples: it is ignored")


async def _several(probe: Probe, forms: Forms) -> Finding:
    answer = await _either(probe, forms)(n=2, temperature=1.0)
    if answer.choices == 2:
        return Finding("n", State.FINE, "n=2 gives two choices")
    got = f"HTTP {answer.status}" if answer.status != 200 else f"{answer.choices} choice"
    says = f"n=2 gives {got}; runs ask for one sample at a time"
    return Finding("n", State.DEVIATES, says)


async def _stop(probe: Probe, forms: Forms) -> Finding:
    text = _greedy(forms)
    words = [word for word in text.split(" ")[2:] if len(word) > 2 and word in text[5:]]
    if not words:
        return Finding("stop", State.UNKNOWN, "the greedy answer is too short to stop in it")
    stop = words[0]
    answer = await _either(probe, forms)(stop=[stop])
    if stop not in answer.text:
        if len(answer.text) < len(text):
            return Finding("stop", State.FINE, "stop strings end the text and are left out")
        return Finding("stop", State.UNKNOWN, "the text changed; nothing can be said")
    if answer.text.endswith(stop) or answer.text.rstrip().endswith(stop):
        says = "the stop string is left in the text; runs cut it off"
        return Finding("stop", State.DEVIATES, says)
    return Finding("stop", State.DEVIATES, "stop strings are ignored; runs cut the text themselves")


async def _limit(probe: Probe, forms: Forms) -> Finding:
    answer = await _either(probe, forms)(max_tokens=4)
    used = (answer.body.get("usage") or {}).get("completion_tokens")
    if used == 4 or (answer.finish == "length" and len(answer.text) < len(_greedy(forms))):
        return Finding("max_tokens", State.FINE, "max_tokens is obeyed, and named as the reason")
    says = f"max_tokens 4 gave {used} tokens and finish reason {answer.finish!r}"
    return Finding("max_tokens", State.DEVIATES, says)


async def _prefix(probe: Probe, forms: Forms) -> Finding | None:
    if forms.chat is None:
        return None
    text = forms.chat.text
    cut = text.find(" ", len(text) // 3)
    if cut <= 0:
        return Finding("prefix", State.UNKNOWN, "the greedy answer is too short to continue it")
    answer = await _continued(probe, text[:cut])
    if answer.status != 200:
        says = f"continue_final_message is refused (HTTP {answer.status}): no assistant prefix"
        return Finding("prefix", State.DEVIATES, says)
    if answer.text.strip()[:8] == text[cut:].strip()[:8]:
        return Finding("prefix", State.FINE, "continue_final_message is obeyed")
    # The model's own words may come again in a new turn; words that it would not say may not.
    if (await _continued(probe, STRANGE)).text.startswith(STRANGE):
        says = "continue_final_message is obeyed, the prefix is repeated; runs take it off"
        return Finding("prefix", State.DEVIATES, says)
    says = "continue_final_message is ignored: the model begins a new turn"
    return Finding("prefix", State.DEVIATES, says)


async def _continued(probe: Probe, prefix: str) -> Answer:
    turns = [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": prefix}]
    flags = {"continue_final_message": True, "add_generation_prompt": False}
    return await probe.ask(CHAT, messages=turns, **flags)


async def _logprobs(probe: Probe, forms: Forms) -> Finding:
    shapes = []
    if forms.completion is not None:
        answer = await probe.complete(logprobs=1, max_tokens=2)
        shapes.append(f"completions: {_shape(answer)}")
    if forms.chat is not None:
        answer = await probe.chat(logprobs=True, top_logprobs=1, max_tokens=2)
        shapes.append(f"chat: {_shape(answer)}")
    state = State.DEVIATES if any("absent" in shape for shape in shapes) else State.FINE
    return Finding("logprobs", state, "; ".join(shapes))


def _shape(answer: Answer) -> str:
    found = first_choice(answer.body).get("logprobs")
    if not isinstance(found, Mapping):
        return "absent"
    return "tokens with logprobs" if found.get("content") else "the legacy lists"


async def _model_name(probe: Probe, forms: Forms) -> Finding:
    own, probe.model = probe.model, NO_SUCH_MODEL
    try:
        answer = await _either(probe, forms)(max_tokens=1)
    finally:
        probe.model = own
    if answer.status != 200:
        return Finding("model name", State.FINE, f"an unknown model is HTTP {answer.status}")
    says = "an unknown model name is answered: a mistyped name goes unnoticed"
    return Finding("model name", State.DEVIATES, says)


async def _context(probe: Probe, forms: Forms) -> Finding:
    if urlsplit(probe.base).hostname not in LOCAL_HOSTS:
        says = "not asked of a server that may charge for it"
        return Finding("context limit", State.UNKNOWN, says)
    if any(answer and _of_transformers_serve(answer, probe.model) for answer in forms):
        says = "not asked: transformers serve takes any prompt, and is at work on it for long"
        return Finding("context limit", State.UNKNOWN, says)
    try:
        async with asyncio.timeout(LONG_SECONDS):
            answer = await _either(probe, forms)("egg " * LONG_WORDS, max_tokens=1)
    except TimeoutError:
        says = f"{LONG_WORDS:,} words are not refused within {LONG_SECONDS:g} s, nor answered"
        return Finding("context limit", State.UNKNOWN, says)
    if answer.status != 200:
        says = f"a prompt that is too long is HTTP {answer.status}"
        return Finding("context limit", State.FINE, says)
    if (prompt_tokens(answer) or 0) >= LONG_WORDS:
        says = f"{LONG_WORDS:,} words are read: the limit is higher"
        return Finding("context limit", State.UNKNOWN, says)
    says = f"{LONG_WORDS:,} words are answered: a prompt that is too long is cut silently"
    return Finding("context limit", State.DEVIATES, says)


def _of_transformers_serve(answer: Answer, model: str) -> bool:
    """Tell by the model's name, to which that server adds the revision."""
    return str(answer.body.get("model")).startswith(f"{model}@")


PROBES: Mapping[str, Callable[[Probe, Forms], Awaitable[Finding | None]]] = {
    "chat template": chat_template,
    "double BOS": first_token,
    "greedy": _repeatable,
    "hidden penalty": hidden_penalty,
    "temperature": _temperature,
    "seed": _seed,
    "n": _several,
    "stop": _stop,
    "max_tokens": _limit,
    "prefix": _prefix,
    "logprobs": _logprobs,
    "model name": _model_name,
    "context limit": _context,
}
