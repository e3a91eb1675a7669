"""Pack several texts into one row of tokens, computed as if each were alone.

A row concatenates examples without padding, with positions from 0 in each. Attention splits the row
into its examples, so that no token sees another example's tokens (`pack`). Solutions of several
questions also share a row: each question is processed once, so k samples of a problem cost one
question and k solutions (`pack_solutions`). Every layer runs once per pass, as FSDP requires.
Models whose attention cannot do that process question and solution together, row by row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from inspect import signature
from itertools import accumulate, pairwise
from random import Random
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from gradeschool.errors import InputError
from gradeschool.verifier.examples import SolutionTokens, TrainingExample

if TYPE_CHECKING:
    from torch import Tensor

Item = TypeVar("Item")
ATTENTION = "gradeschool_packed"
ALIKE = 0.75
NEAR = 1e-3
LANGUAGE = "language"  # the name of the loss
PASS_TOKENS = 8192


class AttentionTables(NamedTuple):
    """The mapping between the tokens of a packed row and tables with one example per line.

    `tables`: [lines, width], the token at each place of a table (after an example's end: token 0,
    which nothing reads); one table for each range of lengths. `row`: the place of each token,
    counted through all tables.
    """

    tables: tuple[Tensor, ...]
    row: Tensor

    def to(self, device: Any) -> AttentionTables:
        """Return the places on a device."""
        return AttentionTables(tuple(_moved(self.tables, device)), self.row.to(device))


def _moved(parts: Iterable[Any], device: Any) -> Iterator[Any]:
    return (part.to(device) for part in parts)


class PackedExamples(NamedTuple):
    """Examples in one row of tokens; the tokens at `scored` predict `targets`, the next tokens."""

    ids: Tensor
    positions: Tensor
    places: AttentionTables
    scored: Tensor
    targets: Tensor

    @property
    def counts(self) -> Mapping[str, float]:
        """The number of tokens in the loss."""
        return {LANGUAGE: float(len(self.targets))}

    @property
    def tokens(self) -> int:
        """The number of tokens in the row."""
        return len(self.ids)

    def to(self, device: Any) -> PackedExamples:
        """Return the row on a device."""
        return PackedExamples(*_moved(self, device))


def pack(examples: Sequence[TrainingExample], whole: bool = False) -> PackedExamples:
    """Return examples as one row; the solutions are scored, or all tokens if `whole`."""
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
    return PackedExamples(ids, positions, places_of(lines, len(ids)), scored, ids[scored + 1])


def places_of(lines: Sequence[Tensor], tokens: int) -> AttentionTables:
    """Arrange lines (each a sequence of token numbers in the row) in tables of similar length.

    A token may be in several lines, after the same tokens in each; a row has `tokens` tokens.
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
    return AttentionTables(tuple(tables), row)


