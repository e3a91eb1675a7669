"""Check what a server really does with about twenty-five small requests.

Servers accept fields that they ignore, fill in their own defaults, and leave stop strings in. Each
probe sends a request whose answer shows this, and says what it means for a run. Anything else is
unknown: a chat model often ends a plain text immediately, and such an answer shows nothing about
limits, stop strings and samples.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from gradeschool.errors import FatalModelError, ModelError, TransientError
from gradeschool.formats.samples import text_of
from gradeschool.models.base import Model
from gradeschool.models.endpoint import (
    LOCAL_HOSTS,
    STARTING_WAITS,
    Endpoint,
    is_status,
    with_retries,
)
from gradeschool.models.openai_api import NEUTRAL, OVERLOADED_STATUSES, classify, object_in
from gradeschool.protocol import Protocol

QUESTION = "A box holds 3 rows of 4 eggs. How many eggs are in 5 boxes? Work it out step by step."
# A text that reveals a repetition penalty if the model's own words do not.
REPETITIVE = "one one one one two two two two one one one one two two two two one one one one"
TOKENS = 48
CHAT, COMPLETIONS = "/chat/completions", "/completions"
NO_SUCH_MODEL = "gradeschool-no-such-model"
# A beginning that no model writes by itself.
STRANGE = "Purple hens counted"
LONG_WORDS, LONG_SECONDS = 200_000, 15.0
# A shorter greedy answer shows nothing about max_tokens 4, stop strings or sampling.
ENOUGH_WORDS = 8
TOO_SHORT = "not known: the model ends its answer after a few words"
CHANGES = "not known: the text changes between equal requests"
# Where to cut a text: within a line, so that a new token follows; preferably between words.
CUTS = re.compile(r"(?<=[a-z]) (?=[a-z])"), re.compile(r"(?<=\S) (?=\S)")
CONTINUE = {"continue_final_message": True, "add_generation_prompt": False}
PENALTIES = ("presence_penalty", "frequency_penalty", "repetition_penalty", "repeat_penalty")


class FindingState(StrEnum):
    """The result of a probe: as requested, different from the request, or unknown."""

    FINE = "fine"
    DEVIATES = "deviates"
    UNKNOWN = "unknown"


FINE, DEVIATES, UNKNOWN = FindingState.FINE, FindingState.DEVIATES, FindingState.UNKNOWN
Observation = tuple[FindingState, str]  # the state and words of a finding


class ServerFinding(NamedTuple):
    """The result of one probe: `name` is short and stable, `says` is a sentence for people."""

    name: str
    state: FindingState
    says: str

    @property
    def refuses(self) -> bool:
        """Whether the server does not do what was requested."""
        return self.state is DEVIATES


class ProbeAnswer(NamedTuple):
    """One answer of the server: its status and its object (empty unless 200)."""

    status: int
    body: Mapping[str, Any] = {}
    text: str = ""
    finish: str = ""

    @property
    def choices(self) -> Sequence[Any]:
        """Return the choices."""
        listed = self.body.get("choices")
        return listed if isinstance(listed, list) else ()

    def tokens(self, kind: str) -> int | None:
        """Return the server's count of "prompt" or "completion" tokens."""
        usage = self.body.get("usage")
        count = usage.get(f"{kind}_tokens") if isinstance(usage, Mapping) else None
        return count if isinstance(count, int) else None

    @property
    def is_short(self) -> bool:
        """Whether the text is too short to show anything."""
        return len(self.text.split()) < ENOUGH_WORDS


