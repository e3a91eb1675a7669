"""Names of protocols, scorers and votes; cards; golden cases; scorers that call a library."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from gradeschool import judge
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
from gradeschool.errors import MissingExtraError, UnknownNameError
from gradeschool.problem import Problem
from gradeschool.protocols import registry
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
from gradeschool.scoring.table import choose_scorers
from tests.peers.golden import NAME, PACKAGES, REPOSITORY, golden_cases, package_folders
from tests.peers.views import View, missing_extra, view
from tests.support.command import Command, run_script
from tests.support.outcomes import judge_against, outcomes_of


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


LIBRARY = [scorer for scorer in all_scorers().values() if scorer.extra]
NAMES = [scorer.name for scorer in LIBRARY if scorer.extra == "math-verify"]
needs_library = pytest.mark.skipif(
    bool(missing_extra(get_scorer("math-verify/default"))),
    reason="Math-Verify is not installed: pip install 'gradeschool[math-verify]'",
)


@needs_library
def test_many_at_once_have_the_verdicts_of_single_questions() -> None:
    scorer, again = get_scorer("math-verify/default"), get_scorer("math-verify/boxed-gold")
    pairs = [(f"\\boxed{{{number}}} or {number % 7}", "3") for number in range(300)]
    single = [judge_against(scorer, *pair).outcome for pair in pairs]
    assert outcomes_of(scorer, pairs) == single
    assert outcomes_of(again, pairs[::-1]) == single[::-1]


@needs_library
@pytest.mark.parametrize("name", NAMES)
def test_no_text_is_run_and_each_has_an_outcome(name: str, tmp_path: Path) -> None:
    """`parse_expr` runs Python; only digits and operators may reach it."""
    mark = tmp_path / "ran"
    code = f"__import__('pathlib').Path({str(mark)!r}).touch()"
    attacks = (code, f"The answer is {code}", f"\\boxed{{{code}}}", f"#### 1+{code}", f"x={code}")
    strange = ("", "\0#### 18\0", "\ud800 #### 18 \udfff", "\u2028", "\\boxed{}", "\\boxed{,}")
    for text in (*attacks, *strange):
        verdict = judge(text, "18", scorer=name)
        assert verdict.outcome in Outcome
        if verdict.answer is not None and verdict.answer.span is not None:
            start, end = verdict.answer.span
            assert text[start:end] == verdict.answer.text
    assert not mark.exists()


def without(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the optional library look uninstalled."""
    monkeypatch.setattr(registry, "is_installed", lambda _: False)
    registry.get_usable_scorer.cache_clear()


def test_without_the_library_the_other_scorers_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch)
    assert not [scorer for scorer in choose_scorers(["all"]) if scorer.extra]
    for ask in (
        lambda: choose_scorers(["trl/accuracy-reward"]),
        lambda: judge("#### 18", 18, scorer="trl/accuracy-reward"),
    ):
        with pytest.raises(MissingExtraError, match=r"pip install 'gradeschool\[math-verify\]'"):
            ask()
    assert judge("#### 18", 18, scorer="openai/2021").correct


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """One completion."""
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps({"index": 0, "completion": "#### 600"}) + "\n", "utf-8")
    return path


def test_score_says_what_is_left_out(gradeschool: Command, file: Path) -> None:
    without(gradeschool.monkeypatch)
    score = ("score", file, "-d", "sample", "--json")
    everything = gradeschool.done(*score, "--scorer", "all")
    assert everything.err.count("not installed") == 1
    assert f"{len(LIBRARY)} scorers that call a library are not installed" in everything.err
    assert "pip install 'gradeschool[inspect-ai,math-verify]'" in everything.err
    assert "not installed" not in gradeschool(*score).err
    said = gradeschool.refused(*score, "--scorer", "evalscope/gsm8k")
    assert "'evalscope/gsm8k' needs an extra: pip install" in said
