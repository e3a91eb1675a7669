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
from typing import Any
from urllib.parse import urlsplit

from gradeschool.errors import FatalModelError, ModelError, TransientError
from gradeschool.models.base import Model
from gradeschool.models.endpoint import LOCAL_HOSTS, Endpoint
from gradeschool.models.openai_api import NEUTRAL
from gradeschool.models.probe import (
    CHAT,
    COMPLETIONS,
    QUESTION,
    FindingState,
    FormAnswers,
    Probe,
    ProbeAnswer,
    ServerFinding,
    first_choice,
)
from gradeschool.protocol import Protocol

NO_SUCH_MODEL = "gradeschool-no-such-model"
# A beginning that no model writes by itself.
STRANGE = "Purple hens counted"
LONG_WORDS, LONG_SECONDS = 200_000, 15.0
# A shorter greedy answer shows nothing about max_tokens 4, stop strings or sampling.
ENOUGH_WORDS = 8
TOO_SHORT = "not known: the model ends its answer after a few words"
FINE, DEVIATES, UNKNOWN = FindingState.FINE, FindingState.DEVIATES, FindingState.UNKNOWN
Observation = tuple[FindingState, str]  # the state and words of a finding


async def continues_prefix(endpoint: Endpoint) -> ServerFinding:
    """Return whether a server continues an answer begun in the request; sends 2 or 3 requests."""
    async with Probe.like(endpoint) as probe:
        chat = await probe.chat()
        observation = await _prefix(probe, FormAnswers(chat if chat.status == 200 else None, None))
    return ServerFinding("prefix", *(observation or (UNKNOWN, "the server has no chat form")))


async def examine(probe: Probe) -> list[ServerFinding]:
    """Return the findings about a server; raises ModelError if it answers no requests at all."""
    chat, completion = await probe.chat(), await probe.complete()
    if chat.status != 200 and completion.status != 200:
        raise ModelError(
            "no answer",
            f"{probe.base} answers neither {CHAT} (HTTP {chat.status}) nor {COMPLETIONS} "
            f"(HTTP {completion.status}); check the address and the model {probe.model!r}",
        )
    forms = FormAnswers(
        chat if chat.status == 200 else None, completion if completion.status == 200 else None
    )
    findings = [
        ServerFinding("forms", *_forms(chat, completion)),
        ServerFinding("usage", *_usage(forms)),
    ]
    for name, look in PROBES.items():
        try:
            observation = await look(probe, forms)
        except ModelError as error:
            observation = UNKNOWN, f"no answer: {error}"
        if observation is not None:
            findings.append(ServerFinding(name, *observation))
    return findings


def _either(probe: Probe, forms: FormAnswers) -> Callable[..., Awaitable[ProbeAnswer]]:
    """Return the method that sends a request in the form whose greedy answer is longer."""
    return probe.chat if forms.longer is forms.chat else probe.complete


def _is_short(text: str) -> bool:
    return len(text.split()) < ENOUGH_WORDS


def _refused(field: str, answer: ProbeAnswer) -> Observation:
    return DEVIATES, f"{field} is refused (HTTP {answer.status})"


def _failed(answer: ProbeAnswer) -> Observation:
    return UNKNOWN, f"not known: a second request gives HTTP {answer.status}"


def _forms(chat: ProbeAnswer, completion: ProbeAnswer) -> Observation:
    says = [
        f"{name} answered" if answer.status == 200 else f"{name} is refused (HTTP {answer.status})"
        for name, answer in (("chat", chat), ("completions", completion))
    ]
    fine = chat.status == completion.status == 200
    return FINE if fine else DEVIATES, "; ".join(says)


def _usage(forms: FormAnswers) -> Observation:
    counts = [(written_tokens(answer), bool(answer.text)) for answer in forms if answer is not None]
    if all(count is not None and count >= is_text for count, is_text in counts):
        return FINE, "tokens are counted"
    return DEVIATES, "tokens are not counted: cost is unknown"


