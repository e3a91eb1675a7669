"""Sentences agree: verbs, plurals, articles, pronouns, capitals."""

from __future__ import annotations

from typing import Any

import pytest

from gradeschool.datasets.fresh.chance import Chance
from gradeschool.datasets.fresh.quantity import leaf
from gradeschool.datasets.fresh.wording import (
    PEOPLE,
    VERBS,
    Noun,
    Speaker,
    parts,
    verb,
)

MIA = next(person for person in PEOPLE if person.name == "Mia")
ANNA = next(person for person in PEOPLE if person.name == "Anna")
BEN = next(person for person in PEOPLE if person.name == "Ben")
PEACH = Noun("peach", "peaches")


def say(template: str, past: bool = False, **values: Any) -> str:
    return Speaker(Chance("a"), past).say(template, values)


def test_a_template_is_split_into_texts_and_fields() -> None:
    assert parts("{A} {~have} {n item}.") == (
        ("", "A", ""), (" ", "~have", ""), (" ", "n", "item"), (".", "", ""),
    )  # fmt: skip


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
