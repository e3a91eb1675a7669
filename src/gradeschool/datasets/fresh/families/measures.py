"""Units of measure, and tanks.

Large and small units: meters of ribbon in centimeters, hours of work in minutes.

Water that flows in and out of a tank: what is in it, how long it takes until it is full.
"""

from __future__ import annotations

from typing import NamedTuple

from gradeschool.datasets.fresh.quantity import Quantity
from gradeschool.datasets.fresh.story import Story, Unfit, share, some
from gradeschool.datasets.fresh.wording import wordings


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
MEASURES_HAS = wordings(
    """
    {A} {~act} {n} {large} of {stuff}.
    {A} {~act} a total of {n} {large} of {stuff}.
    In all, {A} {~act} {n} {large} of {stuff}.
    """
)
HAS_BOTH = wordings(
    """
    {A} {~act} {n} {large} and {k} {small} of {stuff}.
    {A} {~act} a total of {n} {large} and {k} {small} of {stuff}.
    In all, {A} {~act} {n} {large} and {k} {small} of {stuff}.
    """
)
USES = wordings(
    """
    {A.he} {~use} {k} {small} of it for each of {m} {pieces}.
    {A.he} {~need} {k} {small} of it for each {piece} and {~make} {m} {pieces}.
    For each of {m} {pieces}, {A.he} {~use} {k} {small} of it.
    """
)
PLAYS = wordings(
    """
    {A.he} {~play} {m} games of {k} minutes each.
    {A.he} {~play} {m} games, and each of them {~last} {k} minutes.
    Each game {~last} {k} minutes, and {A.he} {~play} {m} games.
    """
)
GIVES = wordings(
    """
    {A.he} {~give} {k} {small} of it to {B}.
    {A.he} {~use} {k} {small} of it for something else.
    {A.he} {~give} {B} {k} {small} of it.
    """
)
GIVES_TIME = wordings(
    """
    {A.he} {~spend} {k} minutes of it with {B}.
    {A.he} {~spend} {k} minutes of it on the phone.
    With {B}, {A.he} {~spend} {k} minutes of it.
    """
)
GIVES_PART = wordings(
    """
    {A.he} {~give} {part} of it to {B}.
    {A.he} {~use} {part} of it for something else.
    {A.he} {~give} {B} {part} of it.
    """
)
GIVES_REST = wordings(
    """
    {A.he} {~give} {part} of what {~be} left to {B}.
    {A.he} {~give} {part} of the rest to {B}.
    {A.he} {~give} {B} {part} of what {~be} left.
    """
)
LEFT = wordings(
    """
    How many {small} of {stuff} {~~be} left?
    How many {small} of {stuff} {~do} {A} have left?
    Find how many {small} of {stuff} {~~be} left.
    """
)
MAKES = wordings(
    """
    Each {piece} {~take} {k} {small} of {stuff}.
        How many {pieces} can {A} make from what {~be} left?
    How many {pieces} can {A} make from what {~be} left if each {piece} {~take} {k} {small}?
    If each {piece} {~take} {k} {small}, how many {pieces} can {A} make from what {~be} left?
    """
)
MAKES_ALL = wordings(
    """
    Each {piece} {~take} {k} {small} of {stuff}. How many {pieces} can {A} make?
    How many {pieces} can {A} make if each {piece} {~take} {k} {small} of {stuff}?
    If each {piece} {~take} {k} {small} of {stuff}, how many {pieces} can {A} make?
    """
)
PLAYS_ALL = wordings(
    """
    A game {~take} {k} minutes. How many games can {A} play in the time that {~be} left?
    How many games can {A} play in the time that {~be} left if a game {~take} {k} minutes?
    If a game {~take} {k} minutes, how many games can {A} play in the time that {~be} left?
    """
)
SHARES = wordings(
    """
    The rest {~be} divided equally among {k} friends. How many {small} {~do} each friend get?
    How many {small} {~do} each friend get if the rest {~be} divided equally among {k} friends?
    If the rest {~be} divided equally among {k} friends, how many {small} {~do} each friend get?
    """
)


