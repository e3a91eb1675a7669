"""Names of protocols, scorers and votes; cards; golden cases; the flags that OpenAI published."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from gradeschool.cli.protocols import (
    describe_protocol,
    describe_scorer,
    find_package,
    prompt_difference,
    prompt_lines,
    protocol_differences,
    read_source,
)
from gradeschool.datasets.load import SOURCES
from gradeschool.errors import UnknownNameError
from gradeschool.problem import Problem
from gradeschool.protocols.registry import (
    all_protocols,
    all_scorers,
    all_votes,
    entries_of,
    get_protocol,
    get_scorer,
    get_vote,
    packages,
)
from gradeschool.scorer import Outcome
from tests.peers.golden import NAME, PACKAGES, REPOSITORY, golden_cases, package_folders
from tests.peers.views import View, missing_extra, view
from tests.support.command import run_script


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
    assert set(result.stdout.split()) == {"registry", "extractions", "zero_shot", "gradeschool"}


MODULE = """
from gradeschool.completion import Decoding
from gradeschool.prompts import Template
from gradeschool.protocol import Protocol
from gradeschool import get_scorer
from dataclasses import replace

KNOWN = get_scorer("openai/2021")
SCORERS = (replace(KNOWN, name="outside/marker"), replace(KNOWN, summary="of the plugin"))
PROTOCOLS = (
    Protocol(
        name="outside/short", summary="a question and no more", source="outside.py",
        render=Template(question="Q: {question} A:"), decoding=Decoding(max_tokens=20),
        scorers=("outside/marker", "outside-last"),
    ),
)

def last(completion, gold):
    return completion.split()[-1] if completion.split() else None
"""
ENTRIES = """
[gradeschool.protocols]
outside = outside
[gradeschool.scorers]
outside-last = outside:last
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with the package as pip installs it."""
    (tmp_path / "outside.py").write_text(MODULE)
    about = tmp_path / "outside-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: outside\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(ENTRIES)
    return tmp_path


def test_an_installed_package_adds_a_protocol_and_scorers(site: Path) -> None:
    run, path = site / "run", {"PYTHONPATH": str(site)}
    words = ("-m", "tiny", "-p", "outside/short", "-d", "sample", "-n", 2, "-o", run, "--quiet")
    ended = run_script("eval", *words, "--json", **path)
    assert ended.status == 0, ended.err
    assert list(ended.json()["runs"][0]["scorers"]) == ["outside/marker", "outside-last"]
    assert "outside/short" in run_script("protocols", "list", "outside", **path).out
    scored = run_script("score", run, "--scorer", "outside-last", "openai/2021", "--json", **path)
    assert list(scored.json()["runs"][0]["scorers"]) == ["outside-last", "openai/2021"]
    listed = run_script("protocols", "list", "--all", **path)
    assert (listed.status, "outside/marker" in listed.out) == (0, True)
    assert "of the plugin" not in listed.out  # a built-in name stays that of the built-in scorer
    absent = run_script("eval", *words)
    assert (absent.status, "no protocol is called 'outside/short'" in absent.err) == (2, True)


def test_a_scorer_of_a_package_names_a_text_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "scorers.toml").write_text(
        'summary = "the first number"\n["own/a"]\nsummary = "{summary}, exactly"\nsource = "a"\n'
        'reference = "gold_as_it_is"\nextract = "first_marked"\n'
    )
    package = ModuleType("own")
    package.__path__ = [str(tmp_path)]
    assert entries_of(package, "SCORERS")["own/a"].summary == "the first number, exactly"


@pytest.mark.parametrize("name", ["lm-eval/no", "registry/x", "../registry", "", "no-such/package"])
def test_a_name_of_nothing_is_an_error(name: str) -> None:
    for get in (get_protocol, get_scorer, get_vote):
        with pytest.raises(UnknownNameError):
            get(name)


def test_every_name_has_a_package_and_its_users() -> None:
    for name in all_scorers():
        users = [one.name for one in all_protocols().values() if name in one.scorers]
        assert sorted(describe_scorer(name)["protocols"]) == sorted(users)
    for protocol in all_protocols().values():
        assert find_package(protocol.name) in packages()
        assert protocol.dataset in SOURCES


@pytest.mark.parametrize(
    ("name", "place", "rows"),
    [
        ("lm-eval/gsm8k", "text", 5),
        ("lm-eval/gsm8k+multiturn", "turns", 5),
        ("inspect/gsm8k", "system", 10),
        ("evalscope/gsm8k", "user", 4),
        ("olmes/gsm8k", "text", 8),
        ("zero-shot/chat", None, 0),
    ],
)
def test_where_the_examples_are(name: str, place: str | None, rows: int) -> None:
    card = describe_protocol(all_protocols()[name])
    assert (card["shots"]["place"], len(card["shots"]["rows"])) == (place, rows)
    assert "{question}" in card["prompt"]["question"]
    assert bool(card["prompt"]["shot"]) is bool(rows)
    assert card["shots"]["drawn_for_each_problem"] is name.startswith("lm-eval")


def test_every_package_has_quirks_links_and_versions() -> None:
    sources = [read_source(package) for package in packages()]
    assert sum(len(source.quirks) for source in sources) > 200
    assert sum(bool(source.links) for source in sources) > 18
    assert all(source.verified for source in sources)


def test_chats_are_compared_by_turns() -> None:
    problems = [Problem("0", "How many?", "1", "#### 1")]
    names = ("zero-shot/chat", "verifiers/gsm8k@<=0.3.0")
    cards = [describe_protocol(all_protocols()[name], problems, [], "tiny") for name in names]
    lines = prompt_difference(*cards)
    assert lines[:2] == ["--- zero-shot/chat", "+++ verifiers/gsm8k@<=0.3.0"]
    assert [line[0] for line in lines[3:]] == [" ", "-", "+", " "]
    assert prompt_lines(cards[0]["example"])[2:] == ["[user]", "How many?"]
    assert protocol_differences(cards[0], cards[0]) == {}


CASES = golden_cases()
LEAST = 10  # cases of a scorer
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
        name: module.__name__.rpartition(".")[2]
        for module in packages()
        for name in entries_of(module, "SCORERS")
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
