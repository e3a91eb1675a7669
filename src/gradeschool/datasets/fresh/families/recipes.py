"""Recipes: what so many cakes need, what is there, what is to be bought."""

from __future__ import annotations

from typing import NamedTuple

from gradeschool.datasets.fresh.nouns import Noun
from gradeschool.datasets.fresh.quantity import Quantity
from gradeschool.datasets.fresh.story import Story, Unfit
from gradeschool.datasets.fresh.wording import wordings


class Stuff(NamedTuple):
    """What goes into a recipe: the unit that it is counted in, and what it comes in."""

    unit: Noun
    holder: Noun
    pack: Noun
    low: int
    high: int


def _of(one: str, many: str, stuff: str) -> Noun:
    return Noun(f"{one} of {stuff}", f"{many} of {stuff}")


def _stuff(unit: Noun, holder: str, what: str, low: int, high: int) -> Stuff:
    many = "boxes" if holder == "box" else f"{holder}s"
    return Stuff(unit, Noun(holder, many), _of(holder, many, what), low, high)


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
    """Tell of somebody who bakes from a recipe."""
    chance = story.chance
    one, two = chance.sample(STUFFS, 2)
    story.cast.update(A=story.person(), item=chance.pick(BAKED), stuff=one.unit,
                      other=two.unit, pack=one.pack, holder=one.holder)  # fmt: skip
    n = story.given(6, 24, "per recipe", by=chance.pick((2, 4, 6)))
    by = 10 if one.low > 10 else 1  # grams are round
    k = story.given(one.low, one.high, "each", words=by == 1, by=by)
    if chance.hit(0.35):
        step = 10 if two.low > 10 else 1
        j = story.given(two.low, two.high, "distractor", words=step == 1, by=step)
        story.distractors += 1
        story.open(RECIPE_TWO, n=n, k=k, j=j)
    else:
        story.open(RECIPE, n=n, k=k)
    total = _wanted(story, n)
    batches = story.step("{A} {~make} the recipe {=} times.", total / n)
    need = story.step("{A} {~need} {=} {stuff}.", batches * k)
    more = False
    if story.left > 0 and chance.hit(0.7) and need.value > 4:
        top = int(need.value) - 2
        h = story.known(chance.between(2, top) // by * by, "has")
        story.fact(HAS, h=h)
        need = story.step("{A} {~need} {=} more {stuff}.", need - h)
        more = True
    if story.left > 0 and chance.hit(0.8):
        h = story.divisor(need, 2, 30, "per pack") if by == 1 else story.divisor(need, 100, 500)
        if h.value % by:
            raise Unfit
        p = story.given(2, 7, "price", money=True)
        story.late(PACKS, h=h, p=p)
        packs = story.step("{A} {~need} {=} {pack}.", need / h)
        if story.left > 0 and chance.hit(0.8):
            story.ask(COST, story.step("The {pack} {~~cost} {=}.", packs * p))
        else:
            story.ask(NEED_PACKS, packs)
    else:
        story.ask(NEED_MORE if more else NEED, need)


def _wanted(story: Story, n: Quantity) -> Quantity:
    """State how many are to be baked: a multiple of the recipe's number."""
    if story.size > 3 and story.chance.hit(0.5):
        g, m = story.given(4, 20, "guests"), story.given(2, 6, "each guest", words=True)
        total = g.value * m.value
        if total % n.value or total == n.value:
            raise Unfit
        story.open(GUESTS, g=g, m=m)
        return story.step("{A} {~want} to bake {=} {item}.", g * m)
    top = 6 if not story.style.wide else 30
    t = story.known(n.value * story.chance.between(2, top), "wanted")
    story.widened |= t.value > 6 * n.value
    story.open(WANTS, t=t)
    return t
