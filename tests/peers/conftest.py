"""Fixtures for the comparison with real harnesses, and its closing lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.peers.compare import COMPARED, Case
from tests.peers.install import missing
from tests.peers.invented import invented_cases, invented_words
from tests.peers.peer import Peer

Start = Callable[[str], Peer]


@pytest.fixture(scope="session")
def peers() -> Iterator[Start]:
    """A function that returns the running peer of that name, or skips where it is not installed."""
    running: dict[str, Peer] = {}
    with ExitStack() as stack:

        def start(name: str) -> Peer:
            if reason := missing(name):
                pytest.skip(reason)
            if name not in running:
                running[name] = stack.enter_context(Peer(name))
            return running[name]

        yield start


@pytest.fixture(scope="session")
def invented() -> list[Case]:
    """Completions that hypothesis invented, the same in every run."""
    return invented_cases()


@pytest.fixture(scope="session")
def words() -> list[str]:
    """Words that may be read as numbers, the same in every run."""
    return invented_words()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how much was compared."""
    if COMPARED:
        terminalreporter.section("compared with the real harnesses")
        for what, count in sorted(COMPARED.items()):
            terminalreporter.write_line(f"{count:>9,} {what}")
        terminalreporter.write_line(f"{sum(COMPARED.values()):>9,} in all")
