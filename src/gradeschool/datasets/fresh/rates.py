"""Families of problems about units, rates and speeds.

Things measured in a large and a small unit, water that flows in and out of a tank, pages a day, the
stages of a trip. A row is (wording, draws, steps ...), as `Story.turn` and `Story.solve` take it.
"""

from __future__ import annotations

from fractions import Fraction

from gradeschool.datasets.fresh.story import Noun, Quantity, Story, Unfit, share, times

# Units, number of small ones in a large one, the thing, how a person gets it, what it is used for,
# the step of the amounts in small units, the range of the amount for one piece.
MEASURES = (
    ("meters", "centimeters", 100, "ribbon", "have", "bow", "bows", 5, 20, 80),
    ("meters", "centimeters", 100, "rope", "buy", "piece", "pieces", 10, 30, 150),
    ("feet", "inches", 12, "wood", "have", "shelf", "shelves", 2, 8, 30),
    ("kilograms", "grams", 1000, "rice", "have", "meal", "meals", 50, 150, 600),
    ("kilograms", "grams", 1000, "flour", "buy", "cake", "cakes", 50, 200, 800),
    ("liters", "milliliters", 1000, "juice", "make", "glass", "glasses", 50, 150, 400),
    ("liters", "milliliters", 1000, "paint", "buy", "chair", "chairs", 50, 100, 500),
    ("hours", "minutes", 60, "free time", "have", "game", "games", 5, 10, 45),
)


def measures(story: Story) -> None:
    """Write a problem about a thing that is measured in two units."""
    chance = story.chance
    story.in_present()
    large, unit, factor, stuff, act, piece, pieces, by, low, high = chance.pick(MEASURES)
    story.cast.update(large=large, small=unit, stuff=stuff, act=act, piece=piece, pieces=pieces,
                      A=story.person(), B=story.person())  # fmt: skip
    timed = factor == 60
    n = story.draw(2, 9 if factor > 12 else 20, "large", words=True)
    small = story.step("{n} {large} {~~be} {=} {small}.", n * story.constant(factor), n=n)
    if chance.hit(0.3):
        k = story.draw(by, factor - by, "small", by=by, most=factor - 1)
        line = "In all, that {~be} {=now+k} {small}."
        small = story.turn("has both", "", line, at="open", now=small, n=n, k=k)
    else:
        story.say("open", "has", n=n)
    done, used = set[str](), 0
    while story.steps_left > 1 and used < 3:
        small = _use(story, (by, low, high), small, used, done)
        used += 1
    kind = chance.below(4)
    if used and kind == 0:
        story.ask("left", small)
    elif used and kind == 1 and not timed:
        line = "Each friend {~get} {=now/k} {small}."
        story.solve("shares", "k=2-12w| friends", line, now=small)
    elif "made" not in done:
        k = story.divisor(small, low, high, "each")
        if k.value % by:
            raise Unfit
        line = "{A} can play {=now/k} games." if timed else "{A} can make {=now/k} {pieces}."
        name = ("plays all" if used else "games all") if timed else "makes" if used else "makes all"
        story.solve(name, "", line, now=small, k=k)
    elif used:
        story.ask("left", small)
    else:
        raise Unfit


def _use(
    story: Story, amounts: tuple[int, int, int], small: Quantity, used: int, done: set[str]
) -> Quantity:
    left = "Then {=now-it} {small} {~~be} left."
    (by, low, high), kind = amounts, story.chance.below(3)
    timed = story.cast["small"] == "minutes"
    if kind == 0 and "given" not in done:
        done.add("given")
        k = story.draw(by, 5 * high, "used", by=by)
        line = "Then {=now-k} {small} {~~be} left."
        return story.turn("gives time" if timed else "gives", "", line, now=small, k=k)
    if kind == 1 and not timed:
        lines = "That {~be} {=taken} {small} less.", left
        return story.turn("gives rest" if used else "gives part", "part=share", *lines, now=small)
    if "made" in done:
        raise Unfit
    done.add("made")
    m = story.draw(2, 9, "pieces", words=True)
    k = story.draw(low, high, "each", by=by)
    lines = "The {pieces} {~~take} {=m*k} {small}.", left
    return story.turn("plays" if timed else "uses", "", *lines, now=small, k=k, m=m)


TANKS = (("tank", 5, 40), ("pool", 10, 60), ("barrel", 2, 15))
IN_TANK = "Then there are {=%s} liters in the {tank}."