def _alike(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield groups of examples of similar length, the longest first."""
    group: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        if group and lengths[index] < ALIKE * lengths[group[0]]:
            yield group
            group = []
        group.append(index)
    yield group


def language_loss(model: Any, batch: PackedExamples) -> dict[str, Tensor]:
    """Return the cross-entropy of the scored tokens, summed."""
    from torch.nn.functional import cross_entropy

    logits = scored_logits(model, batch)
    return {LANGUAGE: cross_entropy(logits.float(), batch.targets, reduction="sum")}


def scored_logits(model: Any, batch: PackedExamples) -> Tensor:
    """Return the logits of the scored tokens: [scored, vocabulary]; the model takes packed rows."""
    logits: Tensor = model(**model_inputs(batch), logits_to_keep=batch.scored).logits
    return logits[0]


def model_inputs(row: PackedExamples | TokenLine) -> dict[str, Any]:
    """Return a row as the arguments of a model that takes packed rows."""
    return {
        "input_ids": row.ids[None],
        "attention_mask": row.ids.new_zeros(
            1, 1, 1, 1
        ),  # four dimensions, so that no mask is built
        "position_ids": row.positions[None],
        "use_cache": False,
        "places": row.places,
    }


def take_packed(model: Any) -> None:
    """Make a model's attention accept packed rows; without `places` it works as before.

    `generate` and padded rows use scaled dot product attention. Raises InputError for an
    architecture that mixes the examples of a row (recurrent states, custom attention).
    """
    import torch

    _register()
    probe = [TrainingExample([2, 3, 4, 5], 1), TrainingExample([3, 4, 2, 5, 4], 1)]
    other = [TrainingExample([5, 2, 2, 3], 1), probe[1]]
    training, dtype = model.training, model.dtype
    model.eval()
    if model.device.type == "cpu":
        _cast(model, torch.float32)  # rounding to 16 bits changes logits by more than `NEAR`
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
        _cast(model, dtype)
    far = float((alone - logits).abs().max() / alone.abs().max())
    leak = float((beside - logits)[-4:].abs().max() / alone.abs().max())  # of the second example
    if not (far < NEAR and leak < NEAR / 1000):
        raise _unpacked(model, f"a logit is {max(far, leak):.2g} of the largest off")


def _cast(model: Any, dtype: Any) -> None:
    """Convert a model's weights to a data type in place, except buffers of positions."""
    for weight in model.parameters():
        weight.data = weight.data.to(dtype)


def check_window(model: Any, longest: int) -> None:
    """Raise InputError if an example is longer than the window of a model's layers."""
    window = window_of(model)
    if window is not None and longest > window:
        raise InputError(
            f"the longest example has {longest} tokens, the model's window is {window}: "
            "training on longer ones is not supported; leave them out of the dataset"
        )


def window_of(model: Any) -> int | None:
    """Return the largest window of a model's layers in tokens, None without a window."""
    config = model.config
    window = getattr(config, "sliding_window", None)
    slides = "sliding_attention" in (getattr(config, "layer_types", None) or ["sliding_attention"])
    return window if isinstance(window, int) and slides else None


def _unpacked(model: Any, reason: str) -> InputError:
    return InputError(
        f"the architecture {model.config.model_type!r} cannot be trained here: it does not compute "
        f"several examples in a row as if each were alone ({reason}); use an architecture that "
        "supports transformers' attention interface (Llama, Qwen, Gemma, Phi, GPT-2 ...)"
    )


@cache
def _register() -> None:
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.integrations.sdpa_attention import sdpa_attention_forward
    from transformers.masking_utils import sdpa_mask

    def attend(
        module: Any, query: Tensor, key: Tensor, value: Tensor, mask: Any, **more: Any
    ) -> tuple[Tensor, None]:
        places: AttentionTables | None = more.pop("places", None)
        if places is None:
            result: tuple[Tensor, None] = sdpa_attention_forward(
                module, query, key, value, mask, **more
            )
            return result
        return _attend_apart(query, key, value, places, more.get("scaling")), None

    AttentionInterface.register(ATTENTION, attend)
    AttentionMaskInterface.register(ATTENTION, sdpa_mask)


def _attend_apart(
    query: Tensor, key: Tensor, value: Tensor, places: AttentionTables, scale: float | None
) -> Tensor:
    """Causal attention within each example; query, key and value are [1, heads, tokens, size]."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    kind, dtype = query.device.type, query.dtype
    # On a CPU the backward pass takes three times as long in bfloat16 as in float32.
    if kind == "cpu":
        query, key, value = query.float(), key.float(), value.float()
    heads, size = query.shape[1], query.shape[3]
    shared = heads != key.shape[1]
    everywhere = torch.cat([table.flatten() for table in places.tables])
    sizes = [table.numel() for table in places.tables]
    rows = (states[0].transpose(0, 1) for states in (query, key, value))  # [tokens, heads, size]
    split = [torch.split(states.index_select(0, everywhere), sizes) for states in rows]
    outputs = []
    for table, *of in zip(places.tables, *split, strict=True):
        lines = [states.unflatten(0, table.shape).transpose(1, 2) for states in of]
        with torch.autocast(kind, enabled=kind != "cpu" and torch.is_autocast_enabled(kind)):
            output = scaled_dot_product_attention(
                lines[0], lines[1], lines[2], is_causal=True, scale=scale, enable_gqa=shared
            )
        outputs.append(output.transpose(1, 2).reshape(-1, heads, size))
    return torch.cat(outputs).index_select(0, places.row)[None].to(dtype)


class ShuffledBatches(Generic[Item]):
    """Items in updates, shuffled in every epoch; the order depends only on the seed.

    An update always has `batch` items (or all, if there are fewer): it may continue into the next
    epoch, and items that do not fill an update at the very end are left out.
    """

    kind = "items"  # in messages

    def __init__(self, items: Sequence[Item], epochs: float, batch: int, seed: int) -> None:
        self.items = items
        self.batch = min(batch, len(items))
        self.updates = max(1, int(epochs * len(items)) // self.batch)
        self.seed = seed
        self._order: tuple[int, list[Item]] = (-1, [])

    def __len__(self) -> int:
        """Return the number of updates."""
        return self.updates

    def of_update(self, number: int, processes: int) -> list[tuple[int, Item]]:
        """Return the items of an update, each with its epoch.

        Raises InputError if one of the processes would get nothing.
        """
        if processes > self.batch:
            raise InputError(
                f"a batch of {self.batch} {self.kind} is too small for {processes} processes; "
                "give a larger --batch or fewer processes"
            )
        first = number * self.batch
        return [self._item(place) for place in range(first, first + self.batch)]

    def _item(self, place: int) -> tuple[int, Item]:
        """Return the epoch and the item at an index of the endless stream of epochs."""
        epoch, offset = divmod(place, len(self.items))
        if self._order[0] != epoch:
            order = list(self.items)
            Random(f"{self.seed}:{epoch}").shuffle(order)  # noqa: S311
            self._order = (epoch, order)
        return epoch, self._order[1][offset]


class ExampleBatches(ShuffledBatches[TrainingExample]):
    """Batches of examples; an update is computed in the fewest passes of `pass_tokens` tokens."""

    kind = "examples"

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
        super().__init__(examples, epochs, batch, seed)
        self.whole = whole
        self.pass_tokens = pass_tokens

    def epoch_ends(self) -> list[int]:
        """Return the number of the last update of each epoch, including the end of the training."""
        epochs = -(-self.updates * self.batch // len(self.items))
        ends = [epoch * len(self.items) // self.batch for epoch in range(1, epochs + 1)]
        return sorted({min(max(end, 1), self.updates) for end in ends})

    def update(self, number: int, processes: int) -> list[PackedExamples]:
        """Return the passes of an update; raises InputError if a process would get nothing."""
        chosen = [example for _, example in self.of_update(number, processes)]
        parts = divided([len(example.ids) for example in chosen], processes, self.pass_tokens)
        return [pack([chosen[index] for index in part], self.whole) for part in parts]


def divided(lengths: Sequence[int], processes: int, most: int) -> list[list[int]]:
    """Divide examples into passes of similar length; their number is a multiple of the processes.

    There must be at least as many examples as processes. No pass has more than `most` tokens,
    unless unavoidable. Returns the indexes.
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


class TokenLine(NamedTuple):
    """All questions without their last tokens, and all bodies after them, as one row of tokens.

    ends: [rows, S], the positions of the bodies' tokens in it; arbitrary for padding.
    """

    ids: Tensor
    positions: Tensor
    places: AttentionTables
    ends: Tensor

    def to(self, device: Any) -> TokenLine:
        """Return the row on a device."""
        return TokenLine(*_moved(self, device))


class PackedRows(NamedTuple):
    """Token rows of one forward pass, padded on the right with zeros.

    prefix: [questions, P], each question's tokens except the last; prefix_mask: 1 for tokens.
    owner: [rows], the question of each solution. body: [rows, S], the question's last token, then
    the solution; body_mask as prefix_mask. So the state at place t of a body has seen t tokens of
    the solution, and predicts the next one. line: the same without padding.
    """

    prefix: Tensor
    prefix_mask: Tensor
    owner: Tensor
    body: Tensor
    body_mask: Tensor
    line: TokenLine

    def to(self, device: Any) -> PackedRows:
        """Return the rows on a device."""
        return PackedRows(*_moved(self, device))

    @property
    def solution_mask(self) -> Tensor:
        """Return [rows, S]: true for solution tokens, false for the question's last token."""
        mask = self.body_mask.bool().clone()
        mask[:, 0] = False
        return mask


def pack_solutions(
    questions: Sequence[Sequence[int]], solutions: Sequence[tuple[int, Sequence[int]]]
) -> PackedRows:
    """Return the rows of solutions (index of the question, tokens); questions are not empty."""
    import torch

    prefixes = [list(ids[:-1]) for ids in questions]
    bodies = [[questions[owner][-1], *ids] for owner, ids in solutions]
    owners = [owner for owner, _ in solutions]
    prefix, prefix_mask = _padded(prefixes)
    body, body_mask = _padded(bodies)
    line = _line(prefixes, bodies, owners)
    return PackedRows(prefix, prefix_mask, torch.tensor(owners), body, body_mask, line)


def pack_texts(texts: Sequence[SolutionTokens]) -> PackedRows:
    """Return the rows of texts, each question once."""
    questions = dict.fromkeys(text.question for text in texts)
    numbers = {question: index for index, question in enumerate(questions)}
    return pack_solutions(
        list(questions), [(numbers[text.question], text.solution) for text in texts]
    )


def _padded(rows: Sequence[list[int]]) -> tuple[Tensor, Tensor]:
    import torch

    width = max(map(len, rows), default=0)
    ids = torch.tensor([row + [0] * (width - len(row)) for row in rows], dtype=torch.long)
    mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows])
    shape = (len(rows), width)
    return ids.reshape(shape), mask.reshape(shape).long()


