"""Servers of models: any that speaks the OpenAI protocol, and Anthropic's own API."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, BinaryIO, NamedTuple, Self, TypeVar
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass
from weakref import WeakSet

import aiohttp
from aiohttp.client_proto import ResponseHandler

from gradeschool.calculator import CLOSE, OPEN, annotation_end
from gradeschool.completion import CONTINUE, REMEDIES, Finish, Prompt, Usage
from gradeschool.errors import FatalModelError, InputError, ModelError, TransientError
from gradeschool.formats.values import UNKNOWN
from gradeschool.masking import masked, register_key, shown_address
from gradeschool.models import openai_api as api
from gradeschool.models.base import NO_OPTIONS, Model, Reply, Request

T = TypeVar("T")
CONNECT_SECONDS = 10.0
TOTAL_SECONDS = 600.0
FACTS_SECONDS = 5.0  # to wait for a server's facts
LONGEST_FACT = 100  # characters of a server's fact
LARGEST_REPLY = 16 * 2**20
JSON_HEADERS = {"Content-Type": "application/json"}
# A starting server answers 503 for a while: seconds between requests for its list of models.
STARTING_WAITS: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0)
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
# Servers' names for themselves in /v1/models ("owned_by").
LLAMA_CPP = "llama.cpp"
ENGINES = {"llamacpp": LLAMA_CPP, "vllm": "vLLM", "sglang": "SGLang", "library": "Ollama"}
ANTHROPIC_VERSION = "2023-06-01"
CACHED = ("cache_creation_", "cache_read_")  # tokens that Anthropic's `input_tokens` leaves out
LONGEST_COMPLETION = 8192  # tokens; Anthropic requires a limit, and some protocols have none
# HTTP requests per completion with the calculator; GSM8K's solutions have 15 annotations at most.
MOST_REQUESTS = 64
SEED_STEP = 1_000_003  # each of these requests has its own seed
# The connection of the current task's request.
_CONNECTION: ContextVar[ResponseHandler] = ContextVar("connection")


async def with_retries(
    work: Callable[[], Awaitable[T]], waits: Sequence[float], only_statuses: bool = False
) -> T:
    """Return the result of `work`, which is called again after a TransientError.

    waits: the seconds before each further call, unless the server asks for others. only_statuses:
    of a server that answers, such as 503 while it starts. Raises the last error. The requests of a
    run are repeated by `runs.send.Dispatcher`, which spreads them and adapts their number.
    """
    for wait in waits:
        try:
            return await work()
        except TransientError as error:
            if only_statuses and not error.cause.startswith("http "):
                raise
            await asyncio.sleep(wait if error.retry_after is None else error.retry_after)
    return await work()


class GuardedConnector(aiohttp.TCPConnector):
    """Connections that never give an old reply to a new request.

    A connection that received bytes while idle is closed. `Endpoint._request` also closes it after
    a reply, unless that certainly belongs to the request.
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
    """A server's response: headers in lower case, and the connection that it came on."""

    status: int
    headers: Mapping[str, str]
    raw: bytes
    connection: ResponseHandler


