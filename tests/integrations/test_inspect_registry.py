"""Tests that inspect_ai finds every task and scorer of ours by the entry point."""

from __future__ import annotations

from importlib.metadata import entry_points

import pytest

from tests.support.lent_modules import imported_anew, lend_inspect


def test_the_entry_point_imports_all_that_is_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    registered = lend_inspect(monkeypatch)
    [entry] = entry_points(group="inspect_ai", name="gradeschool")
    ours = ("inspect_scorers", "inspect_tasks", "inspect_registry")
    with imported_anew(*(f"gradeschool.integrations.{name}" for name in ours)):
        module = entry.load()
    exported = {name: getattr(module, name) for name in module.__all__}
    factories = [*exported.pop("SCORERS").values(), *exported.values()]
    assert {"gsm8k", "aime2025", "numeric_equality"} <= set(exported)
    assert set(map(id, factories)) == set(map(id, registered.values()))
