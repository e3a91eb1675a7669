"""Tests which tokens the calculator forces."""

from __future__ import annotations

from tests.support.fixtures import MODEL_NEEDS, skip_without

skip_without(MODEL_NEEDS, "the token loop")

from gradeschool.models.tokens.annotations import Annotations, Override  # noqa: E402
from tests.support.merging_tokenizer import Merging  # noqa: E402


def test_tokens_that_join_the_equals_sign_with_others() -> None:
    tokenizer = Merging("=2", "=24>", "=7", "*2=", "=24>>24")
    annotations = Annotations(tokenizer, 30)
    before = tokenizer("<<8*3")["input_ids"]

    def after(token: str, text: str = "") -> tuple[str, bool]:
        ids = tokenizer(text)["input_ids"] if text else before
        tokens, instead = annotations.override(ids, tokenizer.tokens.index(token))
        return tokenizer.decode(tokens), instead

    assert after("=") == ("24>>", False)
    assert after("=2") == ("4>>", False)
    assert after("=24>") == (">", False)
    assert after("=24>>24") == ("", False)
    assert after("=7") == ("=24>>", True)  # the token chosen is not written
    assert after("*2=") == ("48>>", False)
    assert after("=", "8*3") == ("", False)
    assert after("=7", "<<8*3=24>>+1") == ("", False)
    assert annotations.watched.sum() == 6
    assert annotations.override([], 0 + tokenizer.tokens.index("=")) == Override(())
