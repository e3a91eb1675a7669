"""A verifier: a language model that gives at each token the probability of a right solution.

The head is a gain and a bias on the logit of one reserved token, as in appendix E of "Training
Verifiers to Solve Math Word Problems" (arXiv 2110.14168). The other logits remain those of a
language model, so that one network is trained on both objectives. The reserved token's row of the
unembedding is a parameter of its own, which also learns where adapters freeze the rest.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from gradeschool.atomic import require_new
from gradeschool.errors import InputError
from gradeschool.models.gguf_file import LIKELIHOOD, LOGIT, VERIFIER_FILE, Head, head_from
from gradeschool.models.local import (
    UNFINISHED,
    check_model,
    from_folder,
    load_model,
    load_tokenizer,
    untrained,
)
from gradeschool.verifier.base_model import VER
from gradeschool.verifier.data import SolutionTokens

SCHEMA = 1
# With these, an untrained head gives about 0.5, with little weight on the token's logit.
GAIN, BIAS = 0.1, 0.5
LEAST_DEVIATION = 0.1  # nats, of the log-probabilities of solutions
# Tokens of one forward pass, with padding.
PLACES_ON_CPU, PLACES_ON_GPU = 8_192, 131_072
SHARED = 4  # solutions of a question from which it is read once for all of them
# Tokens that model families reserve for such uses.
FREE = re.compile(r"<\|?(?:reserved_special_token_|unused|extra_id_|extra_|reserved_)\d+\|?>\Z")


class Verifier(nn.Module):
    """A causal language model from transformers with a head.

    kind LOGIT: the value at a token is gain x (state . row) + bias. kind LIKELIHOOD: it is
    sigmoid(exp(gain) x the sum of the log-probabilities up to it + bias), including tokens that a
    calculator forced; not in the paper, but close to the implicit rewards of Yuan et al. 2024
    (arXiv 2412.01981) without a reference model.
    """

    def __init__(
        self, model: Any, token_id: int, gain: float = GAIN, bias: float = BIAS, kind: str = LOGIT
    ) -> None:
        super().__init__()
        self.model, self.token_id, self.kind = model, token_id, kind
        self.gain = nn.Parameter(torch.tensor([gain], dtype=torch.float32))
        self.bias = nn.Parameter(torch.tensor([bias], dtype=torch.float32))
        self.offset = 0.0  # of the reserved token's logit, in models whose unembedding has a bias
        if kind == LOGIT:
            unembedding = model.get_output_embeddings()
            self.row = nn.Parameter(unembedding.weight[token_id].detach().float().clone())
            if getattr(unembedding, "bias", None) is not None:
                self.offset = float(unembedding.bias[token_id])

    def values(self, states: Tensor) -> Tensor:
        """Return the value of each state, in float32: bfloat16 has 63 values from .9 to 1.1."""
        return self.gain * (states.float() @ self.row + self.offset) + self.bias

    def logits(self, logprobs: Tensor) -> Tensor:
        """Return the logit of each (partial) sum of log-probabilities, for the kind LIKELIHOOD."""
        return self.gain.exp() * logprobs + self.bias

    def fit_start(self, logprobs: Sequence[float]) -> None:
        """Make a likelihood head standardise log-probabilities (nats) like those of solutions."""
        values = torch.tensor(logprobs)
        deviation = values.std(correction=0).clamp(min=LEAST_DEVIATION)
        with torch.no_grad():
            self.gain.fill_(-float(deviation.log()))
            self.bias.fill_(-float(values.mean() / deviation))

    def fit_row(self, texts: Sequence[SolutionTokens], right: Sequence[bool]) -> None:
        """Begin the head from a ridge regression of the labels on each solution's mean state."""
        states = torch.zeros(len(texts), len(self.row), dtype=torch.float64)
        with torch.inference_mode():
            for place, found in read_states(self.model, texts):
                states[place] = found[1:].double().mean(0).cpu()
        labels = torch.tensor(right, dtype=torch.float64)
        mean, deviation = states.mean(0), states.std(0).clamp(min=1e-6)
        scaled = (states - mean) / deviation
        gram = scaled.T @ scaled + len(scaled) * torch.eye(scaled.shape[1], dtype=torch.float64)
        weights = torch.linalg.solve(gram, scaled.T @ (labels - labels.mean())) / deviation
        size = float(weights.norm().clamp(min=1e-6))
        with torch.no_grad():
            self.row.copy_(weights / size)
            self.gain.fill_(size)
            self.bias.fill_(float(labels.mean() - mean @ weights) - size * self.offset)

    def save_fields(self) -> dict[str, Any]:
        """Put the row into the model, and return the fields of verifier.json about the head."""
        if self.kind == LOGIT:
            weight = self.model.get_output_embeddings().weight
            with torch.no_grad():
                weight[self.token_id] = self.row.to(weight)
        return {
            "schema": SCHEMA,
            "head": self.kind,
            "token_id": self.token_id,
            "gain": self.gain.item(),
            "bias": self.bias.item(),
        }

    @classmethod
    def load(cls, folder: Path, device: str = "cpu", precision: str | None = None) -> Verifier:
        """Load a verifier from its folder; raises InputError if there is none.

        precision: see `load_model`.
        """
        head = read_head(folder)
        model = load_model(folder, device, precision)
        vocabulary = model.get_input_embeddings().weight.shape[0]
        least = -1 if head.kind == LIKELIHOOD else 0
        if not least <= head.token_id < vocabulary:
            raise InputError(
                f"{str(folder / VERIFIER_FILE)!r} names the token {head.token_id!r}, but the "
                f"model knows {vocabulary}; train the verifier again"
            )
        verifier = cls(model, head.token_id, head.gain, head.bias, head.kind)
        return verifier.to(device).eval()


