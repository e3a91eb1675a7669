"""A verifier: a language model that gives at each token the probability of a right solution.

The head has two parameters, a gain and a bias on the logit of one reserved token, as in appendix B
of "Training Verifiers to Solve Math Word Problems" (arXiv 2110.14168). The other logits remain
those of a language model, so that one network can be trained on both objectives.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, linear

from gradeschool.atomic import write_json
from gradeschool.errors import InputError
from gradeschool.models.gguf_file import LIKELIHOOD, LOGIT, VERIFIER_FILE, Head, head_from
from gradeschool.models.local import UNFINISHED, check_model, ends_of, load_model
from gradeschool.verifier.examples import SolutionTokens
from gradeschool.verifier.packing import PackedRows, hidden_states, pack_texts, take_packed

SCHEMA = 1
# With these, an untrained head gives about 0.5, with little weight on the token's logit.
GAIN, BIAS = 0.1, 0.5
# The logarithm of 0.15, and the bias: a solution of ordinary likelihood then gets about 0.5.
LIKELIHOOD_GAIN, LIKELIHOOD_BIAS = -1.8971, 2.3
MOST_START = 2.0  # nats; with a higher loss, these constants do not suit a model
LEAST_DEVIATION = 0.1  # nats, of the log-probabilities of solutions


class VerifierOutput(NamedTuple):
    """The output of a forward pass.

    values: [rows, S], at each position of a body; the value at the last token is the solution's.
    language: the cross-entropy (nats) of all solution tokens of the selected rows, summed by row;
    None without a selection. logits: of the values, if they are probabilities. logprobs: [rows], of
    whole solutions (nats), if they determine the score.
    """

    values: Tensor
    language: Tensor | None
    logits: Tensor | None = None
    logprobs: Tensor | None = None


class Verifier(nn.Module):
    """A causal language model from transformers with the scalar head."""

    kind = LOGIT

    def __init__(self, model: Any, token_id: int, gain: float = GAIN, bias: float = BIAS) -> None:
        super().__init__()
        self.model = model
        self.token_id = token_id
        self.gain = nn.Parameter(torch.tensor([gain], dtype=torch.float32))
        self.bias = nn.Parameter(torch.tensor([bias], dtype=torch.float32))
        self.share = True

    def get_input_embeddings(self) -> Any:
        """Return the model's embedding, as models of transformers do."""
        return self.model.get_input_embeddings()

    def get_output_embeddings(self) -> Any:
        """Return the model's unembedding."""
        return self.model.get_output_embeddings()

    def forward(self, rows: PackedRows, language: Tensor | None = None) -> VerifierOutput:
        """Return the values of all bodies, and the language loss of the selected rows."""
        states = hidden_states(self.model, rows, self.share)
        head = self.model.get_output_embeddings()
        # In bfloat16 there are only 63 values from .9 to 1.1, so many solutions would tie.
        with torch.autocast(states.device.type, enabled=False):
            logit = states.float() @ head.weight[self.token_id].float()
            if getattr(head, "bias", None) is not None:
                logit = logit + head.bias[self.token_id].float()
            values = self.gain * logit + self.bias
        if language is None:
            return VerifierOutput(values, None)
        mask = rows.solution_mask[language]
        logprobs = self._logprobs(states[language], rows.body[language], mask)
        return VerifierOutput(values, -logprobs.sum(1))

    def _logprobs(self, states: Tensor, body: Tensor, mask: Tensor, exact: bool = False) -> Tensor:
        """Return the log-probability of each solution token, 0 elsewhere: [rows, S].

        The reserved token is excluded. exact: see `logits_of`.
        """
        before = torch.zeros_like(mask)
        before[:, :-1] = mask[:, 1:]
        logits = logits_of(self.model, states[before], exact)
        banned = torch.arange(logits.shape[-1], device=logits.device) == self.token_id
        logits = logits.masked_fill(banned, float("-inf"))
        losses = nn.functional.cross_entropy(logits, body[mask], reduction="none")
        return losses.new_zeros(mask.shape).masked_scatter(mask, -losses)

    def save(self, folder: Path, tokenizer: Any, facts: Mapping[str, Any] | None = None) -> None:
        """Write a plain model folder (safetensors) and verifier.json, which includes the head."""
        from transformers.utils import logging

        logging.disable_progress_bar()
        folder.mkdir(parents=True, exist_ok=True)
        self.model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        write_json(folder / VERIFIER_FILE, {**self.fields(), **(facts or {})})

    def fields(self) -> dict[str, Any]:
        """Return the fields of verifier.json about the head."""
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
        head = head_of(folder)
        model = load_trunk(folder, device, precision)
        vocabulary = model.get_input_embeddings().weight.shape[0]
        likelihood = head.kind == LIKELIHOOD
        least = NO_TOKEN.id if likelihood else 0
        if not least <= head.token_id < vocabulary:
            raise InputError(
                f"{str(folder / VERIFIER_FILE)!r} names the token {head.token_id!r}, but the "
                f"model knows {vocabulary}; train the verifier again"
            )
        kind = LikelihoodVerifier if likelihood else Verifier
        return kind(model, head.token_id, head.gain, head.bias).to(device).eval()


