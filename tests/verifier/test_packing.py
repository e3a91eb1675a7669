"""Packed rows give what each example alone gives, in models of many architectures."""

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs torch, which make test-all installs")
pytest.importorskip("transformers")

from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from gradeschool.errors import InputError  # noqa: E402
from gradeschool.verifier.examples import TrainingExample  # noqa: E402
from gradeschool.verifier.packing import (  # noqa: E402
    LANGUAGE,
    ExampleBatches,
    check_window,
    divided,
    language_loss,
    pack,
    scored_logits,
    take_packed,
)
from tests.support.trainees import (  # noqa: E402
    architecture,
    examples_of,
    sums,
    tokenizer_of,
    trainee,
)

ARCHITECTURES = (
    "llama", "mistral", "qwen2", "qwen3", "gemma", "phi3", "smollm3", "olmo", "gpt2", "gpt_neox",
)  # fmt: skip
EXAMPLES = [
    TrainingExample([5, 9, 7, 8, 20, 1], 3),
    TrainingExample([6, 30, 40, 50, 60, 70, 80, 90, 1], 2),
    TrainingExample([9, 1], 1),
    TrainingExample([7, 8, 9, 10, 1], 4),
]


def alone(model: Any, example: TrainingExample, start: int) -> Any:
    """The logits that predict an example's tokens from `start`, computed by themselves."""
    logits = model(input_ids=torch.tensor([example.ids])).logits[0]
    return logits[start - 1 : -1]


def test_a_model_in_bfloat16_is_checked_in_float32_and_stays_as_it_is() -> None:
    model = architecture("llama").to(torch.bfloat16)
    positions = model.model.rotary_emb
    positions.inv_freq = positions.inv_freq.float()
    before = {name: tensor.clone() for name, tensor in model.named_parameters()}
    take_packed(model)
    assert positions.inv_freq.dtype == torch.float32
    assert model.config._attn_implementation == "gradeschool_packed"
    assert all(torch.equal(before[name], weight) for name, weight in model.named_parameters())


def test_attention_is_computed_in_float32_in_passes_of_bfloat16() -> None:
    model = architecture("llama")
    take_packed(model)
    dtypes = []
    attend = torch.nn.functional.scaled_dot_product_attention

    def watched(query: Any, *rest: Any, **more: Any) -> Any:
        dtypes.append(query.dtype)
        return attend(query, *rest, **more)

    batch, gradients = pack(EXAMPLES), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.nn.functional, "scaled_dot_product_attention", watched)
        for half in (False, True):
            model.zero_grad()
            with torch.autocast("cpu", torch.bfloat16, enabled=half):
                loss = language_loss(model, batch)[LANGUAGE]
            loss.backward()
            gradients.append(torch.cat([p.grad.flatten() for p in model.parameters()]))
    assert set(dtypes) == {torch.float32}
    assert not torch.equal(*gradients)
    assert torch.cosine_similarity(*gradients, dim=0) > 0.99


@pytest.mark.parametrize("kind", ARCHITECTURES)
@pytest.mark.parametrize("whole", [False, True])
def test_a_packed_row_gives_the_logits_of_each_example_alone(kind: str, whole: bool) -> None:
    model = architecture(kind)
    with torch.no_grad():
        expected = torch.cat(
            [alone(model, example, 1 if whole else example.start) for example in EXAMPLES]
        )
        take_packed(model)
        logits = scored_logits(model, pack(EXAMPLES, whole))
        rows = model(input_ids=torch.tensor([EXAMPLES[0].ids])).logits[0]  # not packed: as before
        again = alone(model, EXAMPLES[0], 1)
    assert torch.allclose(logits, expected, atol=1e-5), (logits - expected).abs().max()
    assert torch.equal(rows[:-1], again)