def tanks(story: Story) -> None:
    """Write a problem about a tank of water."""
    chance = story.chance
    story.in_present()
    tank, low, high = chance.pick(TANKS)
    story.cast.update(A=story.person(), tank=tank)
    room: Quantity | None = None
    if chance.hit(0.6):
        room = story.draw(20 * low, 20 * high, "room", by=20)
        story.say("open", "holds", n=room)
    if room and chance.hit(0.4):
        line = "At first, there are {=taken} liters in the {tank}."
        water = story.turn("full", "part=share", line, at="open", now=room)
    else:
        water = story.draw(4 * low, 10 * high, "start", by=chance.pick((1, 2, 10)))
        story.say("open", "has", k=water, a="the" if room else "a")
    if room and water.value >= room.value:
        raise Unfit
    reserve = 1 if chance.hit(0.6) else 0
    while True:
        water = _change(story, water, low, high)
        if room and water.value >= room.value:
            raise Unfit
        if story.steps_left <= reserve:
            break
    kind = chance.below(4)
    line = "That takes {=now/r} minutes."
    if kind == 0 or story.steps_left < 1:
        story.ask("how much", water)
    elif room and kind == 1:
        story.solve("room", "", "There is room for {=room-now} more liters.", now=water, room=room)
    elif room and kind == 2:
        rest = story.step("There is room for {=} more liters.", room - water)
        story.solve("time", f"r={low}-40| rate", line, now=rest)
    else:
        story.solve("empty", f"r={low}-40| rate", line, now=water)


def _change(story: Story, water: Quantity, low: int, high: int) -> Quantity:
    chance = story.chance
    kind = chance.below(6)
    if kind <= 1:
        lines = "In {t} minutes, that is {=r*t} liters.", IN_TANK % ("now-it" if kind else "now+it")
        draws = f"r={low}-{high} rate; t=3-15w minutes"
        return story.turn("out" if kind else "in", draws, *lines, now=water)
    if kind == 2:
        r, t = story.draw(low + 2, high, "rate"), story.draw(3, 15, "minutes", words=True)
        s = story.state(chance.between(2, int(r.value) - 2), "out")
        net = ("both", "", "Each minute, there are {=r-s} liters more.",
               "In {t} minutes, that is {=it*t} liters.", IN_TANK % "now+it")  # fmt: skip
        return story.turn(*net, now=water, r=r, s=s, t=t)
    row = (
        ("buckets", "b=2-9w buckets; m=4-12w bucket", "The buckets hold {=b*m} liters.",
         IN_TANK % "now+it"),
        ("takes", f"k={low}-{4 * high} taken", IN_TANK % "now-k"),
        ("takes part", "part=some", "{A} takes {=taken} liters.", IN_TANK % "now-it"),
    )[kind - 3]  # fmt: skip
    return story.turn(*row, now=water)


TASKS = (
    ("read", "a book", Noun("page", "pages"), 100, 400, 8, 40),
    ("write", "a report", Noun("page", "pages"), 40, 120, 2, 9),
    ("do", "a workbook", Noun("task", "tasks"), 80, 300, 5, 25),
    ("learn", "a list", Noun("word", "words"), 60, 300, 5, 25),
)
REMAINING = "Then {=now-it} {unit} {~~be} left."
IN_DAYS = "In {d} days, that {~be} {=d*it} {unit}."
READ = (
    ("part", "part=some", "That {~be} {=taken} {unit} less.", REMAINING),
    ("some", "k=3-30 more", "Then {=now-k} {unit} {~~be} left."),
    ("times", "d=2-5w days; t=times 2-3", "That {~be} {=rate*t} {unit} a day.", IN_DAYS, REMAINING),
    ("more", "d=2-5w days; k=2-10w more", "That {~be} {=rate+k} {unit} a day.", IN_DAYS, REMAINING),
)


def reading(story: Story) -> None:
    """Write a problem about a person who reads or writes page by page."""
    chance = story.chance
    act, thing, unit, low, high, slow, fast = chance.pick(TASKS)
    story.cast.update(A=story.person(), act=act, thing=thing, unit=unit)
    n = story.turn("begin", f"n={low}-{high}/1,5,10 whole", at="open")
    k, d = story.draw(slow, fast, "rate"), story.draw(2, 7, "days", words=True)
    lines = "In {d} days, {A} {~act} {=d*k} {unit}.", REMAINING
    remaining = story.turn("daily", "", *lines, now=n, k=k, d=d)
    while story.steps_left > 1 and chance.hit(0.85):
        kind = chance.below(4)
        if kind > 1 and len(story.steps) > 2:  # "than before" is clear at the start alone
            kind = 1
        remaining = story.turn(*READ[kind], now=remaining, rate=k)
    kind = chance.below(3)
    if kind == 0 or story.steps_left < 1:
        story.ask("left", remaining)
    elif kind == 1:
        line = "{A} {~need} {=now/k} more days."
        story.solve("days", f"k={slow}-{2 * fast}| rate", line, now=remaining)
    else:
        line = "Each day, {A} {~have} to {act} {=now/k} {unit}."
        story.solve("per day", "k=2-12w| days", line, now=remaining)


