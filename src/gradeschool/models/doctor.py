"""Check what a server really does with about twenty small requests.

Servers accept fields that they ignore, fill in their own defaults, and leave stop strings in. Each
probe sends a request whose answer shows this, and says what it means for a run. Anything else is
unknown: a chat model often ends a plain text immediately, and such an answer shows nothing about
limits, stop strings and samples.
"""

import asyncio
import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from gradeschool.completion import CONTINUE
from gradeschool.errors import FatalModelError, ModelError, TransientError
from gradeschool.formats.values import mapping, text_of
from gradeschool.models import endpoint
from gradeschool.models.base import Model
from gradeschool.models.openai_api import BUSY_OR_GATEWAY_STATUSES, NEUTRAL, object_in
from gradeschool.protocol import Protocol

QUESTION = "A box holds 3 rows of 4 eggs. How many eggs are in 5 boxes? Work it out step by step."
TOKENS = 48
CHAT, COMPLETIONS = "/chat/completions", "/completions"
STRANGE = "Purple hens counted"  # a beginning that no model writes by itself
LONG_WORDS, LONG_SECONDS = 200_000, 15.0
# A shorter greedy answer shows nothing about max_tokens 4, stop strings or sampling.
ENOUGH_WORDS = 8
TOO_SHORT = "the model ends its answer after a few words"
CHANGES = "the text changes between equal requests"
# Where to cut a text: within a line, so that a new token follows; preferably between words.
CUTS = re.compile(r"(?<=[a-z]) (?=[a-z])"), re.compile(r"(?<=\S) (?=\S)")
PENALTIES = ("presence_penalty", "frequency_penalty", "repetition_penalty", "repeat_penalty")
# The state of a finding: as requested, different from the request, or unknown.
FINE, DEVIATES, UNKNOWN = "fine", "deviates", "unknown"
Finding = tuple[str, str] | None  # state and sentence; None where a probe does not apply


class ServerFinding(NamedTuple):
    """The result of one probe: `name` is short and stable, `says` is a sentence for people."""

    name: str
    state: str
    says: str


class ProbeEnded(Exception):
    """A probe ends early; its arguments are the state and the sentence of its finding."""


class ProbeAnswer(NamedTuple):
    """One answer of the server; its text and counts are empty unless the status is 200."""

    status: int
    text: str = ""
    finish: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    model: str = ""