def _line(
    prefixes: Sequence[list[int]], bodies: Sequence[list[int]], owners: list[int]
) -> TokenLine:
    import torch

    pieces = [*prefixes, *bodies]
    begins = [0, *accumulate(map(len, pieces))]
    spans = [torch.arange(begin, end) for begin, end in pairwise(begins)]
    starts = [len(prefixes[start]) for start in owners]
    positions = [torch.arange(len(tokens)) for tokens in prefixes]
    positions += [
        torch.arange(len(tokens)) + start for tokens, start in zip(bodies, starts, strict=True)
    ]
    behind = spans[len(prefixes) :]
    lines = [
        torch.cat([spans[start], tokens]) for start, tokens in zip(owners, behind, strict=True)
    ]
    width = max(map(len, bodies))
    ends = torch.tensor(begins[len(prefixes) : -1])[:, None] + torch.arange(width)
    return TokenLine(
        torch.tensor([token for piece in pieces for token in piece]),
        torch.cat(positions),
        places_of(lines, begins[-1]),
        ends.clamp(max=begins[-1] - 1),
    )


def hidden_states(model: Any, rows: PackedRows, share: bool = True) -> Tensor:
    """Return the last hidden states of the bodies, [rows, S, width]; arbitrary for padding.

    model: a causal language model from transformers. share: process each question once if the model
    allows it; the states are the same up to rounding.
    """
    if share and _can_share(model, rows):
        return _shared(model, rows.line)
    return _whole(model, rows)


