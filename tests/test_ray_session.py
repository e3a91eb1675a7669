"""Tests when a session starts or joins Ray and leaves it, with a stand-in for the package."""

from __future__ import annotations

import signal
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from gradeschool.errors import GradeschoolError, InputError, MissingExtraError
from gradeschool.ray_session import ray_session


class RayError(Exception):
    """As Ray's: what all its failures are."""


class RayTaskError(RayError):
    """As Ray's: a task raised; `cause` is its exception."""

    def __init__(self, cause: Exception | None) -> None:
        super().__init__("task failed")
        self.cause = cause


class Ray(ModuleType):
    """A stand-in for the package `ray`: it notes how it is started, and takes SIGTERM over."""

    def __init__(self, failure: Exception | None = None) -> None:
        super().__init__("ray")
        self.__spec__ = ModuleSpec("ray", None, origin="memory")
        self.exceptions = SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)
        self.failure = failure
        self.running = False
        self.started: list[dict[str, Any]] = []

    def is_initialized(self) -> bool:
        """Whether it runs."""
        return self.running

    def init(self, **options: Any) -> None:
        """Start, or fail."""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        self.started.append(options)
        if self.failure:
            raise self.failure
        self.running = True

    def shutdown(self) -> None:
        """Stop."""
        self.running = False


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> Ray:
    """The stand-in, as the installed package."""
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    stand_in = Ray()
    monkeypatch.setitem(sys.modules, "ray", stand_in)
    return stand_in


def test_a_session_without_ray_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setattr("gradeschool.errors.is_installed", lambda _: False)
    with pytest.raises(MissingExtraError, match=r"gradeschool\[cluster\]"), ray_session():
        pass


def test_a_ray_of_this_machine_ends_with_the_block(ray: Ray) -> None:
    with ray_session(num_cpus=2) as module:
        assert module is ray
        assert ray.running
    assert not ray.running
    assert ray.started[0].items() >= {"num_cpus": 2, "include_dashboard": False}.items()


def test_a_ray_that_already_runs_goes_on(ray: Ray) -> None:
    ray.running = True
    with ray_session():
        pass
    assert ray.running
    assert ray.started == []


def test_a_cluster_is_joined_without_the_options_of_a_local_ray(
    ray: Ray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.1:6379")
    with ray_session(num_cpus=2):
        pass
    assert not {"num_cpus", "include_dashboard"} & set(ray.started[0])


def test_our_own_error_in_a_task_is_raised_as_it_is(ray: Ray) -> None:
    with pytest.raises(InputError, match="no such file"), ray_session():
        raise RayTaskError(InputError("no such file"))
    assert not ray.running


def test_a_failure_of_ray_is_its_last_line_with_the_advice(ray: Ray) -> None:
    message = "A worker died.\n  at place 1\nThe node was lost.\n"
    with (
        pytest.raises(GradeschoolError) as caught,
        ray_session("; run the same command again"),
    ):
        raise RayError(message)
    assert str(caught.value) == "Ray failed: The node was lost.; run the same command again"
    assert not ray.running
