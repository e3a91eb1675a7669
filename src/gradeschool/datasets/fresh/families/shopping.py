"""Purchases: prices, costs, coupons, percentages off, delivery, change, shared costs."""

from __future__ import annotations

from gradeschool.datasets.fresh.nouns import SOLD, Noun
from gradeschool.datasets.fresh.quantity import Quantity
from gradeschool.datasets.fresh.relations import listed, percent, times
from gradeschool.datasets.fresh.story import Story, Unfit
from gradeschool.datasets.fresh.wording import wordings

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
    """Tell of a visit to a shop."""
    chance = story.chance
    story.cast["A"] = story.person()
    lines = max(1, min(chance.between(1, 4), (story.size - 1) // 2 + 1))
    items = chance.sample(SOLD, lines)
    if chance.hit(0.3):
        story.open(SHOP)
    counts = [story.given(2, 9, "count", words=True) for _ in items]
    prices = _prices(story, items)
    bought = [f"{{n{at} i{at}}}" for at in range(lines)]
    things = listed(bought)
    values = {f"n{at}": count for at, count in enumerate(counts)}
    values |= {f"i{at}": item for at, item in enumerate(items)}  # type: ignore[misc]
    (story.open if chance.hit(0.5) else story.event)(
        (f"{{A.he}} {{~buy}} {things}.", f"{{A}} {{~buy}} {things}."), **values
    )
    costs = [
        story.step("The {i} {~~cost} {=}.", count * price, i=item)
        for item, count, price in zip(items, counts, prices, strict=True)
    ]
    total = costs[0]
    for cost in costs[1:]:
        total += cost
    if lines > 1:
        total = story.step("The total {~be} {=}.", total)
    while story.left > 1:
        total = chance.pick((_coupon, _off, _delivery))(story, total)
        if story.distractors > 3:
            raise Unfit
        if chance.hit(0.4):
            break
    chance.pick((_total, _change, _bills, _had, _short, _split))(story, total)


def _prices(story: Story, items: list[Noun]) -> list[Quantity]:
    prices: list[Quantity] = []
    for at, item in enumerate(items):
        relative = at > 0 and story.left > 2 and story.chance.hit(0.4)
        if not relative:
            p = story.given(item.low, item.high, "price", money=True)
            story.fact(PRICE, item=item, p=p)
            prices.append(p)
            continue
        before = story.chance.below(at)
        other, base = items[before], prices[before]
        if story.chance.hit(0.5):
            k = story.given(1, 9, "more", money=True)
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
    k = story.given(2, 15, "coupon", money=True)
    story.event(COUPON, k=k)
    return story.step("With the coupon, {A} {~pay} {=}.", total - k)


def _off(story: Story, total: Quantity) -> Quantity:
    if "off" in story.cast or "coupon" in story.cast:
        raise Unfit
    story.cast["off"] = True
    part = percent(story, total, 10, 50)
    story.event(OFF, part=part.said)
    less = story.step("The shop {~take} off {=}.", part.taken)
    return story.step("After that, {A} {~pay} {=}.", total - less)


def _delivery(story: Story, total: Quantity) -> Quantity:
    if "delivery" in story.cast:
        raise Unfit
    story.cast.update(delivery=True, coupon=True)
    k = story.given(2, 12, "delivery", money=True)
    story.event(DELIVERY, k=k)
    return story.step("With delivery, {A} {~pay} {=}.", total + k)


def _total(story: Story, total: Quantity) -> None:
    story.ask(HOW_MUCH, total)


def _change(story: Story, total: Quantity) -> None:
    fits = [n for n in (20, 50, 100, 200, 500) if total.value < n <= 4 * total.value]
    if not fits:
        raise Unfit
    m = story.known(story.chance.pick(fits), "paid", money=True)
    story.ask(CHANGE, story.step("{A} {~get} back {=}.", m - total), m=m)


def _bills(story: Story, total: Quantity) -> None:
    m = story.known(story.chance.pick((10, 20, 50)), "bill", money=True)
    count = int(total.value // m.value) + 1
    if not 2 <= count <= 9:
        raise Unfit
    k = story.known(count, "bills", words=True)
    paid = story.step("{A} {~pay} with {=}.", k * m)
    story.ask(BILLS, story.step("{A} {~get} back {=}.", paid - total), m=m, k=k)


def _had(story: Story, total: Quantity) -> None:
    m = story.known(total.value + story.chance.between(3, 60), "had", money=True)
    story.ask(HAD, story.step("{A} {~have} {=} left.", m - total), m=m)


def _short(story: Story, total: Quantity) -> None:
    if total.value < 8:
        raise Unfit
    m = story.known(story.chance.between(2, int(total.value) - 2), "had", money=True)
    story.ask(SHORT, story.step("{A} {~need} {=} more.", total - m), m=m)


def _split(story: Story, total: Quantity) -> None:
    k = story.known(story.chance.between(1, 5) + 1, "friends", words=True)
    people = story.step("There {~~be} {=} people.", k + story.constant(1))
    each = story.step("Each of them {~pay} {=}.", total / people)
    story.ask(SPLIT, each, k=k)
