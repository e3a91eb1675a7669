"""The training loop, its optimisers and checkpoints, for any loss over any batches.

On a CPU, a resumed training gives exactly the same bits. A checkpoint is one safetensors file
without code: weights, the state of the optimisers, and facts as JSON. The order of examples and the
random numbers of an update depend only on the seed and the update's number, so only that number is
stored.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from gradeschool.atomic import append_lines, replacing, write_file
from gradeschool.errors import InputError, StoreError
from gradeschool.models.local import precision_on
from gradeschool.signals import stop_flag
from gradeschool.verifier.packing import PASS_TOKENS
from gradeschool.verifier.parallel import ALONE, World, part_like, whole, with_parameters

if TYPE_CHECKING:
    from torch import Tensor

LOSSES = "losses.jsonl"
SEEDS = 1_000_003
BETAS = (0.9, 0.95)
MOMENTUM = 0.95
STATE = "optimizer"
CHECKPOINT = "checkpoint.safetensors"
# Seconds of training that a kill may lose, unless saving itself takes over a 20th of them.
LOSABLE_SECONDS = 300.0
TRAINED_PER_SAVED = 20
HEAD = frozenset({"gain", "bias"})  # the parameters of a verifier's head
MODEL, FACTS = "model", "facts"


class TrainingBatch(Protocol):
    """The input of one forward pass; `counts`: the number of tokens in each named loss."""

    @property
    def counts(self) -> Mapping[str, float]:
        """The number of tokens in each loss."""

    @property
    def tokens(self) -> int:
        """The number of computed tokens."""

    def to(self, device: Any) -> Any:
        """Return the batch on a device."""


class TrainingBatches(Protocol):
    """The batches of every update of a training, in a fixed order."""

    def __len__(self) -> int:
        """Return the number of updates."""

    def update(self, number: int, processes: int) -> Sequence[TrainingBatch]:
        """Return the passes of one update, a multiple of the processes; their gradients add up."""


# Adam as in the paper, or Muon for the matrices of the layers and Adam for the rest.
OptimizerKind = Literal["adam", "muon"]
# Returns each named loss as a sum over the tokens in `batch.counts`. The training minimises the sum
# of their means, however an update is divided into passes and processes.
Loss = Callable[[Any, Any], Mapping[str, "Tensor"]]
# Precisions of the passes; weights and optimisers are in float32.
Precision = Literal["float32", "bfloat16"]
SaveDtype = Literal["float32", "bfloat16", "float16"]
# Called in the first process with the number of an update, counted from 1, and the model.
After = Callable[[int, Any], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSettings:
    """The settings of every training; together with its files they determine the model.

    limit: use only the first problems. The learning rate `lr` rises over `warmup` updates and falls
    linearly to 0. pass_tokens: maximum per pass; larger batches accumulate gradients. precision: of
    the passes, None for that of `precision_on`. save_dtype: of the weights in the
    trained model's folder, None for that of the base model. lora: the rank of adapters, None to
    train all weights. head_lr: the learning rate of a verifier's gain and bias, None for `lr`.
    gradient_checkpointing: compute activations again in the backward pass.
    """

    limit: int | None = None
    optimizer: OptimizerKind = "adam"
    lr: float = 1e-5
    warmup: int = 0
    dropout: float = 0.0
    weight_decay: float = 0.0
    clip: float = 1.0
    seed: int = 0
    pass_tokens: int = PASS_TOKENS
    precision: Precision | None = None
    save_dtype: SaveDtype | None = None
    lora: int | None = None
    head_lr: float | None = None
    gradient_checkpointing: bool = False


class TrainingUpdate(NamedTuple):
    """The figures of one update of a training; `number` is counted from 1."""

    number: int
    of: int
    losses: Mapping[str, float]
    norm: float
    lr: float
    tokens: int
    seconds: float

    def as_json(self) -> dict[str, Any]:
        """Return the row of losses.jsonl."""
        return {
            "update": self.number,
            **{name: round(loss, 6) for name, loss in self.losses.items()},
            "norm": round(self.norm, 4),
            "lr": self.lr,
            "tokens": self.tokens,
            "seconds": round(self.seconds, 4),
        }


class TrainingResult(NamedTuple):
    """How a training ended.

    The first process has the whole model; costs are summed over all sessions; `stopped`: a signal
    ended it early.
    """

    model: Any
    updates: int
    tokens: int
    seconds: float
    losses: Mapping[str, float]
    stopped: bool


def train(
    model: Any,
    batches: TrainingBatches,
    loss: Loss,
    settings: TrainingSettings,
    folder: Path,
    *,
    world: World = ALONE,
    save_every: int = 200,
    after: After | None = None,
    marks: Collection[int] = (),
    tell: Callable[[TrainingUpdate], None] | None = None,
) -> TrainingResult:
    """Train a model in place, from the checkpoint in the folder if there is one.

    The folder must exist; it gets a checkpoint every `save_every` updates and at least every five
    minutes (less often if saving is slow), and losses.jsonl with one row per update. `after` is
    called at the updates in `marks`, each followed by a checkpoint, so that it is called only once
    for each. SIGINT or SIGTERM ends the training after the current update, with a checkpoint.
    Raises InputError if a loss is not finite, StoreError if the folder cannot be written.
    """
    import torch

    training = Training(model, batches, loss, settings, folder, world)

    devices = [world.device] if world.device != "cpu" else []
    log = RowsLog(folder / LOSSES, training.updates) if world.first else None
    with torch.random.fork_rng(devices), stop_flag() as stop:
        while training.updates < len(batches):
            update = training.update()
            if log is not None:
                log.add(update.as_json())
            if tell is not None:
                tell(update)
            marked = update.number in marks
            if marked and after is not None:
                plain = training.plain()
                if world.first:
                    after(update.number, plain)
                    plain.train()
                world.wait()
            stopped, due = world.any(stop.requested, training.due)
            if stopped or due or marked or update.number % save_every == 0:
                training.save()
            if stopped:
                break
    facts = training.facts
    return TrainingResult(training.plain(), **facts, stopped=training.updates < len(batches))


class Training:
    """A training between two updates."""

    def __init__(
        self,
        model: Any,
        batches: TrainingBatches,
        loss: Loss,
        settings: TrainingSettings,
        folder: Path,
        world: World,
    ) -> None:
        self.model, self.batches, self.loss = model, batches, loss
        self.settings, self.world = settings, world
        # Under FSDP2 no process has the whole model: the first one has its code, without weights.
        self.shell = with_parameters(model, _on_meta) if world.sharded and world.first else None
        self.wrapped = world.wrap(model)
        self.optimizers = Optimizers(
            model, settings.optimizer, settings.lr, settings.weight_decay, head_lr=settings.head_lr
        )
        self.path = folder / CHECKPOINT
        self.facts: dict[str, Any] = load_checkpoint(self.path, model, self.optimizers) or {
            "updates": 0,
            "tokens": 0,
            "seconds": 0.0,
            "losses": {},
        }
        self.saved, self.save_seconds = time.monotonic(), 0.0
        model.train()
        if settings.gradient_checkpointing:
            save_activations(model)

    @property
    def updates(self) -> int:
        """The number of finished updates."""
        return int(self.facts["updates"])

    @property
    def due(self) -> bool:
        """Whether a kill would lose more than `LOSABLE_SECONDS` of training."""
        losable = max(LOSABLE_SECONDS, TRAINED_PER_SAVED * self.save_seconds)
        return time.monotonic() - self.saved >= losable

    def save(self) -> None:
        """Write a checkpoint."""
        began = time.monotonic()
        save_checkpoint(self.path, self.model, self.optimizers, self.facts, self.world)
        self.saved = time.monotonic()
        self.save_seconds = self.saved - began

    def plain(self) -> Any:
        """Return the model, whole in the first process; all processes must call it."""
        if not self.world.sharded:
            return self.model
        weights = {name: whole(weight) for name, weight in self.model.named_parameters()}
        if self.shell is None:
            return self.model
        names = {weight: name for name, weight in self.shell.named_parameters()}
        return with_parameters(
            self.shell, lambda weight: weights[names[weight]].to(self.world.device)
        )

    def update(self) -> TrainingUpdate:
        """Update the model once; raises InputError if a loss is not finite."""
        import torch

        began = time.monotonic()
        settings, world, number = self.settings, self.world, self.updates
        # Random numbers of an update do not depend on earlier updates.
        torch.manual_seed((settings.seed * SEEDS + number * world.size + world.rank) % 2**63)
        passes = self.batches.update(number, world.size)
        counts = _added(batch.counts for batch in passes)
        losses = self._gradients(passes[world.rank :: world.size], counts)
        if not all(map(math.isfinite, losses.values())):
            raise InputError(
                f"the loss is not finite at update {number + 1}: {losses!r}; give a smaller "
                f"learning rate than {settings.lr!r} or a smaller clip than {settings.clip!r}"
            )
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), settings.clip)
        share = learning_rate_share(number, len(self.batches), settings.warmup)
        self.optimizers.step(share)
        tokens = sum(batch.tokens for batch in passes)
        seconds = time.monotonic() - began
        self.facts = {
            "updates": number + 1,
            "tokens": self.facts["tokens"] + tokens,
            "seconds": self.facts["seconds"] + seconds,
            "losses": losses,
        }
        lr = share * settings.lr
        size = float(whole(norm))
        return TrainingUpdate(number + 1, len(self.batches), losses, size, lr, tokens, seconds)

    def _gradients(
        self, passes: Sequence[TrainingBatch], counts: Mapping[str, float]
    ) -> dict[str, float]:
        """Accumulate the gradients of this process's passes; return the mean losses over all."""
        import torch

        world = self.world
        sums = dict.fromkeys(counts, 0.0)
        for number, batch in enumerate(passes, start=1):
            with world.adding(self.wrapped, last=number == len(passes)):
                with autocast_of(self.settings.precision, self.model, world.device):
                    losses = self.loss(self.wrapped, batch.to(world.device))
                # DDP and FSDP take the mean over processes; the sum is needed.
                shares = [losses[name] / max(counts[name], 1.0) for name in counts]
                total: Any = torch.stack(shares).sum() * world.size
                total.backward()
            for name in counts:
                sums[name] += float(losses[name].detach())
        means = world.total(list(sums.values()))
        return {
            name: batch / max(counts[name], 1.0) for name, batch in zip(counts, means, strict=True)
        }


