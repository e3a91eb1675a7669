"""Problems that are easy to check and hard to solve forwards: guess, compute, compare.

A solution begins with "Try ..." and the right guess. A wrong guess shows later, as a number that is
not whole or that differs from one in the question.
"""

from __future__ import annotations

from gradeschool.datasets.fresh.quantity import leaf
from gradeschool.datasets.fresh.story import Story, Unfit
from gradeschool.datasets.fresh.wording import CLOTHES, FRUIT, HOME, SMALL, TOYS, Noun, wordings

TWO_PRICES = wordings(
    """
    {item.a} {~cost} {p}, and {other.a} {~cost} {q}.
    The price of {item.a} {~be} {p}, and the price of {other.a} {~be} {q}.
    Each {item.one} {~cost} {p}, and each {other.one} {~cost} {q}.
    """
)
BOUGHT = wordings(
    """
    {A} {~buy} {n} things, all of them {item} or {other}, and {~pay} {t} in all.
    {A} {~buy} a total of {n} {item} and {other} and {~pay} {t} in all.
    For a total of {n} {item} and {other}, {A} {~pay} {t}.
    """
)
BOUGHT_BACK = wordings(
    """
    {A} {~buy} a total of {n} {item} and {other}, {~pay} with {m} and {~get} back {c}.
    For a total of {n} {item} and {other}, {A} {~pay} with {m} and {~get} back {c}.
    {A} {~pay} with {m} for a total of {n} {item} and {other} and {~get} back {c}.
    """
)
HOW_MANY = wordings(
    """
    How many {item} {~do} {A} buy?
    How many of these things {~~be} {item}?
    Find the number of {item} that {A} {~buy}.
    """
)
SPENT = wordings(
    """
    How many dollars {~do} {A} spend on {item}?
    How many dollars {~~do} the {item} cost {A} in all?
    How many dollars {~do} {A} pay for the {item}?
    """
)
LEGS = wordings(
    """
    On a farm there {~~be} {n} animals, all of them {a} or {b}. They {~~have} {t} legs in all.
    A farm {~have} {n} animals, all of them {a} or {b}, with {t} legs in all.
    All of the {n} animals on a farm {~~be} {a} or {b}. Together they {~~have} {t} legs.
    """
)
HOW_MANY_ANIMALS = wordings(
    """
    How many {a} {~~be} there?
    How many of the animals {~~be} {a}?
    Find the number of {a} on the farm.
    """
)
FIELD = wordings(
    """
    A {field} {~have} an area of {t} square meters. It {~be} {d} meters longer than it {~be} wide.
    The area of a {field} {~be} {t} square meters,
        and it {~be} {d} meters longer than it {~be} wide.
    A {field} {~be} {d} meters longer than it {~be} wide, and its area {~be} {t} square meters.
    """
)
AGES = wordings(
    """
    {A} is {d} years older than {B}. The product of the two ages is {t}.
    The product of the ages of {A} and {B} is {t}, and {A} is {d} years older than {B}.
    {B} is {d} years younger than {A}, and the product of the two ages is {t}.
    """
)
SHARED = wordings(
    """
    {A} {~share} {t item} equally among {A.his} friends, and none {~~be} left.
        {A.he} {~have} more than {low} but fewer than {high} friends.
    {A} {~have} more than {low} but fewer than {high} friends.
        {A.he} {~share} {t item} equally among them, and none {~~be} left.
    {A} {~have} more than {low} and fewer than {high} friends and {~share} {t item} equally
        among them, and none {~~be} left.
    """
)


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
    story.fact(TWO_PRICES, p=p, q=q)
    if chance.hit(0.6):
        t = story.state(cost, "total", money=True)
        story.event(BOUGHT, n=n, t=t)
    else:
        c = story.draw(1, 30, "change", money=True)
        m = story.state(cost + c.value, "paid", money=True)
        story.event(BOUGHT_BACK, n=n, m=m, c=c)
        t = story.step("{A} {~pay} {=} in all.", m - c)
    story.note(f"Try {guess.written} {{item}}.")
    spent = story.step("They {~~cost} {=}.", guess * p)
    rest = story.step("That {~leave} {=} for the {other}.", t - spent)
    others = story.step("So there {~~be} {=} {other}.", rest / q)
    story.step("In all there {~~be} {=} things, and that {~be} right.", guess + others)
    if chance.hit(0.6):
        story.ask(HOW_MANY, guess)
    else:
        story.ask(SPENT, spent)