class LikelihoodVerifier(Verifier):
    """A verifier whose score is the likelihood of the whole solution under its language model.

    The value at a token is sigmoid(exp(gain) * the sum of the log-probabilities up to it + bias),
    including tokens that a calculator forced. Unlike with the paper's head, training pushes down
    every token of a wrong solution, not only one logit. It is similar to the implicit rewards of
    Yuan et al. 2024 (arXiv 2412.01981), without a reference model.
    """

    kind = LIKELIHOOD
    head_alone = False  # whether the labels train only gain and bias

    def forward(self, rows: PackedRows, language: Tensor | None = None) -> VerifierOutput:
        """Return the values of all bodies, and the language loss of the selected rows."""
        logprobs = self.solution_logprobs(rows)
        scored = logprobs.detach() if self.head_alone else logprobs
        logits = self.gain.exp() * scored.cumsum(1) + self.bias
        spoken = None if language is None else -logprobs[language].sum(1)
        # In float32 a sigmoid is 0 below -103, where many steps of a long solution end.
        return VerifierOutput(torch.sigmoid(logits.double()), spoken, logits, logprobs.sum(1))

    def solution_logprobs(self, rows: PackedRows) -> Tensor:
        """Return the log-probability (nats) of each solution token, 0 elsewhere: [rows, S]."""
        states = hidden_states(self.model, rows, self.share)
        return self._logprobs(states, rows.body, rows.solution_mask, exact=True)

    def fit_start(self, logprobs: Tensor, right: Tensor, drawn: Tensor) -> float:
        """Fit gain and bias if they start badly; return the initial cross-entropy (nats).

        logprobs, right, drawn: [n], of solutions: the sum of their tokens' log-probabilities,
        whether they are right (0 or 1), and how often they were drawn. The default constants suit
        small models; a long solution of a pretrained model may have a log-probability of -100, and
        the cross-entropy is then above ten nats. If it is above `MOST_START`, gain and bias
        standardise the log-probabilities, so that an ordinary solution gets 0.5.
        """
        share = drawn / drawn.sum()

        def start() -> float:
            logits = self.gain.exp() * logprobs + self.bias
            return float(share @ binary_cross_entropy_with_logits(logits, right, reduction="none"))

        with torch.no_grad():
            if start() > MOST_START:
                mean = share @ logprobs
                deviation = (share @ (logprobs - mean) ** 2).sqrt().clamp(min=LEAST_DEVIATION)
                self.gain.fill_(-float(deviation.log()))
                self.bias.fill_(-float(mean / deviation))
            return start()


