"""A linear map on weights laid out once for the processor.

On a CPU in float32 the weights are reordered for oneDNN, whose kernels are chosen by what the
processor can do: on an AMD one that is twice as fast as MKL, which `torch.nn.functional.linear`
calls, on the sizes of a small model. The operators are those that torch's own compiler emits.
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch.nn import functional


class Linear(Protocol):
    """A map; `onto` is what its outputs are added to."""

    def __call__(self, state: torch.Tensor, onto: torch.Tensor | None = None) -> torch.Tensor:
        """Return the outputs of some rows."""


def linear(*parts: torch.nn.Linear) -> Linear:
    """Return one map that gives the outputs of several, one behind the other, from a copy."""
    weight = torch.cat([part.weight.detach() for part in parts])
    biases = [part.bias.detach() for part in parts if part.bias is not None]
    bias = torch.cat(biases) if biases else None
    return _reordered(weight, bias) if _fits(weight) else _plain(weight, bias)


def _plain(weight: torch.Tensor, bias: torch.Tensor | None) -> Linear:
    def apply(state: torch.Tensor, onto: torch.Tensor | None = None) -> torch.Tensor:
        written = functional.linear(state, weight, bias)
        return written if onto is None else onto + written

    return apply


def _reordered(weight: torch.Tensor, bias: torch.Tensor | None) -> Linear:
    ours = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous())
    write = torch.ops.mkldnn._linear_pointwise

    def apply(state: torch.Tensor, onto: torch.Tensor | None = None) -> torch.Tensor:
        written: torch.Tensor
        if onto is None:
            written = write.default(state, ours, bias, "none", [], "")
        else:
            written = write.binary(state, onto, ours, bias, "add")
        return written

    return apply


def _fits(weight: torch.Tensor) -> bool:
    return (
        weight.device.type == "cpu"
        and weight.dtype == torch.float32
        and bool(torch.backends.mkldnn.is_available())
        and hasattr(torch.ops.mkldnn, "_linear_pointwise")
    )
