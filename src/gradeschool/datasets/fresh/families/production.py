"""Things that are made or grown, packed and sold.

Making things: machines at a rate, what is thrown away, how it is packed and sold.

A farm: rows of trees, fruit from each, what is eaten or sold, baskets and prices.
"""

from __future__ import annotations

from collections.abc import Callable

from gradeschool.datasets.fresh.quantity import Quantity
from gradeschool.datasets.fresh.story import Story, Unfit, some, times
from gradeschool.datasets.fresh.wording import CLOTHES, FRUIT, HOME, PACKING, TOYS, Noun, wordings

MAKERS = (("factory", Noun("machine", "machines")), ("workshop", Noun("worker", "workers")),
          ("company", Noun("robot", "robots")))  # fmt: skip
HAVE = wordings(
    """
    A {place} {~have} {k maker}. Each {maker.one} {~make} {m item} an hour.
    In a {place} there {~~be} {k maker}. Every {maker.one} {~make} {m item} an hour.
    There {~~be} {k maker} in a {place}, and each of them {~make} {m item} an hour.
    """
)
ONE = wordings(
    """
    A {place} {~make} {m item} an hour.
    Every hour, a {place} {~make} {m item}.
    In an hour, a {place} {~make} {m item}.
    """
)
KINDS = wordings(
    """
    A {place} {~have} an old {maker.one} that {~make} {m item} an hour and a new {maker.one} that
        {~make} {k} as many.
    In a {place}, an old {maker.one} {~make} {m item} an hour,
        and a new {maker.one} {~make} {k} as many.
    An old {maker.one} in a {place} {~make} {m item} an hour. A new {maker.one} {~make} {k} as many.
    """
)
HOURS = wordings(
    """
    The {place} {~work} {h} hours a day.
    The {place} {~be} open {h} hours a day.
    Each day, the {place} {~work} for {h} hours.
    """
)
THIS_LONG = wordings(
    """
    The {place} {~work} for {h} hours.
    This {~go} on for {h} hours.
    The work {~go} on for {h} hours.
    """
)
DAYS = wordings(
    """
    It {~work} for {d} days.
    It {~do} this for {d} days.
    For {d} days, it {~work} like this.
    """
)
GONE = wordings(
    """
    {k} of the {item} {~~be} broken and thrown away.
    Of the {item}, {k} {~~be} broken and thrown away.
    Of all the {item}, {k} {~~be} thrown away.
    """
)
GONE_NUMBER = wordings(  # no sentence begins with a number in digits
    """
    Of the {item}, {k} {~~be} broken and thrown away.
    There {~~be} {k} broken {item}, which {~~be} thrown away.
    Of all the {item}, {k} {~~be} thrown away.
    """
)
USED = wordings(
    """
    The {place} {~give} {k item} to a school.
    A school {~get} {k item} for free.
    The {place} {~give} a school {k item}.
    """
)
OLD = wordings(
    """
    There {~~be} also {k item} left from the week before.
    The {place} also {~have} {k} older {item}.
    There {~~be} also {k} older {item}.
    """
)
BOXED = wordings(
    """
    The {item} {~~be} packed in {crate} of {k}.
    Each {crate.one} {~hold} {k item}.
    The {item} {~~be} put into {crate} that {~~hold} {k item} each.
    """
)
PRODUCTION_PRICE = wordings(
    """
    Each {unit.one} {~be} sold for {p}.
    The price of {unit.a} {~be} {p}.
    Every {unit.one} {~be} sold for {p}.
    """
)
COSTS = wordings(
    """
    All the work {~cost} {k}.
    The {place} {~pay} {k} for everything it {~need}.
    For everything it {~need}, the {place} {~pay} {k}.
    """
)
PRODUCTION_HOW_MANY = wordings(
    """
    How many {item} {~do} the {place} have in the end?
    How many {item} {~~be} there in the end?
    In the end, how many {item} {~~be} there?
    """
)
PRODUCTION_HOW_MANY_BOXES = wordings(
    """
    How many {crate} {~~be} filled?
    How many {crate} {~do} the {place} need for {rest} {item}?
    How many {crate} {~~be} needed for {rest} {item}?
    """
)
PRODUCTION_HOW_MUCH = wordings(
    """
    How many dollars {~do} the {place} get if {rest} {unit} {~~be} sold?
    If {rest} {unit} {~~be} sold, how many dollars {~do} the {place} get?
    How many dollars {~do} the {place} get for {rest} {unit}?
    """
)
PROFIT = wordings(
    """
    How many dollars {~do} the {place} have left if {rest} {unit} {~~be} sold?
    How many dollars of profit {~do} the {place} make if {rest} {unit} {~~be} sold?
    If {rest} {unit} {~~be} sold, how many dollars {~do} the {place} have left?
    """
)


