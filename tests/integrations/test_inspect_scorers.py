"""Tests the scores that inspect_ai gets from our scorers, with a stand-in for the library."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from gradeschool import all_scorers
from gradeschool.errors import InputError
from gradeschool.reports.export_inspect import inspect_scorer_name
from tests.support.inspect_scores import ROWS
from tests.support.lent_modules import Score, imported_anew, lend_inspect


class Scorers(NamedTuple):
    """The module, and what it registers by name."""

    module: Any
    registered: dict[str, Callable[..., Any]]


@pytest.fixture
def scorers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Scorers]:
    """The module, imported with inspect's names."""
    registered = lend_inspect(monkeypatch)
    with imported_anew("gradeschool.integrations.inspect_scorers") as [module]:
        yield Scorers(module, registered)


def state(text: str, stop: str = "stop", **metadata: object) -> SimpleNamespace:
    """A sample that was answered."""
    output = SimpleNamespace(completion=text, stop_reason=stop)
    return SimpleNamespace(output=output, metadata=metadata, sample_id=7, input_text="How many?")


def score(scorer: Any, text: str, gold: str | list[str], stop: str = "stop") -> Any:
    target = [gold] if isinstance(gold, str) else gold  # as inspect's Target lists it
    return asyncio.run(scorer(state(text, stop), target))


@pytest.mark.parametrize(("name", "text", "gold", "stop", "value", "reason"), ROWS)
def test_scores_hold_the_value_and_the_cause_of_a_miss(
    scorers: Scorers,
    name: str,
    text: str,
    gold: str | list[str],
    stop: str,
    value: str,
    reason: str | None,
) -> None:
    scored = score(scorers.registered[name](), text, gold, stop)
    assert (str(scored.value), getattr(scored, "reason", None)) == (value, reason)


def test_a_score_says_what_was_extracted_and_where(scorers: Scorers) -> None:
    right = score(scorers.module.numeric_equality(), "It is 1,250.", "1250")
    assert right.answer == "1250"
    assert right.metadata == {"scorer": "numeric-equality", "outcome": "correct", "span": [6, 12]}
    wrong = score(scorers.module.numeric_equality(), "ANSWER: 711", "11")
    assert "'711' is not '11'" in wrong.explanation
    assert wrong.explanation.endswith("(wrong value)")
    nothing = score(scorers.module.numeric_equality(), "no idea.", "11")
    assert (nothing.answer, set(nothing.metadata)) == (None, {"scorer", "outcome"})


def test_the_best_of_several_targets_counts(scorers: Scorers) -> None:
    reader = scorers.registered["reader"]()
    assert score(reader, "#### 19", ["eleven", "18", "19"]).value == "C"
    assert score(reader, "#### 7", ["eleven", "18", "19"]).value == "I"
    assert score(reader, "no idea.", ["eleven", "18"]).value == "N"
    assert str(score(reader, "#### 19", []).value) == "nan"


def test_an_inspect_without_reasons_gets_none(
    scorers: Scorers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Score, "model_fields", ("value", "answer", "explanation", "metadata"))
    for text, gold in (("ANSWER: 711", "11"), ("ANSWER: 11", "eleven"), ("ANSWER: 11", "11")):
        assert not hasattr(score(scorers.module.numeric_equality(), text, gold), "reason")


def test_a_problem_has_the_question_and_solution_of_the_metadata_or_else_the_input(
    scorers: Scorers,
) -> None:
    given = scorers.module.problem_of(state("", question="Why?", solution="So.\n#### 18"), " 18\n")
    assert (given.id, given.question, given.solution, given.gold) == (
        "7", "Why?", "So.\n#### 18", "18",
    )  # fmt: skip
    bare = scorers.module.problem_of(state("", question=3), " 18\n")
    assert (bare.question, bare.solution, bare.gold) == ("How many?", "#### 18", "18")


def test_names_are_those_of_logs_that_we_write(scorers: Scorers) -> None:
    names = {name: scorers.module.scorer_name(name) for name in all_scorers()}
    assert len(set(names.values())) == len(names)
    assert not any("@" in name or "." in name for name in names.values())
    assert {name: f"gradeschool/{ours}" for name, ours in names.items()} == {
        name: inspect_scorer_name(name) for name in names
    }
    assert {*names.values(), "numeric_equality", "scorer"} == set(scorers.registered)


def test_a_scorer_is_also_found_by_its_published_name(scorers: Scorers) -> None:
    name = "inspect/match-numeric@<=0.3.220"
    named = scorers.registered["scorer"](name)
    assert score(named, "ANSWER: 711", "11").metadata["scorer"] == name
    assert score(scorers.registered["scorer"](), "#### 11", "11").value == "C"
    with pytest.raises(InputError, match="nobody"):
        scorers.registered["scorer"]("nobody")
