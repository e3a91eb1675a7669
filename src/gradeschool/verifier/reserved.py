"""The reserved token whose logit is the verifier's voice."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

VERIFIER_TOKEN = "<ver>"
# Tokens that model families keep free for such uses.
FREE = re.compile(r"<\|?(?:reserved_special_token_|unused|extra_id_|extra_|reserved_)\d+\|?>\Z")


class Reserved(NamedTuple):
    """A token that no text holds: its number, its text ("" for none), how it was come by."""

    id: int
    text: str
    how: str


def reserve(model: Any, tokenizer: Any) -> Reserved:
    """Return the token for a verifier's head.

    `<ver>` where the tokenizer has it; else one that the family keeps free, the last row of an
    embedding that is longer than the vocabulary, or a token added to both.
    """
    known = tokenizer.get_vocab()
    if VERIFIER_TOKEN in known:
        return Reserved(known[VERIFIER_TOKEN], VERIFIER_TOKEN, "the tokenizer's own")
    rows = model.get_input_embeddings().weight.shape[0]
    free = sorted((id, text) for text, id in known.items() if FREE.match(text) and id < rows)
    if free:
        return Reserved(*free[0], "kept free by the tokenizer")
    if rows > max(known.values()) + 1:
        return Reserved(rows - 1, "", "the embedding's last row, which no token uses")
    tokenizer.add_special_tokens({"additional_special_tokens": [VERIFIER_TOKEN]})
    model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    id = tokenizer.convert_tokens_to_ids(VERIFIER_TOKEN)
    return Reserved(id, VERIFIER_TOKEN, "added to tokenizer and embedding")
