"""A verifier: a language model that says of each token how likely the solution is right.

The head is two numbers: a gain and a bias on the logit of one reserved token, as in appendix B of
"Training Verifiers to Solve Math Word Problems" (arXiv 2110.14168). The other logits stay those of
a language model, so that one network is trained on both objectives.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from gradeschool.errors import InputError
from gradeschool.verifier.packing import take_packed
from gradeschool.verifier.reserved import Reserved, reserve
from gradeschool.verifier.rows import Rows, hidden_states

VERIFIER_FILE = "verifier.json"
SCHEMA = 1
# Untrained, the head says 0.5 of everything and hears the token's logit softly.
GAIN, BIAS = 0.1, 0.5
# The logarithm of 0.15, and the bias, with which a solution of ordinary likelihood gets about 0.5.
LIKELIHOOD_GAIN, LIKELIHOOD_BIAS = -1.8971, 2.3


class Output(NamedTuple):
    """What a forward pass gives.

    values: [rows, S], one at each place of a body; that at the last token is the solution's.
    language: the cross-entropy (nats) of all solution tokens of the rows asked for, summed by row;
    None where none were asked for. logits: of the values, where they are probabilities.
    """

    values: Tensor
    language: Tensor | None
    logits: Tensor | None = None


class Verifier(nn.Module):
    """A causal language model of transformers with the scalar head."""

    kind = "logit"

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

    def forward(self, rows: Rows, language: Tensor | None = None) -> Output:
        """Return the values of all bodies, and the language loss of the rows of these numbers."""
        states = hidden_states(self.model, rows, self.share)
        head = self.model.get_output_embeddings()
        logit = states @ head.weight[self.token_id].to(states.dtype)
        if getattr(head, "bias", None) is not None:
            logit = logit + head.bias[self.token_id]
        values = self.gain * logit.float() + self.bias
        if language is None:
            return Output(values, None)
        mask = rows.solution_mask[language]
        found = self._logprobs(states[language], rows.body[language], mask)
        return Output(values, -found.sum(1))

    def _logprobs(self, states: Tensor, body: Tensor, mask: Tensor) -> Tensor:
        """Return the log-probability of each solution token, 0 elsewhere: [rows, S].

        The reserved token is no candidate.
        """
        before = torch.zeros_like(mask)
        before[:, :-1] = mask[:, 1:]
        logits = logits_of(self.model, states[before])
        banned = torch.arange(logits.shape[-1], device=logits.device) == self.token_id
        logits = logits.masked_fill(banned, float("-inf"))
        losses = nn.functional.cross_entropy(logits, body[mask], reduction="none")
        return losses.new_zeros(mask.shape).masked_scatter(mask, -losses)

    def save(self, folder: Path, tokenizer: Any, facts: Mapping[str, Any] | None = None) -> None:
        """Write a plain model folder (safetensors) and verifier.json, which holds the head too."""
        from transformers.utils import logging

        logging.disable_progress_bar()
        folder.mkdir(parents=True, exist_ok=True)
        self.model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        fields = {**self.fields(), **(facts or {})}
        (folder / VERIFIER_FILE).write_text(json.dumps(fields, indent=2) + "\n", encoding="utf-8")

    def fields(self) -> dict[str, Any]:
        """Return what verifier.json says of the head."""
        return {
            "schema": SCHEMA,
            "head": self.kind,
            "token_id": self.token_id,
            "gain": self.gain.item(),
            "bias": self.bias.item(),
        }

    @classmethod
    def load(cls, folder: Path, device: str = "cpu") -> Verifier:
        """Load a verifier from its folder; raises InputError where there is none."""
        fields = head_of(folder)
        model = load_reader(folder, device)
        known = model.get_input_embeddings().weight.shape[0]
        if not 0 <= fields["token_id"] < known:
            raise InputError(
                f"{str(folder / VERIFIER_FILE)!r} names the token {fields['token_id']!r}, but the "
                f"model knows {known}; train the verifier again"
            )
        kind = {one.kind: one for one in (Verifier, Likelihood)}[fields["head"]]
        verifier = kind(model, fields["token_id"], fields["gain"], fields["bias"])
        return verifier.to(device).eval()


class Likelihood(Verifier):
    """A verifier whose score is how likely its language model finds the whole solution.

    sigmoid(exp(gain) * the sum of the tokens' log-probabilities + bias), at each token of those up
    to it; tokens that a calculator forced count as any token. Not the paper's head: every token of
    a wrong solution is pushed down, and not one logit alone. Akin to rewards that are implicit in
    likelihoods (Yuan et al. 2024, arXiv 2412.01981), without their reference model.
    """

    kind = "likelihood"

    def forward(self, rows: Rows, language: Tensor | None = None) -> Output:
        """Return the values of all bodies, and the language loss of the rows of these numbers."""
        states = hidden_states(self.model, rows, self.share)
        found = self._logprobs(states, rows.body, rows.solution_mask)
        logits = self.gain.exp() * found.cumsum(1) + self.bias
        spoken = None if language is None else -found[language].sum(1)
        return Output(torch.sigmoid(logits), spoken, logits)


def new_verifier(
    model: Any, tokenizer: Any, seed: int = 0, likelihood: bool = False
) -> tuple[Verifier, Reserved]:
    """Make an untrained verifier of a generator, whose weights are taken over.

    The row of the reserved token is drawn anew: as a language model the generator has learnt to
    push its logit down. Returns how the token was found too.
    """
    reserved = reserve(model, tokenizer)
    if likelihood:
        return Likelihood(model, reserved.id, LIKELIHOOD_GAIN, LIKELIHOOD_BIAS), reserved
    verifier = Verifier(model, reserved.id)
    weight = model.get_output_embeddings().weight
    source = torch.Generator().manual_seed(seed)
    row = torch.randn(weight.shape[1], generator=source) * weight.shape[1] ** -0.5
    with torch.no_grad():
        weight[reserved.id] = row.to(weight)
    return verifier, reserved


def logits_of(model: Any, states: Tensor) -> Tensor:
    """Return the logits of states in float32, scaled and capped as the model's own forward does."""
    logits: Tensor = model.get_output_embeddings()(states).float()
    config = model.config
    if (divisor := getattr(config, "logits_scaling", None)) is not None:
        logits = logits / divisor
    if (factor := getattr(config, "logit_scale", None)) is not None:
        logits = logits * factor
    if (cap := getattr(config, "final_logit_softcapping", None)) is not None:
        logits = cap * torch.tanh(logits / cap)
    return logits


def head_of(folder: Path) -> dict[str, Any]:
    """Return the fields of verifier.json; raises InputError where they are no head."""
    path = folder / VERIFIER_FILE
    try:
        fields = json.loads(path.read_bytes())
        head = {name: float(fields[name]) for name in ("gain", "bias")}
        kind = str(fields.get("head", Verifier.kind))
        if kind not in (Verifier.kind, Likelihood.kind):
            raise ValueError(f"a head of the kind {kind!r} is not known")
        return {**fields, **head, "head": kind, "token_id": int(fields["token_id"])}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{str(folder)!r} is no verifier: {VERIFIER_FILE} is missing or not as it was written "
            f"({error}); train one: gradeschool verifier train"
        ) from error


def load_model(folder: Path, device: str = "cpu") -> Any:
    """Load a causal language model from a folder; code that comes with it is not run."""
    from transformers import AutoModelForCausalLM
    from transformers.utils import logging

    if not (folder / "config.json").is_file():
        raise InputError(f"the folder {str(folder)!r} holds no model: it has no config.json")
    logging.disable_progress_bar()
    kind = torch.float32 if device == "cpu" else torch.bfloat16
    model: Any = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True, dtype=kind)
    return model.to(device).eval()


def load_reader(folder: Path, device: str = "cpu") -> Any:
    """Load a causal language model that reads each question once for all its solutions.

    One of an architecture that cannot do that reads it anew for each.
    """
    model = load_model(folder, device)
    with suppress(InputError):
        take_packed(model)
    return model


def load_tokenizer(folder: Path) -> Any:
    """Load the tokenizer of a model's folder."""
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder, local_files_only=True)
