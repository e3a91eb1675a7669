"""A farm: rows of trees, fruit from each, what is eaten or sold, baskets and prices."""

from __future__ import annotations

from gradeschool.datasets.fresh.nouns import FRUIT, Noun
from gradeschool.datasets.fresh.quantity import Quantity
from gradeschool.datasets.fresh.relations import some, times
from gradeschool.datasets.fresh.story import Story
from gradeschool.datasets.fresh.wording import wordings

ROWS = wordings(
    """
    A farmer {~plant} {r} rows of {item.one} trees with {t} trees in each row.
    On a farm, there {~~be} {r} rows of {item.one} trees, with {t} trees in each row.
    A farmer {~have} {r} rows of {item.one} trees, with {t} trees in each of them.
    """
)
TREES = wordings(
    """
    A farmer {~have} {t} {item.one} trees.
    On a farm, there {~~be} {t} {item.one} trees.
    There {~~be} {t} {item.one} trees on a farm.
    """
)
DEAD = wordings(
    """
    {k} of the trees {~~be} too old and {~~have} no fruit.
    Of the trees, {k} {~~be} too young and {~~have} no fruit.
    Of all the trees, {k} {~~be} too old and {~~have} no fruit.
    """
)
EACH = wordings(
    """
    Each tree with fruit {~have} {m item}.
    There {~~be} {m item} on each tree with fruit.
    On each tree with fruit, there {~~be} {m item}.
    """
)
EACH_ALL = wordings(
    """
    Each tree {~have} {m item}.
    There {~~be} {m item} on each tree.
    On each tree, there {~~be} {m item}.
    """
)
PICKERS = wordings(
    """
    {k} people {~~work} on a farm, and each of them {~pick} {m item} an hour for {h} hours.
    On a farm, {k} people {~~pick} {m item} an hour each for {h} hours.
    For {h} hours, {k} people on a farm {~~pick} {m item} an hour each.
    """
)
LAST = wordings(
    """
    Last year the farm had {part} as many {item}.
    Last year there were {part} as many {item}.
    Last year, the farmer had {part} as many {item}.
    """
)
BAD = wordings(
    """
    {part} of the {item} {~~be} bad and thrown away.
    Birds {~~eat} {part} of the {item}.
    Of the {item}, {part} {~~be} bad and thrown away.
    """
)
KEPT = wordings(
    """
    The farmer {~keep} {k item} for the family.
    The farmer {~give} {k item} to a school.
    A school {~get} {k} of the {item} for free.
    """
)
PACKED = wordings(
    """
    The rest {~be} put into {crate}, with {k item} in each {crate.one}.
    The farmer {~put} the rest into {crate} of {k}.
    All the rest {~be} put into {crate} of {k item} each.
    """
)
PRICE = wordings(
    """
    Each {unit.one}{left} {~be} sold for {p}.
    The farmer {~get} {p} for each {unit.one}{left}.
    For each {unit.one}{left}, the farmer {~get} {p}.
    """
)
HOW_MANY = wordings(
    """
    How many {item} {~~be} left?
    Find the number of {item} that {~~be} left.
    How many of the {item} {~~be} left?
    """
)
HOW_MANY_BOXES = wordings(
    """
    How many {crate} {~~be} filled?
    How many {crate} {~do} this take?
    How many {crate} {~~be} needed?
    """
)
HOW_MUCH = wordings(
    """
    How many dollars {~do} the farmer get in all?
    In all, how many dollars {~do} the farmer get?
    How many dollars {~be} that for the farmer in all?
    """
)
BOTH_YEARS = wordings(
    """
    How many {item} {~be} that in the two years together?
    How many {item} {~~be} there in both years together?
    In both years together, how many {item} {~~be} there?
    """
)


def harvest(story: Story) -> None:
    """Tell of a farm with fruit."""
    chance = story.chance
    story.in_present()
    story.connected = False
    crates = (Noun("box", "boxes"), Noun("basket", "baskets"), Noun("crate", "crates"))
    story.cast.update(item=chance.pick(FRUIT), crate=chance.pick(crates))
    fruit = _fruit(story)
    less = False
    if story.left > 1 and chance.hit(0.6):
        fruit, less = _bad(story, fruit), True
    if story.left > 1 and chance.hit(0.5):
        fruit, less = _kept(story, fruit), True
    _end(story, fruit, less)


def _fruit(story: Story) -> Quantity:
    chance = story.chance
    if chance.hit(0.3):
        k, h = story.given(2, 9, "people", words=True), story.given(2, 8, "hours", words=True)
        m = story.given(12, 60, "rate", by=2)
        story.open(PICKERS, k=k, m=m, h=h)
        hourly = story.step("In an hour, they {~~pick} {=} {item}.", k * m)
        return story.step("In all, they {~~pick} {=} {item}.", hourly * h)
    if chance.hit(0.6):
        r, t = story.given(3, 9, "rows", words=True), story.given(4, 15, "trees")
        story.open(ROWS, r=r, t=t)
        trees = story.step("There {~~be} {=} trees.", r * t)
    else:
        trees = story.given(12, 60, "trees", by=chance.pick((1, 2, 5)))
        story.open(TREES, t=trees)
    m = story.given(10, 60, "each", by=chance.pick((1, 2, 5)))
    if story.left > 2 and chance.hit(0.4):
        k = story.given(2, 9, "dead", words=True)
        story.open(DEAD[1:], k=k)
        trees = story.step("There {~~be} {=} trees with fruit.", trees - k)
        story.open(EACH, m=m)
    else:
        story.open(EACH_ALL, m=m)
    return story.step("In all, there {~~be} {=} {item}.", trees * m)


def _bad(story: Story, fruit: Quantity) -> Quantity:
    part = some(story, fruit)
    story.event(BAD, part=part.said)
    gone = story.step("That {~be} {=} {item} less.", part.taken)
    return story.step("Then {=} {item} {~~be} left.", fruit - gone)


def _kept(story: Story, fruit: Quantity) -> Quantity:
    k = story.given(5, 80, "kept")
    story.event(KEPT, k=k)
    return story.step("Then {=} {item} {~~be} left.", fruit - k)


def _end(story: Story, fruit: Quantity, less: bool) -> None:
    if story.left < 1 and less:
        story.ask(HOW_MANY, fruit)
        return
    if not less and story.chance.hit(0.3):
        t = times(story, 2, 3)
        story.late(LAST, part=t.spoken)
        before = story.step("Last year there were {=} {item}.", fruit * t)
        story.ask(BOTH_YEARS, story.step("In both years, there {~~be} {=} {item}.", fruit + before))
        return
    unit, units = story.cast["item"], fruit
    if less and story.left > 0 and story.chance.hit(0.7):
        k = story.divisor(fruit, 5, 40, "per box")
        story.event(PACKED, k=k)
        unit, units = story.cast["crate"], story.step("They {~~fill} {=} {crate}.", fruit / k)
        if story.left < 1 or story.chance.hit(0.3):
            story.ask(HOW_MANY_BOXES, units)
            return
    p = story.given(2, 3 if unit is story.cast["item"] else 20, "price", money=True)
    left = " that is left" if less and unit is story.cast["item"] else ""
    story.event(PRICE, unit=unit, p=p, left=left)
    story.ask(HOW_MUCH, story.step("The farmer {~get} {=}.", units * p))
