"""Tests that the start of a story, changed as its words say, leads to the end that is told."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from tests.support.fresh_questions import Facts, Rules, answer, reckon

Change = Callable[[Fraction], Fraction]


def happens(facts: Facts, change: Change) -> None:
    facts.setdefault("changes", []).append(change)


def gains(facts: Facts, count: Fraction, each: Fraction | int = 1) -> None:
    happens(facts, lambda have: have + count * each)


def loses(facts: Facts, count: Fraction, each: Fraction | int = 1) -> None:
    happens(facts, lambda have: have - (have * count if count < 1 else count * each))


def named(facts: Facts, name: str) -> None:
    facts["name"] = name


def gives(facts: Facts, giver: str, receiver: str, count: Fraction) -> None:
    own = {facts["name"], "he", "she", "He", "She"}
    (loses if giver in own else gains)(facts, count)
    assert giver in own or receiver in {facts["name"], "him", "her"}


def ended(facts: Facts, end: Fraction) -> None:
    facts["end"] = end


def start(facts: Facts) -> Fraction:
    """The one start that leads to the end: every change is linear in it."""

    def end_of(start: Fraction) -> Fraction:
        for change in facts["changes"]:
            start = change(start)
        return start

    of_none, of_one = end_of(Fraction(0)), end_of(Fraction(1))
    end: Fraction = facts["end"]
    return (end - of_none) / (of_one - of_none)


RULES: Rules = {
    "& (?:{have}|{start} with) some _": named,
    "At first, & {have} some _": named,
    "(?:In the end, |After that, )?& {have} # _(?: in the end)?": lambda facts, _, end: ended(
        facts, end
    ),
    "@ (?:{get}|{buy}|{give} @) as many new _ as @ already {have}": lambda facts: happens(
        facts, lambda have: 2 * have
    ),
    "@ (?:{buy}|{get}) # more _": gains,
    "@ {buy} # boxes with # _ in each box": gains,
    "@ (?:{buy}|{get}) # boxes of # _ each": gains,
    "@ {give} # _ to each of # friends": loses,
    "@ {give} # _ each to # friends": loses,
    "To each of # friends, @ {give} # _": loses,
    "@ (?:{give}|{sell}) (?:away )?# of ~ _": loses,
    "@ {lose} # _": loses,
    "@ {give} # _ to @": loses,
    "& {give} & # _": gives,
    "How many _ {do} @ have at first": lambda facts: answer(facts, start(facts)),
    "With how many _ {do} @ start": lambda facts: answer(facts, start(facts)),
    "Find the number of _ that @ {have} at first": lambda facts: answer(facts, start(facts)),
    "How many more _ {do} @ have at first than in the end": lambda facts: answer(
        facts, start(facts) - facts["end"]
    ),
    "(?:At first, )?how many more _ {do} @ have than in the end": lambda facts: answer(
        facts, start(facts) - facts["end"]
    ),
    "How many _ fewer than at first {do} @ have in the end": lambda facts: answer(
        facts, start(facts) - facts["end"]
    ),
}


@pytest.mark.slow
def test_the_gold_changed_as_the_question_says_is_the_end() -> None:
    reckoning = reckon("backward", RULES)
    assert (reckoning.understood, reckoning.wrong, reckoning.unread) == (300, [], [])