def _can_share(model: Any, rows: PackedRows) -> bool:
    """Return whether a model accepts packed rows, and its window is large enough for these."""
    window = window_of(model)
    enough = window is None or rows.prefix.shape[1] + rows.body.shape[1] <= window
    return enough and getattr(model.config, "_attn_implementation", "") == ATTENTION


def _shared(model: Any, line: TokenLine) -> Tensor:
    states: Tensor = model.base_model(**model_inputs(line)).last_hidden_state[0][line.ends]
    return states


def _whole(model: Any, rows: PackedRows) -> Tensor:
    """Process each question with its solution, without the padding between them."""
    import torch

    ids = torch.cat([rows.prefix[rows.owner], rows.body], 1)
    mask = torch.cat([rows.prefix_mask[rows.owner], rows.body_mask], 1)
    order = torch.argsort(mask, dim=1, descending=True, stable=True)
    ids, mask = ids.gather(1, order), mask.gather(1, order)
    places = {}
    if "position_ids" in signature(model.base_model.forward).parameters:
        places = {"position_ids": (mask.cumsum(1) - 1).clamp(min=0)}
    out = model.base_model(input_ids=ids, attention_mask=mask, use_cache=False, **places)
    states: Tensor = out.last_hidden_state
    start = rows.prefix_mask.sum(1)[rows.owner]
    columns = start[:, None] + torch.arange(rows.body.shape[1], device=start.device)
    columns = columns.clamp(max=states.shape[1] - 1)[..., None].expand(-1, -1, states.shape[2])
    return states.gather(1, columns)