def production(story: Story) -> None:
    """Write a problem about a place where things are made."""
    chance = story.chance
    place, maker = chance.pick(MAKERS)
    story.cast.update(place=place, maker=maker, item=chance.pick(CLOTHES + HOME + TOYS),
                      rest="all the", crate=chance.pick(PACKING))  # fmt: skip
    output = _production(story)
    if story.steps_left > 1 and chance.hit(0.5):  # first, so that it is clear what the part is of
        output = _thrown_away(story, output)
    for event in chance.sample((_given_away, _used, _old), 2):
        if story.steps_left > 1 and chance.hit(0.5):
            output = event(story, output)
    chance.pick(ENDINGS if story.steps_left > 0 else (_counted,))(story, output)


def _production(story: Story) -> Quantity:
    kind, m = story.chance.below(4), story.draw(4, 20, "rate")
    if kind == 0 or story.size < 4:
        story.open(ONE, m=m)
        hourly = m
    elif kind == 1:
        k = times(story, 2, 4)
        story.open(KINDS, m=m, k=k)
        new = story.step("The new {maker.one} {~make} {=} {item} an hour.", m * k)
        hourly = story.step("Together they {~~make} {=} {item} an hour.", m + new)
    else:
        k = story.draw(2, 9, "machines", words=True)
        story.open(HAVE, m=m, k=k)
        hourly = story.step("In an hour, the {maker} {~~make} {=} {item}.", k * m)
    h = story.draw(3, 9, "hours", most=20, words=True)
    if story.steps_left < 2 or story.chance.hit(0.3):
        story.open(THIS_LONG, h=h)
        return story.step("In that time, {=} {item} {~~be} made.", hourly * h)
    story.open(HOURS, h=h)
    d = story.draw(3, 6, "days", most=7, words=True)
    story.open(DAYS, d=d)
    daily = story.step("In a day, {=} {item} {~~be} made.", hourly * h)
    return story.step("In {d} days, {=} {item} {~~be} made.", daily * d, d=d)


def _thrown_away(story: Story, output: Quantity) -> Quantity:
    story.cast["rest"] = "all the other"
    part = some(story, output)
    story.event(GONE, k=part.wording)
    removed = story.step("Of them, {=} {~~be} thrown away.", part.taken)
    return story.step("That {~leave} {=} {item}.", output - removed)


def _given_away(story: Story, output: Quantity) -> Quantity:
    story.cast["rest"] = "all the other"
    k = story.draw(5, 40, "gone")
    story.event(GONE_NUMBER, k=k)
    return story.step("Then there {~~be} {=} {item} left.", output - k)


def _used(story: Story, output: Quantity) -> Quantity:
    story.cast["rest"] = "all the other"
    k = story.draw(5, 60, "given")
    story.event(USED, k=k)
    return story.step("Then there {~~be} {=} {item} left.", output - k)


def _old(story: Story, output: Quantity) -> Quantity:
    k = story.draw(5, 60, "old")
    story.event(OLD, k=k)
    return story.step("With the older ones there {~~be} {=} {item}.", output + k)


def _counted(story: Story, output: Quantity) -> None:
    story.ask(PRODUCTION_HOW_MANY, output)


def _boxed(story: Story, output: Quantity) -> Quantity:
    k = story.divisor(output, 2, 20, "each")
    story.late(BOXED, k=k)
    return story.step("They {~~fill} {=} {crate}.", output / k)


def _boxes(story: Story, output: Quantity) -> None:
    story.ask(PRODUCTION_HOW_MANY_BOXES, _boxed(story, output))


