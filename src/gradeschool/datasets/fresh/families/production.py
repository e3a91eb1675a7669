"""Making things: machines at a rate, what is thrown away, how it is packed and sold."""

from __future__ import annotations

from collections.abc import Callable

from gradeschool.datasets.fresh.nouns import CLOTHES, HOME, PACKING, TOYS, Noun
from gradeschool.datasets.fresh.quantity import Quantity
from gradeschool.datasets.fresh.relations import some, times
from gradeschool.datasets.fresh.story import Story, Unfit
from gradeschool.datasets.fresh.wording import wordings

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
USED = wordings(
    """
    The workers keep {k} of them.
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
PRICE = wordings(
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
HOW_MANY = wordings(
    """
    How many {item} {~do} the {place} have in the end?
    How many {item} {~~be} there in the end?
    In the end, how many {item} {~~be} there?
    """
)
HOW_MANY_BOXES = wordings(
    """
    How many {crate} {~~be} filled?
    How many {crate} {~do} the {place} need for all the {item}?
    How many {crate} {~~be} needed for all the {item}?
    """
)
HOW_MUCH = wordings(
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
    """Tell of a place where things are made."""
    chance = story.chance
    place, maker = chance.pick(MAKERS)
    story.cast.update(place=place, maker=maker, item=chance.pick(CLOTHES + HOME + TOYS),
                      rest="all the", crate=chance.pick(PACKING))  # fmt: skip
    made = _made(story)
    if story.left > 1 and chance.hit(0.5):  # first, so that it is clear what the part is of
        made = _gone_part(story, made)
    for event in chance.sample((_gone, _used, _old), 2):
        if story.left > 1 and chance.hit(0.5):
            made = event(story, made)
    chance.pick(ENDINGS if story.left > 0 else (_counted,))(story, made)


def _made(story: Story) -> Quantity:
    kind, m = story.chance.below(4), story.given(4, 20, "rate")
    if kind == 0 or story.size < 4:
        story.open(ONE, m=m)
        hourly = m
    elif kind == 1:
        k = times(story, 2, 4)
        story.open(KINDS, m=m, k=k)
        new = story.step("The new {maker.one} {~make} {=} {item} an hour.", m * k)
        hourly = story.step("Together they {~~make} {=} {item} an hour.", m + new)
    else:
        k = story.given(2, 9, "machines", words=True)
        story.open(HAVE, m=m, k=k)
        hourly = story.step("In an hour, the {maker} {~~make} {=} {item}.", k * m)
    h = story.given(3, 9, "hours", most=20, words=True)
    if story.left < 2 or story.chance.hit(0.3):
        story.open(THIS_LONG, h=h)
        return story.step("In that time, {=} {item} {~~be} made.", hourly * h)
    story.open(HOURS, h=h)
    d = story.given(3, 6, "days", most=7, words=True)
    story.open(DAYS, d=d)
    daily = story.step("In a day, {=} {item} {~~be} made.", hourly * h)
    return story.step("In {d} days, {=} {item} {~~be} made.", daily * d, d=d)


def _gone_part(story: Story, made: Quantity) -> Quantity:
    story.cast["gone"] = True
    part = some(story, made)
    story.event(GONE, k=part.said)
    gone = story.step("Of them, {=} {~~be} thrown away.", part.taken)
    return story.step("That {~leave} {=} {item}.", made - gone)


def _gone(story: Story, made: Quantity) -> Quantity:
    story.cast["gone"] = True
    k = story.given(5, 40, "gone")
    story.event(GONE[1:], k=k)
    return story.step("Then there {~~be} {=} {item} left.", made - k)


def _used(story: Story, made: Quantity) -> Quantity:
    story.cast["gone"] = True
    k = story.given(5, 60, "given")
    story.event(USED[1:], k=k)
    return story.step("Then there {~~be} {=} {item} left.", made - k)


def _old(story: Story, made: Quantity) -> Quantity:
    k = story.given(5, 60, "old")
    story.event(OLD, k=k)
    return story.step("With the older ones there {~~be} {=} {item}.", made + k)


def _counted(story: Story, made: Quantity) -> None:
    story.ask(HOW_MANY, made)


def _boxed(story: Story, made: Quantity) -> Quantity:
    k = story.divisor(made, 2, 20, "each")
    story.late(BOXED, k=k)
    return story.step("They {~~fill} {=} {crate}.", made / k)


def _boxes(story: Story, made: Quantity) -> None:
    story.ask(HOW_MANY_BOXES, _boxed(story, made))


def _sold(story: Story, made: Quantity) -> None:
    if story.left > 1 and story.chance.hit(0.7):
        units = _boxed(story, made)
        unit, p = story.cast["crate"], story.given(5, 30, "price", money=True)
    else:
        units, unit = made, story.cast["item"]
        story.cast["rest"] = "all the other" if "gone" in story.cast else "all the"
        p = story.given(max(2, unit.low // 2), max(5, unit.high // 2), "price", money=True)
    story.late(PRICE, unit=unit, p=p)
    money = story.step("The {unit} {~~bring} in {=}.", units * p, unit=unit)
    if story.left > 0 and story.chance.hit(0.7):
        if money.value < 40:
            raise Unfit
        k = story.given(20, min(int(money.value) * 3 // 4, 900), "cost", by=10, money=True)
        story.late(COSTS, k=k)
        money = story.step("The {place} {~have} {=} left.", money - k)
        story.ask(PROFIT, money, unit=unit)
    else:
        story.ask(HOW_MUCH, money, unit=unit)


ENDINGS: tuple[Callable[[Story, Quantity], None], ...] = (_counted, _boxes, _sold, _sold)
