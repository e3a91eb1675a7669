"""Every package's golden cases, and that every package has them and says where it comes from."""

from __future__ import annotations

from collections import Counter
from types import ModuleType

import pytest

from gradeschool.problem import Problem
from gradeschool.protocols.card import read_source
from gradeschool.protocols.registry import all_scorers, get_scorer, packages
from gradeschool.verdict import Outcome
from tests.peers.golden import (
    NAME,
    PACKAGES,
    REPOSITORY,
    golden_cases,
    package_folders,
)
from tests.peers.views import View, missing_extra, view

CASES = golden_cases()
LEAST = 10  # cases of a scorer
LINES = 80  # of a SOURCE.md: one screen
SAYS = {
    "correct": Outcome.CORRECT,
    "wrong": Outcome.WRONG,
    "nothing read": Outcome.NO_ANSWER,
    "error": Outcome.ERROR,
}


@pytest.mark.parametrize("package", package_folders())
def test_golden(package: str) -> None:
    """Every case of a harness has the verdict and the answer that the real harness gave."""
    differences = []
    for case in CASES:
        if case.package != package:
            continue
        for name, verdict in case.verdicts.items():
            scorer = get_scorer(name)
            if missing_extra(scorer):
                continue
            ours = view(scorer, case.completion, case.problem)
            expected = View(verdict, case.read.get(name, ours.read))
            if ours != expected:
                differences.append((case.id, name, ours, expected))
    assert not differences


@pytest.mark.parametrize("package", packages(), ids=lambda package: package.__name__)
def test_quirks_of_the_sources(package: ModuleType) -> None:
    for quirk in read_source(package).quirks:
        scorer = get_scorer(quirk["scorer"])
        if not missing_extra(scorer):
            verdict = scorer.judge(quirk["completion"], Problem.from_gold(quirk["gold"]))
            assert verdict.outcome == SAYS[quirk["says"]], quirk


def test_every_golden_file_is_sound() -> None:
    """It is read, names each case once, and holds the scorers of its own package alone."""
    files = {
        path for top in ("src", "tests") for path in (REPOSITORY / top).rglob("*golden*.json*")
    }
    assert files == {PACKAGES / package / NAME for package in {case.package for case in CASES}}
    ids = Counter((case.package, case.id) for case in CASES)
    assert [id for id, count in ids.items() if count > 1] == []
    own = {
        scorer.name: module.__name__.rpartition(".")[2]
        for module in packages()
        for scorer in getattr(module, "SCORERS", ())
    }
    assert {(own[name], case.package) for case in CASES for name in case.verdicts} == {
        (package, package) for package in {case.package for case in CASES}
    }


def test_every_scorer_has_golden_cases() -> None:
    verdicts: dict[str, list[bool | str]] = {name: [] for name in all_scorers()}
    for case in CASES:
        for name, verdict in case.verdicts.items():
            verdicts[name].append(verdict)
    assert [name for name, said in verdicts.items() if len(said) < LEAST] == []
    assert [name for name, said in verdicts.items() if not {True, False} <= set(said)] == []


def test_every_package_says_where_it_comes_from() -> None:
    sources = {package: PACKAGES / package / "SOURCE.md" for package in package_folders()}
    lines = {name: len(path.read_text("utf-8").splitlines()) for name, path in sources.items()}
    assert {name for name, count in lines.items() if count > LINES} == set(), "longer than a screen"
    assert set(lines) == {module.__name__.rpartition(".")[2] for module in packages()}
