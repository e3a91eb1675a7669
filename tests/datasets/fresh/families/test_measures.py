"""Tests that measures, and the water in tanks, lead to the golds."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import pytest

from gradeschool.datasets.fresh import fresh_problems
from tests.support.fresh_questions import Facts, Rules, answer, reckon

SMALL = {"meters": 100, "feet": 12, "kilograms": 1000, "liters": 1000, "hours": 60}
LARGE = f"({'|'.join(SMALL)})"
UNIT = "(?:centimeters|inches|grams|milliliters|minutes)"


def has(facts: Facts, count: Fraction, unit: str, small: Any = None) -> None:
    facts["left"] = count * SMALL[unit] + (small or 0)


def uses(facts: Facts, amount: Fraction, times: Any = 1) -> None:
    """A number below one is a part of what is left."""
    facts["left"] -= facts["left"] * amount if amount < 1 else amount * times


def asked(facts: Facts) -> None:
    answer(facts, facts["left"])


def each(facts: Facts, amount: Fraction) -> None:
    facts["each"] = amount


def asked_ratio(facts: Facts, amount: Any = None) -> None:
    answer(facts, facts["left"] / (amount or facts["each"]))


REST = "[Tt]he rest {be} divided equally among # friends"
FRIENDS = f"[Hh]ow many {UNIT} {{do}} each friend get"
FROM_REST = "(?: from what {be} left| in the time that {be} left| in this time)"
PIECES = f"[Hh]ow many _ can @ (?:make|play){FROM_REST}?"
TAKES = f"(?:[Ee]ach|[Aa]) _ {{take}} # {UNIT}(?: of _)?"
MEASURES: Rules = {
    f"(?:In all, )?@ (?:{{have}}|{{buy}}|{{make}}) (?:a total of )?# {LARGE}(?: and # {UNIT})?"
    " of _": has,
    f"@ {{use}} # {UNIT} of it for each of # _": uses,
    f"@ {{need}} # {UNIT} of it for each _ and {{make}} # _": uses,
    f"For each of # _, @ {{use}} # {UNIT} of it": uses,
    "@ {play} # games of # minutes each": uses,
    "@ {play} # games, and each of them {last} # minutes": uses,
    "Each game {last} # minutes, and @ {play} # games": uses,
    f"@ {{give}} # (?:{UNIT} )?of it to @": uses,
    f"@ {{use}} # (?:{UNIT} )?of it for something else": uses,
    f"@ {{give}} @ # (?:{UNIT} )?of it": uses,
    "@ {spend} # minutes of it (?:with @|on the phone)": uses,
    "With @, @ {spend} # minutes of it": uses,
    "@ {give} # of (?:what {be} left|the rest) to @": uses,
    "@ {give} @ # of what {be} left": uses,
    f"(?:How|Find how) many {UNIT} of _ (?:{{be}} left|{{do}} @ have left)": asked,
    TAKES: each,
    PIECES: asked_ratio,
    f"{PIECES} if {TAKES}": asked_ratio,
    f"If {TAKES}, {PIECES}": asked_ratio,
    REST: each,
    FRIENDS: asked_ratio,
    f"{FRIENDS} if {REST}": asked_ratio,
    f"If {REST}, {FRIENDS}": asked_ratio,
}


def room(facts: Facts, liters: Fraction) -> None:
    facts["room"] = liters


def water(facts: Facts, liters: Fraction) -> None:
    facts["left"] = facts["room"] * liters if liters < 1 else liters


def flows_in(facts: Facts, rate: Fraction, minutes: Fraction) -> None:
    facts["left"] += rate * minutes


def flows_out(facts: Facts, rate: Fraction, minutes: Fraction) -> None:
    facts["left"] -= rate * minutes


def flows_both(facts: Facts, into: Fraction, out: Fraction, minutes: Fraction) -> None:
    facts["left"] += (into - out) * minutes


def asked_room(facts: Facts) -> None:
    answer(facts, facts["room"] - facts["left"])


def rate_after(facts: Facts, rate: Fraction) -> None:
    facts["rate"] = rate


def asked_full(facts: Facts, rate: Any = None) -> None:
    answer(facts, (facts["room"] - facts["left"]) / (rate or facts["rate"]))


def asked_empty(facts: Facts, rate: Any = None) -> None:
    answer(facts, facts["left"] / (rate or facts["rate"]))


MINUTES = "[Hh]ow many minutes does it take until the _ is"
TANKS: Rules = {
    "A _ (?:can hold|has room for) # liters of water": room,
    "There is room for # liters of water in a _": room,
    "There are # liters of water in (?:a|the) _": water,
    "(?:A|The) _ has # liters of water in it": water,
    "In (?:a|the) _ there are # liters of water": water,
    "Water fills # of the _": water,
    "The water in it fills # of the _": water,
    "At first, water fills # of the _": water,
    "A pipe fills it with # liters a minute for # minutes": flows_in,
    "For # minutes, a pipe fills it with # liters a minute": flows_in,
    "For # minutes, # liters a minute flow in from a pipe": flows_in,
    "It loses # liters a minute for # minutes": flows_out,
    "For # minutes, it loses # liters a minute": flows_out,
    "For # minutes, # liters a minute flow out": flows_out,
    "For # minutes, # liters flow in and # liters flow out each minute": (
        lambda facts, minutes, into, out: flows_both(facts, into, out, minutes)
    ),
    "Each minute, # liters flow in and # liters flow out": lambda facts, into, out: (
        facts.update(into=into, out=out)
    ),
    "This goes on for # minutes": lambda facts, minutes: flows_both(
        facts, facts["into"], facts["out"], minutes
    ),
    "Each minute for # minutes, # liters flow in and # liters flow out": (
        lambda facts, minutes, into, out: flows_both(facts, into, out, minutes)
    ),
    "@ (?:pours|adds) # buckets of (?:water with )?# liters (?:each|in each of them)(?: into it)?":
        flows_in,
    "@ (?:takes|uses) (?:out )?# (?:liters )?of (?:the )?water(?: out of it)?(?: for the garden)?":
        uses,
    "For the garden, @ uses # of the water": uses,
    "(?:In the end, )?[Hh]ow many liters of water are in the _(?: in the end)?": asked,
    "Find how many liters of water are in the _ in the end": asked,
    "How many more liters fit into the _": asked_room,
    "How many (?:more )?liters (?:of water )?are needed to fill the _": asked_room,
    "# liters flow (?:in|out) each minute": rate_after,
    f"{MINUTES} full": asked_full,
    f"If # liters flow in each minute after that, {MINUTES} full": asked_full,
    f"{MINUTES} full if # liters flow in each minute after that": asked_full,
    f"{MINUTES} empty": asked_empty,
    f"If # liters flow out each minute after that, {MINUTES} empty": asked_empty,
    f"{MINUTES} empty if # liters flow out each minute after that": asked_empty,
}  # fmt: skip


def test_measures_in_two_units_lead_to_the_gold() -> None:
    reckoning = reckon("measures", MEASURES, (2, 5))
    assert (reckoning.understood, reckoning.wrong, reckoning.unread) == (600, [], [])


@pytest.mark.parametrize("split", ["train", "test-numbers"])
def test_the_small_units_beside_large_ones_are_less_than_one_large_one(split: str) -> None:
    problems = fresh_problems(5, 300, split=split, families=("measures",))
    found = re.findall(rf"{LARGE} and (\d+) {UNIT} of", "".join(p.question for p in problems))
    assert len(found) > 50
    assert [amount for amount in found if not 0 < int(amount[1]) < SMALL[amount[0]]] == []


def test_the_water_in_a_tank_leads_to_the_gold() -> None:
    reckoning = reckon("tanks", TANKS, (3, 6))
    assert (reckoning.understood, reckoning.wrong, reckoning.unread) == (600, [], [])
