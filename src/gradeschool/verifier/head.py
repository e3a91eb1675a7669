"""A verifier: a language model whose value at each token tells right solutions from wrong ones.

The value is trained by squared error towards 1 for right and 0 for wrong; it has no bounds.

The head is a gain and a bias on the logit of one reserved token, as in appendix E of "Training
Verifiers to Solve Math Word Problems" (arXiv 2110.14168). The other logits remain those of a
language model, so that one network is trained on both objectives. The reserved token's row of the
unembedding is a parameter of its own, which also learns where adapters freeze the rest.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy, linear, logsigmoid
from transformers import DynamicCache

from gradeschool.atomic import check_output
from gradeschool.errors import InputError, require_packages
from gradeschool.models import local
from gradeschool.verifier.base_model import (
    GGUF,
    HEAD_KEY,
    LIKELIHOOD,
    LOGIT,
    VER,
    VERIFIER_FILE,
    load_folder,
)
from gradeschool.verifier.data import Item, Level, Objective, SolutionTokens

SCHEMA = 1
# With these, an untrained head gives about 0.5, with little weight on the token's logit.
GAIN, BIAS = 0.1, 0.5
LEAST_DEVIATION = 0.1  # nats, of the log-probabilities of solutions
# Tokens of one forward pass, with padding.
PLACES_ON_CPU, PLACES_ON_GPU = 8_192, 131_072
SHARED = 4  # solutions of a question from which it is read once for all of them


class Verifier(nn.Module):
    """A causal language model from transformers with a head.

    kind LOGIT: the value at a token is gain x (state . row) + bias. kind LIKELIHOOD: it is
    sigmoid(exp(gain) x the sum of the log-probabilities up to it + bias), including tokens that a
    calculator forced; not in the paper, but close to the implicit rewards of Yuan et al. 2024
    (arXiv 2412.01981) without a reference model. level: what a loaded verifier learnt, "" if
    unknown.
    """

    level = ""

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
        """Return the logit of each (partial) sum of log-probabilities; for LIKELIHOOD only."""
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
        with torch.inference_mode():
            means = {text: found[1:].double().mean(0).cpu()
                     for text, found in read_states(self.model, texts)}  # fmt: skip
        states = torch.stack([means[text] for text in texts])
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
        numbers = {"gain": self.gain.item(), "bias": self.bias.item()}
        return {"schema": SCHEMA, "head": self.kind, "token_id": self.token_id, **numbers}

    @classmethod
    def load(
        cls, path: Path, device: str = "cpu", precision: str | None = None
    ) -> tuple[Verifier, Any]:
        """Return the verifier in a folder or GGUF file, and its tokenizer.

        precision: see `models.local.load_model`. Raises InputError if there is no verifier.
        """
        if (path / local.UNFINISHED).is_dir():
            local.check_model(path)
        written: Any = None
        try:
            if path.suffix == GGUF:
                require_packages("reading a GGUF file", "train", "gguf")
                import gguf

                field = gguf.GGUFReader(path).get_field(HEAD_KEY)
                written = "null" if field is None else field.contents()
            else:
                written = (path / VERIFIER_FILE).read_bytes()
            fields = json.loads(written)
            kind = str(fields.get("head") or LOGIT)  # verifiers of this kind may not name it
            if kind not in (LIKELIHOOD, LOGIT):
                raise ValueError(f"the head {kind!r} is unknown")
            token_id = int(fields["token_id"])
            gain, bias = float(fields["gain"]), float(fields["bias"])
        except (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
            raise InputError(
                f"{str(path)!r} is not a verifier: its head ({VERIFIER_FILE}, or the field "
                f"{HEAD_KEY} of a GGUF file) is missing or damaged ({error}); train one: "
                "gradeschool verifier train; or give the --form of a published reward model"
            ) from error
        model, tokenizer = load_language_model(path, device, precision)
        vocabulary = model.get_input_embeddings().weight.shape[0]
        if not 0 <= token_id < vocabulary:
            raise InputError(
                f"the head in {str(path)!r} names the token {token_id!r}, but the model knows "
                f"{vocabulary}; train the verifier again"
            )
        verifier = cls(model, token_id, gain, bias, kind)
        verifier.level = str(fields.get("level") or "")
        return verifier.to(device).eval(), tokenizer


def load_language_model(
    path: Path, device: str = "cpu", precision: str | None = None
) -> tuple[Any, Any]:
    """Return the model and the tokenizer of a folder or a GGUF file; see `Verifier.load`."""
    if path.suffix == GGUF:
        base = load_folder(path)
        return base.model.to(device).eval(), base.tokenizer
    return local.load_model(path, device, precision), local.load_tokenizer(path)


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


def new_verifier(model: Any, tokenizer: Any, seed: int = 0, likelihood: bool = False) -> Verifier:
    """Make an untrained verifier from a generator, with the same weights.

    Its reserved token is `<ver>`, which tokenizer and embedding get if they lack it. The token's
    row is random: the generator has learnt to push its logit down.
    """
    if VER not in tokenizer.get_vocab():
        tokenizer.add_special_tokens({"additional_special_tokens": [VER]})
        rows = model.get_input_embeddings().weight.shape[0]
        if len(tokenizer) > rows:
            model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    token_id = tokenizer.convert_tokens_to_ids(VER)
    verifier = Verifier(model, token_id, kind=LIKELIHOOD if likelihood else LOGIT)
    if not likelihood:
        width = len(verifier.row)
        source = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            verifier.row.copy_(torch.randn(width, generator=source) * width**-0.5)
    return verifier


# Reading solutions


def read_values(verifier: Verifier, texts: Sequence[SolutionTokens]) -> list[list[float]]:
    """Return a verifier's value at each token of each solution."""
    if verifier.kind == LIKELIHOOD:
        # In float32 a sigmoid is 0 below -103, where many steps of a long solution end.
        rows = read_logprobs(verifier.model, texts, verifier.token_id)
        sums = [torch.tensor(row, device=verifier.gain.device).cumsum(0) for row in rows]
        return [torch.sigmoid(verifier.logits(each).double()).tolist() for each in sums]
    with torch.inference_mode():
        found = {text: verifier.values(states[1:]).tolist()
                 for text, states in read_states(verifier.model, texts)}  # fmt: skip
    return [found[text] for text in texts]


