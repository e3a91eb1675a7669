"""Tests that pages a day and miles an hour lead to the gold."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import pytest

from gradeschool.datasets.fresh import fresh_problems
from gradeschool.datasets.fresh.wording import WORDS
from tests.support.fresh_questions import Facts, Rules, answer, reckon


def whole(facts: Facts, count: Fraction) -> None:
    facts["left"] = count


def daily(facts: Facts, rate: Fraction, days: Fraction) -> None:
    facts["rate"] = rate
    facts["left"] -= rate * days


def next_days(facts: Facts, days: Fraction, more: Any = 0, factor: Any = 1) -> None:
    facts["left"] -= (facts["rate"] * factor + more) * days


def less(facts: Facts, count: Fraction) -> None:
    """A number below one is a part of what is left."""
    facts["left"] -= facts["left"] * count if count < 1 else count


def asked(facts: Facts) -> None:
    answer(facts, facts["left"])


def asked_ratio(facts: Facts, count: Any = None) -> None:
    answer(facts, facts["left"] / (count or facts["by"]))


DO = "(?:{read}|{write}|{do}|{learn})"
UNIT = "(?:pages|tasks|words)"
READING: Rules = {
    f"@ {DO} a _ (?:of|with) # {UNIT}": whole,
    f"@ {{have}} a _ of # {UNIT} to {DO}": whole,
    f"@ {DO} # {UNIT} (?:a|each) day for # days": daily,
    f"For # days, @ {DO} # {UNIT} each day": lambda facts, d, k: daily(facts, k, d),
    f"(?:On each of|For) the next # days, @ {DO} # (?:more {UNIT}|{UNIT} more) (?:each day )?than "
    "(?:before|on each of the days before)": next_days,
    f"(?:On each of|For) the next # days, @ {DO} # times as many {UNIT} (?:each day )?as "
    "(?:before|on each of the days before|on a day before)": lambda facts, d, t: next_days(
        facts, d, 0, t
    ),
    f"(?:On the day after that, )?@ {DO} # (?:more )?{UNIT}": less,
    f"@ {DO} # of the {UNIT} that {{be}} left": less,
    f"How many {UNIT} (?:{{be}} left|{{do}} @ still have to {DO})": asked,
    f"Find how many {UNIT} {{be}} left": asked,
    f"How many more days {{do}} @ need if @ {DO} # {UNIT} a day from then on": asked_ratio,
    f"From then on, @ {DO} # {UNIT} a day": lambda facts, k: facts.update(by=k),
    "How many more days {do} @ need": asked_ratio,
    f"If @ {DO} # {UNIT} a day from then on, how many more days {{do}} @ need": asked_ratio,
    "@ {have} # more days for the rest": lambda facts, k: facts.update(by=k),
    f"How many {UNIT} a day {{do}} @ have to {DO}": asked_ratio,
    f"How many {UNIT} a day {{do}} @ have to {DO} to finish in # more days": asked_ratio,
    f"To finish in # more days, how many {UNIT} a day {{do}} @ have to {DO}": asked_ratio,
}


def stage(facts: Facts, hours: Fraction, speed: Fraction) -> None:
    facts.update(miles=hours * speed, speed=speed)


def goes(facts: Facts, miles: Fraction, days: Any = 1) -> None:
    facts["miles"] += miles * days


def again(facts: Facts, factor: Fraction) -> None:
    facts["miles"] += facts["miles"] * factor


def faster(facts: Facts, hours: Fraction, more: Fraction) -> None:
    facts["speed"] += more
    facts["miles"] += hours * facts["speed"]


def slower(facts: Facts, hours: Fraction, less: Fraction) -> None:
    faster(facts, hours, -less)


def asked_miles(facts: Facts) -> None:
    answer(facts, facts["miles"])


def asked_left(facts: Facts, length: Any = None) -> None:
    answer(facts, (length or facts["length"]) - facts["miles"])


def asked_back(facts: Facts) -> None:
    answer(facts, 2 * facts["miles"])


def asked_speed(facts: Facts, hours: Any = None) -> None:
    answer(facts, facts["miles"] / (hours or facts["hours"]))


def asked_gallons(facts: Facts, miles: Any = None) -> None:
    answer(facts, facts["miles"] / (miles or facts["mileage"]))


def asked_cost(facts: Facts, miles: Any = None, price: Any = None) -> None:
    answer(facts, facts["miles"] / (miles or facts["mileage"]) * (price or facts["price"]))


GO = "(?:{drive}|{cycle}|{walk}|{run})"
SPEED = "[Ww]hat {be} the average speed in miles an hour"
BACK = "@ {go} back the same way"
TRIPS: Rules = {
    "@ (?:{go} on|{make}|{be} on) a trip": lambda facts: None,
    f"@ {GO} for # hours at # miles an hour": stage,
    f"@ {GO} at # miles an hour for # hours": lambda facts, s, h: stage(facts, h, s),
    f"For # hours, @ {GO} at # miles an hour": stage,
    f"(?:@ {GO} another # hours|For (?:the next|another) # hours, @ {GO}),? # miles an hour"
    " faster than before": lambda facts, h, other, k: faster(facts, h or other, k),
    f"(?:@ {GO} another # hours|For (?:the next|another) # hours, @ {GO}),? # miles an hour"
    " slower than before": lambda facts, h, other, k: slower(facts, h or other, k),
    f"@ {GO} (?:another )?# (?:more )?miles(?: more)?": goes,
    "The (?:next part of the trip|part of the trip after that) {be} #(?: times)? as long as the"
    " trip so far": again,
    "After that {come} a part of the trip that {be} #(?: times)? as long as the trip so far": again,
    f"@ {GO} # miles (?:a|each) day for # days": goes,
    f"For # days, @ {GO} # miles each day": lambda facts, d, k: goes(facts, k, d),
    f"(?:In all, )?[Hh]ow many miles {{do}} @ {GO}(?: in all)?": asked_miles,
    "How many miles long {be} the whole trip": asked_miles,
    "The whole trip {be} # miles long": lambda facts, k: facts.update(length=k),
    "How many miles {be} left": asked_left,
    "How many miles {be} left if the whole trip {be} # miles long": asked_left,
    "If the whole trip {be} # miles long, how many miles {be} left": asked_left,
    BACK: lambda facts: None,
    "How many miles {be} that in all": asked_back,
    f"How many miles {{do}} @ go in all if {BACK}": asked_back,
    f"If {BACK}, how many miles {{be}} that in all": asked_back,
    "The whole trip {take} # hours": lambda facts, k: facts.update(hours=k),
    SPEED: asked_speed,
    f"{SPEED} if the whole trip {{take}} # hours": asked_speed,
    f"If the whole trip {{take}} # hours, {SPEED}": asked_speed,
    "The car {need} one gallon of gas for every # miles": lambda facts, k: facts.update(mileage=k),
    "How many gallons {do} @ need": asked_gallons,
    "If the car {go} # miles on a gallon of gas, how many gallons {do} @ need": asked_gallons,
    "How many gallons of gas {do} @ need if the car {go} # miles on a gallon": asked_gallons,
    "The car {go} # miles on a gallon of gas, and a gallon {cost} #": lambda facts, k, p: (
        facts.update(mileage=k, price=p)
    ),
    "A gallon of gas {cost} #, and the car {need} one gallon for every # miles": (
        lambda facts, p, k: facts.update(mileage=k, price=p)
    ),
    "How many dollars {do} (?:@ pay for gas|the gas cost)": asked_cost,
    "How many dollars {do} the gas cost if the car {go} # miles on a gallon and a gallon {cost}"
    " #": (
        asked_cost
    ),
}  # fmt: skip


def test_pages_a_day_lead_to_the_gold() -> None:
    reckoning = reckon("reading", READING, (2, 5))
    assert (reckoning.understood, reckoning.wrong, reckoning.unread) == (600, [], [])


def test_the_stages_of_a_trip_lead_to_the_gold() -> None:
    reckoning = reckon("trips", TRIPS, (2, 5))
    assert (reckoning.understood, reckoning.wrong, reckoning.unread) == (600, [], [])


def numbers(pattern: str, question: str) -> list[int]:
    return [
        WORDS.index(word) if word in WORDS else int(word) for word in re.findall(pattern, question)
    ]


@pytest.mark.parametrize("split", ["train", "test-numbers"])
def test_a_trip_has_possible_speeds_and_takes_no_less_than_its_stages(split: str) -> None:
    averages = 0
    for problem in fresh_problems(5, 600, split=split, families=("trips",)):
        question = problem.question.lower()
        stated = numbers(r"at (\w+) miles an hour", question)
        assert max(stated) <= (5 if "walk" in question else 70), question
        least = sum(numbers(r"(?:for|another|next) (\w+) hours", question))
        for hours in numbers(r"whole trip (?:takes?|took) (\w+) hours", question):
            averages += 1
            assert hours >= least, question
            assert "days" not in question
    assert averages > 20
