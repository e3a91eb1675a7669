"""`anthropic/NAME` and `gemini/NAME`: providers with their own APIs, through any-llm.

any-llm (Mozilla.ai, extra `providers`) writes the request in the provider's format and reads the
reply with the provider's SDK. Two facts come from the SDK's own object: why the text ended (any-llm
calls every unknown reason "stop") and which version of the model answered. The reply is then
checked like that of any server (`models/openai_api.py`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, NamedTuple

from gradeschool.errors import (
    FatalModelError,
    InputError,
    ModelError,
    TransientError,
    require_packages,
)
from gradeschool.masking import masked, masked_values, register_key
from gradeschool.models.base import Reply, Request
from gradeschool.models.endpoint import NO_OPTIONS, TOTAL_SECONDS, address_parts
from gradeschool.models.engine_facts import versions_of
from gradeschool.models.openai_api import classify, refused_names, replies_in

# Anthropic's API requires a limit; this is used if the protocol has none.
LONGEST_COMPLETION = 8192
# The SDK's response to the current task's request.
_NATIVE: ContextVar[Any] = ContextVar("native")


class Ending(NamedTuple):
    """Why a text ended, in the provider's terms, and the model that wrote it."""

    reason: str
    model: str


def anthropic_ending(message: Any) -> Ending:
    """Return the ending of a Message of the Messages API."""
    return Ending(str(message.stop_reason or ""), str(message.model or ""))


def gemini_ending(response: Any) -> Ending:
    """Return the ending of a GenerateContentResponse; a blocked prompt has no candidates."""
    candidates, model = response.candidates or [], str(response.model_version or "")
    if not candidates:
        feedback = response.prompt_feedback
        blocked = feedback is not None and feedback.block_reason is not None
        return Ending("content_filter" if blocked else "no candidates", model)
    reason = candidates[0].finish_reason
    return Ending(str(getattr(reason, "value", reason) or ""), model)


class Provider(NamedTuple):
    """A provider: its address, environment variables, SDK, and how its replies end.

    call: maps an SDK's client to the object and the name of the method that sends a request. seeds:
    whether it accepts a seed. needs_limit: whether a request needs a token limit.
    """

    name: str
    address: str
    keys: tuple[str, ...]
    base: str
    package: str
    distributions: tuple[str, ...]
    call: Callable[[Any], tuple[Any, str]]
    ending: Callable[[Any], Ending]
    seeds: bool
    needs_limit: bool


ANTHROPIC = Provider(
    "anthropic", "https://api.anthropic.com", ("ANTHROPIC_API_KEY",), "ANTHROPIC_BASE_URL",
    "anthropic", ("anthropic",), lambda client: (client.messages, "create"), anthropic_ending,
    seeds=False, needs_limit=True,
)  # fmt: skip
GEMINI = Provider(
    "gemini", "https://generativelanguage.googleapis.com", ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "GOOGLE_GEMINI_BASE_URL", "google.genai", ("google-genai",),
    lambda client: (client.aio.models, "generate_content"), gemini_ending,
    seeds=True, needs_limit=False,
)  # fmt: skip
PROVIDERS: Mapping[str, Provider] = {
    "anthropic": ANTHROPIC,
    "gemini": GEMINI,
    "google": GEMINI,
}


