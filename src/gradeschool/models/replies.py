"""What a server's answer means: a reply, or a failure of a known cause."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from gradeschool.completion import Usage
from gradeschool.errors import FatalModelError, ModelError, TransientError
from gradeschool.models.base import Reply, Request
from gradeschool.recordings.recorded import finish_of, text_of

TRANSIENT_STATUSES = {408, 409, 425, 429, *range(500, 600)}
LONGEST_WAIT = 120.0


def parse_reply(raw: bytes, request: Request) -> Reply:
    """Return the completion in the body of a 200; TransientError where the body is no such thing.

    A stop string that the server left in is cut off, a prefix that it repeated is taken off; both
    are named in `deviations`.
    """
    try:
        body = json.loads(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise TransientError("bad response", f"the reply is no JSON: {raw[:60]!r}") from error
    if isinstance(body, Mapping) and body.get("error"):
        raise TransientError("bad response", f"the reply holds an error: {_shown(body)}")
    choices = body.get("choices") if isinstance(body, Mapping) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        raise TransientError("bad response", "the reply holds no choices")
    text, reasoning = _content(choices[0], request.prompt.is_chat)
    text, deviations = _mended(text, request)
    return Reply(
        text=text,
        finish=finish_of(choices[0].get("finish_reason")),
        usage=_usage(body.get("usage")),
        reasoning=reasoning,
        model=str(body.get("model") or ""),
        deviations=deviations,
    )


def classify(status: int, headers: Mapping[str, str], raw: bytes, base: str) -> ModelError:
    """Return the error that a status other than 200 means: ask again, give up, or stop the run."""
    message = f"HTTP {status} from {base}: {_error_text(raw)}"
    if status in TRANSIENT_STATUSES:
        return TransientError(f"http {status}", message, retry_after(headers))
    if status in {401, 403}:
        return FatalModelError(f"http {status}", f"{message}; the server refuses the API key")
    if status == 404:
        return FatalModelError(f"http {status}", f"{message}; check the address and model name")
    return ModelError(f"http {status}", message)


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


def _content(choice: Mapping[str, Any], is_chat: bool) -> tuple[str, str]:
    if not is_chat:
        return text_of(choice.get("text")) or "", ""
    message = choice.get("message")
    if not isinstance(message, Mapping):
        return "", ""
    reasoning = message.get("reasoning") or message.get("reasoning_content")
    return text_of(message.get("content")) or "", text_of(reasoning) or ""


def _mended(text: str, request: Request) -> tuple[str, tuple[str, ...]]:
    deviations = []
    prefix = request.prompt.prefix
    if prefix and text.startswith(prefix):
        text = text[len(prefix) :]
        deviations.append("prefix repeated")
    cuts = [at for stop in request.decoding.stop if (at := text.find(stop)) >= 0]
    if cuts:
        text = text[: min(cuts)]
        deviations.append("stop string left in")
    return text, tuple(deviations)


def _usage(usage: Any) -> Usage:
    if not isinstance(usage, Mapping):
        return Usage()
    counts = (usage.get("prompt_tokens"), usage.get("completion_tokens"))
    return Usage(*(count if isinstance(count, int) and count >= 0 else None for count in counts))


def _error_text(raw: bytes) -> str:
    try:
        return _shown(json.loads(raw.decode("utf-8", "replace")))
    except (ValueError, RecursionError):
        return repr(raw[:80].decode("utf-8", "replace"))


def _shown(body: Any) -> str:
    error = body.get("error", body) if isinstance(body, Mapping) else body
    message = error.get("message") if isinstance(error, Mapping) else None
    return repr(str(message or error)[:200])
