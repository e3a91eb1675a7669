"""The machine: cores that this process may use, a device for models, memory in bytes."""

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
    """Return the free memory, None if the system does not report it (other systems than Linux)."""
    return _bytes_in("/proc/meminfo", "MemAvailable")


def memory_of_process(field: str = "VmRSS") -> int | None:
    """Return the memory of this process, or with "VmHWM" its maximum so far; see `free_memory`."""
    return _bytes_in("/proc/self/status", field)


def machine_memory(device: str) -> int | None:
    """Return the memory of a device, None if the system does not report it."""
    if device != "cpu":
        import torch

        return int(torch.cuda.get_device_properties(device).total_memory)
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _bytes_in(path: str, field: str) -> int | None:
    try:
        lines = Path(path).read_text("ascii").splitlines()
        [line] = [line for line in lines if line.startswith(f"{field}:")]
        return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        return None
