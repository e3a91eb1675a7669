"""Families of problems about money and goods.

Bills of a shop, tickets of a place with visitors, wages and what they are spent on, savings over
weeks, things that are made in a factory or grown on a farm, packed and sold.
"""

from __future__ import annotations

from gradeschool.datasets.fresh.story import (
    CLOTHES,
    FRUIT,
    HOME,
    PACKING,
    SOLD,
    TOYS,
    WIDE,
    Noun,
    Quantity,
    Story,
    Unfit,
    listed,
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
    prices = _prices(story, items)
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
    _pay(story, total)


def _prices(story: Story, items: list[Noun]) -> list[Quantity]:
    prices: list[Quantity] = []
    for index, item in enumerate(items):
        if index == 0 or story.steps_left <= 2 or not story.chance.hit(0.4):
            prices.append(story.draw(item.low, item.high, "price", money=True))
            story.say("price", item=item, p=prices[-1])
            continue
        before = story.chance.below(index)
        name = "price more" if story.chance.hit(0.5) else "price times"
        price = story.turn(name, now=prices[before], item=item, other=items[before])
        if price.value > 2 * item.high:
            raise Unfit
        prices.append(price)
    return prices


def _pay(story: Story, total: Quantity) -> None:
    chance = story.chance
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
        _sell(story, output)


def _production(story: Story) -> Quantity:
    kind, m = story.chance.below(4), story.draw(4, 20, "rate")
    kind = 0 if story.size < 4 else min(kind, 2)
    hourly = story.turn(("one", "kinds", "have")[kind], now=m, m=m)
    h = story.draw(3, 9, "hours", most=20, words=True)
    if story.steps_left < 2 or story.chance.hit(0.3):
        return story.turn("this long", now=hourly, h=h)
    story.say("hours", h=h)
    return story.turn("days", now=hourly, h=h)


def _sell(story: Story, output: Quantity) -> None:
    chance, unit = story.chance, story.cast["item"]
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