# Ways to travel: the verb, the range of speeds, whether it burns fuel.
Way = tuple[str, int, int, bool]
DRIVE: Way = ("drive", 30, 70, True)
WAYS: tuple[Way, ...] = (
    DRIVE, DRIVE, ("cycle", 6, 18, False), ("walk", 2, 5, False), ("run", 5, 9, False)
)  # fmt: skip
GONE = "Then {A} {~have} gone {=now+it} miles."


def trips(story: Story) -> None:
    """Write a problem about a trip in stages."""
    chance = story.chance
    way = chance.pick(WAYS)
    verb, low, high, fuel = way
    story.cast.update(A=story.person(), act=verb)
    if chance.hit(0.25):
        story.say("open", "start")
    h = story.draw(2, 6, "hours", words=True, most=12)
    s = story.draw(low, high, "speed", by=5 if fuel else 1, most=high)
    distance = story.turn("stage", "", "{A} first {~act} {=h*s} miles.", h=h, s=s)
    hours, takes_days = h.value, False
    for turn in range(4):
        if story.steps_left < 2:
            break
        kind = chance.below(4) if turn == 0 else chance.between(1, 3)
        if kind == 0:  # right away, so that it is clear what "before" means
            h = story.draw(2, 5, "hours", words=True, most=10)
            distance = _change_speed(story, way, distance, s, h)
            hours += h.value
        elif kind == 1:
            line = "Then {A} {~have} gone {=now+k} miles."
            distance = story.turn("miles", f"k={low}-{2 * high} miles", line, now=distance)
        elif kind == 2:
            if chance.hit(0.5):
                t = times(story, 2, 3)
                wording, more = t.spoken, distance * t
            else:
                wording, more = share(story, distance)
            lines = "Then {A} {~act} {=more} miles.", GONE
            distance = story.turn("again", "", *lines, now=distance, more=more, part=wording)
        else:
            takes_days = True
            draws = f"k={low}-{4 * high} miles; d=2-6w days"
            lines = "In those days, {A} {~act} {=k*d} miles.", GONE
            distance = story.turn("daily", draws, *lines, now=distance)
    if not fuel and distance.value > 12 * high:
        raise Unfit
    _ask_trip(story, way, distance, None if takes_days else hours)


def _change_speed(story: Story, way: Way, distance: Quantity, s: Quantity, h: Quantity) -> Quantity:
    _, slowest, fastest, _ = way
    name, sign = ("faster", "+") if story.chance.hit(0.5) else ("slower", "-")
    low = 2 if fastest < 20 else 5
    k = story.draw(low, max(3, slowest // 2), name, most=fastest)
    line = f"The new speed {{~be}} {{=s{sign}k}} miles an hour."
    speed = story.turn(name, "", line, s=s, k=k, h=h)
    if not slowest <= speed.value <= 1.3 * fastest:
        raise Unfit
    lines = "At that speed, {A} {~act} {=h*s} miles.", GONE
    return story.compute(*lines, now=distance, h=h, s=speed)


def _ask_trip(story: Story, way: Way, distance: Quantity, least: Fraction | None) -> None:
    """Ask the question. least: the hours of the timed stages; None if the trip takes days."""
    _, slowest, fastest, fuel = way
    kind = story.chance.below(7 if fuel else 5)
    if story.steps_left < 1 or kind == 0:
        story.ask("total", distance)
    elif kind <= 2:
        story.solve("left", "k=now+3-60 whole", "{=k-now} miles {~~be} left.", now=distance)
    elif kind == 3:
        story.solve("back", "", "That {~be} {=now+now} miles in all.", now=distance)
    elif kind == 4:
        hours = story.divisor(distance, 3, 12, "hours")
        if least is None or hours.value < least:
            raise Unfit
        if not slowest / 2 <= distance.value / hours.value <= 1.2 * fastest:
            raise Unfit
        line = "The average speed {~be} {=now/k} miles an hour."
        story.solve("speed", "", line, now=distance, k=hours)
    else:
        k = story.divisor(distance, 15, 50, "mileage")
        if kind == 5:
            story.solve("gallons", "", "{A} {~need} {=now/k} gallons.", now=distance, k=k)
            return
        gallons = story.step("{A} {~need} {=} gallons.", distance / k)
        story.solve("gas cost", "p=$2-5 price", "The gas {~cost} {=now*p}.", now=gallons, k=k)
