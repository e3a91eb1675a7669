"""Families of problems about money and goods.

Bills of a shop, tickets of a place with visitors, wages and what they are spent on, savings over
weeks, things that are made in a factory or grown on a farm, packed and sold.

A row is (wording, draws, steps ...), as `Story.turn` and `Story.solve` take it.
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

LEFT = "Then {A} {~have} {=now-it} left."
LESS = "That {~be} {=taken} {item} less."
# Each with the charges that it cannot follow.
CHARGES: dict[str, tuple[str, ...]] = {
    "coupon": (
        "coupon delivery", "k=$2-15 coupon", "With the coupon, {A} {~pay} {=now-k}.",
    ),
    "off": (
        "off coupon delivery", "part=percent 10-50", "The shop {~take} off {=taken}.",
        "After that, {A} {~pay} {=now-it}.",
    ),
    "delivery": (
        "delivery", "k=$2-12 delivery", "With delivery, {A} {~pay} {=now+k}.",
    ),
}  # fmt: skip


def shopping(story: Story) -> None:
    """Write a problem about a visit to a shop."""
    chance = story.chance
    story.cast["A"] = story.person()
    lines = max(1, min(chance.between(1, 4), (story.size - 1) // 2 + 1))
    items = chance.sample(SOLD, lines)
    if chance.hit(0.3):
        story.say("open", "shop")
    counts = [story.draw(2, 9, "count", words=True) for _ in items]
    prices = _prices(story, items)
    bought = listed([f"{{n{index} i{index}}}" for index in range(lines)])
    story.say(
        "open" if chance.hit(0.5) else "event",
        (f"{{A.he}} {{~buy}} {bought}.", f"{{A}} {{~buy}} {bought}."),
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
        others, *row = CHARGES[charge]
        if charges & set(others.split()):
            raise Unfit
        charges.add(charge)
        total = story.turn(charge, *row, now=total)
        if chance.hit(0.4):
            break
    _pay(story, total)


def _prices(story: Story, items: list[Noun]) -> list[Quantity]:
    prices: list[Quantity] = []
    for index, item in enumerate(items):
        if index == 0 or story.steps_left <= 2 or not story.chance.hit(0.4):
            prices.append(story.draw(item.low, item.high, "price", money=True))
            story.say("fact", "price", item=item, p=prices[-1])
            continue
        before = story.chance.below(index)
        name, draws, line = (
            ("price more", "k=$1-9 more", "Each {item.one} {~cost} {=now+k}.")
            if story.chance.hit(0.5)
            else ("price times", "k=times 2-3", "Each {item.one} {~cost} {=now*k}.")
        )
        now, other = prices[before], items[before]
        price = story.turn(name, draws, line, at="fact", now=now, item=item, other=other)
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
        m = story.state(chance.pick(fits), "paid", money=True)
        story.solve(kind, "", "{A} {~get} back {=m-now}.", now=total, m=m)
    elif kind == "bills":
        m = story.state(chance.pick((10, 20, 50)), "bill", money=True)
        count = int(total.value // m.value) + 1
        if not 2 <= count <= 9:
            raise Unfit
        k = story.state(count, "bills", words=True)
        lines = "{A} {~pay} with {=k*m}.", "{A} {~get} back {=it-now}."
        story.solve(kind, "", *lines, now=total, k=k, m=m)
    elif kind == "had":
        story.solve(kind, "m=$now+3-60 had", "{A} {~have} {=m-now} left.", now=total)
    elif kind == "short":
        if total.value < 8:
            raise Unfit
        m = story.state(chance.between(2, int(total.value) - 2), "had", money=True)
        story.solve(kind, "", "{A} {~need} {=now-m} more.", now=total, m=m)
    else:
        lines = "There {~~be} {=k+1} people.", "Each of them {~pay} {=now/it}."
        story.solve(kind, "k=2-6<6w friends", *lines, now=total)


BUYING_PLACES = ("museum", "zoo", "theater", "circus", "pool")
VISITORS = (
    ("counts", "c=5-80 children"),
    ("count times", "t=times 2-4", "There are {=a*t} children."),
    ("count more", "k=3-40 more", "There are {=a+k} children."),
    ("count whole", "n=now+5-60 visitors", "There are {=n-a} children."),
)


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
    c = story.turn(*VISITORS[kind], at="fact", now=a, a=a)
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
        story.solve("total days", "d=2-9w days", "In {d} days, that is {=now*d}.", now=money)
        return
    used = False
    if story.steps_left > 1 and chance.hit(0.6):
        lines = "That is {=taken} less.", "Then {=now-it} is left."
        part = "share" if chance.hit(0.5) else "percent"
        money, used = story.turn("gives", f"part={part}", *lines, now=money), True
    if story.steps_left > 0 and chance.hit(0.7):
        k = story.draw(40, 400, "cost", by=10, money=True)
        if k.value > money.value * 3 / 4:
            raise Unfit
        money, used = story.turn("costs", "", "Then {=now-k} is left.", now=money, k=k), True
    story.ask("left" if used else "total", money)


def _child_price(story: Story, p: Quantity) -> Quantity:
    chance, dollars = story.chance, int(p.value)
    kind = chance.below(3)
    if kind == 0:
        q = story.state(chance.between(2, dollars - 1), "child", money=True)
        return story.turn("prices", at="open", now=q, p=p, q=q)
    if kind == 1:
        line = "A child ticket costs {=taken}."
        return story.turn("price part", "part=share", line, at="open", now=p, p=p)
    k = story.state(chance.between(1, dollars - 3), "less", money=True)
    return story.turn("price less", "", "A child ticket costs {=p-k}.", at="open", p=p, k=k)


EARNING_PLACES = ("a shop", "a bakery", "a library", "a farm", "a museum", "a school")
WAGES_GOALS = (("a bike", 90, 400), ("a phone", 150, 600), ("a table", 80, 300),
               ("a guitar", 100, 400), ("a tent", 60, 250), ("a camera", 120, 500))  # fmt: skip
HOURS = (
    ("daily", "d=3-6<30w days", "{A} {~work} {=d*h} hours."),
    ("weekly", "d=3-6<7w days; w=2-6w weeks", "{A} {~work} {=w*d} days.",
     "That {~be} {=it*h} hours."),
    ("two days", "k=2-8<9w hours", "{A} {~work} {=h+k} hours."),
    ("longer", "k=2-4<9w hours", "On Sunday, {A} {~work} {=h+k} hours.",
     "In all, {A} {~work} {=h+it} hours."),
)  # fmt: skip
EARNING = (
    ("extra", "k=2-9w extra; r=$15-40 extra rate", "The extra hours {~~pay} {=k*r}.",
     "Then {A} {~have} {=now+it}."),
    ("tips", "k=$5-60 tips", "With the tips, {A} {~have} {=now+k}."),
)  # fmt: skip
SPENDING = (
    ("spends", "k=$5-90 spent", "Then {A} {~have} {=now-k} left."),
    ("spends part", "part=some", "{A} {~spend} or {~give} away {=taken}.", LEFT),
    ("spends each", "k=2-6w count; m=$4-18 price", "{A} {~spend} {=k*m} on them.", LEFT),
)


def wages(story: Story) -> None:
    """Write a problem about a person's wages and what they are spent on."""
    chance = story.chance
    story.cast.update(A=story.person(), place=chance.pick(EARNING_PLACES))
    rate = story.draw(8, 25, "rate", money=True)
    story.say("open", "rate", r=rate)
    kind = chance.below(4) if story.size > 2 else 0
    h = story.draw(3, 8, "hours", most=12, words=True)
    hours = story.turn(*HOURS[kind], at="open", h=h, one="Saturday", two="Sunday")
    money = story.step("{A} {~earn} {=}.", rate * hours)
    spent, what = False, "the money"
    kinds, extras = chance.shuffled(SPENDING), chance.shuffled(EARNING)
    while story.steps_left > 1:
        spent = spent or chance.hit(0.5)
        if not (kinds if spent else extras):
            break
        row = (kinds if spent else extras).pop()
        money = story.turn(*row, now=money, what=what)
        if row[0] in ("spends", "spends each"):
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
            story.solve(end, "", "{A} {~need} {=k-now} more.", now=money, k=k, thing=thing)
        else:
            story.ask(unspent, money)
    elif end == "other":
        line = "{A} {~earn} {=now-k} more than {B}."
        story.solve(end, "k=$20-200/5 other; B=person", line, now=money)
    elif end == "shared":
        what = "the rest of the money" if spent else "this money"
        line = "Each friend {~get} {=now/k}."
        story.solve(end, "k=2-6w| friends", line, now=money, what=what)
    else:
        story.ask(unspent, money)


