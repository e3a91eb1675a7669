"""`anthropic/NAME` and `gemini/NAME`: providers with their own APIs, through any-llm.

any-llm (Mozilla.ai, extra `providers`) writes the request in the provider's format and reads the
reply with the provider's SDK. Two facts come from the SDK's own object: why the text ended (any-llm
calls every unknown reason "stop") and which version of the model answered. The reply is then
checked like that of any server (`models/openai_api.py`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, NamedTuple, Self

from gradeschool.errors import (
    FatalModelError,
    InputError,
    ModelError,
    TransientError,
    require_packages,
)
from gradeschool.masking import masked, masked_values, register_key
from gradeschool.models.base import Model, Reply, Request, versions_of
from gradeschool.models.endpoint import NO_OPTIONS, TOTAL_SECONDS, address_parts
from gradeschool.models.openai_api import classify, refused_names, replies_in

# Anthropic's API requires a limit; this is used if the protocol has none.
LONGEST_COMPLETION = 8192
# The SDK's response to the current task's request.
_NATIVE: ContextVar[Any] = ContextVar("native")


class Provider(NamedTuple):
    """A provider: its address, its environment variables, its SDK's module and distribution."""

    name: str
    address: str
    keys: tuple[str, ...]
    base: str
    package: str
    distribution: str


GEMINI = Provider(
    "gemini", "https://generativelanguage.googleapis.com", ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "GOOGLE_GEMINI_BASE_URL", "google.genai", "google-genai",
)  # fmt: skip
PROVIDERS: Mapping[str, Provider] = {
    "anthropic": Provider(
        "anthropic", "https://api.anthropic.com", ("ANTHROPIC_API_KEY",), "ANTHROPIC_BASE_URL",
        "anthropic", "anthropic",
    ),
    "gemini": GEMINI,
    "google": GEMINI,
}  # fmt: skip


def ending(response: Any) -> tuple[str, str]:
    """Return why a text ended, in the provider's terms, and the model that wrote it.

    response: a Message of Anthropic's Messages API, or Gemini's GenerateContentResponse, in which a
    blocked prompt has no candidates.
    """
    if hasattr(response, "stop_reason"):
        return str(response.stop_reason or ""), str(response.model or "")
    model = str(response.model_version or "")
    if response.candidates:
        reason = response.candidates[0].finish_reason
        return str(getattr(reason, "value", reason) or ""), model
    blocked = response.prompt_feedback is not None and response.prompt_feedback.block_reason
    return "content_filter" if blocked else "no candidates", model


