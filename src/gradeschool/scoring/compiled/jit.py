"""The one place where numba is named: `kernel` compiles a function where numba is installed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
# An array, or in tests bytes or a list: whatever gives whole numbers by place.
Places = Any


def _numba() -> Any:
    try:
        import numba
    except ImportError:
        return None
    return numba


NUMBA = _numba()
# Kernels make no arrays: without counting references they are smaller and several times as fast.
OPTIONS = {"nogil": True, "_nrt": False}


def kept(function: F, marker: str) -> tuple[F, Path | None]:
    """Compile a function once for all processes, where a folder for that can be written.

    Also returns the file that says so once the function was called (`keep`), None without a folder.
    """
    if NUMBA is None:
        return function, None
    try:
        compiled = NUMBA.njit(cache=True, **OPTIONS)(function)
    except RuntimeError:  # no folder that can be written
        return kernel(function), None
    return compiled, Path(compiled.stats.cache_path, marker)


def kernel(function: F) -> F:
    """Compile a function when it is first called; without numba it stays as it is."""
    if NUMBA is None:
        return function
    compiled: F = NUMBA.njit(**OPTIONS)(function)
    return compiled
