"""Two kinds in a given ratio: from the whole, from one kind or from the difference."""

from __future__ import annotations

from math import gcd

from gradeschool.datasets.fresh.nouns import COLOR_WORDS, HOME, SMALL, Noun
from gradeschool.datasets.fresh.quantity import Quantity
from gradeschool.datasets.fresh.story import Story, Unfit
from gradeschool.datasets.fresh.wording import wordings

RATIO = wordings(
    """
    The ratio of {a} {item} to {b} {item} {~be} {p} to {q}.
    For every {p} {a} {item} there {~~be} {q} {b} {item}.
    The {a} {item} and the {b} {item} {~~be} in the ratio of {p} to {q}.
    """
)
WHERE = wordings(
    """
    {A} {~have} only {a} and {b} {item}.
    A shop {~sell} {a} and {b} {item}.
    In a box there {~~be} only {a} and {b} {item}.
    """
)
WHOLE = wordings(
    """
    There {~~be} {n} {a} and {b} {item} in all.
    Together there {~~be} {n} {a} and {b} {item}.
    In all, there {~~be} {n} {a} and {b} {item}.
    """
)
ONE = wordings(
    """
    There {~~be} {n} {a} {item}.
    The number of {a} {item} {~be} {n}.
    In all, there {~~be} {n} {a} {item}.
    """
)
GAP = wordings(
    """
    There {~~be} {n} more {b} {item} than {a} {item}.
    There {~~be} {n} more {b} {item} than {a} ones.
    There {~~be} {n} fewer {a} {item} than {b} {item}.
    """
)
GONE = wordings(
    """
    Then {k} of the {kind} {item} {~~be} sold.
    After that, {k} of the {kind} {item} {~~be} sold.
    Later, {k} of the {kind} {item} {~~be} sold.
    """
)
NEW = wordings(
    """
    Then {k} new {kind} {item} {~~be} added.
    After that, {k} new {kind} {item} {~~be} added.
    Later, {k} new {kind} {item} {~~be} added.
    """
)
COUNT = wordings(
    """
    How many {kind} {item} {~~be} there?
    Find the number of {kind} {item}.
    How many of the {item} {~~be} {kind}?
    """
)
COUNT_THEN = wordings(
    """
    How many {kind} {item} {~~be} there in the end?
    Find the number of {kind} {item} in the end.
    In the end, how many of the {item} {~~be} {kind}?
    """
)
ALL = wordings(
    """
    How many {a} and {b} {item} {~~be} there in the end?
    In the end, how many {a} and {b} {item} {~~be} there?
    Find the number of {a} and {b} {item} in the end.
    """
)
MONEY = wordings(
    """
    Each {kind} {item.one} {~cost} {p}. How many dollars {~~do} all the {kind} {item} cost?
    How many dollars {~~do} all the {kind} {item} cost if each of them {~cost} {p}?
    If each {kind} {item.one} {~cost} {p}, how many dollars {~~do} all the {kind} {item} cost?
    """
)


def ratios(story: Story) -> None:
    """Tell of things of two colors in a ratio."""
    chance = story.chance
    a, b = chance.sample(COLOR_WORDS, 2)
    item: Noun = chance.pick(SMALL[:7] + HOME)
    story.cast.update(A=story.person(), a=a, b=b, item=item)
    p, q = story.given(2, 7, "part"), story.given(3, 9, "part")
    if p.value >= q.value or gcd(int(p.value), int(q.value)) > 1:
        raise Unfit
    if chance.hit(0.6):
        story.open(WHERE)
    one, known = _one_part(story, p, q)
    first = known or story.step("There {~~be} {=} {a} {item}.", one * p)
    second = story.step("There {~~be} {=} {b} {item}.", one * q)
    side = chance.below(2)
    values, kinds = [first, second], [a, b]
    changed = False
    while story.left > 1 and chance.hit(0.75):
        at, k = chance.below(2), story.given(2, 20, "change")
        sold = chance.hit(0.5)
        story.event(GONE if sold else NEW, k=k, kind=kinds[at])
        now = values[at] - k if sold else values[at] + k
        values[at] = story.step("Then there {~~be} {=} {kind} {item}.", now, kind=kinds[at])
        changed = True
    _ask(story, values, kinds, side, changed)


def _one_part(story: Story, p: Quantity, q: Quantity) -> tuple[Quantity, Quantity | None]:
    """State a total, the difference or the first kind; return one part and the kind if stated."""
    unit = story.chance.between(2, 15 if not story.style.wide else 60)
    story.widened |= unit > 15
    kind = story.chance.below(3)
    if kind == 0:
        n = story.known(unit * (p.value + q.value), "whole")
        story.fact(WHOLE, n=n)
        parts = story.step("There {~~be} {=} parts in all.", p + q)
    elif kind == 1:
        n, parts = story.known(unit * p.value, "one"), p
        story.fact(ONE, n=n)
    else:
        n = story.known(unit * (q.value - p.value), "gap")
        if n.value < 2:
            raise Unfit
        story.fact(GAP, n=n)
        parts = story.step("The difference {~be} {=} parts.", q - p)
        if parts.value == 1:
            raise Unfit
    story.fact(RATIO, p=p, q=q)
    return story.step("One part {~be} {=} {item}.", n / parts), n if kind == 1 else None


def _ask(story: Story, values: list[Quantity], kinds: list[str], side: int, changed: bool) -> None:
    kind = story.chance.below(3)
    if kind == 0 and changed:
        total = story.step("In all there {~~be} {=} {item}.", values[0] + values[1])
        story.ask(ALL, total)
    elif kind == 1 and not changed:
        p = story.given(2, 20, "price", money=True)
        cost = story.step("They {~~cost} {=}.", values[side] * p)
        story.ask(MONEY, cost, kind=kinds[side], p=p)
    else:
        story.ask(COUNT_THEN if changed else COUNT, values[side], kind=kinds[side])
