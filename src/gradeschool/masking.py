"""Secrets: API keys and passwords are masked in everything that is stored or printed.

A secret is registered where it is read. Data from a server is masked after it is decoded
(`masked_values`), files in `gradeschool.atomic` and in the rows of a run (`masked_bytes`), and what
a command prints (`masked_streams`). A secret is masked as it is, and in its JSON, URL, HTML and
base64 forms.
"""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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
# An address: its scheme, user name and password, place, and the rest after "?" or "#". Fullwidth
# forms count as well: some parsers accept them.
ADDRESS = re.compile(
    r"(\s*(?:[A-Za-z][\w+.-]{0,20}:/+|//))?([^?#\uff1f\uff03]*[@\uff20\ufe6b])?"
    r"([^?#\uff1f\uff03]*)([?#\uff1f\uff03].*)?",
    re.DOTALL,
)
HOST = re.compile(r":\d+|localhost|/v1\b")

_forms: dict[str, str] = {}  # patterns of all secrets
_pattern: re.Pattern[str] | None = None


def register_secret(secret: str) -> None:
    """Mask this text from now on. Placeholders such as "EMPTY" are ignored."""
    global _pattern
    if not secret or secret in _forms or secret.lower() in PLACEHOLDERS:
        return
    _forms[secret] = "|".join(map(re.escape, _encodings(secret)))
    if len(secret) < SHORTEST:
        _forms[secret] = f"(?<![A-Za-z0-9])(?:{_forms[secret]})(?![A-Za-z0-9])"
    longest_first = sorted(_forms, key=len, reverse=True)
    _pattern = re.compile("|".join(_forms[each] for each in longest_first), re.IGNORECASE)


def _encodings(secret: str) -> list[str]:
    """Return a secret as it is, and in the forms in which a server or a library may repeat it."""
    import base64
    import html
    import json
    from urllib.parse import quote

    octets = secret.encode("utf-8", "replace")
    forms = [secret, json.dumps(secret)[1:-1], quote(secret), quote(secret, safe="")]
    forms += [html.escape(secret), html.escape(secret).replace("&#x27;", "&#39;")]
    forms += [form.replace("/", "\\/") for form in forms[:2]]
    if len(secret) < SHORTEST:
        return [*forms, base64.b64encode(octets).decode().rstrip("=")]
    for offset in range(3):
        # In a longer text, the characters at both ends depend on what is beside the secret.
        text = base64.b64encode(b"\0" * offset + octets).decode().rstrip("=")
        core = text[-(-offset * 8 // 6) : (offset + len(octets)) * 8 // 6]
        forms += [core, core.replace("+", "-").replace("/", "_")]
    return [form for form in dict.fromkeys(forms) if len(form) >= SHORTEST]


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
    return text if _pattern is None else _pattern.sub(MASK, text)


def masked_values(value: Any) -> Any:
    """Return a JSON value with every secret masked in its strings and keys."""
    if _pattern is None:
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
    if _pattern is None:
        return data
    text = data.decode("utf-8", "surrogateescape")
    changed = masked(text)
    return data if changed == text else changed.encode("utf-8", "surrogateescape")


def shown_address(text: str) -> str:
    """Return an address without the parts that may be secret; those parts are registered."""
    from urllib.parse import unquote

    match = ADDRESS.fullmatch(text)
    scheme, user, place, rest = (part or "" for part in (match.groups() if match else ()))
    if not scheme and (":" not in user or "/" in user):
        user, place = "", user + place
    is_address = bool(scheme or user or HOST.search(place))
    for secret in re.split(
        "[:@?#&;=\uff20\ufe6b\uff1f\uff03]", user + (rest if is_address else "")
    ):
        if len(secret) >= SHORTEST:
            register_secret(secret)
            register_secret(unquote(secret))
    rest = f"{rest[0]}…" if rest and is_address else rest
    return masked(f"{scheme}{'…@' if user else ''}{place}{rest}")


@contextmanager
def masked_streams() -> Iterator[None]:
    """Mask everything printed to stdout and stderr in the block, tracebacks included.

    What is printed to a stream that was closed before the start is dropped, and to stderr also once
    it is closed or full: a command goes on without it.
    """
    streams = sys.stdout, sys.stderr  # None if it was closed before the start (2>&-)
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123  (pathlib takes longer to load)
        sys.stdout = cast("TextIO", _MaskedStream(streams[0] or nowhere))
        sys.stderr = cast("TextIO", _MaskedStream(streams[1] or nowhere, may_fail=True))
        try:
            yield
        finally:
            sys.stdout, sys.stderr = streams


def discard(stream: TextIO) -> None:
    """Redirect a stream to /dev/null, so that writing to it and flushing it cannot fail."""
    with suppress(OSError):  # a test's stream has no file descriptor
        number = os.open(os.devnull, os.O_WRONLY)
        os.dup2(number, stream.fileno())
        os.close(number)


class _MaskedStream:
    """A text stream whose `write` masks secrets; other attributes are those of the stream."""

    def __init__(self, stream: TextIO, may_fail: bool = False) -> None:
        self._stream, self._may_fail = stream, may_fail

    def write(self, text: str) -> int:
        """Write a text, masked."""
        try:
            return self._stream.write(masked(text))
        except OSError:
            self._drop()
            return len(text)

    def flush(self) -> None:
        """Flush the stream."""
        try:
            self._stream.flush()
        except OSError:
            self._drop()

    def _drop(self) -> None:
        """Write what follows nowhere; called in an `except` block."""
        if not self._may_fail:
            raise
        discard(self._stream)

    def writelines(self, lines: list[str]) -> None:
        """Write texts, masked."""
        self.write("".join(lines))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
