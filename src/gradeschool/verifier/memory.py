"""Plan the memory of a training before its first update, and measure it."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from gradeschool.machine import memory_of_process
from gradeschool.percentages import aligned
from gradeschool.verifier.parallel import World, layers_of, with_parameters
from gradeschool.verifier.training import (
    Loss,
    Optimizers,
    TrainingBatch,
    TrainingBatches,
    TrainingSettings,
    autocast_of,
    save_activations,
)

if TYPE_CHECKING:
    from torch import Tensor

GB = 10**9
CARDS = (24, 80)  # GB
# An allowance for CUDA, its libraries and fragmentation of its allocator.
CARD_OVERHEAD = GB
# What glibc's heap holds beyond its blocks on a CPU, as a share of the activations: 0.56 to 0.83 in
# trainings of SmolLM2 (docs/log.md). Giving freed blocks back at once costs 40 % of the time.
FRAGMENTS = 0.65
SEARCHED = 64  # number of updates searched for the largest pass


class MemoryPlan(NamedTuple):
    """The memory of one process's tensors in bytes.

    activations: maximum of a pass, beside weights and optimizer. peak: overall maximum; if an
    update has one pass, gradients replace activations, so that it is less than the sum. tokens: of
    the largest pass.
    """

    weights: int
    gradients: int
    optimizer: int
    activations: int
    peak: int
    tokens: int

    def largest_pass(self, card: int) -> int:
        """Return about how many tokens fit into a pass on a card of `card` bytes, 0 for none."""
        free = card - CARD_OVERHEAD - (self.peak - self.activations)
        return max(0, self.tokens * free // max(1, self.activations))


def plan_memory(
    model: Any, batches: TrainingBatches, loss: Loss, settings: TrainingSettings, world: World
) -> MemoryPlan:
    """Return the memory of a training in one process that has the whole model.

    Runs an update of the largest pass on tensors without contents (torch's fake tensors), and
    counts the living ones. It takes seconds and no memory, and does not change the model. Raises
    RuntimeError for a model whose code depends on the contents of its tensors.
    """
    largest, several = _largest_pass(batches, world.size)
    batch = largest.to(world.device)
    fakes = FakeTensorMode(allow_non_fake_inputs=True)

    def fake(weight: Tensor) -> Tensor:
        with fakes:
            return torch.empty(weight.shape, dtype=weight.dtype, device=world.device)

    shell = with_parameters(model, fake).train()
    if settings.gradient_checkpointing:
        save_activations(shell)
    optimizers = Optimizers(shell, settings.optimizer, settings.lr, settings.weight_decay)
    alive = _AliveTensors(shell.parameters())
    weights = alive.size
    with alive:
        with autocast_of(settings.precision, shell, world.device):
            losses = loss(shell, batch)
        torch.stack(list(losses.values())).sum().backward()
        del losses
        activations = alive.peak - weights
        alive.peak = alive.size
        optimizers.step(1.0)
    gradients = _size(weight for weight in shell.parameters() if weight.requires_grad)
    state = _size(tensor for _, tensor in optimizers.tensors())
    peak = weights + state + activations + (gradients if several else 0)
    return MemoryPlan(weights, gradients, state, activations, max(peak, alive.peak), largest.tokens)


def _largest_pass(batches: TrainingBatches, processes: int) -> tuple[TrainingBatch, bool]:
    """Return the pass with the most tokens, and whether an update has several per process."""
    step = -(-len(batches) // SEARCHED)
    updates = [batches.update(number, processes) for number in range(0, len(batches), step)]
    largest = max((each for passes in updates for each in passes), key=lambda each: each.tokens)
    return largest, any(len(passes) > processes for passes in updates)


def _places(index: Any) -> Sequence[Any]:
    """Return a mask as indexes, one tensor per dimension; other values are unchanged."""
    mask = getattr(index, "dtype", None) == torch.bool
    return index.nonzero(as_tuple=True) if mask else [index]


def _size(tensors: Iterable[Tensor]) -> int:
    return sum(tensor.nbytes for tensor in tensors)


class _AliveTensors(TorchDispatchMode):
    """Adds up the storage of the tensors that operations return, until it is freed."""

    def __init__(self, tensors: Iterable[Tensor]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.size = self.peak = 0
        self._storages: dict[int, weakref.ref[Any]] = {}
        for tensor in tensors:
            self._add(tensor)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.ops.aten.index.Tensor:
            # The size of a selection depends on the mask's contents, which masks of a batch have.
            args = (args[0], [place for index in args[1] for place in _places(index)])
        result = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(result):
            if isinstance(leaf, torch.Tensor):
                self._add(leaf)
        return result

    def _add(self, tensor: Tensor) -> None:
        storage = tensor.untyped_storage()
        key, size = storage._cdata, storage.nbytes()
        if key in self._storages:
            return

        def freed(_: Any) -> None:
            self._storages.pop(key, None)
            self.size -= size

        self._storages[key] = weakref.ref(storage, freed)
        self.size += size
        self.peak = max(self.peak, self.size)


def sharded(plan: MemoryPlan, model: Any, processes: int) -> MemoryPlan:
    """Return the memory of each FSDP2 process, if a single process needs `plan`.

    Beside its shares, each has the weights outside the layers and of two layers (the computed one
    and the next one), and the gradients of one layer and outside the layers.
    """
    layers = [list(layer.parameters()) for layer in layers_of(model)]
    inside = {id(weight) for layer in layers for weight in layer}
    outside = [weight for weight in model.parameters() if id(weight) not in inside]
    layer = max(layers, key=_size, default=[])
    trained = [weight for weight in (*outside, *layer) if weight.requires_grad]
    activations = plan.activations + _size(outside) + 2 * _size(layer) + _size(trained)
    weights, gradients, state = (-(-part // processes) for part in plan[:3])
    whole = weights + plan.weights  # as the model is divided
    peak = max(whole, weights + gradients + state + activations)
    return MemoryPlan(weights, gradients, state, activations, peak, plan.tokens)


def plans_of(plan: MemoryPlan, model: Any, world: World) -> dict[str, MemoryPlan]:
    """Return the plans for one process, and for each of several (two, if there is only one)."""
    processes = max(2, world.size)
    return {
        "alone": plan,
        "ddp": plan._replace(peak=sum(plan[:4])),  # its gradients stay in the buffers for sending
        "fsdp": sharded(plan, model, processes),
    }


def memory_table(plans: dict[str, MemoryPlan], world: World) -> str:
    """Return the plans as lines; the last columns are the maximum tokens per pass on a card."""
    processes = max(2, world.size)
    names = {"alone": "1 process", "ddp": f"each of {processes}, DDP",
             "fsdp": f"each of {processes}, FSDP2"}  # fmt: skip
    cards = [f"in {card} GB" for card in CARDS]
    rows = [["memory (GB)", *MemoryPlan._fields[:5], f"tokens {cards[0]}", *cards[1:]]]
    for kind, plan in plans.items():
        fitting = [plan.largest_pass(card * GB) for card in CARDS]
        sizes = [f"{part / GB:.2f}" for part in plan[:5]]
        rows.append(
            [names[kind], *sizes, *(f"{tokens:,}" if tokens else "-" for tokens in fitting)]
        )
    return "\n".join(aligned(rows))


def beside_plan(plan: MemoryPlan, whole: MemoryPlan, world: World) -> int:
    """Return the bytes that a process on a CPU, which holds the whole model now, has beside `plan`.

    Python, torch and data; the fragments of the heap; under FSDP2 the whole model too, which every
    process loads and the first one gathers to save it. 0 on a GPU and where the system does not
    say.
    """
    resident = memory_of_process()
    if world.device != "cpu" or resident is None:
        return 0
    gathered = whole.weights if world.sharded else 0
    return max(0, resident - whole.weights) + int(FRAGMENTS * plan.activations) + gathered


def peak_memory(device: str) -> int | None:
    """Return the peak memory of a training in bytes: of tensors on a GPU, else of the process."""
    if device == "cpu":
        return memory_of_process("VmHWM")
    return int(torch.cuda.max_memory_allocated(device))
