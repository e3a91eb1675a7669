"""Every package's golden cases, and that every package has them and says where it comes from."""

from __future__ import annotations

from collections import Counter

import pytest

from gradeschool.problem import Problem
from gradeschool.protocols.registry import all_scorers, get_scorer, packages
from gradeschool.verdict import Outcome
from tests.peers.golden import (
    NAME,
    PACKAGES,
    REPOSITORY,
    Golden,
    Quirk,
    golden_cases,
    package_folders,
    quirks,
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


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.package}-{case.id}")
def test_golden(case: Golden) -> None:
    if reasons := {missing_extra(get_scorer(name)) for name in case.verdicts} - {""}:
        pytest.skip("; ".join(sorted(reasons)))
    for name, verdict in case.verdicts.items():
        ours = view(get_scorer(name), case.completion, case.problem)
        assert ours == View(verdict, case.read.get(name, ours.read)), (name, case.source)


@pytest.mark.parametrize("quirk", quirks(), ids=lambda quirk: f"{quirk.scorer}-{quirk.completion}")
def test_quirks_of_the_sources(quirk: Quirk) -> None:
    if reason := missing_extra(get_scorer(quirk.scorer)):
        pytest.skip(reason)
    outcome = (
        get_scorer(quirk.scorer).judge(quirk.completion, Problem.from_gold(quirk.gold)).outcome
    )
    assert SAYS[quirk.says] == outcome, quirk


def test_every_golden_file_is_read() -> None:
    files = {
        path for top in ("src", "tests") for path in (REPOSITORY / top).rglob("*golden*.json*")
    }
    read = {PACKAGES / package / NAME for package in {case.package for case in CASES}}
    assert files == read


def test_ids_are_unique_in_a_package() -> None:
    twice = [
        id for id, count in Counter((case.package, case.id) for case in CASES).items() if count > 1
    ]
    assert not twice


@pytest.mark.parametrize("name", all_scorers())
def test_every_scorer_has_golden_cases(name: str) -> None:
    verdicts = [case.verdicts[name] for case in CASES if name in case.verdicts]
    assert len(verdicts) >= LEAST, f"{name} has {len(verdicts)} golden cases"
    assert {True, False} <= set(verdicts), f"the golden cases of {name} all have one verdict"


def test_every_case_is_of_its_own_package() -> None:
    package_of = {
        scorer.name: module.__name__.rpartition(".")[2]
        for module in packages()
        for scorer in module.SCORERS
    }
    stray = [
        (case.package, name)
        for case in CASES
        for name in case.verdicts
        if package_of[name] != case.package
    ]
    assert not stray


@pytest.mark.parametrize("package", package_folders())
def test_every_package_says_where_it_comes_from(package: str) -> None:
    source = PACKAGES / package / "SOURCE.md"
    assert source.is_file(), f"the package {package} has no SOURCE.md"
    assert len(source.read_text("utf-8").splitlines()) <= LINES, "longer than a screen"


@pytest.mark.parametrize("package", package_folders())
def test_every_package_of_the_sources_is_installed(package: str) -> None:
    assert package in {module.__name__.rpartition(".")[2] for module in packages()}
