"""Check that an API key repeated by a server reaches no file and no output, in any encoding.

    python benchmarks/canaries.py [--shapes N] [--json]

For each of 12 shapes of a key, 40 commands run in this process against a server that repeats the
key in answers, reasoning, names, errors and headers, in 16 encodings in turn. Then everything that
was printed and every file in the working folder, with archives unpacked, is searched for the key:
as plain text and decoded from JSON, URLs, HTML, quoted-printable, base64, base32 and hexadecimal.
The search shares no code with the masking. --unmasked shows that the search finds the key.
"""

from __future__ import annotations

import argparse
import base64
import binascii
import codecs
import gzip
import html
import io
import json
import os
import quopri
import re
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from aiohttp import web

from gradeschool import masking
from gradeschool.models import endpoint
from gradeschool.runs import batch, dispatch
from tests.support.fault_server import (
    Behaviour,
    ReceivedRequest,
    choices,
    fault_server,
    true_answer,
)

KEYS = {
    "usual": "sk-proj-Canary4815162342abcdefXYZ",
    "slashes": "sk/canary/48/15/16/23/42",
    "base64": "c2stY2FuYXJ5+4815/162342Zz==",
    "backslashes": "sk\\\\canary\\\\4815\\\\u0041",
    "quotes": 'sk"canary\'4815"162342',
    "percent": "sk%2Fcanary%41%4815",
    "ampersand": "sk&amp;canary&#65;4815",
    "JWT": "eyJhbGciOi.eyJjYW5hcnki.4815_162-342",
    "hexadecimal": "00c0ffee4815162342deadbeef",
    "digits": "4815162342481516",
    "blanks": "canary key with blanks 4815",
    "short": "k3y7!",
}
ENCODINGS: tuple[Callable[[str], str], ...] = (
    str,
    str.upper,
    lambda key: json.dumps(key)[1:-1],
    lambda key: json.dumps(json.dumps(key))[1:-1],
    lambda key: key.replace("/", "\\/"),
    lambda key: "".join(f"\\u{ord(letter):04x}" for letter in key),
    lambda key: "".join(f"\\x{ord(letter):02X}" for letter in key),
    lambda key: quote(key, safe=""),
    lambda key: "".join(f"%{ord(letter):02x}" for letter in key),
    lambda key: quote(quote(key, safe=""), safe=""),
    html.escape,
    lambda key: "".join(f"&#{ord(letter)};" for letter in key),
    lambda key: base64.b64encode(f"Bearer {key}".encode()).decode(),
    lambda key: base64.urlsafe_b64encode(key.encode()).decode(),
    lambda key: base64.b32encode(key.encode()).decode(),
    lambda key: key.encode().hex(),
)
PLACES = ("answer", "reasoning", "model", "error", "body", "header", "finish")
PROTOCOLS = ("zero-shot/chat", "openai/2021")
EXPORTS = ("inspect", "lm-eval", "openai-solutions", "every-eval-ever")


