"""Tickets and visitors: prices for adults and children, days, costs, what is left."""

from __future__ import annotations

from gradeschool.datasets.fresh.quantity import Quantity
from gradeschool.datasets.fresh.relations import percent, share, times
from gradeschool.datasets.fresh.story import Story, Unfit
from gradeschool.datasets.fresh.wording import wordings

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
    """Tell of a place with visitors."""
    chance = story.chance
    story.in_present()
    story.connected = False
    story.cast["place"] = chance.pick(PLACES)
    p = story.given(6, 30, "adult", by=chance.pick((1, 2, 4, 5)), money=True)
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
    if story.left == 1 and chance.hit(0.5):
        d = story.given(2, 9, "days", words=True)
        story.ask(TOTAL_DAYS, story.step("In {d} days, that is {=}.", money * d, d=d), d=d)
        return
    used = False
    if story.left > 1 and chance.hit(0.6):
        part = share(story, money) if chance.hit(0.5) else percent(story, money)
        story.event(GIVES, part=part.said)
        gone = story.step("That is {=} less.", part.taken)
        money, used = story.step("Then {=} is left.", money - gone), True
    if story.left > 0 and chance.hit(0.7):
        k = story.given(40, 400, "cost", by=10, money=True)
        if k.value > money.value * 3 / 4:
            raise Unfit
        story.event(COSTS, k=k)
        money, used = story.step("Then {=} is left.", money - k), True
    story.ask(LEFT if used else TOTAL, money)


def _child_price(story: Story, p: Quantity) -> Quantity:
    kind = story.chance.below(3)
    if kind == 0:
        q = story.known(story.chance.between(2, int(p.value) - 1), "child", money=True)
        story.open(PRICES, p=p, q=q)
        return q
    if kind == 1:
        part = share(story, p)
        story.open(PRICE_PART, p=p, part=part.said)
        return story.step("A child ticket costs {=}.", part.taken)
    k = story.known(story.chance.between(1, int(p.value) - 3), "less", money=True)
    story.open(PRICE_LESS, p=p, k=k)
    return story.step("A child ticket costs {=}.", p - k)


def _visitors(story: Story) -> tuple[Quantity, Quantity]:
    kind = story.chance.below(4) if story.size > 3 else 0
    a = story.given(5, 60, "adults")
    if kind == 0:
        c = story.given(5, 80, "children")
        story.fact(COUNTS, a=a, c=c)
        return a, c
    if kind == 1:
        t = times(story, 2, 4)
        story.fact(COUNT_TIMES, a=a, t=t)
        return a, story.step("There are {=} children.", a * t)
    if kind == 2:
        k = story.given(3, 40, "more")
        story.fact(COUNT_MORE, a=a, k=k)
        return a, story.step("There are {=} children.", a + k)
    n = story.known(a.value + story.chance.between(5, 60), "visitors")
    story.fact(COUNT_WHOLE, a=a, n=n)
    return a, story.step("There are {=} children.", n - a)
