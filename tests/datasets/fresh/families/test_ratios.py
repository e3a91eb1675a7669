"""Tests that ratios and recipes lead to the gold."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tests.support.fresh_questions import Facts, Rules, answer, reckon


def ratio(facts: Facts, first: str, second: str, part: Fraction, other: Fraction) -> None:
    """The whole, one kind or the difference was told: divide by its parts."""
    told = facts["told"]
    parts = {"whole": part + other, first: part, "gap": other - part}[told]
    one = facts["number"] / parts
    facts.update({first: one * part, second: one * other})


def told(facts: Facts, what: str, number: Fraction) -> None:
    facts.update(told=what, number=number)


def changed(facts: Facts, count: Fraction, kind: str) -> None:
    facts[kind] += count


def asked(facts: Facts, kind: str) -> None:
    answer(facts, facts[kind])


def asked_all(facts: Facts, first: str, second: str) -> None:
    answer(facts, facts[first] + facts[second])


def asked_cost(facts: Facts, kind: str, price: Fraction) -> None:
    answer(facts, facts[kind] * price)


COLOR = "(red|blue|green|yellow|white|black)"
TWO = f"{COLOR} and {COLOR}"
RATIOS: Rules = {
    f"@ {{have}} only {TWO} _": lambda facts, a, b: None,
    f"A shop {{sell}} {TWO} _": lambda facts, a, b: None,
    f"In a box there {{be}} only {TWO} _": lambda facts, a, b: None,
    f"[Tt]he ratio of {COLOR} _ to {COLOR} _ {{be}} # to #": ratio,
    f"[Ff]or every # {COLOR} _ there {{be}} # {COLOR} _": lambda facts, p, a, q, b: ratio(
        facts, a, b, p, q
    ),
    f"[Tt]he {COLOR} _ and the {COLOR} _ {{be}} in the ratio of # to #": ratio,
    f"(?:[Tt]ogether )?[Tt]here {{be}} # {TWO} _(?: in all)?": lambda facts, n, a, b: told(
        facts, "whole", n
    ),
    f"[Ii]n all, there {{be}} # {TWO} _": lambda facts, n, a, b: told(facts, "whole", n),
    f"(?:[Ii]n all, )?[Tt]here {{be}} # {COLOR} _": lambda facts, n, a: told(facts, a, n),
    f"[Tt]he number of {COLOR} _ {{be}} #": told,
    f"[Tt]here {{be}} # (?:more|fewer) {COLOR} _ than {COLOR} _": lambda facts, n, b, a: told(
        facts, "gap", n
    ),
    f"# of the {COLOR} _ {{be}} sold": lambda facts, k, kind: changed(facts, -k, kind),
    f"# new {COLOR} _ {{be}} added": changed,
    f"(?:In the end, )?[Hh]ow many {TWO} _ {{be}} there(?: in the end)?": asked_all,
    f"Find the number of {TWO} _ in the end": asked_all,
    f"(?:In the end, )?[Hh]ow many {COLOR} _ {{be}} there(?: in the end)?": asked,
    f"Find the number of {COLOR} _(?: in the end)?": asked,
    f"(?:In the end, )?[Hh]ow many of the _ {{be}} {COLOR}": asked,
    f"Each {COLOR} _ {{cost}} #": lambda facts, kind, price: facts.update(price=price),
    f"How many dollars {{do}} all the {COLOR} _ cost": lambda facts, kind: asked_cost(
        facts, kind, facts["price"]
    ),
    f"How many dollars {{do}} all the {COLOR} _ cost if each of them {{cost}} #": asked_cost,
    f"If each {COLOR} _ {{cost}} #, how many dollars {{do}} all the {COLOR} _ cost": (
        lambda facts, kind, price, again: asked_cost(facts, again, price)
    ),
}


def recipe(facts: Facts, count: Fraction, amount: Fraction, stuff: str, *other: Any) -> None:
    facts.update({"per": count, stuff: amount})
    if other:
        facts[other[1]] = other[0]


def wants(facts: Facts, count: Fraction, guests: Any = 1) -> None:
    facts["batches"] = count * guests / facts["per"]


def has(facts: Facts, amount: Fraction, stuff: str) -> None:
    facts["has"] = amount


def pack(facts: Facts, amount: Fraction, price: Fraction) -> None:
    facts.update(pack=amount, price=price)


def need(facts: Facts, stuff: str) -> Fraction:
    """The ingredient's name, or the end of it: "bags of flour" hold cups of flour."""
    name = next(name for name in facts if name.split()[-1] == stuff.split()[-1])
    needed: Fraction = facts["batches"] * facts[name] - facts.get("has", 0)
    return needed


def asked_need(facts: Facts, stuff: str) -> None:
    answer(facts, need(facts, stuff))


def asked_packs(facts: Facts, stuff: str) -> None:
    answer(facts, need(facts, stuff) / facts["pack"])


def asked_price(facts: Facts, stuff: str) -> None:
    answer(facts, need(facts, stuff) / facts["pack"] * facts["price"])


STUFF = "((?:cups?|grams?) of [a-z]+|eggs?|apples?)"
PACK = "((?:bags|bottles|boxes|packs) of [a-z]+)"
NEEDED = "(?:{do} @ need|{be} needed)(?: for this)?"
BAKED = "(?:cookies|muffins|rolls|cupcakes)"
RECIPES: Rules = {
    f"A recipe for # {BAKED} {{need}} # {STUFF}(?: and # {STUFF})?": recipe,
    f"To bake # {BAKED}, @ {{need}} # {STUFF}(?: and # {STUFF})?": recipe,
    f"@ {{need}} # {STUFF}(?: and # {STUFF})? for # {BAKED}": (
        lambda facts, k, stuff, j, other, n: recipe(facts, n, k, stuff, j, other)
    ),
    f"@ (?:{{want}} to|{{be}} going to) (?:bake|make) # {BAKED}": wants,
    f"@ {{want}} to bake # {BAKED} for each of # guests": wants,
    f"There {{be}} # guests, and @ {{want}} to bake # {BAKED} for each of them": wants,
    f"@ {{have}} # guests and {{want}} to bake # {BAKED} for each of them": wants,
    f"(?:At home, )?@ (?:already )?{{have}} # {STUFF}(?: at home)?": has,
    f"There {{be}} # {STUFF} in a _, which {{cost}} #": lambda facts, h, _, p: pack(facts, h, p),
    f"A _ with # {STUFF} in it {{cost}} #": lambda facts, h, _, p: pack(facts, h, p),
    f"A _ {{cost}} #, and there {{be}} # {STUFF} in it": lambda facts, p, h, _: pack(facts, h, p),
    f"How many (?:more )?{STUFF} {NEEDED}": asked_need,
    f"How many {PACK} (?:{NEEDED}|{{do}} @ need to buy)": asked_packs,
    f"How many dollars {{do}} the {PACK} cost that @ {{need}}": asked_price,
    f"How many dollars {{do}} @ spend on the {PACK} that @ {{need}}": asked_price,
    f"How many dollars {{do}} @ need for the {PACK}": asked_price,
}


def test_a_ratio_leads_to_the_gold() -> None:
    reckoning = reckon("ratios", RATIOS, (2, 5))
    assert (reckoning.understood, reckoning.wrong, reckoning.unread) == (600, [], [])


def test_a_recipe_leads_to_the_gold() -> None:
    reckoning = reckon("recipes", RECIPES, (3, 6))
    assert (reckoning.understood, reckoning.wrong, reckoning.unread) == (600, [], [])
