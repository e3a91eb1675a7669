"""Tests that the wages and savings in a question lead to its gold."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from gradeschool.datasets.fresh import fresh_problems
from tests.support.fresh_questions import Facts, Rules, answer, reckon


def rate(facts: Facts, dollars: Fraction) -> None:
    facts["rate"] = dollars


def works(facts: Facts, hours: Fraction, days: Any = 1, weeks: Any = 1) -> None:
    facts["money"] = facts["rate"] * hours * days * weeks


def longer(facts: Facts, hours: Fraction, more: Fraction) -> None:
    works(facts, hours + hours + more)


def gets(facts: Facts, dollars: Fraction, each: Any = 1) -> None:
    facts["money"] += dollars * each


def spends(facts: Facts, dollars: Fraction, each: Any = 1) -> None:
    """A number below one is a part of what there is."""
    facts["money"] -= facts["money"] * dollars if dollars < 1 else dollars * each


def asked(facts: Facts) -> None:
    answer(facts, facts["money"])


def goal(facts: Facts, dollars: Fraction) -> None:
    facts["goal"] = dollars


def asked_missing(facts: Facts, dollars: Any = None) -> None:
    answer(facts, (dollars or facts["goal"]) - facts["money"])


def asked_ahead(facts: Facts, dollars: Any = None) -> None:
    answer(facts, facts["money"] - (dollars or facts["other"]))


def shared(facts: Facts, friends: Fraction) -> None:
    facts["money"] /= friends


def asked_share(facts: Facts, friends: Fraction) -> None:
    answer(facts, facts["money"] / friends)


def weekly(facts: Facts, dollars: Fraction, weeks: Fraction) -> None:
    facts["money"] += dollars * weeks


def net(facts: Facts, earned: Fraction, spent: Fraction, weeks: Fraction) -> None:
    weekly(facts, earned - spent, weeks)


def asked_weeks(facts: Facts, goal: Any = None, saved: Any = None) -> None:
    answer(facts, ((goal or facts["goal"]) - facts["money"]) / (saved or facts["saved"]))


AMONG = r"(?:the rest of the money|this money) equally among # friends"
SHARED = f"@ {{share}} {AMONG}"
EACH_FRIEND = "[Hh]ow many dollars {do} each friend get"
WAGES: Rules = {
    "@ {earn} # an hour at a _": rate,
    "@ {have} a job at a _ that {pay} # an hour": rate,
    "@ {work} at a _ for # an hour": rate,
    "@ {work} # hours a day for # days": works,
    "For # days, @ {work} # hours each day": works,
    "@ {work} for # days, # hours each day": works,
    "@ {work} # hours a day, # days a week, for # weeks": works,
    "For # weeks, @ {work} # days a week and # hours a day": works,
    "@ {work} for # weeks, # days a week, # hours each day": works,
    "@ {work} (?:for )?# hours on Saturday and (?:for )?# hours on Sunday": lambda facts, h, k: (
        works(facts, h + k)
    ),
    "On Saturday @ {work} # hours, and on Sunday # hours": lambda facts, h, k: works(facts, h + k),
    "On Saturday, @ {work} # hours": lambda facts, h: facts.update(saturday=h),
    "On Sunday, @ {work} # hours longer than on Saturday": lambda facts, k: longer(
        facts, facts["saturday"], k
    ),
    "@ {work} # hours on Saturday, and # hours longer on Sunday": longer,
    "On Saturday, @ {work} # hours, and on Sunday # hours longer": longer,
    "@ also {work} # extra hours, which {pay} # each": gets,
    "@ also {work} # extra hours (?:for # an hour|at # each)": lambda facts, k, hour, each: gets(
        facts, k, hour or each
    ),
    "(?:In tips, )?@ (?:also )?{get} (?:another )?#(?: in tips)?": gets,
    "@ (?:{spend}|{use}) # of the money (?:on|for) food": spends,
    "@ {pay} # for food": spends,
    "@ (?:{spend}|{give}|{use}) # of (?:what (?:is|was) left|the money)(?: to ~ mother| for food)?":
        spends,
    "@ {spend} # on each of # friends": spends,
    "@ {buy} # (?:tickets|books) for # each": spends,
    "(?:In all, )?[Hh]ow many dollars {do} @ earn(?: in all| altogether)?": asked,
    "How many dollars (?:of the money )?{do} @ have left": asked,
    "How many dollars {be} left": asked,
    "@ {want} to buy a _ (?:that {cost}|for) #": goal,
    "How many more dollars {do} @ need": asked_missing,
    "How many more dollars {do} @ need to buy a _ for #": asked_missing,
    "To buy a _ for #, how many more dollars {do} @ need": asked_missing,
    "@ {earn} # in the same time": lambda facts, k: facts.update(other=k),
    "In the same time, @ {earn} #": lambda facts, k: facts.update(other=k),
    "How many more dollars {do} @ earn than @": asked_ahead,
    "How many dollars more than @ {do} @ earn if @ {earn} #": asked_ahead,
    SHARED: shared,
    EACH_FRIEND: asked,
    f"If {SHARED}, {EACH_FRIEND}": asked_share,
    f"{EACH_FRIEND} if {SHARED}": asked_share,
}  # fmt: skip
SAVINGS: Rules = {
    "(?:At the start, )?@ {have} #(?: at the start)?": lambda facts, n: facts.update(money=n),
    "@ {save} # (?:a|each) week for # weeks": weekly,
    "For # weeks, @ {save} # each week": weekly,
    "@ {earn} # (?:a|each) week and {spend} # of it(?: each week)?": (
        lambda facts, k, m: facts.update(earned=k, spent=m)
    ),
    "@ {do} this for # weeks": lambda facts, w: net(facts, facts["earned"], facts["spent"], w),
    "For # weeks, @ {earn} # a week and {spend} # of it each week": lambda facts, w, k, m: net(
        facts, k, m, w
    ),
    "~ (?:mother|aunt|uncle) {give} @ #": gets,
    "@ {get} (?:another )?# from ~ (?:mother|aunt|uncle)": gets,
    "@ (?:{spend}|{give}) # of ~ money(?: to ~ mother| on a present)?": spends,
    "(?:On a present, )?@ {spend} #(?: on a present)?": spends,
    "~ grandparents {give} @ # times as much as @ {have} by then": lambda facts, t: gets(
        facts, t, facts["money"]
    ),
    "From ~ grandparents, @ {get} # times as much as @ {have} by then": lambda facts, t: gets(
        facts, t, facts["money"]
    ),
    "@ {get} # times as much as @ {have} by then from ~ grandparents": lambda facts, t: gets(
        facts, t, facts["money"]
    ),
    "(?:In the end, )?[Hh]ow many dollars {do} @ have(?: in the end)?": asked,
    "Find how many dollars @ {have} in the end": asked,
    "@ {want} to buy a _ for # and {save} # a week from then on": lambda facts, k, m: facts.update(
        goal=k, saved=m
    ),
    "@ {want} to buy a _ for #": goal,
    "How many more dollars {do} @ need": asked_missing,
    "How many more dollars {do} @ need to buy a _ for #": asked_missing,
    "To buy a _ for #, how many more dollars {do} @ need": asked_missing,
    "How many more weeks {do} @ need": asked_weeks,
    "If @ {save} # a week from then on, how many more weeks {do} @ need": lambda facts, m: (
        asked_weeks(facts, None, m)
    ),
    "How many more weeks {do} @ need to buy a _ for # if @ {save} # a week from then on": (
        asked_weeks
    ),
}


def test_wages_and_what_is_spent_of_them_lead_to_the_gold() -> None:
    reckoning = reckon("wages", WAGES, (2, 5))
    assert (reckoning.understood, reckoning.wrong, reckoning.unread) == (600, [], [])


def test_savings_lead_to_the_gold() -> None:
    reckoning = reckon("savings", SAVINGS, (2, 5))
    assert (reckoning.understood, reckoning.wrong, reckoning.unread) == (600, [], [])


def test_a_week_of_work_has_no_more_than_seven_days() -> None:
    problems = fresh_problems(5, 600, split="test-numbers", families=("wages",))
    days = [int(n) for p in problems for n in re.findall(r"(\d+) days a week", p.question)]
    assert days
    assert max(days) <= 7