class Probe(Endpoint):
    """An endpoint for tests of individual fields; counts its requests.

    chat, plain: the greedy answers of both forms to QUESTION, once `forms` was called; None if the
    server does not have the form.
    """

    requests = 0
    chat: ProbeAnswer | None = None
    plain: ProbeAnswer | None = None

    async def ask(self, path: str, **fields: Any) -> ProbeAnswer:
        """Send one body without fields whose value is None. Raises ModelError as `complete` does.

        An overloaded server says nothing about its fields: the request is repeated, and in the end
        TransientError is raised.
        """
        body = {"model": self.model, "max_tokens": TOKENS, "temperature": 0, **fields}
        sent = {name: value for name, value in body.items() if value is not None}

        async def request() -> tuple[int, bytes]:
            self.requests += 1
            response = await self._send("POST", path, json.dumps(sent).encode())
            response.connection.close()
            if response.status in OVERLOADED_STATUSES:
                raise classify(response.status, response.headers, response.raw, self.base)
            return response.status, response.raw

        status, raw = await with_retries(request, STARTING_WAITS, is_status)
        if status in {401, 403}:
            raise ModelError(f"http {status}", f"{self.base} refuses the API key")
        if status != 200:
            return ProbeAnswer(status)
        reply = object_in(raw)
        choice = next(iter(ProbeAnswer(status, reply).choices), None)
        choice = choice if isinstance(choice, Mapping) else {}
        inside = (choice.get("message") or {}) if path == CHAT else choice
        text = text_of(inside.get("content" if path == CHAT else "text")) or ""
        return ProbeAnswer(status, reply, text, str(choice.get("finish_reason") or ""))

    async def in_chat(self, text: str = QUESTION, **fields: Any) -> ProbeAnswer:
        """Request a chat completion of one user message."""
        return await self.ask(CHAT, messages=[{"role": "user", "content": text}], **fields)

    async def in_text(self, text: str = QUESTION, **fields: Any) -> ProbeAnswer:
        """Request a completion of a text."""
        return await self.ask(COMPLETIONS, prompt=text, **fields)

    async def forms(self) -> Observation:
        """Ask in both forms; raises ModelError if the server answers neither."""
        chat, plain = await self.in_chat(), await self.in_text()
        self.chat = chat if chat.status == 200 else None
        self.plain = plain if plain.status == 200 else None
        if self.chat is None and self.plain is None:
            raise ModelError(
                "no answer",
                f"{self.base} answers neither {CHAT} (HTTP {chat.status}) nor {COMPLETIONS} "
                f"(HTTP {plain.status}); check the address and the model {self.model!r}",
            )
        says = [
            f"{name} {'answered' if answer.status == 200 else _refusal(answer)}"
            for name, answer in (("chat", chat), ("completions", plain))
        ]
        return FINE if self.chat and self.plain else DEVIATES, "; ".join(says)

    @property
    def greedy(self) -> ProbeAnswer:
        """Return the longer answer: a chat model often ends a plain text immediately."""
        there = [answer for answer in (self.plain, self.chat) if answer is not None]
        return max(there, key=lambda answer: len(answer.text.split()))

    @property
    def form(self) -> Callable[..., Awaitable[ProbeAnswer]]:
        """Return the method that asks in the form of the longer answer."""
        return self.in_chat if self.greedy is self.chat else self.in_text


def _refusal(answer: ProbeAnswer) -> str:
    return f"is refused (HTTP {answer.status})"


def _failed(answer: ProbeAnswer) -> Observation:
    return UNKNOWN, f"not known: a second request gives HTTP {answer.status}"


async def usage(probe: Probe) -> Observation:
    """Check whether tokens are counted."""
    there = [answer for answer in (probe.chat, probe.plain) if answer is not None]
    counts = [(answer.tokens("completion"), bool(answer.text)) for answer in there]
    if all(count is not None and count >= is_text for count, is_text in counts):
        return FINE, "tokens are counted"
    return DEVIATES, "tokens are not counted: cost is unknown"


async def chat_template(probe: Probe) -> Observation | None:
    """Check whether the chat form adds tokens to the same words as a plain text."""
    if probe.chat is None:
        return None
    chat = probe.chat.tokens("prompt")
    plain = None if probe.plain is None else probe.plain.tokens("prompt")
    if chat is None or plain is None:
        return UNKNOWN, "not known: no counts of both forms to compare"
    if chat > plain:
        return FINE, f"a chat template puts {chat - plain} tokens around a message"
    return DEVIATES, "the chat form adds no token to a message: the model has no chat template"


