"""Keys of requests."""

from __future__ import annotations

from gradeschool.completion import Decoding, Message, Prompt
from gradeschool.runs.plan import request_key


def test_keys_differ_wherever_a_request_differs() -> None:
    base = ("model at x", Prompt(text="Q"), Decoding(), 0)
    others = [
        ("other at x", *base[1:]),
        (base[0], Prompt(text="Q "), *base[2:]),
        (base[0], Prompt(messages=(Message("user", "Q"),)), *base[2:]),
        (base[0], Prompt(messages=(Message("user", "Q"),), prefix=""), *base[2:]),
        (*base[:2], Decoding(temperature=0.7), 0),
        (*base[:2], Decoding(stop=("a", "b")), 0),
        (*base[:2], Decoding(stop=("ab",)), 0),
        (*base[:2], Decoding(seed=1), 0),
        (*base[:3], 1),
    ]
    keys = [request_key(*item) for item in (base, *others)]
    assert len(set(keys)) == len(keys)
    assert request_key(*base) == keys[0]
