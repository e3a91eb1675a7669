"""Families of problems about money and goods.

Bills of a shop, tickets of a place with visitors, wages and what they are spent on, savings over
weeks, things that are made in a factory or grown on a farm, packed and sold.
"""

from __future__ import annotations

from collections.abc import Callable

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
    percent,
    share,
    some,
    times,
)


def shopping(story: Story) -> None:
    """Write a problem about a visit to a shop."""
    chance = story.chance
    story.cast["A"] = story.person()
    lines = max(1, min(chance.between(1, 4), (story.size - 1) // 2 + 1))
    items = chance.sample(SOLD, lines)
    if chance.hit(0.3):
        story.open("shop")
    counts = [story.draw(2, 9, "count", words=True) for _ in items]
    prices = _prices(story, items)
    bought = [f"{{n{index} i{index}}}" for index in range(lines)]
    things = listed(bought)
    values = {f"n{index}": count for index, count in enumerate(counts)}
    values |= {f"i{index}": item for index, item in enumerate(items)}  # type: ignore[misc]
    (story.open if chance.hit(0.5) else story.event)(
        (f"{{A.he}} {{~buy}} {things}.", f"{{A}} {{~buy}} {things}."), **values
    )
    costs = [
        story.step("The {i} {~~cost} {=}.", count * price, i=item)
        for item, count, price in zip(items, counts, prices, strict=True)
    ]
    total = sum(costs[1:], costs[0])
    if lines > 1:
        total = story.step("The total {~be} {=}.", total)
    while story.steps_left > 1:
        total = chance.pick((_coupon, _off, _delivery))(story, total)
        if story.distractors > 3:
            raise Unfit
        if chance.hit(0.4):
            break
    chance.pick((_total, _change, _bills, _start, _short, _split))(story, total)


def _prices(story: Story, items: list[Noun]) -> list[Quantity]:
    prices: list[Quantity] = []
    for index, item in enumerate(items):
        relative = index > 0 and story.steps_left > 2 and story.chance.hit(0.4)
        if not relative:
            p = story.draw(item.low, item.high, "price", money=True)
            story.fact("price", item=item, p=p)
            prices.append(p)
            continue
        before = story.chance.below(index)
        other, base = items[before], prices[before]
        if story.chance.hit(0.5):
            k = story.draw(1, 9, "more", money=True)
            story.fact("price more", item=item, other=other, k=k)
            price = base + k
        else:
            k = times(story, 2, 3)
            story.fact("price times", item=item, other=other, k=k)
            price = base * k
        if price.value > 2 * item.high:
            raise Unfit
        prices.append(story.step("Each {i.one} {~cost} {=}.", price, i=item))
    return prices


def _coupon(story: Story, total: Quantity) -> Quantity:
    if "coupon" in story.cast:
        raise Unfit
    story.cast["coupon"] = True
    k = story.draw(2, 15, "coupon", money=True)
    return story.turn("coupon", "With the coupon, {A} {~pay} {=}.", total - k, k=k)


def _off(story: Story, total: Quantity) -> Quantity:
    if "off" in story.cast or "coupon" in story.cast:
        raise Unfit
    story.cast["off"] = True
    part = percent(story, total, 10, 50)
    less = story.turn("off", "The shop {~take} off {=}.", part.taken, part=part.wording)
    return story.step("After that, {A} {~pay} {=}.", total - less)


def _delivery(story: Story, total: Quantity) -> Quantity:
    if "delivery" in story.cast:
        raise Unfit
    story.cast.update(delivery=True, coupon=True)
    k = story.draw(2, 12, "delivery", money=True)
    return story.turn("delivery", "With delivery, {A} {~pay} {=}.", total + k, k=k)


def _total(story: Story, total: Quantity) -> None:
    story.ask("how much", total)


def _change(story: Story, total: Quantity) -> None:
    fits = [n for n in (20, 50, 100, 200, 500) if total.value < n <= 4 * total.value]
    if not fits:
        raise Unfit
    m = story.state(story.chance.pick(fits), "paid", money=True)
    story.solve("change", "{A} {~get} back {=}.", m - total, m=m)


def _bills(story: Story, total: Quantity) -> None:
    m = story.state(story.chance.pick((10, 20, 50)), "bill", money=True)
    count = int(total.value // m.value) + 1
    if not 2 <= count <= 9:
        raise Unfit
    k = story.state(count, "bills", words=True)
    paid = story.step("{A} {~pay} with {=}.", k * m)
    story.solve("bills", "{A} {~get} back {=}.", paid - total, m=m, k=k)


def _start(story: Story, total: Quantity) -> None:
    m = story.state(total.value + story.chance.between(3, 60), "had", money=True)
    story.solve("had", "{A} {~have} {=} left.", m - total, m=m)


def _short(story: Story, total: Quantity) -> None:
    if total.value < 8:
        raise Unfit
    m = story.state(story.chance.between(2, int(total.value) - 2), "had", money=True)
    story.solve("short", "{A} {~need} {=} more.", total - m, m=m)


def _split(story: Story, total: Quantity) -> None:
    k = story.state(story.chance.between(1, 5) + 1, "friends", words=True)
    people = story.step("There {~~be} {=} people.", k + story.constant(1))
    each = story.step("Each of them {~pay} {=}.", total / people)
    story.ask("split", each, k=k)


BUYING_PLACES = ("museum", "zoo", "theater", "circus", "pool")


def tickets(story: Story) -> None:
    """Write a problem about a place with visitors."""
    chance = story.chance
    story.in_present()
    story.connected = False
    story.cast["place"] = chance.pick(BUYING_PLACES)
    p = story.draw(6, 30, "adult", by=chance.pick((1, 2, 4, 5)), money=True)
    q = _child_price(story, p)
    a, c = _visitors(story)
    adults = story.step("The adults pay {=}.", a * p)
    children = story.step("The children pay {=}.", c * q)
    if chance.hit(0.2):
        less, more, kinds = adults, children, ("adults", "children")
        if more.value < less.value:
            less, more, kinds = children, adults, ("children", "adults")
        answer = story.step("The difference is {=}.", more - less)
        story.ask("more", answer, less=kinds[0], more=kinds[1])
        return
    money = story.step("Together they pay {=}.", adults + children)
    if story.steps_left == 1 and chance.hit(0.5):
        d = story.draw(2, 9, "days", words=True)
        story.solve("total days", "In {d} days, that is {=}.", money * d, d=d)
        return
    used = False
    if story.steps_left > 1 and chance.hit(0.6):
        part = share(story, money) if chance.hit(0.5) else percent(story, money)
        removed = story.turn("gives", "That is {=} less.", part.taken, part=part.wording)
        money, used = story.step("Then {=} is left.", money - removed), True
    if story.steps_left > 0 and chance.hit(0.7):
        k = story.draw(40, 400, "cost", by=10, money=True)
        if k.value > money.value * 3 / 4:
            raise Unfit
        story.event("costs", k=k)
        money, used = story.step("Then {=} is left.", money - k), True
    story.ask("left" if used else "total", money)


def _child_price(story: Story, p: Quantity) -> Quantity:
    kind = story.chance.below(3)
    if kind == 0:
        q = story.state(story.chance.between(2, int(p.value) - 1), "child", money=True)
        story.open("prices", p=p, q=q)
        return q
    if kind == 1:
        part = share(story, p)
        story.open("price part", p=p, part=part.wording)
        return story.step("A child ticket costs {=}.", part.taken)
    k = story.state(story.chance.between(1, int(p.value) - 3), "less", money=True)
    story.open("price less", p=p, k=k)
    return story.step("A child ticket costs {=}.", p - k)


def _visitors(story: Story) -> tuple[Quantity, Quantity]:
    kind = story.chance.below(4) if story.size > 3 else 0
    a = story.draw(5, 60, "adults")
    if kind == 0:
        c = story.draw(5, 80, "children")
        story.fact("counts", a=a, c=c)
        return a, c
    if kind == 1:
        t = times(story, 2, 4)
        story.fact("count times", a=a, t=t)
        return a, story.step("There are {=} children.", a * t)
    if kind == 2:
        k = story.draw(3, 40, "more")
        story.fact("count more", a=a, k=k)
        return a, story.step("There are {=} children.", a + k)
    n = story.state(a.value + story.chance.between(5, 60), "visitors")
    story.fact("count whole", a=a, n=n)
    return a, story.step("There are {=} children.", n - a)


EARNING_PLACES = ("a shop", "a bakery", "a library", "a farm", "a museum", "a school")
WAGES_GOALS = (
    ("a bike", 90, 400),
    ("a phone", 150, 600),
    ("a table", 80, 300),
    ("a guitar", 100, 400),
    ("a tent", 60, 250),
    ("a camera", 120, 500),
)


def wages(story: Story) -> None:
    """Write a problem about a person's wages and what they are spent on."""
    chance = story.chance
    story.cast.update(A=story.person(), place=chance.pick(EARNING_PLACES))
    rate = story.draw(8, 25, "rate", money=True)
    story.open("rate", r=rate)
    hours = _hours(story)
    money = story.step("{A} {~earn} {=}.", rate * hours)
    spent, kinds, extras = False, chance.shuffled(SPENDING), chance.shuffled(EARNING)
    while story.steps_left > 1:
        spent = spent or chance.hit(0.5)
        if not (kinds if spent else extras):
            break
        money = (kinds if spent else extras).pop()(story, money)
        if story.steps_left > 1 and chance.hit(0.15):
            break
    if spent:
        chance.pick((_remainder, _goal, _shared))(story, money, spent)
    else:
        chance.pick((_earned, _goal, _other, _shared))(story, money, spent)


def _hours(story: Story) -> Quantity:
    kind = story.chance.below(4) if story.size > 2 else 0
    h = story.draw(3, 8, "hours", most=12, words=True)
    if kind <= 1:
        d = story.draw(3, 6, "days", most=7 if kind else 30, words=True)
        if kind == 0:
            story.open("daily", h=h, d=d)
            return story.step("{A} {~work} {=} hours.", d * h)
        w = story.draw(2, 6, "weeks", words=True)
        story.open("weekly", h=h, d=d, w=w)
        days = story.step("{A} {~work} {=} days.", w * d)
        return story.step("That {~be} {=} hours.", days * h)
    weekend = {"one": "Saturday", "two": "Sunday"}
    k = story.draw(2, 4 if kind == 3 else 8, "hours", most=9, words=True)
    if kind == 2:
        story.open("two days", h=h, k=k, **weekend)
        return story.step("{A} {~work} {=} hours.", h + k)
    story.open("longer", h=h, k=k, **weekend)
    second = story.step("On Sunday, {A} {~work} {=} hours.", h + k)
    return story.step("In all, {A} {~work} {=} hours.", h + second)


def _extra(story: Story, money: Quantity) -> Quantity:
    k, r = story.draw(2, 9, "extra", words=True), story.draw(15, 40, "extra rate", money=True)
    more = story.turn("extra", "The extra hours {~~pay} {=}.", k * r, k=k, r=r)
    return story.step("Then {A} {~have} {=}.", money + more)


def _tips(story: Story, money: Quantity) -> Quantity:
    k = story.draw(5, 60, "tips", money=True)
    return story.turn("tips", "With the tips, {A} {~have} {=}.", money + k, k=k)


def _spends(story: Story, money: Quantity) -> Quantity:
    k = story.draw(5, 90, "spent", money=True)
    story.cast["spent"] = True
    return story.turn("spends", "Then {A} {~have} {=} left.", money - k, k=k)


def _spends_part(story: Story, money: Quantity) -> Quantity:
    part = some(story, money)
    what = f"what {'was' if story.past else 'is'} left" if "spent" in story.cast else "the money"
    payment = story.turn(
        "spends part", "{A} {~spend} or {~give} away {=}.", part.taken, part=part.wording, what=what
    )
    return story.step("Then {A} {~have} {=} left.", money - payment)


def _spends_each(story: Story, money: Quantity) -> Quantity:
    k, m = story.draw(2, 6, "count", words=True), story.draw(4, 18, "price", money=True)
    story.cast["spent"] = True
    payment = story.turn("spends each", "{A} {~spend} {=} on them.", k * m, k=k, m=m)
    return story.step("Then {A} {~have} {=} left.", money - payment)


EARNING: tuple[Callable[[Story, Quantity], Quantity], ...] = (_extra, _tips)
SPENDING: tuple[Callable[[Story, Quantity], Quantity], ...] = (_spends, _spends_part, _spends_each)


def _earned(story: Story, money: Quantity, spent: bool) -> None:
    story.ask("earned", money)


def _remainder(story: Story, money: Quantity, spent: bool) -> None:
    story.ask("left", money)


def _goal(story: Story, money: Quantity, spent: bool) -> None:
    thing, low, high = story.chance.pick(WAGES_GOALS)
    k = story.state(money.value + story.chance.between(5, 120), "goal", money=True)
    if low <= k.value <= (WIDE * high if story.style.wide else high):
        story.solve("goal", "{A} {~need} {=} more.", k - money, thing=thing, k=k)
    else:
        story.ask("left" if spent else "earned", money)


def _other(story: Story, money: Quantity, spent: bool) -> None:
    k, person = story.draw(20, 200, "other", by=5, money=True), story.person()
    answer = story.step("{A} {~earn} {=} more than {B}.", money - k, B=person)
    story.ask("other", answer, B=person, k=k)


def _shared(story: Story, money: Quantity, spent: bool) -> None:
    k = story.divisor(money, 2, 6, "friends", words=True)
    what = "the rest of the money" if spent else "this money"
    story.solve("shared", "Each friend {~get} {=}.", money / k, k=k, what=what)


SAVINGS_GOALS = ("a bike", "a phone", "a guitar", "a tent", "a camera", "a watch")


def savings(story: Story) -> None:
    """Write a problem about a person's savings."""
    chance = story.chance
    story.cast.update(A=story.person(), thing=chance.pick(SAVINGS_GOALS),
                      givers=chance.shuffled(("mother", "aunt", "uncle")))  # fmt: skip
    money = story.draw(10, 90, "start", by=chance.pick((1, 5, 10)), money=True)
    story.open("has", n=money)
    money = _saves(story, money)
    while story.steps_left > 1:
        money = _next(story, money)
        if chance.hit(0.1):
            break
    kind = chance.below(4)
    if kind == 0 or story.steps_left < 1:
        story.ask("how much", money)
        return
    m = story.draw(4, 30, "weekly", money=True)
    if kind == 1:
        story.numbers.pop()
        k = story.state(money.value + chance.between(5, 150), "goal", money=True)
        story.solve("needs", "{A} {~need} {=} more.", k - money, k=k)
        return
    k = story.state(money.value + m.value * chance.between(2, 12), "goal", money=True)
    rest = story.step("{A} {~need} {=} more.", k - money)
    story.solve("weeks", "That {~take} {=} weeks.", rest / m, k=k, m=m)


def _saves(story: Story, money: Quantity) -> Quantity:
    w = story.draw(3, 10, "weeks", words=True)
    k = story.draw(8, 40, "weekly", money=True)
    if story.size > 3 and story.chance.hit(0.5):
        m = story.state(story.chance.between(2, int(k.value) - 3), "spent weekly", money=True)
        k = story.turn("net", "{A} {~save} {=} a week.", k - m, k=k, m=m, w=w)
    else:
        story.event("weekly", k=k, w=w)
    saved = story.step("In {w} weeks, {A} {~save} {=}.", w * k, w=w)
    return story.step("Then {A} {~have} {=}.", money + saved)


def _next(story: Story, money: Quantity) -> Quantity:
    kind = story.chance.below(4)
    if kind == 0:
        k = story.draw(5, 50, "gift", money=True)
        if not story.cast["givers"]:
            raise Unfit
        return story.turn(
            "gift", "Then {A} {~have} {=}.", money + k, k=k, who=story.cast["givers"].pop()
        )
    if kind == 1:
        k = story.draw(5, 80, "spent", money=True)
        return story.turn("spends", "Then {A} {~have} {=} left.", money - k, k=k)
    if kind == 2 and "doubled" not in story.cast:
        story.cast["doubled"] = True
        t = times(story, 2, 3)
        new = story.turn("doubled", "{A} {~get} {=}.", money * t, t=t)
        return story.step("Then {A} {~have} {=}.", money + new)
    part = some(story, money)
    payment = story.turn("spends part", "That {~be} {=} less.", part.taken, part=part.wording)
    return story.step("Then {A} {~have} {=} left.", money - payment)


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
        output = _thrown_away(story, output)
    for event in chance.sample((_given_away, _used, _old), 2):
        if story.steps_left > 1 and chance.hit(0.5):
            output = event(story, output)
    chance.pick(ENDINGS if story.steps_left > 0 else (_counted,))(story, output)


def _production(story: Story) -> Quantity:
    kind, m = story.chance.below(4), story.draw(4, 20, "rate")
    if kind == 0 or story.size < 4:
        story.open("one", m=m)
        hourly = m
    elif kind == 1:
        k = times(story, 2, 4)
        story.open("kinds", m=m, k=k)
        new = story.step("The new {maker.one} {~make} {=} {item} an hour.", m * k)
        hourly = story.step("Together they {~~make} {=} {item} an hour.", m + new)
    else:
        k = story.draw(2, 9, "machines", words=True)
        story.open("have", m=m, k=k)
        hourly = story.step("In an hour, the {maker} {~~make} {=} {item}.", k * m)
    h = story.draw(3, 9, "hours", most=20, words=True)
    if story.steps_left < 2 or story.chance.hit(0.3):
        story.open("this long", h=h)
        return story.step("In that time, {=} {item} {~~be} made.", hourly * h)
    story.open("hours", h=h)
    d = story.draw(3, 6, "days", most=7, words=True)
    story.open("days", d=d)
    daily = story.step("In a day, {=} {item} {~~be} made.", hourly * h)
    return story.step("In {d} days, {=} {item} {~~be} made.", daily * d, d=d)


def _thrown_away(story: Story, output: Quantity) -> Quantity:
    story.cast["rest"] = "all the other"
    part = some(story, output)
    removed = story.turn("gone", "Of them, {=} {~~be} thrown away.", part.taken, k=part.wording)
    return story.step("That {~leave} {=} {item}.", output - removed)


def _given_away(story: Story, output: Quantity) -> Quantity:
    story.cast["rest"] = "all the other"
    k = story.draw(5, 40, "gone")
    return story.turn("gone number", "Then there {~~be} {=} {item} left.", output - k, k=k)


def _used(story: Story, output: Quantity) -> Quantity:
    story.cast["rest"] = "all the other"
    k = story.draw(5, 60, "given")
    return story.turn("used", "Then there {~~be} {=} {item} left.", output - k, k=k)


def _old(story: Story, output: Quantity) -> Quantity:
    k = story.draw(5, 60, "old")
    return story.turn("old", "With the older ones there {~~be} {=} {item}.", output + k, k=k)


def _counted(story: Story, output: Quantity) -> None:
    story.ask("how many", output)


def _boxed(story: Story, output: Quantity) -> Quantity:
    k = story.divisor(output, 2, 20, "each")
    story.late("boxed", k=k)
    return story.step("They {~~fill} {=} {crate}.", output / k)


def _boxes(story: Story, output: Quantity) -> None:
    story.ask("how many boxes", _boxed(story, output))


def _sold(story: Story, output: Quantity) -> None:
    if story.steps_left > 1 and story.chance.hit(0.7):
        units = _boxed(story, output)
        unit, p = story.cast["crate"], story.draw(5, 30, "price", money=True)
        story.cast["rest"] = "all the"
    else:
        units, unit = output, story.cast["item"]
        p = story.draw(max(2, unit.low // 2), max(5, unit.high // 2), "price", money=True)
    story.late("price", unit=unit, p=p)
    money = story.step("The {unit} {~~bring} in {=}.", units * p, unit=unit)
    if story.steps_left > 0 and story.chance.hit(0.7):
        if money.value < 40:
            raise Unfit
        k = story.draw(20, min(int(money.value) * 3 // 4, 900), "cost", by=10, money=True)
        story.late("costs", k=k)
        money = story.step("The {place} {~have} {=} left.", money - k)
        story.ask("profit", money, unit=unit)
    else:
        story.ask("how much", money, unit=unit)


ENDINGS: tuple[Callable[[Story, Quantity], None], ...] = (_counted, _boxes, _sold, _sold)


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
        story.open("pickers", k=k, m=m, h=h)
        hourly = story.step("In an hour, they {~~pick} {=} {item}.", k * m)
        return story.step("In all, they {~~pick} {=} {item}.", hourly * h)
    if chance.hit(0.6):
        r, t = story.draw(3, 9, "rows", words=True), story.draw(4, 15, "trees")
        story.open("rows", r=r, t=t)
        trees = story.step("There {~~be} {=} trees.", r * t)
    else:
        trees = story.draw(12, 60, "trees", by=chance.pick((1, 2, 5)))
        story.open("trees", t=trees)
    m = story.draw(10, 60, "each", by=chance.pick((1, 2, 5)))
    if story.steps_left > 2 and chance.hit(0.4):
        k = story.draw(2, 9, "dead", words=True)
        story.open("dead", k=k)
        trees = story.step("There {~~be} {=} trees with fruit.", trees - k)
        story.open("each", m=m)
    else:
        story.open("each all", m=m)
    return story.step("In all, there {~~be} {=} {item}.", trees * m)


def _bad(story: Story, fruit: Quantity) -> Quantity:
    part = some(story, fruit)
    removed = story.turn("bad", "That {~be} {=} {item} less.", part.taken, part=part.wording)
    return story.step("Then {=} {item} {~~be} left.", fruit - removed)


def _kept(story: Story, fruit: Quantity) -> Quantity:
    k = story.draw(5, 80, "kept")
    return story.turn("kept", "Then {=} {item} {~~be} left.", fruit - k, k=k)


def _end(story: Story, fruit: Quantity, less: bool) -> None:
    if story.steps_left < 1 and less:
        story.ask("how many", fruit)
        return
    if not less and story.chance.hit(0.3):
        t = times(story, 2, 3)
        story.late("last", part=t.spoken)
        before = story.step("Last year there were {=} {item}.", fruit * t)
        story.solve("both years", "In both years, there {~~be} {=} {item}.", fruit + before)
        return
    unit, units = story.cast["item"], fruit
    if less and story.steps_left > 0 and story.chance.hit(0.7):
        k = story.divisor(fruit, 5, 40, "per box")
        story.event("packed", k=k)
        unit, units = story.cast["crate"], story.step("They {~~fill} {=} {crate}.", fruit / k)
        if story.steps_left < 1 or story.chance.hit(0.3):
            story.ask("how many boxes", units)
            return
    p = story.draw(2, 3 if unit is story.cast["item"] else 20, "price", money=True)
    remark = " that is left" if less and unit is story.cast["item"] else ""
    story.event("price", unit=unit, p=p, left=remark)
    story.solve("how much", "The farmer {~get} {=}.", units * p)