SAVINGS_GOALS = ("a bike", "a phone", "a guitar", "a tent", "a camera", "a watch")
SAVING = (
    ("gift", "k=$5-50 gift", "Then {A} {~have} {=now+k}."),
    ("spends", "k=$5-80 spent", "Then {A} {~have} {=now-k} left."),
    ("doubled", "t=times 2-3", "{A} {~get} {=now*t}.", "Then {A} {~have} {=now+it}."),
    ("spends part", "part=some", "That {~be} {=taken} less.", LEFT),
)


def savings(story: Story) -> None:
    """Write a problem about a person's savings."""
    chance = story.chance
    story.cast.update(A=story.person(), thing=chance.pick(SAVINGS_GOALS))
    givers = chance.shuffled(("mother", "aunt", "uncle"))
    money = story.turn("has", "n=$10-90/1,5,10 start", at="open")
    w, k = story.draw(3, 10, "weeks", words=True), story.draw(8, 40, "weekly", money=True)
    if story.size > 3 and chance.hit(0.5):
        m = story.state(chance.between(2, int(k.value) - 3), "spent weekly", money=True)
        k = story.turn("net", "", "{A} {~save} {=k-m} a week.", k=k, m=m, w=w)
    else:
        story.say("event", "weekly", k=k, w=w)
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
        money = story.turn(*SAVING[kind], now=money, who=givers.pop() if kind == 0 else "")
        if chance.hit(0.1):
            break
    kind = chance.below(4)
    if kind == 0 or story.steps_left < 1:
        story.ask("how much", money)
        return
    m = story.draw(4, 30, "weekly", money=True)
    if kind == 1:
        story.numbers.pop()
        story.solve("needs", "k=$now+5-150 goal", "{A} {~need} {=k-now} more.", now=money)
        return
    k = story.state(money.value + m.value * chance.between(2, 12), "goal", money=True)
    lines = "{A} {~need} {=k-now} more.", "That {~take} {=it/m} weeks."
    story.solve("weeks", "", *lines, now=money, k=k, m=m)


