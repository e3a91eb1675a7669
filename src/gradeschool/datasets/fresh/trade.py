"""Families of problems about money, goods, units and rates, and those solved by trying guesses.

Bills of a shop, tickets of a place with visitors, wages and what they are spent on, savings over
weeks, things that are made in a factory or grown on a farm, packed and sold. Things measured in a
large and a small unit, water that flows in and out of a tank, pages a day, the stages of a trip.
"""

from typing import Any

from gradeschool.datasets.fresh.story import (
    CLOTHES,
    FRUIT,
    HOME,
    SMALL,
    SOLD,
    TABLES,
    THINGS,
    TOYS,
    WIDE,
    Chance,
    Quantity,
    Story,
    constant,
    leaf,
    listed,
    noun,
    share,
    times,
)

# Each with the charges that it cannot follow.
CHARGES = {"coupon": "coupon delivery", "off": "off coupon delivery", "delivery": "delivery"}


def shopping(story: Story, chance: Chance) -> None:
    """Write a problem about a visit to a shop."""
    story.cast["A"] = story.person()
    lines = max(1, min(chance.between(1, 4), (story.size - 1) // 2 + 1))
    items = chance.sample(SOLD, lines)
    if chance.hit(0.3):
        story.say("shop")
    counts = [story.draw("2-9w count") for _ in items]
    prices: list[Quantity] = []
    for index, item in enumerate(items):
        if index == 0 or story.steps_left <= 2 or not chance.hit(0.4):
            price = story.tell("price", item=item, low=item.low, high=item.high)
        else:
            before = chance.below(index)
            name = "price more" if chance.hit(0.5) else "price times"
            price = story.tell(name, now=prices[before], item=item, other=items[before])
            story.require(price.value <= 2 * item.high)
        prices.append(price)
    bought = listed([f"{{n{index} i{index}}}" for index in range(lines)])
    at = "open" if chance.hit(0.5) else "event"
    bought_values: dict[str, Any] = {f"n{index}": count for index, count in enumerate(counts)}
    bought_values |= {f"i{index}": item for index, item in enumerate(items)}
    wordings = (f"{{A.he}} {{~buy}} {bought}.", f"{{A}} {{~buy}} {bought}.")
    story.say(wordings, at=at, **bought_values)
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
        story.require(charges.isdisjoint(CHARGES[charge].split()))
        charges.add(charge)
        total = story.tell(charge, now=total)
        if chance.hit(0.4):
            break
    asked = chance.pick(("how much", "change", "bills", "had", "short", "split"))
    values: dict[str, Quantity] = {}
    if asked == "change":
        fits = [n for n in (20, 50, 100, 200, 500) if total.value < n <= 4 * total.value]
        story.require(fits)
        values["m"] = story.state(chance.pick(fits), "paid", money=True)
    elif asked == "bills":
        values["m"] = bill = story.state(chance.pick((10, 20, 50)), "bill", money=True)
        count = int(total.value // bill.value) + 1
        story.require(2 <= count <= 9)
        values["k"] = story.state(count, "bills", words=True)
    elif asked == "short":
        story.require(total.value >= 8)
        values["m"] = story.state(chance.between(2, int(total.value) - 2), "had", money=True)
    story.ask(asked, total, **values)


def tickets(story: Story, chance: Chance) -> None:
    """Write a problem about a place with visitors."""
    story.past = story.connected = False
    story.cast["place"] = chance.pick(TABLES["tickets"])
    p = story.draw("$6-30/1,2,4,5 adult")
    priced, k = chance.pick(("prices", "price part", "price less")), p
    if priced == "prices":
        k = story.state(chance.between(2, int(p.value) - 1), "child", money=True)
    elif priced == "price less":
        k = story.state(chance.between(1, int(p.value) - 3), "less", money=True)
    q = story.tell(priced, now=k, p=p, k=k)
    kind = chance.below(4) if story.size > 3 else 0
    a = story.draw("5-60 adults")
    visitors = ("counts", "count times", "count more", "count whole")
    c = story.tell(visitors[kind], now=a, a=a)
    adults = story.step("The adults pay {=}.", a * p)
    children = story.step("The children pay {=}.", c * q)
    if chance.hit(0.2):
        paid = sorted(((adults, "adults"), (children, "children")), key=lambda pair: pair[0].value)
        (small, fewer), (large, rest) = paid
        story.ask("more", large, small=small, less=fewer, more=rest)
        return
    money = story.step("Together they pay {=}.", adults + children)
    if story.steps_left == 1 and chance.hit(0.5):
        story.ask("total days", money)
        return
    used = False
    if story.steps_left > 1 and chance.hit(0.6):
        part = "share" if chance.hit(0.5) else "percent"
        money, used = story.tell("gives", now=money, part=part), True
    if story.steps_left > 0 and chance.hit(0.7):
        left, used = story.tell("costs", now=money), True
        story.require(left.value >= money.value / 4)
        money = left
    story.ask("left" if used else "total", money)


def wages(story: Story, chance: Chance) -> None:
    """Write a problem about a person's wages and what they are spent on."""
    story.cast.update(A=story.person(), place=chance.pick(TABLES["wages"]))
    rate = story.tell("rate")
    kind = ("daily", "weekly", "two days", "longer")[chance.below(4) if story.size > 2 else 0]
    h = story.draw("3-8<12w hours")
    hours = story.tell(kind, h=h, one="Saturday", two="Sunday")
    money = story.step("{A} {~earn} {=}.", rate * hours)
    spent, what = False, "the money"
    kinds = chance.shuffled(("spends", "spends part", "spends each"))
    extras = chance.shuffled(("extra", "tips"))
    while story.steps_left > 1:
        spent = spent or chance.hit(0.5)
        if not (kinds if spent else extras):
            break
        name = (kinds if spent else extras).pop()
        money = story.tell(name, now=money, what=what)
        if name in ("spends", "spends each"):
            what = f"what {'was' if story.past else 'is'} left"
        if story.steps_left > 1 and chance.hit(0.15):
            break
    unspent = "left" if spent else "earned"
    asked = chance.pick(
        ("left", "goal", "shared") if spent else ("earned", "goal", "other", "shared")
    )
    what, thing, k = "the rest of the money" if spent else "this money", "", money
    if asked == "goal":
        thing, low, high = chance.pick(TABLES["wages_goals"])
        k = story.state(money.value + chance.between(5, 120), "goal", money=True)
        if not low <= k.value <= (WIDE * high if story.wide else high):
            asked = unspent
    story.ask(asked, money, k=k, thing=thing, what=what)


def savings(story: Story, chance: Chance) -> None:
    """Write a problem about a person's savings."""
    story.cast.update(A=story.person(), thing=chance.pick(TABLES["savings"]))
    givers = chance.shuffled(("mother", "aunt", "uncle"))
    money = story.tell("has")
    w, k = story.draw("3-10w weeks"), story.draw("$8-40 weekly")
    if story.size > 3 and chance.hit(0.5):
        m = story.state(chance.between(2, int(k.value) - 3), "spent weekly", money=True)
        k = story.tell("net", k=k, m=m, w=w)
    else:
        story.say("weekly", k=k, w=w)
    money = story.tell("saved", now=money, w=w, k=k)
    doubled = False
    while story.steps_left > 1:
        name = chance.pick(("gift", "spends", "doubled", "spends part"))
        if name == "doubled" and doubled:
            name = "spends part"
        story.require(givers or name != "gift")
        doubled = doubled or name == "doubled"
        money = story.tell(name, now=money, who=givers.pop() if name == "gift" else "")
        if chance.hit(0.1):
            break
    asked = chance.pick(("how much", "needs", "weeks", "weeks"))
    if asked == "how much" or story.steps_left < 1:
        story.ask("how much", money)
        return
    k = m = story.draw("$4-30 weekly")
    if asked == "needs":
        story.numbers.pop()
    else:
        k = story.state(money.value + m.value * chance.between(2, 12), "goal", money=True)
    story.ask(asked, money, k=k, m=m)


def production(story: Story, chance: Chance) -> None:
    """Write a problem about a place where things are made."""
    place, maker = chance.pick(TABLES["production"])
    story.cast.update(place=place, maker=noun(maker), item=chance.pick(CLOTHES + HOME + TOYS),
                      rest="all the", crate=chance.pick(THINGS["packing"]))  # fmt: skip
    kind, m = chance.below(4), story.draw("4-20 rate")
    kind = 0 if story.size < 4 else min(kind, 2)
    hourly = story.tell(("one", "kinds", "have")[kind], now=m, m=m)
    h = story.draw("3-9<20w hours")
    if story.steps_left < 2 or chance.hit(0.3):
        output = story.tell("this long", now=hourly, h=h)
    else:
        story.say("hours", h=h)
        output = story.tell("days", now=hourly, h=h)
    if story.steps_left > 1 and chance.hit(0.5):  # first, so that it is clear what the part is of
        story.cast["rest"] = "all the other"
        output = story.tell("gone", now=output)
    for name in chance.sample(("gone number", "used", "old"), 2):
        if story.steps_left > 1 and chance.hit(0.5):
            if name != "old":
                story.cast["rest"] = "all the other"
            output = story.tell(name, now=output)
    ends = ("how many", "how many boxes", "how much", "how much")
    end = chance.pick(ends if story.steps_left > 0 else ends[:1])
    if end == "how many":
        story.ask(end, output)
        return
    if end == "how many boxes":
        story.ask(end, story.tell("boxed", now=output))
        return
    unit = story.cast["item"]
    low, high = max(2, unit.low // 2), max(5, unit.high // 2)
    if story.steps_left > 1 and chance.hit(0.7):
        output, unit, low, high = story.tell("boxed", now=output), story.cast["crate"], 5, 30
        story.cast["rest"] = "all the"
    money = story.tell("price", now=output, unit=unit, low=low, high=high)
    if story.steps_left > 0 and chance.hit(0.7):
        story.require(money.value >= 40)
        most = min(int(money.value) * 3 // 4, 900)
        story.ask("profit", story.tell("costs", now=money, most=most), unit=unit)
    else:
        story.ask("how much", money, unit=unit)


def harvest(story: Story, chance: Chance) -> None:
    """Write a problem about a farm with fruit."""
    story.past = story.connected = False
    story.cast.update(item=chance.pick(FRUIT), crate=chance.pick(THINGS["farm_crates"]))
    if chance.hit(0.3):
        fruit = story.tell("pickers")
    else:
        trees = story.tell("rows" if chance.hit(0.6) else "trees")
        m, each = story.draw("10-60/1,2,5 each"), "each all"
        if story.steps_left > 2 and chance.hit(0.4):
            trees, each = story.tell("dead", now=trees), "each"
        story.say(each, m=m)
        fruit = story.step("In all, there {~~be} {=} {item}.", trees * m)
    less = False
    if story.steps_left > 1 and chance.hit(0.6):
        fruit, less = story.tell("bad", now=fruit), True
    if story.steps_left > 1 and chance.hit(0.5):
        fruit, less = story.tell("kept", now=fruit), True
    if story.steps_left < 1 and less:
        story.ask("how many", fruit)
        return
    if not less and chance.hit(0.3):
        story.ask("both years", fruit, before=story.tell("last", now=fruit))
        return
    unit, high = story.cast["item"], 3
    left = " that is left" if less else ""
    if less and story.steps_left > 0 and chance.hit(0.7):
        unit, high, left = story.cast["crate"], 20, ""
        fruit = story.tell("packed", now=fruit)
        if story.steps_left < 1 or chance.hit(0.3):
            story.ask("how many boxes", fruit)
            return
    p = story.tell("price", unit=unit, high=high, left=left)
    story.ask("how much", fruit, p=p)


def measures(story: Story, chance: Chance) -> None:
    """Write a problem about a thing that is measured in two units."""
    story.past = False
    row = chance.pick(TABLES["measures"])
    large, unit, factor, stuff, act, piece, pieces, by, low, high = row
    story.cast.update(large=large, small=unit, stuff=stuff, act=act, piece=piece, pieces=pieces,
                      A=story.person(), B=story.person())  # fmt: skip
    timed = factor == 60
    n = story.draw("2-9w large" if factor > 12 else "2-20w large")
    small = story.step("{n} {large} {~~be} {=} {small}.", n * constant(factor), n=n)
    if chance.hit(0.3):
        k = story.draw(f"{by}-{factor - by}/{by}<{factor - 1} small")
        small = story.tell("has both", now=small, n=n, k=k)
    else:
        story.say("has", n=n)
    done, used = set[str](), 0
    while story.steps_left > 1 and used < 3:
        kind = chance.below(3)
        if kind == 0 and "given" not in done:
            done.add("given")
            k = story.draw(f"{by}-{5 * high}/{by} used")
            small = story.tell("gives time" if timed else "gives", now=small, k=k)
        elif kind == 1 and not timed:
            small = story.tell("gives rest" if used else "gives part", now=small)
        else:
            story.require("made" not in done)
            done.add("made")
            m, k = story.draw("2-9w pieces"), story.draw(f"{low}-{high}/{by} each")
            small = story.tell("plays" if timed else "uses", now=small, k=k, m=m)
        used += 1
    kind = chance.below(4)
    if used and kind == 1 and not timed:
        story.ask("shares", small)
    elif used and (kind == 0 or "made" in done):
        story.ask("left", small)
    else:
        k = story.draw(f"{low}-{high}| each", small)
        story.require(k.value % by == 0)
        name = ("plays all" if used else "games all") if timed else "makes" if used else "makes all"
        story.ask(name, small, k=k)


def tanks(story: Story, chance: Chance) -> None:
    """Write a problem about a tank of water."""
    story.past = False
    tank, low, high = chance.pick(TABLES["tanks"])
    story.cast.update(A=story.person(), tank=tank)
    room: Quantity | None = None
    if chance.hit(0.6):
        room = story.draw(f"{20 * low}-{20 * high}/20 room")
        story.say("holds", n=room)
    if room and chance.hit(0.4):
        water = story.tell("full", now=room)
    else:
        water = story.draw(f"{4 * low}-{10 * high}/1,2,10 start")
        story.say("has", k=water, a="the" if room else "a")
    reserve = 1 if chance.hit(0.6) else 0
    while True:
        story.require(room is None or water.value < room.value)
        name = chance.pick(("in", "out", "both", "buckets", "takes", "takes part"))
        values: dict[str, Any] = {"low": low, "high": high, "most": 4 * high}
        if name == "both":
            r, t = story.draw(f"{low + 2}-{high} rate"), story.draw("3-15w minutes")
            s = story.state(chance.between(2, int(r.value) - 2), "out")
            values = {"r": r, "s": s, "t": t}
        water = story.tell(name, now=water, **values)
        if story.steps_left <= reserve:
            break
    story.require(room is None or water.value < room.value)
    kind = chance.below(4)
    if kind == 0 or story.steps_left < 1:
        story.ask("how much", water)
    elif room and kind == 1:
        story.ask("room", water, room=room)
    elif room and kind == 2:
        rest = story.step("There is room for {=} more liters.", room - water)
        story.ask("time", rest, low=low)
    else:
        story.ask("empty", water, low=low)


def reading(story: Story, chance: Chance) -> None:
    """Write a problem about a person who reads or writes page by page."""
    act, thing, unit, low, high, slow, fast = chance.pick(TABLES["reading"])
    story.cast.update(A=story.person(), act=act, thing=thing, unit=noun(unit))
    n = story.tell("begin", low=low, high=high)
    k, d = story.draw(f"{slow}-{fast} rate"), story.draw("2-7w days")
    remaining = story.tell("daily", now=n, k=k, d=d)
    while story.steps_left > 1 and chance.hit(0.85):
        name = chance.pick(("part", "some", "times", "more"))
        if name in ("times", "more") and len(story.steps) > 2:
            name = "some"  # "than before" is clear at the start alone
        remaining = story.tell(name, now=remaining, rate=k)
    asked = chance.pick(("left", "days", "per day"))
    story.ask(asked if story.steps_left > 0 else "left", remaining, slow=slow, fast=2 * fast)


def trips(story: Story, chance: Chance) -> None:
    """Write a problem about a trip in stages."""
    verb, low, high, fuel = chance.pick(TABLES["trips"])
    story.cast.update(A=story.person(), act=verb)
    if chance.hit(0.25):
        story.say("start")
    h = story.draw("2-6<12w hours")
    s = story.draw(f"{low}-{high}{'/5' if fuel else ''}<{high} speed")
    distance = story.tell("stage", h=h, s=s)
    hours, takes_days = h.value, False
    for turn in range(4):
        if story.steps_left < 2:
            break
        kind = chance.below(4) if turn == 0 else chance.between(1, 3)
        if kind == 0:  # right away, so that it is clear what "before" means
            h, name = story.draw("2-5<10w hours"), "faster" if chance.hit(0.5) else "slower"
            k = story.draw(f"{2 if high < 20 else 5}-{max(3, low // 2)}<{high} {name}")
            speed = story.tell(name, s=s, k=k, h=h)
            story.require(low <= speed.value <= 1.3 * high)
            distance = story.tell("at that speed", now=distance, h=h, s=speed)
            hours += h.value
        elif kind == 1:
            distance = story.tell("miles", now=distance, low=low, high=2 * high)
        elif kind == 2:
            if chance.hit(0.5):
                t = times(story, 2, 3)
                wording, more = t.spoken, distance * t
            else:
                wording, more = share(story, distance)
            distance = story.tell("again", now=distance, more=more, part=wording)
        else:
            takes_days = True
            distance = story.tell("daily", now=distance, low=low, high=4 * high)
    story.require(fuel or distance.value <= 12 * high)
    kind = chance.below(7 if fuel else 5)
    if story.steps_left < 1 or kind == 0:
        story.ask("total", distance)
    elif kind <= 3:
        story.ask("left" if kind <= 2 else "back", distance)
    elif kind == 4:
        k = story.draw("3-12| hours", distance)
        story.require(not takes_days and k.value >= hours)
        story.ask("speed", distance, k=k)
        story.require(low / 2 <= story.answer.value <= 1.2 * high)
    else:
        k = story.draw("15-50| mileage", distance)
        if kind == 5:
            story.ask("gallons", distance, k=k)
            return
        gallons = story.step("{A} {~need} {=} gallons.", distance / k)
        story.ask("gas cost", gallons, k=k)


# Families that are easy to check and hard to solve forwards. A solution begins with "Try ..." and
# the right guess. A wrong guess shows later, as a number that is not whole or that differs from one
# in the question.


def two_kinds(story: Story, chance: Chance) -> None:
    """Write a problem about a purchase of two kinds whose number and total cost are known."""
    item, other = chance.sample(CLOTHES + HOME + TOYS, 2)
    story.cast.update(A=story.person(), item=item, other=other)
    p, q, n = story.draw("$2-20 price"), story.draw("$2-20 price"), story.draw("6-25 count")
    guess = leaf(chance.between(2, int(n.value) - 2), "guess")
    story.require(p.value != q.value)
    cost = guess.value * p.value + (n.value - guess.value) * q.value
    story.say("two prices", p=p, q=q)
    if chance.hit(0.6):
        t = story.state(cost, "total", money=True)
        story.say("bought", n=n, t=t)
    else:
        c = story.draw("$1-30 change")
        m = story.state(cost + c.value, "paid", money=True)
        t = story.tell("bought back", n=n, m=m, c=c)
    story.note(f"Try {guess.written} {{item}}.")
    spent = story.step("They {~~cost} {=}.", guess * p)
    story.tell("check", t=t, spent=spent, q=q, guess=guess)
    story.ask(*(("how many", guess) if chance.hit(0.6) else ("spent", spent)))


LEGS = {"cows": 4, "ducks": 2, "sheep": 4, "hens": 2, "goats": 4}


def legs(story: Story, chance: Chance) -> None:
    """Write a problem about animals with two and with four legs."""
    pairs = ("cows ducks", "ducks cows", "sheep hens", "hens goats", "goats ducks")
    a, b = chance.pick(pairs).split()
    story.cast.update(a=a, b=b)
    n = story.draw("8-40 count")
    guess = leaf(chance.between(2, int(n.value) - 2), "guess")
    t = story.state(guess.value * LEGS[a] + (n.value - guess.value) * LEGS[b], "legs")
    story.say("legs", n=n, t=t)
    story.note(f"Try {guess.written} {{a}}.")
    story.tell("check", guess=guess, t=t, first=constant(LEGS[a]), second=constant(LEGS[b]))
    story.ask("how many animals", guess)


def product(story: Story, chance: Chance) -> None:
    """Write a problem about two numbers whose product and difference are known."""
    guess = leaf(chance.between(3, 45), "guess")
    d = story.draw("1-20 difference" if chance.hit(0.8) else "2-20 difference")
    longer = guess.value + d.value
    story.require(d.value >= 2)
    t = story.state(guess.value * longer, "product")
    if chance.hit(0.5):
        story.cast["field"] = chance.pick(("garden", "field", "park"))
        name, unit, short, long = (
            "field",
            "meters",
            "the width",
            "the {field} {~be} {=} meters long",
        )
        questions = "width", "length"
    else:
        story.require(longer <= 80 and guess.value >= 5)
        story.past = False
        story.cast.update(A=story.person(), B=story.person())
        name, unit, short, long = "ages", "years", "{B}", "{A} is {=} years old"
        questions = "younger", "older"
    story.say(name, t=t, d=d)
    story.note(f"Try {guess.written} {unit} for {short}.")
    other = story.step(f"Then {long}.", t / guess)
    story.step(f"The difference {{~be}} {{=}} {unit}, and that {{~be}} right.", other - guess)
    asked = 0 if chance.hit(0.5) else 1
    story.ask(questions[asked], (guess, other)[asked])


def sharing(story: Story, chance: Chance) -> None:
    """Write a problem about things shared equally; the number of friends is between two bounds."""
    story.cast.update(A=story.person(), item=chance.pick(SMALL + FRUIT))
    guess = leaf(chance.between(4, 25), "guess")
    each, width = chance.between(7, 60), chance.between(4, 9)
    low = max(2, int(guess.value) - 1 - chance.below(width))
    high = max(low + width, int(guess.value) + 1)
    t = story.state(guess.value * each, "whole")
    story.require(sum(1 for n in range(low + 1, high) if t.value % n == 0) == 1)
    story.say("shared", t=t, low=story.state(low, "low"), high=story.state(high, "high"))
    story.note(f"Try {guess.written} friends.")
    got = story.step("Each of them {~get} {=} {item}.", t / guess)
    story.ask(*(("how many friends", guess) if chance.hit(0.5) else ("each", got)))