async def first_token(probe: Probe) -> Observation | None:
    """Check whether template and tokenizer do not both add the first token of a chat.

    vLLM tokenizes messages; llama.cpp a text, which another of its addresses makes from messages.
    Tokens are trusted only if their number equals the server's count for the same chat.
    """
    if probe.chat is None:
        return None
    turns = [{"role": "user", "content": QUESTION}]
    async with Probe(
        probe.base.removesuffix("/v1"), probe.model, probe._key, probe.seconds
    ) as server:

        async def posted(path: str, **fields: Any) -> Mapping[str, Any]:
            probe.requests += 1
            try:
                return await server.call("POST", path, json.dumps(fields).encode())
            except ModelError:
                return {}

        shown = await posted("/tokenize", model=probe.model, messages=turns)
        if not shown.get("tokens"):
            text = (await posted("/apply-template", messages=turns)).get("prompt")
            flags = {"add_special": True, "parse_special": True}
            shown = await posted("/tokenize", content=text, **flags) if text else {}
    tokens = shown.get("tokens")
    if not isinstance(tokens, list) or len(tokens) != probe.chat.tokens("prompt"):
        return UNKNOWN, "not known: the server does not show the tokens of a chat"
    if tokens[:1] == tokens[1:2]:
        says = "a chat begins with its first token twice: the template and the server both add it"
        return DEVIATES, says
    return FINE, "the first token of a chat appears once"


async def repeatable(probe: Probe) -> Observation:
    """Check whether temperature 0 gives the same text twice."""
    again = await probe.form()
    if again.status != 200:
        return _failed(again)
    if again.text != probe.greedy.text:
        return DEVIATES, "temperature 0 gave two texts: runs do not repeat"
    return (FINE, "temperature 0 gave the same text twice") if again.text else (UNKNOWN, TOO_SHORT)


async def hidden_penalty(probe: Probe) -> Observation:
    """Check whether greedy texts do not change when every penalty is explicitly turned off."""
    off = {name: NEUTRAL[name] for name in PENALTIES}
    if (await probe.form(max_tokens=1, **off)).status != 200:
        off = {
            name: value
            for name, value in off.items()
            if (await probe.form(max_tokens=1, **{name: value})).status == 200
        }
    if not off:
        return UNKNOWN, "not known: no field that turns a penalty off is accepted"
    for text in (QUESTION, REPETITIVE):
        plain = probe.greedy if text == QUESTION else await probe.form(text)
        neutral = await probe.form(text, **off)
        if failed := [answer for answer in (plain, neutral) if answer.status != 200]:
            return _failed(failed[0])
        if neutral.text != plain.text:
            again = await probe.form(text)
            if again.status != 200:
                return _failed(again)
            if again.text != plain.text:
                return UNKNOWN, CHANGES
            says = "a penalty affects greedy decoding unless it is turned off; runs turn it off"
            return DEVIATES, says
    if probe.greedy.is_short:
        return UNKNOWN, TOO_SHORT
    if not {"repetition_penalty", "repeat_penalty"} & off.keys():
        return UNKNOWN, "not known: no field that turns a penalty on repetition off is accepted"
    return FINE, "no penalty applies unless requested"


async def temperature(probe: Probe) -> Observation:
    """Check whether temperature 1.5 gives different samples."""
    drawn = [await probe.form(temperature=1.5, seed=seed) for seed in (1, 2, 3)]
    if refused := [answer for answer in drawn if answer.status != 200]:
        return DEVIATES, f"temperature 1.5 {_refusal(refused[0])}"
    if len({answer.text for answer in drawn}) > 1:
        return FINE, "temperature 1.5 gives different samples"
    if drawn[0].is_short:
        return UNKNOWN, TOO_SHORT
    return DEVIATES, "three samples at temperature 1.5 are one text: temperature or seed is ignored"


async def seed(probe: Probe) -> Observation:
    """Check whether the same seed gives the same sample."""
    first, again = [await probe.form(temperature=1.0, seed=11) for _ in range(2)]
    if first.status != 200:
        return DEVIATES, f"seed {_refusal(first)}"
    if again.status != 200:
        return _failed(again)
    if first.text != again.text:
        return DEVIATES, "the same seed gives two samples: sampled runs do not repeat"
    return (UNKNOWN, TOO_SHORT) if first.is_short else (FINE, "the same seed gives the same sample")


async def several(probe: Probe) -> Observation:
    """Check whether n=2 gives two choices."""
    answer = await probe.form(n=2, temperature=1.0)
    if len(answer.choices) == 2:
        return FINE, "n=2 gives two choices"
    got = f"HTTP {answer.status}" if answer.status != 200 else f"{len(answer.choices)} choice"
    return DEVIATES, f"n=2 returns {got}; runs request one sample at a time"


