"""OpenAI's HTTP API: fields that a server refuses, replies, and the meaning of errors."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from gradeschool import completion
from gradeschool.completion import Finish, Usage, cut_at, finish_of
from gradeschool.errors import FatalModelError, ModelError, TransientError
from gradeschool.formats.values import mapping, service_failure
from gradeschool.masking import masked, masked_values, shown_address
from gradeschool.models.base import Reply, Request
from gradeschool.problem import MARKER

# For fields that a request leaves out, servers use their own or the model's defaults: llama.cpp
# top_k 40 and min_p 0.05, vLLM those of generation_config.json (a repetition penalty also affects
# greedy decoding). These values mean "off" for every server. A server without such a field ignores
# it or names it in a 400 or 422; it is then left out. OpenAI's API has no such defaults; Gemini's
# refuses these fields, by a message that does not name the penalties for some models.
NEUTRAL: Mapping[str, float] = {
    "presence_penalty": 0,
    "frequency_penalty": 0,
    "top_k": 0,
    "min_p": 0,
    "repetition_penalty": 1,
    "repeat_penalty": 1,
}
WITHOUT_NEUTRAL = ("api.openai.com", "generativelanguage.googleapis.com")
LENGTH, NEW_LENGTH = "max_tokens", "max_completion_tokens"
# OpenAI's "Use 'max_completion_tokens' instead". vLLM also names both fields in its refusal of a
# prompt that is too long, where another field would not help and completions know no other.
WANTS_NEW_LENGTH = re.compile(rf"(?i)\buse\W{{1,4}}{NEW_LENGTH}")
REFUSAL = re.compile(
    r"unexpected|unrecogni[sz]ed|unknown|unsupported|not supported|n[o']t support|deprecated"
    r"|not (?:permitted|allowed)|extra|forbidden",
    re.IGNORECASE,
)
# A value that is out of range is the user's mistake: the request fails. Only these fields are left
# out even then: neutral values change nothing, and `reply_in` cuts a text at the stop strings.
INVALID = re.compile("invalid|must be", re.IGNORECASE)
SAFE_TO_LEAVE_OUT = (*NEUTRAL, "stop")
# Settings without which other answers are drawn.
SAMPLING = ("temperature", "top_p", "seed")
# What an error says. Some servers repeat the request beside it, with all its fields.
ERROR_FIELDS = ("error", "errors", "message", "detail", "msg", "loc", "param", "code", "type")

TRANSIENT_STATUSES = {408, 409, 425, 429, *range(500, 600)}
# Of these, the ones that say nothing about the request: of a busy server, and of a gateway.
BUSY_STATUSES = {429, 503, 529}
BUSY_OR_GATEWAY_STATUSES = {*BUSY_STATUSES, 502, 504}
LONGEST_RETRY_AFTER = 120.0
SECONDS = re.compile(r"\s*([0-9]{1,15}(?:\.[0-9]{0,15})?)\s*")
OUT_OF_MONEY = ("insufficient_quota", "billing_hard_limit_reached")
LONGEST_NAME = 200
MOST_TOKENS = 2**31 - 1  # a larger count is not a count

# A reply is an answer only if its choice ends with a stop, at the limit or for a reason that the
# server does not report, and has text; all else is a failure with a cause, which is never scored.
UNREPORTED = ("", "none", "null")
CAUSES_OF_FAILURE = {
    "server error": "error failed insufficient_system_resource",
    "aborted": "abort aborted cancelled canceled",
    "content filter": "content_filter safety recitation blocklist prohibited_content sensitive "
    "filtered guardrail_intervened refusal spii language",
    "tool call": "tool_calls function_call tool_use tool_call malformed_function_call "
    "unexpected_tool_call",
}
FAILURES = {word: cause for cause, words in CAUSES_OF_FAILURE.items() for word in words.split()}
# The same request would end in the same way: it is retried only in the next session.
LASTING = ("content filter", "tool call")


def refused_fields(raw: bytes, body: Mapping[str, Any]) -> frozenset[str]:
    """Return the fields to leave out when a request that got a 400 or 422 is sent again.

    Those are the ones that the error names, or `max_tokens` if it asks for the new name. Without
    any, the request fails.
    """
    text = raw.decode("utf-8", "replace")
    with suppress(ValueError, RecursionError):  # else the body is the text
        text = " ".join(_error_words(json.loads(text))) or text
    if LENGTH in body and "messages" in body and WANTS_NEW_LENGTH.search(text):
        return frozenset({LENGTH})
    may_leave_out = SAFE_TO_LEAVE_OUT + (SAMPLING if REFUSAL.search(text) else ())
    if not REFUSAL.search(text) and not INVALID.search(text):
        return frozenset()
    # Errors may name a field in camel case: "presencePenalty".
    return frozenset(
        name
        for name in may_leave_out
        if name in body and re.search(rf"(?i)\b{name.replace('_', '_?')}\b", text)
    )


def _error_words(value: Any) -> Iterator[str]:
    """Yield what an error says, without a request that it repeats."""
    if isinstance(value, dict):
        value = [value.get(name) for name in ERROR_FIELDS]
    if isinstance(value, str):
        yield value
    for entry in value if isinstance(value, list) else ():
        yield from _error_words(entry)


def object_in(raw: bytes) -> dict[str, Any]:
    """Return the JSON object in the body of a 200, secrets masked; raises TransientError.

    Bytes that are not UTF-8 are not replaced: the text would not be the model's.
    """
    try:  # Python refuses an integer of thousands of digits, such as a wrong count of tokens
        body = json.loads(raw.decode(), parse_int=lambda it: int(it) if len(it) < 20 else -1)
        return checked_body(masked_values(body))
    except (ValueError, RecursionError) as error:
        start = masked(repr(raw[:60]))
        raise TransientError("bad response", f"the reply is not JSON: {start}") from error


def checked_body(body: Any) -> dict[str, Any]:
    """Return a parsed body that is an object without an error; raises TransientError."""
    if not isinstance(body, dict):
        raise TransientError("bad response", f"the reply is not a JSON object: {_shown(body)}")
    if body.get("error"):
        raise TransientError("server error", f"the reply contains an error: {_shown(body)}")
    return body


def reply_in(body: Mapping[str, Any], request: Request) -> Reply:
    """Return the completion in a parsed body: the first choice.

    Raises TransientError or ModelError, with the usage, if it is a failure. A stop string that the
    server left in is cut off, and a repeated prefix is removed; both are named in `deviations`.
    """
    counts = mapping(body.get("usage"))
    tokens = (
        counts.get("prompt_tokens"),
        counts.get("completion_tokens"),
        mapping(counts.get("completion_tokens_details")).get("reasoning_tokens"),
    )
    usage = Usage(*[n if type(n) is int and 0 <= n <= MOST_TOKENS else None for n in tokens])
    try:
        model, choices = body.get("model"), body.get("choices")
        if not isinstance(choices, list) or not choices:
            raise TransientError("bad response", "the reply has no choices")
        choice, name = choices[0], model[:LONGEST_NAME] if isinstance(model, str) else ""
        if not isinstance(choice, Mapping):
            raise TransientError("bad response", f"the choice is not an object: {_shown(choice)}")
        if choice.get("error"):
            raise TransientError("server error", f"the choice contains an error: {_shown(choice)}")
        reason = str(choice.get("finish_reason") or "")
        finish = finish_of(reason)
        if finish not in (Finish.STOP, Finish.LENGTH) and reason.lower() not in UNREPORTED:
            cause = FAILURES.get(reason.lower(), "unknown ending")
            kind = ModelError if cause in LASTING else TransientError
            raise kind(cause, f"the completion ended with finish_reason {reason[:80]!r}")
        reasoning, content = "", choice.get("text")
        if request.prompt.is_chat:
            message = choice.get("message")
            if not isinstance(message, Mapping):
                raise TransientError("bad response", f"the choice has no message: {_shown(choice)}")
            reasoning = _texts(message.get("reasoning") or message.get("reasoning_content"))
            content = message.get("content")
            if message.get("refusal") and not content:
                raise ModelError("content filter", f"a refusal: {_shown(message['refusal'])}")
            calls = message.get("tool_calls") or message.get("function_call")
            if calls and not content:
                raise ModelError("tool call", f"the reply is a tool call: {_shown(calls)}")
            # The limit may be reached in thinking that the server does not show.
            if content is None and (
                reasoning or (finish is Finish.LENGTH and usage.completion_tokens)
            ):
                content = ""
            if isinstance(content, list) and content:
                content, thought = _parts(content)
                reasoning = reasoning or thought
        if not isinstance(content, str):
            raise TransientError("bad response", f"the content is not text: {_shown(content)}")
        if not content and not reasoning and not usage.completion_tokens:
            raise TransientError("empty reply", "the reply has no text, and no token was generated")
        if service_failure(content) and MARKER not in content and "boxed" not in content:
            raise TransientError("server error", f"the text is an error: {_shown(content)}")
        deviations, stops = [], request.decoding.stop
        prefix = request.prompt.prefix or ""
        written = content.removeprefix(prefix)
        if written != content:
            deviations.append("prefix repeated")
        text = cut_at(written, stops)
        if text != written:
            finish = Finish.STOP
            deviations.append("stop string left in")
        if not text.strip():
            matched = choice.get("stop_reason") in stops  # vLLM and SGLang
            if content.strip() or (matched and not reasoning):
                deviations.append(completion.CUT_BY_STOP)
            elif finish is Finish.LENGTH:
                deviations.append(completion.IN_THINKING)
            elif reasoning:
                deviations.append(completion.IN_REASONING)
            else:
                several = (usage.completion_tokens or 0) > 1 and stops
                deviations.append(completion.CUT_BY_STOP if several else completion.ENDED_AT_ONCE)
        return Reply(text, finish, usage, reasoning, name, tuple(deviations))
    except ModelError as error:
        error.usage = usage
        raise


def _parts(content: list[Any]) -> tuple[str, str]:
    """Return the text and the thinking in the parts of a message.

    Raises ModelError or TransientError for parts without text, and for a part that is neither.
    """
    text, thinking = [], []
    for part in content:
        fields = part if isinstance(part, Mapping) else {"text": part}
        kind, words = str(fields.get("type", "text")), fields.get("text")
        if kind in ("thinking", "redacted_thinking", "reasoning") or fields.get("thought"):
            thinking.append(_texts(fields.get("thinking") or words))
        elif kind in ("text", "output_text") and isinstance(words, str):
            text.append(words)
        elif kind == "refusal":
            raise ModelError("content filter", f"a refusal: {_shown(part)}")
        elif kind in ("tool_use", "tool_call", "function_call"):
            raise ModelError("tool call", f"the reply is a tool call: {_shown(part)}")
        else:
            raise TransientError("bad response", f"a part is not text: {_shown(part)}")
    if not text and not any(thinking):
        raise TransientError("bad response", f"the content has no text: {_shown(content)}")
    return "".join(text), "".join(thinking)


def _texts(value: Any) -> str:
    """Return the text of thinking: a string, or parts with a string each; "" for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return _texts(value.get("text") or value.get("thinking"))
    return "".join(map(_texts, value)) if isinstance(value, list) else ""