def precision_for(model: Any, device: str) -> str:
    """Return the default precision of a training's passes; see `precision_on`."""
    return precision_on(device, sum(weight.numel() for weight in model.parameters()))


def autocast_of(
    precision: Precision | None, model: Any, device: str
) -> AbstractContextManager[Any]:
    """Return a context for passes in a precision; None: see `precision_for`."""
    import torch

    kind = torch.device(device).type
    half = (precision or precision_for(model, kind)) == "bfloat16"
    return torch.autocast(kind, torch.bfloat16, enabled=half)


def _on_meta(weight: Tensor) -> Tensor:
    return weight.detach().to("meta")


def save_activations(model: Any) -> None:
    """Turn on gradient checkpointing in a transformers model, or in the model of a verifier."""
    for name in ("activation_checkpointing_enable", "gradient_checkpointing_enable"):  # new, old
        for part in (model, getattr(model, "model", None)):
            if hasattr(part, name):
                getattr(part, name)({"use_reentrant": False})
                return


def _added(each: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return the sums of counts by name, in the order of the names."""
    total: dict[str, float] = {}
    for counts in each:
        for name, count in counts.items():
            total[name] = total.get(name, 0.0) + count
    return total


class RowsLog:
    """A JSONL file whose rows have an update's number; rows after `upto` are dropped."""

    def __init__(self, path: Path, upto: int) -> None:
        rows = []
        if path.exists():
            for line in path.read_text(encoding="utf-8").split("\n"):
                row = _row(line)
                if row is not None and row["update"] <= upto:
                    rows.append(f"{line}\n")
        write_file(path, "".join(rows).encode())
        self.path = path

    def add(self, row: Mapping[str, Any]) -> None:
        """Append a row."""
        append_lines(self.path, [row])


def _row(line: str) -> dict[str, Any] | None:
    """Return the row in a line, None for an incomplete line."""
    try:
        row: dict[str, Any] = json.loads(line)
        int(row["update"])
    except (ValueError, KeyError, TypeError):
        return None
    return row


class Optimizers:
    """The optimisers of one model, stepped together.

    Muon (torch.optim.Muon, updates scaled like Adam's) updates the matrices between the embedding
    and the head; Adam updates embedding, head, gains and biases. Only matrices have weight decay.
    """

    def __init__(
        self,
        model: Any,
        kind: OptimizerKind,
        lr: float,
        weight_decay: float = 0.0,
        head_lr: float | None = None,
    ) -> None:
        from torch.optim import AdamW, Muon

        self.lr = lr
        self.names = {tensor: name for name, tensor in model.named_parameters()}
        outer = {model.get_input_embeddings().weight}
        head = model.get_output_embeddings()
        if head is not None:
            outer.add(head.weight)
        trained = [tensor for tensor in self.names if tensor.requires_grad]
        matrices = [tensor for tensor in trained if tensor.ndim == 2 and tensor not in outer]
        by_muon = matrices if kind == "muon" else []
        decayed = [tensor for tensor in trained if tensor.ndim > 1 and tensor not in set(by_muon)]
        heads = [tensor for tensor in trained if self.names[tensor] in HEAD] if head_lr else []
        plain = [tensor for tensor in trained if tensor.ndim < 2 and tensor not in set(heads)]
        groups = [
            {"params": decayed, "weight_decay": weight_decay},
            {"params": plain, "weight_decay": 0.0},
            {"params": heads, "weight_decay": 0.0, "share": (head_lr or lr) / lr},
        ]
        self.each: list[Any] = [
            AdamW([tensor for tensor in groups if tensor["params"]], lr, BETAS, fused=True)
        ]
        if by_muon:
            self.each.append(
                Muon(
                    by_muon,
                    lr,
                    weight_decay,
                    momentum=MOMENTUM,
                    adjust_lr_fn="match_rms_adamw",
                )
            )

    def step(self, share: float) -> None:
        """Update the model with a share of the learning rate, and clear the gradients."""
        for optimizer in self.each:
            for group in optimizer.param_groups:
                group["lr"] = self.lr * share * group.get("share", 1.0)
            optimizer.step()
            optimizer.zero_grad()

    def tensors(self) -> Iterator[tuple[str, Tensor]]:
        """Yield the optimisers' state, by "optimizer|parameter|what"."""
        for optimizer in self.each:
            for parameter, state in optimizer.state.items():
                for what, tensor in state.items():
                    yield f"{STATE}|{self.names[parameter]}|{what}", tensor

    def remember(self, tensors: dict[str, Tensor]) -> None:
        """Restore the state from `tensors`; the tensors are on the parameters' devices."""
        for optimizer in self.each:
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    prefix = f"{STATE}|{self.names[parameter]}|"
                    optimizer.state[parameter] = {
                        name.removeprefix(prefix): tensor
                        for name, tensor in tensors.items()
                        if name.startswith(prefix)
                    }


def learning_rate_share(step: int, steps: int, warmup: int) -> float:
    """Return the share of the learning rate at an update, counted from 0.

    It rises over `warmup` updates and falls linearly to 0 at the update after the last.
    """
    return min(1.0, (step + 1) / (warmup + 1)) * (1 - step / steps)


def save_checkpoint(
    path: Path, model: Any, optimizers: Optimizers, facts: Mapping[str, Any], world: World
) -> None:
    """Replace the checkpoint; every process must call it, the first one writes.

    Raises StoreError if it cannot be written; the previous one is then kept.
    """
    tensors = {f"{MODEL}|{name}": whole(tensor) for name, tensor in model.named_parameters()}
    tensors |= {name: whole(tensor) for name, tensor in optimizers.tensors()}
    if world.first:
        _write_tensors(path, tensors, {FACTS: json.dumps(facts)})
    world.wait()


def _write_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> None:
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


def checkpoint_facts(path: Path) -> dict[str, Any] | None:
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


def load_checkpoint(path: Path, model: Any, optimizers: Optimizers) -> dict[str, Any] | None:
    """Load a checkpoint into the model and the optimisers; return its facts, None without one.

    Raises StoreError if the file is damaged or belongs to another model.
    """
    import torch
    from safetensors import SafetensorError, safe_open

    facts = checkpoint_facts(path)
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
