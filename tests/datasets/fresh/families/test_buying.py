"""Tests that the prices and purchases in a question lead to its gold."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from gradeschool.datasets.fresh.wording import SOLD
from tests.support.fresh_questions import Facts, Rules, answer, reckon, relate

PLURALS = {noun.singular: noun.plural for noun in SOLD}


def price(facts: Facts, item: str, price: Fraction) -> None:
    facts[PLURALS[item]] = price


def price_more(facts: Facts, item: str, more: Fraction, other: str) -> None:
    relate(facts, PLURALS[item], PLURALS[other], lambda cost: cost + more, lambda cost: cost - more)


def price_times(facts: Facts, item: str, factor: Fraction, other: str) -> None:
    relate(
        facts, PLURALS[item], PLURALS[other], lambda cost: cost * factor, lambda cost: cost / factor
    )


def bought(facts: Facts, listed: str) -> None:
    facts["total"] = sum(
        int(count) * facts[item]
        for count, item in re.findall(r"(\d+) ([a-z ]+?)(?:,| and|$)", listed)
    )


def changed(facts: Facts, amount: Fraction) -> None:
    facts["total"] += amount


def less_part(facts: Facts, part: Fraction) -> None:
    facts["total"] -= facts["total"] * part


def paid(facts: Facts, amount: Fraction, each: Any = 1) -> None:
    facts["paid"] = amount * each


def asked_total(facts: Facts) -> None:
    answer(facts, facts["total"])


def asked_rest(facts: Facts, amount: Any = None, each: Any = 1) -> None:
    """How much more was there than the total."""
    answer(facts, (amount * each if amount else facts["paid"]) - facts["total"])


def asked_missing(facts: Facts, amount: Any = None) -> None:
    answer(facts, facts["total"] - (amount or facts["paid"]))


def asked_share(facts: Facts, friends: Any = None) -> None:
    answer(facts, facts["total"] / (1 + (friends or facts["friends"])))


REST = "How many dollars (?:of change )?{do} @ (?:get back|get|have left)"
SHOPPING: Rules = {
    "@ (?:{go} to a shop|{go} shopping|{be} in a shop)": lambda facts: None,
    "(?:[Ee]ach|[Aa]n?) (_) {cost} #": price,
    "[Tt]he price of an? (_) {be} #": price,
    "[Ff]or an? (_), the price {be} #": price,
    "(?:[Ee]ach|[Aa]n?) (_) {cost} # more than an? (_)": price_more,
    "[Tt]he price of an? (_) {be} # more than the price of an? (_)": price_more,
    "(?:[Ee]ach|[Aa]n?) (_) {cost} # times as much as an? (_)": price_times,
    "[Tt]he price of an? (_) {be} # times the price of an? (_)": price_times,
    r"@ {buy} (\d+ [\w, ]+)": bought,
    "@ {have} a coupon for # off the total": lambda facts, amount: changed(facts, -amount),
    "@ {use} a coupon that {take} # off the total": lambda facts, amount: changed(facts, -amount),
    "With a coupon, @ {get} # off the total": lambda facts, amount: changed(facts, -amount),
    "(?:The shop {take}|The shop {give} @|@ {get}) # off the total": less_part,
    "Delivery {cost} # more": changed,
    "@ also {pay} # for delivery": changed,
    "For delivery, @ {pay} # more": changed,
    "(?:In all, )?[Hh]ow many dollars {do} @ (?:pay|spend)(?: in all| in total)?": asked_total,
    "@ {pay} with #": paid,
    "@ {pay} with # bills of # each": paid,
    "Before this, @ {have} #": paid,
    REST: asked_rest,
    f"If @ (?:{{pay}} with #|{{have}} # at first), {REST[0].lower()}{REST[1:]}": (
        lambda facts, paid, had: asked_rest(facts, paid or had)
    ),
    f"{REST} if @ {{pay}} with #": asked_rest,
    f"{REST} if @ {{have}} # at first": asked_rest,
    f"{REST} (?:from|if @ {{pay}} with) # bills of # each": asked_rest,
    "@ only {have} #": paid,
    "How many more dollars {do} @ need": asked_missing,
    "How many more dollars {do} @ need if @ only {have} #": asked_missing,
    "If @ only {have} #, how many more dollars {do} @ need": asked_missing,
    "@ and # friends {share} the cost equally": lambda facts, k: facts.update(friends=k),
    "How many dollars {do} each of them pay": asked_share,
    "If @ and # friends {share} the cost equally, how many dollars {do} each of them pay": (
        asked_share
    ),
    "How many dollars {do} each of them pay if @ and # friends {share} the cost equally": (
        asked_share
    ),
}


def told(facts: Facts, **values: Fraction) -> None:
    facts.update(values)


def part(facts: Facts, adult: Fraction, share: Fraction) -> None:
    told(facts, adult=adult, child=adult * share)


def less(facts: Facts, adult: Fraction, amount: Fraction) -> None:
    told(facts, adult=adult, child=adult - amount)


def money(facts: Facts) -> Fraction:
    paid: Fraction = facts["adult"] * facts["adults"] + facts["child"] * facts["children"]
    return paid


def spent(facts: Facts, amount: Fraction) -> None:
    left = facts["left"] if "left" in facts else money(facts)
    facts["left"] = left - (left * amount if amount < 1 else amount)


def asked_money(facts: Facts, days: Any = 1) -> None:
    answer(facts, days * money(facts))


def asked_more(facts: Facts, more: str, less: str) -> None:
    single = {"adults": "adult", "children": "child"}
    answer(facts, facts[more] * facts[single[more]] - facts[less] * facts[single[less]])


AT = "(?:At|For) a _, "
KIND = "(adults|children)"
TICKETS: Rules = {
    f"{AT}an adult ticket costs # and a child ticket costs #": lambda facts, p, q: told(
        facts, adult=p, child=q
    ),
    "A ticket for a _ costs # for an adult and # for a child": lambda facts, p, q: told(
        facts, adult=p, child=q
    ),
    f"{AT}a ticket costs # for adults and # for children": lambda facts, p, q: told(
        facts, adult=p, child=q
    ),
    f"{AT}an adult ticket costs #, and a child ticket costs # as much": part,
    f"{AT}an adult ticket costs #, and a child ticket costs # less": less,
    "An adult ticket for a _ costs #, and the price of a child ticket is # of that": part,
    "An adult ticket for a _ costs #": lambda facts, p: told(facts, adult=p),
    "A child ticket costs # as much": lambda facts, share: part(facts, facts["adult"], share),
    "A child ticket costs # less": lambda facts, amount: less(facts, facts["adult"], amount),
    "(?:Today, |There are |The visitors are )# adults and # children(?: come)?": (
        lambda facts, a, c: told(facts, adults=a, children=c)
    ),
    "(?:Today, |There are |The visitors are )# adults and # times as many children(?: come)?": (
        lambda facts, a, t: told(facts, adults=a, children=a * t)
    ),
    "(?:There are |The visitors are )# adults and # more children than adults": (
        lambda facts, a, k: told(facts, adults=a, children=a + k)
    ),
    "Today, # adults come, and # more children than adults": lambda facts, a, k: told(
        facts, adults=a, children=a + k
    ),
    "There are # visitors, and # of them are adults": lambda facts, n, a: told(
        facts, adults=a, children=n - a
    ),
    "The others are children": lambda facts: None,
    "Of # visitors, # are adults, and the rest are children": lambda facts, n, a: told(
        facts, adults=a, children=n - a
    ),
    "There are # visitors: # adults, and the rest children": lambda facts, n, a: told(
        facts, adults=a, children=n - a
    ),
    "(?:The _ pays # for its workers|The workers of the _ get # of this money)": (
        lambda facts, paid, got: spent(facts, paid or got)
    ),
    "For its workers, the _ pays #": spent,
    "The _ (?:gives|spends) # of the money (?:to a school|on food)": spent,
    "A school gets # of the money": spent,
    "How many dollars (?:do the tickets bring in|is that for all the tickets"
    "|do all the tickets cost)": asked_money,
    "How many dollars do (?:the tickets bring in|all the tickets cost) on # days like this": (
        asked_money
    ),
    "On # days like this, how many dollars do the tickets bring in": asked_money,
    "How many dollars are left for the _": lambda facts: answer(facts, facts["left"]),
    "How many dollars (?:of the money )?does the _ have left": lambda facts: answer(
        facts, facts["left"]
    ),
    f"How many more dollars do the {KIND} pay than the {KIND}": asked_more,
    f"Find how many more dollars the {KIND} pay than the {KIND}": asked_more,
    f"How many dollars more than the {KIND} do the {KIND} pay": lambda facts, less, more: (
        asked_more(facts, more, less)
    ),
}


def test_a_bill_leads_to_the_gold() -> None:
    reckoning = reckon("shopping", SHOPPING, (2, 6))
    assert (reckoning.understood, reckoning.wrong, reckoning.unread) == (600, [], [])


def test_tickets_lead_to_the_gold() -> None:
    reckoning = reckon("tickets", TICKETS, (2, 5))
    assert (reckoning.understood, reckoning.wrong, reckoning.unread) == (600, [], [])