def read_head(folder: Path) -> Head:
    """Return the head in verifier.json; raises InputError if there is none."""
    if (folder / UNFINISHED).is_dir():
        check_model(folder)
    try:
        return head_from((folder / VERIFIER_FILE).read_bytes())
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{str(folder)!r} is not a verifier: {VERIFIER_FILE} is missing or damaged "
            f"({error}); train one: gradeschool verifier train"
        ) from error


def compute_logits(model: Any, states: Tensor, banned: int = -1, exact: bool = False) -> Tensor:
    """Return the logits of states in float32, scaled and capped as in the model's own forward.

    banned: a token without probability, -1 for none. exact: multiply in float32 too, whatever the
    precision of the model and the passes.
    """
    head = model.get_output_embeddings()
    if exact:
        bias = getattr(head, "bias", None)
        with torch.autocast(states.device.type, enabled=False):
            bias = None if bias is None else bias.float()
            logits = linear(states.float(), head.weight.float(), bias)
    else:
        logits = head(states).float()
    config = model.config
    if (divisor := getattr(config, "logits_scaling", None)) is not None:
        logits = logits / divisor
    if (factor := getattr(config, "logit_scale", None)) is not None:
        logits = logits * factor
    if (cap := getattr(config, "final_logit_softcapping", None)) is not None:
        logits = cap * torch.tanh(logits / cap)
    if banned >= 0:
        is_banned = torch.arange(logits.shape[-1], device=logits.device) == banned
        logits = logits.masked_fill(is_banned, float("-inf"))
    return logits


# The reserved token


class ReservedToken(NamedTuple):
    """A token that no text contains: its number, its text ("" for none), how it was found."""

    id: int
    text: str
    how: str


def new_verifier(
    model: Any, tokenizer: Any, seed: int = 0, likelihood: bool = False
) -> tuple[Verifier, ReservedToken]:
    """Make an untrained verifier from a generator, with the same weights.

    The row of the reserved token is random: the generator has learnt to push its logit down. Also
    returns how the token was found.
    """
    reserved = reserve_token(model, tokenizer, needed=not likelihood)
    if likelihood:
        return Verifier(model, reserved.id, kind=LIKELIHOOD), reserved
    verifier = Verifier(model, reserved.id)
    width = len(verifier.row)
    source = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        verifier.row.copy_(torch.randn(width, generator=source) * width**-0.5)
    return verifier, reserved


def reserve_token(model: Any, tokenizer: Any, needed: bool = True) -> ReservedToken:
    """Return the reserved token for a verifier's head.

    It is `<ver>` if the tokenizer has it; else a token that the family reserves, the last row of an
    embedding that is longer than the vocabulary, or a token added to tokenizer and embedding.
    needed: whether the head uses a token; otherwise none is added, and the number is -1.
    """
    vocabulary = tokenizer.get_vocab()
    if VER in vocabulary:
        return ReservedToken(vocabulary[VER], VER, "the tokenizer's own")
    rows = model.get_input_embeddings().weight.shape[0]
    free = sorted((id, text) for text, id in vocabulary.items() if FREE.match(text) and id < rows)
    if free:
        return ReservedToken(*free[0], "kept free by the tokenizer")
    if rows > max(vocabulary.values()) + 1:
        return ReservedToken(rows - 1, "", "the embedding's last row, which no token uses")
    if not needed:
        return ReservedToken(-1, "", "which this head does not need")
    tokenizer.add_special_tokens({"additional_special_tokens": [VER]})
    model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    id = tokenizer.convert_tokens_to_ids(VER)
    return ReservedToken(id, VER, "added to tokenizer and embedding")


# Reading solutions


def read_values(verifier: Verifier, texts: Sequence[SolutionTokens]) -> list[list[float]]:
    """Return a verifier's value at each token of each solution."""

    def read(text: SolutionTokens, states: Tensor) -> list[float]:
        if verifier.kind == LOGIT:
            return list(verifier.values(states[1:]).tolist())
        logprobs = _logprobs(verifier.model, text, states, verifier.token_id)
        # In float32 a sigmoid is 0 below -103, where many steps of a long solution end.
        return list(torch.sigmoid(verifier.logits(logprobs.cumsum(0)).double()).tolist())

    return _read_each(verifier.model, texts, read)


def read_logprobs(
    model: Any, texts: Sequence[SolutionTokens], banned: int = -1
) -> list[list[float]]:
    """Return the log-probability (nats) of each token of each solution."""
    return _read_each(
        model, texts, lambda text, states: list(_logprobs(model, text, states, banned).tolist())
    )


