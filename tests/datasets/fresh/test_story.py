"""Stories: choices, quantities, sentences that agree, annotations that are checked."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradeschool import calculator
from gradeschool.datasets.fresh.story import (
    PEOPLE,
    VERBS,
    Chance,
    Noun,
    Quantity,
    Speaker,
    Story,
    StoryStyle,
    leaf,
    nodes,
    signature,
    verb,
)  # fmt: skip

MIA, ANNA, BEN = (
    next(person for person in PEOPLE if person.name == name) for name in ("Mia", "Anna", "Ben")
)
PEACH = Noun("peach", "peaches")


def test_a_key_has_the_draws_that_it_always_had() -> None:
    """Another sequence would be other problems under the same seed."""
    chance = Chance("1", 7, "test", 0, 0)
    assert [chance.below(1000) for _ in range(5)] == [577, 39, 737, 864, 351]


LEAVES = st.integers(1, 60).map(lambda value: leaf(value, "n"))


def joined(pair: tuple[Quantity, Quantity, str]) -> Quantity:
    first, second, operator = pair
    if operator == "+":
        return first + second
    if operator == "-":
        return first - second
    if operator == "*":
        return first * second
    return first / second if second.value else first


QUANTITIES = st.recursive(
    LEAVES, lambda inner: st.tuples(inner, inner, st.sampled_from("+-*/")).map(joined), max_leaves=5
)


@given(QUANTITIES)
def test_the_written_expression_has_the_value(quantity: Quantity) -> None:
    """Brackets are written where they are needed; the calculator reads the same value."""
    assert calculator.evaluate(quantity.written) == quantity.value


def test_brackets_are_written_only_where_they_are_needed() -> None:
    a, b, c = leaf(2, "a"), leaf(3, "b"), leaf(4, "c")
    assert ((a + b) * c).written == "(2+3)*4"
    assert (a + b * c).written == "2+3*4"
    assert (a - (b - c)).written == "2-(3-4)"
    assert (a + (b + c)).written == "2+3+4"
    assert (a / (b * c)).written == "2/(3*4)"


def test_money_stays_money_and_a_quotient_of_money_is_a_number() -> None:
    price, count = leaf(6, "price", money=True), leaf(3, "count")
    assert (price * count).money
    assert (price / count).money
    assert not (price / price).money
    assert (price / leaf(4, "count")).shown == "1.50"
    assert leaf(12, "price", money=True).shown == "12"


def test_a_result_is_written_as_its_value() -> None:
    result = (leaf(2, "a") + leaf(3, "b")).as_result()
    assert result.written == "5"
    assert (result * leaf(4, "c")).written == "5*4"
    assert signature(result.tree) == "(a+b)"
    assert len(list(nodes(result.tree))) == 1


def say(template: str, past: bool = False, **values: Any) -> str:
    return Speaker(Chance("a"), past).say(template, values)


@pytest.mark.parametrize(
    ("field", "past", "form"),
    [
        ("~give", False, "gives"),
        ("~~give", False, "give"),
        ("~give", True, "gave"),
        ("~be", False, "is"),
        ("~~be", True, "were"),
        ("~act", True, "drove"),
    ],
)
def test_verbs_agree_with_subject_and_tense(field: str, past: bool, form: str) -> None:
    assert verb(field, {"act": "drive"}, past) == form


def test_every_verb_has_three_forms_of_one_word() -> None:
    assert all(len(forms) == 3 for forms in VERBS.values())
    assert all(
        present in (f"{base}s", "goes", "does", "has") for base, present, _ in VERBS.values()
    )


@pytest.mark.parametrize(
    ("count", "spoken", "words"),
    [
        (1, "", "1 peach"),
        (2, "", "2 peaches"),
        (3, "three", "three peaches"),
        (1, "one", "one peach"),
    ],
)
def test_things_agree_with_their_number(count: int, spoken: str, words: str) -> None:
    quantity = leaf(count, "n", spoken=spoken)
    assert say("{A} has {n item}.", A=MIA, n=quantity, item=PEACH) == f"Mia has {words}."


def test_articles_money_and_capitals() -> None:
    assert Noun("eraser", "erasers").article == "an eraser"
    assert Noun("hour", "hours").article == "an hour"
    assert say("each {item.one} costs {p}.", item=PEACH, p=leaf(2, "p", money=True)) == (
        "Each peach costs $2."
    )
    assert say("3 of them are ripe.") == "Three of them are ripe."
    assert say("13 of them are ripe.") == "13 of them are ripe."


def test_a_pronoun_is_used_only_where_it_can_mean_one_person() -> None:
    assert say("{A} meets {B}, and {A.he} waves.", A=MIA, B=BEN) == "Mia meets Ben, and she waves."
    assert say("{A} meets {B}, and {A.he} waves.", A=MIA, B=ANNA) == (
        "Mia meets Anna, and Mia waves."
    )
    assert say("{A.his} bag is full.", A=BEN) == "Ben's bag is full."


def test_a_row_draws_says_and_computes() -> None:
    story = Story(Chance("row"), StoryStyle(), {"tips": ("{A} {~get} {k} in tips.",)})
    story.in_present()
    story.cast["A"] = MIA
    now = leaf(20, "wage", money=True)
    row = ("tips", "k=$5-5 tips; m=2-2 friends", "She {~have} {=now+k}.", "Each {~get} {=it/m}.")
    share = story.turn(*row, now=now)
    assert (share.value, signature(share.tree)) == (Fraction(25, 2), "((wage+tips)/friends)")
    assert [step.text for step in story.steps] == [
        "She has 20+5=$<<20+5=25>>25.", "Each gets 25/2=$<<25/2=12.5>>12.50."
    ]  # fmt: skip
