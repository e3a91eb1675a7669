"""Water that flows in and out of a tank: what is in it, how long it takes until it is full."""

from __future__ import annotations

from gradeschool.datasets.fresh.quantity import Quantity
from gradeschool.datasets.fresh.relations import percent, share
from gradeschool.datasets.fresh.story import Story, Unfit
from gradeschool.datasets.fresh.wording import wordings

TANKS = (("tank", 5, 40), ("pool", 10, 60), ("barrel", 2, 15))
HOLDS = wordings(
    """
    A {tank} can hold {n} liters of water.
    There is room for {n} liters of water in a {tank}.
    A {tank} has room for {n} liters of water.
    """
)
HAS = wordings(
    """
    There are {k} liters of water in {a} {tank}.
    {a} {tank} has {k} liters of water in it.
    In {a} {tank} there are {k} liters of water.
    """
)
FULL = wordings(
    """
    Water fills {part} of the {tank}.
    The water in it fills {part} of the {tank}.
    At first, water fills {part} of the {tank}.
    """
)
IN = wordings(
    """
    A pipe fills it with {r} liters a minute for {t} minutes.
    For {t} minutes, a pipe fills it with {r} liters a minute.
    For {t} minutes, {r} liters a minute flow in from a pipe.
    """
)
OUT = wordings(
    """
    It loses {r} liters a minute for {t} minutes.
    For {t} minutes, it loses {r} liters a minute.
    For {t} minutes, {r} liters a minute flow out.
    """
)
BOTH = wordings(
    """
    For {t} minutes, {r} liters flow in and {s} liters flow out each minute.
    Each minute, {r} liters flow in and {s} liters flow out. This goes on for {t} minutes.
    Each minute for {t} minutes, {r} liters flow in and {s} liters flow out.
    """
)
BUCKETS = wordings(
    """
    {A} pours {b} buckets of {m} liters each into it.
    {A} adds {b} buckets of {m} liters each.
    {A} adds {b} buckets of water with {m} liters in each of them.
    """
)
TAKES = wordings(
    """
    {A} takes {k} liters of water out of it.
    {A} uses {k} liters of the water.
    {A} takes out {k} liters of water.
    """
)
TAKES_PART = wordings(
    """
    {A} uses {part} of the water for the garden.
    {A} takes {part} of the water out of it.
    For the garden, {A} uses {part} of the water.
    """
)
HOW_MUCH = wordings(
    """
    How many liters of water are in the {tank} in the end?
    In the end, how many liters of water are in the {tank}?
    Find how many liters of water are in the {tank} in the end.
    """
)
ROOM = wordings(
    """
    How many more liters fit into the {tank}?
    How many liters of water are needed to fill the {tank}?
    How many more liters are needed to fill the {tank}?
    """
)
TIME = wordings(
    """
    After that, {r} liters flow in each minute. How many minutes does it take until the {tank}
        is full?
    If {r} liters flow in each minute after that, how many minutes does it take until the {tank}
        is full?
    How many minutes does it take until the {tank} is full if {r} liters flow in each minute
        after that?
    """
)
EMPTY = wordings(
    """
    After that, {r} liters flow out each minute. How many minutes does it take until the {tank}
        is empty?
    If {r} liters flow out each minute after that, how many minutes does it take until the {tank}
        is empty?
    How many minutes does it take until the {tank} is empty if {r} liters flow out each minute
        after that?
    """
)


def tanks(story: Story) -> None:
    """Tell of a tank of water."""
    chance = story.chance
    story.in_present()
    tank, low, high = chance.pick(TANKS)
    story.cast.update(A=story.person(), tank=tank)
    room: Quantity | None = None
    if chance.hit(0.6):
        room = story.given(20 * low, 20 * high, "room", by=20)
        story.open(HOLDS, n=room)
    if room and chance.hit(0.4):
        part = share(story, room)
        story.open(FULL, part=part.said)
        water = story.step("At first, there are {=} liters in the {tank}.", part.taken)
    else:
        water = story.given(4 * low, 10 * high, "start", by=chance.pick((1, 2, 10)))
        story.open(HAS, k=water, a="the" if room else "a")
    if room and water.value >= room.value:
        raise Unfit
    reserve = 1 if chance.hit(0.6) else 0
    while True:
        water = _change(story, water, low, high)
        if room and water.value >= room.value:
            raise Unfit
        if story.left <= reserve:
            break
    _end(story, water, room, low)


def _change(story: Story, water: Quantity, low: int, high: int) -> Quantity:
    line, kind = "Then there are {=} liters in the {tank}.", story.chance.below(6)
    if kind <= 1:
        r, t = story.given(low, high, "rate"), story.given(3, 15, "minutes", words=True)
        story.event(OUT if kind else IN, r=r, t=t)
        moved = story.step("In {t} minutes, that is {=} liters.", r * t, t=t)
        return story.step(line, water - moved if kind else water + moved)
    if kind == 2:
        r, t = story.given(low + 2, high, "rate"), story.given(3, 15, "minutes", words=True)
        s = story.known(story.chance.between(2, int(r.value) - 2), "out")
        story.event(BOTH, r=r, s=s, t=t)
        net = story.step("Each minute, there are {=} liters more.", r - s)
        moved = story.step("In {t} minutes, that is {=} liters.", net * t, t=t)
        return story.step(line, water + moved)
    if kind == 3:
        b, m = story.given(2, 9, "buckets", words=True), story.given(4, 12, "bucket", words=True)
        story.event(BUCKETS, b=b, m=m)
        moved = story.step("The buckets hold {=} liters.", b * m)
        return story.step(line, water + moved)
    if kind == 4:
        k = story.given(low, 4 * high, "taken")
        story.event(TAKES, k=k)
        return story.step(line, water - k)
    part = share(story, water) if story.chance.hit(0.6) else percent(story, water)
    story.event(TAKES_PART, part=part.said)
    gone = story.step("{A} takes {=} liters.", part.taken)
    return story.step(line, water - gone)


def _end(story: Story, water: Quantity, room: Quantity | None, low: int) -> None:
    kind = story.chance.below(4)
    if kind == 0 or story.left < 1:
        story.ask(HOW_MUCH, water)
    elif room and kind <= 2:
        rest = story.step("There is room for {=} more liters.", room - water)
        if kind == 1 or story.left < 1:
            story.ask(ROOM, rest)
            return
        r = story.divisor(rest, low, 40, "rate")
        story.ask(TIME, story.step("That takes {=} minutes.", rest / r), r=r)
    else:
        r = story.divisor(water, low, 40, "rate")
        story.ask(EMPTY, story.step("That takes {=} minutes.", water / r), r=r)
