"""FLOPs of sampling, reading and training, counted from what runs and trainings recorded.

A token costs 2 FLOPs for each non-embedding weight (Kaplan et al. 2020, arXiv 2001.08361, section
2.1) and 4 x layers x width of attention for each token that it attends to (Chowdhery et al. 2022,
arXiv 2204.02311, appendix B); training costs three times as much. As in these papers, softmax,
norms and output logits are left out.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

from gradeschool.errors import DataError
from gradeschool.formats.own_run import stored_completions
from gradeschool.formats.settings import read_object
from gradeschool.models.local import TRAINING_FILE

BACKWARD = 3  # passes: forward, and backward at twice its cost
EMBEDDINGS = ("embed", "lm_head", "wte", "wpe")


class TransformerShape(NamedTuple):
    """The sizes of a model that determine its FLOPs.

    weights: without embeddings. width: of all attention heads of a layer together.
    """

    weights: int
    layers: int
    width: int

    def forward(self, tokens: float, before: float = 0.0) -> float:
        """Return the FLOPs of reading or writing tokens. before: number of tokens before them."""
        return tokens * (2 * self.weights + 4 * self.layers * self.width * (before + tokens / 2))


class SamplingFlops(NamedTuple):
    """The FLOPs of writing a run, equal to those of reading it.

    prompt: mean for a problem's prompt, once. completion: mean for a completion. total: of the
    whole run.
    """

    prompt: float
    completion: float
    total: float

    def of_samples(self, n: int) -> float:
        """Return the FLOPs of n completions of a problem."""
        return self.prompt + n * self.completion


def transformer_shape(folder: Path) -> TransformerShape:
    """Return the shape of a model in a Hugging Face folder; raises DataError."""
    from safetensors import safe_open

    config = read_object(folder / "config.json", "give the folder of a Hugging Face model")
    weights = 0
    for path in folder.glob("*.safetensors"):
        with safe_open(path, "np") as file:
            for name in file.keys():  # noqa: SIM118  (safe_open is no mapping)
                if not any(part in name for part in EMBEDDINGS):
                    weights += math.prod(file.get_slice(name).get_shape())
    try:
        heads, layers = config["num_attention_heads"], config["num_hidden_layers"]
        width = heads * (config.get("head_dim") or config["hidden_size"] // heads)
    except KeyError as error:
        raise DataError(
            f"{str(folder / 'config.json')!r} has no {error}; FLOPs are not counted for it"
        ) from error
    return TransformerShape(weights, layers, width)


def sampling_flops(run: Path, shape: TransformerShape) -> SamplingFlops:
    """Return the FLOPs of a run by a model of this shape, from its recorded tokens.

    A problem's prompt is counted once, whatever the number of its completions. Raises DataError for
    a run that records no tokens.
    """
    prompts: dict[str, int] = {}
    written = 0.0
    count = 0
    for completion in stored_completions(run).values():
        if completion.error:
            continue
        prompt, tokens = completion.usage.prompt_tokens, completion.usage.completion_tokens
        if prompt is None or tokens is None:
            raise DataError(f"{str(run)!r} records no tokens; its FLOPs cannot be counted")
        prompts[completion.problem_id] = prompt
        written += shape.forward(tokens, prompt)
        count += 1
    if not count:
        raise DataError(f"{str(run)!r} has no completion; its FLOPs cannot be counted")
    read = sum(map(shape.forward, prompts.values()))
    return SamplingFlops(read / len(prompts), written / count, read + written)


def training_flops(folder: Path, shape: TransformerShape) -> float:
    """Return the FLOPs of the training that made a model, from its training.json.

    Assumes that the examples of an update are equally long.
    """
    fields = read_object(folder / TRAINING_FILE, "train the model again")
    tokens = int(fields["tokens"])
    examples = int(fields["updates"]) * int(fields["settings"]["batch"])
    return BACKWARD * examples * shape.forward(tokens / examples)
