"""Our scorers beside the definitions that no program at hand runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from gradeschool.problem import Problem
from gradeschool.protocols.registry import get_scorer
from tests.peers.compare import (
    COMPARED,
    Case,
    assert_none,
    localised,
    recorded,
    with_number_golds,
)
from tests.peers.definitions import DEFINITIONS, MGSM_LABELS
from tests.peers.views import peer_view, view

pytestmark = pytest.mark.peers


def unequal(name: str, cases: Sequence[Case]) -> list[str]:
    scorer, define = get_scorer(name), DEFINITIONS[name]
    lines = []
    for case in cases:
        theirs = peer_view(name, define(case.completion, case.problem.gold))
        ours = view(scorer, case.completion, case.problem)
        if ours != theirs:
            lines.append(f"{name}: ours {ours}, defined {theirs}: {case.completion[-200:]!r}")
    COMPARED[f"verdicts of the definition of {name}"] += len(cases)
    return lines


@pytest.mark.parametrize("name", DEFINITIONS)
def test_recorded_completions_get_the_same_verdicts(
    name: str, data: Path, gsm8k_test: Sequence[Problem]
) -> None:
    assert_none(unequal(name, recorded(data, gsm8k_test)))


@pytest.mark.parametrize("name", DEFINITIONS)
def test_invented_completions_get_the_same_verdicts(name: str, invented: list[Case]) -> None:
    assert_none(unequal(name, with_number_golds(invented)))


@pytest.mark.parametrize("language", MGSM_LABELS)
def test_completions_in_eleven_languages_get_the_same_verdicts(
    language: str, data: Path, gsm8k_test: Sequence[Problem]
) -> None:
    cases = localised(recorded(data, gsm8k_test), f"{MGSM_LABELS[language]}:")
    assert_none(unequal(f"simple-evals/mgsm-{language}", cases))