def new_verifier(
    model: Any, tokenizer: Any, seed: int = 0, likelihood: bool = False
) -> tuple[Verifier, ReservedToken]:
    """Make an untrained verifier from a generator, with the same weights.

    The row of the reserved token is initialised again, because the generator has learnt to push its
    logit down. Also returns how the token was found.
    """
    reserved = reserve(model, tokenizer, needed=not likelihood)
    if likelihood:
        return LikelihoodVerifier(model, reserved.id, LIKELIHOOD_GAIN, LIKELIHOOD_BIAS), reserved
    verifier = Verifier(model, reserved.id)
    weight = model.get_output_embeddings().weight
    source = torch.Generator().manual_seed(seed)
    row = torch.randn(weight.shape[1], generator=source) * weight.shape[1] ** -0.5
    with torch.no_grad():
        weight[reserved.id] = row.to(weight)
    return verifier, reserved


def logits_of(model: Any, states: Tensor, exact: bool = False) -> Tensor:
    """Return the logits of states in float32, scaled and capped as in the model's own forward.

    exact: also multiply in float32, whatever the precision of the model and the passes.
    """
    head = model.get_output_embeddings()
    if exact:
        bias = getattr(head, "bias", None)
        with torch.autocast(states.device.type, enabled=False):
            logits = linear(
                states.float(), head.weight.float(), None if bias is None else bias.float()
            )
    else:
        logits = head(states).float()
    config = model.config
    if (divisor := getattr(config, "logits_scaling", None)) is not None:
        logits = logits / divisor
    if (factor := getattr(config, "logit_scale", None)) is not None:
        logits = logits * factor
    if (cap := getattr(config, "final_logit_softcapping", None)) is not None:
        logits = cap * torch.tanh(logits / cap)
    return logits


def head_of(folder: Path) -> Head:
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


def load_trunk(folder: Path, device: str = "cpu", precision: str | None = None) -> Any:
    """Load a causal language model that processes each question once for all its solutions.

    Architectures that cannot do that process the question again for each solution. precision: see
    `load_model`.
    """
    model = load_model(folder, device, precision)
    with suppress(InputError):
        take_packed(model)
    return model


VERIFIER_TOKEN = "<ver>"
# Tokens that model families reserve for such uses.
FREE = re.compile(r"<\|?(?:reserved_special_token_|unused|extra_id_|extra_|reserved_)\d+\|?>\Z")


class ReservedToken(NamedTuple):
    """A token that no text contains: its number, its text ("" for none), how it was found."""

    id: int
    text: str
    how: str


NO_TOKEN = ReservedToken(-1, "", "which this head does not need")


def reserve(model: Any, tokenizer: Any, needed: bool = True) -> ReservedToken:
    """Return the reserved token for a verifier's head.

    It is `<ver>` if the tokenizer has it; else a token that the family reserves, the last row of an
    embedding that is longer than the vocabulary, an unused special token, or a token added to
    tokenizer and embedding. needed: whether the head uses a token; otherwise none is added.
    """
    vocabulary = tokenizer.get_vocab()
    if VERIFIER_TOKEN in vocabulary:
        return ReservedToken(vocabulary[VERIFIER_TOKEN], VERIFIER_TOKEN, "the tokenizer's own")
    rows = model.get_input_embeddings().weight.shape[0]
    free = sorted((id, text) for text, id in vocabulary.items() if FREE.match(text) and id < rows)
    if free:
        return ReservedToken(*free[0], "kept free by the tokenizer")
    if rows > max(vocabulary.values()) + 1:
        return ReservedToken(rows - 1, "", "the embedding's last row, which no token uses")
    if not needed:
        return NO_TOKEN
    if unused := _unused_special(model, tokenizer):
        return ReservedToken(*unused[-1], "a special token that neither texts nor chats use")
    tokenizer.add_special_tokens({"additional_special_tokens": [VERIFIER_TOKEN]})
    model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    id = tokenizer.convert_tokens_to_ids(VERIFIER_TOKEN)
    return ReservedToken(id, VERIFIER_TOKEN, "added to tokenizer and embedding")