async def _repeatable(probe: Probe, forms: FormAnswers) -> Observation:
    again = await _either(probe, forms)()
    if again.status != 200:
        return _failed(again)
    if again.text != forms.longer.text:
        return DEVIATES, "temperature 0 gave two texts: runs do not repeat"
    if not again.text:
        return UNKNOWN, TOO_SHORT
    return FINE, "temperature 0 gave the same text twice"


async def _temperature(probe: Probe, forms: FormAnswers) -> Observation:
    ask = _either(probe, forms)
    drawn = [await ask(temperature=1.5, seed=seed) for seed in (1, 2, 3)]
    if refused := [answer for answer in drawn if answer.status != 200]:
        return _refused("temperature 1.5", refused[0])
    if len({answer.text for answer in drawn}) > 1:
        return FINE, "temperature 1.5 gives different samples"
    if _is_short(drawn[0].text):
        return UNKNOWN, TOO_SHORT
    return DEVIATES, "three samples at temperature 1.5 are one text: temperature or seed is ignored"


async def _seed(probe: Probe, forms: FormAnswers) -> Observation:
    ask = _either(probe, forms)
    first, again = [await ask(temperature=1.0, seed=11) for _ in range(2)]
    if first.status != 200:
        return _refused("seed", first)
    if again.status != 200:
        return _failed(again)
    if first.text != again.text:
        return DEVIATES, "the same seed gives two samples: sampled runs do not repeat"
    if _is_short(first.text):
        return UNKNOWN, TOO_SHORT
    return FINE, "the same seed gives the same sample"


async def _several(probe: Probe, forms: FormAnswers) -> Observation:
    answer = await _either(probe, forms)(n=2, temperature=1.0)
    if answer.choices == 2:
        return FINE, "n=2 gives two choices"
    got = f"HTTP {answer.status}" if answer.status != 200 else f"{answer.choices} choice"
    return DEVIATES, f"n=2 returns {got}; runs request one sample at a time"


async def _stop(probe: Probe, forms: FormAnswers) -> Observation:
    text = forms.longer.text
    words = [word for word in text.split(" ")[2:] if len(word) > 2 and word in text[5:]]
    if _is_short(text) or not words:
        return UNKNOWN, TOO_SHORT
    stop = words[0]
    answer = await _either(probe, forms)(stop=[stop])
    if answer.status != 200:
        return _refused("a stop string", answer)
    if stop not in answer.text:
        if len(answer.text) < len(text):
            return FINE, "stop strings end the text and are left out"
        return UNKNOWN, "not known: the text changes between equal requests"
    if answer.text.rstrip().endswith(stop):
        return DEVIATES, "the stop string is left in the text; runs cut it off"
    return DEVIATES, "stop strings are ignored; runs cut the text themselves"


async def _limit(probe: Probe, forms: FormAnswers) -> Observation:
    answer = await _either(probe, forms)(max_tokens=4)
    if answer.status != 200:
        return _refused("max_tokens 4", answer)
    used, text = written_tokens(answer), forms.longer.text
    is_kept = len(answer.text) < len(text) if used is None else used <= 4
    if answer.finish == "length" and is_kept:
        return FINE, "max_tokens is obeyed, and given as the finish reason"
    if used == 4:
        return DEVIATES, f"max_tokens is obeyed, but the finish reason is {answer.finish!r}"
    if _is_short(text) or (used is not None and used < 4):
        return UNKNOWN, TOO_SHORT
    return DEVIATES, f"max_tokens 4 gave {_tokens(used)} and finish reason {answer.finish!r}"


def _tokens(count: int | None) -> str:
    return "uncounted tokens" if count is None else f"{count} tokens"


# Where to cut a text: within a line, so that a new token follows; preferably between words.
CUTS = re.compile(r"(?<=[a-z]) (?=[a-z])"), re.compile(r"(?<=\S) (?=\S)")


