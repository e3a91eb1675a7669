"""Families that are easy to check and hard to solve forwards: guess, compute, compare.

A solution begins with "Try ..." and the right guess. A wrong guess shows later, as a number that is
not whole or that differs from one in the question.
"""

from __future__ import annotations

from gradeschool.datasets.fresh.story import CLOTHES, FRUIT, HOME, SMALL, TOYS, Story, Unfit, leaf


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
