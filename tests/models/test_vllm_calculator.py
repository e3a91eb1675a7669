"""Tests that the calculator follows its requests through the batches of both of vLLM's runners."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from tests.support.fixtures import MODEL_NEEDS, skip_without

skip_without(MODEL_NEEDS, "the calculator of vLLM")

import numpy as np  # noqa: E402
import torch  # noqa: E402

from tests.support.lent_modules import (  # noqa: E402
    imported_anew,
    lend_vllm,
)
from tests.support.merging_tokenizer import Merging  # noqa: E402

pytestmark = pytest.mark.slow

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
    """The module, imported with the names of a vLLM that has the first runner alone."""
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

    number: int
    wanted: list[int]
    written: list[int]

    @property
    def scores(self) -> torch.Tensor:
        """Logits whose maximum is the token it wants next; any token at its end."""
        scores = torch.zeros(SIZE)
        scores[self.wanted[0] if self.wanted else 0] = 1.0
        return scores

    def choose(self, before: torch.Tensor, after: torch.Tensor) -> bool:
        """Append the likeliest token; return False at the end, when nothing is forced."""
        if bool(after.isneginf().any()):
            assert int((~after.isneginf()).sum()) == 1
            self.written.append(int(after.argmax()))
            return True
        assert torch.equal(before, after)
        if self.wanted:
            self.written.append(self.wanted.pop(0))
            return True
        return False


def writers() -> list[Writer]:
    """A request for each script."""
    return [
        Writer(number, [TOKENIZER.tokens.index(token) for token in script.split()], [])
        for number, (script, _) in enumerate(SCRIPTS)
    ]


@pytest.mark.parametrize("slots", [1, 2, 3, 8])
def test_in_the_second_runner_tokens_are_followed_from_step_to_step(
    module: Any, slots: int
) -> None:
    """Prompts come in two parts, the order changes, and each request is set aside once."""
    prompt = TOKENIZER("<<8*3=")["input_ids"]  # opens an annotation that is none of the request's
    buffer = torch.zeros(slots, 64, dtype=torch.int32)
    lengths = np.full(slots, len(prompt))
    state = SimpleNamespace(
        all_token_ids=SimpleNamespace(gpu=buffer), prompt_len=SimpleNamespace(np=lengths)
    )
    calculator = module.Calculator(settings(), state)
    waiting = writers()
    running: dict[int, Writer] = {}
    fed: dict[int, int] = {}
    texts: dict[int, str] = {}
    for step in range(1000):
        for slot in range(slots):
            if slot not in running and waiting:
                running[slot], fed[slot] = waiting.pop(0), len(prompt) // 2
                assert calculator.add_request(slot, None)
            elif slot in running and len(running[slot].written) == 7 and step % 2:
                assert calculator.add_request(slot, None)  # it was set aside
        if not running:
            break
        order = sorted(running, reverse=bool(step % 2))
        tokens = {slot: [*prompt, *running[slot].written] for slot in order}
        for slot, ids in tokens.items():
            buffer[slot, : len(ids)] = torch.tensor(ids, dtype=torch.int32)
        context = SimpleNamespace(
            idx_mapping_np=np.array(order),
            input_ids=torch.tensor([tokens[slot][fed[slot] - 1] for slot in order]),
            pos=torch.tensor([fed[slot] - 1 for slot in order]),
        )
        before = torch.stack([running[slot].scores for slot in order])
        after = calculator.apply(before.clone(), context)
        for row, slot in enumerate(order):
            if fed[slot] < len(prompt):
                assert torch.equal(before[row], after[row])
                fed[slot] = len(prompt)
                continue
            writer = running[slot]
            if writer.choose(before[row], after[row]):
                fed[slot] += 1
            else:
                texts[writer.number] = TOKENIZER.decode(writer.written)
                del running[slot]
    assert [texts[number] for number in range(len(SCRIPTS))] == [text for _, text in SCRIPTS]


def test_a_draft_model_is_refused(module: Any) -> None:
    with pytest.raises(ValueError, match="tokens that a draft model has chosen"):
        module.Calculator(settings(speculative=object()), None)
