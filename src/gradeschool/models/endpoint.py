"""Any server that speaks the OpenAI protocol: /v1/chat/completions and /v1/completions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, BinaryIO, NamedTuple
from urllib.parse import SplitResult, urlsplit
from weakref import WeakSet

import aiohttp
from aiohttp.client_proto import ResponseHandler

from gradeschool.errors import FatalModelError, InputError, ModelError, TransientError
from gradeschool.masking import masked, register_secret, shown_address
from gradeschool.models.base import Reply, Request
from gradeschool.models.openai_api import (
    LENGTH,
    NEW_LENGTH,
    classify,
    neutral_for,
    object_in,
    refused,
    replies_in,
)

CONNECT_SECONDS = 10.0
TOTAL_SECONDS = 600.0
LARGEST_REPLY = 16 * 2**20
JSON_HEADERS = {"Content-Type": "application/json"}
# A server that starts says 503 for a while: it is asked so often again which model it serves.
STARTING_WAITS: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0)
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
# The connection that carries the present task's request.
_CONNECTION: ContextVar[ResponseHandler] = ContextVar("connection")


class GuardedConnector(aiohttp.TCPConnector):
    """Connections of which none hands an old reply to a new request.

    One on which bytes came while it was idle is closed. Whoever reads a reply closes every other
    one too, unless the reply is certainly that of its request (`Endpoint._checked`).
    """

    async def connect(self, *arguments: Any, **options: Any) -> Any:
        """Return a connection, new or idle and silent."""
        connection = await super().connect(*arguments, **options)
        while (protocol := connection.protocol) is not None and protocol.should_close:
            connection.close()
            connection = await super().connect(*arguments, **options)
        if protocol is not None:
            _CONNECTION.set(protocol)
        return connection


class Response(NamedTuple):
    """What a server sent: headers in lower case, and the connection that it came on."""

    status: int
    headers: Mapping[str, str]
    raw: bytes
    connection: ResponseHandler


class Endpoint:
    """One model behind one base address.

    base: address up to and with "/v1". model: the name to send; "" asks the server, which must
    serve exactly one. key: sent as bearer token if not empty; kept out of every message and file,
    also where the server repeats it. seconds: how long one request may take.
    """

    def __init__(self, base: str, model: str, key: str, seconds: float = TOTAL_SECONDS) -> None:
        address_parts(base)
        if key and not (key.isascii() and key.isprintable()):
            raise InputError("the API key holds characters that no header may; set it again")
        register_secret(key)
        self.base = base.rstrip("/")
        self.model = model
        self.seconds = seconds
        self._key = key
        self._session: aiohttp.ClientSession | None = None
        # What the server turned out to take, for the rest of the run.
        self._length = LENGTH
        self._neutral: dict[str, float] = neutral_for(base)
        self._refused: frozenset[str] = frozenset()
        self._one_choice = False
        # Of replies: their ids, and the connections that brought one.
        self._ids: set[int] = set()
        self._trusted: WeakSet[ResponseHandler] = WeakSet()

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
            connector=GuardedConnector(limit=0, keepalive_timeout=60),
            timeout=aiohttp.ClientTimeout(
                total=self.seconds, sock_connect=min(CONNECT_SECONDS, self.seconds)
            ),
            proxy=proxy,
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        if not self.model:
            try:
                self.model = await self._only_model()
            except BaseException:  # cancelled as well: `__aexit__` is not called then
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
        first = requests[0]
        while True:
            body = self.body_of(first, len(sent))
            path = "/chat/completions" if "messages" in body else "/completions"
            response = await self._send("POST", path, json.dumps(body).encode())
            if response.status == 200:
                break
            refuses = response.status in {400, 422}
            if refuses and self._learns(response.raw, body):
                continue
            if not (refuses and len(sent) > 1):
                raise classify(response.status, response.headers, response.raw, self.base)
            self._one_choice, sent = True, requests[:1]
        answer = self._checked(response)
        replies = replies_in(answer, sent)
        self._one_choice |= len(answer["choices"]) < len(sent)
        if not self._refused:
            return replies
        words = tuple(f"{name} refused" for name in sorted(self._refused))
        return [replace(reply, deviations=(*reply.deviations, *words)) for reply in replies]

    def _checked(self, response: Response) -> dict[str, Any]:
        """Return the object of a reply that is certainly that of its request.

        A server, or a proxy in between, may send a reply twice or late, and the next request on the
        connection would take it for its own. So a connection is used again only after a reply with
        an id that no earlier one had; what comes there with none, or with one that was seen, is
        refused and requested again on another connection. Raises TransientError.
        """
        id = None
        try:
            body = object_in(response.raw)
            id = body.get("id")
            digest = hash(id) if isinstance(id, str) and id else None
            if digest is not None and digest not in self._ids:
                self._ids.add(digest)
                self._trusted.add(response.connection)
                return body
        except TransientError:
            response.connection.close()
            raise
        response.connection.close()
        if response.connection in self._trusted:
            raise TransientError(
                "stale reply", f"{self.base} sent a reply that belongs to no request: id {id!r}"
            )
        return body

    async def call(
        self, method: str, path: str, data: bytes | aiohttp.FormData | None
    ) -> dict[str, Any]:
        """Return the JSON object that another address of this server answers; raises ModelError."""
        return object_in((await self._fetch(method, path, data)).raw)

    async def download(self, path: str, target: BinaryIO) -> None:
        """Write what another address of this server answers into a file, however large it is."""
        await self._fetch("GET", path, None, target)

    async def _fetch(self, *request: Any) -> Response:
        """Return the reply to `_send` of these arguments; raises ModelError unless it is a 200."""
        response = await self._send(*request)
        response.connection.close()
        if response.status != 200:
            raise classify(response.status, response.headers, response.raw, self.base)
        return response

    def body_of(self, request: Request, n: int = 1) -> dict[str, Any]:
        """Return the body that asks for n samples of a prompt, the first that of the request."""
        prompt, decoding = request.prompt, request.decoding
        fields: dict[str, Any] = {"model": self.model}
        if prompt.text is not None:
            fields["prompt"] = prompt.text
        else:
            fields["messages"] = [message._asdict() for message in prompt.messages]
            if prompt.prefix is not None:
                fields["messages"].append({"role": "assistant", "content": prompt.prefix})
                fields |= {"continue_final_message": True, "add_generation_prompt": False}
        options = {
            "temperature": decoding.temperature,
            "top_p": decoding.top_p,
            self._length: decoding.max_tokens,
            "stop": list(decoding.stop) or None,
            "seed": None if decoding.seed is None else decoding.seed + request.sample,
            "n": n if n > 1 else None,
        }
        fields |= {name: value for name, value in options.items() if value is not None}
        return fields | self._neutral

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
        served, status = [], 200
        try:
            reply = await self._patient_call("/models")
            listed = reply.get("data")
            entries = listed if isinstance(listed, list) else []
            served = [entry.get("id") for entry in entries if isinstance(entry, Mapping)]
        except FatalModelError as error:
            if error.cause != "http 404":
                raise
            status = 404
        except TransientError as error:
            if error.cause == "cannot connect":
                raise TransientError(error.cause, f"{error}; is the server running?") from error
            if error.cause != "bad response":
                raise
        except ModelError as error:
            status = int(error.cause.removeprefix("http "))
        if len(served) == 1 and isinstance(served[0], str) and served[0]:
            return served[0]
        names = ", ".join(str(name)[:80] for name in served[:10])
        names = names or f"none listed (HTTP {status})"
        raise InputError(f"{self.base} serves not one model but: {names}; add /NAME to the address")

    async def _patient_call(self, path: str) -> dict[str, Any]:
        """Return the object at an address; raises TransientError where the trouble lasts."""
        for wait in STARTING_WAITS:
            try:
                return await self.call("GET", path, None)
            except TransientError as error:
                if not error.cause.startswith("http "):
                    raise
                await asyncio.sleep(wait if error.retry_after is None else error.retry_after)
        try:
            return await self.call("GET", path, None)
        except TransientError as error:
            raise TransientError(
                error.cause,
                f"{error}; asked {len(STARTING_WAITS) + 1} times which model it serves; try "
                "again later, or add /NAME to the address",
            ) from error

    async def _send(
        self,
        method: str,
        path: str,
        data: bytes | aiohttp.FormData | None,
        target: BinaryIO | None = None,
    ) -> Response:
        """Return what the server sends; raises TransientError, FatalModelError, ModelError.

        target: a file that the body of a 200 is written to instead. A reply that is larger than
        LARGEST_REPLY fails its sample: it would come again. The caller closes the connection,
        unless the reply is certainly that of this request.
        """
        assert self._session is not None, "the endpoint is used outside its context"  # noqa: S101
        parts: list[bytes] = []
        size = 0
        try:
            async with self._session.request(
                method,
                self.base + path,
                data=data,
                headers=JSON_HEADERS if isinstance(data, bytes) else None,
                allow_redirects=False,
            ) as reply:
                connection = _CONNECTION.get()
                async for part in reply.content.iter_chunked(2**16):
                    if target is not None and reply.status == 200:
                        target.write(part)
                        continue
                    size += len(part)
                    if size > LARGEST_REPLY:
                        reply.close()
                        raise ModelError(
                            "reply too large", f"a reply is larger than {LARGEST_REPLY} bytes"
                        )
                    parts.append(part)
        except TimeoutError as error:
            message = f"{self.base} did not answer within {self.seconds:g} s"
            raise TransientError("timeout", message) from error
        except (aiohttp.ClientSSLError, aiohttp.ClientConnectorCertificateError) as error:
            raise FatalModelError(
                "bad certificate", f"no trusted connection to {self.base}: {error}"
            ) from error
        except aiohttp.ClientConnectorError as error:
            raise TransientError(
                "cannot connect", f"cannot connect to {self.base}: {masked(str(error.os_error))}"
            ) from error
        except ValueError as error:  # InvalidURL, and names that cannot be looked up
            raise FatalModelError("bad address", f"{self.base!r} is no usable address") from error
        except (aiohttp.ClientError, OSError) as error:
            kind = type(error).__name__
            raise TransientError("connection lost", f"{self.base}: {kind}") from error
        headers = {}
        if reply.status != 200:
            connection.close()
            headers = {name.lower(): masked(value) for name, value in reply.headers.items()}
        return Response(reply.status, headers, b"".join(parts), connection)


def address_parts(address: str, name: str = "the address") -> SplitResult:
    """Return the parts of a base URL; raises InputError for what is none, or holds a secret.

    The message never shows what may be a password or a key.
    """
    text = shown_address(address)
    try:
        parts = urlsplit(address)
        usable = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:  # brackets that do not match, a port beyond 65535
        usable = False
    if not usable:
        raise InputError(
            f"{name} {text!r} is no usable http:// or https:// URL; give one such as "
            "http://HOST:PORT/v1"
        )
    if "@" in address or parts.query or parts.fragment:
        raise InputError(
            f"{name} {text!r} holds a user name, password, query or fragment; put the key into "
            "the environment (GRADESCHOOL_API_KEY, or OPENAI_API_KEY for openai/NAME)"
        )
    return parts


def proxy_for(base: str) -> str | None:
    """Return the proxy that the environment names for an address, looked up once.

    aiohttp's `trust_env` looks it up for each request, in a thread, and would send a password that
    it finds in ~/.netrc. Raises InputError where its address cannot be used.
    """
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(base)
    proxy = None if proxy_bypass(parts.netloc) else getproxies().get(parts.scheme)
    if proxy is None:
        return None
    name = f"{parts.scheme.upper()}_PROXY"
    _, mark, host = proxy.rpartition("@")
    if mark:
        shown_address(proxy)  # registers its password
    scheme = proxy.partition("://")[0]
    try:
        address_parts(f"{scheme}://{host}" if mark else proxy)
    except InputError:
        raise InputError(
            f"the proxy in {name} is no http:// or https:// address; set another"
        ) from None
    return proxy
