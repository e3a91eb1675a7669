"""The tokens that the calculator forces: the result of an open annotation and its ">>"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from gradeschool.calculator import LONGEST, OPEN, annotation_end

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# A byte-level vocabulary writes a space as "Ġ", a SentencePiece one as "▁" and bytes as "<0x3D>".
SPACES = str.maketrans("Ġ▁", "  ")
EQUALS_BYTE = "<0x3D>"


class Override(NamedTuple):
    """Tokens that must follow; `instead`: the first replaces the token just chosen."""

    tokens: tuple[int, ...]
    instead: bool = False


NOTHING = Override(())


class Annotations:
    """Finds open annotations in the tokens of one tokenizer.

    A token that ends in "=" is followed by the result. A token that continues after "=" ("=2") is
    kept if the result begins with it (the rest is forced), and otherwise replaced by "=" and the
    whole result.
    """

    def __init__(self, tokenizer: Any, size: int) -> None:
        """Set the tokenizer, and the number of the model's logits."""
        import numpy

        self.tokenizer = tokenizer
        # fmt: off
        self.texts = [str(text or "").replace(EQUALS_BYTE, "=").translate(SPACES)
                      for text in tokenizer.convert_ids_to_tokens(range(min(size, len(tokenizer))))]
        # fmt: on
        self.texts += [""] * (size - len(self.texts))
        self.watched: NDArray[np.bool_] = numpy.array(["=" in text for text in self.texts])
        self.opening = {token for token, text in enumerate(self.texts) if "<" in text}
        self.closing = {token for token, text in enumerate(self.texts)
                        if ">" in text and "<" not in text}  # fmt: skip
        self.whole = {token for token in self.opening if OPEN in self.texts[token]}
        self.encode: Callable[[str], tuple[int, ...]] = lru_cache(4096)(self._encode)
        # Samples often agree.
        self.behind: Callable[[tuple[int, ...], int], Override] = lru_cache(65536)(self._behind)

    def override(self, before: Sequence[int], token: int) -> Override:
        """Return the tokens that a token with "=" forces after the tokens before it."""
        return self.behind(self._open(before), token)

    def _behind(self, opened: tuple[int, ...], token: int) -> Override:
        """Return the override after a token in an open annotation, () if none is open."""
        text, end = self.texts[token], self.texts[token].index("=") + 1
        head, rest = text[:end], text[end:]
        tail = "".join([self.texts[member] for member in opened])
        if not tail.isascii():
            tail = str(self.tokenizer.decode(opened))
        result = annotation_end(tail + head) if tail or OPEN in head else ""
        if not result or rest.startswith(result):
            return NOTHING
        if result.startswith(rest):
            return Override(self.encode(result[len(rest) :]))
        return Override(self.encode(head + result), instead=True)

    def _open(self, before: Sequence[int]) -> tuple[int, ...]:
        """Return the tokens of a row from the "<<" of an open annotation on, () if none is open."""
        closing, opening, whole = self.closing, self.opening, self.whole
        for start in range(len(before) - 1, max(-1, len(before) - 1 - LONGEST), -1):
            token = before[start]
            if token in closing:
                return ()
            if token in opening and (
                token in whole or OPEN in "".join([self.texts[member] for member in before[start:]])
            ):
                return tuple(before[start:])
        return ()

    def _encode(self, text: str) -> tuple[int, ...]:
        """Return a text's tokens as they would be in the middle of a text.

        A SentencePiece tokenizer puts a space before a text, so "=" is put first and cut off again.
        """
        plain = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        if "".join([self.texts[token] for token in plain]) == text:
            return tuple(plain)
        if self.tokenizer.decode(plain) == text and self.texts[plain[0]][:1] != " ":
            return tuple(plain)
        lead = self.tokenizer("=", add_special_tokens=False)["input_ids"]
        led = self.tokenizer("=" + text, add_special_tokens=False)["input_ids"]
        return tuple(led[len(lead) :] if led[: len(lead)] == lead else plain)
