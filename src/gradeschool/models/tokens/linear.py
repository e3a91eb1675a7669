"""A linear map on weights laid out once for the processor.

On a CPU in float32 the weights are reordered for oneDNN, whose kernels are chosen by what the
processor can do: on an AMD one that is twice as fast as MKL, which `torch.nn.functional.linear`
calls, on the sizes of a small model. The operators are those that torch's own compiler emits.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.nn import functional

Linear = Callable[[torch.Tensor], torch.Tensor]


def linear(*parts: torch.nn.Linear) -> Linear:
    """Return one map that gives the outputs of several, one behind the other, from a copy."""
    weight = torch.cat([part.weight.detach() for part in parts])
    biases = [part.bias.detach() for part in parts if part.bias is not None]
    bias = torch.cat(biases) if biases else None
    if not _reordered(weight):
        return lambda state: functional.linear(state, weight, bias)
    ours = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous())
    write = torch.ops.mkldnn._linear_pointwise.default

    def apply(state: torch.Tensor) -> torch.Tensor:
        written: torch.Tensor = write(state, ours, bias, "none", [], "")
        return written

    return apply


def _reordered(weight: torch.Tensor) -> bool:
    return (
        weight.device.type == "cpu"
        and weight.dtype == torch.float32
        and bool(torch.backends.mkldnn.is_available())  # type: ignore[no-untyped-call]
        and hasattr(torch.ops.mkldnn, "_linear_pointwise")
    )
