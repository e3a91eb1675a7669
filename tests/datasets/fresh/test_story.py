"""Stories: choices, quantities, sentences that agree, annotations that are checked."""

from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gradeschool import calculator
from gradeschool.datasets.fresh.story import (
    OPERATORS,
    PEOPLE,
    Chance,
    Quantity,
    Sentence,
    Speaker,
    Story,
    leaf,
    signature,
)  # fmt: skip

MIA, ANNA, BEN = (
    next(person for person in PEOPLE if person.name == name) for name in ("Mia", "Anna", "Ben")
)


LEAVES = st.integers(1, 60).map(lambda value: leaf(value, "n"))


def joined(pair: tuple[Quantity, Quantity, str]) -> Quantity:
    first, second, sign = pair
    made: Quantity = OPERATORS[sign](first, second) if sign != "/" or second.value else first
    return made


QUANTITIES = st.recursive(
    LEAVES, lambda inner: st.tuples(inner, inner, st.sampled_from("+-*/")).map(joined), max_leaves=5
)


@given(QUANTITIES)
def test_the_written_expression_has_the_value(quantity: Quantity) -> None:
    """Brackets are written where they are needed; the calculator reads the same value."""
    assert calculator.evaluate(quantity.written) == quantity.value


def test_money_stays_money_and_a_quotient_of_money_is_a_number() -> None:
    price, count = leaf(6, "price", money=True), leaf(3, "count")
    assert (price * count).money
    assert (price / count).money
    assert not (price / price).money
    assert (price / leaf(4, "count")).shown == "1.50"
    assert leaf(12, "price", money=True).shown == "12"


def say(template: str, past: bool = False, **values: Any) -> str:
    return Speaker(Chance("a")).say(template, values, past)


def test_a_pronoun_is_used_only_where_it_can_mean_one_person() -> None:
    assert say("{A} meets {B}, and {A.he} waves.", A=MIA, B=BEN) == "Mia meets Ben, and she waves."
    assert say("{A} meets {B}, and {A.he} waves.", A=MIA, B=ANNA) == (
        "Mia meets Anna, and Mia waves."
    )
    assert say("{A.his} bag is full.", A=BEN) == "Ben's bag is full."


def test_a_sentence_draws_says_and_computes() -> None:
    steps = ("She {~have} {=now+k}.", "Each {~get} {=it/m}.")
    tips = Sentence(("{A} {~get} {k} in tips.",), draws="k=$5-5 tips; m=2-2 friends", steps=steps)
    story = Story(Chance("row"), {"tips": tips})
    story.past = False
    story.cast["A"] = MIA
    share = story.turn("tips", now=leaf(20, "wage", money=True))
    assert (share.value, signature(share.tree)) == (Fraction(25, 2), "((wage+tips)/friends)")
    assert [text for text, _ in story.steps] == [
        "She has 20+5=$<<20+5=25>>25.", "Each gets 25/2=$<<25/2=12.5>>12.50."
    ]  # fmt: skip
