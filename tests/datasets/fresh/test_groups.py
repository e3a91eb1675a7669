"""Tests that the parts of a group in a question lead to its gold."""

from __future__ import annotations

from fractions import Fraction

import pytest

from gradeschool.datasets.fresh.counts import GROUPS
from tests.support.fresh_questions import Facts, Rules, answer, reckon

PLACE = "(?:[Ii]n a (?:school|camp|company)|[Aa]t a party)"
ACTS = "|".join(act for group in GROUPS for act in group.acts)
NOT = ACTS.replace("can ", "cannot ")  # as a refusal; others begin with "do not"
WHO = "(?:students|children|workers|guests|girls|boys|women|men|adults)"
DO = f"(?:(?:do not )?(?:{NOT}|{ACTS}))"
DOINGS = f"({DO}(?: and {DO})*)"
WHOM = f"({WHO}(?: who {DO})?)"
DOING = f"{WHO} who {DOINGS}"


def told(facts: Facts, who: str, count: Fraction) -> None:
    """The latest group is the one that the question is about."""
    facts["count"] = facts[who] = count


def two_kinds(facts: Facts, count: Fraction, first: str, other: Fraction, second: str) -> None:
    told(facts, first, count)
    told(facts, second, other)
    facts["all"] = count + other


def kinds(facts: Facts, who: str, part: Fraction, first: str, second: str) -> None:
    whole = facts[who]
    facts[first] = whole * part if part < 1 else part
    facts[second] = whole - facts[first]


def act(facts: Facts, part: Fraction, who: str, doing: str) -> None:
    """A further act divides those who do the one before, or those who do not."""
    name, _, before = who.partition(" who ")
    whole = facts[before or name] if (before or name) in facts else facts["all"]
    those = whole * part if part < 1 else part
    doings = f"{before} and {doing}" if before else doing
    refusal = f"cannot {doing[4:]}" if doing.startswith("can ") else f"do not {doing}"
    facts[doings] = those
    facts[f"{before} and {refusal}" if before else refusal] = whole - those


def asked(facts: Facts, who: str, doing: str) -> None:
    before = who.partition(" who ")[2]
    answer(facts, facts[f"{before} and {doing}" if before else doing])


def asked_teams(facts: Facts, doing: str, size: Fraction) -> None:
    answer(facts, facts[doing] / size)


def asked_money(facts: Facts, doing: str, price: Fraction) -> None:
    answer(facts, facts[doing] * price)


RULES: Rules = {
    f"There are # ({WHO}) {PLACE}": lambda facts, n, who: told(facts, who, n),
    f"{PLACE} there are # ({WHO})": lambda facts, n, who: told(facts, who, n),
    f"There is a total of # ({WHO}) {PLACE}": lambda facts, n, who: told(facts, who, n),
    f"There are # [a-z]+ of # ({WHO}) each {PLACE}": lambda facts, k, m, who: told(
        facts, who, k * m
    ),
    f"{PLACE} there are # [a-z]+, with # ({WHO}) in each of them": lambda facts, k, m, who: told(
        facts, who, k * m
    ),
    f"There are # [a-z]+ {PLACE}, and # ({WHO}) in each of them": lambda facts, k, m, who: told(
        facts, who, k * m
    ),
    f"There are # ({WHO}) and # ({WHO}) {PLACE}": two_kinds,
    f"{PLACE} there are # ({WHO}) and # ({WHO})": two_kinds,
    f"The {WHO} {PLACE} are # ({WHO}) and # ({WHO})": two_kinds,
    f"Of the ({WHO}), # are ({WHO}), and the rest are ({WHO})": kinds,
    f"# of the ({WHO}) are ({WHO})": lambda facts, part, who, first: facts.update(
        of=who, part=part, first=first
    ),
    f"The others are ({WHO})": lambda facts, second: kinds(
        facts, facts["of"], facts["part"], facts["first"], second
    ),
    f"# of the ({WHO}) are ({WHO}), and all the others are ({WHO})": (
        lambda facts, part, who, first, second: kinds(facts, who, part, first, second)
    ),
    f"# of the {WHOM} ({ACTS})": act,
    f"Of (?:all )?the {WHOM}, # ({ACTS})": lambda facts, who, part, doing: act(
        facts, part, who, doing
    ),
    f"How many {WHOM} {DOINGS}": asked,
    f"Find the number of {WHO} who {DOINGS}": lambda facts, doing: answer(facts, facts[doing]),
    f"How many of the {WHOM} {DOINGS}": asked,
    f"The {DOING} form teams of #": lambda facts, doing, size: facts.update(
        teams=facts[doing] / size
    ),
    "How many teams do they form": lambda facts: answer(facts, facts["teams"]),
    f"If the {DOING} are put into teams of #, how many teams are there": asked_teams,
    f"How many teams are there if the {DOING} form teams of #": asked_teams,
    f"Each of the {DOING} pays #": lambda facts, doing, price: facts.update(
        money=facts[doing] * price
    ),
    "How many dollars do they pay in all": lambda facts: answer(facts, facts["money"]),
    f"If each of the {DOING} pays #, how many dollars do they pay in all": asked_money,
    f"How many dollars do the {DOING} pay if each of them pays #": asked_money,
}


@pytest.mark.slow
def test_the_parts_of_a_group_lead_to_the_gold() -> None:
    reckoning = reckon("groups", RULES)
    assert (reckoning.understood, reckoning.wrong, reckoning.unread) == (300, [], [])
