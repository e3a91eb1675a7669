"""Several examples in one row, computed as if each were alone.

A row concatenates its examples, positions counted from 0 in each; no place is spent
on padding in the layers that see one token at a time. Attention, which sees many, takes the row
apart into its examples: no token can see another example's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate, pairwise
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from gradeschool.errors import InputError
from gradeschool.verifier.examples import TrainingExample

if TYPE_CHECKING:
    from torch import Tensor

ATTENTION = "gradeschool_packed"
ALIKE = 0.75
NEAR = 1e-3
LANGUAGE = "language"  # the name of the loss
PASS_TOKENS = 8192


class Places(NamedTuple):
    """Where the tokens of a packed row lie in tables of one example a line, and back.

    `tables`: for each place of a table, [lines, width], the token that it holds (a place behind an
    example's end holds token 0, which nothing reads); there is one table for each range of lengths.
    `row`: for each token its place, counted through all tables.
    """

    tables: tuple[Tensor, ...]
    row: Tensor

    def to(self, device: Any) -> Places:
        """Return the places on a device."""
        return Places(tuple(table.to(device) for table in self.tables), self.row.to(device))


class Packed(NamedTuple):
    """Examples in one row of tokens; the tokens at `scored` predict `targets`, the next ones."""

    ids: Tensor
    positions: Tensor
    places: Places
    scored: Tensor
    targets: Tensor

    @property
    def counts(self) -> Mapping[str, float]:
        """How many tokens the loss is summed over."""
        return {LANGUAGE: float(len(self.targets))}

    @property
    def tokens(self) -> int:
        """How many tokens the row has."""
        return len(self.ids)

    def to(self, device: Any) -> Packed:
        """Return the row on a device."""
        ids, positions, scored, targets = (
            tensor.to(device) for tensor in (self.ids, self.positions, self.scored, self.targets)
        )
        return Packed(ids, positions, self.places.to(device), scored, targets)


def pack(examples: Sequence[TrainingExample], whole: bool = False) -> Packed:
    """Return examples as one row; the solutions are scored, or all tokens where `whole`."""
    import torch

    lengths = [len(example.ids) for example in examples]
    begins = [0, *accumulate(lengths)]
    ids = torch.tensor([token for example in examples for token in example.ids])
    positions = torch.cat([torch.arange(length) for length in lengths])
    scored = torch.cat(
        [
            torch.arange(begin + (1 if whole else max(1, example.start)) - 1, begin + length - 1)
            for begin, example, length in zip(begins, examples, lengths, strict=False)
        ]
    )
    lines = [torch.arange(begin, end) for begin, end in pairwise(begins)]
    return Packed(ids, positions, places_of(lines, len(ids)), scored, ids[scored + 1])


def places_of(lines: Sequence[Tensor], tokens: int) -> Places:
    """Lay out lines, each the numbers of its tokens in the row; those of like length in one table.

    A token may stand in several lines, behind the same tokens in each; a row has `tokens`.
    """
    import torch

    tables: list[Tensor] = []
    row = torch.zeros(tokens, dtype=torch.long)
    offset = 0
    for group in _alike([len(line) for line in lines]):
        width = len(lines[group[0]])
        table = torch.zeros(len(group), width, dtype=torch.long)
        for turn, number in enumerate(group):
            line = lines[number]
            table[turn, : len(line)] = line
            row[line] = torch.arange(len(line)) + (offset + turn * width)
        offset += table.numel()
        tables.append(table)
    return Places(tuple(tables), row)


def _alike(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield groups of examples, the longest first; none is far shorter than its group's longest."""
    group: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        if group and lengths[index] < ALIKE * lengths[group[0]]:
            yield group
            group = []
        group.append(index)
    yield group


def language_loss(model: Any, batch: Packed) -> dict[str, Tensor]:
    """Return the cross-entropy of the scored tokens, summed."""
    from torch.nn.functional import cross_entropy

    logits = scored_logits(model, batch)
    return {LANGUAGE: cross_entropy(logits.float(), batch.targets, reduction="sum")}


def scored_logits(model: Any, batch: Packed) -> Tensor:
    """Return the logits of the scored tokens: [scored, vocabulary]; the model takes packed rows."""
    logits: Tensor = model(
        input_ids=batch.ids[None],
        attention_mask=batch.ids.new_zeros(1, 1, 1, 1),  # of four dimensions: none is built
        position_ids=batch.positions[None],
        use_cache=False,
        logits_to_keep=batch.scored,
        places=batch.places,
    ).logits
    return logits[0]


def take_packed(model: Any) -> None:
    """Let a model's attention take packed rows; without `places` it works as before.

    `generate` and padded rows go through scaled dot product attention. Raises InputError for an
    architecture that mixes the examples of a row (recurrent states, attention of its own).
    """
    import torch

    _register()
    probe = [TrainingExample([2, 3, 4, 5], 1), TrainingExample([3, 4, 2, 5, 4], 1)]
    other = [TrainingExample([5, 2, 2, 3], 1), probe[1]]
    training = model.training
    model.eval()
    try:
        with torch.no_grad():
            ids = (torch.tensor([tokens.ids], device=model.device) for tokens in probe)
            alone = torch.cat(
                [model(input_ids=tokens, use_cache=False).logits[0, :-1] for tokens in ids]
            )
            model.set_attn_implementation(ATTENTION)
            logits = scored_logits(model, pack(probe).to(model.device))
            beside = scored_logits(model, pack(other).to(model.device))
    except (TypeError, ValueError, RuntimeError, AttributeError) as error:
        raise _unpacked(model, f"{type(error).__name__}: {error}") from error
    finally:
        model.train(training)
    far = float((alone - logits).abs().max() / alone.abs().max())
    leak = float((beside - logits)[-4:].abs().max() / alone.abs().max())  # of the second example
    if not (far < NEAR and leak < NEAR / 1000):
        raise _unpacked(model, f"a logit is {max(far, leak):.2g} of the largest off")


def check_window(model: Any, longest: int) -> None:
    """Raise InputError where an example is longer than what a model's layers look back."""
    window = window_of(model)
    if window is not None and longest > window:
        raise InputError(
            f"the longest example has {longest} tokens, the model's layers look back {window}: "
            "training on longer ones is not supported; leave them out of the dataset"
        )


def window_of(model: Any) -> int | None:
    """Return how many tokens a model's layers look back at most, None where they see all."""
    config = model.config
    window = getattr(config, "sliding_window", None)
    slides = "sliding_attention" in (getattr(config, "layer_types", None) or ["sliding_attention"])
    return window if isinstance(window, int) and slides else None


def _unpacked(model: Any, reason: str) -> InputError:
    return InputError(
        f"the architecture {model.config.model_type!r} cannot be trained here: it does not compute "
        f"several examples in a row as if each were alone ({reason}); use a model whose attention "
        "transformers lets others compute (Llama, Qwen, Gemma, Phi, GPT-2 ...)"
    )


@cache
def _register() -> None:
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.integrations.sdpa_attention import sdpa_attention_forward
    from transformers.masking_utils import sdpa_mask

    def attend(
        module: Any, query: Tensor, key: Tensor, value: Tensor, mask: Any, **more: Any
    ) -> tuple[Tensor, None]:
        places: Places | None = more.pop("places", None)
        if places is None:
            result: tuple[Tensor, None] = sdpa_attention_forward(
                module, query, key, value, mask, **more
            )
            return result
        return _attend_apart(query, key, value, places, more.get("scaling")), None

    AttentionInterface.register(ATTENTION, attend)
    AttentionMaskInterface.register(ATTENTION, sdpa_mask)


def _attend_apart(
    query: Tensor, key: Tensor, value: Tensor, places: Places, scale: float | None
) -> Tensor:
    """Causal attention within each example; query and the rest are [1, heads, tokens, size]."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    heads, size = query.shape[1], query.shape[3]
    shared = heads != key.shape[1]
    everywhere = torch.cat([table.flatten() for table in places.tables])
    sizes = [table.numel() for table in places.tables]
    rows = (states[0].transpose(0, 1) for states in (query, key, value))  # [tokens, heads, size]
    split = [torch.split(states.index_select(0, everywhere), sizes) for states in rows]
    outputs = []
    for table, *of in zip(places.tables, *split, strict=True):
        lines = [states.unflatten(0, table.shape).transpose(1, 2) for states in of]
        output = scaled_dot_product_attention(
            lines[0], lines[1], lines[2], is_causal=True, scale=scale, enable_gqa=shared
        )
        outputs.append(output.transpose(1, 2).reshape(-1, heads, size))
    return torch.cat(outputs).index_select(0, places.row)[None]


class ExampleBatches:
    """Batches of examples in an order that is new in every epoch and depends on the seed alone.

    An update has always `batch` examples (all, where there are fewer): one may take its last from
    the next epoch, and what does not fill an update at the very end is left out. It is computed in
    as few passes of at most `pass_tokens` tokens as there can be.
    """

    def __init__(
        self,
        examples: Sequence[TrainingExample],
        epochs: float,
        batch: int,
        seed: int = 0,
        *,
        whole: bool = False,
        pass_tokens: int = PASS_TOKENS,
    ) -> None:
        self.examples = examples
        self.batch = min(batch, len(examples))
        self.updates = max(1, int(epochs * len(examples)) // self.batch)
        self.seed = seed
        self.whole = whole
        self.pass_tokens = pass_tokens
        self._order: tuple[int, list[int]] = (-1, [])

    def __len__(self) -> int:
        """Return the number of updates."""
        return self.updates

    def epoch_ends(self) -> list[int]:
        """Return the number of the last update of each epoch, the end of the training included."""
        epochs = -(-self.updates * self.batch // len(self.examples))
        ends = [epoch * len(self.examples) // self.batch for epoch in range(1, epochs + 1)]
        return sorted({min(max(end, 1), self.updates) for end in ends})

    def update(self, number: int, processes: int) -> list[Packed]:
        """Return the passes of an update; raises InputError where processes would get nothing."""
        if processes > self.batch:
            raise InputError(
                f"a batch of {self.batch} examples is too small for {processes} processes; "
                "give a larger --batch or fewer processes"
            )
        first = number * self.batch
        chosen = [self._at(place) for place in range(first, first + self.batch)]
        parts = divided([len(example.ids) for example in chosen], processes, self.pass_tokens)
        return [pack([chosen[index] for index in part], self.whole) for part in parts]

    def _at(self, place: int) -> TrainingExample:
        """Return the example at a place of the endless stream of epochs."""
        epoch, offset = divmod(place, len(self.examples))
        if self._order[0] != epoch:
            order = list(range(len(self.examples)))
            Random(f"{self.seed}:{epoch}").shuffle(order)  # noqa: S311
            self._order = (epoch, order)
        return self.examples[self._order[1][offset]]


def divided(lengths: Sequence[int], processes: int, most: int) -> list[list[int]]:
    """Divide examples into passes of about the same length, a multiple of the processes.

    There are at least as many examples as processes. No pass has more than `most` tokens, unless
    there is no other way. Returns the indices.
    """
    passes = max(1, -(-sum(lengths) // (processes * most)))
    count = processes * min(passes, len(lengths) // processes)
    longest_first = sorted(range(len(lengths)), key=lambda index: (-lengths[index], index))
    while True:
        parts: list[list[int]] = [[] for _ in range(count)]
        sizes = [0] * count
        for index in longest_first:
            least = sizes.index(min(sizes))
            parts[least].append(index)
            sizes[least] += lengths[index]
        if max(sizes) <= most or count + processes > len(lengths):
            return parts
        count += processes