def read_logprobs(
    model: Any, texts: Sequence[SolutionTokens], banned: int = -1
) -> list[list[float]]:
    """Return the log-probability (nats) of each token of each solution; banned: a token of none."""
    found = {}
    with torch.inference_mode():
        for text, states in read_states(model, texts):
            logits = compute_logits(model, states[:-1], banned, exact=True)
            chosen = torch.tensor(text.solution, device=logits.device)[:, None]
            logprobs = torch.log_softmax(logits.double(), -1).gather(1, chosen)[:, 0].float()
            found[text] = logprobs.tolist()
    return [found[text] for text in texts]


def read_states(
    model: Any, texts: Sequence[SolutionTokens]
) -> Iterator[tuple[SolutionTokens, Tensor]]:
    """Yield each different text with the last states [tokens + 1, width] of its solution.

    The first state is that of the question's last token; state t has seen t tokens of the solution.
    A question with several solutions is read once: the keys and values are shared.
    """
    by_question: dict[tuple[int, ...], list[SolutionTokens]] = {}
    for text in dict.fromkeys(texts):
        by_question.setdefault(text.question, []).append(text)
    groups: dict[tuple[int, ...], list[SolutionTokens]] = {(): []}
    for question, group in by_question.items():
        is_shared = len(group) >= SHARED and len(question) > 1
        groups.setdefault(question[:-1] if is_shared else (), []).extend(group)
    for prefix, group in groups.items():
        rows = [(text.question + text.solution)[len(prefix) :] for text in group]
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
                end = len(rows[number])
                yield group[number], states[row, end - len(group[number].solution) - 1 : end]


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
    check_output(output)
    local.check_model(verifier_folder)
    stored = local.from_folder("AutoConfig", verifier_folder).dtype or torch.float32
    verifier, tokenizer = Verifier.load(verifier_folder, precision="float32")
    if verifier.kind == LIKELIHOOD:
        raise InputError(
            f"the verifier in {str(verifier_folder)!r} scores by likelihood, which is not a token "
            "classifier; export one that was trained with another --level"
        )
    model = verifier.model
    config = copy.deepcopy(model.config)
    config.num_labels, config.problem_type = 1, "regression"
    try:
        classifier = local.untrained("AutoModelForTokenClassification", config)
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


# Losses: each is a sum; a training divides it by its count over the whole update and adds the two
# unweighted, as the paper's joint objective does (section 4.2 and appendix E).


VERIFICATION, LANGUAGE = "verification", "language"