def repeating(key: str) -> Callable[[ReceivedRequest], Behaviour]:
    """Return a `choose` function that repeats a key, in another encoding and place each time."""

    def choose(received: ReceivedRequest) -> Behaviour:
        number = received.number
        echo = ENCODINGS[number % len(ENCODINGS)](key)
        place = PLACES[(number // 3) % len(PLACES)]

        async def answer(_: web.Request, __: ReceivedRequest) -> web.StreamResponse:
            fields: dict[str, Any] = choices(received, true_answer(received))
            choice = fields["choices"][0]
            if place == "answer":
                text = f"The key is {echo} , so\n{true_answer(received)}"
                choice.update(
                    {"message": {"content": text}} if "message" in choice else {"text": text}
                )
            elif place == "reasoning" and "message" in choice:
                choice["message"]["reasoning"] = f"I see {echo} here"
            elif place == "model":
                fields["model"] = f"model {echo} of mine"
            elif place == "finish":
                choice["finish_reason"] = echo
            elif place == "body":
                return web.Response(text=f"<html>{echo}</html>")
            elif place == "error":
                status = (400, 500, 422)[number % 3]
                return web.json_response({"error": {"message": f"bad key {echo} ."}}, status=status)
            elif place == "header":
                headers = {"Retry-After": "0.01", "X-Echo": quote(echo)}
                return web.json_response({"error": {"code": echo}}, status=429, headers=headers)
            return web.json_response(fields)

        return answer

    return choose


def commands(url: str, key: str) -> Iterator[list[str]]:
    """Yield 40 command lines."""
    asking = ["eval", "-d", "problems.jsonl", "--timeout", "5"]
    for protocol in PROTOCOLS:
        for model in ("openai/m", f"{url}/m"):
            yield [*asking, "-m", model, "-p", protocol]
            yield [*asking, "-m", model, "-p", protocol, "--dry-run", "--json"]
    yield [*asking, "-m", "openai/m", "-o", "run"]
    yield [*asking, "-m", "openai/m", "-o", "run", "--json"]
    yield [*asking, "-m", "openai/m", "-o", "many", "-k", "2", "--temperature", "0.7"]
    yield [*asking, "-m", "openai/m", "-o", "choices", "-k", "2", "--temperature", "1",
           "--choices", "2", "--quiet"]  # fmt: skip
    yield [*asking, "-m", "openai/m", "-o", "batch", "--batch"]
    yield ["doctor", url]
    yield ["doctor", f"{url}/m", "--json"]
    yield ["runs", "list", "."]
    yield ["runs", "list", ".", "--json"]
    for verb in ("show", "verify"):
        yield ["runs", verb, "run"]
        yield ["runs", verb, "run", "--json"]
    yield ["runs", "merge", "run", "-o", "merged"]
    yield ["score", "run", "--json"]
    yield ["score", "many", "-d", "problems.jsonl"]
    yield ["explain", "run", "0"]
    yield ["runs", "curve", "many"]
    yield ["runs", "curve", "many", "--json"]
    yield ["score", "run", "--scorer", "all"]
    yield ["compare", "run", "merged"]
    yield ["diff", "run", "merged"]
    for ending in ("html", "md", "csv"):
        yield ["report", "run", "-o", f"page.{ending}"]
    for form in EXPORTS:
        yield ["export", "run", "--to", form, "-o", f"exported-{form}"]
    secret = quote(key, safe="")
    for address in (f"HTTP://user:{secret}@127.0.0.1:1/v1", f" http://u:{secret}@127.0.0.1:1/v1",
                    f"http://127.0.0.1:1/v1?api-key={secret}"):  # fmt: skip
        yield [*asking, "-m", address]


def run(words: list[str]) -> str:
    """Run a command line in this process; return what it printed."""
    from gradeschool.cli import main

    sys.argv = ["gradeschool", *words]
    printed = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(printed), suppress(SystemExit):
        main()
    return printed.getvalue()


def readings(data: bytes) -> Iterator[str]:
    """Yield the possible texts of bytes: decoded once and twice, unpacked."""
    with suppress(OSError, EOFError):
        data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    if data[:4] == b"PK\x03\x04":
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in archive.namelist():
                yield from readings(archive.read(name))
        return
    text = data.decode("utf-8", "replace")
    level = [text]
    for _ in range(3):
        yield from level
        level = [other for reading in level for other in decoded(reading) if other != reading]


def decoded(text: str) -> Iterator[str]:
    """Yield a text with each kind of escape decoded."""
    yield unquote(text)
    yield html.unescape(text)
    yield text.replace("\\/", "/").replace("\\\\", "\\").replace('\\"', '"')
    yield re.sub(
        r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})", lambda m: chr(int(m[1] or m[2], 16)), text
    )
    if "=" in text and len(text) < 10**6:
        yield quopri.decodestring(text.encode("utf-8", "replace")).decode("utf-8", "replace")
    words = []
    for word in re.findall(r"[A-Za-z0-9+/_-]{7,}", text):
        for offset in range(4):
            part = word[offset:].replace("-", "+").replace("_", "/")
            words.append(base64.b64decode(part[: len(part) // 4 * 4] or b"").decode("latin-1"))
            words.append(base64.b64decode(part + "=" * (-len(part) % 4)).decode("latin-1")
                         if len(part) % 4 != 1 else "")  # fmt: skip
        if re.fullmatch(r"[A-Z2-7]+", word):
            with suppress(binascii.Error):
                words.append(base64.b32decode(word + "=" * (-len(word) % 8)).decode("latin-1"))
        if re.fullmatch(r"[0-9a-fA-F]+", word) and len(word) % 2 == 0:
            words.append(codecs.decode(word, "hex").decode("latin-1"))
    yield "\n".join(words)


def leaks(key: str, artefacts: Mapping[str, bytes]) -> list[str]:
    """Return the names of artefacts that contain the key, in any encoding."""
    wanted = key.lower()
    return [
        name
        for name, data in artefacts.items()
        if any(wanted in reading.lower() for reading in readings(data))
    ]


def play(key: str) -> tuple[int, int, list[str]]:
    """Run the commands with a key; return the numbers of commands and artefacts, and the leaks."""
    masking._forms.clear()
    masking._pattern = None
    artefacts: dict[str, bytes] = {}
    lines = [
        json.dumps({"question": f"What is {n} + 0?", "answer": f"#### {n}"}) for n in range(20)
    ]
    Path("problems.jsonl").write_text("\n".join(lines))
    with fault_server(repeating(key)) as server:
        os.environ |= {"OPENAI_API_KEY": key, "GRADESCHOOL_API_KEY": key, "NO_PROXY": "127.0.0.1",
                       "OPENAI_BASE_URL": server.url}  # fmt: skip
        for number, words in enumerate(commands(server.url, key)):
            shown = " ".join(words[:4])
            artefacts[f"output {number} of {shown[:60]}"] = run(words).encode("utf-8", "replace")
        assert any(key in request.authorization for request in server.requests)
    count = len(artefacts)
    for path in Path().rglob("*"):
        artefacts[f"name {path}"] = str(path).encode("utf-8", "replace")
        if path.is_file():
            artefacts[str(path)] = path.read_bytes()
    return count, len(artefacts), leaks(key, artefacts)


def main() -> None:
    parser = argparse.ArgumentParser(description="Search everything for keys that servers repeat.")
    parser.add_argument("--shapes", type=int, default=len(KEYS))
    parser.add_argument("--unmasked", action="store_true", help="mask nothing")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    dispatch.FIRST_WAIT, endpoint.STARTING_WAITS, batch.WAITS = 0.001, (), (0.001,) * 5
    if options.unmasked:
        masking.PLACEHOLDERS.update(key.lower() for key in KEYS.values())
    figures = []
    for shape, key in list(KEYS.items())[: options.shapes]:
        with tempfile.TemporaryDirectory() as folder:
            back = Path.cwd()
            os.chdir(folder)
            try:
                count, artefacts, wrong = play(key)
            finally:
                os.chdir(back)
        figures.append({"shape": shape, "commands": count, "artefacts": artefacts, "leaks": wrong})
        if not options.json:
            print(f"{shape:12} {count} commands, {artefacts} artefacts, {len(wrong)} with the key",
                  *wrong, sep="\n    ", flush=True)  # fmt: skip
    if options.json:
        print(json.dumps(figures))


if __name__ == "__main__":
    main()