async def _prefix(probe: Probe, forms: FormAnswers) -> Observation | None:
    if forms.chat is None:
        return None
    text = forms.chat.text
    cuts = [match.start() for cut in CUTS for match in cut.finditer(text, len(text) // 3)]
    if not cuts:
        return UNKNOWN, "not known: the greedy answer is too short to continue it"
    answer = await _continued(probe, text[: cuts[0]])
    if answer.status != 200:
        says = f"continue_final_message is refused (HTTP {answer.status}): no assistant prefix"
        return DEVIATES, says
    if answer.text.strip()[:8] == text[cuts[0] :].strip()[:8]:
        return FINE, "continue_final_message is obeyed"
    # A new turn may repeat the model's own words, but not words that it would not say.
    if (await _continued(probe, STRANGE)).text.startswith(STRANGE):
        return FINE, "continue_final_message is obeyed, the prefix is repeated; runs remove it"
    # If the field changes the answer, it is obeyed in some way; a new turn is the same without it.
    if (await _continued(probe, text[: cuts[0]], flags={})).text != answer.text:
        says = "not known: continue_final_message changes the answer, but does not continue it"
        return UNKNOWN, says
    return DEVIATES, "continue_final_message is ignored: the model begins a new turn"


CONTINUE = {"continue_final_message": True, "add_generation_prompt": False}


async def _continued(
    probe: Probe, prefix: str, flags: Mapping[str, bool] = CONTINUE
) -> ProbeAnswer:
    turns = [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": prefix}]
    return await probe.ask(CHAT, messages=turns, **flags)


async def _logprobs(probe: Probe, forms: FormAnswers) -> Observation:
    shapes = []
    if forms.completion is not None:
        answer = await probe.complete(REPETITIVE, logprobs=1, max_tokens=2)
        shapes.append(f"completions: {_shape(answer)}")
    if forms.chat is not None:
        answer = await probe.chat(logprobs=True, top_logprobs=1, max_tokens=2)
        shapes.append(f"chat: {_shape(answer)}")
    says = "; ".join(shapes)
    if "absent" in says or "refused" in says:
        return DEVIATES, says
    return UNKNOWN if NO_TOKEN in says else FINE, says


NO_TOKEN = "not known, no token was generated"


def _shape(answer: ProbeAnswer) -> str:
    if answer.status != 200:
        return f"refused (HTTP {answer.status})"
    logprobs = first_choice(answer.body).get("logprobs")
    if isinstance(logprobs, Mapping) and any(logprobs.values()):
        return "tokens with logprobs" if logprobs.get("content") else "the legacy lists"
    return "absent" if answer.text else NO_TOKEN


async def _model_name(probe: Probe, forms: FormAnswers) -> Observation:
    own, probe.model = probe.model, NO_SUCH_MODEL
    try:
        answer = await _either(probe, forms)(max_tokens=1)
    finally:
        probe.model = own
    if answer.status != 200:
        return FINE, f"an unknown model gives HTTP {answer.status}"
    named = answer.body.get("model")
    if isinstance(named, str) and named and named != NO_SUCH_MODEL:
        return FINE, "any model name is accepted, and the answer names the model; runs record it"
    return DEVIATES, "an unknown model name is accepted: a mistyped name goes unnoticed"


async def _context(probe: Probe, forms: FormAnswers) -> Observation:
    if urlsplit(probe.base).hostname not in LOCAL_HOSTS:
        return UNKNOWN, "not tested: the server may charge for it"
    if any(answer and _of_transformers_serve(answer, probe.model) for answer in forms):
        says = "not tested: transformers serve accepts any prompt, and works on it for a long time"
        return UNKNOWN, says
    try:
        async with asyncio.timeout(LONG_SECONDS):
            answer = await _either(probe, forms)("egg " * LONG_WORDS, max_tokens=1)
    except TimeoutError:
        says = f"{LONG_WORDS:,} words are neither refused nor answered within {LONG_SECONDS:g} s"
        return UNKNOWN, says
    if answer.status != 200:
        return FINE, f"a prompt that is too long gives HTTP {answer.status}"
    count = prompt_tokens(answer)
    if count is None:
        says = f"{LONG_WORDS:,} words are answered, and the server does not count what it read"
        return UNKNOWN, says
    if count >= LONG_WORDS:
        return UNKNOWN, f"{LONG_WORDS:,} words are read: the limit is higher"
    return DEVIATES, f"{LONG_WORDS:,} words are answered: a prompt that is too long is cut silently"


def _of_transformers_serve(answer: ProbeAnswer, model: str) -> bool:
    """Return whether the model's name has a revision, which transformers serve adds."""
    return str(answer.body.get("model")).startswith(f"{model}@")


# A text that reveals a repetition penalty if the model's own words do not.
REPETITIVE = "one one one one two two two two one one one one two two two two one one one one"
PENALTIES = ("presence_penalty", "frequency_penalty", "repetition_penalty", "repeat_penalty")
ON_REPETITION = {"repetition_penalty", "repeat_penalty"}


async def hidden_penalty(probe: Probe, forms: FormAnswers) -> Observation:
    """Return whether greedy texts change when every penalty is explicitly turned off."""
    accepted, observations = [], []  # of each form
    for form, greedy in zip((probe.chat, probe.complete), forms, strict=True):
        if greedy is None:
            continue
        off = await _accepted(form)
        accepted.append(set(off))
        if observation := await _penalty(form, greedy, off):
            observations.append(observation)
    if observations:
        return next(
            (observation for observation in observations if observation[0] is DEVIATES),
            observations[0],
        )
    if not any(accepted):
        return UNKNOWN, "not known: no field that turns a penalty off is accepted"
    if all(_is_short(answer.text) for answer in forms if answer):
        return UNKNOWN, TOO_SHORT
    if not all(ON_REPETITION & fields for fields in accepted):
        return UNKNOWN, "not known: no field that turns a penalty on repetition off is accepted"
    return FINE, "no penalty applies unless requested"


async def _penalty(
    form: Callable[..., Awaitable[ProbeAnswer]], greedy: ProbeAnswer, off: Mapping[str, Any]
) -> Observation | None:
    """Return what the greedy texts of a form show once its penalties are off, None if nothing.

    greedy: the form's answer to the question.
    """
    for text in (QUESTION, REPETITIVE) if off else ():
        plain = greedy if text == QUESTION else await form(text)
        neutral = await form(text, **off)
        if failed := [answer for answer in (plain, neutral) if answer.status != 200]:
            return _failed(failed[0])
        if neutral.text == plain.text:
            continue
        again = await form(text)
        if again.status != 200:
            return _failed(again)
        if again.text != plain.text:
            return UNKNOWN, "not known: the text changes between equal requests"
        says = "a penalty affects greedy decoding unless it is turned off; runs turn it off"
        return DEVIATES, says
    return None


async def _accepted(form: Callable[..., Awaitable[ProbeAnswer]]) -> dict[str, Any]:
    """Return the fields that a form accepts, each with the value that turns it off."""
    off: dict[str, Any] = {name: NEUTRAL[name] for name in PENALTIES}
    if (await form(max_tokens=1, **off)).status == 200:
        return off
    return {
        name: value
        for name, value in off.items()
        if (await form(max_tokens=1, **{name: value})).status == 200
    }


# Addresses beside "/v1" that show how a server tokenizes: vLLM takes messages or a prompt;
# llama.cpp takes a text, which another of its addresses makes from messages.
TOKENIZE, TEMPLATE = "/tokenize", "/apply-template"
TURNS = [{"role": "user", "content": QUESTION}]


async def chat_template(probe: Probe, forms: FormAnswers) -> Observation | None:
    """Return whether the chat form adds tokens to the same words as a plain text."""
    if forms.chat is None:
        return None
    chat, plain = prompt_tokens(forms.chat), prompt_tokens(forms.completion)
    if chat is None or plain is None:
        return UNKNOWN, "not known: no counts of both forms to compare"
    if chat > plain:
        return FINE, f"a chat template puts {chat - plain} tokens around a message"
    return DEVIATES, "the chat form adds no token to a message: the model has no chat template"


async def first_token(probe: Probe, forms: FormAnswers) -> Observation | None:
    """Return whether template and tokenizer both add the first token of a chat.

    Tokens are trusted only if their number equals the server's count for the same chat.
    """
    if forms.chat is None:
        return None
    tokens = await _chat_tokens(probe)
    if not tokens or len(tokens) != prompt_tokens(forms.chat):
        return UNKNOWN, "not known: the server does not show the tokens of a chat"
    if tokens[:1] == tokens[1:2]:
        says = "a chat begins with its first token twice: the template and the server both add it"
        return DEVIATES, says
    return FINE, "the first token of a chat appears once"


def prompt_tokens(answer: ProbeAnswer | None) -> int | None:
    """Return the server's count of prompt tokens."""
    return None if answer is None else _counted(answer, "prompt_tokens")


def written_tokens(answer: ProbeAnswer) -> int | None:
    """Return the server's count of completion tokens."""
    return _counted(answer, "completion_tokens")


def _counted(answer: ProbeAnswer, name: str) -> int | None:
    usage = answer.body.get("usage")
    count = usage.get(name) if isinstance(usage, Mapping) else None
    return count if isinstance(count, int) else None


async def _chat_tokens(probe: Probe) -> list[Any]:
    """Return the tokens of a chat with one question, [] if the server does not show them."""
    root = probe.base.removesuffix("/v1")
    async with Probe(root, probe.model, probe._key, probe.seconds) as server:
        shown = await _posted(server, TOKENIZE, model=probe.model, messages=TURNS)
        if not shown.get("tokens"):
            text = (await _posted(server, TEMPLATE, messages=TURNS)).get("prompt")
            flags = {"add_special": True, "parse_special": True}
            shown = await _posted(server, TOKENIZE, content=text, **flags) if text else {}
        probe.requests += server.requests
    tokens = shown.get("tokens")
    return tokens if isinstance(tokens, list) else []


async def _posted(server: Probe, path: str, **fields: Any) -> Mapping[str, Any]:
    """Return the answer of an address of a server, {} if the address does not exist."""
    server.requests += 1
    try:
        reply = await server.call("POST", path, json.dumps(fields).encode())
    except ModelError:
        return {}
    return reply if isinstance(reply, Mapping) else {}


PROBES: Mapping[str, Callable[[Probe, FormAnswers], Awaitable[Observation | None]]] = {
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


async def check_server(model: Model, protocol: Protocol) -> dict[str, str]:
    """Check that a server continues the answer that a protocol's prompts begin.

    A server that accepts the field but begins a new turn answers a different prompt. Returns the
    finding by its name, {} for a model that is not a server. Raises FatalModelError if the server
    does not continue the answer. If a request fails, checking stops: the run will show the error.
    """
    if not isinstance(model, Endpoint):
        return {}
    try:
        finding = await continues_prefix(model)
    except TransientError as error:
        return {"prefix": f"not known: {error}"}
    if finding.refuses:
        raise FatalModelError(
            "no assistant prefix",
            f"{protocol.name} begins the assistant's answer, and {model.identity} does not "
            f"continue it: {finding.says}; use another server or protocol",
        )
    return {finding.name: finding.says}


def obstacles(protocol: Protocol, findings: Sequence[ServerFinding]) -> list[str]:
    """Return the reasons why a protocol cannot be run as defined on a server."""
    prompt = protocol.example_prompt()
    by_name = {finding.name: finding for finding in findings}
    form = "chat" if prompt.is_chat else "completions"
    wrong = []
    if f"{form} is refused" in by_name["forms"].says:
        wrong.append(by_name["forms"].says)
    prefix = by_name.get("prefix")
    if prompt.prefix is not None and prefix is not None and prefix.refuses:
        wrong.append(prefix.says)
    if protocol.decoding.temperature and by_name["temperature"].refuses:
        wrong.append(by_name["temperature"].says)
    return wrong
