"""Ratios and recipes.

Two kinds in a given ratio: from the whole, from one kind or from the difference.

Recipes: the ingredients for a number of cakes, what is there, what must be bought.
"""

from __future__ import annotations

from math import gcd
from typing import NamedTuple

from gradeschool.datasets.fresh.quantity import Quantity
from gradeschool.datasets.fresh.story import Story, Unfit
from gradeschool.datasets.fresh.wording import COLOR_WORDS, HOME, SMALL, Noun, wordings

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
    """Write a problem about things of two colors in a ratio."""
    chance = story.chance
    a, b = chance.sample(COLOR_WORDS, 2)
    item: Noun = chance.pick(SMALL[:7] + HOME)
    story.cast.update(A=story.person(), a=a, b=b, item=item)
    p, q = story.draw(2, 7, "part"), story.draw(3, 9, "part")
    if p.value >= q.value or gcd(int(p.value), int(q.value)) > 1:
        raise Unfit
    if chance.hit(0.6):
        story.open(WHERE)
    part, stated = _one_part(story, p, q)
    first = stated or story.step("There {~~be} {=} {a} {item}.", part * p)
    second = story.step("There {~~be} {=} {b} {item}.", part * q)
    side = chance.below(2)
    values, kinds = [first, second], [a, b]
    changed = False
    while story.steps_left > 1 and chance.hit(0.75):
        which, k = chance.below(2), story.draw(2, 20, "change")
        sold = chance.hit(0.5)
        story.event(GONE if sold else NEW, k=k, kind=kinds[which])
        now = values[which] - k if sold else values[which] + k
        values[which] = story.step("Then there {~~be} {=} {kind} {item}.", now, kind=kinds[which])
        changed = True
    _ask(story, values, kinds, side, changed)


def _one_part(story: Story, p: Quantity, q: Quantity) -> tuple[Quantity, Quantity | None]:
    """State a total, the difference or the first kind; return one part and the kind if stated."""
    unit = story.chance.between(2, 15 if not story.style.wide else 60)
    story.widened |= unit > 15
    kind = story.chance.below(3)
    if kind == 0:
        n = story.state(unit * (p.value + q.value), "whole")
        story.fact(WHOLE, n=n)
        parts = story.step("There {~~be} {=} parts in all.", p + q)
    elif kind == 1:
        n, parts = story.state(unit * p.value, "one"), p
        story.fact(ONE, n=n)
    else:
        n = story.state(unit * (q.value - p.value), "gap")
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
        p = story.draw(2, 20, "price", money=True)
        cost = story.step("They {~~cost} {=}.", values[side] * p)
        story.ask(MONEY, cost, kind=kinds[side], p=p)
    else:
        story.ask(COUNT_THEN if changed else COUNT, values[side], kind=kinds[side])


class Ingredient(NamedTuple):
    """An ingredient of a recipe: its unit, and its packaging."""

    unit: Noun
    holder: Noun
    pack: Noun
    low: int
    high: int


def _of(singular: str, plural: str, stuff: str) -> Noun:
    return Noun(f"{singular} of {stuff}", f"{plural} of {stuff}")


def _stuff(unit: Noun, holder: str, what: str, low: int, high: int) -> Ingredient:
    many = "boxes" if holder == "box" else f"{holder}s"
    return Ingredient(unit, Noun(holder, many), _of(holder, many, what), low, high)


STUFFS = (
    _stuff(_of("cup", "cups", "flour"), "bag", "flour", 2, 9),
    _stuff(_of("cup", "cups", "sugar"), "bag", "sugar", 2, 6),
    _stuff(_of("cup", "cups", "milk"), "bottle", "milk", 2, 6),
    _stuff(Noun("egg", "eggs"), "box", "eggs", 2, 8),
    _stuff(_of("gram", "grams", "butter"), "pack", "butter", 40, 150),
    _stuff(Noun("apple", "apples"), "bag", "apples", 3, 9),
)
BAKED = (Noun("cookie", "cookies"), Noun("muffin", "muffins"), Noun("roll", "rolls"),
         Noun("cupcake", "cupcakes"))  # fmt: skip
