"""The machine: cores that this process may use, a device for models, free memory."""

from __future__ import annotations

import os
from pathlib import Path


def cores() -> int:
    """Return the number of cores that this process may use."""
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1


def best_device() -> str:
    """Return the device for models, as torch names it: a GPU if there is one."""
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def free_memory() -> int | None:
    """Return the free memory in bytes, None if the system does not report it."""
    try:
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if "MemAvailable" in line)
    except (OSError, ValueError, StopIteration):
        return None
