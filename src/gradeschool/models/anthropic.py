"""`anthropic/NAME`: Anthropic's Messages API, with its own request and reply.

https://docs.claude.com/en/api/messages
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gradeschool.models.base import Reply, Request
from gradeschool.models.endpoint import Endpoint
from gradeschool.models.openai_api import reply_in

VERSION = "2023-06-01"
CACHED = ("cache_creation_", "cache_read_")  # tokens that `input_tokens` leaves out
LONGEST_COMPLETION = 8192  # tokens; the API requires a limit, and some protocols have none


class AnthropicModel(Endpoint):
    """A model of Anthropic; chat prompts only. See `Endpoint`."""

    speaks_openai = False
    chat_path = "/messages"

    def key_headers(self) -> dict[str, str]:
        """Return the headers with the key, and the version of the API."""
        return {"x-api-key": self.key, "anthropic-version": VERSION}

    @staticmethod
    def thinking_fields(base: str, thinking: bool | None, effort: str | None) -> dict[str, Any]:
        """Return the fields that turn thinking on or off, or set its effort."""
        if effort == "none":
            return {"thinking": {"type": "disabled"}}
        fields: dict[str, Any] = {}
        if thinking is not None:
            fields["thinking"] = {"type": "adaptive" if thinking else "disabled"}
        return fields if effort is None else {**fields, "output_config": {"effort": effort}}

    def body_of(self, request: Request, refused: frozenset[str] | None = None) -> dict[str, Any]:
        """Return the body of a request.

        Blank stop strings, which the API refuses, are left out: the text is cut at them here. A
        top_p of 1 changes nothing, and some models refuse it beside a temperature.
        """
        refused = self._refused if refused is None else refused
        decoding, turns = request.decoding, request.prompt.as_messages()
        options = {
            "temperature": decoding.temperature,
            "top_p": None if decoding.top_p == 1 else decoding.top_p,
            "stop_sequences": [stop for stop in decoding.stop if stop.strip()] or None,
            "system": "\n\n".join(t["content"] for t in turns if t["role"] == "system") or None,
        }
        return {
            "model": self.model,
            "max_tokens": decoding.max_tokens or LONGEST_COMPLETION,
            "messages": [turn for turn in turns if turn["role"] != "system"],
            **{k: v for k, v in options.items() if v is not None and k not in refused},
            **self._extra,
        }

    def read_reply(self, answer: Mapping[str, Any], request: Request) -> Reply:
        """Return the reply in an answer; the reason of its end keeps Anthropic's own word.

        Its `deviations` say that there is no seed, and what limit took the place of none.
        """
        usage = answer.get("usage")
        counts = usage if isinstance(usage, Mapping) else {}
        read = [counts.get(f"{kind}input_tokens") for kind in ("", *CACHED)]
        content, reason = answer.get("content"), answer.get("stop_reason")
        # A text that ended before its first token has no part.
        message = {"content": "" if content == [] and reason else content}
        reply = reply_in({
            "model": answer.get("model"),
            "choices": [{"message": message, "finish_reason": reason}],
            "usage": {
                "prompt_tokens": sum(n for n in read if type(n) is int) if counts else None,
                "completion_tokens": counts.get("output_tokens"),
            },
        }, request)  # fmt: skip
        words = [] if request.decoding.seed is None else ["seed not sent"]
        if request.decoding.max_tokens is None:
            words.append(f"max_tokens {LONGEST_COMPLETION} sent")
        return replace(reply, deviations=(*reply.deviations, *words))