def _sold(story: Story, output: Quantity) -> None:
    if story.steps_left > 1 and story.chance.hit(0.7):
        units = _boxed(story, output)
        unit, p = story.cast["crate"], story.draw(5, 30, "price", money=True)
        story.cast["rest"] = "all the"
    else:
        units, unit = output, story.cast["item"]
        p = story.draw(max(2, unit.low // 2), max(5, unit.high // 2), "price", money=True)
    story.late(PRODUCTION_PRICE, unit=unit, p=p)
    money = story.step("The {unit} {~~bring} in {=}.", units * p, unit=unit)
    if story.steps_left > 0 and story.chance.hit(0.7):
        if money.value < 40:
            raise Unfit
        k = story.draw(20, min(int(money.value) * 3 // 4, 900), "cost", by=10, money=True)
        story.late(COSTS, k=k)
        money = story.step("The {place} {~have} {=} left.", money - k)
        story.ask(PROFIT, money, unit=unit)
    else:
        story.ask(PRODUCTION_HOW_MUCH, money, unit=unit)


ENDINGS: tuple[Callable[[Story, Quantity], None], ...] = (_counted, _boxes, _sold, _sold)


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
    There {~be} no fruit on {k} of the trees.
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
HARVEST_PRICE = wordings(
    """
    Each {unit.one}{left} {~be} sold for {p}.
    The farmer {~get} {p} for each {unit.one}{left}.
    For each {unit.one}{left}, the farmer {~get} {p}.
    """
)
HARVEST_HOW_MANY = wordings(
    """
    How many {item} {~~be} left?
    Find the number of {item} that {~~be} left.
    How many of the {item} {~~be} left?
    """
)
HARVEST_HOW_MANY_BOXES = wordings(
    """
    How many {crate} {~~be} filled?
    How many {crate} {~do} this take?
    How many {crate} {~be} that?
    """
)
HARVEST_HOW_MUCH = wordings(
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
    """Write a problem about a farm with fruit."""
    chance = story.chance
    story.in_present()
    story.connected = False
    crates = (Noun("box", "boxes"), Noun("basket", "baskets"), Noun("crate", "crates"))
    story.cast.update(item=chance.pick(FRUIT), crate=chance.pick(crates))
    fruit = _fruit(story)
    less = False
    if story.steps_left > 1 and chance.hit(0.6):
        fruit, less = _bad(story, fruit), True
    if story.steps_left > 1 and chance.hit(0.5):
        fruit, less = _kept(story, fruit), True
    _end(story, fruit, less)


def _fruit(story: Story) -> Quantity:
    chance = story.chance
    if chance.hit(0.3):
        k, h = story.draw(2, 9, "people", words=True), story.draw(2, 8, "hours", words=True)
        m = story.draw(12, 60, "rate", by=2)
        story.open(PICKERS, k=k, m=m, h=h)
        hourly = story.step("In an hour, they {~~pick} {=} {item}.", k * m)
        return story.step("In all, they {~~pick} {=} {item}.", hourly * h)
    if chance.hit(0.6):
        r, t = story.draw(3, 9, "rows", words=True), story.draw(4, 15, "trees")
        story.open(ROWS, r=r, t=t)
        trees = story.step("There {~~be} {=} trees.", r * t)
    else:
        trees = story.draw(12, 60, "trees", by=chance.pick((1, 2, 5)))
        story.open(TREES, t=trees)
    m = story.draw(10, 60, "each", by=chance.pick((1, 2, 5)))
    if story.steps_left > 2 and chance.hit(0.4):
        k = story.draw(2, 9, "dead", words=True)
        story.open(DEAD, k=k)
        trees = story.step("There {~~be} {=} trees with fruit.", trees - k)
        story.open(EACH, m=m)
    else:
        story.open(EACH_ALL, m=m)
    return story.step("In all, there {~~be} {=} {item}.", trees * m)


def _bad(story: Story, fruit: Quantity) -> Quantity:
    part = some(story, fruit)
    story.event(BAD, part=part.wording)
    removed = story.step("That {~be} {=} {item} less.", part.taken)
    return story.step("Then {=} {item} {~~be} left.", fruit - removed)


def _kept(story: Story, fruit: Quantity) -> Quantity:
    k = story.draw(5, 80, "kept")
    story.event(KEPT, k=k)
    return story.step("Then {=} {item} {~~be} left.", fruit - k)


def _end(story: Story, fruit: Quantity, less: bool) -> None:
    if story.steps_left < 1 and less:
        story.ask(HARVEST_HOW_MANY, fruit)
        return
    if not less and story.chance.hit(0.3):
        t = times(story, 2, 3)
        story.late(LAST, part=t.spoken)
        before = story.step("Last year there were {=} {item}.", fruit * t)
        story.ask(BOTH_YEARS, story.step("In both years, there {~~be} {=} {item}.", fruit + before))
        return
    unit, units = story.cast["item"], fruit
    if less and story.steps_left > 0 and story.chance.hit(0.7):
        k = story.divisor(fruit, 5, 40, "per box")
        story.event(PACKED, k=k)
        unit, units = story.cast["crate"], story.step("They {~~fill} {=} {crate}.", fruit / k)
        if story.steps_left < 1 or story.chance.hit(0.3):
            story.ask(HARVEST_HOW_MANY_BOXES, units)
            return
    p = story.draw(2, 3 if unit is story.cast["item"] else 20, "price", money=True)
    remark = " that is left" if less and unit is story.cast["item"] else ""
    story.event(HARVEST_PRICE, unit=unit, p=p, left=remark)
    story.ask(HARVEST_HOW_MUCH, story.step("The farmer {~get} {=}.", units * p))
