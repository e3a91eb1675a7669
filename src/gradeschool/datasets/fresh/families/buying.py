"""Shopping bills and tickets.

Purchases: prices, costs, coupons, percentages off, delivery, change, shared costs.

Tickets and visitors: prices for adults and children, days, costs, what is left.
"""

from __future__ import annotations

from gradeschool.datasets.fresh.quantity import Quantity
from gradeschool.datasets.fresh.story import Story, Unfit, listed, percent, share, times
from gradeschool.datasets.fresh.wording import SOLD, Noun, wordings

SHOP = wordings(
    """
    {A} {~go} to a shop.
    {A} {~go} shopping.
    {A} {~be} in a shop.
    """
)
PRICE = wordings(
    """
    {item.a} {~cost} {p}.
    Each {item.one} {~cost} {p}.
    The price of {item.a} {~be} {p}.
    For {item.a}, the price {~be} {p}.
    """
)
PRICE_MORE = wordings(
    """
    {item.a} {~cost} {k} more than {other.a}.
    Each {item.one} {~cost} {k} more than {other.a}.
    The price of {item.a} {~be} {k} more than the price of {other.a}.
    """
)
PRICE_TIMES = wordings(
    """
    {item.a} {~cost} {k} as much as {other.a}.
    Each {item.one} {~cost} {k} as much as {other.a}.
    The price of {item.a} {~be} {k} the price of {other.a}.
    """
)
COUPON = wordings(
    """
    {A.he} {~have} a coupon for {k} off the total.
    {A.he} {~use} a coupon that {~take} {k} off the total.
    With a coupon, {A.he} {~get} {k} off the total.
    """
)
OFF = wordings(
    """
    The shop {~take} {part} off the total.
    The shop {~give} {A.him} {part} off the total.
    {A.he} {~get} {part} off the total.
    """
)
DELIVERY = wordings(
    """
    Delivery {~cost} {k} more.
    {A.he} also {~pay} {k} for delivery.
    For delivery, {A.he} {~pay} {k} more.
    """
)
HOW_MUCH = wordings(
    """
    How many dollars {~do} {A} pay in all?
    How many dollars {~do} {A} spend in total?
    In all, how many dollars {~do} {A} pay?
    """
)
CHANGE = wordings(
    """
    {A.he} {~pay} with {m}. How many dollars {~do} {A.he} get back?
    If {A.he} {~pay} with {m}, how many dollars of change {~do} {A.he} get?
    How many dollars {~do} {A} get back if {A.he} {~pay} with {m}?
    """
)
BILLS = wordings(
    """
    {A.he} {~pay} with {k} bills of {m} each. How many dollars {~do} {A.he} get back?
    How many dollars of change {~do} {A} get from {k} bills of {m} each?
    How many dollars {~do} {A} get back if {A.he} {~pay} with {k} bills of {m} each?
    """
)
HAD = wordings(
    """
    Before this, {A.he} {~have} {m}. How many dollars {~do} {A.he} have left?
    If {A.he} {~have} {m} at first, how many dollars {~do} {A.he} have left?
    How many dollars {~do} {A} have left if {A.he} {~have} {m} at first?
    """
)
SHORT = wordings(
    """
    {A.he} only {~have} {m}. How many more dollars {~do} {A.he} need?
    How many more dollars {~do} {A} need if {A.he} only {~have} {m}?
    If {A.he} only {~have} {m}, how many more dollars {~do} {A.he} need?
    """
)
SPLIT = wordings(
    """
    {A} and {k} friends {~~share} the cost equally. How many dollars {~do} each of them pay?
    If {A} and {k} friends {~~share} the cost equally, how many dollars {~do} each of them pay?
    How many dollars {~do} each of them pay if {A} and {k} friends {~~share} the cost equally?
    """
)