MAKERS = (("factory", Noun("machine", "machines")), ("workshop", Noun("worker", "workers")),
          ("company", Noun("robot", "robots")))  # fmt: skip
TOGETHER = (
    ("one", ""),
    ("kinds", "k=times 2-4", "The new {maker.one} {~make} {=m*k} {item} an hour.",
     "Together they {~~make} {=m+it} {item} an hour."),
    ("have", "k=2-9w machines", "In an hour, the {maker} {~~make} {=k*m} {item}."),
)  # fmt: skip
CHANGES = (
    ("gone number", "k=5-40 gone", "Then there {~~be} {=now-k} {item} left."),
    ("used", "k=5-60 given", "Then there {~~be} {=now-k} {item} left."),
    ("old", "k=5-60 old", "With the older ones there {~~be} {=now+k} {item}."),
)
BOXED = ("boxed", "k=2-20| each", "They {~~fill} {=now/k} {crate}.")


def production(story: Story) -> None:
    """Write a problem about a place where things are made."""
    chance = story.chance
    place, maker = chance.pick(MAKERS)
    story.cast.update(place=place, maker=maker, item=chance.pick(CLOTHES + HOME + TOYS),
                      rest="all the", crate=chance.pick(PACKING))  # fmt: skip
    output = _production(story)
    if story.steps_left > 1 and chance.hit(0.5):  # first, so that it is clear what the part is of
        story.cast["rest"] = "all the other"
        lines = "Of them, {=taken} {~~be} thrown away.", "That {~leave} {=now-it} {item}."
        output = story.turn("gone", "k=some", *lines, now=output)
    for row in chance.sample(CHANGES, 2):
        if story.steps_left > 1 and chance.hit(0.5):
            if row[0] != "old":
                story.cast["rest"] = "all the other"
            output = story.turn(*row, now=output)
    ends = ("how many", "how many boxes", "how much", "how much")
    end = chance.pick(ends if story.steps_left > 0 else ends[:1])
    if end == "how many":
        story.ask(end, output)
    elif end == "how many boxes":
        story.ask(end, story.turn(*BOXED, at="late", now=output))
    else:
        _sell(story, output)


def _production(story: Story) -> Quantity:
    kind, m = story.chance.below(4), story.draw(4, 20, "rate")
    kind = 0 if story.size < 4 else min(kind, 2)
    hourly = story.turn(*TOGETHER[kind], at="open", now=m, m=m)
    h = story.draw(3, 9, "hours", most=20, words=True)
    if story.steps_left < 2 or story.chance.hit(0.3):
        line = "In that time, {=now*h} {item} {~~be} made."
        return story.turn("this long", "", line, at="open", now=hourly, h=h)
    story.say("open", "hours", h=h)
    lines = ("In a day, {=now*h} {item} {~~be} made.",
             "In {d} days, {=it*d} {item} {~~be} made.")  # fmt: skip
    return story.turn("days", "d=3-6<7w days", *lines, at="open", now=hourly, h=h)