def legs(story: Story) -> None:
    """Write a problem about animals with two and with four legs, or six and eight."""
    chance = story.chance
    (a, per_a), (b, per_b) = chance.pick(
        (
            (("cows", 4), ("ducks", 2)),
            (("ducks", 2), ("cows", 4)),
            (("sheep", 4), ("hens", 2)),
            (("hens", 2), ("goats", 4)),
            (("goats", 4), ("ducks", 2)),
        )
    )
    story.cast.update(a=a, b=b)
    n = story.draw(8, 40, "count")
    guess = leaf(chance.between(2, int(n.value) - 2), "guess")
    total = guess.value * per_a + (n.value - guess.value) * per_b
    t = story.state(total, "legs")
    story.open(LEGS, n=n, t=t)
    story.note(f"Try {guess.written} {{a}}.")
    first = story.step("They {~~have} {=} legs.", guess * story.constant(per_a))
    rest = story.step("That {~leave} {=} legs for the {b}.", t - first)
    others = story.step("So there {~~be} {=} {b}.", rest / story.constant(per_b))
    story.step("In all there {~~be} {=} animals, and that {~be} right.", guess + others)
    story.ask(HOW_MANY_ANIMALS, guess)


def product(story: Story) -> None:
    """Write a problem about two numbers whose product and difference are known."""
    chance = story.chance
    guess = leaf(chance.between(3, 45), "guess")
    d = story.draw(1, 20, "difference") if chance.hit(0.8) else story.draw(2, 20, "difference")
    longer = guess.value + d.value
    if d.value < 2:
        raise Unfit
    t = story.state(guess.value * longer, "product")
    if chance.hit(0.5):
        story.cast["field"] = chance.pick(("garden", "field", "park"))
        story.open(FIELD, t=t, d=d)
        story.note(f"Try {guess.written} meters for the width.")
        length = story.step("Then the {field} {~be} {=} meters long.", t / guess)
        story.step("The difference {~be} {=} meters, and that {~be} right.", length - guess)
        if chance.hit(0.5):
            story.ask(
                ("How many meters wide {~be} the {field}?", "What {~be} the width in meters?"),
                guess,
            )
        else:
            story.ask(
                ("How many meters long {~be} the {field}?", "What {~be} the length in meters?"),
                length,
            )
        return
    if longer > 80 or guess.value < 5:
        raise Unfit
    story.in_present()
    a, b = story.person(), story.person()
    story.cast.update(A=a, B=b)
    story.open(AGES, t=t, d=d)
    story.note(f"Try {guess.written} years for {{B}}.")
    older = story.step("Then {A} is {=} years old.", t / guess)
    story.step("The difference is {=} years, and that is right.", older - guess)
    if chance.hit(0.5):
        story.ask(("How many years old is {B}?", "How old is {B} in years?"), guess)
    else:
        story.ask(("How many years old is {A}?", "How old is {A} in years?"), older)


def sharing(story: Story) -> None:
    """Write a problem about things shared equally; the number of friends is between two bounds."""
    chance = story.chance
    item: Noun = chance.pick(SMALL + FRUIT)
    story.cast.update(A=story.person(), item=item)
    guess = leaf(chance.between(4, 25), "guess")
    each = chance.between(7, 60)
    width = chance.between(4, 9)
    low = max(2, int(guess.value) - 1 - chance.below(width))
    high = max(low + width, int(guess.value) + 1)
    t = story.state(guess.value * each, "whole")
    if sum(1 for n in range(low + 1, high) if t.value % n == 0) != 1:
        raise Unfit
    story.open(SHARED, t=t, low=story.state(low, "low"), high=story.state(high, "high"))
    story.note(f"Try {guess.written} friends.")
    got = story.step("Each of them {~get} {=} {item}.", t / guess)
    if chance.hit(0.5):
        story.ask(("How many friends {~do} {A} have?", "How many friends {~~be} there?"), guess)
    else:
        story.ask(
            (
                "How many {item} {~do} each friend get?",
                "How many {item} {~be} that for each friend?",
            ),
            got,
        )