class TrainedModel(nn.Module):
    """A language model or a verifier with the losses of its rows."""

    def __init__(
        self, trained: Any, level: Level = "token", objective: Objective = "joint"
    ) -> None:
        super().__init__()
        self.trained, self.level, self.objective = trained, level, objective

    @property
    def model(self) -> Any:
        """Return the language model."""
        return self.trained.model if isinstance(self.trained, Verifier) else self.trained

    def collate(self, items: Sequence[Item]) -> dict[str, Tensor]:
        """Return the rows of items as tensors, padded on the right.

        Attention is causal, so that no token sees the padding behind it. By token: whether the
        language loss covers it, whether it belongs to a labelled solution, whether its value is
        learnt, and the target. By row: the last token, and the weight of its verification loss.
        """
        rows = [row for item in items for row in item]
        ids = pad_rows([row.ids for row in rows], "cpu")
        width = ids.shape[1]
        places = torch.arange(width)

        def column(numbers: Sequence[float]) -> Tensor:
            return torch.tensor(numbers)[:, None]

        ends = column([len(row.ids) for row in rows])
        weights = column([float(row.weight) for row in rows])
        starts = [width if row.language_start is None else max(1, row.language_start)
                  for row in rows]  # fmt: skip
        solution = (places >= column([row.start for row in rows])) & (places < ends) & (weights > 0)
        valued = solution
        if self.level == "step":
            valued = torch.zeros_like(solution)
            for number, row in enumerate(rows):
                valued[number, [row.start + max(end, 1) - 1 for end in row.ends]] = row.weight > 0
        elif self.level in ("solution", "likelihood"):
            valued = solution & (places == ends - 1)
        return {
            "ids": ids,
            "language": (places >= column(starts)) & (places < ends),
            "solution": solution,
            "valued": valued,
            "targets": (places < column([row.start + row.right_tokens for row in rows])).float(),
            "last": ends - 1,
            "weight": weights[:, 0],
        }

    def counts(self, batch: Mapping[str, Tensor]) -> Tensor:
        """Return the counts by which the verification and the language loss are divided."""
        weights = batch["weight"]
        if self.objective == "pairwise":
            values = weights.new_tensor(len(weights) / 2)
        elif self.level == "pooled":
            values = weights.sum()
        else:
            values = (batch["valued"] * weights[:, None]).sum()
        return torch.stack([values, batch["language"].sum().float()])

    def forward(self, **batch: Tensor) -> Tensor:
        """Return the summed verification and language losses; see `collate`."""
        ids, covered, solution = batch["ids"], batch["language"], batch["solution"]
        states = self.model.base_model(input_ids=ids, use_cache=False).last_hidden_state
        # Every parameter gets a gradient, as DDP expects.
        language = verification = (states.sum() * 0.0).float()
        banned = self.trained.token_id if isinstance(self.trained, Verifier) else -1
        if covered.any():
            logits = compute_logits(self.model, states[:, :-1][covered[:, 1:]], banned)
            language = cross_entropy(logits, ids[covered], reduction="sum")
        if solution.any():
            with torch.autocast(states.device.type, enabled=False):
                if self.level == "likelihood":
                    tokens = states[:, :-1][solution[:, 1:]]
                    logits = compute_logits(self.model, tokens, banned, exact=True)
                    chosen = -cross_entropy(logits, ids[solution], reduction="none")
                    by_token = chosen.new_zeros(solution.shape).masked_scatter(solution, chosen)
                    labels = binary_cross_entropy_with_logits(
                        self.trained.logits(by_token.sum(1)),
                        batch["targets"].gather(1, batch["last"])[:, 0],
                        reduction="none",
                    )
                    verification = (labels * batch["weight"]).sum()
                else:
                    verification = self._value_loss(self.trained.values(states), batch)
        return torch.stack([verification, language])

    def _value_loss(self, values: Tensor, batch: Mapping[str, Tensor]) -> Tensor:
        """Return the squared errors of the values, or of their mean, or the loss of pairs."""
        solution, targets, weights = batch["solution"], batch["targets"], batch["weight"]
        if self.level == "pooled":
            scores = (values * solution).sum(1) / solution.sum(1).clamp(min=1)
        else:
            scores = values.gather(1, batch["last"])[:, 0]
        if self.objective == "pairwise":
            return -logsigmoid(scores[0::2] - scores[1::2]).sum()
        if self.level == "pooled":
            return (weights * (scores - targets.gather(1, batch["last"])[:, 0]) ** 2).sum()
        return ((values - targets) ** 2 * batch["valued"] * weights[:, None]).sum()
