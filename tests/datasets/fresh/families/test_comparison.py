"""Tests that the comparisons of a question lead to its gold."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from tests.support.fresh_questions import Facts, answer, reckon, relate


def told(facts: Facts, name: str, count: Fraction) -> None:
    facts[name] = count


def more(facts: Facts, first: str, count: Fraction, second: str, factor: Any = 1) -> None:
    relate(
        facts,
        first,
        second,
        lambda value: value * factor + count,
        lambda value: (value - count) / factor,
    )


def fewer(facts: Facts, first: str, count: Fraction, second: str) -> None:
    more(facts, second, count, first)


def times(facts: Facts, first: str, factor: Fraction, second: str) -> None:
    more(facts, first, Fraction(0), second, factor)


def more_than_times(
    facts: Facts, first: str, count: Fraction, factor: Fraction, second: str
) -> None:
    more(facts, first, count, second, factor)


def both(facts: Facts, first: str, second: str, third: str) -> None:
    facts[first] = facts[second] + facts[third]


def both_are(facts: Facts, second: str, third: str, first: str) -> None:
    both(facts, first, second, third)


def asked(facts: Facts, name: str) -> None:
    answer(facts, facts[name])


def asked_difference(facts: Facts, larger: str, smaller: str) -> None:
    answer(facts, facts[larger] - facts[smaller])


def asked_difference_after(facts: Facts, smaller: str, larger: str) -> None:
    asked_difference(facts, larger, smaller)


def asked_total(facts: Facts, names: str, *_: str) -> None:
    answer(facts, sum(facts[name] for name in names.replace(" and", ",").split(", ")))


def asked_money(facts: Facts, *_: str) -> None:
    price = facts.pop("price")
    answer(facts, price * sum(facts.values()))


def asked_packs(facts: Facts, *_: str) -> None:
    size = facts.pop("size")
    answer(facts, sum(facts.values()) / size)


ENDS: dict[str, Callable[..., object]] = {
    "(?:Each|Every) _ {be} sold for #": lambda facts, price: told(facts, "price", price),
    "All of the _ {be} sold for # each": lambda facts, price: told(facts, "price", price),
    "All (?:of )?the _ {be} put into _(?: of|, with) #.*": lambda facts, size: told(
        facts, "size", size
    ),
    "How many dollars {do} (?:this|the _|all of the _) bring(?: in)?(?: all| in all)?": asked_money,
    "How many _ (?:{be} needed|{do} this take|{be} that)": asked_packs,
}
NAMES = r"([\w, ]+ and \w+)"
PEOPLE = ENDS | {
    "& {have} (?:a total of )?# _": told,
    "[Tt]he number of _ that & {have} {be} #": told,
    "& {have} # more _ than &": more,
    "& {have} # _ more than &": more,
    "& {have} # fewer _ than &": fewer,
    "& {have} # _ fewer than &": fewer,
    "& {have} #(?: times)? as many _ as &": times,
    "& {have} #(?: times| of)? the number of _ that & {have}": times,
    "[Tt]he number of _ that & {have} {be} #(?: times| of)? the number that & {have}": times,
    "& {have} # more than # times as many _ as &": more_than_times,
    "& {have} # more than # times the number of _ that & {have}": more_than_times,
    "[Tt]he number of _ that & {have} {be} # more than # times the number that & {have}": (
        more_than_times
    ),
    "& {have} as many _ as & and & together": both,
    "& {have} the same number of _ as & and & together": both,
    "& and & together {have} as many _ as & alone": both_are,
    f"(?:Together, )?[Hh]ow many _ {{do}} {NAMES} have(?: together| in all)?": asked_total,
    "How many (?:of the )?_ {do} & have": asked,
    "Find the number of _ that & {have}": asked,
    "How many more _ {do} & have than &": asked_difference,
    "Find how many more _ & {have} than &": asked_difference,
    "How many _ more than & {do} & have": asked_difference_after,
}
COLORS = ENDS | {
    "[Tt]here {be} # & [a-z]+(?: in a shop)?": lambda facts, n, a: told(facts, a, n),
    "(?:A|[Tt]he) shop {have} # & [a-z]+": lambda facts, n, a: told(facts, a, n),
    "In a shop there {be} # & [a-z]+": lambda facts, n, a: told(facts, a, n),
    "[Tt]he number of & [a-z]+ {be} #": told,
    "[Tt]here {be} # more & [a-z]+ than & [a-z]+": lambda facts, k, a, b: more(facts, a, k, b),
    "[Tt]here {be} # fewer & [a-z]+ than & [a-z]+": lambda facts, k, a, b: fewer(facts, a, k, b),
    "[Tt]here {be} #(?: times)? as many & [a-z]+ as & [a-z]+": lambda facts, t, a, b: times(
        facts, a, t, b
    ),
    "[Tt]he number of & [a-z]+ {be} #(?: times| of)? the number of & [a-z]+": times,
    "[Tt]he number of & [a-z]+ {be} # more than # times the number of & [a-z]+": more_than_times,
    "[Tt]here {be} # more than # times as many & [a-z]+ as & [a-z]+": lambda facts, k, t, a, b: (
        more(facts, a, k, b, t)
    ),
    "[Tt]here {be} as many & [a-z]+ as & and & [a-z]+ together": both,
    "[Tt]he number of & [a-z]+ {be} the same as the number of & and & [a-z]+ together": both,
    f"How many {NAMES} [a-z]+ {{be}} there (?:in all|together)": asked_total,
    f"Find the total number of {NAMES} [a-z]+": asked_total,
    "How many & [a-z]+ {be} there": asked,
    "Find the number of & [a-z]+": asked,
    "How many of the [a-z]+ {be} &": asked,
    "How many more & [a-z]+ than & [a-z]+ {be} there": asked_difference,
    "How many more & [a-z]+ {be} there than & ones": asked_difference,
    "Find the difference between the number of & [a-z]+ and the number of & [a-z]+": (
        asked_difference
    ),
}
A = "(?:sell|count|make|pack)s?"
ACT = "(?:sells?|sold|counts?|counted|makes?|made|packs?|packed)"
DAYS = ENDS | {
    f"@ {ACT} # _ on &": lambda facts, n, day: told(facts, day, n),
    f"On &, @ {ACT} # _": told,
    f"[Tt]he number of _ that @ {ACT} on & {{be}} #": told,
    f"On &, @ {ACT} # more _ than on &": more,
    f"On &, @ {ACT} # fewer _ than on &": fewer,
    f"@ {ACT} # more _ on & than on &": lambda facts, k, a, b: more(facts, a, k, b),
    f"@ {ACT} # fewer _ on & than on &": lambda facts, k, a, b: fewer(facts, a, k, b),
    f"On &, @ {ACT} #(?: times)? as many _ as on &": times,
    f"@ {ACT} #(?: times)? as many _ on & as on &": lambda facts, t, a, b: times(facts, a, t, b),
    f"[Tt]he number of _ that @ {ACT} on & {{be}} #(?: times| of)? the number on &": times,
    f"On &, @ {ACT} # more than # times as many _ as on &": more_than_times,
    f"@ {ACT} # more than # times as many _ on & as on &": lambda facts, k, t, a, b: more(
        facts, a, k, b, t
    ),
    f"[Tt]he number of _ that @ {ACT} on & {{be}} # more than # times the number on &": (
        more_than_times
    ),
    f"On &, @ {ACT} as many _ as on & and & together": both,
    f"@ {ACT} as many _ on & as on & and & together": both,
    f"[Tt]he number of _ that @ {ACT} on & {{be}} the same as on & and & together": both,
    f"How many _ {{do}} @ {A} (?:in all )?on {NAMES}(?: together)?": asked_total,
    f"Together, how many _ {{do}} @ {A} on {NAMES}": asked_total,
    f"How many _ {{do}} @ {A} on &": asked,
    f"Find the number of _ that @ {ACT} on &": asked,
    f"On &, how many _ {{do}} @ {A}": asked,
    f"How many more _ {{do}} @ {A} on & than on &": asked_difference,
    f"Find how many more _ @ {ACT} on & than on &": asked_difference,
    f"On &, how many more _ {{do}} @ {A} than on &": asked_difference,
}


def test_the_comparisons_of_a_question_lead_to_its_gold() -> None:
    """Of people, of colors in a shop, and of days."""
    reckonings = [reckon("comparison", rules) for rules in (PEOPLE, COLORS, DAYS)]
    assert [(reckoning.wrong, reckoning.unread) for reckoning in reckonings] == [([], [])] * 3
    assert sum(reckoning.understood for reckoning in reckonings) == 600
