"""Secrets in every encoding are masked, other text stays as it is."""

from __future__ import annotations

import base64
import html
import json
import time
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gradeschool import masking
from gradeschool.masking import MASK, masked, masked_bytes, masked_values, shown_address

KEY = "sk-proj-Ab/3+c4=D_5.canary~4815162342"
SHORT = "k3y!"
ENCODINGS: Mapping[str, Callable[[str], str]] = {
    "as it is": str,
    "in capitals": str.upper,
    "JSON": lambda key: json.dumps(key),
    "JSON with \\/": lambda key: json.dumps(key).replace("/", "\\/"),
    "\\uXXXX": lambda key: "".join(f"\\u{ord(letter):04x}" for letter in key),
    "\\u{XX}": lambda key: "".join(f"\\u{{{ord(letter):X}}}" for letter in key),
    "\\xXX": lambda key: "".join(f"\\x{ord(letter):02x}" for letter in key),
    "octal": lambda key: "".join(f"\\{ord(letter):03o}" for letter in key),
    "JSON in JSON": lambda key: json.dumps(json.dumps(json.dumps(key + "\\"))),
    "URL": lambda key: quote(key, safe=""),
    "URL, every character": lambda key: "".join(f"%{ord(letter):02X}" for letter in key),
    "URL twice": lambda key: quote(quote(key, safe=""), safe=""),
    "HTML": html.escape,
    "HTML, numbers": lambda key: "".join(f"&#{ord(letter)};" for letter in key),
    "HTML, hexadecimal": lambda key: "".join(f"&#x{ord(letter):x};" for letter in key),
    "HTML, names": lambda key: key.replace("/", "&sol;").replace("+", "&plus;"),
    "quoted-printable": lambda key: "".join(f"={ord(letter):02X}" for letter in key),
    "base64": lambda key: base64.b64encode(key.encode()).decode(),
    "base64 of the header": lambda key: base64.b64encode(f"Bearer {key}".encode()).decode(),
    "base64 for URLs": lambda key: base64.urlsafe_b64encode(key.encode()).decode(),
    "base64 in a URL": lambda key: quote(base64.b64encode(key.encode()).decode(), safe=""),
    "base32": lambda key: base64.b32encode(key.encode()).decode(),
    "hexadecimal": lambda key: key.encode().hex(),
    "wide": lambda key: "".join(chr(ord(letter) + 0xFEE0) for letter in key),
}


@pytest.fixture(autouse=True)
def secrets(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(masking, "_forms", {})
    monkeypatch.setattr(masking, "_pattern", None)
    masking.register_secret(KEY)
    masking.register_secret(SHORT)
    yield


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_secret_is_masked_in_every_encoding(encoding: str) -> None:
    encoded = ENCODINGS[encoding](KEY)
    text = masked(f"before {encoded} after")
    assert MASK in text
    assert text.startswith("before ") and text.endswith(" after")
    assert len(text) < len("before  after") + len(MASK) + 24


@pytest.mark.parametrize(
    "encoding", ["as it is", "JSON", "\\uXXXX", "URL", "base64", "hexadecimal"]
)
def test_a_short_secret_is_masked_where_it_stands_alone(encoding: str) -> None:
    assert ENCODINGS[encoding](SHORT) not in masked(f"key: {ENCODINGS[encoding](SHORT)} ")
    assert masked("monk3y!s") == "monk3y!s"


@pytest.mark.parametrize("offset", range(5))
def test_base64_of_a_longer_text_is_masked_wherever_the_secret_begins(offset: int) -> None:
    for encode in (base64.b64encode, base64.b32encode):
        encoded = encode(b"x" * offset + KEY.encode() + b"yz").decode()
        assert MASK in masked(encoded)
        assert KEY[4:-4].encode() not in base64.b64decode(masked(encoded)[:8] + "=" * 8)


@given(st.text())
def test_other_text_stays_as_it_is(text: str) -> None:
    assert masked(text) == text
    assert masked_bytes(text.encode("utf-8", "surrogatepass")) == text.encode(
        "utf-8", "surrogatepass"
    )


@example("", "0", "\\uXXXX")
@given(st.text(), st.text(), st.sampled_from(sorted(ENCODINGS)))
def test_a_secret_is_masked_between_any_texts(before: str, after: str, encoding: str) -> None:
    if encoding.startswith("base"):  # what stands around it is no part of it
        before, after = f"{before} ", f" {after}"
    assert MASK in masked(before + ENCODINGS[encoding](KEY) + after)


def test_values_of_json_are_masked_at_any_depth() -> None:
    assert masked_values({KEY: [{"a": f"x{KEY}"}, 3, None]}) == {MASK: [{"a": f"x{MASK}"}, 3, None]}


@pytest.mark.parametrize("word", ["EMPTY", "none", "dummy", "x"])
def test_a_placeholder_is_no_secret(word: str) -> None:
    masking.register_secret(word)
    assert masked(f"none of the {word} boxes") == f"none of the {word} boxes"


@pytest.mark.parametrize(
    "unit", ["\\", "%25", "&amp;", "=3D", "s", "sk-", "\\u0025", "&#", "\\\\u"]
)
def test_a_text_made_to_be_slow_is_not(unit: str) -> None:
    start = time.process_time()
    masked(unit * (200_000 // len(unit)))
    assert time.process_time() - start < 3.0


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://host:8000/v1/org/model@main", "http://…@main"),
        ("HTTP://user:pw@host/v1", "HTTP://…@host/v1"),
        (" http://user:pw@host/v1", " http://…@host/v1"),
        ("http://user:pw\uff20host/v1", "http://…@host/v1"),
        ("http:/user:pw@host/v1", "http:/…@host/v1"),
        ("//user:pw@host/v1", "//…@host/v1"),
        ("user:pw@host:80/v1", "…@host:80/v1"),
        ("http://host/v1?api-key=s3cret", "http://host/v1?…"),
        ("http://host/v1#s3cret", "http://host/v1#…"),
        ("localhost:8000/v1?key=s3cret", "localhost:8000/v1?…"),
        ("recorded/a.jsonl#run", "recorded/a.jsonl#run"),
        ("openai/gpt-4o@2024", "openai/gpt-4o@2024"),
        ("gpt-4o", "gpt-4o"),
    ],
)
def test_what_may_be_secret_in_an_address_is_not_shown(address: str, shown: str) -> None:
    assert shown_address(address) == shown


def test_a_password_of_an_address_is_masked_elsewhere_too() -> None:
    shown_address("http://user:pa%73sword@host/v1")
    assert masked("pa%73sword password") == f"{MASK} {MASK}"