def _unused_special(model: Any, tokenizer: Any) -> list[tuple[int, str]]:
    """Return the special tokens (id, text) without a role that are not in the chat template."""
    roles = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")
    used = {getattr(tokenizer, f"{role}_token_id", None) for role in roles}
    used |= set(ends_of(model, tokenizer))
    template = str(tokenizer.chat_template or "")
    added: dict[int, Any] = tokenizer.added_tokens_decoder
    return sorted(
        (id, token.content)
        for id, token in added.items()
        if token.special and id not in used and token.content not in template
    )


# Tokens per forward pass, including padding: more does not fit a core's cache, fewer add overhead.
PLACES_ON_CPU, PLACES_ON_GPU = 8_192, 131_072


def values_of(
    verifier: Verifier, texts: Sequence[SolutionTokens], *, places: int | None = None
) -> list[list[float]]:
    """Return a verifier's value at each token of each solution.

    places: number of tokens per forward pass, including padding.
    """
    return _each(verifier.model, texts, places, lambda rows: verifier(rows).values[:, 1:])


def logprobs_of(model: Any, texts: Sequence[SolutionTokens]) -> list[list[float]]:
    """Return the log-probability (nats) of each token of each solution."""
    return _each(model, texts, None, lambda rows: _logprobs(model, rows))


def _logprobs(model: Any, rows: PackedRows) -> Tensor:
    """Return the log-probability of each solution token, [rows, S - 1]."""
    states = hidden_states(model, rows)[:, :-1]
    mask, targets = rows.solution_mask[:, 1:], rows.body[:, 1:]
    chosen = torch.log_softmax(logits_of(model, states[mask], exact=True), -1)
    chosen = chosen.gather(1, targets[mask][:, None])[:, 0]
    return chosen.new_zeros(mask.shape).masked_scatter(mask, chosen)


def _each(
    model: Any,
    texts: Sequence[SolutionTokens],
    places: int | None,
    read: Callable[[PackedRows], Tensor],
) -> list[list[float]]:
    """Return the result of `read` for each token of each text's solution."""
    device: torch.device = next(model.parameters()).device
    most = places or (PLACES_ON_CPU if device.type == "cpu" else PLACES_ON_GPU)
    values: dict[SolutionTokens, list[float]] = {}
    for batch in batches(list(dict.fromkeys(texts)), most):
        rows = pack_texts(batch).to(device)
        with torch.inference_mode():
            states = read(rows).double().cpu().tolist()
        for text, row in zip(batch, states, strict=True):
            values[text] = row[: len(text.solution)]
    return [values[text] for text in texts]


def batches(texts: Sequence[SolutionTokens], most: int) -> Iterator[list[SolutionTokens]]:
    """Yield texts in batches of at most this many tokens; a longer text is its own batch.

    Solutions of a question stay together, sorted by length; questions with short solutions come
    first, so that the solutions in a batch have similar lengths.
    """
    by_question: dict[tuple[int, ...], list[SolutionTokens]] = {}
    for text in texts:
        by_question.setdefault(text.question, []).append(text)
    for group in by_question.values():
        group.sort(key=lambda text: len(text.solution))
    in_order = sorted(by_question.values(), key=lambda group: len(group[len(group) // 2].solution))
    batch: list[SolutionTokens] = []
    width = prefix = questions = 0
    last: tuple[int, ...] | None = None
    for text in (text for group in in_order for text in group):
        more = int(text.question != last)
        wide = max(width, len(text.solution) + 1)
        long = max(prefix, len(text.question))
        if batch and wide * (len(batch) + 1) + long * (questions + more) > most:
            yield batch
            batch, more, questions = [], 1, 0
            wide, long = len(text.solution) + 1, len(text.question)
        batch.append(text)
        width, prefix, questions, last = wide, long, questions + more, text.question
    if batch:
        yield batch