def test_the_loss_and_the_gradients_of_a_packed_row_are_those_of_its_examples() -> None:
    problems = sums(6)
    tokenizer = tokenizer_of(problems)
    examples = examples_of(tokenizer, problems)
    packed, single = trainee(tokenizer), trainee(tokenizer)
    take_packed(packed)
    batch = pack(examples)
    loss = language_loss(packed, batch)[LANGUAGE]
    loss.backward()
    total = torch.zeros(())
    for example in examples:
        logits = alone(single, example, example.start)
        targets = torch.tensor(example.ids[example.start :])
        total = total + torch.nn.functional.cross_entropy(logits, targets, reduction="sum")
    total.backward()
    assert batch.counts[LANGUAGE] == sum(len(example.ids) - example.start for example in examples)
    assert loss.item() == pytest.approx(total.item(), rel=1e-6)
    pairs = zip(packed.parameters(), single.parameters(), strict=True)
    assert all(torch.allclose(example.grad, other.grad, atol=1e-4) for example, other in pairs)


@pytest.mark.parametrize("kind", ["bloom", "mamba", "falcon_h1"])
def test_an_architecture_that_mixes_examples_is_refused(kind: str) -> None:
    with pytest.raises(InputError, match=rf"'{kind}' cannot be trained here"):
        take_packed(architecture(kind))


def test_examples_longer_than_a_window_are_refused() -> None:
    model = architecture("mistral")
    model.config.sliding_window = 20
    check_window(model, 20)
    with pytest.raises(InputError, match=r"21 tokens, the model's window is 20"):
        check_window(model, 21)
    check_window(architecture("llama"), 10**6)


def test_no_token_of_another_example_is_seen() -> None:
    tokenizer = tokenizer_of(sums(3))
    model = trainee(tokenizer)
    take_packed(model)
    changed = [EXAMPLES[0], TrainingExample([11, 12, 13, 14, 15, 16, 17, 18, 1], 2), *EXAMPLES[2:]]
    with torch.no_grad():
        before, after = (scored_logits(model, pack(examples)) for examples in (EXAMPLES, changed))
    own = len(EXAMPLES[0].ids) - EXAMPLES[0].start
    others = own + len(EXAMPLES[1].ids) - EXAMPLES[1].start
    assert torch.equal(before[:own], after[:own])
    assert torch.equal(before[others:], after[others:])
    assert not torch.allclose(before[own:others], after[own:others])


@given(st.lists(st.integers(1, 50), min_size=4, max_size=40), st.integers(1, 4), st.integers(1, 99))
def test_an_update_is_divided_without_loss(lengths: list[int], processes: int, most: int) -> None:
    parts = divided(lengths, processes, most)
    assert sorted(index for part in parts for index in part) == list(range(len(lengths)))
    assert len(parts) % processes == 0
    assert all(parts)
    longest = max(sum(lengths[index] for index in part) for part in parts)
    assert longest <= max(most, max(lengths)) or len(parts) + processes > len(lengths)


@given(st.integers(1, 30), st.integers(1, 40), st.floats(0.1, 5), st.integers(0, 9))
def test_every_epoch_sees_every_example_once(
    count: int, batch: int, epochs: float, seed: int
) -> None:
    examples = [TrainingExample([index + 1, index + 2], 1) for index in range(count)]
    batches = ExampleBatches(examples, epochs, batch, seed)
    tokens = [
        int(token)
        for number in range(len(batches))
        for row in batches.update(number, 1)
        for token in row.ids[row.positions == 0]
    ]
    assert len(batches) * batches.batch == len(tokens)
    assert len(tokens) <= max(epochs * count, batches.batch)
    assert epochs * count < len(tokens) + batches.batch + 1
    other = ExampleBatches(examples, epochs, batch, seed)
    (last,) = other.update(len(other) - 1, 1)  # depends on the number alone
    assert last.ids[last.positions == 0].tolist() == tokens[-batches.batch :]
    if count % batches.batch == 0:
        for first in range(0, len(tokens) - count + 1, count):
            assert sorted(tokens[first : first + count]) == list(range(1, count + 1))
    ends = batches.epoch_ends()
    assert ends == sorted(set(ends))
    assert ends[-1] == len(batches)
