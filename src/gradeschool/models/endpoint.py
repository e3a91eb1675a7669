"""Any server that speaks the OpenAI protocol: /v1/chat/completions and /v1/completions."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from gradeschool.completion import Prompt
from gradeschool.errors import FatalModelError, InputError, TransientError
from gradeschool.models.base import Reply, Request
from gradeschool.models.replies import classify, parse_reply

CONNECT_SECONDS = 10
TOTAL_SECONDS = 600
LARGEST_REPLY = 64 * 2**20


class Endpoint:
    """One model behind one base address.

    base: address up to and with "/v1". model: the name to send; "" asks the server, which must
    serve exactly one. key: sent as bearer token if not empty; kept out of every message and file.
    """

    def __init__(self, base: str, model: str, key: str) -> None:
        parts = urlsplit(base)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise InputError(f"the address {base!r} is no http:// or https:// URL; give a base URL")
        if parts.username or parts.password:
            raise InputError(
                f"the address of {parts.hostname!r} holds a user name or password; "
                "put the key into the environment"
            )
        if key and not (key.isascii() and key.isprintable()):
            raise InputError("the API key holds characters that no header may; set it again")
        self.base = base.rstrip("/")
        self.model = model
        self._key = key
        self._session: aiohttp.ClientSession | None = None
        self._length_field = "max_tokens"

    @property
    def identity(self) -> str:
        """Return model and address."""
        return f"{self.model} at {self.base}"

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self.model

    async def __aenter__(self) -> Endpoint:
        """Open the connections; ask for the model's name where none was given."""
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        self._session = aiohttp.ClientSession(
            headers=headers,
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=60),
            timeout=aiohttp.ClientTimeout(total=TOTAL_SECONDS, sock_connect=CONNECT_SECONDS),
            trust_env=True,
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        if not self.model:
            try:
                self.model = await self._only_model()
            except BaseException:
                await self._session.close()
                raise
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()

    async def answer(self, request: Request) -> Reply:
        """Ask once and return the reply; raises ModelError (see `models/replies.py`)."""
        body = self._body(request)
        path = "/chat/completions" if request.prompt.is_chat else "/completions"
        status, headers, raw = await self._send("POST", path, body)
        if status == 400 and self._wants_other_length_field(raw):
            self._length_field = "max_completion_tokens"
            status, headers, raw = await self._send("POST", path, self._body(request))
        if status != 200:
            raise classify(status, headers, raw, self.base)
        return parse_reply(raw, request)

    def _wants_other_length_field(self, raw: bytes) -> bool:
        return self._length_field == "max_tokens" and b"max_completion_tokens" in raw

    def _body(self, request: Request) -> dict[str, Any]:
        decoding = request.decoding
        seed = None if decoding.seed is None else decoding.seed + request.sample
        fields = {
            "temperature": decoding.temperature,
            "top_p": decoding.top_p,
            self._length_field: decoding.max_tokens,
            "stop": list(decoding.stop) or None,
            "seed": seed,
        }
        return {
            "model": self.model,
            **_prompt_fields(request.prompt),
            **{name: value for name, value in fields.items() if value is not None},
        }

    async def _only_model(self) -> str:
        status, headers, raw = await self._send("GET", "/models", None)
        try:
            served = [entry["id"] for entry in json.loads(raw)["data"]] if status == 200 else []
        except (ValueError, KeyError, TypeError):
            served = []
        if len(served) == 1 and isinstance(served[0], str):
            return served[0]
        if status in {401, 403}:
            raise classify(status, headers, raw, self.base)
        shown = ", ".join(map(str, served[:10])) or f"none listed (HTTP {status})"
        raise InputError(f"{self.base} serves not one model but: {shown}; add /NAME to the address")

    async def _send(
        self, method: str, path: str, body: dict[str, Any] | None
    ) -> tuple[int, dict[str, str], bytes]:
        assert self._session is not None, "the endpoint is used outside its context"  # noqa: S101
        data = None if body is None else json.dumps(body).encode()
        try:
            async with self._session.request(
                method,
                self.base + path,
                data=data,
                headers={"Content-Type": "application/json"},
                allow_redirects=False,
            ) as reply:
                raw = await _limited(reply)
                headers = {name.lower(): value for name, value in reply.headers.items()}
                return reply.status, headers, raw
        except TimeoutError as error:
            raise TransientError("timeout", f"{self.base} did not answer in time") from error
        except aiohttp.ClientConnectorError as error:
            raise TransientError(
                "cannot connect", f"cannot connect to {self.base}: {error.os_error}"
            ) from error
        except aiohttp.InvalidURL as error:
            raise FatalModelError("bad address", f"{self.base!r} is no usable address") from error
        except (aiohttp.ClientError, OSError) as error:
            kind = type(error).__name__
            raise TransientError("connection lost", f"{self.base}: {kind}") from error


async def _limited(reply: aiohttp.ClientResponse) -> bytes:
    """Read a body of bounded size."""
    parts: list[bytes] = []
    size = 0
    async for part in reply.content.iter_chunked(2**16):
        size += len(part)
        if size > LARGEST_REPLY:
            reply.close()
            raise TransientError("reply too large", f"a reply is larger than {LARGEST_REPLY} bytes")
        parts.append(part)
    return b"".join(parts)


def _prompt_fields(prompt: Prompt) -> dict[str, Any]:
    if prompt.text is not None:
        return {"prompt": prompt.text}
    messages = [message._asdict() for message in prompt.messages]
    if prompt.prefix is None:
        return {"messages": messages}
    return {
        "messages": [*messages, {"role": "assistant", "content": prompt.prefix}],
        "continue_final_message": True,
        "add_generation_prompt": False,
    }
