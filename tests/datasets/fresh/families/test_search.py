"""Tests that each gold is the only number that fits its question."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest

from gradeschool.datasets.fresh import fresh_problems
from tests.support.fresh_questions import Facts, Rules, answer, reckon

LEGS = {"cows": 4, "sheep": 4, "goats": 4, "ducks": 2, "hens": 2}


def only(fits: list[Fraction]) -> Fraction:
    """The one number that fits."""
    (fitting,) = fits
    return fitting


def numbers(low: int, high: Fraction) -> list[Fraction]:
    """Whole numbers from low to high."""
    return [Fraction(number) for number in range(low, int(high) + 1)]


def animals(facts: Facts, count: Fraction, first: str, second: str, legs: Fraction) -> None:
    facts[first] = only([n for n in numbers(0, count)
                         if n * LEGS[first] + (count - n) * LEGS[second] == legs])  # fmt: skip


def asked_animals(facts: Facts, name: str) -> None:
    answer(facts, facts[name])


def told(facts: Facts, count: Fraction, first: str, second: str) -> None:
    facts.update(count=count, first=first, second=second)


def legs(facts: Facts, legs: Fraction) -> None:
    animals(facts, facts["count"], facts["first"], facts["second"], legs)


ANIMALS: Rules = {
    "On a farm there {be} # animals, all of them & or &": told,
    "They {have} # legs in all": legs,
    "A farm {have} # animals, all of them & or &, with # legs in all": animals,
    "All of the # animals on a farm {be} & or &": told,
    "Together they {have} # legs": legs,
    "How many & {be} there": asked_animals,
    "How many of the animals {be} &": asked_animals,
    "Find the number of & on the farm": asked_animals,
}


def sides(facts: Facts, product: Fraction, difference: Fraction) -> None:
    short = only([n for n in numbers(1, product) if n * (n + difference) == product])
    facts.update(short=short, long=short + difference)


def ages(facts: Facts, elder: str, difference: Fraction, younger: str) -> None:
    facts.update(elder=elder, younger=younger, difference=difference)


def asked_age(facts: Facts, name: str) -> None:
    answer(facts, facts["long" if name == facts["elder"] else "short"])


PRODUCTS: Rules = {
    "A _ {have} an area of # square meters": lambda facts, area: facts.update(area=area),
    "The area of a _ {be} # square meters": lambda facts, area: facts.update(area=area),
    "[Ii]t {be} # meters longer than it {be} wide": lambda facts, difference: sides(
        facts, facts["area"], difference
    ),
    "A _ {be} # meters longer than it {be} wide": lambda facts, difference: facts.update(
        difference=difference
    ),
    "its area {be} # square meters": lambda facts, area: sides(facts, area, facts["difference"]),
    "How many meters wide {be} the _": lambda facts: answer(facts, facts["short"]),
    "What {be} the width in meters": lambda facts: answer(facts, facts["short"]),
    "How many meters long {be} the _": lambda facts: answer(facts, facts["long"]),
    "What {be} the length in meters": lambda facts: answer(facts, facts["long"]),
    "& is # years older than &": ages,
    "& is # years younger than &": lambda facts, a, k, b: ages(facts, b, k, a),
    "[Tt]he product of the (?:2 ages|ages of @ and @) is #": lambda facts, product: sides(
        facts, product, facts["difference"]
    ),
    "How many years old is &": asked_age,
    "How old is & in years": asked_age,
}


def friends(facts: Facts, low: Fraction, high: Fraction) -> None:
    facts["bounds"] = numbers(int(low) + 1, high - 1)


def asked_friends(facts: Facts) -> None:
    answer(facts, only([n for n in facts["bounds"] if facts["things"] % n == 0]))


def asked_share(facts: Facts) -> None:
    asked_friends(facts)
    answer(facts, facts["things"] / facts["answer"])


def shared(facts: Facts, low: Fraction, high: Fraction, things: Fraction) -> None:
    friends(facts, low, high)
    facts["things"] = things


SHARES: Rules = {
    "@ {have} more than # but fewer than # friends": friends,
    "@ {share} # _ equally among (?:them|~ friends)": lambda facts, n: facts.update(things=n),
    "none {be} left": lambda facts: None,
    "@ {have} more than # and fewer than # friends and {share} # _ equally among them": shared,
    "How many friends (?:{do} @ have|{be} there)": asked_friends,
    "How many _ (?:{do} each friend get|{be} that for each friend)": asked_share,
}


def price(facts: Facts, first: str, price: Fraction, second: str, other: Fraction) -> None:
    facts.update({first: price, second: other, "names": (first, second)})


def bought(facts: Facts, count: Fraction, first: str, second: str, paid: Fraction) -> None:
    """Plurals are the singulars with more letters; the first kind is named first."""
    one, other = (facts[name] for name in facts["names"])
    count_of_first = only([n for n in numbers(0, count)
                           if n * one + (count - n) * other == paid])  # fmt: skip
    facts.update(first=count_of_first, spent=count_of_first * one)


def bought_back(
    facts: Facts, count: Fraction, first: str, second: str, paid: Fraction, back: Fraction
) -> None:
    bought(facts, count, first, second, paid - back)


PURCHASES: Rules = {
    "(?:A|An|Each) (_) {cost} #, and (?:a|an|each) (_) {cost} #": price,
    "The price of (?:a|an) (_) {be} #, and the price of (?:a|an) (_) {be} #": price,
    "@ {buy} # things, all of them (_) or (_), and {pay} # in all": bought,
    "@ {buy} a total of # (_) and (_) and {pay} # in all": bought,
    "For a total of # (_) and (_), @ {pay} #": bought,
    "@ {buy} a total of # (_) and (_), {pay} with # and {get} back #": bought_back,
    "For a total of # (_) and (_), @ {pay} with # and {get} back #": bought_back,
    "@ {pay} with # for a total of # (_) and (_) and {get} back #": (
        lambda facts, paid, n, a, b, back: bought_back(facts, n, a, b, paid, back)
    ),
    "How many _ {do} @ buy": lambda facts: answer(facts, facts["first"]),
    "How many of these things {be} _": lambda facts: answer(facts, facts["first"]),
    "Find the number of _ that @ {buy}": lambda facts: answer(facts, facts["first"]),
    "How many dollars {do} @ (?:spend on|pay for) (?:the )?_": lambda facts: answer(
        facts, facts["spent"]
    ),
    "How many dollars {do} the _ cost @ in all": lambda facts: answer(facts, facts["spent"]),
}


def test_the_gold_is_the_only_number_of_animals_with_as_many_legs() -> None:
    reckoning = reckon("legs", ANIMALS, (5, 6))
    assert (reckoning.understood, reckoning.wrong, reckoning.unread) == (600, [], [])


def test_the_gold_is_the_only_number_with_that_product_and_difference() -> None:
    reckoning = reckon("product", PRODUCTS)
    assert (reckoning.understood, reckoning.wrong, reckoning.unread) == (600, [], [])


def test_the_gold_is_the_only_number_of_friends_that_divides_what_is_shared() -> None:
    reckoning = reckon("sharing", SHARES)
    assert (reckoning.understood, reckoning.wrong, reckoning.unread) == (600, [], [])


def test_the_gold_is_the_only_purchase_at_that_price() -> None:
    reckoning = reckon("two_kinds", PURCHASES, (5, 6))
    assert (reckoning.understood, reckoning.wrong, reckoning.unread) == (600, [], [])


@pytest.mark.parametrize(
    ("family", "stated"),
    [
        ("two_kinds", r"(\d+) things|total of (\d+)"),
        ("legs", r"(\d+) animals"),
        ("product", r"(\d+) (?:meters longer|years (?:older|younger))"),
    ],
)
def test_the_check_of_the_right_guess_ends_in_the_stated_number(family: str, stated: str) -> None:
    for problem in fresh_problems(5, 150, families=(family,)):
        match = re.search(stated, problem.question)
        assert match, problem.question
        *_, result = re.findall(r"=(\d+)>>", problem.solution)
        assert result in match.groups(), problem
