"""Adam as in the paper, or Muon for the matrices of the layers and Adam for the rest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from torch import Tensor

Kind = Literal["adam", "muon"]
BETAS = (0.9, 0.95)
MOMENTUM = 0.95
STATE = "optimizer"


class Optimizers:
    """The optimisers of one model, stepped together.

    Muon (torch.optim.Muon, updates scaled as Adam's are) takes the matrices between the embedding
    and the head; Adam takes embedding, head, gains and biases. Only matrices decay.
    """

    def __init__(
        self, model: Any, kind: Kind, lr: float, weight_decay: float = 0.0, fused: bool = True
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
        plain = [tensor for tensor in trained if tensor.ndim < 2]
        groups = [
            {"params": decayed, "weight_decay": weight_decay},
            {"params": plain, "weight_decay": 0.0},
        ]
        self.each: list[Any] = [
            AdamW([tensor for tensor in groups if tensor["params"]], lr, BETAS, fused=fused)
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
        """Update the model at a share of the learning rate, and forget the gradients."""
        for optimizer in self.each:
            for group in optimizer.param_groups:
                group["lr"] = self.lr * share
            optimizer.step()
            optimizer.zero_grad()

    def tensors(self) -> Iterator[tuple[str, Tensor]]:
        """Yield what the optimisers remember, by "optimizer|parameter|what"."""
        for optimizer in self.each:
            for parameter, state in optimizer.state.items():
                for what, tensor in state.items():
                    yield f"{STATE}|{self.names[parameter]}|{what}", tensor

    def remember(self, tensors: dict[str, Tensor]) -> None:
        """Take back what `tensors` gave; the tensors are on the parameters' devices."""
        for optimizer in self.each:
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    prefix = f"{STATE}|{self.names[parameter]}|"
                    optimizer.state[parameter] = {
                        name.removeprefix(prefix): tensor
                        for name, tensor in tensors.items()
                        if name.startswith(prefix)
                    }


def share_of(step: int, steps: int, warmup: int) -> float:
    """Return the share of the learning rate at an update, counted from 0.

    It rises over `warmup` updates and falls linearly to 0, which the update after the last has.
    """
    return min(1.0, (step + 1) / (warmup + 1)) * (1 - step / steps)
