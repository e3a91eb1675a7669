"""Tests what the program of a child process answers to the functions that it calls."""

from __future__ import annotations

import pytest

from gradeschool.worker import Child
from tests.support.child_functions import POSIX, failures
from tests.support.child_functions import child as child  # a fixture
from tests.support.child_functions import module as module  # a fixture


def test_an_exception_costs_one_row_and_no_process(child: Child, module: str) -> None:
    answers = child.answers(f"{module}:act", [("raise",), ("print",), ("tell",)])
    assert failures(answers) == ["KeyError: 'what'"]
    assert answers[1:] == ["print", ["0", False]]


def test_an_exit_costs_one_row(child: Child, module: str) -> None:
    answers = child.answers(f"{module}:act", [("exit",), ("a",)])
    assert failures(answers) == ["the process died with exit status 1"]
    assert answers[1] == "a"


@POSIX
def test_memory_is_bounded(child: Child, module: str) -> None:
    [why] = failures(child.answers(f"{module}:act", [("take memory",)]))
    assert "MemoryError" in why


@pytest.mark.parametrize("function", ["no_such_module_here:f", "json:no_such_function"])
def test_a_function_that_does_not_exist_is_a_failure(child: Child, function: str) -> None:
    answers = child.answers(function, [("a",), ("b",)])
    assert len(failures(answers)) == 2
    assert "cannot be used" in failures(answers)[0]