async def stop(probe: Probe) -> Observation:
    """Check whether stop strings end the text and are left out."""
    text = probe.greedy.text
    words = [word for word in text.split(" ")[2:] if len(word) > 2 and word in text[5:]]
    if probe.greedy.is_short or not words:
        return UNKNOWN, TOO_SHORT
    answer = await probe.form(stop=[words[0]])
    if answer.status != 200:
        return DEVIATES, f"a stop string {_refusal(answer)}"
    if words[0] not in answer.text:
        if len(answer.text) < len(text):
            return FINE, "stop strings end the text and are left out"
        return UNKNOWN, CHANGES
    if answer.text.rstrip().endswith(words[0]):
        return DEVIATES, "the stop string is left in the text; runs cut it off"
    return DEVIATES, "stop strings are ignored; runs cut the text themselves"


async def limit(probe: Probe) -> Observation:
    """Check whether max_tokens is obeyed."""
    answer = await probe.form(max_tokens=4)
    if answer.status != 200:
        return DEVIATES, f"max_tokens 4 {_refusal(answer)}"
    used = answer.tokens("completion")
    is_kept = len(answer.text) < len(probe.greedy.text) if used is None else used <= 4
    if answer.finish == "length" and is_kept:
        return FINE, "max_tokens is obeyed, and given as the finish reason"
    if used == 4:
        return DEVIATES, f"max_tokens is obeyed, but the finish reason is {answer.finish!r}"
    if probe.greedy.is_short or (used is not None and used < 4):
        return UNKNOWN, TOO_SHORT
    got = "uncounted tokens" if used is None else f"{used} tokens"
    return DEVIATES, f"max_tokens 4 gave {got} and finish reason {answer.finish!r}"


