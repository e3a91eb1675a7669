"""Datasets that tests load."""

from collections.abc import Iterator

import pytest

from gradeschool.datasets import load


@pytest.fixture(autouse=True)
def forget_loaded() -> Iterator[None]:
    """Let no test see what another one loaded."""
    load._load_source.cache_clear()
    yield
    load._load_source.cache_clear()
