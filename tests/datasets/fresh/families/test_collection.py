"""Tests that what is said of a collection leads to the gold."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tests.support.fresh_questions import Facts, Rules, answer, reckon, relate


def has(facts: Facts, name: str, count: Fraction) -> None:
    """Another person who is named in the end does not change the collection."""
    facts.setdefault("have", count)
    facts[name] = count


def more(facts: Facts, name: str, count: Fraction, other: str) -> None:
    relate(facts, name, other, lambda have: have + count, lambda have: have - count)
    facts["have"] = list(facts.values())[-1]


def times(facts: Facts, name: str, factor: Fraction, other: str) -> None:
    facts[name] = facts["have"] = facts[other] * factor


def gains(facts: Facts, count: Fraction, each: Any = 1) -> None:
    facts["have"] += count * each


def loses(facts: Facts, count: Fraction, each: Any = 1) -> None:
    """A count below one is a part."""
    facts["have"] -= facts["have"] * count if count < 1 else count * each


def multiplied(facts: Facts, factor: Fraction) -> None:
    facts["have"] *= factor


def divided(facts: Facts, parts: Fraction) -> None:
    facts["have"] /= parts


def wanted(facts: Facts, goal: Fraction) -> None:
    facts["goal"] = goal


def asked(facts: Facts) -> None:
    answer(facts, facts["have"])


def asked_of_each(facts: Facts, parts: Fraction) -> None:
    answer(facts, facts["have"] / parts)


def asked_for_money(facts: Facts, price: Fraction) -> None:
    answer(facts, facts["have"] * price)


def asked_for_rest(facts: Facts, goal: Fraction | None = None) -> None:
    answer(facts, (goal or facts["goal"]) - facts["have"])


RULES: Rules = {
    "@ {have} # other _ too": gains,
    "@ (?:also )?{have} (?:another )?# loose _": gains,
    "& (?:{have}|{start} with|{have} a total of) # _": has,
    "At the start, & {have} # _": has,
    "& {have} # _ of _, with # _ in each _": lambda facts, a, k, m: has(facts, a, k * m),
    "& {have} # _ of # _ each": lambda facts, a, k, m: has(facts, a, k * m),
    "& {keep} ~ _ in # _": has,
    "Each _ {hold} # _": multiplied,
    "There {be} # _ in each _": multiplied,
    "& {have} # more _ than &": more,
    "& {have} # _ more than &": more,
    "& {have} # fewer _ than &": lambda facts, a, k, b: more(facts, a, -k, b),
    "& {have} # _ fewer than &": lambda facts, a, k, b: more(facts, a, -k, b),
    "(?:At the start, )?& (?:{have}|{start} with) # times as many _ as &": times,
    "@ (?:{buy}|{find}|{get}) (?:another )?# (?:more )?_": gains,
    "@ {give} @ # (?:more )?_": gains,
    "@ {get} # _ from @": gains,
    "@ {buy} # _ of _, with # _ in each _": gains,
    "@ (?:{buy}|{get}) # (?:new )?_ of # _ each": gains,
    "Each of ~ # friends {give} @ # _": gains,
    "@ {get} # _ from each of # friends": gains,
    "From each of # friends, @ {get} # _": gains,
    "@ {give} (?:away )?#(?: of the| of ~)? _(?: to @)?": loses,
    "@ {lose} # of ~ _": loses,
    "@ {give} # _ to each of (?:~ )?# (?:friends|cousins)": loses,
    "@ {give} ~ # cousins # _ each": loses,
    "@ {give} away # _ a day for # days": loses,
    "For # days, @ {give} away # _ (?:each|a) day": loses,
    "@ (?:{get}|{buy}|{give} @) as many new _ as @ already {have}": lambda facts: multiplied(
        facts, Fraction(2)
    ),
    "How many _ {do} @ have (?:in the end|after that)": asked,
    "Find the number of _ that @ {have} in the end": asked,
    "In the end, how many _ {do} @ have": asked,
    "@ {put} all of ~ _ into _ of #": divided,
    "@ {put} ~ _ into _, with # _ in each _": divided,
    "How many more _ {do} @ need": asked_for_rest,
    "How many more _ {do} @ need to have # _": asked_for_rest,
    "How many _ {do} @ (?:fill|need)": asked,
    "How many _ {do} @ need if @ {put} # _ in each _": asked_of_each,
    "@ {share} all of ~ _ equally among # friends": divided,
    "How many _ {do} each friend get": asked,
    "If @ {share} the _ equally among # friends, how many _ {do} each of them get": asked_of_each,
    "How many _ {do} each friend get if @ {share} all of ~ _ equally among # friends": (
        asked_of_each
    ),
    "@ {want} to have # _": wanted,
    "@ {sell} all of ~ _ for # each": multiplied,
    "How many dollars {do} @ get for them": asked,
    "If @ {sell} all of ~ _ at # each, how many dollars {do} @ get for them": asked_for_money,
    "How many dollars {do} @ get if @ {sell} all of ~ _ for # each": asked_for_money,
    "How many more _ {do} @ have than & in the end": lambda facts, other: answer(
        facts, facts["have"] - facts[other]
    ),
    "In the end, how many more _ {do} @ have than &": lambda facts, other: answer(
        facts, facts["have"] - facts[other]
    ),
    "In the end, how many more _ {do} @ have than @, who {have} # _": lambda facts, count: answer(
        facts, facts["have"] - count
    ),
}


def test_what_happens_to_a_collection_leads_to_the_gold() -> None:
    reckoning = reckon("collection", RULES)
    assert (reckoning.understood, reckoning.wrong, reckoning.unread) == (600, [], [])
