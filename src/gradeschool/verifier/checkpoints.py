"""All that a training needs to resume, in one safetensors file that is written atomically.

Nothing in it is code: weights, what the optimisers remember, and facts as JSON. The order of the
examples and the random numbers of an update depend on the seed and the number of the update alone,
so that this number is all there is to remember of them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradeschool.atomic import replacing
from gradeschool.errors import StoreError
from gradeschool.verifier.optimizers import STATE, Optimizers
from gradeschool.verifier.parallel import World, part_like, whole

if TYPE_CHECKING:
    from torch import Tensor

CHECKPOINT = "checkpoint.safetensors"
MODEL, FACTS = "model", "facts"


def save(
    path: Path, model: Any, optimizers: Optimizers, facts: Mapping[str, Any], world: World
) -> None:
    """Write a checkpoint over the one before; every process calls it, the first one writes.

    Raises StoreError where it cannot be written; the one before then stays.
    """
    tensors = {f"{MODEL}|{name}": whole(tensor) for name, tensor in model.named_parameters()}
    tensors |= {name: whole(tensor) for name, tensor in optimizers.tensors()}
    if world.first:
        write_tensors(path, tensors, {FACTS: json.dumps(facts)})
    world.wait()


def facts_of(path: Path) -> dict[str, Any] | None:
    """Return a checkpoint's facts, None without one; raises StoreError for a damaged file."""
    from safetensors import SafetensorError, safe_open

    if not path.exists():
        return None
    try:
        with safe_open(path, "pt") as file:
            facts: dict[str, Any] = json.loads(file.metadata()[FACTS])
            return facts
    except (SafetensorError, KeyError, ValueError, TypeError) as error:
        raise _damaged(path, error) from error


def load(path: Path, model: Any, optimizers: Optimizers) -> dict[str, Any] | None:
    """Put a checkpoint into the model and the optimisers; return its facts, None without one.

    Raises StoreError where the file is damaged or of another model.
    """
    import torch
    from safetensors import SafetensorError, safe_open

    facts = facts_of(path)
    if facts is None:
        return None
    parameters = dict(model.named_parameters())
    remembered = {}
    try:
        with safe_open(path, "pt") as file:
            with torch.no_grad():
                for name, parameter in parameters.items():
                    stored = file.get_tensor(f"{MODEL}|{name}")
                    parameter.copy_(part_like(stored, parameter))
            for name in file.keys():  # noqa: SIM118
                if name.startswith(f"{STATE}|"):
                    like = parameters[name.split("|")[1]]
                    remembered[name] = part_like(file.get_tensor(name), like)
    except (SafetensorError, KeyError, RuntimeError) as error:
        raise _damaged(path, error) from error
    optimizers.remember(remembered)
    return facts


def _damaged(path: Path, error: Exception) -> StoreError:
    return StoreError(
        f"the checkpoint {str(path)!r} cannot be read ({error}); remove it to begin again"
    )


def write_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> None:
    """Write a safetensors file atomically; raises StoreError, and then leaves what was there."""
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    contiguous = {name: tensor.contiguous() for name, tensor in tensors.items()}
    try:
        with replacing(path) as part:
            save_file(contiguous, part, dict(metadata))
    except (OSError, SafetensorError) as error:
        raise StoreError(
            f"cannot write {str(path)!r}: {error}; free the disk or give another folder with -o, "
            "then the same command continues from the last checkpoint"
        ) from error
