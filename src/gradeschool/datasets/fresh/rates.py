"""Families of problems about units, rates and speeds.

Things measured in a large and a small unit, water that flows in and out of a tank, pages a day, the
stages of a trip.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from gradeschool.datasets.fresh.story import (
    Noun,
    Quantity,
    Story,
    Unfit,
    share,
    some,
    times,
)


class Measure(NamedTuple):
    """A measured thing: units, number of small ones in a large one, what it is used for.

    by: the step of the amounts in small units; act: how a person gets it.
    """

    large: str
    small: str
    factor: int
    stuff: str
    act: str
    piece: str
    pieces: str
    by: int
    low: int
    high: int


MEASURES = (
    Measure("meters", "centimeters", 100, "ribbon", "have", "bow", "bows", 5, 20, 80),
    Measure("meters", "centimeters", 100, "rope", "buy", "piece", "pieces", 10, 30, 150),
    Measure("feet", "inches", 12, "wood", "have", "shelf", "shelves", 2, 8, 30),
    Measure("kilograms", "grams", 1000, "rice", "have", "meal", "meals", 50, 150, 600),
    Measure("kilograms", "grams", 1000, "flour", "buy", "cake", "cakes", 50, 200, 800),
    Measure("liters", "milliliters", 1000, "juice", "make", "glass", "glasses", 50, 150, 400),
    Measure("liters", "milliliters", 1000, "paint", "buy", "chair", "chairs", 50, 100, 500),
    Measure("hours", "minutes", 60, "free time", "have", "game", "games", 5, 10, 45),
)


def measures(story: Story) -> None:
    """Write a problem about a thing that is measured in two units."""
    chance = story.chance
    story.in_present()
    what = chance.pick(MEASURES)
    story.cast.update(what._asdict(), A=story.person(), B=story.person())
    n = story.draw(2, 9 if what.factor > 12 else 20, "large", words=True)
    factor = story.constant(what.factor)
    small = story.step("{n} {large} {~~be} {=} {small}.", n * factor, n=n)
    if chance.hit(0.3):
        k = story.draw(what.by, what.factor - what.by, "small", by=what.by, most=what.factor - 1)
        story.open("has both", n=n, k=k)
        small = story.step("In all, that {~be} {=} {small}.", small + k)
    else:
        story.open("has", n=n)
    used = 0
    while story.steps_left > 1 and used < 3:
        small = _used(story, what, small, used)
        used += 1
    _end_measures(story, what, small, used)


def _used(story: Story, what: Measure, small: Quantity, used: int) -> Quantity:
    line = "Then {=} {small} {~~be} left."
    kind, timed = story.chance.below(3), what.factor == 60
    if kind == 0 and "given" not in story.cast:
        story.cast["given"] = True
        k = story.draw(what.by, 5 * what.high, "used", by=what.by)
        return story.turn("gives time" if timed else "gives", line, small - k, k=k)
    if kind == 1 and not timed:
        part = share(story, small)
        removed = story.turn(
            "gives rest" if used else "gives part",
            "That {~be} {=} {small} less.",
            part.taken,
            part=part.wording,
        )
        return story.step(line, small - removed)
    if "made" in story.cast:
        raise Unfit
    story.cast["made"] = True
    m = story.draw(2, 9, "pieces", words=True)
    k = story.draw(what.low, what.high, "each", by=what.by)
    removed = story.turn(
        "plays" if timed else "uses", "The {pieces} {~~take} {=} {small}.", m * k, k=k, m=m
    )
    return story.step(line, small - removed)


def _end_measures(story: Story, what: Measure, small: Quantity, used: int) -> None:
    kind, timed = story.chance.below(4), what.factor == 60
    if used and kind == 0:
        story.ask("left", small)
    elif used and kind == 1 and not timed:
        k = story.divisor(small, 2, 12, "friends", words=True)
        story.solve("shares", "Each friend {~get} {=} {small}.", small / k, k=k)
    elif "made" not in story.cast:
        k = story.divisor(small, what.low, what.high, "each")
        if k.value % what.by:
            raise Unfit
        line = "{A} can play {=} games." if timed else "{A} can make {=} {pieces}."
        words = (
            ("plays all" if timed else "makes") if used else "games all" if timed else "makes all"
        )
        story.solve(words, line, small / k, k=k)
    elif used:
        story.ask("left", small)
    else:
        raise Unfit


TANKS = (("tank", 5, 40), ("pool", 10, 60), ("barrel", 2, 15))


def tanks(story: Story) -> None:
    """Write a problem about a tank of water."""
    chance = story.chance
    story.in_present()
    tank, low, high = chance.pick(TANKS)
    story.cast.update(A=story.person(), tank=tank)
    room: Quantity | None = None
    if chance.hit(0.6):
        room = story.draw(20 * low, 20 * high, "room", by=20)
        story.open("holds", n=room)
    if room and chance.hit(0.4):
        part = share(story, room)
        story.open("full", part=part.wording)
        water = story.step("At first, there are {=} liters in the {tank}.", part.taken)
    else:
        water = story.draw(4 * low, 10 * high, "start", by=chance.pick((1, 2, 10)))
        story.open("has", k=water, a="the" if room else "a")
    if room and water.value >= room.value:
        raise Unfit
    reserve = 1 if chance.hit(0.6) else 0
    while True:
        water = _change(story, water, low, high)
        if room and water.value >= room.value:
            raise Unfit
        if story.steps_left <= reserve:
            break
    _end_tanks(story, water, room, low)


def _change(story: Story, water: Quantity, low: int, high: int) -> Quantity:
    line, kind = "Then there are {=} liters in the {tank}.", story.chance.below(6)
    if kind <= 1:
        r, t = story.draw(low, high, "rate"), story.draw(3, 15, "minutes", words=True)
        moved = story.turn(
            "out" if kind else "in", "In {t} minutes, that is {=} liters.", r * t, r=r, t=t
        )
        return story.step(line, water - moved if kind else water + moved)
    if kind == 2:
        r, t = story.draw(low + 2, high, "rate"), story.draw(3, 15, "minutes", words=True)
        s = story.state(story.chance.between(2, int(r.value) - 2), "out")
        net = story.turn("both", "Each minute, there are {=} liters more.", r - s, r=r, s=s, t=t)
        moved = story.step("In {t} minutes, that is {=} liters.", net * t, t=t)
        return story.step(line, water + moved)
    if kind == 3:
        b, m = story.draw(2, 9, "buckets", words=True), story.draw(4, 12, "bucket", words=True)
        moved = story.turn("buckets", "The buckets hold {=} liters.", b * m, b=b, m=m)
        return story.step(line, water + moved)
    if kind == 4:
        k = story.draw(low, 4 * high, "taken")
        return story.turn("takes", line, water - k, k=k)
    part = some(story, water)
    removed = story.turn("takes part", "{A} takes {=} liters.", part.taken, part=part.wording)
    return story.step(line, water - removed)


def _end_tanks(story: Story, water: Quantity, room: Quantity | None, low: int) -> None:
    kind = story.chance.below(4)
    if kind == 0 or story.steps_left < 1:
        story.ask("how much", water)
    elif room and kind <= 2:
        rest = story.step("There is room for {=} more liters.", room - water)
        if kind == 1:
            story.ask("room", rest)
            return
        r = story.divisor(rest, low, 40, "rate")
        story.solve("time", "That takes {=} minutes.", rest / r, r=r)
    else:
        r = story.divisor(water, low, 40, "rate")
        story.solve("empty", "That takes {=} minutes.", water / r, r=r)


TASKS = (
    ("read", "a book", Noun("page", "pages"), 100, 400, 8, 40),
    ("write", "a report", Noun("page", "pages"), 40, 120, 2, 9),
    ("do", "a workbook", Noun("task", "tasks"), 80, 300, 5, 25),
    ("learn", "a list", Noun("word", "words"), 60, 300, 5, 25),
)


def reading(story: Story) -> None:
    """Write a problem about a person who reads or writes page by page."""
    chance = story.chance
    act, thing, unit, low, high, slow, fast = chance.pick(TASKS)
    story.cast.update(A=story.person(), act=act, thing=thing, unit=unit)
    n = story.draw(low, high, "whole", by=chance.pick((1, 5, 10)))
    story.open("begin", n=n)
    k, d = story.draw(slow, fast, "rate"), story.draw(2, 7, "days", words=True)
    read = story.turn("daily", "In {d} days, {A} {~act} {=} {unit}.", d * k, k=k, d=d)
    remaining = story.step("Then {=} {unit} {~~be} left.", n - read)
    while story.steps_left > 1 and chance.hit(0.85):
        remaining = _next(story, remaining, k)
    kind = chance.below(3)
    if kind == 0 or story.steps_left < 1:
        story.ask("left", remaining)
    elif kind == 1:
        k = story.divisor(remaining, slow, 2 * fast, "rate")
        story.solve("days", "{A} {~need} {=} more days.", remaining / k, k=k)
    else:
        k = story.divisor(remaining, 2, 12, "days", words=True)
        line = "Each day, {A} {~have} to {act} {=} {unit}."
        story.solve("per day", line, remaining / k, k=k)


def _next(story: Story, remaining: Quantity, rate: Quantity) -> Quantity:
    line = "Then {=} {unit} {~~be} left."
    kind = story.chance.below(4)
    if kind == 0:
        part = some(story, remaining)
        removed = story.turn("part", "That {~be} {=} {unit} less.", part.taken, part=part.wording)
        return story.step(line, remaining - removed)
    if kind == 1 or len(story.steps) > 2:  # "than before" is clear at the start alone
        k = story.draw(3, 30, "more")
        return story.turn("some", line, remaining - k, k=k)
    d = story.draw(2, 5, "days", words=True)
    if kind == 2:
        t = times(story, 2, 3)
        daily = story.turn("times", "That {~be} {=} {unit} a day.", rate * t, t=t, d=d)
    else:
        k = story.draw(2, 10, "more", words=True)
        daily = story.turn("more", "That {~be} {=} {unit} a day.", rate + k, k=k, d=d)
    removed = story.step("In {d} days, that {~be} {=} {unit}.", d * daily, d=d)
    return story.step(line, remaining - removed)


class Transport(NamedTuple):
    """A way to travel: the verb, the range of speeds, whether it burns fuel."""

    verb: str
    low: int
    high: int
    fuel: bool


DRIVE = Transport("drive", 30, 70, True)
WAYS = (DRIVE, DRIVE, Transport("cycle", 6, 18, False), Transport("walk", 2, 5, False),
        Transport("run", 5, 9, False))  # fmt: skip


def trips(story: Story) -> None:
    """Write a problem about a trip in stages."""
    chance = story.chance
    way = chance.pick(WAYS)
    story.cast.update(A=story.person(), act=way.verb)
    if chance.hit(0.25):
        story.open("start")
    h = story.draw(2, 6, "hours", words=True, most=12)
    s = story.draw(way.low, way.high, "speed", by=5 if way.fuel else 1, most=way.high)
    distance = story.turn("stage", "{A} first {~act} {=} miles.", h * s, h=h, s=s)
    hours, takes_days = h.value, False
    for turn in range(4):
        if story.steps_left < 2:
            break
        kind = chance.below(4) if turn == 0 else chance.between(1, 3)
        if kind == 0:  # right away, so that it is clear what "before" means
            h = story.draw(2, 5, "hours", words=True, most=10)
            distance = _changed(story, way, distance, s, h)
            hours += h.value
        elif kind == 1:
            k = story.draw(way.low, 2 * way.high, "miles")
            distance = story.turn("miles", "Then {A} {~have} gone {=} miles.", distance + k, k=k)
        elif kind == 2:
            distance = _again(story, way, distance)
        else:
            k, d = (
                story.draw(way.low, 4 * way.high, "miles"),
                story.draw(2, 6, "days", words=True),
            )
            takes_days = True
            more = story.turn("daily", "In those days, {A} {~act} {=} miles.", k * d, k=k, d=d)
            distance = story.step("Then {A} {~have} gone {=} miles.", distance + more)
    if not way.fuel and distance.value > 12 * way.high:
        raise Unfit
    _end(story, way, distance, None if takes_days else hours)


def _changed(
    story: Story, way: Transport, distance: Quantity, speed: Quantity, h: Quantity
) -> Quantity:
    faster = story.chance.hit(0.5)
    low, role = 2 if way.high < 20 else 5, "faster" if faster else "slower"
    k = story.draw(low, max(3, way.low // 2), role, most=way.high)
    speed = story.turn(
        "faster" if faster else "slower",
        "The new speed {~be} {=} miles an hour.",
        speed + k if faster else speed - k,
        k=k,
        h=h,
    )
    if not way.low <= speed.value <= 1.3 * way.high:
        raise Unfit
    more = story.step("At that speed, {A} {~act} {=} miles.", h * speed)
    return story.step("Then {A} {~have} gone {=} miles.", distance + more)


def _again(story: Story, way: Transport, distance: Quantity) -> Quantity:
    if story.chance.hit(0.5):
        k = times(story, 2, 3)
        story.event("again", part=k.spoken)
        more = distance * k
    else:
        part = share(story, distance)
        story.event("again", part=part.wording)
        more = part.taken
    line = "Then {A} {~act} {=} miles."
    new = story.step(line, more)
    return story.step("Then {A} {~have} gone {=} miles.", distance + new)


def _end(story: Story, way: Transport, distance: Quantity, least: Fraction | None) -> None:
    """Ask the question. least: the hours of the timed stages; None if the trip takes days."""
    kind = story.chance.below(7) if way.fuel else story.chance.below(5)
    if story.steps_left < 1 or kind == 0:
        story.ask("total", distance)
    elif kind <= 2:
        k = story.state(distance.value + story.chance.between(3, 60), "whole")
        story.solve("left", "{=} miles {~~be} left.", k - distance, k=k)
    elif kind == 3:
        story.solve("back", "That {~be} {=} miles in all.", distance + distance)
    elif kind == 4:
        hours = story.divisor(distance, 3, 12, "hours")
        if least is None or hours.value < least:
            raise Unfit
        if not way.low / 2 <= distance.value / hours.value <= 1.2 * way.high:
            raise Unfit
        line = "The average speed {~be} {=} miles an hour."
        story.solve("speed", line, distance / hours, k=hours)
    else:
        k = story.divisor(distance, 15, 50, "mileage")
        gallons = story.step("{A} {~need} {=} gallons.", distance / k)
        if kind == 5:
            story.ask("gallons", gallons, k=k)
            return
        p = story.draw(2, 5, "price", money=True)
        story.solve("gas cost", "The gas {~cost} {=}.", gallons * p, k=k, p=p)