class NativeModel(Model):
    """A model of a provider; chat prompts only.

    Keys come from the provider's environment variables and are kept out of every message and file.
    seconds: timeout of one request. Raises MissingExtraError without any-llm, InputError without a
    key.
    """

    def __init__(
        self,
        provider: str,
        model: str,
        seconds: float = TOTAL_SECONDS,
        options: Mapping[str, Any] = NO_OPTIONS,
    ) -> None:
        self.provider = PROVIDERS[provider]
        require_packages(f"-m {provider}/NAME", "providers", "any_llm", self.provider.package)
        keys = [os.environ.get(name, "").strip() for name in self.provider.keys]
        self._key = next(filter(None, keys), "")
        if not self._key:
            names = " or ".join(self.provider.keys)
            raise InputError(f"{names} is not set; export the key for -m {provider}/{model}")
        register_key(self._key)
        self._base = os.environ.get(self.provider.base, "").strip()
        if self._base:
            address_parts(self._base, self.provider.base)
        self._address = (self._base or self.provider.address).rstrip("/")
        self.seconds = seconds
        self._effort = options.get("reasoning_effort")
        if self._effort is None and "thinking" in options:
            self._effort = "medium" if options["thinking"] else "none"
        effort = f" with reasoning effort {self._effort}" if self._effort else ""
        self.name = model
        self.identity = f"{model} at {self._address} ({self.provider.name}){effort}"
        self._llm: Any = None
        self._refused: frozenset[str] = frozenset()

    async def facts(self) -> dict[str, str]:
        """Return the client and its versions."""
        return {"engine": "any-llm", **versions_of("any-llm-sdk", self.provider.distribution)}

    async def __aenter__(self) -> Self:
        """Create the SDK's client; the run retries requests, not the SDK."""
        from any_llm import AnyLLM

        self._llm = AnyLLM.create(
            self.provider.name, api_key=self._key, api_base=self._base or None,
            unified_exceptions=True, max_retries=0,
        )  # fmt: skip
        client = self._llm.client
        owner, name = (
            (client.aio.models, "generate_content")
            if self.provider is GEMINI
            else (client.messages, "create")
        )
        send = getattr(owner, name)

        async def remember(*arguments: Any, **options: Any) -> Any:
            answer = await send(*arguments, **options)
            _NATIVE.set(answer)
            return answer

        setattr(owner, name, remember)
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Close the connections."""
        client = self._llm.client
        await (client.aio.aclose() if hasattr(client, "aio") else client.close())

    async def complete(self, request: Request) -> list[Reply]:
        """Request the first sample and return the reply; raises ModelError, as an endpoint does."""
        from any_llm.exceptions import AnyLLMError

        refused = self._refused
        while True:
            options, deviations = self.options_of(request, refused)
            _NATIVE.set(None)
            try:
                completion = await self._llm.acompletion(**options)
                reason, model = ending(_NATIVE.get())
                break
            except AnyLLMError as error:
                more = refused_names(str(error), options) if error.status_code == 400 else ()
                if not more:
                    raise self._failure(error) from error
                refused |= more
            except (AttributeError, LookupError, TypeError, ValueError) as error:
                words = masked(str(error))[:200]
                raise TransientError("bad response", f"the reply is not valid: {words}") from error
        self._refused |= refused
        # any-llm's reply in the form of an OpenAI server, with the provider's own ending. A text
        # that was cut before its first visible token is empty.
        message = completion.choices[0].message if completion.choices else None
        content = (getattr(message, "content", None) or "") if message or reason else None
        thoughts = getattr(getattr(message, "reasoning", None), "content", None)
        inside = {"content": content, "reasoning": thoughts}
        usage = completion.usage
        counts = {} if usage is None else {
            "prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens,
            "completion_tokens_details": {"reasoning_tokens": getattr(
                getattr(usage, "completion_tokens_details", None), "reasoning_tokens", None)},
        }  # fmt: skip
        choice = {"finish_reason": reason, "message": inside}
        body = masked_values({"model": model, "choices": [choice], "usage": counts})
        [reply] = replies_in(body, request.part(0, 1))
        return [replace(reply, deviations=(*reply.deviations, *deviations))]

    def options_of(
        self, request: Request, refused: frozenset[str] = frozenset()
    ) -> tuple[dict[str, Any], list[str]]:
        """Return the arguments of a request, and how they deviate from the run's settings."""
        prompt, decoding = request.prompt, request.decoding
        is_anthropic = self.provider is not GEMINI
        seed = None if decoding.seed is None else decoding.seed + request.samples[0]
        limit = decoding.max_tokens or (LONGEST_COMPLETION if is_anthropic else None)
        deviations = [f"{name} refused" for name in sorted(refused)]
        if seed is not None and is_anthropic:  # its API has no seed
            deviations.append("seed not sent")
        if limit != decoding.max_tokens:
            deviations.append(f"max_tokens {limit} sent")
        options = {
            "temperature": decoding.temperature,
            # top_p 1 has no effect; Anthropic's models refuse temperature and top_p together.
            "top_p": None if decoding.top_p == 1 else decoding.top_p,
            "max_tokens": limit,
            # Anthropic refuses blank stop strings; the text is cut at them here.
            "stop": [stop for stop in decoding.stop if stop.strip()] or None,
            "seed": None if is_anthropic else seed,
            "reasoning_effort": self._effort,
        }
        chosen = {
            name: value
            for name, value in options.items()
            if value is not None and name not in refused
        }
        fixed = {"model": self.name, "messages": prompt.as_messages(), "timeout": self.seconds}
        return {**fixed, **chosen}, deviations

    def _failure(self, error: Any) -> ModelError:
        """Return the error for a failed request."""
        base, text = self._address, masked(str(error))[:500]
        status, origin = error.status_code, error.original_exception
        if status is not None:
            headers = {"retry-after": wait} if (wait := getattr(error, "retry_after", None)) else {}
            raw = json.dumps({"error": {"message": text}}).encode()
            if status == 400 and "api key" in text.lower():  # Gemini's answer to a wrong key
                return FatalModelError("http 400", f"HTTP 400 from {base}: {text!r}")
            return classify(status, headers, raw, base)
        kind = type(origin).__name__
        if "Timeout" in kind:
            return TransientError("timeout", f"{base} did not answer within {self.seconds:g} s")
        if "Connect" in kind:
            return TransientError("cannot connect", f"cannot connect to {base}: {text}")
        if isinstance(origin, (AttributeError, LookupError, TypeError, ValueError)):
            return TransientError("bad response", f"the reply is not valid: {text}")
        return TransientError("connection lost", f"{base}: {kind} {text}".strip())
