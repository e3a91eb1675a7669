"""Any server that speaks the OpenAI protocol: /v1/chat/completions and /v1/completions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, BinaryIO
from urllib.parse import urlsplit

import aiohttp

from gradeschool.errors import FatalModelError, InputError, ModelError, TransientError
from gradeschool.models.base import Reply, Request
from gradeschool.models.openai_api import (
    LENGTH,
    NEW_LENGTH,
    body_of,
    classify,
    encoded,
    neutral_for,
    object_in,
    parse_replies,
    refused,
)

CONNECT_SECONDS = 10.0
TOTAL_SECONDS = 600.0
LARGEST_REPLY = 16 * 2**20
# A body is sent again with other fields at most this often: once for each that may be refused.
MOST_BODIES = 8
JSON_HEADERS = {"Content-Type": "application/json"}
# A server that starts says 503 for a while: it is asked so often again which model it serves.
STARTING_WAITS = (0.5, 1.0, 2.0, 4.0)
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
SHORTEST_SECRET = 6  # what is shorter stands in ordinary answers too


class Endpoint:
    """One model behind one base address.

    base: address up to and with "/v1". model: the name to send; "" asks the server, which must
    serve exactly one. key: sent as bearer token if not empty; kept out of every message and file,
    also where the server repeats it. seconds: how long one request may take.
    """

    def __init__(self, base: str, model: str, key: str, seconds: float = TOTAL_SECONDS) -> None:
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
        self.seconds = seconds
        self._key = key
        self._session: aiohttp.ClientSession | None = None
        # What the server turned out to take, for the rest of the run.
        self._length = LENGTH
        self._neutral: Mapping[str, float] = neutral_for(base)
        self._refused: frozenset[str] = frozenset()
        self._one_choice = False

    @property
    def identity(self) -> str:
        """Return model and address."""
        return f"{self.model} at {self.base}"

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self.model

    @property
    def shows_its_key(self) -> bool:
        """Whether the key goes to another machine unencrypted."""
        parts = urlsplit(self.base)
        return bool(self._key) and parts.scheme == "http" and parts.hostname not in LOCAL_HOSTS

    async def __aenter__(self) -> Endpoint:
        """Open the connections; ask for the model's name where none was given."""
        headers = {"Accept-Encoding": "identity"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        proxy = proxy_for(self.base)
        self._session = aiohttp.ClientSession(
            headers=headers,
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=60),
            timeout=aiohttp.ClientTimeout(
                total=self.seconds, sock_connect=min(CONNECT_SECONDS, self.seconds)
            ),
            proxy=proxy,
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
        """Ask once and return the reply; raises ModelError (see `models/openai_api.py`)."""
        return (await self.answer_many((request,)))[0]

    async def answer_many(self, requests: Sequence[Request]) -> list[Reply]:
        """Ask once for requests that differ in their sample alone; return one reply at least.

        A server that refuses `n`, or gives fewer choices, gets one request per sample from then on.
        Usage that it counted for several is that of the first; the others' is unknown.
        """
        sent = requests[:1] if self._one_choice else requests
        raw = await self._raw(sent)
        if raw is None:
            self._one_choice, sent = True, requests[:1]
            raw = await self._raw(sent)
            assert raw is not None, "one choice cannot be too many"  # noqa: S101
        replies = parse_replies(raw, sent)
        if len(replies) < len(sent):
            self._one_choice = True
        if not self._refused:
            return replies
        words = tuple(f"{name} refused" for name in sorted(self._refused))
        return [replace(reply, deviations=(*reply.deviations, *words)) for reply in replies]

    async def call(self, method: str, path: str, data: bytes | aiohttp.FormData | None) -> Any:
        """Return the JSON object that another address of this server answers; raises ModelError."""
        status, headers, raw = await self._send(method, path, data)
        if status != 200:
            raise classify(status, headers, raw, self.base)
        return object_in(raw)

    async def download(self, path: str, target: BinaryIO) -> None:
        """Write what another address of this server answers into a file, however large it is."""
        status, headers, raw = await self._send("GET", path, None, target)
        if status != 200:
            raise classify(status, headers, raw, self.base)

    def body_of(self, request: Request) -> dict[str, Any]:
        """Return the body that would be sent for one request."""
        return self._body(request, 1)

    async def _raw(self, requests: Sequence[Request]) -> bytes | None:
        """Return the body of a 200; None where asking for several choices may have failed."""
        first = requests[0]
        path = "/chat/completions" if first.prompt.is_chat else "/completions"
        for _ in range(MOST_BODIES):
            body = self._body(first, len(requests))
            status, headers, raw = await self._send("POST", path, encoded(body))
            if status == 200:
                return raw
            if status not in {400, 422} or not self._learns(raw, body):
                break
        if len(requests) > 1 and status in {400, 422}:
            return None
        raise classify(status, headers, raw, self.base)

    def _body(self, request: Request, n: int) -> dict[str, Any]:
        fields = (self.model, request.prompt, request.decoding, request.sample, n, self._length)
        return {**body_of(*fields), **self._neutral}

    def _learns(self, raw: bytes, body: Mapping[str, Any]) -> bool:
        """Learn from a refusal which fields the server does not take; True where a retry helps."""
        if LENGTH in body and NEW_LENGTH.encode() in raw:
            self._length = NEW_LENGTH
            return True
        names = refused(raw, body)
        self._refused |= names
        self._neutral = {n: v for n, v in self._neutral.items() if n not in self._refused}
        return bool(names)

    async def _only_model(self) -> str:
        """Return the name of the one model that is served.

        Raises TransientError where nothing answers there or the server is in trouble for longer
        than STARTING_WAITS, InputError where it serves not one.
        """
        try:
            status, headers, raw = await self._models()
        except TransientError as error:
            if error.cause != "cannot connect":
                raise
            raise TransientError(error.cause, f"{error}; is the server running?") from error
        try:
            served = [entry["id"] for entry in json.loads(raw)["data"]] if status == 200 else []
        except (ValueError, KeyError, TypeError, RecursionError):
            served = []
        if len(served) == 1 and isinstance(served[0], str):
            return served[0]
        if status in {401, 403}:
            raise classify(status, headers, raw, self.base)
        shown = ", ".join(map(str, served[:10])) or f"none listed (HTTP {status})"
        raise InputError(f"{self.base} serves not one model but: {shown}; add /NAME to the address")

    async def _models(self) -> tuple[int, dict[str, str], bytes]:
        """Return the answer to /models; raises TransientError where the trouble lasts."""
        for wait in (*STARTING_WAITS, None):
            status, headers, raw = await self._send("GET", "/models", None)
            error = None if status == 200 else classify(status, headers, raw, self.base)
            if not isinstance(error, TransientError):
                break
            if wait is None:
                raise TransientError(
                    error.cause,
                    f"{error}; asked {len(STARTING_WAITS) + 1} times which model it serves; try "
                    "again later, or add /NAME to the address",
                )
            await asyncio.sleep(wait if error.retry_after is None else error.retry_after)
        return status, headers, raw

    async def _send(
        self,
        method: str,
        path: str,
        data: bytes | aiohttp.FormData | None,
        target: BinaryIO | None = None,
    ) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers and body, with the key masked.

        target: a file that the body of a 200 is written to instead.
        """
        assert self._session is not None, "the endpoint is used outside its context"  # noqa: S101
        try:
            async with self._session.request(
                method,
                self.base + path,
                data=data,
                headers=JSON_HEADERS if isinstance(data, bytes) else None,
                allow_redirects=False,
            ) as reply:
                if target is not None and reply.status == 200:
                    async for part in reply.content.iter_chunked(2**16):
                        target.write(part)
                    return reply.status, {}, b""
                raw = await _limited(reply)
                headers = dict(reply.headers) if reply.status != 200 else {}
        except TimeoutError as error:
            message = f"{self.base} did not answer within {self.seconds:g} s"
            raise TransientError("timeout", message) from error
        except (aiohttp.ClientSSLError, aiohttp.ClientConnectorCertificateError) as error:
            raise FatalModelError(
                "bad certificate", f"no trusted connection to {self.base}: {error}"
            ) from error
        except aiohttp.ClientConnectorError as error:
            raise TransientError(
                "cannot connect", f"cannot connect to {self.base}: {error.os_error}"
            ) from error
        except aiohttp.InvalidURL as error:
            raise FatalModelError("bad address", f"{self.base!r} is no usable address") from error
        except (aiohttp.ClientError, OSError) as error:
            kind = type(error).__name__
            raise TransientError("connection lost", f"{self.base}: {kind}") from error
        headers = {name.lower(): self._masked(value) for name, value in headers.items()}
        return reply.status, headers, self.without_key(raw)

    def without_key(self, raw: bytes) -> bytes:
        """Return what a server sent, the key masked where it repeats it."""
        if len(self._key) < SHORTEST_SECRET:
            return raw
        return raw.replace(self._key.encode(), b"[API key]")

    def _masked(self, text: str) -> str:
        return text.replace(self._key, "[API key]") if len(self._key) >= SHORTEST_SECRET else text


async def _limited(reply: aiohttp.ClientResponse) -> bytes:
    """Read a body of bounded size; one that is larger fails its sample: it would come again."""
    parts: list[bytes] = []
    size = 0
    async for part in reply.content.iter_chunked(2**16):
        size += len(part)
        if size > LARGEST_REPLY:
            reply.close()
            raise ModelError("reply too large", f"a reply is larger than {LARGEST_REPLY} bytes")
        parts.append(part)
    return b"".join(parts)


def proxy_for(base: str) -> str | None:
    """Return the proxy that the environment names for an address, looked up once.

    aiohttp's `trust_env` looks it up for each request, in a thread, and would send a password that
    it finds in ~/.netrc.
    """
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(base)
    proxy = None if proxy_bypass(parts.netloc) else getproxies().get(parts.scheme)
    if proxy is not None and urlsplit(proxy).scheme not in {"http", "https"}:
        name = f"{parts.scheme.upper()}_PROXY"
        raise InputError(f"the proxy in {name} is no http:// or https:// address; set another")
    return proxy