class Probe(endpoint.Endpoint):
    """An endpoint for tests of individual fields; counts its requests.

    chat, plain: the greedy answers of both forms to QUESTION, once `forms` was called; None if
    the server does not have the form. greedy: the longer one, as a chat model often ends a plain
    text immediately. The other public methods without arguments are the probes.
    """

    requests = 0
    chat: ProbeAnswer | None = None
    plain: ProbeAnswer | None = None
    greedy = ProbeAnswer(0)

    async def ask(self, path: str, **fields: Any) -> ProbeAnswer:
        """Send one body. Raises ModelError as `complete` does.

        An overloaded server says nothing about its fields: the request is repeated, and in the end
        TransientError is raised.
        """
        body = {"model": self.model, "max_tokens": TOKENS, "temperature": 0, **fields}

        async def request() -> endpoint.Response:
            self.requests += 1
            response = await self._send("POST", path, json.dumps(body).encode())
            response.connection.close()
            if response.status in (401, 403, *BUSY_OR_GATEWAY_STATUSES):
                raise self.refusal(response)
            return response

        status, _, raw, _ = await endpoint.with_retries(request, endpoint.STARTING_WAITS, True)
        if status != 200:
            return ProbeAnswer(status)
        reply = object_in(raw)
        choices, counts = reply.get("choices"), mapping(reply.get("usage"))
        choice = mapping(choices[0] if isinstance(choices, list) and choices else None)
        message = mapping(choice.get("message"))
        text = text_of(message.get("content") if path == CHAT else choice.get("text")) or ""
        tokens = (counts.get("prompt_tokens"), counts.get("completion_tokens"))
        read, written = (each if type(each) is int else None for each in tokens)
        finish, model = str(choice.get("finish_reason") or ""), str(reply.get("model"))
        return ProbeAnswer(status, text, finish, read, written, model)

    async def form(
        self, what: str = "", *, text: str = QUESTION, in_chat: bool | None = None, **fields: Any
    ) -> ProbeAnswer:
        """Ask in the form of the longer greedy answer, or in the one that is given.

        what: a field under test, or the request itself; raises ProbeEnded if it is refused.
        """
        if self.greedy is self.chat if in_chat is None else in_chat:
            answer = await self.ask(CHAT, messages=[{"role": "user", "content": text}], **fields)
        else:
            answer = await self.ask(COMPLETIONS, prompt=text, **fields)
        if what and answer.status != 200:
            if what == "a second request":
                raise ProbeEnded(UNKNOWN, f"{what} gives HTTP {answer.status}")
            raise ProbeEnded(DEVIATES, f"{what} is refused (HTTP {answer.status})")
        return answer

    async def again(self, **fields: Any) -> str:
        """Return the text of a request like one that was answered."""
        return (await self.form("a second request", **fields)).text

    def check_length(self) -> None:
        """Raise ProbeEnded if the greedy text is too short to show anything."""
        if len(self.greedy.text.split()) < ENOUGH_WORDS:
            raise ProbeEnded(UNKNOWN, TOO_SHORT)

    async def forms(self) -> Finding:
        """Ask in both forms; raises ModelError if the server answers neither."""
        chat, plain = await self.form(in_chat=True), await self.form(in_chat=False)
        self.chat = chat if chat.status == 200 else None
        self.plain = plain if plain.status == 200 else None
        there = [answer for answer in (self.plain, self.chat) if answer is not None]
        if not there:
            raise ModelError(
                "no answer",
                f"{self.base} answers neither {CHAT} (HTTP {chat.status}) nor {COMPLETIONS} "
                f"(HTTP {plain.status}); check the address and the model {self.model!r}",
            )
        self.greedy = max(there, key=lambda answer: len(answer.text.split()))
        says = "; ".join(
            f"{name} answered" if status == 200 else f"{name} is refused (HTTP {status})"
            for name, status in (("chat", chat.status), ("completions", plain.status))
        )
        return FINE if len(there) == 2 else DEVIATES, says

    async def usage(self) -> Finding:
        """Check whether tokens are counted."""
        for answer in filter(None, (self.chat, self.plain)):
            tokens = answer.completion_tokens
            if tokens is None or tokens < bool(answer.text):
                return DEVIATES, "tokens are not counted: cost is unknown"
        return FINE, "tokens are counted"

    async def chat_template(self) -> Finding:
        """Check whether the chat form adds tokens to the same words as a plain text."""
        if self.chat is None:
            return None
        chat, plain = self.chat.prompt_tokens, self.plain and self.plain.prompt_tokens
        if chat is None or plain is None:
            return UNKNOWN, "no counts of both forms to compare"
        if chat > plain:
            return FINE, f"a chat template puts {chat - plain} tokens around a message"
        return DEVIATES, "the chat form adds no token to a message: the model has no chat template"

    async def repeatable(self) -> Finding:
        """Check whether temperature 0 gives the same text twice."""
        if await self.again() != self.greedy.text:
            return DEVIATES, "temperature 0 gave two texts: runs do not repeat"
        if not self.greedy.text:
            return UNKNOWN, TOO_SHORT
        return FINE, "temperature 0 gave the same text twice"

    async def hidden_penalty(self) -> Finding:
        """Check whether greedy texts do not change when every penalty is explicitly turned off."""
        for names in (PENALTIES, PENALTIES[:2]):  # all, or OpenAI's own
            off: dict[str, Any] = {name: NEUTRAL[name] for name in names}
            answer = await self.form(**off)
            if answer.status == 200:
                break
        else:
            return UNKNOWN, "no field that turns a penalty off is accepted"
        if answer.text != self.greedy.text:
            if await self.again() != self.greedy.text:
                return UNKNOWN, CHANGES
            return DEVIATES, "a penalty affects greedy decoding unless it is off; runs turn it off"
        self.check_length()
        if names is not PENALTIES:
            return UNKNOWN, "no field that turns a penalty on repetition off is accepted"
        return FINE, "no penalty applies unless requested"

    async def sampling(self) -> Finding:
        """Check whether temperature 1.5 gives different samples, and a seed the same again."""
        what = "temperature 1.5"
        drawn = [(await self.form(what, temperature=1.5, seed=seed)).text for seed in (1, 2, 3)]
        if len(set(drawn)) == 1:
            self.check_length()
            one = f"three samples at {what} are one text"
            return DEVIATES, f"{one}: temperature or seed is ignored"
        if await self.again(temperature=1.5, seed=3) != drawn[-1]:
            return DEVIATES, "the same seed gives two samples: sampled runs do not repeat"
        return FINE, f"{what} gives different samples, and a seed the same one again"

    async def stop_strings(self) -> Finding:
        """Check whether stop strings end the text and are left out."""
        text = self.greedy.text
        words = [word for word in text.split(" ")[2:] if len(word) > 2 and word in text[5:]]
        self.check_length()
        if not words:
            return UNKNOWN, TOO_SHORT
        answer = await self.form("a stop string", stop=[words[0]])
        if words[0] not in answer.text:
            if len(answer.text) >= len(text):
                return UNKNOWN, CHANGES
            return FINE, "stop strings end the text and are left out"
        if answer.text.rstrip().endswith(words[0]):
            return DEVIATES, "the stop string is left in the text; runs cut it off"
        return DEVIATES, "stop strings are ignored; runs cut the text themselves"

    async def limit(self) -> Finding:
        """Check whether max_tokens is obeyed."""
        answer = await self.form("max_tokens 4", max_tokens=4)
        used = answer.completion_tokens
        is_kept = len(answer.text) < len(self.greedy.text) if used is None else used <= 4
        if answer.finish == "length" and is_kept:
            return FINE, "max_tokens is obeyed, and given as the finish reason"
        if used == 4:
            return DEVIATES, f"max_tokens is obeyed, but the finish reason is {answer.finish!r}"
        self.check_length()
        if used is not None and used < 4:
            return UNKNOWN, TOO_SHORT
        got = "uncounted tokens" if used is None else f"{used} tokens"
        return DEVIATES, f"max_tokens 4 gave {got} and finish reason {answer.finish!r}"

    async def prefix(self) -> Finding:
        """Check whether an answer begun in the request is continued."""
        if self.chat is None:
            return None
        text = self.chat.text
        cuts = [match.start() for cut in CUTS for match in cut.finditer(text, len(text) // 3)]
        if not cuts:
            return UNKNOWN, "the greedy answer is too short to continue it"

        async def continued(begun: str, **flags: bool) -> ProbeAnswer:
            turns = [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": begun}]
            return await self.ask(CHAT, messages=turns, **flags)

        answer = await continued(text[: cuts[0]], **CONTINUE)
        if answer.status != 200:
            refused = f"continue_final_message is refused (HTTP {answer.status})"
            return DEVIATES, f"{refused}: no assistant prefix"
        if answer.text.strip()[:8] == text[cuts[0] :].strip()[:8]:
            return FINE, "continue_final_message is obeyed"
        # A new turn may repeat the model's own words, but not words that it would not say.
        if (await continued(STRANGE, **CONTINUE)).text.startswith(STRANGE):
            return FINE, (
                "continue_final_message is obeyed, the prefix is repeated; runs remove it"
            )
        # If the field changes the answer, it is obeyed in some way; a new turn is the same without.
        if (await continued(text[: cuts[0]])).text != answer.text:
            return UNKNOWN, "continue_final_message changes the answer, but does not continue it"
        return DEVIATES, "continue_final_message is ignored: the model begins a new turn"

    async def context(self) -> Finding:
        """Check whether a prompt that is too long is refused."""
        if urlsplit(self.base).hostname not in endpoint.LOCAL_HOSTS:
            return UNKNOWN, "not tested, the server may charge for it"
        # transformers serve adds a revision to the model's name, and works on any prompt for long.
        if self.greedy.model.startswith(f"{self.model}@"):
            return UNKNOWN, "not tested, transformers serve accepts any prompt"
        words = f"{LONG_WORDS:,} words"
        try:
            async with asyncio.timeout(LONG_SECONDS):
                answer = await self.form(text="egg " * LONG_WORDS, max_tokens=1)
        except TimeoutError:
            return UNKNOWN, f"{words} are not answered within {LONG_SECONDS:g} s"
        if answer.status != 200:
            return FINE, f"a prompt that is too long gives HTTP {answer.status}"
        if answer.prompt_tokens is None or answer.prompt_tokens >= LONG_WORDS:
            return UNKNOWN, f"{words} are answered; the server reads or counts them all, or none"
        return DEVIATES, f"{words} are answered: a prompt that is too long is cut silently"


async def examine(probe: Probe) -> list[ServerFinding]:
    """Return the findings about a server; raises ModelError if it answers no requests at all."""
    findings = []
    async with probe:
        for name, look in (
            ("forms", probe.forms), ("usage", probe.usage), ("chat template", probe.chat_template),
            ("greedy", probe.repeatable), ("hidden penalty", probe.hidden_penalty),
            ("temperature", probe.sampling), ("stop", probe.stop_strings),
            ("max_tokens", probe.limit), ("prefix", probe.prefix), ("context limit", probe.context),
        ):  # fmt: skip
            try:
                found = await look()
            except ProbeEnded as ended:
                found = ended.args
            except ModelError as error:
                if name == "forms":
                    raise
                found = UNKNOWN, str(error)
            if found is not None:
                state, says = found
                says = f"not known: {says}" if state is UNKNOWN else says
                findings.append(ServerFinding(name, state, says))
    return findings


async def check_server(model: Model, protocol: Protocol) -> dict[str, str]:
    """Check that a server continues the answer that a protocol's prompts begin.

    A server that accepts the field but begins a new turn answers a different prompt. Returns the
    finding by its name, {} for a model that is not a server of the OpenAI protocol. Raises
    FatalModelError if the server does not continue the answer. If a request fails, checking stops:
    the run will show the error.
    """
    if not isinstance(model, endpoint.Endpoint) or not model.speaks_openai:
        return {}
    try:
        async with Probe(model.base, model.model, model.key, model.seconds, model.options) as probe:
            chat = await probe.form(in_chat=True)
            probe.chat = chat if chat.status == 200 else None
            state, says = await probe.prefix() or (FINE, "the server has no chat form")
    except TransientError as error:
        state, says = UNKNOWN, str(error)
    if state is DEVIATES:
        raise FatalModelError(
            "no assistant prefix",
            f"{protocol.name} begins the assistant's answer, and {model.identity} does not "
            f"continue it: {says}; use another server or protocol",
        )
    return {"prefix": f"not known: {says}" if state is UNKNOWN else says}


def obstacles(protocol: Protocol, findings: Sequence[ServerFinding]) -> list[str]:
    """Return the reasons why a protocol cannot be run as defined on a server."""
    prompt = protocol.example_prompt()
    form = "chat" if prompt.is_chat else "completions"
    says = {each.name: each.says for each in findings if each.state is DEVIATES}
    matters = {
        "forms": f"{form} is refused" in says.get("forms", ""),
        "prefix": prompt.prefix is not None,
        # Samples that a seed does not repeat are samples all the same.
        "temperature": bool(protocol.decoding.temperature)
        and "the same seed" not in says.get("temperature", ""),
    }
    return [says[name] for name, needed in matters.items() if needed and name in says]
