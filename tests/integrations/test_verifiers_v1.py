"""Tests the taskset gsm8k-olmes, with a stand-in for verifiers: its tasks, reward and metric."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from gradeschool import load_dataset
from gradeschool.integrations.verifiers import rows
from tests.support.lent_modules import imported_anew, lend_verifiers


class Taskset(NamedTuple):
    """The module, and the weights of its rewards."""

    module: Any
    weights: dict[str, float | None]


@pytest.fixture
def taskset(monkeypatch: pytest.MonkeyPatch) -> Iterator[Taskset]:
    """The module, imported with the names of verifiers."""
    weights = lend_verifiers(monkeypatch)
    with imported_anew("gradeschool.integrations.verifiers_v1") as [module]:
        yield Taskset(module, weights)


def task(taskset: Taskset, answer: str, question: str = "") -> Any:
    """A task of one problem."""
    data = taskset.module.Gsm8kOlmesData(answer=answer, question=question)
    return taskset.module.Gsm8kOlmesTask(data)


@pytest.mark.usefixtures("data")
def test_there_is_a_task_for_each_problem_in_order(taskset: Taskset) -> None:
    settings = taskset.module.Gsm8kOlmesConfig(dataset="sample", task="settings of tasks")
    tasks = list(taskset.module.Gsm8kOlmes(settings).load())
    problems, expected = load_dataset("sample").problems, rows("sample")
    assert [(one.data.id, one.data.answer, one.data.question) for one in tasks] == [
        (problem.id, problem.gold, problem.question) for problem in problems
    ]
    assert [one.data.prompt for one in tasks] == [row["prompt"] for row in expected]
    assert {one.config for one in tasks} == {"settings of tasks"}
    assert taskset.module.Gsm8kOlmesConfig.dataset == "gsm8k"


@pytest.mark.parametrize(
    ("said", "answer", "rewarded", "read"),
    [
        ("So the answer is 18.", "18", 1.0, 1.0),
        ("<think>18</think> So it is 7.", "18", 0.0, 0.0),
        ("18.00", "18", 0.0, 1.0),
        ("So the answer is 1.5 hours (90 minutes).", "90", 1.0, 1.0),
        ("", "18", 0.0, 0.0),
    ],
)
def test_the_last_number_is_rewarded_and_the_reader_is_a_metric(
    taskset: Taskset, said: str, answer: str, rewarded: float, read: float
) -> None:
    one = task(taskset, answer, "How many minutes does it take?")
    trace = SimpleNamespace(last_reply=said)
    assert asyncio.run(one.exact_match(trace)) == rewarded
    assert asyncio.run(one.reader(trace)) == read
    assert taskset.weights == {"exact_match": 1.0, "reader": None}


def test_a_gold_that_does_not_score_against_itself_is_invalid(taskset: Taskset) -> None:
    assert asyncio.run(task(taskset, "1,250").validate(None)) is True
    assert asyncio.run(task(taskset, "eighteen").validate(None)) is False
