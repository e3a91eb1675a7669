"""Tests that the calculator follows its requests through vLLM's batches."""

from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from tests.support.fixtures import MODEL_NEEDS, skip_without

skip_without(MODEL_NEEDS, "the calculator of vLLM")

import torch  # noqa: E402

from tests.support.lent_modules import MoveDirectionality, imported_anew, lend_vllm  # noqa: E402

pytestmark = pytest.mark.slow


class Merging:
    """A tokenizer whose tokens join "=" with what is beside it; one for each string."""

    def __init__(self, *tokens: str) -> None:
        self.tokens = [*"<0123456789+*>=", *tokens]

    def __len__(self) -> int:
        return len(self.tokens)

    def convert_ids_to_tokens(self, ids: Sequence[int]) -> list[str]:
        return [self.tokens[token] for token in ids]

    def decode(self, ids: Sequence[int]) -> str:
        return "".join(self.convert_ids_to_tokens(ids))

    def __call__(self, text: str, add_special_tokens: bool = True) -> dict[str, list[int]]:
        return {"input_ids": [self.tokens.index(character) for character in text]}


TOKENIZER = Merging("=2", "=7", "*2=", ">>")
SIZE = 24  # more logits than tokens, as models have
# The tokens that a request would choose, and the text that it gets with the calculator.
SCRIPTS = [
    ("< < 8 * 3 = + 1", "<<8*3=24>>+1"),
    ("5 + < < 5 + 6 = < < 1 + 1 = 3", "5+<<5+6=11>><<1+1=2>>3"),
    ("< < 8 * 3 =2 9", "<<8*3=24>>9"),  # the result begins as chosen: the rest is forced
    ("< < 8 * 3 =7 > > 9", "<<8*3=7>>9"),  # a token chosen cannot be undone
    ("< < 8 *2= 1", "<<8*2=16>>1"),
    ("8 * 3 = 2 5", "8*3=25"),  # no annotation
    ("< < 9 9 9 * 9 9 9 =", "<<999*999=998001>>"),
    ("7", "7"),
]


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The module, imported with the names of vLLM."""
    lend_vllm(monkeypatch)
    with imported_anew("gradeschool.models.vllm_calculator") as [imported]:
        monkeypatch.setattr(imported, "load_tokenizer", {"folder": TOKENIZER}.__getitem__)
        yield imported


def settings(speculative: object = None) -> Any:
    """vLLM's settings, as far as the calculator reads them."""
    model = SimpleNamespace(tokenizer="folder", get_vocab_size=lambda: SIZE)
    return SimpleNamespace(model_config=model, speculative_config=speculative)


class Writer(NamedTuple):
    """A request that is running. wanted: what it would still choose; written: its tokens."""

    text: str
    wanted: list[int]
    written: list[int]


def writer(script: str, text: str) -> Writer:
    """A request that would choose the tokens of a script, and is to get this text."""
    return Writer(text, [TOKENIZER.tokens.index(token) for token in script.split()], [])


@pytest.mark.parametrize("slots", [1, 3, 8])
def test_results_are_forced_while_requests_move_in_the_batch(module: Any, slots: int) -> None:
    calculator = module.Calculator(settings(), None, False)
    waiting = [writer(*script) for script in SCRIPTS]
    rows: dict[int, Writer] = {}
    for step in range(1000):
        added, removed, moved = [], [], []
        for row in range(slots):
            if row in rows and not rows[row].wanted and not calculator.rows[row].queue:
                done = rows.pop(row)
                assert TOKENIZER.decode(done.written) == done.text
                removed.append(row)
            if row not in rows and waiting:
                rows[row] = waiting.pop(0)
                added.append((row, None, None, rows[row].written))
        if step % 3 == 2 and {0, 1} <= rows.keys():
            rows[0], rows[1] = rows[1], rows[0]
            moved.append((0, 1, MoveDirectionality.SWAP))
        if not rows:
            return
        calculator.update_state(SimpleNamespace(added=added, removed=removed, moved=moved))
        scores = torch.zeros(slots, SIZE)
        for row, each in rows.items():
            scores[row, each.wanted[0] if each.wanted else 0] = 1.0
        after = calculator.apply(scores.clone())
        for row, each in rows.items():
            is_forced = not torch.equal(scores[row], after[row])
            if is_forced or each.wanted:
                each.written.append(int(after[row].argmax()))
            if not is_forced and each.wanted:
                each.wanted.pop(0)
            calculator.rows[row].due(calculator.annotations)
    pytest.fail("the requests do not end")


def test_a_draft_model_is_refused(module: Any) -> None:
    with pytest.raises(ValueError, match="tokens that a draft model has chosen"):
        module.Calculator(settings(speculative=object()), None, False)