RECIPE = wordings(
    """
    A recipe for {n item} {~need} {k stuff}.
    To bake {n item}, {A} {~need} {k stuff}.
    {A} {~need} {k stuff} for {n item}.
    """
)
RECIPE_TWO = wordings(
    """
    A recipe for {n item} {~need} {k stuff} and {j other}.
    To bake {n item}, {A} {~need} {k stuff} and {j other}.
    {A} {~need} {k stuff} and {j other} for {n item}.
    """
)
WANTS = wordings(
    """
    {A} {~want} to bake {t item}.
    {A} {~be} going to bake {t item}.
    {A} {~want} to make {t item}.
    """
)
GUESTS = wordings(
    """
    {A} {~want} to bake {m item} for each of {g} guests.
    There {~~be} {g} guests, and {A} {~want} to bake {m item} for each of them.
    {A} {~have} {g} guests and {~want} to bake {m item} for each of them.
    """
)
HAS = wordings(
    """
    {A.he} already {~have} {h stuff}.
    {A} {~have} {h stuff} at home.
    At home, {A} {~have} {h stuff}.
    """
)
PACKS = wordings(
    """
    There {~~be} {h stuff} in a {holder.one}, which {~cost} {p}.
    A {holder.one} with {h stuff} in it {~cost} {p}.
    A {holder.one} {~cost} {p}, and there {~~be} {h stuff} in it.
    """
)
NEED = wordings(
    """
    How many {stuff} {~do} {A} need?
    How many {stuff} {~~be} needed for this?
    How many {stuff} {~do} {A} need for this?
    """
)
NEED_MORE = wordings(
    """
    How many more {stuff} {~do} {A} need?
    How many more {stuff} {~~be} needed?
    How many more {stuff} {~do} {A} need for this?
    """
)
NEED_PACKS = wordings(
    """
    How many {pack} {~do} {A} need to buy?
    How many {pack} {~~be} needed?
    How many {pack} {~do} {A} need?
    """
)
COST = wordings(
    """
    How many dollars {~~do} the {pack} cost that {A} {~need}?
    How many dollars {~do} {A} spend on the {pack} that {A.he} {~need}?
    How many dollars {~do} {A} need for the {pack}?
    """
)


def recipes(story: Story) -> None:
    """Write a problem about baking from a recipe."""
    chance = story.chance
    main, second = chance.sample(STUFFS, 2)
    story.cast.update(A=story.person(), item=chance.pick(BAKED), stuff=main.unit,
                      other=second.unit, pack=main.pack, holder=main.holder)  # fmt: skip
    n = story.draw(6, 24, "per recipe", by=chance.pick((2, 4, 6)))
    by = 10 if main.low > 10 else 1  # grams are round
    k = story.draw(main.low, main.high, "each", words=by == 1, by=by)
    if chance.hit(0.35):
        step = 10 if second.low > 10 else 1
        j = story.draw(second.low, second.high, "distractor", words=step == 1, by=step)
        story.distractors += 1
        story.open(RECIPE_TWO, n=n, k=k, j=j)
    else:
        story.open(RECIPE, n=n, k=k)
    total = _amount(story, n)
    batches = story.step("{A} {~make} the recipe {=} times.", total / n)
    need = story.step("{A} {~need} {=} {stuff}.", batches * k)
    more = False
    if story.steps_left > 0 and chance.hit(0.7) and need.value > 4:
        top = int(need.value) - 2
        h = story.state(chance.between(2, top) // by * by, "has")
        story.fact(HAS, h=h)
        need = story.step("{A} {~need} {=} more {stuff}.", need - h)
        more = True
    if story.steps_left > 0 and chance.hit(0.8):
        h = story.divisor(need, 2, 30, "per pack") if by == 1 else story.divisor(need, 100, 500)
        if h.value % by:
            raise Unfit
        p = story.draw(2, 7, "price", money=True)
        story.late(PACKS, h=h, p=p)
        packs = story.step("{A} {~need} {=} {pack}.", need / h)
        if story.steps_left > 0 and chance.hit(0.8):
            story.ask(COST, story.step("The {pack} {~~cost} {=}.", packs * p))
        else:
            story.ask(NEED_PACKS, packs)
    else:
        story.ask(NEED_MORE if more else NEED, need)


def _amount(story: Story, n: Quantity) -> Quantity:
    """State the number to bake: a multiple of the recipe's number."""
    if story.size > 3 and story.chance.hit(0.5):
        g, m = story.draw(4, 20, "guests"), story.draw(2, 6, "each guest", words=True)
        total = g.value * m.value
        if total % n.value or total == n.value:
            raise Unfit
        story.open(GUESTS, g=g, m=m)
        return story.step("{A} {~want} to bake {=} {item}.", g * m)
    top = 6 if not story.style.wide else 30
    t = story.state(n.value * story.chance.between(2, top), "wanted")
    story.widened |= t.value > 6 * n.value
    story.open(WANTS, t=t)
    return t
