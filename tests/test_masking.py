"""Secrets in every encoding are masked, other text stays as it is."""

import base64
import html
import json
from collections.abc import Callable, Mapping
from urllib.parse import quote

import pytest
from hypothesis import given
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
    "URL": lambda key: quote(key, safe=""),
    "HTML": html.escape,
    "base64": lambda key: base64.b64encode(key.encode()).decode(),
    "base64 of the header": lambda key: base64.b64encode(f"Bearer {key}".encode()).decode(),
    "base64 for URLs": lambda key: base64.urlsafe_b64encode(key.encode()).decode(),
}


@pytest.fixture(autouse=True)
def secrets(clean_environment: None) -> None:
    masking.register_secret(KEY)
    masking.register_secret(SHORT)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_secret_is_masked_in_every_encoding(encoding: str) -> None:
    encoded = ENCODINGS[encoding](KEY)
    text = masked(f"before {encoded} after")
    assert MASK in text
    assert text.startswith("before ") and text.endswith(" after")
    assert len(text) < len("before  after") + len(MASK) + 24


@pytest.mark.parametrize("encoding", ["as it is", "JSON", "URL", "base64"])
def test_a_short_secret_is_masked_where_it_stands_alone(encoding: str) -> None:
    encoded = ENCODINGS[encoding](SHORT)
    assert encoded.rstrip("=") not in masked(f"key: {encoded} ")
    assert masked("monk3y!s") == "monk3y!s"


@given(st.text())
def test_other_text_stays_as_it_is(text: str) -> None:
    assert masked(text) == text
    assert masked_bytes(text.encode("utf-8", "surrogatepass")) == text.encode(
        "utf-8", "surrogatepass"
    )


def test_values_of_json_are_masked_at_any_depth() -> None:
    assert masked_values({KEY: [{"a": f"x{KEY}"}, 3, None]}) == {MASK: [{"a": f"x{MASK}"}, 3, None]}


@pytest.mark.parametrize("word", ["EMPTY", "none", "dummy", "x"])
def test_a_placeholder_is_no_secret(word: str) -> None:
    masking.register_secret(word)
    assert masked(f"none of the {word} boxes") == f"none of the {word} boxes"


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
