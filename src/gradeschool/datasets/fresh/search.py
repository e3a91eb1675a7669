"""Families that are easy to check and hard to solve forwards: guess, compute, compare.

A solution begins with "Try ..." and the right guess. A wrong guess shows later, as a number that is
not whole or that differs from one in the question.
"""

from __future__ import annotations

from gradeschool.datasets.fresh.story import (
    CLOTHES,
    FRUIT,
    HOME,
    SMALL,
    TOYS,
    Noun,
    Story,
    Unfit,
    leaf,
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
    story.fact("two prices", p=p, q=q)
    if chance.hit(0.6):
        t = story.state(cost, "total", money=True)
        story.event("bought", n=n, t=t)
    else:
        c = story.draw(1, 30, "change", money=True)
        m = story.state(cost + c.value, "paid", money=True)
        t = story.turn("bought back", "{A} {~pay} {=} in all.", m - c, n=n, m=m, c=c)
    story.note(f"Try {guess.written} {{item}}.")
    spent = story.step("They {~~cost} {=}.", guess * p)
    rest = story.step("That {~leave} {=} for the {other}.", t - spent)
    others = story.step("So there {~~be} {=} {other}.", rest / q)
    story.step("In all there {~~be} {=} things, and that {~be} right.", guess + others)
    if chance.hit(0.6):
        story.ask("how many", guess)
    else:
        story.ask("spent", spent)


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
    story.open("legs", n=n, t=t)
    story.note(f"Try {guess.written} {{a}}.")
    first = story.step("They {~~have} {=} legs.", guess * story.constant(per_a))
    rest = story.step("That {~leave} {=} legs for the {b}.", t - first)
    others = story.step("So there {~~be} {=} {b}.", rest / story.constant(per_b))
    story.step("In all there {~~be} {=} animals, and that {~be} right.", guess + others)
    story.ask("how many animals", guess)


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
        story.open("field", t=t, d=d)
        story.note(f"Try {guess.written} meters for the width.")
        length = story.step("Then the {field} {~be} {=} meters long.", t / guess)
        story.step("The difference {~be} {=} meters, and that {~be} right.", length - guess)
        if chance.hit(0.5):
            story.ask("width", guess)
        else:
            story.ask("length", length)
        return
    if longer > 80 or guess.value < 5:
        raise Unfit
    story.in_present()
    a, b = story.person(), story.person()
    story.cast.update(A=a, B=b)
    story.open("ages", t=t, d=d)
    story.note(f"Try {guess.written} years for {{B}}.")
    older = story.step("Then {A} is {=} years old.", t / guess)
    story.step("The difference is {=} years, and that is right.", older - guess)
    if chance.hit(0.5):
        story.ask("younger", guess)
    else:
        story.ask("older", older)


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
    story.open("shared", t=t, low=story.state(low, "low"), high=story.state(high, "high"))
    story.note(f"Try {guess.written} friends.")
    got = story.step("Each of them {~get} {=} {item}.", t / guess)
    if chance.hit(0.5):
        story.ask("how many friends", guess)
    else:
        story.ask("each", got)