# Hosts whose API turns thinking on and off by an effort, or by an object with a type.
BY_EFFORT = ("api.openai.com", "generativelanguage.googleapis.com", "api.x.ai", "api.groq.com")
BY_TYPE = ("api.anthropic.com", "api.deepseek.com", "api.z.ai", "open.bigmodel.cn")
OLLAMA_PORT = 11434  # Ollama takes an effort, too
THINKING_TOKENS = 8192  # Anthropic's OpenAI-compatible API requires a budget


def thinking_fields(base: str, thinking: bool | None, effort: str | None) -> dict[str, Any]:
    """Return the fields that turn thinking on or off, or set its effort, at this address.

    A server that is not known by its host gets arguments of the chat template, as vLLM, SGLang and
    llama.cpp take them: templates differ in the name and ignore the other one.
    """
    parts = urlsplit(base)
    host = parts.hostname or ""
    asked = {} if effort is None else {"reasoning_effort": effort}
    if host in BY_EFFORT or parts.port == OLLAMA_PORT:
        return asked or {"reasoning_effort": "medium" if thinking else "none"}
    if host == "openrouter.ai":
        fields = {"enabled": thinking, "effort": effort}
        return {"reasoning": {name: value for name, value in fields.items() if value is not None}}
    if host in BY_TYPE:
        state: dict[str, Any] = {"type": "enabled" if thinking else "disabled"}
        if thinking and "anthropic" in host:
            state["budget_tokens"] = THINKING_TOKENS
        return asked if thinking is None else {**asked, "thinking": state}
    if host.startswith("dashscope") and host.endswith(".aliyuncs.com"):  # Qwen's own API
        return asked if thinking is None else {**asked, "enable_thinking": thinking}
    template = {} if thinking is None else {"enable_thinking": thinking, "thinking": thinking}
    return {**asked, "chat_template_kwargs": {**template, **asked}}


