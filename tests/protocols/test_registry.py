"""Names of protocols, scorers and votes: found in the package that they begin with, or in any."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from importlib import metadata
from types import SimpleNamespace

import pytest

from gradeschool.errors import UnknownNameError
from gradeschool.protocols import registry
from gradeschool.protocols.registry import (
    all_protocols,
    all_scorers,
    all_votes,
    get_protocol,
    get_scorer,
    get_vote,
)


def test_a_name_is_the_same_object_however_it_is_found() -> None:
    for name, protocol in all_protocols().items():
        assert get_protocol(name) is protocol
    for name, scorer in all_scorers().items():
        assert get_scorer(name) is scorer
    for name, vote in all_votes().items():
        assert get_vote(name) is vote


def test_one_protocol_and_its_scorers_read_no_other_package() -> None:
    code = (
        "import sys; from gradeschool.protocols.registry import get_protocol, get_scorer; "
        "scorers = get_protocol('zero-shot/chat').scorers; [get_scorer(name) for name in scorers]; "
        "print(*(name.split('.')[2] for name in sys.modules"
        " if name.startswith('gradeschool.protocols.')))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    )
    assert set(result.stdout.split()) == {"registry", "zero_shot", "gradeschool"}


def test_an_installed_package_adds_protocols_and_scorers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    protocol = replace(all_protocols()["zero-shot/chat"], name="mine/chat")
    scorer = replace(get_scorer("openai/2021"), name="mine/scorer")
    package = SimpleNamespace(
        __name__="mine", __file__=None, SCORERS=(scorer,), PROTOCOLS=(protocol,)
    )
    entry = SimpleNamespace(load=lambda: package)
    cached = (registry.packages, registry._entries, get_scorer)
    monkeypatch.setattr(metadata, "entry_points", lambda group: [entry])
    for function in cached:
        function.cache_clear()
    try:
        assert get_protocol("mine/chat") is protocol
        assert get_scorer("mine/scorer") is scorer
    finally:
        monkeypatch.undo()
        for function in cached:
            function.cache_clear()


@pytest.mark.parametrize("name", ["lm-eval/no", "registry/x", "../registry", "", "no-such/package"])
def test_a_name_of_nothing_is_an_error(name: str) -> None:
    for get in (get_protocol, get_scorer, get_vote):
        with pytest.raises(UnknownNameError):
            get(name)
