"""Training over several processes: torchrun starts them, DDP or FSDP2 combines gradients."""

from __future__ import annotations

import copy
import gc
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal

from gradeschool.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor

ParallelKind = Literal["ddp", "fsdp"]
ACCELERATE = "ACCELERATE_USE_CPU"  # set by `accelerate launch` if it starts only one process
PATIENCE = timedelta(hours=6)  # the others wait while the first process evaluates


@dataclass(frozen=True, slots=True)
class World:
    """The processes of a training, from the view of one of them."""

    rank: int = 0
    size: int = 1
    device: str = "cpu"
    kind: ParallelKind = "ddp"

    @property
    def first(self) -> bool:
        """Whether this process writes files and messages."""
        return self.rank == 0

    @property
    def sharded(self) -> bool:
        """Whether no process has the whole model."""
        return self.size > 1 and self.kind == "fsdp"

    def describe(self) -> str:
        """Return a description of the processes."""
        if self.size == 1:
            lone = " (accelerate launch starts no more on a CPU; torchrun does)"
            return f"1 process on {self.device}{lone if ACCELERATE in os.environ else ''}"
        name = {"ddp": "DDP", "fsdp": "FSDP2"}[self.kind]
        return f"{self.size} processes on {self.device}, {name}"

    def wrap(self, model: Any) -> Any:
        """Return the model wrapped for training in this process, on its device."""
        model.to(self.device)
        if self.size == 1:
            return model
        if self.kind == "ddp":
            from torch.nn.parallel import DistributedDataParallel

            # Gradients are views of the buffers for sending, so that there is one copy of them.
            return DistributedDataParallel(model, gradient_as_bucket_view=True)
        from torch.distributed.fsdp import fully_shard

        for layer in layers_of(model):
            fully_shard(layer)
        return fully_shard(model)

    def adding(self, model: Any, last: bool) -> AbstractContextManager[Any]:
        """Return a context in which gradients are only accumulated, except in the last pass."""
        if self.size == 1:
            return nullcontext()
        if self.kind == "fsdp":
            model.set_requires_gradient_sync(last)
            return nullcontext()
        return nullcontext() if last else model.no_sync()

    def any(self, *flags: bool) -> list[bool]:
        """Return for each flag whether any process has set it."""
        return [count > 0 for count in self.total([float(flag) for flag in flags])]

    def total(self, figures: list[float]) -> list[float]:
        """Return figures summed over the processes."""
        if self.size == 1:
            return figures
        import torch
        from torch import distributed

        tensor = torch.tensor(figures, dtype=torch.float64, device=self.device)
        distributed.all_reduce(tensor)
        return [float(number) for number in tensor.tolist()]

    def wait(self) -> None:
        """Wait for the other processes."""
        self.total([0.0])


ALONE = World()


@contextmanager
def joined(kind: ParallelKind, expected: int | None = None) -> Iterator[World]:
    """Yield the world of processes from a launcher, or of one process without a launcher.

    Raises InputError if their number is not the expected one, or there are fewer GPUs than
    processes on this machine.
    """
    import torch

    gpu = torch.cuda.is_available()
    variables = {name: os.environ.get(name) for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK")}
    size = int(variables["WORLD_SIZE"] or 1)
    if expected is not None and size != expected:
        raise InputError(
            f"{expected} processes were requested, {size} started: `accelerate launch --cpu` "
            f"starts only one; use `torchrun --nproc-per-node {expected} -m gradeschool ...`"
        )
    local = int(variables["LOCAL_RANK"] or 0)
    if gpu and local >= (gpus := torch.cuda.device_count()):
        raise InputError(
            f"process {local + 1} of this machine has no GPU of its own (GPUs: {gpus}); start "
            f"as many with --nproc-per-node {gpus}, or set CUDA_VISIBLE_DEVICES= to use the CPU"
        )
    device = f"cuda:{local}" if gpu else "cpu"
    if size == 1:
        yield World(device=device)
        return
    if gpu:
        torch.cuda.set_device(device)
    torch.distributed.init_process_group("nccl" if gpu else "gloo", timeout=PATIENCE)
    try:
        yield World(torch.distributed.get_rank(), torch.distributed.get_world_size(), device, kind)
    finally:
        # A model in a reference cycle would keep the group alive; its threads could then run while
        # the interpreter shuts down, and abort the process.
        gc.collect()
        torch.distributed.destroy_process_group()


def layers_of(model: Any) -> list[Any]:
    """Return the blocks of a causal language model: its longest list of modules."""
    from torch.nn import ModuleList

    lists = [list(module) for module in model.modules() if isinstance(module, ModuleList)]
    return max(lists, key=len, default=[])


def with_parameters(model: Any, replacement: Callable[[Tensor], Tensor]) -> Any:
    """Return a copy of a model with another tensor for each parameter; tied ones stay tied."""
    from torch.nn import Parameter

    replaced = {
        id(weight): Parameter(replacement(weight), weight.requires_grad)
        for weight in model.parameters()
    }
    return copy.deepcopy(model, replaced)


def whole(tensor: Tensor) -> Tensor:
    """Return a tensor with the parts of all processes, on the CPU; all processes must call it."""
    full: Any = getattr(tensor, "full_tensor", None)
    gathered: Tensor = full() if full is not None else tensor
    return gathered.detach().cpu()


def part_like(tensor: Tensor, like: Tensor) -> Tensor:
    """Return this process's part of a whole tensor, with the layout of another tensor."""
    mesh: Any = getattr(like, "device_mesh", None)
    if mesh is None or tensor.shape != like.shape:
        return tensor.to(like.device)
    from torch.distributed.tensor import distribute_tensor

    part: Tensor = distribute_tensor(tensor.to(like.device), mesh, like.placements)  # type: ignore[attr-defined]
    return part
