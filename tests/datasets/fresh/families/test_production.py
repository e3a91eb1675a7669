"""Tests that what is made, grown and sold leads to the gold."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tests.support.fresh_questions import Facts, Rules, answer, reckon


def hourly(facts: Facts, made: Fraction, makers: Any = 1) -> None:
    facts["hourly"] = made * makers


def works(facts: Facts, hours: Fraction) -> None:
    facts["made"] = facts["hourly"] * hours


def days(facts: Facts, count: Fraction) -> None:
    facts["made"] *= count


def less(facts: Facts, count: Fraction) -> None:
    """A number below one is a part."""
    facts["made"] -= facts["made"] * count if count < 1 else count


def more(facts: Facts, count: Fraction) -> None:
    facts["made"] += count


def size(facts: Facts, count: Fraction) -> None:
    facts["size"] = count


def price(facts: Facts, dollars: Fraction) -> None:
    facts["price"] = dollars


def costs(facts: Facts, dollars: Fraction) -> None:
    facts["costs"] = dollars


def asked(facts: Facts) -> None:
    answer(facts, facts["made"])


def asked_boxes(facts: Facts) -> None:
    answer(facts, facts["made"] / facts["size"])


def asked_money(facts: Facts) -> None:
    money = facts["made"] / facts.get("size", 1) * facts["price"]
    answer(facts, money - facts.get("costs", 0))


PLACE = "(?:factory|workshop|company)"
SOLD = "all the _ {be} sold"
PRODUCTION: Rules = {
    f"A {PLACE} {{have}} # (?:machines|workers|robots)": lambda facts, k: facts.update(makers=k),
    f"In a {PLACE} there {{be}} # (?:machines|workers|robots)": lambda facts, k: facts.update(
        makers=k
    ),
    "(?:Each|Every) (?:machine|worker|robot) {make} # _ an hour": lambda facts, m: hourly(
        facts, m, facts["makers"]
    ),
    f"There {{be}} # _ in a {PLACE}, and each of them {{make}} # _ an hour": hourly,
    f"A {PLACE} {{make}} # _ an hour": hourly,
    f"(?:Every|In an) hour, a {PLACE} {{make}} # _": hourly,
    f"A {PLACE} {{have}} an old _ that {{make}} # _ an hour and a new _ that {{make}} # times as"
    " many": lambda facts, m, k: hourly(facts, m, 1 + k),
    f"In a {PLACE}, an old _ {{make}} # _ an hour, and a new _ {{make}} # times as many": (
        lambda facts, m, k: hourly(facts, m, 1 + k)
    ),
    f"An old _ in a {PLACE} {{make}} # _ an hour": hourly,
    "A new _ {make} # times as many": lambda facts, k: hourly(facts, facts["hourly"], 1 + k),
    f"The {PLACE} (?:{{work}}|{{be}} open) (?:for )?# hours(?: a day)?": works,
    f"Each day, the {PLACE} {{work}} for # hours": works,
    "(?:This|The work) {go} on for # hours": works,
    "It (?:{work}|{do} this) for # days": days,
    "For # days, it {work} like this": days,
    "# of the _ {be} broken and thrown away": less,
    "Of (?:all )?the _, # {be} (?:broken and )?thrown away": less,
    "There {be} # broken _, which {be} thrown away": less,
    f"The {PLACE} {{give}} (?:a school )?# _(?: to a school)?": less,
    "A school {get} # _ for free": less,
    "There {be} also # (?:older _|_ left from the week before)": more,
    f"The {PLACE} also {{have}} # older _": more,
    "The _ {be} packed in _ of #": size,
    "Each _ {hold} # _": size,
    "The _ {be} put into _ that {hold} # _ each": size,
    "(?:Each|Every) _ {be} sold for #": price,
    "The price of an? _ {be} #": price,
    "All the work {cost} #": costs,
    f"The {PLACE} {{pay}} # for everything it {{need}}": costs,
    f"For everything it {{need}}, the {PLACE} {{pay}} #": costs,
    f"How many _ {{do}} the {PLACE} have in the end": asked,
    "(?:In the end, )?[Hh]ow many _ {be} there(?: in the end)?": asked,
    "How many _ {be} (?:filled|needed for all the (?:other )?_)": asked_boxes,
    f"How many _ {{do}} the {PLACE} need for all the (?:other )?_": asked_boxes,
    f"How many dollars (?:of profit )?{{do}} the {PLACE} (?:get|have left|make) if"
    " all the (?:other )?_ {be} sold": asked_money,
    f"If all the (?:other )?_ {{be}} sold, how many dollars {{do}} the {PLACE} (?:get|have left)": (
        asked_money
    ),
    f"How many dollars {{do}} the {PLACE} get for all the (?:other )?_": asked_money,
}


def trees(facts: Facts, count: Fraction, rows: Any = 1) -> None:
    facts["trees"] = count * rows


def dead(facts: Facts, count: Fraction) -> None:
    facts["trees"] -= count


def fruit(facts: Facts, each: Fraction) -> None:
    facts["made"] = facts["trees"] * each


def picked(facts: Facts, people: Fraction, each: Fraction, hours: Fraction) -> None:
    facts["made"] = people * each * hours


def asked_years(facts: Facts) -> None:
    answer(facts, facts["made"] * (1 + facts["last"]))


HARVEST: Rules = {
    "A farmer (?:{plant}|{have}) # rows of _ trees,? with # trees in each(?: row| of them)": trees,
    "On a farm, there {be} # rows of _ trees, with # trees in each row": trees,
    "A farmer {have} # _ trees": trees,
    "On a farm, there {be} # _ trees": trees,
    "There {be} # _ trees on a farm": trees,
    "Of (?:all )?the trees, # {be} too (?:old|young) and {have} no fruit": dead,
    "There {be} no fruit on # of the trees": dead,
    "Each tree(?: with fruit)? {have} # _": fruit,
    "There {be} # _ on each tree(?: with fruit)?": fruit,
    "On each tree(?: with fruit)?, there {be} # _": fruit,
    "# people {work} on a farm, and each of them {pick} # _ an hour for # hours": picked,
    "On a farm, # people {pick} # _ an hour each for # hours": picked,
    "For # hours, # people on a farm {pick} # _ an hour each": lambda facts, h, k, m: picked(
        facts, k, m, h
    ),
    "Last year,? (?:the farm had|there were|the farmer had) # times as many _": (
        lambda facts, last: facts.update(last=last)
    ),
    "# of the _ {be} bad and thrown away": less,
    "Birds {eat} # of the _": less,
    "Of the _, # {be} bad and thrown away": less,
    "The farmer (?:{keep}|{give}) # _ (?:for the family|to a school)": less,
    "A school {get} # of the _ for free": less,
    "(?:All )?[Tt]he rest {be} put into _(?:, with # _ in each _| of # _ each)": (
        lambda facts, first, other: size(facts, first or other)
    ),
    "The farmer {put} the rest into _ of #": size,
    "Each _ {be} sold for #": price,
    "(?:For each _, t|T)he farmer {get} #(?: for each _)?": price,
    "(?:How many|Find the number of) (?:of the )?_ (?:that )?{be} left": asked,
    "How many _ {be} (?:filled|that)": asked_boxes,
    "How many _ {do} this take": asked_boxes,
    "(?:In all, )?[Hh]ow many dollars {do} the farmer get(?: in all)?": asked_money,
    "How many dollars {be} that for the farmer in all": asked_money,
    "How many _ {be} (?:that in the 2 years|there in both years) together": asked_years,
    "In both years together, how many _ {be} there": asked_years,
}


def test_what_is_made_and_sold_leads_to_the_gold() -> None:
    reckoning = reckon("production", PRODUCTION, (2, 7))
    assert (reckoning.understood, reckoning.wrong, reckoning.unread) == (600, [], [])


def test_what_is_grown_and_sold_leads_to_the_gold() -> None:
    reckoning = reckon("harvest", HARVEST, (2, 5))
    assert (reckoning.understood, reckoning.wrong, reckoning.unread) == (600, [], [])
