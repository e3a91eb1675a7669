"""Pages a day and miles an hour.

Pages of a book: pages per day, what is left, how many days it takes.

Ways and speeds: stages of a trip, what is left of it, the fuel, the average speed.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from gradeschool.datasets.fresh.quantity import Quantity
from gradeschool.datasets.fresh.story import Story, Unfit, share, some, times
from gradeschool.datasets.fresh.wording import Noun, wordings

TASKS = (
    ("read", "a book", Noun("page", "pages"), 100, 400, 8, 40),
    ("write", "a report", Noun("page", "pages"), 40, 120, 2, 9),
    ("do", "a workbook", Noun("task", "tasks"), 80, 300, 5, 25),
    ("learn", "a list", Noun("word", "words"), 60, 300, 5, 25),
)
BEGIN = wordings(
    """
    {A} {~act} {thing} of {n unit}.
    {A} {~act} {thing} with {n unit}.
    {A} {~have} {thing} of {n unit} to {act}.
    """
)
READING_DAILY = wordings(
    """
    {A.he} {~act} {k unit} a day for {d} days.
    For {d} days, {A.he} {~act} {k unit} each day.
    {A.he} {~act} {k unit} each day for {d} days.
    """
)
MORE = wordings(
    """
    On each of the next {d} days, {A.he} {~act} {k} more {unit} than on each of the days before.
    For the next {d} days, {A.he} {~act} {k} more {unit} each day than before.
    On each of the next {d} days, {A.he} {~act} {k unit} more than on each of the days before.
    """
)
TIMES = wordings(
    """
    For the next {d} days, {A.he} {~act} {t} as many {unit} each day as before.
    On each of the next {d} days, {A.he} {~act} {t} as many {unit} as on each of the days before.
    On each of the next {d} days, {A.he} {~act} {t} as many {unit} as on a day before.
    """
)
SOME = wordings(
    """
    On the day after that, {A.he} {~act} {k unit}.
    Then {A.he} {~act} {k} more {unit}.
    After that, {A.he} {~act} {k} more {unit}.
    """
)
PART = wordings(
    """
    Then {A.he} {~act} {part} of the {unit} that {~~be} left.
    After that, {A.he} {~act} {part} of the {unit} that {~~be} left.
    Later, {A.he} {~act} {part} of the {unit} that {~~be} left.
    """
)
READING_LEFT = wordings(
    """
    How many {unit} {~~be} left?
    How many {unit} {~do} {A} still have to {act}?
    Find how many {unit} {~~be} left.
    """
)
DAYS = wordings(
    """
    How many more days {~do} {A} need if {A.he} {~act} {k unit} a day from then on?
    From then on, {A.he} {~act} {k unit} a day. How many more days {~do} {A.he} need?
    If {A.he} {~act} {k unit} a day from then on, how many more days {~do} {A.he} need?
    """
)
PER_DAY = wordings(
    """
    {A} {~have} {k} more days for the rest. How many {unit} a day {~do} {A.he} have to {act}?
    How many {unit} a day {~do} {A} have to {act} to finish in {k} more days?
    To finish in {k} more days, how many {unit} a day {~do} {A} have to {act}?
    """
)


def reading(story: Story) -> None:
    """Write a problem about a person who reads or writes page by page."""
    chance = story.chance
    act, thing, unit, low, high, slow, fast = chance.pick(TASKS)
    story.cast.update(A=story.person(), act=act, thing=thing, unit=unit)
    n = story.draw(low, high, "whole", by=chance.pick((1, 5, 10)))
    story.open(BEGIN, n=n)
    k, d = story.draw(slow, fast, "rate"), story.draw(2, 7, "days", words=True)
    story.event(READING_DAILY, k=k, d=d)
    read = story.step("In {d} days, {A} {~act} {=} {unit}.", d * k, d=d)
    remaining = story.step("Then {=} {unit} {~~be} left.", n - read)
    while story.steps_left > 1 and chance.hit(0.85):
        remaining = _next(story, remaining, k)
    kind = chance.below(3)
    if kind == 0 or story.steps_left < 1:
        story.ask(READING_LEFT, remaining)
    elif kind == 1:
        k = story.divisor(remaining, slow, 2 * fast, "rate")
        story.ask(DAYS, story.step("{A} {~need} {=} more days.", remaining / k), k=k)
    else:
        k = story.divisor(remaining, 2, 12, "days", words=True)
        line = "Each day, {A} {~have} to {act} {=} {unit}."
        story.ask(PER_DAY, story.step(line, remaining / k), k=k)


def _next(story: Story, remaining: Quantity, rate: Quantity) -> Quantity:
    line = "Then {=} {unit} {~~be} left."
    kind = story.chance.below(4)
    if kind == 0:
        part = some(story, remaining)
        story.event(PART, part=part.wording)
        removed = story.step("That {~be} {=} {unit} less.", part.taken)
        return story.step(line, remaining - removed)
    if kind == 1 or len(story.steps) > 2:  # "than before" is clear at the start alone
        k = story.draw(3, 30, "more")
        story.event(SOME, k=k)
        return story.step(line, remaining - k)
    d = story.draw(2, 5, "days", words=True)
    if kind == 2:
        t = times(story, 2, 3)
        story.event(TIMES, t=t, d=d)
        daily = story.step("That {~be} {=} {unit} a day.", rate * t)
    else:
        k = story.draw(2, 10, "more", words=True)
        story.event(MORE, k=k, d=d)
        daily = story.step("That {~be} {=} {unit} a day.", rate + k)
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
START = wordings(
    """
    {A} {~go} on a trip.
    {A} {~make} a trip.
    {A} {~be} on a trip.
    """
)
STAGE = wordings(
    """
    {A.he} {~act} for {h} hours at {s} miles an hour.
    {A.he} {~act} at {s} miles an hour for {h} hours.
    For {h} hours, {A.he} {~act} at {s} miles an hour.
    """
)
FASTER = wordings(
    """
    {A.he} {~act} another {h} hours, {k} miles an hour faster than before.
    For the next {h} hours, {A.he} {~act} {k} miles an hour faster than before.
    For another {h} hours, {A.he} {~act} {k} miles an hour faster than before.
    """
)
SLOWER = wordings(
    """
    {A.he} {~act} another {h} hours, {k} miles an hour slower than before.
    For the next {h} hours, {A.he} {~act} {k} miles an hour slower than before.
    For another {h} hours, {A.he} {~act} {k} miles an hour slower than before.
    """
)
MILES = wordings(
    """
    {A.he} {~act} another {k} miles.
    {A.he} {~act} {k} more miles.
    {A.he} {~act} {k} miles more.
    """
)
AGAIN = wordings(
    """
    The next part of the trip {~be} {part} as long as the trip so far.
    After that {~come} a part of the trip that {~be} {part} as long as the trip so far.
    The part of the trip after that {~be} {part} as long as the trip so far.
    """
)
TRIPS_DAILY = wordings(
    """
    {A.he} {~act} {k} miles a day for {d} days.
    For {d} days, {A.he} {~act} {k} miles each day.
    {A.he} {~act} {k} miles each day for {d} days.
    """
)
TOTAL = wordings(
    """
    How many miles {~do} {A} {act} in all?
    How many miles long {~be} the whole trip?
    In all, how many miles {~do} {A} {act}?
    """
)
TRIPS_LEFT = wordings(
    """
    The whole trip {~be} {k} miles long. How many miles {~~be} left?
    How many miles {~~be} left if the whole trip {~be} {k} miles long?
    If the whole trip {~be} {k} miles long, how many miles {~~be} left?
    """
)
BACK = wordings(
    """
    {A.he} {~go} back the same way. How many miles {~be} that in all?
    How many miles {~do} {A} go in all if {A.he} {~go} back the same way?
    If {A.he} {~go} back the same way, how many miles {~be} that in all?
    """
)
SPEED = wordings(
    """
    The whole trip {~take} {k} hours. What {~be} the average speed in miles an hour?
    What {~be} the average speed in miles an hour if the whole trip {~take} {k} hours?
    If the whole trip {~take} {k} hours, what {~be} the average speed in miles an hour?
    """
)
GALLONS = wordings(
    """
    The car {~need} one gallon of gas for every {k} miles. How many gallons {~do} {A.he} need?
    If the car {~go} {k} miles on a gallon of gas, how many gallons {~do} {A.he} need?
    How many gallons of gas {~do} {A} need if the car {~go} {k} miles on a gallon?
    """
)
GAS_COST = wordings(
    """
    The car {~go} {k} miles on a gallon of gas, and a gallon {~cost} {p}.
        How many dollars {~do} {A.he} pay for gas?
    A gallon of gas {~cost} {p}, and the car {~need} one gallon for every {k} miles.
        How many dollars {~do} the gas cost?
    How many dollars {~do} the gas cost if the car {~go} {k} miles on a gallon and a gallon
        {~cost} {p}?
    """
)


def trips(story: Story) -> None:
    """Write a problem about a trip in stages."""
    chance = story.chance
    way = chance.pick(WAYS)
    story.cast.update(A=story.person(), act=way.verb)
    if chance.hit(0.25):
        story.open(START)
    h = story.draw(2, 6, "hours", words=True, most=12)
    s = story.draw(way.low, way.high, "speed", by=5 if way.fuel else 1, most=way.high)
    story.event(STAGE, h=h, s=s)
    distance = story.step("{A} first {~act} {=} miles.", h * s)
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
            story.event(MILES, k=k)
            distance = story.step("Then {A} {~have} gone {=} miles.", distance + k)
        elif kind == 2:
            distance = _again(story, way, distance)
        else:
            k, d = (
                story.draw(way.low, 4 * way.high, "miles"),
                story.draw(2, 6, "days", words=True),
            )
            takes_days = True
            story.event(TRIPS_DAILY, k=k, d=d)
            more = story.step("In those days, {A} {~act} {=} miles.", k * d)
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
    story.event(FASTER if faster else SLOWER, k=k, h=h)
    speed = story.step("The new speed {~be} {=} miles an hour.", speed + k if faster else speed - k)
    if not way.low <= speed.value <= 1.3 * way.high:
        raise Unfit
    more = story.step("At that speed, {A} {~act} {=} miles.", h * speed)
    return story.step("Then {A} {~have} gone {=} miles.", distance + more)


def _again(story: Story, way: Transport, distance: Quantity) -> Quantity:
    if story.chance.hit(0.5):
        k = times(story, 2, 3)
        story.event(AGAIN, part=k.spoken)
        more = distance * k
    else:
        part = share(story, distance)
        story.event(AGAIN, part=part.wording)
        more = part.taken
    line = "Then {A} {~act} {=} miles."
    new = story.step(line, more)
    return story.step("Then {A} {~have} gone {=} miles.", distance + new)


def _end(story: Story, way: Transport, distance: Quantity, least: Fraction | None) -> None:
    """Ask the question. least: the hours of the timed stages; None if the trip takes days."""
    kind = story.chance.below(7) if way.fuel else story.chance.below(5)
    if story.steps_left < 1 or kind == 0:
        story.ask(TOTAL, distance)
    elif kind <= 2:
        k = story.state(distance.value + story.chance.between(3, 60), "whole")
        story.ask(TRIPS_LEFT, story.step("{=} miles {~~be} left.", k - distance), k=k)
    elif kind == 3:
        story.ask(BACK, story.step("That {~be} {=} miles in all.", distance + distance))
    elif kind == 4:
        hours = story.divisor(distance, 3, 12, "hours")
        if least is None or hours.value < least:
            raise Unfit
        if not way.low / 2 <= distance.value / hours.value <= 1.2 * way.high:
            raise Unfit
        line = "The average speed {~be} {=} miles an hour."
        story.ask(SPEED, story.step(line, distance / hours), k=hours)
    else:
        k = story.divisor(distance, 15, 50, "mileage")
        gallons = story.step("{A} {~need} {=} gallons.", distance / k)
        if kind == 5:
            story.ask(GALLONS, gallons, k=k)
            return
        p = story.draw(2, 5, "price", money=True)
        story.ask(GAS_COST, story.step("The gas {~cost} {=}.", gallons * p), k=k, p=p)