def shopping(story: Story) -> None:
    """Write a problem about a visit to a shop."""
    chance = story.chance
    story.cast["A"] = story.person()
    lines = max(1, min(chance.between(1, 4), (story.size - 1) // 2 + 1))
    items = chance.sample(SOLD, lines)
    if chance.hit(0.3):
        story.open(SHOP)
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
            story.fact(PRICE, item=item, p=p)
            prices.append(p)
            continue
        before = story.chance.below(index)
        other, base = items[before], prices[before]
        if story.chance.hit(0.5):
            k = story.draw(1, 9, "more", money=True)
            story.fact(PRICE_MORE, item=item, other=other, k=k)
            price = base + k
        else:
            k = times(story, 2, 3)
            story.fact(PRICE_TIMES, item=item, other=other, k=k)
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
    story.event(COUPON, k=k)
    return story.step("With the coupon, {A} {~pay} {=}.", total - k)


def _off(story: Story, total: Quantity) -> Quantity:
    if "off" in story.cast or "coupon" in story.cast:
        raise Unfit
    story.cast["off"] = True
    part = percent(story, total, 10, 50)
    story.event(OFF, part=part.wording)
    less = story.step("The shop {~take} off {=}.", part.taken)
    return story.step("After that, {A} {~pay} {=}.", total - less)


def _delivery(story: Story, total: Quantity) -> Quantity:
    if "delivery" in story.cast:
        raise Unfit
    story.cast.update(delivery=True, coupon=True)
    k = story.draw(2, 12, "delivery", money=True)
    story.event(DELIVERY, k=k)
    return story.step("With delivery, {A} {~pay} {=}.", total + k)


def _total(story: Story, total: Quantity) -> None:
    story.ask(HOW_MUCH, total)


def _change(story: Story, total: Quantity) -> None:
    fits = [n for n in (20, 50, 100, 200, 500) if total.value < n <= 4 * total.value]
    if not fits:
        raise Unfit
    m = story.state(story.chance.pick(fits), "paid", money=True)
    story.ask(CHANGE, story.step("{A} {~get} back {=}.", m - total), m=m)


def _bills(story: Story, total: Quantity) -> None:
    m = story.state(story.chance.pick((10, 20, 50)), "bill", money=True)
    count = int(total.value // m.value) + 1
    if not 2 <= count <= 9:
        raise Unfit
    k = story.state(count, "bills", words=True)
    paid = story.step("{A} {~pay} with {=}.", k * m)
    story.ask(BILLS, story.step("{A} {~get} back {=}.", paid - total), m=m, k=k)


def _start(story: Story, total: Quantity) -> None:
    m = story.state(total.value + story.chance.between(3, 60), "had", money=True)
    story.ask(HAD, story.step("{A} {~have} {=} left.", m - total), m=m)


def _short(story: Story, total: Quantity) -> None:
    if total.value < 8:
        raise Unfit
    m = story.state(story.chance.between(2, int(total.value) - 2), "had", money=True)
    story.ask(SHORT, story.step("{A} {~need} {=} more.", total - m), m=m)


def _split(story: Story, total: Quantity) -> None:
    k = story.state(story.chance.between(1, 5) + 1, "friends", words=True)
    people = story.step("There {~~be} {=} people.", k + story.constant(1))
    each = story.step("Each of them {~pay} {=}.", total / people)
    story.ask(SPLIT, each, k=k)


PLACES = ("museum", "zoo", "theater", "circus", "pool")
PRICES = wordings(
    """
    At a {place}, an adult ticket {~cost} {p} and a child ticket {~cost} {q}.
    A ticket for a {place} {~cost} {p} for an adult and {q} for a child.
    For a {place}, a ticket {~cost} {p} for adults and {q} for children.
    """
)
PRICE_PART = wordings(
    """
    At a {place}, an adult ticket {~cost} {p}, and a child ticket {~cost} {part} as much.
    An adult ticket for a {place} {~cost} {p}. A child ticket {~cost} {part} as much.
    An adult ticket for a {place} {~cost} {p}, and the price of a child ticket {~be} {part} of that.
    """
)
PRICE_LESS = wordings(
    """
    At a {place}, an adult ticket {~cost} {p}, and a child ticket {~cost} {k} less.
    An adult ticket for a {place} {~cost} {p}. A child ticket {~cost} {k} less.
    For a {place}, an adult ticket {~cost} {p}, and a child ticket {~cost} {k} less.
    """
)
COUNTS = wordings(
    """
    Today, {a} adults and {c} children {~~come}.
    There {~~be} {a} adults and {c} children.
    The visitors {~~be} {a} adults and {c} children.
    """
)
COUNT_TIMES = wordings(
    """
    There {~~be} {a} adults and {t} as many children.
    Today, {a} adults and {t} as many children {~~come}.
    The visitors {~~be} {a} adults and {t} as many children.
    """
)
COUNT_MORE = wordings(
    """
    There {~~be} {a} adults and {k} more children than adults.
    Today, {a} adults {~~come}, and {k} more children than adults.
    The visitors {~~be} {a} adults and {k} more children than adults.
    """
)
COUNT_WHOLE = wordings(
    """
    There {~~be} {n} visitors, and {a} of them {~~be} adults. The others {~~be} children.
    Of {n} visitors, {a} {~~be} adults, and the rest {~~be} children.
    There {~~be} {n} visitors: {a} adults, and the rest children.
    """
)
COSTS = wordings(
    """
    The {place} {~pay} {k} for its workers.
    The workers of the {place} {~~get} {k} of this money.
    For its workers, the {place} {~pay} {k}.
    """
)
GIVES = wordings(
    """
    The {place} {~give} {part} of the money to a school.
    A school {~get} {part} of the money.
    The {place} {~spend} {part} of the money on food.
    """
)
TOTAL = wordings(
    """
    How many dollars do the tickets bring in?
    How many dollars is that for all the tickets?
    How many dollars do all the tickets cost?
    """
)
TOTAL_DAYS = wordings(
    """
    How many dollars do the tickets bring in on {d} days like this?
    On {d} days like this, how many dollars do the tickets bring in?
    How many dollars do all the tickets cost on {d} days like this?
    """
)
LEFT = wordings(
    """
    How many dollars are left for the {place}?
    How many dollars does the {place} have left?
    How many dollars of the money does the {place} have left?
    """
)
MORE = wordings(
    """
    How many more dollars do the {more} pay than the {less}?
    How many dollars more than the {less} do the {more} pay?
    Find how many more dollars the {more} pay than the {less}.
    """
)


def tickets(story: Story) -> None:
    """Write a problem about a place with visitors."""
    chance = story.chance
    story.in_present()
    story.connected = False
    story.cast["place"] = chance.pick(PLACES)
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
        story.ask(MORE, answer, less=kinds[0], more=kinds[1])
        return
    money = story.step("Together they pay {=}.", adults + children)
    if story.steps_left == 1 and chance.hit(0.5):
        d = story.draw(2, 9, "days", words=True)
        story.ask(TOTAL_DAYS, story.step("In {d} days, that is {=}.", money * d, d=d), d=d)
        return
    used = False
    if story.steps_left > 1 and chance.hit(0.6):
        part = share(story, money) if chance.hit(0.5) else percent(story, money)
        story.event(GIVES, part=part.wording)
        removed = story.step("That is {=} less.", part.taken)
        money, used = story.step("Then {=} is left.", money - removed), True
    if story.steps_left > 0 and chance.hit(0.7):
        k = story.draw(40, 400, "cost", by=10, money=True)
        if k.value > money.value * 3 / 4:
            raise Unfit
        story.event(COSTS, k=k)
        money, used = story.step("Then {=} is left.", money - k), True
    story.ask(LEFT if used else TOTAL, money)


def _child_price(story: Story, p: Quantity) -> Quantity:
    kind = story.chance.below(3)
    if kind == 0:
        q = story.state(story.chance.between(2, int(p.value) - 1), "child", money=True)
        story.open(PRICES, p=p, q=q)
        return q
    if kind == 1:
        part = share(story, p)
        story.open(PRICE_PART, p=p, part=part.wording)
        return story.step("A child ticket costs {=}.", part.taken)
    k = story.state(story.chance.between(1, int(p.value) - 3), "less", money=True)
    story.open(PRICE_LESS, p=p, k=k)
    return story.step("A child ticket costs {=}.", p - k)


def _visitors(story: Story) -> tuple[Quantity, Quantity]:
    kind = story.chance.below(4) if story.size > 3 else 0
    a = story.draw(5, 60, "adults")
    if kind == 0:
        c = story.draw(5, 80, "children")
        story.fact(COUNTS, a=a, c=c)
        return a, c
    if kind == 1:
        t = times(story, 2, 4)
        story.fact(COUNT_TIMES, a=a, t=t)
        return a, story.step("There are {=} children.", a * t)
    if kind == 2:
        k = story.draw(3, 40, "more")
        story.fact(COUNT_MORE, a=a, k=k)
        return a, story.step("There are {=} children.", a + k)
    n = story.state(a.value + story.chance.between(5, 60), "visitors")
    story.fact(COUNT_WHOLE, a=a, n=n)
    return a, story.step("There are {=} children.", n - a)
