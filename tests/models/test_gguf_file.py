"""The head of a verifier in JSON, as a folder and a GGUF file have it."""

from __future__ import annotations

import json

import pytest

from gradeschool.models.gguf_file import LIKELIHOOD, LOGIT, Head, head_from

FIELDS = {"token_id": 3, "gain": 0.5, "bias": 1}


@pytest.mark.parametrize("named", [{}, {"head": None}, {"head": LOGIT}])
def test_a_head_without_a_kind_reads_a_logit(named: dict[str, str | None]) -> None:
    assert head_from(json.dumps({**FIELDS, **named})) == Head(LOGIT, 3, 0.5, 1.0)


def test_the_kind_of_a_head_is_kept() -> None:
    assert head_from(json.dumps({**FIELDS, "head": LIKELIHOOD}).encode()).kind == LIKELIHOOD


@pytest.mark.parametrize("written", ["", "[]", "{}", '{"token_id": 1, "gain": 2}',
                                     json.dumps({**FIELDS, "head": "other"})])  # fmt: skip
def test_what_is_no_head_raises(written: str) -> None:
    with pytest.raises((ValueError, KeyError, TypeError)):
        head_from(written)
