"""Secrets: API keys and passwords are masked in everything that is stored or printed.

A secret is registered where it is read. Data from a server is masked after it is decoded
(`masked_values`). All output is masked again, in whatever encoding: files (`masked_bytes`, in
`gradeschool.atomic` and in the rows of a run) and what a command prints (`masked_streams`). Each
character may appear as itself or as an escape of JSON, JavaScript, URLs, HTML or MIME, also nested;
the whole secret also in base64, base32 or hexadecimal.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

from gradeschool.errors import InputError

MASK = "[API key]"
# A shorter secret is masked only as a separate word: it may be part of ordinary words.
SHORTEST = 6
# Values that users give to servers that need no key. Models write these words: never masked.
PLACEHOLDERS = {
    *("-", "abc123", "anything", "dummy", "empty", "fake", "key", "lm-studio", "local", "n/a"),
    *("na", "no-key", "none", "not-needed", "null", "ollama", "secret", "sk-no-key-required"),
    *("sk-xxx", "test", "token", "token-abc123", "vllm", "x", "xx", "xxx", "xxxx"),
}
# Masking such a key would change what a model answered.
ANSWER_LIKE = re.compile(r"[-+$]?\d[\d.,]{0,10}")
# The start of an address, and the parts that may contain a secret: user name and password, and the
# rest after "?" or "#". Fullwidth forms count as well: some parsers accept them.
SCHEME = re.compile(r"\s*(?:[A-Za-z][\w+.-]{0,20}:[/\\]+|[/\\]{2})")
HOST = re.compile(r":\d+|localhost|/v1\b")
BEHIND = re.compile(r"[?#\uff1f\uff03]")
AT = "@\uff20\ufe6b"
# One character, escaped: JSON, JavaScript, URLs, HTML; and MIME's quoted-printable. Compiled where
# there is a secret: not at the start of every command.
ESCAPE = (
    r"\\u(?P<u>[0-9a-fA-F]{4})|\\u\{(?P<b>[0-9a-fA-F]{1,6})\}|\\x(?P<x>[0-9a-fA-F]{2})|\\(?P<o>[0-3]?[0-7]{2})"
    r"|%u(?P<v>[0-9a-fA-F]{4})|%(?P<p>[0-9a-fA-F]{2})"
    r"|&#(?P<d>[0-9]{1,8});?|&#[xX](?P<h>[0-9a-fA-F]{1,8});?|&(?P<n>[A-Za-z]{2,12});?"
    r"|\\(?P<c>[^\w\s])"
)
QUOTED = r"=(?P<p>[0-9a-fA-F]{2})|(?P<s>=\r?\n)"
WIDE = {code + 0xFEE0: code for code in range(0x21, 0x7F)}
BASES = {"u": 16, "b": 16, "x": 16, "o": 8, "v": 16, "p": 16, "d": 10, "h": 16}
MOST_LEVELS = 4  # of nested escapes

_secrets: dict[str, re.Pattern[str]] = {}
_forms: dict[str, None] = {}  # of all secrets, in lower case


def register_secret(secret: str) -> None:
    """Mask this text from now on, in every encoding. Placeholders such as "EMPTY" are ignored."""
    if not secret or secret in _secrets or secret.lower() in PLACEHOLDERS:
        return
    octets = secret.encode("utf-8", "replace")
    if len(secret) < SHORTEST:
        forms = [secret, *_whole(octets), *_whole(b"Bearer " + octets)]
    else:
        forms = [secret, octets.decode("latin-1"), *_cores(octets)]
    joined = "|".join(map(re.escape, dict.fromkeys(forms)))
    alone = f"(?<![A-Za-z0-9])(?:{joined})(?![A-Za-z0-9])"
    _secrets[secret] = re.compile(alone if len(secret) < SHORTEST else joined, re.IGNORECASE)
    _forms.update((form.lower(), None) for form in forms)


def register_key(key: str) -> None:
    """Mask an API key from now on; raises InputError if it looks like an answer to a problem."""
    if ANSWER_LIKE.fullmatch(key):
        raise InputError(
            "the API key is a short number: to keep it out of files, equal numbers in answers "
            "would be removed; give the server another key, or unset it if the server needs none"
        )
    register_secret(key)


def masked(text: str) -> str:
    """Return a text with every secret masked."""
    if not _secrets or not any(_mentions(reading) for reading in _readings(text)):
        return text
    spans = {span for reading, places in _placed(text) for span in _spans(reading, places)}
    end, parts = 0, []
    for start, stop in sorted(spans):
        if start >= end:
            parts += [text[end:start], MASK]
        end = max(end, stop)
    return "".join([*parts, text[end:]])


def masked_values(value: Any) -> Any:
    """Return a JSON value with every secret masked in its strings and keys."""
    if not _secrets:
        return value
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, list):
        return [masked_values(entry) for entry in value]
    if isinstance(value, dict):
        return {masked(name): masked_values(entry) for name, entry in value.items()}
    return value


def masked_bytes(data: bytes) -> bytes:
    """Return the content of a file with every secret masked."""
    if not _secrets:
        return data
    text = data.decode("utf-8", "surrogateescape")
    changed = masked(text)
    return data if changed == text else changed.encode("utf-8", "surrogateescape")


def shown_address(text: str) -> str:
    """Return an address without the parts that may be secret; those parts are registered."""
    match = BEHIND.search(text)
    before, behind = (text[: match.start()], text[match.end() :]) if match else (text, "")
    scheme = SCHEME.match(before)
    start = scheme.end() if scheme else 0
    end = max(before.rfind(mark) for mark in AT) + 1
    user = before[start:end]
    if not scheme and not (":" in user and "/" not in user):
        user, end = "", start
    elif user:
        before = f"{before[:start]}…@{before[end:]}"
    address = scheme is not None or user or HOST.search(before)
    from urllib.parse import unquote

    for secret in re.split(rf"[:{AT}]", user) + (re.split("[&;=]", behind) if address else []):
        if len(secret) >= SHORTEST:
            register_secret(secret)
            register_secret(unquote(secret))
    if not match:
        return masked(before)
    return masked(before + match[0] + ("…" if address else behind))


@contextmanager
def masked_streams() -> Iterator[None]:
    """Mask everything printed to stdout and stderr in the block, tracebacks included."""
    streams = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast("TextIO", _MaskedStream(stream)) for stream in streams)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = streams


class _MaskedStream:
    """A text stream whose `write` masks secrets; other attributes are those of the stream."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text, masked."""
        return self._stream.write(masked(text))

    def writelines(self, lines: list[str]) -> None:
        """Write texts, masked."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _mentions(reading: str) -> bool:
    lowered = reading.lower()
    return any(form in lowered for form in _forms)


def _readings(text: str) -> Iterator[str]:
    """Yield a text as it is, then with its escapes decoded, level by level."""
    if not text.isascii():
        text = text.translate(WIDE)
    yield text
    for pattern in (ESCAPE, QUOTED):
        reading, escape = text, re.compile(pattern)
        for _ in range(MOST_LEVELS):
            decoded = escape.sub(_character, reading)
            if decoded == reading:
                break
            yield decoded
            reading = decoded


def _placed(text: str) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """Yield the decodings of a text, each with the (start, end) in the text of every character."""
    text = text.translate(WIDE)
    own = [(index, index + 1) for index in range(len(text))]
    yield text, own
    for pattern in (ESCAPE, QUOTED):
        reading, places, escape = text, own, re.compile(pattern)
        for _ in range(MOST_LEVELS):
            parts: list[str] = []
            spans: list[tuple[int, int]] = []
            end = 0
            for match in escape.finditer(reading):
                character = _character(match)
                parts += [reading[end : match.start()], character]
                spans += places[end : match.start()]
                spans += [(places[match.start()][0], places[match.end() - 1][1])] * len(character)
                end = match.end()
            if not end:
                break
            reading, places = "".join([*parts, reading[end:]]), spans + places[end:]
            yield reading, places


def _spans(reading: str, places: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    for pattern in _secrets.values():
        for match in pattern.finditer(reading):
            yield places[match.start()][0], places[match.end() - 1][1]


def _character(match: re.Match[str]) -> str:
    """Return the character that an escape encodes, or the escape itself if it encodes none."""
    kind, digits = str(match.lastgroup), str(match[str(match.lastgroup)])
    if base := BASES.get(kind):
        code = int(digits, base)
        return chr(code) if code < sys.maxunicode else match[0]
    if kind == "n":
        from html.entities import html5

        return html5.get(f"{digits};", match[0])
    return digits if kind == "c" else ""


def _whole(secret: bytes) -> list[str]:
    """Return a short secret in the encodings that apply to a whole text."""
    import base64

    encoded = (base64.b64encode(secret), base64.urlsafe_b64encode(secret), base64.b32encode(secret))
    return [*dict.fromkeys(text.decode().rstrip("=") for text in encoded), secret.hex()]


def _cores(secret: bytes) -> list[str]:
    """Return the base64, base32 and hexadecimal encodings of a secret inside a longer text.

    Characters at the ends that depend on the surrounding text are left out.
    """
    import base64

    forms = []
    for encode, bits, group in (
        (base64.b64encode, 6, 3),
        (base64.urlsafe_b64encode, 6, 3),
        (base64.b32encode, 5, 5),
    ):
        for offset in range(group):
            text = encode(b"\0" * offset + secret).decode().rstrip("=")
            first = -(-offset * 8 // bits)
            last = (offset + len(secret)) * 8 // bits
            forms.append(text[first:last])
    forms.append(secret.hex())
    return [form for form in dict.fromkeys(forms) if len(form) >= SHORTEST]
