"""Tests that the ages in a question lead to its gold."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest

from gradeschool.datasets.fresh import fresh_problems
from tests.support.fresh_questions import Facts, Rules, answer, reckon, relate


def older(facts: Facts, first: str, years: Fraction, second: str) -> None:
    relate(facts, first, second, lambda age: age + years, lambda age: age - years)


def times(facts: Facts, first: str, factor: Fraction, second: str) -> None:
    relate(facts, first, second, lambda age: age * factor, lambda age: age / factor)


def both(facts: Facts, first: str, second: str, third: str) -> None:
    facts[first] = facts[second] + facts[third]


def gap(facts: Facts, elder: str, younger: str) -> None:
    answer(facts, facts[elder] - facts[younger])


def total(facts: Facts, names: str, *_: str) -> None:
    answer(facts, sum(facts[name] for name in names.replace(" and", ",").split(", ")))


RULES: Rules = {
    "& is # years old(?: now)?": lambda facts, name, age: facts.update({name: age}),
    "[Tt]he age of & is #": lambda facts, name, age: facts.update({name: age}),
    "In # years, & will be # years old": lambda facts, k, name, n: facts.update({name: n - k}),
    "In # years, the age of & will be #": lambda facts, k, name, n: facts.update({name: n - k}),
    "& will be # years old in # years": lambda facts, name, n, k: facts.update({name: n - k}),
    "# years ago, & was # years old": lambda facts, k, name, n: facts.update({name: n + k}),
    "# years ago, the age of & was #": lambda facts, k, name, n: facts.update({name: n + k}),
    "& was # years old # years ago": lambda facts, name, n, k: facts.update({name: n + k}),
    "& is # years older than &": older,
    "& is older than & by # years": lambda facts, a, b, k: older(facts, a, k, b),
    "& is # years younger than &": lambda facts, a, k, b: older(facts, b, k, a),
    "& is younger than & by # years": lambda facts, a, b, k: older(facts, b, k, a),
    "& is (?:now )?#(?: times)? as old as &": times,
    "[Tt]he age of & is #(?: times| of)? the age of &": times,
    "& is as old as & and & together": both,
    "[Tt]he age of & is the sum of the ages of & and &": both,
    "& and & together are as old as &": lambda facts, b, c, a: both(facts, a, b, c),
    "How old is &(?: now,)? in years": lambda facts, name: answer(facts, facts[name]),
    "How many years old is &": lambda facts, name: answer(facts, facts[name]),
    "How (?:old|many years old) will & be in # years": lambda facts, name, k: answer(
        facts, facts[name] + k
    ),
    "In # years, how old will & be": lambda facts, k, name: answer(facts, facts[name] + k),
    "How (?:old|many years old) was & # years ago": lambda facts, name, k: answer(
        facts, facts[name] - k
    ),
    "# years ago, how old was &": lambda facts, k, name: answer(facts, facts[name] - k),
    "(?:What is|Find) the sum of the ages of & and &(?: in years)?": lambda facts, a, b: answer(
        facts, facts[a] + facts[b]
    ),
    "How many years old are & and & together": lambda facts, a, b: answer(
        facts, facts[a] + facts[b]
    ),
    "(?:What will be|Find) the sum of the ages of & and & in # years": lambda facts, a, b, k: (
        answer(facts, facts[a] + facts[b] + 2 * k)
    ),
    "In # years, what will be the sum of the ages of & and &": lambda facts, k, a, b: answer(
        facts, facts[a] + facts[b] + 2 * k
    ),
    "How many years older is & than &": gap,
    "By how many years is & older than &": gap,
    "Find how many years older & is than &": gap,
    # The sum of several ages.
    "(?:What is|Find) the sum of the ages of (&(?:, &)+ and &)(?: in years)?": total,
    "How many years old are (&(?:, &)+ and &) together": total,
}


@pytest.mark.slow
def test_the_ages_of_a_question_lead_to_its_gold() -> None:
    reckoning = reckon("ages", RULES)
    assert (reckoning.understood, reckoning.wrong, reckoning.unread) == (300, [], [])


@pytest.mark.slow
def test_nobody_gets_older_than_99() -> None:
    problems = fresh_problems(5, 200, split="test-numbers", families=("ages",))
    answers = [int(p.gold) for p in problems if re.search("[Hh]ow old will", p.question)]
    assert answers
    assert max(answers) <= 99
