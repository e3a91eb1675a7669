"""Stand-ins for libraries that are not installed here, so that our modules for them are imported.

Each holds the names that our modules import. tests/peers runs the same modules with the libraries.
"""

import enum
import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest


def lend(monkeypatch: pytest.MonkeyPatch, modules: Mapping[str, Mapping[str, object]]) -> None:
    """Make modules importable that have these members and no others."""
    for name, members in modules.items():
        module = ModuleType(name)
        vars(module).update(members)
        monkeypatch.setitem(sys.modules, name, module)


@contextmanager
def imported_anew(*names: str) -> Iterator[list[Any]]:
    """Yield modules of ours that are imported now, and forget them afterwards."""
    for name in names:
        sys.modules.pop(name, None)
    try:
        yield [importlib.import_module(name) for name in names]
    finally:
        for name in names:
            sys.modules.pop(name, None)


class MoveDirectionality(enum.Enum):
    """How a row of the batch moves; as in vllm/v1/sample/logits_processor/interface.py."""

    UNIDIRECTIONAL = enum.auto()
    SWAP = enum.auto()


def lend_vllm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lend vLLM; its parameters keep what they are given."""
    processors = {
        "LogitsProcessor": type("LogitsProcessor", (), {}),
        "MoveDirectionality": MoveDirectionality,
    }
    kinds = SimpleNamespace(FINAL_ONLY="final only")
    lend(
        monkeypatch,
        {
            "vllm": {"SamplingParams": SimpleNamespace},
            "vllm.sampling_params": {"RequestOutputKind": kinds},
            "vllm.v1": {},
            "vllm.v1.sample": {},
            "vllm.v1.sample.logits_processor": processors,
        },
    )


class Score(SimpleNamespace):
    """A score of inspect_ai 0.3.285."""

    model_fields = ("value", "answer", "reason", "explanation", "metadata")


def lend_inspect(monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[..., Any]]:
    """Lend inspect_ai, and return what our modules register with it by name.

    Samples, messages, tasks and scores keep what they are given.
    """
    pytest.importorskip("anyio", reason="inspect_ai brings it")
    registered: dict[str, Callable[..., Any]] = {}

    def scorer(metrics: object, name: str = "") -> Callable[[Any], Any]:
        return lambda factory: registered.setdefault(name or factory.__name__, factory)

    def task(factory: Any) -> Any:
        return registered.setdefault(factory.__name__, factory)

    def message(role: str) -> Callable[..., tuple[str, str]]:
        return lambda content: (role, content)

    scoring: dict[str, object] = {"CORRECT": "C", "INCORRECT": "I", "NOANSWER": "N"}
    scoring |= {"Score": Score, "Scorer": object, "Target": list, "scorer": scorer}
    lend(
        monkeypatch,
        {
            "inspect_ai": {"Task": SimpleNamespace, "task": task},
            "inspect_ai.dataset": {
                "MemoryDataset": lambda samples, name: samples,
                "Sample": SimpleNamespace,
                "hf_dataset": None,
            },
            "inspect_ai.model": {
                "ChatMessage": object,
                "ChatMessageAssistant": message("assistant"),
                "ChatMessageSystem": message("system"),
                "ChatMessageUser": message("user"),
                "GenerateConfig": SimpleNamespace,
            },
            "inspect_ai.scorer": scoring | {"accuracy": object, "stderr": object},
            "inspect_ai.solver": {"TaskState": object, "generate": object},
        },
    )
    return registered
