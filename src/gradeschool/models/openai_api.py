"""OpenAI's HTTP API: the body of a request, fields that a server refuses, and replies."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from gradeschool.completion import Decoding, Prompt, Usage
from gradeschool.errors import FatalModelError, ModelError, TransientError
from gradeschool.formats.samples import finish_of, text_of
from gradeschool.models.base import Reply, Request

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
    """Return the body that asks for n samples, the first of them numbered `sample`.

    length: the server's name for the limit of tokens.
    """
    fields: dict[str, Any] = {"model": model}
    if prompt.text is not None:
        fields["prompt"] = prompt.text
    else:
        fields["messages"] = [message._asdict() for message in prompt.messages]
    if prompt.text is None and prompt.prefix is not None:
        fields["messages"].append({"role": "assistant", "content": prompt.prefix})
        fields |= {"continue_final_message": True, "add_generation_prompt": False}
    options = {
        "temperature": decoding.temperature,
        "top_p": decoding.top_p,
        length: decoding.max_tokens,
        "stop": list(decoding.stop) or None,
        "seed": None if decoding.seed is None else decoding.seed + sample,
        "n": n if n > 1 else None,
    }
    return fields | {name: value for name, value in options.items() if value is not None}


def refused(raw: bytes, body: Mapping[str, Any]) -> set[str]:
    """Return the neutral fields of a body that the answer to it, a 400 or 422, refuses by name."""
    text = raw.decode("utf-8", "replace")
    if REFUSAL.search(text) is None:
        return set()
    return {name for name in NEUTRAL if name in body and name in text}


def encoded(body: Mapping[str, Any]) -> bytes:
    """Return the bytes of a body; ASCII, so that a lone surrogate in a question can be sent."""
    return json.dumps(body).encode()


TRANSIENT_STATUSES = {408, 409, 425, 429, *range(500, 600)}
LONGEST_WAIT = 120.0
OUT_OF_MONEY = (b"insufficient_quota", b"billing_hard_limit_reached")


def parse_replies(raw: bytes, requests: Sequence[Request]) -> list[Reply]:
    """Return the completions in the body of a 200, one at least and at most one a request.

    Raises TransientError where the body is no such thing. A stop string that the server left in is
    cut off, a prefix that it repeated is taken off; both are named in `deviations`. Usage goes to
    the first reply: servers count the choices of a request together.
    """
    return replies_in(object_in(raw), requests)


def object_in(raw: bytes) -> Mapping[str, Any]:
    """Return the JSON object in the body of a 200; raises TransientError where there is none."""
    try:
        body = json.loads(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise TransientError("bad response", f"the reply is no JSON: {raw[:60]!r}") from error
    if not isinstance(body, Mapping):
        raise TransientError("bad response", f"the reply is no JSON object: {raw[:60]!r}")
    if body.get("error"):
        raise TransientError("bad response", f"the reply holds an error: {_shown(body)}")
    return body


def replies_in(body: Mapping[str, Any], requests: Sequence[Request]) -> list[Reply]:
    """Return the completions in a parsed body; see `parse_replies`."""
    choices = body.get("choices")
    if not isinstance(choices, list) or not all(isinstance(choice, Mapping) for choice in choices):
        choices = None
    if not choices:
        raise TransientError("bad response", "the reply holds no choices")
    places = [choice.get("index") for choice in choices]
    if all(isinstance(place, int) for place in places) and len(set(places)) == len(places):
        choices = sorted(choices, key=lambda choice: int(choice["index"]))
    usage_field = body.get("usage")
    counts = usage_field if isinstance(usage_field, Mapping) else {}
    usage = Usage(
        *(
            count if isinstance(count := counts.get(name), int) and count >= 0 else None
            for name in ("prompt_tokens", "completion_tokens")
        )
    )
    model = str(body.get("model") or "")
    pairs = zip(choices, requests, strict=False)
    replies = [_reply(choice, request, model) for choice, request in pairs]
    return [replace(replies[0], usage=usage), *replies[1:]]


def _reply(choice: Mapping[str, Any], request: Request, model: str) -> Reply:
    """Return a choice without what the server should have left out."""
    content, reasoning = choice.get("text"), None
    if request.prompt.is_chat:
        message = choice.get("message")
        message = message if isinstance(message, Mapping) else {}
        content = message.get("content")
        reasoning = message.get("reasoning") or message.get("reasoning_content")
    text = text_of(content) or ""
    deviations = []
    prefix = request.prompt.prefix
    if prefix and text.startswith(prefix):
        text = text[len(prefix) :]
        deviations.append("prefix repeated")
    cuts = [place for stop in request.decoding.stop if (place := text.find(stop)) >= 0]
    if cuts:
        text = text[: min(cuts)]
        deviations.append("stop string left in")
    return Reply(
        text,
        finish_of(choice.get("finish_reason")),
        reasoning=text_of(reasoning) or "",
        model=model,
        deviations=tuple(deviations),
    )


def classify(status: int, headers: Mapping[str, str], raw: bytes, base: str) -> ModelError:
    """Return the error that a status other than 200 means: ask again, give up, or stop the run."""
    cause, message = f"http {status}", f"HTTP {status} from {base}: {_error_text(raw)}"
    if status in {401, 403}:
        return FatalModelError(cause, f"{message}; the server refuses the API key")
    if status == 402 or (status == 429 and any(word in raw for word in OUT_OF_MONEY)):
        return FatalModelError(cause, f"{message}; the account has no credit left")
    if status == 404:
        return FatalModelError(cause, f"{message}; check the address and model name")
    if 300 <= status < 400:  # not followed: the key would go to another server
        place = repr(headers.get("location", "")[:200])
        return FatalModelError(
            cause, f"HTTP {status} from {base}: go to {place}; give that address"
        )
    wish = headers.get("x-should-retry", "").strip().lower()
    if wish == "true" or (status in TRANSIENT_STATUSES and wish != "false"):
        return TransientError(cause, message, retry_after(headers))
    return ModelError(cause, message)


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return the seconds that a server asks to wait, from `Retry-After` or `retry-after-ms`.

    Given as seconds or as an HTTP date; at most LONGEST_WAIT. None where it does not say.
    """
    if milliseconds := headers.get("retry-after-ms"):
        seconds = _number(milliseconds)
        if seconds is not None:
            return min(max(seconds / 1000, 0.0), LONGEST_WAIT)
    value = headers.get("retry-after")
    if value is None:
        return None
    seconds = _number(value)
    if seconds is None:
        try:
            date = parsedate_to_datetime(value)
        except ValueError:
            return None
        date = date if date.tzinfo else date.replace(tzinfo=UTC)
        seconds = (date - (now or datetime.now(UTC))).total_seconds()
    return min(max(seconds, 0.0), LONGEST_WAIT)


def _number(text: str) -> float | None:
    text = text.strip()
    return float(text) if len(text) < 20 and text.replace(".", "", 1).isdecimal() else None


def _error_text(raw: bytes) -> str:
    try:
        return _shown(json.loads(raw.decode("utf-8", "replace")))
    except (ValueError, RecursionError):
        return repr(raw[:80].decode("utf-8", "replace"))


def _shown(body: Any) -> str:
    error = body.get("error", body) if isinstance(body, Mapping) else body
    message = error.get("message") if isinstance(error, Mapping) else None
    return repr(str(message or error)[:200])