async def prefix(probe: Probe) -> Observation | None:
    """Check whether an answer begun in the request is continued."""
    if probe.chat is None:
        return None
    text = probe.chat.text
    cuts = [match.start() for cut in CUTS for match in cut.finditer(text, len(text) // 3)]
    if not cuts:
        return UNKNOWN, "not known: the greedy answer is too short to continue it"

    async def continued(begun: str, **flags: bool) -> ProbeAnswer:
        turns = [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": begun}]
        return await probe.ask(CHAT, messages=turns, **flags)

    answer = await continued(text[: cuts[0]], **CONTINUE)
    if answer.status != 200:
        says = f"continue_final_message {_refusal(answer)}: no assistant prefix"
        return DEVIATES, says
    if answer.text.strip()[:8] == text[cuts[0] :].strip()[:8]:
        return FINE, "continue_final_message is obeyed"
    # A new turn may repeat the model's own words, but not words that it would not say.
    if (await continued(STRANGE, **CONTINUE)).text.startswith(STRANGE):
        return FINE, "continue_final_message is obeyed, the prefix is repeated; runs remove it"
    # If the field changes the answer, it is obeyed in some way; a new turn is the same without it.
    if (await continued(text[: cuts[0]])).text != answer.text:
        says = "not known: continue_final_message changes the answer, but does not continue it"
        return UNKNOWN, says
    return DEVIATES, "continue_final_message is ignored: the model begins a new turn"


async def logprobs(probe: Probe) -> Observation:
    """Check whether log-probabilities of tokens are returned."""
    no_token, shapes = "not known, no token was generated", []
    asked = (
        ("completions", probe.plain, probe.in_text, {"text": REPETITIVE, "logprobs": 1}),
        ("chat", probe.chat, probe.in_chat, {"logprobs": True, "top_logprobs": 1}),
    )
    for name, there, form, fields in asked:
        if there is None:
            continue
        answer = await form(max_tokens=2, **fields)
        choice = next(iter(answer.choices), None)
        given = choice.get("logprobs") if isinstance(choice, Mapping) else None
        if answer.status != 200:
            shape = f"refused (HTTP {answer.status})"
        elif isinstance(given, Mapping) and any(given.values()):
            shape = "tokens with logprobs" if given.get("content") else "the legacy lists"
        else:
            shape = "absent" if answer.text else no_token
        shapes.append(f"{name}: {shape}")
    says = "; ".join(shapes)
    if "absent" in says or "refused" in says:
        return DEVIATES, says
    return UNKNOWN if no_token in says else FINE, says


async def model_name(probe: Probe) -> Observation:
    """Check whether an unknown model is refused, or the answer names the model."""
    answer = await probe.form(max_tokens=1, model=NO_SUCH_MODEL)
    if answer.status != 200:
        return FINE, f"an unknown model gives HTTP {answer.status}"
    named = answer.body.get("model")
    if isinstance(named, str) and named and named != NO_SUCH_MODEL:
        return FINE, "any model name is accepted, and the answer names the model; runs record it"
    return DEVIATES, "an unknown model name is accepted: a mistyped name goes unnoticed"


async def context(probe: Probe) -> Observation:
    """Check whether a prompt that is too long is refused."""
    if urlsplit(probe.base).hostname not in LOCAL_HOSTS:
        return UNKNOWN, "not tested: the server may charge for it"
    there = [answer for answer in (probe.chat, probe.plain) if answer is not None]
    # transformers serve adds a revision to the model's name.
    if any(str(answer.body.get("model")).startswith(f"{probe.model}@") for answer in there):
        says = "not tested: transformers serve accepts any prompt, and works on it for a long time"
        return UNKNOWN, says
    try:
        async with asyncio.timeout(LONG_SECONDS):
            answer = await probe.form("egg " * LONG_WORDS, max_tokens=1)
    except TimeoutError:
        says = f"{LONG_WORDS:,} words are neither refused nor answered within {LONG_SECONDS:g} s"
        return UNKNOWN, says
    if answer.status != 200:
        return FINE, f"a prompt that is too long gives HTTP {answer.status}"
    count = answer.tokens("prompt")
    if count is None:
        says = f"{LONG_WORDS:,} words are answered, and the server does not count what it read"
        return UNKNOWN, says
    if count >= LONG_WORDS:
        return UNKNOWN, f"{LONG_WORDS:,} words are read: the limit is higher"
    return DEVIATES, f"{LONG_WORDS:,} words are answered: a prompt that is too long is cut silently"


PROBES: Mapping[str, Callable[[Probe], Awaitable[Observation | None]]] = {
    "usage": usage,
    "chat template": chat_template,
    "double BOS": first_token,
    "greedy": repeatable,
    "hidden penalty": hidden_penalty,
    "temperature": temperature,
    "seed": seed,
    "n": several,
    "stop": stop,
    "max_tokens": limit,
    "prefix": prefix,
    "logprobs": logprobs,
    "model name": model_name,
    "context limit": context,
}


async def examine(probe: Probe) -> list[ServerFinding]:
    """Return the findings about a server; raises ModelError if it answers no requests at all."""
    findings = [ServerFinding("forms", *await probe.forms())]
    for name, look in PROBES.items():
        try:
            observation = await look(probe)
        except ModelError as error:
            observation = UNKNOWN, f"no answer: {error}"
        if observation is not None:
            findings.append(ServerFinding(name, *observation))
    return findings


async def check_server(model: Model, protocol: Protocol) -> dict[str, str]:
    """Check that a server continues the answer that a protocol's prompts begin.

    A server that accepts the field but begins a new turn answers a different prompt. Returns the
    finding by its name, {} for a model that is not a server. Raises FatalModelError if the server
    does not continue the answer. If a request fails, checking stops: the run will show the error.
    """
    if not isinstance(model, Endpoint):
        return {}
    try:
        probe = Probe(model.base, model.model, model._key, model.seconds)
        async with probe:
            chat = await probe.in_chat()
            probe.chat = chat if chat.status == 200 else None
            state, says = await prefix(probe) or (UNKNOWN, "the server has no chat form")
    except TransientError as error:
        return {"prefix": f"not known: {error}"}
    if state is DEVIATES:
        raise FatalModelError(
            "no assistant prefix",
            f"{protocol.name} begins the assistant's answer, and {model.identity} does not "
            f"continue it: {says}; use another server or protocol",
        )
    return {"prefix": says}


def obstacles(protocol: Protocol, findings: Sequence[ServerFinding]) -> list[str]:
    """Return the reasons why a protocol cannot be run as defined on a server."""
    prompt = protocol.example_prompt()
    by_name = {finding.name: finding for finding in findings}
    form = "chat" if prompt.is_chat else "completions"
    wrong = []
    if f"{form} is refused" in by_name["forms"].says:
        wrong.append(by_name["forms"].says)
    begun = by_name.get("prefix")
    if prompt.prefix is not None and begun is not None and begun.refuses:
        wrong.append(begun.says)
    if protocol.decoding.temperature and by_name["temperature"].refuses:
        wrong.append(by_name["temperature"].says)
    return wrong