def classify(
    status: int, headers: Mapping[str, str], raw: bytes, base: str, has_key: bool
) -> ModelError:
    """Return the error for a status other than 200: retry, fail the sample, or stop the run.

    has_key: whether the request had an API key, or other headers of the user.
    """
    text = raw.decode("utf-8", "replace")
    try:
        shown = _shown(masked_values(json.loads(text)))
    except (ValueError, RecursionError):
        shown = masked(repr(text[:80]))
    cause, message = f"http {status}", f"HTTP {status} from {base}: {shown}"
    if status in {401, 403} or (status == 400 and "api key not valid" in text.lower()):  # Gemini's
        advice = "no API key was sent: set GRADESCHOOL_API_KEY, or OPENAI_API_KEY for openai/NAME"
        if has_key:
            advice = "the server refuses the API key"
        return FatalModelError(cause, f"{message}; {advice}")
    if status == 402 or (status == 429 and any(word in text for word in OUT_OF_MONEY)):
        return FatalModelError(cause, f"{message}; the account has no credit left")
    if status == 404:
        advice = "check the address and model name"
        if not urlsplit(base).path.strip("/"):
            advice = f"did you mean {base}/v1?"
        return FatalModelError(cause, f"{message}; {advice}")
    if 300 <= status < 400:  # redirects are not followed: the key would go to another server
        place = repr(shown_address(headers.get("location", "")[:200]))
        words = f"HTTP {status} from {base}: redirect to {place}; give that address"
        return FatalModelError(cause, words)
    if status in TRANSIENT_STATUSES:
        wait = SECONDS.fullmatch(headers.get("retry-after", ""))
        seconds = min(float(wait[1]), LONGEST_RETRY_AFTER) if wait else None
        return TransientError(cause, message, seconds)
    return ModelError(cause, message)


def _shown(body: Any) -> str:
    error = body.get("error", body) if isinstance(body, Mapping) else body
    try:
        return repr(str(mapping(error).get("message") or error)[:200])
    except RecursionError:
        return "a value that is nested too deeply"