GAMES_ALL = wordings(
    """
    A game {~take} {k} minutes. How many games can {A} play in this time?
    How many games can {A} play in this time if a game {~take} {k} minutes?
    If a game {~take} {k} minutes, how many games can {A} play in this time?
    """
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
        story.open(HAS_BOTH, n=n, k=k)
        small = story.step("In all, that {~be} {=} {small}.", small + k)
    else:
        story.open(MEASURES_HAS, n=n)
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
        story.event(GIVES_TIME if timed else GIVES, k=k)
        return story.step(line, small - k)
    if kind == 1 and not timed:
        part = share(story, small)
        story.event(GIVES_REST if used else GIVES_PART, part=part.wording)
        removed = story.step("That {~be} {=} {small} less.", part.taken)
        return story.step(line, small - removed)
    if "made" in story.cast:
        raise Unfit
    story.cast["made"] = True
    m = story.draw(2, 9, "pieces", words=True)
    k = story.draw(what.low, what.high, "each", by=what.by)
    story.event(PLAYS if timed else USES, k=k, m=m)
    removed = story.step("The {pieces} {~~take} {=} {small}.", m * k)
    return story.step(line, small - removed)


def _end_measures(story: Story, what: Measure, small: Quantity, used: int) -> None:
    kind, timed = story.chance.below(4), what.factor == 60
    if used and kind == 0:
        story.ask(LEFT, small)
    elif used and kind == 1 and not timed:
        k = story.divisor(small, 2, 12, "friends", words=True)
        story.ask(SHARES, story.step("Each friend {~get} {=} {small}.", small / k), k=k)
    elif "made" not in story.cast:
        k = story.divisor(small, what.low, what.high, "each")
        if k.value % what.by:
            raise Unfit
        line = "{A} can play {=} games." if timed else "{A} can make {=} {pieces}."
        words = (PLAYS_ALL if timed else MAKES) if used else GAMES_ALL if timed else MAKES_ALL
        story.ask(words, story.step(line, small / k), k=k)
    elif used:
        story.ask(LEFT, small)
    else:
        raise Unfit


TANKS = (("tank", 5, 40), ("pool", 10, 60), ("barrel", 2, 15))
HOLDS = wordings(
    """
    A {tank} can hold {n} liters of water.
    There is room for {n} liters of water in a {tank}.
    A {tank} has room for {n} liters of water.
    """
)
TANKS_HAS = wordings(
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
    """Write a problem about a tank of water."""
    chance = story.chance
    story.in_present()
    tank, low, high = chance.pick(TANKS)
    story.cast.update(A=story.person(), tank=tank)
    room: Quantity | None = None
    if chance.hit(0.6):
        room = story.draw(20 * low, 20 * high, "room", by=20)
        story.open(HOLDS, n=room)
    if room and chance.hit(0.4):
        part = share(story, room)
        story.open(FULL, part=part.wording)
        water = story.step("At first, there are {=} liters in the {tank}.", part.taken)
    else:
        water = story.draw(4 * low, 10 * high, "start", by=chance.pick((1, 2, 10)))
        story.open(TANKS_HAS, k=water, a="the" if room else "a")
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
        story.event(OUT if kind else IN, r=r, t=t)
        moved = story.step("In {t} minutes, that is {=} liters.", r * t, t=t)
        return story.step(line, water - moved if kind else water + moved)
    if kind == 2:
        r, t = story.draw(low + 2, high, "rate"), story.draw(3, 15, "minutes", words=True)
        s = story.state(story.chance.between(2, int(r.value) - 2), "out")
        story.event(BOTH, r=r, s=s, t=t)
        net = story.step("Each minute, there are {=} liters more.", r - s)
        moved = story.step("In {t} minutes, that is {=} liters.", net * t, t=t)
        return story.step(line, water + moved)
    if kind == 3:
        b, m = story.draw(2, 9, "buckets", words=True), story.draw(4, 12, "bucket", words=True)
        story.event(BUCKETS, b=b, m=m)
        moved = story.step("The buckets hold {=} liters.", b * m)
        return story.step(line, water + moved)
    if kind == 4:
        k = story.draw(low, 4 * high, "taken")
        story.event(TAKES, k=k)
        return story.step(line, water - k)
    part = some(story, water)
    story.event(TAKES_PART, part=part.wording)
    removed = story.step("{A} takes {=} liters.", part.taken)
    return story.step(line, water - removed)


def _end_tanks(story: Story, water: Quantity, room: Quantity | None, low: int) -> None:
    kind = story.chance.below(4)
    if kind == 0 or story.steps_left < 1:
        story.ask(HOW_MUCH, water)
    elif room and kind <= 2:
        rest = story.step("There is room for {=} more liters.", room - water)
        if kind == 1:
            story.ask(ROOM, rest)
            return
        r = story.divisor(rest, low, 40, "rate")
        story.ask(TIME, story.step("That takes {=} minutes.", rest / r), r=r)
    else:
        r = story.divisor(water, low, 40, "rate")
        story.ask(EMPTY, story.step("That takes {=} minutes.", water / r), r=r)
