"""Train the tiny model with a fixed number of AdamW steps."""

from collections.abc import Iterator
from typing import Any

STEPS = 400
TOKENS_PER_STEP = 2048
# Long rows teach the positions that few-shot prompts need.
ROW_TOKENS, LONG_ROW_TOKENS, LONG_ROW_EVERY = 256, 2048, 10
LEARNING_RATE, LAST_SHARE, WARMUP_STEPS = 3e-3, 0.02, 20
BETAS, WEIGHT_DECAY, CLIP = (0.9, 0.95), 0.1, 1.0


def train(model: Any, tokens: Any) -> None:
    """Train `model` in place for `STEPS` steps on the one long row `tokens`."""
    import torch

    # Halves the time on processors with native bfloat16; others only emulate it.
    fast = bool(torch.cpu.get_capabilities().get("avx512_bf16"))
    optimizer = torch.optim.AdamW(
        model.parameters(), betas=BETAS, weight_decay=WEIGHT_DECAY, fused=True
    )
    for step, (inputs, targets) in enumerate(_batches(tokens)):
        decay = max(LAST_SHARE, 1 - step / STEPS)
        optimizer.param_groups[0]["lr"] = LEARNING_RATE * min(1, (step + 1) / WARMUP_STEPS) * decay
        with torch.autocast("cpu", torch.bfloat16, enabled=fast):
            logits = model(inputs, use_cache=False).logits
        rows = logits.float().flatten(0, 1)
        loss: Any = torch.nn.functional.cross_entropy(rows, targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimizer.step()


def _batches(tokens: Any) -> Iterator[tuple[Any, Any]]:
    """Yield `STEPS` pairs of inputs and next tokens of equal size, cycling through the text."""
    start = 0
    for step in range(1, STEPS + 1):
        if start + TOKENS_PER_STEP >= len(tokens):
            start = 0
        piece = tokens[start : start + TOKENS_PER_STEP + 1]
        length = ROW_TOKENS if step % LONG_ROW_EVERY else LONG_ROW_TOKENS
        yield piece[:-1].view(-1, length), piece[1:].view(-1, length)
        start += TOKENS_PER_STEP