class Endpoint(Model):
    """One model behind one base address: /v1/chat/completions and /v1/completions.

    base: address up to and including "/v1". model: the name to send; "" uses the only model that
    the server lists. key: sent as bearer token if not empty; kept out of every message and file,
    even if the server repeats it. seconds: timeout of one request. options: see
    `runs.job.model_options`. calculator: insert the results of annotations while the model writes,
    see `complete`.
    """

    speaks_openai = True
    chat_path = "/chat/completions"
    read_reply: Callable[[Mapping[str, Any], Request], Reply] = staticmethod(api.reply_in)
    thinking_fields = staticmethod(api.thinking_fields)

    def __init__(
        self,
        base: str,
        model: str,
        key: str,
        seconds: float = TOTAL_SECONDS,
        options: Mapping[str, Any] = NO_OPTIONS,
        calculator: bool = False,
    ) -> None:
        parts = address_parts(base)
        if key and not (key.isascii() and key.isprintable()):
            raise InputError("the API key has characters that no header allows; set it again")
        self.base, self.model, self.seconds = base.rstrip("/"), model, seconds
        self.key, self.options, self.calculator = key, options, calculator
        is_open = parts.scheme == "http" and parts.hostname not in LOCAL_HOSTS
        self.sends_key_unencrypted = bool(key) and is_open
        self._headers = dict(options.get("headers", ()))
        for secret in filter(None, (key, *self._headers.values())):
            register_key(secret)
        self._extra = dict(options.get("extra_body", {}))
        thinking, effort = options.get("thinking"), options.get("reasoning_effort")
        if thinking is not None or effort is not None:
            self._extra = {**self.thinking_fields(self.base, thinking, effort), **self._extra}
        self._session: aiohttp.ClientSession | None = None
        self._neutral = {} if parts.hostname in api.WITHOUT_NEUTRAL else dict(api.NEUTRAL)
        # Fields that the server has refused.
        self._refused: frozenset[str] = frozenset()
        # Ids of replies, the connections that have had a reply, and whether these are reused.
        self._ids: set[int] = set()
        self._reuses = True
        self._trusted: WeakSet[ResponseHandler] = WeakSet()
        self._describe(model, f"{model} at {self.base}")

    def _describe(self, name: str, source: str) -> None:
        """Set name and identity: the source, and the fields that the user adds to each request."""
        added = f" with {json.dumps(self._extra, sort_keys=True)}" if self._extra else ""
        self.name = f"{name}+calculator" if self.calculator and name else name
        self.identity = f"{source}{added}{' with the calculator' if self.calculator else ''}"

    def key_headers(self) -> dict[str, str]:
        """Return the headers with the key."""
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}

    async def __aenter__(self) -> Self:
        """Open the connections; look up the model's name if none is set.

        A proxy is looked up once: aiohttp's `trust_env` does it for each request, in a thread, and
        would send a password from ~/.netrc. Raises InputError if its address cannot be used.
        """
        parts, proxy = urlsplit(self.base), None
        if parts.hostname not in LOCAL_HOSTS and not proxy_bypass(parts.netloc):
            proxy = getproxies().get(parts.scheme)
        if proxy is not None:
            address_parts(proxy, f"the proxy in {parts.scheme.upper()}_PROXY", is_proxy=True)
        self._session = aiohttp.ClientSession(
            headers={"Accept-Encoding": "identity", **self._headers, **self.key_headers()},
            connector=GuardedConnector(limit=0, keepalive_timeout=60),
            timeout=aiohttp.ClientTimeout(
                total=self.seconds, sock_connect=min(CONNECT_SECONDS, self.seconds)
            ),
            proxy=proxy,
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        if not self.model:
            try:
                self.model = await self._find_model()
            except BaseException:  # including cancellation: `__aexit__` is not called then
                await self._session.close()
                raise
            self._describe(self.model, f"{self.model} at {self.base}")
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()

    async def facts(self) -> dict[str, str]:
        """Return the facts in the server's list of models; note if it does not list this one.

        llama.cpp's server does not report its cache and attention: both are UNKNOWN.
        """
        facts: dict[str, str] = {}
        with suppress(ModelError, TimeoutError, KeyError, TypeError, ValueError, AttributeError):
            async with asyncio.timeout(FACTS_SECONDS):
                listed = (await self.call("GET", "/models"))["data"]
            names = [str(each["id"]) for each in listed]
            if names and not any(self.model in (name, name.partition(":")[0]) for name in names):
                shown = ", ".join(name[:80] for name in names[:5])
                self.remark = (
                    f"{self.base} lists {shown}, but not {self.model!r}; another model may answer"
                )
            [entry] = (each for each in listed if each["id"] == self.model)
            if engine := ENGINES.get(str(entry.get("owned_by", ""))):
                facts["engine"] = engine
            if engine == LLAMA_CPP:
                facts |= {"kv_cache": UNKNOWN, "flash_attention": UNKNOWN}
            precision = str((entry.get("meta") or {}).get("ftype", ""))
            if precision := precision.removeprefix("(guessed) ").removeprefix("all "):
                facts["precision"] = precision[:LONGEST_FACT]
        return facts

    async def complete(self, request: Request) -> Reply:
        """Return the reply to a request; raises ModelError.

        With the calculator (completion prompts only), the reply has the usage of all its HTTP
        requests. Each has the stop string ">>". Then the text behind the "=" of the open
        annotation is replaced by the calculator's result, and the next request continues there. A
        stop at "=" would not do: half of them are outside annotations ("5 * 3 = <<5*3=15>>15"), and
        servers do not tell such a stop from the end of the text. At ">>", an open "<<" tells it.
        """
        if not self.calculator:
            return await self._request(request)
        decoding, prompt = request.decoding, request.prompt.text or ""
        text, left = "", decoding.max_tokens
        read: int | None = 0
        written: int | None = 0
        for number in range(MOST_REQUESTS):
            seed = None if decoding.seed is None else decoding.seed + number * SEED_STEP
            stop = (*decoding.stop, CLOSE)
            part = replace(
                request,
                prompt=Prompt(text=prompt + text),
                decoding=replace(decoding, max_tokens=left, stop=stop, seed=seed),
            )
            try:
                reply = await self._request(part)
            except ModelError as error:
                more, new, _ = error.usage
                error.usage = Usage((read or 0) + (more or 0), (written or 0) + (new or 0))
                raise
            more, new, _ = reply.usage  # unknown in all, if one is
            read = None if read is None or more is None else read + more
            written = None if written is None or new is None else written + new
            text, ended = close_annotation(text + reply.text, len(text), reply.finish)
            if decoding.max_tokens is not None:
                left = max(0, decoding.max_tokens - (written or 0))
            if ended or left == 0:
                finish, deviations = reply.finish if ended else Finish.LENGTH, reply.deviations
                if deviations and text.strip():  # an empty last part says nothing of all
                    deviations = tuple(each for each in deviations if each not in REMEDIES)
                return replace(reply, text=text, finish=finish, usage=Usage(read, written),
                               requests=number + 1, deviations=deviations)  # fmt: skip
        words = f"more than {MOST_REQUESTS} requests a completion"
        endless = ModelError("too many annotations", words)
        endless.usage = Usage(read, written)
        raise endless

    async def _request(self, request: Request) -> Reply:
        """Return the reply to one HTTP request.

        A request that is refused is repeated without the fields that may be the reason. Only if it
        is then answered, later requests leave them out too.

        A server, or a proxy in between, may send a reply twice or late, and the next request on the
        connection would accept it. So a connection is reused only after a reply with a new id. A
        reply on a reused connection without an id or with a known id is refused, and the request is
        sent again on another connection. From then on no connection is reused: some servers draw
        ids from few numbers (Ollama from 999). Raises ModelError.
        """
        refused = self._refused
        path = self.chat_path if request.prompt.text is None else "/completions"
        while True:
            body = self.body_of(request, refused)
            response = await self._send("POST", path, json.dumps(body).encode())
            if response.status == 200:
                break
            more = api.refused_fields(response.raw, body) if response.status in {400, 422} else None
            if not more:
                raise self.refusal(response)
            refused |= more
        self._refused |= refused
        try:
            answer = api.object_in(response.raw)
        except TransientError:
            response.connection.close()
            raise
        id = answer.get("id")
        digest = hash(str(id))
        is_new = isinstance(id, str) and id != "" and digest not in self._ids
        self._ids.add(digest)
        if is_new and self._reuses:
            self._trusted.add(response.connection)
        else:
            response.connection.close()
            if not is_new and response.connection in self._trusted:
                self._reuses = False
                raise TransientError("stale reply", f"{self.base} sent reply {id} twice or late")
        reply = self.read_reply(answer, request)
        if not refused:
            return reply
        # A limit under another name is the same limit.
        words = [f"{name} refused" for name in sorted(refused - {api.LENGTH})]
        return replace(reply, deviations=(*reply.deviations, *words))

    def body_of(self, request: Request, refused: frozenset[str] | None = None) -> dict[str, Any]:
        """Return the body of a request.

        refused: fields to leave out or to rename; by default those that the server has refused.
        """
        refused = self._refused if refused is None else refused
        prompt, decoding = request.prompt, request.decoding
        body: dict[str, Any] = {"model": self.model}
        if prompt.text is not None:
            body["prompt"] = prompt.text
        else:
            body["messages"] = prompt.as_messages()
            if prompt.prefix is not None:
                body |= CONTINUE
        options = {
            "temperature": decoding.temperature,
            "top_p": decoding.top_p,
            api.NEW_LENGTH if api.LENGTH in refused else api.LENGTH: decoding.max_tokens,
            "stop": list(decoding.stop) or None,
            "seed": None if decoding.seed is None else decoding.seed + request.sample,
            **self._neutral,
        }
        for name, value in options.items():
            if value is not None and name not in refused:
                body[name] = value
        return body | self._extra

    async def call(
        self,
        method: str,
        path: str,
        data: bytes | aiohttp.FormData | None = None,
        target: BinaryIO | None = None,
    ) -> dict[str, Any]:
        """Return the JSON object from another address of this server; raises ModelError.

        target: a file to which the body is written instead, whatever its size; then {}.
        """
        response = await self._send(method, path, data, target)
        response.connection.close()
        if response.status != 200:
            raise self.refusal(response)
        return {} if target is not None else api.object_in(response.raw)

    def refusal(self, response: Response) -> ModelError:
        """Return the error for a response whose status is not 200."""
        has_key = bool(self.key or self._headers)
        return api.classify(response.status, response.headers, response.raw, self.base, has_key)

    async def _find_model(self) -> str:
        """Return the name of the one model that is served.

        Raises TransientError if no server answers or its errors last longer than STARTING_WAITS,
        InputError unless it serves exactly one model.
        """
        words, reply = "none listed", {}
        try:
            reply = await with_retries(lambda: self.call("GET", "/models"), STARTING_WAITS, True)
        except ModelError as error:
            # A server without such a list answers with another status, or with no JSON.
            lacks_list = error.cause in ("http 404", "bad response", "server error")
            if isinstance(error, TransientError) and error.cause.startswith("http "):
                advice = "try again later, or add /NAME to the address"
                raise TransientError(error.cause, f"{error}; {advice}") from error
            if isinstance(error, FatalModelError | TransientError) and not lacks_list:
                raise
            words += f" ({error.cause})"
        listed = reply.get("data")
        entries = listed if isinstance(listed, list) else []
        served = [str(entry.get("id") or "") for entry in entries if isinstance(entry, Mapping)]
        if len(served) == 1 and served[0]:
            return served[0]
        names = ", ".join(name[:80] for name in served[:10]) or words
        has_version = urlsplit(self.base).path.endswith("/v1")
        advice = "add /NAME to the address" if has_version else f"give {self.base}/v1"
        raise InputError(f"{self.base} does not serve exactly one model: {names}; {advice}")

    async def _send(
        self,
        method: str,
        path: str,
        data: bytes | aiohttp.FormData | None,
        target: BinaryIO | None = None,
    ) -> Response:
        """Return the server's response; raises TransientError, FatalModelError, ModelError.

        target: a file to which the body of a 200 is written instead. A reply larger than
        LARGEST_REPLY fails its sample, because a retry would give the same. The caller closes the
        connection, unless the reply certainly belongs to this request.
        """
        assert self._session is not None, "the endpoint is used outside its context"  # noqa: S101
        parts: list[bytes] = []
        size = 0
        headers = JSON_HEADERS if isinstance(data, bytes) else None
        try:
            async with self._session.request(
                method, self.base + path, data=data, headers=headers, allow_redirects=False
            ) as reply:
                connection = _CONNECTION.get()
                async for part in reply.content.iter_chunked(2**16):
                    if target is not None and reply.status == 200:
                        target.write(part)
                        continue
                    size += len(part)
                    if size > LARGEST_REPLY:
                        reply.close()
                        words = f"a reply has more than {LARGEST_REPLY} bytes"
                        raise ModelError("reply too large", words)
                    parts.append(part)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise self._failure(error) from error
        shown = {}
        if reply.status != 200:
            connection.close()
            shown = {name.lower(): masked(value) for name, value in reply.headers.items()}
        return Response(reply.status, shown, b"".join(parts), connection)

    def _failure(self, error: Exception) -> ModelError:
        """Return the error for a request without a reply."""
        base, kinds = self.base, (aiohttp.ClientSSLError, aiohttp.ClientConnectorCertificateError)
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            words = f"cannot connect to {base}: no connection in time"
            return TransientError("cannot connect", words)
        if isinstance(error, TimeoutError):
            return TransientError("timeout", f"{base} did not answer within {self.seconds:g} s")
        if "WRONG_VERSION_NUMBER" in str(error):
            words = f"{base} does not speak TLS; did you mean http:{base.partition(':')[2]}?"
            return FatalModelError("bad address", words)
        if isinstance(error, kinds):
            return FatalModelError("bad certificate", f"no trusted connection to {base}: {error}")
        if isinstance(error, aiohttp.ClientConnectorError):
            reason = f"{masked(str(error.os_error))} (is the server running?)"
            return TransientError("cannot connect", f"cannot connect to {base}: {reason}")
        if isinstance(error, ValueError):  # InvalidURL, and names that cannot be looked up
            return FatalModelError("bad address", f"{base!r} cannot be used")
        return TransientError("connection lost", f"{base}: {type(error).__name__}")


class AnthropicModel(Endpoint):
    """A model behind Anthropic's Messages API, with its own request and reply; chat prompts only.

    https://docs.claude.com/en/api/messages
    """

    speaks_openai = False
    chat_path = "/messages"

    def key_headers(self) -> dict[str, str]:
        """Return the headers with the key, and the version of the API."""
        return {"x-api-key": self.key, "anthropic-version": ANTHROPIC_VERSION}

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
        reply = api.reply_in({
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


def close_annotation(text: str, closed: int, finish: Finish) -> tuple[str, bool]:
    """Insert the result into the open annotation at the end of a text, and close it.

    closed: length of the text up to the last closed annotation. finish: why the server stopped.
    Returns the text, and whether nothing follows it.
    """
    start = text.rfind(OPEN, closed)
    if start < 0:
        return text, True
    equals = text.find("=", start)
    if equals >= 0 and (result := annotation_end(text[: equals + 1])):
        return text[: equals + 1] + result, finish is Finish.LENGTH
    return (text + CLOSE, False) if finish is Finish.STOP else (text, True)


def address_parts(address: str, name: str = "the address", is_proxy: bool = False) -> SplitResult:
    """Return the parts of a base URL; raises InputError if it is invalid or contains a secret.

    The message never shows a possible password or key. A proxy may have a user name and a password.
    """
    try:
        parts = urlsplit(address)
        usable = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:  # unmatched brackets, a port above 65535
        usable = False
    if not usable:
        words = f"{name} {shown_address(address)!r} is not a usable http:// or https:// URL"
        raise InputError(f"{words}; give one such as http://HOST:PORT/v1")
    if "@" in address or parts.query or parts.fragment:
        shown = shown_address(address)  # registers a password
        if is_proxy:
            return parts
        raise InputError(
            f"{name} {shown!r} contains a user name, password, query or fragment; put the key into "
            "the environment (GRADESCHOOL_API_KEY, or OPENAI_API_KEY for openai/NAME)"
        )
    return parts
