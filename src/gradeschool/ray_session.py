"""A session of Ray, for scoring."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gradeschool.errors import GradeschoolError, InputError, require_packages
from gradeschool.signals import keeping_handler

MESSAGE_CHARACTERS = 300  # of Ray's own error message


@contextmanager
def ray_session(advice: str = "", **local: Any) -> Iterator[Any]:
    """Join a running Ray, at RAY_ADDRESS if set, or start one on this machine for the block.

    Yields the module. advice: what to do if Ray fails, added to the message. local: further options
    of a Ray that is started here. Raises MissingExtraError without ray, InputError if no Ray
    answers at RAY_ADDRESS, our own errors as tasks raise them, and GradeschoolError if a task or
    Ray fails.
    """
    require_packages("--engine ray", "cluster", "ray")
    import ray

    is_started_here = not ray.is_initialized()
    if is_started_here:
        address = os.environ.get("RAY_ADDRESS")
        options = {} if address else {"include_dashboard": False, **local}
        try:
            with keeping_handler(signal.SIGTERM):
                ray.init(log_to_driver=False, logging_level="ERROR", **options)
        except (ConnectionError, ValueError) as error:
            raise InputError(f"cannot join Ray at RAY_ADDRESS={address!r}: {error}") from error
    try:
        yield ray
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, GradeschoolError):
            raise error.cause from None
        raise GradeschoolError(f"a task on Ray failed: {error.cause or error}") from error
    except ray.exceptions.RayError as error:
        message = str(error).strip().rpartition("\n")[2].strip()
        raise GradeschoolError(f"Ray failed: {message[-MESSAGE_CHARACTERS:]}{advice}") from error
    finally:
        if is_started_here:
            ray.shutdown()
