"""Families of problems about money, goods, units and rates, and of those solved by guesses.

Bills of a shop, tickets of a place with visitors, wages and what they are spent on, savings over
weeks, things that are made in a factory or grown on a farm, packed and sold. Things measured in a
large and a small unit, water that flows in and out of a tank, pages a day, the stages of a trip.
"""

from gradeschool.datasets.fresh.story import (
    CLOTHES,
    FRUIT,
    HOME,
    PACKING,
    SMALL,
    SOLD,
    TOYS,
    WIDE,
    Noun,
    Quantity,
    Story,
    Unfit,
    leaf,
    listed,
    share,
    times,
)

# Each with the charges that it cannot follow.
CHARGES = {"coupon": "coupon delivery", "off": "off coupon delivery", "delivery": "delivery"}


def shopping(story: Story) -> None:
    """Write a problem about a visit to a shop."""
    chance = story.chance
    story.cast["A"] = story.person()
    lines = max(1, min(chance.between(1, 4), (story.size - 1) // 2 + 1))
    items = chance.sample(SOLD, lines)
    if chance.hit(0.3):
        story.say("shop")
    counts = [story.draw(2, 9, "count", words=True) for _ in items]
    prices: list[Quantity] = []
    for index, item in enumerate(items):
        if index == 0 or story.steps_left <= 2 or not chance.hit(0.4):
            prices.append(story.draw(item.low, item.high, "price", money=True))
            story.say("price", item=item, p=prices[-1])
            continue
        before = chance.below(index)
        name = "price more" if chance.hit(0.5) else "price times"
        price = story.turn(name, now=prices[before], item=item, other=items[before])
        if price.value > 2 * item.high:
            raise Unfit
        prices.append(price)
    bought = listed([f"{{n{index} i{index}}}" for index in range(lines)])
    at = "open" if chance.hit(0.5) else "event"
    story.say(
        (f"{{A.he}} {{~buy}} {bought}.", f"{{A}} {{~buy}} {bought}."),
        at=at,
        **{f"n{index}": count for index, count in enumerate(counts)},
        **{f"i{index}": item for index, item in enumerate(items)},
    )
    costs = [
        story.step("The {i} {~~cost} {=}.", count * price, i=item)
        for item, count, price in zip(items, counts, prices, strict=True)
    ]
    total = sum(costs[1:], costs[0])
    if lines > 1:
        total = story.step("The total {~be} {=}.", total)
    charges = set[str]()
    while story.steps_left > 1:
        charge = chance.pick(tuple(CHARGES))
        if charges & set(CHARGES[charge].split()):
            raise Unfit
        charges.add(charge)
        total = story.turn(charge, now=total)
        if chance.hit(0.4):
            break
    kind = chance.pick(("how much", "change", "bills", "had", "short", "split"))
    if kind == "how much":
        story.ask(kind, total)
    elif kind == "change":
        fits = [n for n in (20, 50, 100, 200, 500) if total.value < n <= 4 * total.value]
        if not fits:
            raise Unfit
        story.solve(kind, now=total, m=story.state(chance.pick(fits), "paid", money=True))
    elif kind == "bills":
        m = story.state(chance.pick((10, 20, 50)), "bill", money=True)
        count = int(total.value // m.value) + 1
        if not 2 <= count <= 9:
            raise Unfit
        story.solve(kind, now=total, k=story.state(count, "bills", words=True), m=m)
    elif kind == "short":
        if total.value < 8:
            raise Unfit
        m = story.state(chance.between(2, int(total.value) - 2), "had", money=True)
        story.solve(kind, now=total, m=m)
    else:
        story.solve(kind, now=total)


BUYING_PLACES = ("museum", "zoo", "theater", "circus", "pool")


def tickets(story: Story) -> None:
    """Write a problem about a place with visitors."""
    chance = story.chance
    story.in_present()
    story.connected = False
    story.cast["place"] = chance.pick(BUYING_PLACES)
    p = story.draw(6, 30, "adult", by=chance.pick((1, 2, 4, 5)), money=True)
    q = _child_price(story, p)
    kind = chance.below(4) if story.size > 3 else 0
    a = story.draw(5, 60, "adults")
    visitors = ("counts", "count times", "count more", "count whole")
    c = story.turn(visitors[kind], now=a, a=a)
    adults = story.step("The adults pay {=}.", a * p)
    children = story.step("The children pay {=}.", c * q)
    if chance.hit(0.2):
        paid = sorted(((adults, "adults"), (children, "children")), key=lambda pair: pair[0].value)
        (less, fewer), (more, rest) = paid
        answer = story.step("The difference is {=}.", more - less)
        story.ask("more", answer, less=fewer, more=rest)
        return
    money = story.step("Together they pay {=}.", adults + children)
    if story.steps_left == 1 and chance.hit(0.5):
        story.solve("total days", now=money)
        return
    used = False
    if story.steps_left > 1 and chance.hit(0.6):
        part = "share" if chance.hit(0.5) else "percent"
        money, used = story.turn("gives", now=money, part=part), True
    if story.steps_left > 0 and chance.hit(0.7):
        k = story.draw(40, 400, "cost", by=10, money=True)
        if k.value > money.value * 3 / 4:
            raise Unfit
        money, used = story.turn("costs", now=money, k=k), True
    story.ask("left" if used else "total", money)


def _child_price(story: Story, p: Quantity) -> Quantity:
    chance, dollars = story.chance, int(p.value)
    kind = chance.below(3)
    if kind == 0:
        q = story.state(chance.between(2, dollars - 1), "child", money=True)
        return story.turn("prices", now=q, p=p, q=q)
    if kind == 1:
        return story.turn("price part", now=p, p=p)
    k = story.state(chance.between(1, dollars - 3), "less", money=True)
    return story.turn("price less", p=p, k=k)


EARNING_PLACES = ("a shop", "a bakery", "a library", "a farm", "a museum", "a school")
WAGES_GOALS = (("a bike", 90, 400), ("a phone", 150, 600), ("a table", 80, 300),
               ("a guitar", 100, 400), ("a tent", 60, 250), ("a camera", 120, 500))  # fmt: skip


def wages(story: Story) -> None:
    """Write a problem about a person's wages and what they are spent on."""
    chance = story.chance
    story.cast.update(A=story.person(), place=chance.pick(EARNING_PLACES))
    rate = story.draw(8, 25, "rate", money=True)
    story.say("rate", r=rate)
    kind = ("daily", "weekly", "two days", "longer")[chance.below(4) if story.size > 2 else 0]
    h = story.draw(3, 8, "hours", most=12, words=True)
    hours = story.turn(kind, h=h, one="Saturday", two="Sunday")
    money = story.step("{A} {~earn} {=}.", rate * hours)
    spent, what = False, "the money"
    kinds = chance.shuffled(("spends", "spends part", "spends each"))
    extras = chance.shuffled(("extra", "tips"))
    while story.steps_left > 1:
        spent = spent or chance.hit(0.5)
        if not (kinds if spent else extras):
            break
        name = (kinds if spent else extras).pop()
        money = story.turn(name, now=money, what=what)
        if name in ("spends", "spends each"):
            what = f"what {'was' if story.past else 'is'} left"
        if story.steps_left > 1 and chance.hit(0.15):
            break
    unspent = "left" if spent else "earned"
    end = chance.pick(
        ("left", "goal", "shared") if spent else ("earned", "goal", "other", "shared")
    )
    if end == "goal":
        thing, low, high = chance.pick(WAGES_GOALS)
        k = story.state(money.value + chance.between(5, 120), "goal", money=True)
        if low <= k.value <= (WIDE * high if story.style.wide else high):
            story.solve(end, now=money, k=k, thing=thing)
        else:
            story.ask(unspent, money)
    elif end == "other":
        story.solve(end, now=money)
    elif end == "shared":
        what = "the rest of the money" if spent else "this money"
        story.solve(end, now=money, what=what)
    else:
        story.ask(unspent, money)


SAVINGS_GOALS = ("a bike", "a phone", "a guitar", "a tent", "a camera", "a watch")


def savings(story: Story) -> None:
    """Write a problem about a person's savings."""
    chance = story.chance
    story.cast.update(A=story.person(), thing=chance.pick(SAVINGS_GOALS))
    givers = chance.shuffled(("mother", "aunt", "uncle"))
    money = story.turn("has")
    w, k = story.draw(3, 10, "weeks", words=True), story.draw(8, 40, "weekly", money=True)
    if story.size > 3 and chance.hit(0.5):
        m = story.state(chance.between(2, int(k.value) - 3), "spent weekly", money=True)
        k = story.turn("net", k=k, m=m, w=w)
    else:
        story.say("weekly", k=k, w=w)
    lines = "In {w} weeks, {A} {~save} {=w*k}.", "Then {A} {~have} {=now+it}."
    money = story.compute(*lines, now=money, w=w, k=k)
    doubled = False
    while story.steps_left > 1:
        kind = chance.below(4)
        if kind == 2 and doubled:
            kind = 3
        if kind == 0 and not givers:
            raise Unfit
        doubled = doubled or kind == 2
        name = ("gift", "spends", "doubled", "spends part")[kind]
        money = story.turn(name, now=money, who=givers.pop() if kind == 0 else "")
        if chance.hit(0.1):
            break
    kind = chance.below(4)
    if kind == 0 or story.steps_left < 1:
        story.ask("how much", money)
        return
    m = story.draw(4, 30, "weekly", money=True)
    if kind == 1:
        story.numbers.pop()
        story.solve("needs", now=money)
        return
    k = story.state(money.value + m.value * chance.between(2, 12), "goal", money=True)
    story.solve("weeks", now=money, k=k, m=m)


MAKERS = (("factory", Noun("machine", "machines")), ("workshop", Noun("worker", "workers")),
          ("company", Noun("robot", "robots")))  # fmt: skip


def production(story: Story) -> None:
    """Write a problem about a place where things are made."""
    chance = story.chance
    place, maker = chance.pick(MAKERS)
    story.cast.update(place=place, maker=maker, item=chance.pick(CLOTHES + HOME + TOYS),
                      rest="all the", crate=chance.pick(PACKING))  # fmt: skip
    output = _production(story)
    if story.steps_left > 1 and chance.hit(0.5):  # first, so that it is clear what the part is of
        story.cast["rest"] = "all the other"
        output = story.turn("gone", now=output)
    for name in chance.sample(("gone number", "used", "old"), 2):
        if story.steps_left > 1 and chance.hit(0.5):
            if name != "old":
                story.cast["rest"] = "all the other"
            output = story.turn(name, now=output)
    ends = ("how many", "how many boxes", "how much", "how much")
    end = chance.pick(ends if story.steps_left > 0 else ends[:1])
    if end == "how many":
        story.ask(end, output)
    elif end == "how many boxes":
        story.ask(end, story.turn("boxed", now=output))
    else:
        unit = story.cast["item"]
        if story.steps_left > 1 and chance.hit(0.7):
            output, unit = story.turn("boxed", now=output), story.cast["crate"]
            p = story.draw(5, 30, "price", money=True)
            story.cast["rest"] = "all the"
        else:
            p = story.draw(max(2, unit.low // 2), max(5, unit.high // 2), "price", money=True)
        money = story.turn("price", now=output, unit=unit, p=p)
        if story.steps_left > 0 and chance.hit(0.7):
            if money.value < 40:
                raise Unfit
            k = story.draw(20, min(int(money.value) * 3 // 4, 900), "cost", by=10, money=True)
            story.ask("profit", story.turn("costs", now=money, k=k), unit=unit)
        else:
            story.ask("how much", money, unit=unit)


def _production(story: Story) -> Quantity:
    kind, m = story.chance.below(4), story.draw(4, 20, "rate")
    kind = 0 if story.size < 4 else min(kind, 2)
    hourly = story.turn(("one", "kinds", "have")[kind], now=m, m=m)
    h = story.draw(3, 9, "hours", most=20, words=True)
    if story.steps_left < 2 or story.chance.hit(0.3):
        return story.turn("this long", now=hourly, h=h)
    story.say("hours", h=h)
    return story.turn("days", now=hourly, h=h)


def harvest(story: Story) -> None:
    """Write a problem about a farm with fruit."""
    chance = story.chance
    story.in_present()
    story.connected = False
    crates = (Noun("box", "boxes"), Noun("basket", "baskets"), Noun("crate", "crates"))
    story.cast.update(item=chance.pick(FRUIT), crate=chance.pick(crates))
    fruit, less = _fruit(story), False
    if story.steps_left > 1 and chance.hit(0.6):
        fruit, less = story.turn("bad", now=fruit), True
    if story.steps_left > 1 and chance.hit(0.5):
        fruit, less = story.turn("kept", now=fruit), True
    if story.steps_left < 1 and less:
        story.ask("how many", fruit)
        return
    if not less and chance.hit(0.3):
        t = times(story, 2, 3)
        before = story.turn("last", now=fruit, t=t, part=t.spoken)
        story.solve("both years", now=fruit, before=before)
        return
    unit = story.cast["item"]
    if less and story.steps_left > 0 and chance.hit(0.7):
        unit = story.cast["crate"]
        fruit = story.turn("packed", now=fruit)
        if story.steps_left < 1 or chance.hit(0.3):
            story.ask("how many boxes", fruit)
            return
    loose = unit is story.cast["item"]
    p = story.draw(2, 3 if loose else 20, "price", money=True)
    story.say("price", unit=unit, p=p, left=" that is left" if less and loose else "")
    story.solve("how much", now=fruit, p=p)


def _fruit(story: Story) -> Quantity:
    chance = story.chance
    if chance.hit(0.3):
        return story.turn("pickers")
    trees = story.turn("rows" if chance.hit(0.6) else "trees")
    m = story.draw(10, 60, "each", by=chance.pick((1, 2, 5)))
    if story.steps_left > 2 and chance.hit(0.4):
        trees = story.turn("dead", now=trees)
        story.say("each", m=m)
    else:
        story.say("each all", m=m)
    return story.step("In all, there {~~be} {=} {item}.", trees * m)


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
        small = story.turn("has both", now=small, n=n, k=k)
    else:
        story.say("has", n=n)
    done, used = set[str](), 0
    while story.steps_left > 1 and used < 3:
        kind = chance.below(3)
        if kind == 0 and "given" not in done:
            done.add("given")
            k = story.draw(by, 5 * high, "used", by=by)
            small = story.turn("gives time" if timed else "gives", now=small, k=k)
        elif kind == 1 and not timed:
            small = story.turn("gives rest" if used else "gives part", now=small)
        elif "made" in done:
            raise Unfit
        else:
            done.add("made")
            m = story.draw(2, 9, "pieces", words=True)
            k = story.draw(low, high, "each", by=by)
            small = story.turn("plays" if timed else "uses", now=small, k=k, m=m)
        used += 1
    kind = chance.below(4)
    if used and kind == 0:
        story.ask("left", small)
    elif used and kind == 1 and not timed:
        story.solve("shares", now=small)
    elif "made" not in done:
        k = story.divisor(small, low, high, "each")
        if k.value % by:
            raise Unfit
        name = ("plays all" if used else "games all") if timed else "makes" if used else "makes all"
        story.solve(name, now=small, k=k)
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
        story.say("holds", n=room)
    if room and chance.hit(0.4):
        water = story.turn("full", now=room)
    else:
        water = story.draw(4 * low, 10 * high, "start", by=chance.pick((1, 2, 10)))
        story.say("has", k=water, a="the" if room else "a")
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
    if kind == 0 or story.steps_left < 1:
        story.ask("how much", water)
    elif room and kind == 1:
        story.solve("room", now=water, room=room)
    elif room and kind == 2:
        rest = story.step("There is room for {=} more liters.", room - water)
        story.solve("time", now=rest, low=low)
    else:
        story.solve("empty", now=water, low=low)


def _change(story: Story, water: Quantity, low: int, high: int) -> Quantity:
    chance = story.chance
    name = ("in", "out", "both", "buckets", "takes", "takes part")[chance.below(6)]
    if name != "both":
        return story.turn(name, now=water, low=low, high=high, most=4 * high)
    r, t = story.draw(low + 2, high, "rate"), story.draw(3, 15, "minutes", words=True)
    s = story.state(chance.between(2, int(r.value) - 2), "out")
    return story.turn(name, now=water, r=r, s=s, t=t)


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
    n = story.turn("begin", low=low, high=high)
    k, d = story.draw(slow, fast, "rate"), story.draw(2, 7, "days", words=True)
    remaining = story.turn("daily", now=n, k=k, d=d)
    while story.steps_left > 1 and chance.hit(0.85):
        kind = chance.below(4)
        if kind > 1 and len(story.steps) > 2:  # "than before" is clear at the start alone
            kind = 1
        name = ("part", "some", "times", "more")[kind]
        remaining = story.turn(name, now=remaining, rate=k)
    kind = chance.below(3)
    if kind == 0 or story.steps_left < 1:
        story.ask("left", remaining)
    else:
        name = "days" if kind == 1 else "per day"
        story.solve(name, now=remaining, slow=slow, fast=2 * fast)


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
        story.say("start")
    h = story.draw(2, 6, "hours", words=True, most=12)
    s = story.draw(low, high, "speed", by=5 if fuel else 1, most=high)
    distance = story.turn("stage", h=h, s=s)
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
            distance = story.turn("miles", now=distance, low=low, high=2 * high)
        elif kind == 2:
            if chance.hit(0.5):
                t = times(story, 2, 3)
                wording, more = t.spoken, distance * t
            else:
                wording, more = share(story, distance)
            distance = story.turn("again", now=distance, more=more, part=wording)
        else:
            takes_days = True
            distance = story.turn("daily", now=distance, low=low, high=4 * high)
    if not fuel and distance.value > 12 * high:
        raise Unfit
    kind = chance.below(7 if fuel else 5)
    if story.steps_left < 1 or kind == 0:
        story.ask("total", distance)
    elif kind <= 3:
        story.solve("left" if kind <= 2 else "back", now=distance)
    elif kind == 4:
        k = story.divisor(distance, 3, 12, "hours")
        if takes_days or k.value < hours:
            raise Unfit
        if not low / 2 <= distance.value / k.value <= 1.2 * high:
            raise Unfit
        story.solve("speed", now=distance, k=k)
    else:
        k = story.divisor(distance, 15, 50, "mileage")
        if kind == 5:
            story.solve("gallons", now=distance, k=k)
            return
        gallons = story.step("{A} {~need} {=} gallons.", distance / k)
        story.solve("gas cost", now=gallons, k=k)


def _change_speed(story: Story, way: Way, distance: Quantity, s: Quantity, h: Quantity) -> Quantity:
    _, slowest, fastest, _ = way
    name = "faster" if story.chance.hit(0.5) else "slower"
    low = 2 if fastest < 20 else 5
    k = story.draw(low, max(3, slowest // 2), name, most=fastest)
    speed = story.turn(name, s=s, k=k, h=h)
    if not slowest <= speed.value <= 1.3 * fastest:
        raise Unfit
    lines = "At that speed, {A} {~act} {=h*s} miles.", GONE
    return story.compute(*lines, now=distance, h=h, s=speed)


# Families that are easy to check and hard to solve forwards. A solution begins with "Try ..." and
# the right guess. A wrong guess shows later, as a number that is not whole or that differs from one
# in the question.


def two_kinds(story: Story) -> None:
    """Write a problem about a purchase of two kinds whose number and total cost are known."""
    chance = story.chance
    item, other = chance.sample(CLOTHES + HOME + TOYS, 2)
    story.cast.update(A=story.person(), item=item, other=other)
    p = story.draw(2, 20, "price", money=True)
    q = story.draw(2, 20, "price", money=True)
    n = story.draw(6, 25, "count")
    guess = leaf(chance.between(2, int(n.value) - 2), "guess")
    if p.value == q.value:
        raise Unfit
    cost = guess.value * p.value + (n.value - guess.value) * q.value
    story.say("two prices", p=p, q=q)
    if chance.hit(0.6):
        t = story.state(cost, "total", money=True)
        story.say("bought", n=n, t=t)
    else:
        c = story.draw(1, 30, "change", money=True)
        m = story.state(cost + c.value, "paid", money=True)
        t = story.turn("bought back", n=n, m=m, c=c)
    story.note(f"Try {guess.written} {{item}}.")
    spent = story.step("They {~~cost} {=}.", guess * p)
    lines = (
        "That {~leave} {=t-spent} for the {other}.", "So there {~~be} {=it/q} {other}.",
        "In all there {~~be} {=guess+it} things, and that {~be} right.",
    )  # fmt: skip
    story.compute(*lines, t=t, spent=spent, q=q, guess=guess)
    story.ask(*(("how many", guess) if chance.hit(0.6) else ("spent", spent)))


LEGS = {"cows": 4, "ducks": 2, "sheep": 4, "hens": 2, "goats": 4}


def legs(story: Story) -> None:
    """Write a problem about animals with two and with four legs."""
    chance = story.chance
    pairs = ("cows ducks", "ducks cows", "sheep hens", "hens goats", "goats ducks")
    a, b = chance.pick(pairs).split()
    story.cast.update(a=a, b=b)
    n = story.draw(8, 40, "count")
    guess = leaf(chance.between(2, int(n.value) - 2), "guess")
    t = story.state(guess.value * LEGS[a] + (n.value - guess.value) * LEGS[b], "legs")
    story.say("legs", n=n, t=t)
    story.note(f"Try {guess.written} {{a}}.")
    lines = (
        f"They {{~~have}} {{=guess*{LEGS[a]}}} legs.", "That {~leave} {=t-it} legs for the {b}.",
        f"So there {{~~be}} {{=it/{LEGS[b]}}} {{b}}.",
        "In all there {~~be} {=guess+it} animals, and that {~be} right.",
    )  # fmt: skip
    story.compute(*lines, guess=guess, t=t)
    story.ask("how many animals", guess)


def product(story: Story) -> None:
    """Write a problem about two numbers whose product and difference are known."""
    chance = story.chance
    guess = leaf(chance.between(3, 45), "guess")
    d = story.draw(1 if chance.hit(0.8) else 2, 20, "difference")
    longer = guess.value + d.value
    if d.value < 2:
        raise Unfit
    t = story.state(guess.value * longer, "product")
    if chance.hit(0.5):
        story.cast["field"] = chance.pick(("garden", "field", "park"))
        story.say("field", t=t, d=d)
        story.note(f"Try {guess.written} meters for the width.")
        other = story.step("Then the {field} {~be} {=} meters long.", t / guess)
        story.step("The difference {~be} {=} meters, and that {~be} right.", other - guess)
        questions = "width", "length"
    elif longer > 80 or guess.value < 5:
        raise Unfit
    else:
        story.in_present()
        story.cast.update(A=story.person(), B=story.person())
        story.say("ages", t=t, d=d)
        story.note(f"Try {guess.written} years for {{B}}.")
        other = story.step("Then {A} is {=} years old.", t / guess)
        story.step("The difference is {=} years, and that is right.", other - guess)
        questions = "younger", "older"
    asked = 0 if chance.hit(0.5) else 1
    story.ask(questions[asked], (guess, other)[asked])


def sharing(story: Story) -> None:
    """Write a problem about things shared equally; the number of friends is between two bounds."""
    chance = story.chance
    item = chance.pick(SMALL + FRUIT)
    story.cast.update(A=story.person(), item=item)
    guess = leaf(chance.between(4, 25), "guess")
    each = chance.between(7, 60)
    width = chance.between(4, 9)
    low = max(2, int(guess.value) - 1 - chance.below(width))
    high = max(low + width, int(guess.value) + 1)
    t = story.state(guess.value * each, "whole")
    if sum(1 for n in range(low + 1, high) if t.value % n == 0) != 1:
        raise Unfit
    story.say("shared", t=t, low=story.state(low, "low"), high=story.state(high, "high"))
    story.note(f"Try {guess.written} friends.")
    got = story.step("Each of them {~get} {=} {item}.", t / guess)
    story.ask(*(("how many friends", guess) if chance.hit(0.5) else ("each", got)))
