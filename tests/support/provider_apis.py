"""A stand-in for Anthropic's Messages API and for Gemini's generateContent API.

The shapes of requests and replies are those of the providers' references (2026-11): a question
names its scenario as "[NAME]", so that every sample of a run can end differently.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.support.http_server import API_ROOT, serve

KEY = "sk-provider-0123456789abcdefghij"
SCENARIO = re.compile(r"\[([\w ]+)\]")
ANSWER = "2 + 2 = 4. The answer is 4."
# The type of an HTTP error of Anthropic, and the status of Gemini.
ERRORS = {
    400: ("invalid_request_error", "INVALID_ARGUMENT"),
    401: ("authentication_error", "UNAUTHENTICATED"),
    429: ("rate_limit_error", "RESOURCE_EXHAUSTED"),
    503: ("api_error", "UNAVAILABLE"),
    529: ("overloaded_error", "UNAVAILABLE"),
}


def anthropic_message(scenario: str) -> dict[str, Any]:
    """Return a Message that ends as a scenario says."""
    text = {"type": "text", "text": ANSWER}
    thought = {"type": "thinking", "thinking": "two and two", "signature": "c2ln"}
    content, reason = {
        "truncated": ([{"type": "text", "text": "2 + 2"}], "max_tokens"),
        "refused": ([], "refusal"),
        "thinking": ([thought, text], "end_turn"),
        "only thinking": ([thought], "max_tokens"),
        "paused": ([text], "pause_turn"),
        "new reason": ([text], "moon_phase"),
        "window": ([text], "model_context_window_exceeded"),
    }.get(scenario, ([text], "end_turn"))
    return {
        "id": "msg_01", "type": "message", "role": "assistant", "model": "claude-x-20260101",
        "content": content, "stop_reason": reason, "stop_sequence": None,
        "usage": {"input_tokens": 21, "output_tokens": 7,
                  "cache_creation_input_tokens": 0, "cache_read_input_tokens": 4},
    }  # fmt: skip


def gemini_response(scenario: str) -> dict[str, Any]:
    """Return a GenerateContentResponse that ends as a scenario says."""
    text, thought = {"text": ANSWER}, {"text": "two and two", "thought": True}
    usage = {"promptTokenCount": 21, "candidatesTokenCount": 7, "thoughtsTokenCount": 5,
             "totalTokenCount": 33}  # fmt: skip
    whole = {"usageMetadata": usage, "modelVersion": "gemini-x-001", "responseId": "r1"}
    if scenario == "refused":
        return {**whole, "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}
    parts, reason = {
        "truncated": ([{"text": "2 + 2"}], "MAX_TOKENS"),
        "filtered": ([], "SAFETY"),
        "thinking": ([thought, text], "STOP"),
        "only thinking": ([thought], "MAX_TOKENS"),
        "silent": ([], "MAX_TOKENS"),
        "paused": ([], "OTHER"),
        "new reason": ([text], "MOON_PHASE"),
    }.get(scenario, ([text], "STOP"))
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": reason, "index": 0}
    return {**whole, "candidates": [candidate]}


@dataclass
class Providers:
    """Both APIs; bodies: of all requests. refuses: a setting that is refused by name."""

    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    calls: Counter[str] = field(default_factory=Counter)
    refuses: str = ""

    def application(self) -> web.Application:
        """Return the application that answers."""
        app = web.Application()
        app.router.add_post("/v1/messages", self.messages)
        app.router.add_post("/{version}/models/{call}", self.generate)
        return app

    async def messages(self, request: web.Request) -> web.Response:
        """Answer like Anthropic."""
        body = await request.json()
        key = request.headers.get("x-api-key", "")
        assert {"model", "messages", "max_tokens"} <= body.keys()
        assert {entry["role"] for entry in body["messages"]} <= {"user", "assistant"}
        scenario = self.scenario(body)
        status = await self.status(scenario, key, body)
        if status == 200:
            return web.json_response(anthropic_message(scenario))
        error = {"type": ERRORS[status][0], "message": self.words(status, key)}
        return web.json_response({"type": "error", "error": error}, status=status, headers=WAIT)

    async def generate(self, request: web.Request) -> web.Response:
        """Answer like Gemini."""
        body = await request.json()
        key = request.headers.get("x-goog-api-key", "")
        assert {entry["role"] for entry in body["contents"]} <= {"user", "model"}
        scenario = self.scenario(body)
        status = await self.status(scenario, key, body.get("generationConfig", {}))
        if status == 200:
            return web.json_response(gemini_response(scenario))
        error = {"code": status, "message": self.words(status, key), "status": ERRORS[status][1]}
        return web.json_response({"error": error}, status=status, headers=WAIT)

    def scenario(self, body: dict[str, Any]) -> str:
        """Return the scenario that the question names, "" for a plain answer."""
        self.bodies.append(body)
        match = SCENARIO.search(json.dumps(body))
        scenario = match.group(1) if match else ""
        self.calls[scenario] += 1
        return scenario

    async def status(self, scenario: str, key: str, settings: dict[str, Any]) -> int:
        """Return the status of a reply; "busy" and "overloaded" pass at the second request."""
        if key != KEY:
            return 401
        if self.refuses and self.refuses in settings:
            return 400
        if scenario == "slow":
            await asyncio.sleep(5)
        first = self.calls[scenario] == 1
        return {"busy": 429, "overloaded": 529}.get(scenario, 200) if first else 200

    def words(self, status: int, key: str) -> str:
        """Return the message of an error, which repeats the key."""
        if status == 400:
            return f"`{self.refuses}` is deprecated for this model."
        return f"an error of the stand-in for {key}"


WAIT = {"retry-after": "0"}


@contextmanager
def running_providers() -> Iterator[Providers]:
    """Serve both APIs for the block."""
    providers = Providers()
    with serve(providers.application()) as base:
        providers.url = base.removesuffix(API_ROOT)
        yield providers