class NativeModel:
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
        self.model, self.seconds = model, seconds
        thinking, effort = options.get("thinking"), options.get("reasoning_effort")
        if effort is None and thinking is not None:
            effort = "medium" if thinking else "none"
        self._effort: str | None = effort
        self._llm: Any = None
        self._refused: frozenset[str] = frozenset()

    @property
    def identity(self) -> str:
        """Return model and address."""
        address = (self._base or self.provider.address).rstrip("/")
        effort = f" with reasoning effort {self._effort}" if self._effort else ""
        return f"{self.model} at {address} ({self.provider.name}){effort}"

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self.model

    @property
    def engine(self) -> dict[str, str]:
        """Return the facts of the client (see `engine_facts`)."""
        return {"engine": "any-llm", **versions_of("any-llm-sdk", *self.provider.distributions)}

    async def __aenter__(self) -> NativeModel:
        """Create the SDK's client; the run retries requests, not the SDK."""
        from any_llm import AnyLLM

        self._llm = AnyLLM.create(
            self.provider.name, api_key=self._key, api_base=self._base or None,
            unified_exceptions=True, max_retries=0,
        )  # fmt: skip
        owner, name = self.provider.call(self._llm.client)
        send = getattr(owner, name)

        async def remembered(*arguments: Any, **options: Any) -> Any:
            answer = await send(*arguments, **options)
            _NATIVE.set(answer)
            return answer

        setattr(owner, name, remembered)
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Close the connections."""
        client = self._llm.client
        await (client.aio.aclose() if hasattr(client, "aio") else client.close())

    async def complete(self, request: Request) -> list[Reply]:
        """Request the first sample and return the reply; raises ModelError, as an endpoint does."""
        if not request.prompt.is_chat:
            raise FatalModelError(
                "no completions",
                f"{self.provider.name} answers only chats; give a chat protocol with -p",
            )
        from any_llm.exceptions import AnyLLMError

        refused = self._refused
        while True:
            options, deviations = self._options(request, refused)
            _NATIVE.set(None)
            try:
                completion = await self._llm.acompletion(**options)
                ending = self.provider.ending(_NATIVE.get())
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
        body = masked_values(_body(completion, ending))
        [reply] = replies_in(body, request.part(0, 1))
        return [replace(reply, deviations=(*reply.deviations, *deviations))]

    def _options(
        self, request: Request, refused: frozenset[str]
    ) -> tuple[dict[str, Any], list[str]]:
        """Return the arguments of a request, and how they deviate from the run's settings."""
        prompt, decoding = request.prompt, request.decoding
        seed = None if decoding.seed is None else decoding.seed + request.sample
        options = {
            "temperature": decoding.temperature,
            # top_p 1 has no effect; Anthropic's models refuse temperature and top_p together.
            "top_p": None if decoding.top_p == 1 else decoding.top_p,
            "max_tokens": decoding.max_tokens,
            # Anthropic refuses blank stop strings; the text is cut at them here.
            "stop": [stop for stop in decoding.stop if stop.strip()] or None,
            "seed": seed,
            "reasoning_effort": self._effort,
        }
        deviations = [f"{name} refused" for name in sorted(refused)]
        if seed is not None and not self.provider.seeds:
            options["seed"] = None
            deviations.append("seed not sent")
        if decoding.max_tokens is None and self.provider.needs_limit:
            options["max_tokens"] = LONGEST_COMPLETION
            deviations.append(f"max_tokens {LONGEST_COMPLETION} sent")
        chosen = {
            name: value
            for name, value in options.items()
            if value is not None and name not in refused
        }
        fixed = {"model": self.model, "messages": prompt.as_messages(), "timeout": self.seconds}
        return {**fixed, **chosen}, deviations

    def _failure(self, error: Any) -> ModelError:
        """Return the error for a failed request."""
        base = self._base or self.provider.address
        text = masked(str(error))[:500]
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


def _body(completion: Any, ending: Ending) -> dict[str, Any]:
    """Return any-llm's reply in the form of an OpenAI server, with the provider's own ending."""
    message = completion.choices[0].message if completion.choices else None
    reasoning = getattr(getattr(message, "reasoning", None), "content", None)
    usage = completion.usage
    counts = {} if usage is None else {
        "prompt_tokens": usage.prompt_tokens, "completion_tokens": usage.completion_tokens
    }  # fmt: skip
    # A text that was cut before its first visible token is empty.
    content = (getattr(message, "content", None) or "") if message or ending.reason else None
    return {
        "model": ending.model,
        "choices": [{
            "finish_reason": ending.reason,
            "message": {"content": content, "reasoning": reasoning},
        }],
        "usage": counts,
    }  # fmt: skip