def _sell(story: Story, output: Quantity) -> None:
    chance, unit = story.chance, story.cast["item"]
    if story.steps_left > 1 and chance.hit(0.7):
        output, unit = story.turn(*BOXED, at="late", now=output), story.cast["crate"]
        p = story.draw(5, 30, "price", money=True)
        story.cast["rest"] = "all the"
    else:
        p = story.draw(max(2, unit.low // 2), max(5, unit.high // 2), "price", money=True)
    line = "The {unit} {~~bring} in {=now*p}."
    money = story.turn("price", "", line, at="late", now=output, unit=unit, p=p)
    if story.steps_left > 0 and chance.hit(0.7):
        if money.value < 40:
            raise Unfit
        k = story.draw(20, min(int(money.value) * 3 // 4, 900), "cost", by=10, money=True)
        line = "The {place} {~have} {=now-k} left."
        money = story.turn("costs", "", line, at="late", now=money, k=k)
        story.ask("profit", money, unit=unit)
    else:
        story.ask("how much", money, unit=unit)


PICKED = (
    ("pickers", "k=2-9w people; h=2-8w hours; m=12-60/2 rate",
     "In an hour, they {~~pick} {=k*m} {item}.", "In all, they {~~pick} {=it*h} {item}."),
    ("rows", "r=3-9w rows; t=4-15 trees", "There {~~be} {=r*t} trees."),
    ("trees", "t=12-60/1,2,5 trees"),
)  # fmt: skip


def harvest(story: Story) -> None:
    """Write a problem about a farm with fruit."""
    chance = story.chance
    story.in_present()
    story.connected = False
    crates = (Noun("box", "boxes"), Noun("basket", "baskets"), Noun("crate", "crates"))
    story.cast.update(item=chance.pick(FRUIT), crate=chance.pick(crates))
    fruit, less = _fruit(story), False
    left = "Then {=now-it} {item} {~~be} left."
    if story.steps_left > 1 and chance.hit(0.6):
        fruit, less = story.turn("bad", "part=some", LESS, left, now=fruit), True
    if story.steps_left > 1 and chance.hit(0.5):
        line = "Then {=now-k} {item} {~~be} left."
        fruit, less = story.turn("kept", "k=5-80 kept", line, now=fruit), True
    if story.steps_left < 1 and less:
        story.ask("how many", fruit)
        return
    if not less and chance.hit(0.3):
        t = times(story, 2, 3)
        line = "Last year there were {=now*t} {item}."
        before = story.turn("last", "", line, at="late", now=fruit, t=t, part=t.spoken)
        line = "In both years, there {~~be} {=now+before} {item}."
        story.solve("both years", "", line, now=fruit, before=before)
        return
    unit = story.cast["item"]
    if less and story.steps_left > 0 and chance.hit(0.7):
        unit = story.cast["crate"]
        line = "They {~~fill} {=now/k} {crate}."
        fruit = story.turn("packed", "k=5-40| per box", line, now=fruit)
        if story.steps_left < 1 or chance.hit(0.3):
            story.ask("how many boxes", fruit)
            return
    loose = unit is story.cast["item"]
    p = story.draw(2, 3 if loose else 20, "price", money=True)
    story.say("event", "price", unit=unit, p=p, left=" that is left" if less and loose else "")
    story.solve("how much", "", "The farmer {~get} {=now*p}.", now=fruit, p=p)


def _fruit(story: Story) -> Quantity:
    chance = story.chance
    if chance.hit(0.3):
        return story.turn(*PICKED[0], at="open")
    trees = story.turn(*PICKED[1 if chance.hit(0.6) else 2], at="open")
    m = story.draw(10, 60, "each", by=chance.pick((1, 2, 5)))
    if story.steps_left > 2 and chance.hit(0.4):
        line = "There {~~be} {=now-k} trees with fruit."
        trees = story.turn("dead", "k=2-9w dead", line, at="open", now=trees)
        story.say("open", "each", m=m)
    else:
        story.say("open", "each all", m=m)
    return story.step("In all, there {~~be} {=} {item}.", trees * m)
