"""The identity of a request: what was asked of whom, and which sample of it."""

from __future__ import annotations

import hashlib
import json

from gradeschool.completion import Decoding, Prompt


def request_key(identity: str, prompt: Prompt, decoding: Decoding, sample: int) -> str:
    """Return the SHA-256 of model identity, rendered prompt, decoding and sample index, in hex.

    Another model, prompt, temperature or sample never shares a key, so that what is stored can
    never be served for anything else.
    """
    facts = [
        identity,
        prompt.text,
        [list(message) for message in prompt.messages],
        prompt.prefix,
        [decoding.temperature, decoding.top_p, decoding.max_tokens],
        [*decoding.stop],
        decoding.seed,
        sample,
    ]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()