def _logprobs(model: Any, text: SolutionTokens, states: Tensor, banned: int = -1) -> Tensor:
    logits = compute_logits(model, states[:-1], banned, exact=True)
    chosen = torch.tensor(text.solution, device=logits.device)[:, None]
    return torch.log_softmax(logits.double(), -1).gather(1, chosen)[:, 0].float()


def _read_each(
    model: Any,
    texts: Sequence[SolutionTokens],
    read: Callable[[SolutionTokens, Tensor], list[float]],
) -> list[list[float]]:
    different = list(dict.fromkeys(texts))
    results: dict[SolutionTokens, list[float]] = {}
    with torch.inference_mode():
        for place, states in read_states(model, different):
            results[different[place]] = read(different[place], states)
    return [results[text] for text in texts]


def read_states(model: Any, texts: Sequence[SolutionTokens]) -> Iterator[tuple[int, Tensor]]:
    """Yield for each text its place, and the last states [tokens + 1, width] of its solution.

    The first state is that of the question's last token; state t has seen t tokens of the solution.
    A question with several solutions is read once: the keys and values are shared.
    """
    from transformers import DynamicCache

    by_question: dict[tuple[int, ...], list[int]] = {}
    for place, text in enumerate(texts):
        by_question.setdefault(text.question, []).append(place)
    groups: dict[tuple[int, ...], list[int]] = {(): []}
    for question, places in by_question.items():
        is_shared = len(places) >= SHARED and len(question) > 1
        groups.setdefault(question[:-1] if is_shared else (), []).extend(places)
    for prefix, places in groups.items():
        rows = [(texts[place].question + texts[place].solution)[len(prefix) :] for place in places]
        for part in batch_rows([len(row) for row in rows], model.device.type):
            ids = pad_rows([rows[number] for number in part], model.device)
            options: dict[str, Any] = {"use_cache": False}
            if prefix:
                cache = DynamicCache(config=model.config)
                model.base_model(input_ids=pad_rows([prefix], model.device), past_key_values=cache)
                cache.batch_repeat_interleave(len(part))
                after = torch.arange(len(prefix), len(prefix) + ids.shape[1], device=ids.device)
                options = {"past_key_values": cache, "position_ids": after[None].expand_as(ids)}
            states = model.base_model(input_ids=ids, **options).last_hidden_state
            for row, number in enumerate(part):
                size = len(texts[places[number]].solution) + 1
                end = len(rows[number])
                yield places[number], states[row, end - size : end]


def pad_rows(rows: Sequence[Sequence[int]], device: Any) -> Tensor:
    """Return rows of tokens as one tensor, padded on the right."""
    width = max(map(len, rows))
    return torch.tensor([[*row, *[0] * (width - len(row))] for row in rows], device=device)


def batch_rows(lengths: Sequence[int], device: str) -> Iterator[list[int]]:
    """Yield the numbers of rows in passes that fit the device, the shortest rows first."""
    most = PLACES_ON_CPU if device == "cpu" else PLACES_ON_GPU
    part: list[int] = []
    for length, number in sorted(zip(lengths, range(len(lengths)), strict=True)):
        if part and length * (len(part) + 1) > most:
            yield part
            part = []
        part.append(number)
    if part:
        yield part


# Export


def export_classifier(verifier_folder: Path, output: Path) -> None:
    """Write a verifier's folder as a model of AutoModelForTokenClassification with one label.

    The label's logit is the verifier's value and needs no sigmoid: config.json says "problem_type":
    "regression". The weights keep their data type. Raises InputError for a likelihood head, which
    is not a linear layer, for an architecture without such a class, and for an existing output
    folder.
    """
    from transformers import AutoConfig, AutoModelForTokenClassification

    require_new(output)
    check_model(verifier_folder)
    stored = from_folder(AutoConfig, verifier_folder).dtype or torch.float32
    tokenizer = load_tokenizer(verifier_folder)
    verifier = Verifier.load(verifier_folder, precision="float32")
    if verifier.kind == LIKELIHOOD:
        raise InputError(
            f"the verifier in {str(verifier_folder)!r} scores by likelihood, which is not a token "
            "classifier; export one that was trained with another --level"
        )
    model = verifier.model
    config = copy.deepcopy(model.config)
    config.num_labels, config.problem_type = 1, "regression"
    try:
        classifier = untrained(AutoModelForTokenClassification, config)
    except ValueError as error:
        raise InputError(
            f"transformers has no token classifier of the type {config.model_type!r}; use the "
            "verifier's folder with gradeschool"
        ) from error
    classifier.base_model.load_state_dict(model.base_model.state_dict())
    [head] = [each for each in classifier.children() if isinstance(each, nn.Linear)]
    with torch.no_grad():
        head.weight.copy_(verifier.gain * verifier.row)
        head.bias.copy_(verifier.bias + verifier.gain * verifier.offset)
    classifier.to(stored).save_pretrained(output)
    tokenizer.save_pretrained(output)
