"""Wages and savings.

Work for money: hours, days and weeks at a rate, extra hours, tips, and what is spent.

Money over weeks: what is saved and spent, how long it takes to reach a goal.
"""

from __future__ import annotations

from collections.abc import Callable

from gradeschool.datasets.fresh.quantity import Quantity
from gradeschool.datasets.fresh.story import WIDE, Story, Unfit, some, times
from gradeschool.datasets.fresh.wording import wordings

PLACES = ("a shop", "a bakery", "a library", "a farm", "a museum", "a school")
WAGES_GOALS = (
    ("a bike", 90, 400),
    ("a phone", 150, 600),
    ("a table", 80, 300),
    ("a guitar", 100, 400),
    ("a tent", 60, 250),
    ("a camera", 120, 500),
)
RATE = wordings(
    """
    {A} {~earn} {r} an hour at {place}.
    {A} {~have} a job at {place} that {~pay} {r} an hour.
    {A} {~work} at {place} for {r} an hour.
    """
)
DAILY = wordings(
    """
    {A.he} {~work} {h} hours a day for {d} days.
    For {d} days, {A.he} {~work} {h} hours each day.
    {A.he} {~work} for {d} days, {h} hours each day.
    """
)
WAGES_WEEKLY = wordings(
    """
    {A.he} {~work} {h} hours a day, {d} days a week, for {w} weeks.
    For {w} weeks, {A.he} {~work} {d} days a week and {h} hours a day.
    {A.he} {~work} for {w} weeks, {d} days a week, {h} hours each day.
    """
)
TWO_DAYS = wordings(
    """
    {A.he} {~work} {h} hours on {one} and {k} hours on {two}.
    On {one} {A.he} {~work} {h} hours, and on {two} {k} hours.
    {A.he} {~work} for {h} hours on {one} and for {k} hours on {two}.
    """
)
LONGER = wordings(
    """
    On {one}, {A.he} {~work} {h} hours. On {two}, {A.he} {~work} {k} hours longer than on {one}.
    {A.he} {~work} {h} hours on {one}, and {k} hours longer on {two}.
    On {one}, {A.he} {~work} {h} hours, and on {two} {k} hours longer.
    """
)
EXTRA = wordings(
    """
    {A.he} also {~work} {k} extra hours, which {~~pay} {r} each.
    {A.he} also {~work} {k} extra hours for {r} an hour.
    {A.he} also {~work} {k} extra hours at {r} each.
    """
)
TIPS = wordings(
    """
    {A.he} also {~get} {k} in tips.
    {A.he} {~get} another {k} in tips.
    In tips, {A.he} also {~get} {k}.
    """
)
WAGES_SPENDS = wordings(
    """
    {A.he} {~spend} {k} of the money on food.
    {A.he} {~pay} {k} for food.
    {A.he} {~use} {k} of the money for food.
    """
)
WAGES_SPENDS_PART = wordings(
    """
    {A.he} {~spend} {part} of {what}.
    {A.he} {~give} {part} of {what} to {A.his} mother.
    {A.he} {~use} {part} of {what} for food.
    """
)
SPENDS_EACH = wordings(
    """
    {A.he} {~spend} {m} on each of {k} friends.
    {A.he} {~buy} {k} tickets for {m} each.
    {A.he} {~buy} {k} books for {m} each.
    """
)
EARNED = wordings(
    """
    How many dollars {~do} {A} earn in all?
    How many dollars {~do} {A} earn altogether?
    In all, how many dollars {~do} {A} earn?
    """
)
LEFT = wordings(
    """
    How many dollars {~do} {A} have left?
    How many dollars {~~be} left?
    How many dollars of the money {~do} {A} have left?
    """
)
GOAL = wordings(
    """
    {A} {~want} to buy {thing} that {~cost} {k}. How many more dollars {~do} {A.he} need?
    How many more dollars {~do} {A} need to buy {thing} for {k}?
    To buy {thing} for {k}, how many more dollars {~do} {A} need?
    """
)
OTHER = wordings(
    """
    {B} {~earn} {k} in the same time. How many more dollars {~do} {A} earn than {B}?
    How many dollars more than {B} {~do} {A} earn if {B} {~earn} {k}?
    In the same time, {B} {~earn} {k}. How many more dollars {~do} {A} earn than {B}?
    """
)
SHARED = wordings(
    """
    {A.he} {~share} {what} equally among {k} friends.
        How many dollars {~do} each friend get?
    If {A.he} {~share} {what} equally among {k} friends, how many dollars {~do} each friend get?
    How many dollars {~do} each friend get if {A.he} {~share} {what} equally among {k} friends?
    """
)


def wages(story: Story) -> None:
    """Write a problem about a person's wages and what they are spent on."""
    chance = story.chance
    story.cast.update(A=story.person(), place=chance.pick(PLACES))
    rate = story.draw(8, 25, "rate", money=True)
    story.open(RATE, r=rate)
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
            story.open(DAILY, h=h, d=d)
            return story.step("{A} {~work} {=} hours.", d * h)
        w = story.draw(2, 6, "weeks", words=True)
        story.open(WAGES_WEEKLY, h=h, d=d, w=w)
        days = story.step("{A} {~work} {=} days.", w * d)
        return story.step("That {~be} {=} hours.", days * h)
    weekend = {"one": "Saturday", "two": "Sunday"}
    k = story.draw(2, 4 if kind == 3 else 8, "hours", most=9, words=True)
    if kind == 2:
        story.open(TWO_DAYS, h=h, k=k, **weekend)
        return story.step("{A} {~work} {=} hours.", h + k)
    story.open(LONGER, h=h, k=k, **weekend)
    second = story.step("On Sunday, {A} {~work} {=} hours.", h + k)
    return story.step("In all, {A} {~work} {=} hours.", h + second)


def _extra(story: Story, money: Quantity) -> Quantity:
    k, r = story.draw(2, 9, "extra", words=True), story.draw(15, 40, "extra rate", money=True)
    story.event(EXTRA, k=k, r=r)
    more = story.step("The extra hours {~~pay} {=}.", k * r)
    return story.step("Then {A} {~have} {=}.", money + more)


def _tips(story: Story, money: Quantity) -> Quantity:
    k = story.draw(5, 60, "tips", money=True)
    story.event(TIPS, k=k)
    return story.step("With the tips, {A} {~have} {=}.", money + k)


def _spends(story: Story, money: Quantity) -> Quantity:
    k = story.draw(5, 90, "spent", money=True)
    story.cast["spent"] = True
    story.event(WAGES_SPENDS, k=k)
    return story.step("Then {A} {~have} {=} left.", money - k)


def _spends_part(story: Story, money: Quantity) -> Quantity:
    part = some(story, money)
    what = f"what {'was' if story.past else 'is'} left" if "spent" in story.cast else "the money"
    story.event(WAGES_SPENDS_PART, part=part.wording, what=what)
    payment = story.step("{A} {~spend} or {~give} away {=}.", part.taken)
    return story.step("Then {A} {~have} {=} left.", money - payment)


def _spends_each(story: Story, money: Quantity) -> Quantity:
    k, m = story.draw(2, 6, "count", words=True), story.draw(4, 18, "price", money=True)
    story.cast["spent"] = True
    story.event(SPENDS_EACH, k=k, m=m)
    payment = story.step("{A} {~spend} {=} on them.", k * m)
    return story.step("Then {A} {~have} {=} left.", money - payment)


EARNING: tuple[Callable[[Story, Quantity], Quantity], ...] = (_extra, _tips)
SPENDING: tuple[Callable[[Story, Quantity], Quantity], ...] = (_spends, _spends_part, _spends_each)


def _earned(story: Story, money: Quantity, spent: bool) -> None:
    story.ask(EARNED, money)


def _remainder(story: Story, money: Quantity, spent: bool) -> None:
    story.ask(LEFT, money)


def _goal(story: Story, money: Quantity, spent: bool) -> None:
    thing, low, high = story.chance.pick(WAGES_GOALS)
    k = story.state(money.value + story.chance.between(5, 120), "goal", money=True)
    if low <= k.value <= (WIDE * high if story.style.wide else high):
        story.ask(GOAL, story.step("{A} {~need} {=} more.", k - money), thing=thing, k=k)
    else:
        story.ask(LEFT if spent else EARNED, money)


def _other(story: Story, money: Quantity, spent: bool) -> None:
    k, person = story.draw(20, 200, "other", by=5, money=True), story.person()
    answer = story.step("{A} {~earn} {=} more than {B}.", money - k, B=person)
    story.ask(OTHER, answer, B=person, k=k)


def _shared(story: Story, money: Quantity, spent: bool) -> None:
    k = story.divisor(money, 2, 6, "friends", words=True)
    what = "the rest of the money" if spent else "this money"
    story.ask(SHARED, story.step("Each friend {~get} {=}.", money / k), k=k, what=what)


SAVINGS_GOALS = ("a bike", "a phone", "a guitar", "a tent", "a camera", "a watch")
HAS = wordings(
    """
    {A} {~have} {n}.
    {A} {~have} {n} at the start.
    At the start, {A} {~have} {n}.
    """
)
GIFT = wordings(
    """
    {A.his} {who} {~give} {A.him} {k}.
    {A.he} {~get} {k} from {A.his} {who}.
    {A.he} {~get} another {k} from {A.his} {who}.
    """
)
SAVINGS_WEEKLY = wordings(
    """
    {A.he} {~save} {k} a week for {w} weeks.
    For {w} weeks, {A.he} {~save} {k} each week.
    {A.he} {~save} {k} each week for {w} weeks.
    """
)
NET = wordings(
    """
    {A.he} {~earn} {k} a week and {~spend} {m} of it each week. {A.he} {~do} this for {w} weeks.
    For {w} weeks, {A.he} {~earn} {k} a week and {~spend} {m} of it each week.
    {A.he} {~earn} {k} each week and {~spend} {m} of it. {A.he} {~do} this for {w} weeks.
    """
)
SAVINGS_SPENDS = wordings(
    """
    {A.he} {~spend} {k}.
    {A.he} {~spend} {k} on a present.
    On a present, {A.he} {~spend} {k}.
    """
)
SAVINGS_SPENDS_PART = wordings(
    """
    {A.he} {~spend} {part} of {A.his} money.
    {A.he} {~give} {part} of {A.his} money to {A.his} mother.
    {A.he} {~spend} {part} of {A.his} money on a present.
    """
)
DOUBLED = wordings(
    """
    {A.his} grandparents {~~give} {A.him} {t} as much as {A.he} {~have} by then.
    From {A.his} grandparents, {A.he} {~get} {t} as much as {A.he} {~have} by then.
    {A.he} {~get} {t} as much as {A.he} {~have} by then from {A.his} grandparents.
    """
)
HOW_MUCH = wordings(
    """
    How many dollars {~do} {A} have in the end?
    In the end, how many dollars {~do} {A} have?
    Find how many dollars {A} {~have} in the end.
    """
)
NEEDS = wordings(
    """
    {A} {~want} to buy {thing} for {k}. How many more dollars {~do} {A.he} need?
    How many more dollars {~do} {A} need to buy {thing} for {k}?
    To buy {thing} for {k}, how many more dollars {~do} {A} need?
    """
)
WEEKS = wordings(
    """
    {A} {~want} to buy {thing} for {k} and {~save} {m} a week from then on.
        How many more weeks {~do} {A.he} need?
    {A} {~want} to buy {thing} for {k}. If {A.he} {~save} {m} a week from then on,
        how many more weeks {~do} {A.he} need?
    How many more weeks {~do} {A} need to buy {thing} for {k} if {A.he} {~save} {m} a week
        from then on?
    """
)


def savings(story: Story) -> None:
    """Write a problem about a person's savings."""
    chance = story.chance
    story.cast.update(A=story.person(), thing=chance.pick(SAVINGS_GOALS),
                      givers=chance.shuffled(("mother", "aunt", "uncle")))  # fmt: skip
    money = story.draw(10, 90, "start", by=chance.pick((1, 5, 10)), money=True)
    story.open(HAS, n=money)
    money = _saves(story, money)
    while story.steps_left > 1:
        money = _next(story, money)
        if chance.hit(0.1):
            break
    kind = chance.below(4)
    if kind == 0 or story.steps_left < 1:
        story.ask(HOW_MUCH, money)
        return
    m = story.draw(4, 30, "weekly", money=True)
    if kind == 1:
        story.numbers.pop()
        k = story.state(money.value + chance.between(5, 150), "goal", money=True)
        story.ask(NEEDS, story.step("{A} {~need} {=} more.", k - money), k=k)
        return
    k = story.state(money.value + m.value * chance.between(2, 12), "goal", money=True)
    rest = story.step("{A} {~need} {=} more.", k - money)
    story.ask(WEEKS, story.step("That {~take} {=} weeks.", rest / m), k=k, m=m)


def _saves(story: Story, money: Quantity) -> Quantity:
    w = story.draw(3, 10, "weeks", words=True)
    k = story.draw(8, 40, "weekly", money=True)
    if story.size > 3 and story.chance.hit(0.5):
        m = story.state(story.chance.between(2, int(k.value) - 3), "spent weekly", money=True)
        story.event(NET, k=k, m=m, w=w)
        k = story.step("{A} {~save} {=} a week.", k - m)
    else:
        story.event(SAVINGS_WEEKLY, k=k, w=w)
    saved = story.step("In {w} weeks, {A} {~save} {=}.", w * k, w=w)
    return story.step("Then {A} {~have} {=}.", money + saved)


def _next(story: Story, money: Quantity) -> Quantity:
    kind = story.chance.below(4)
    if kind == 0:
        k = story.draw(5, 50, "gift", money=True)
        if not story.cast["givers"]:
            raise Unfit
        story.event(GIFT, k=k, who=story.cast["givers"].pop())
        return story.step("Then {A} {~have} {=}.", money + k)
    if kind == 1:
        k = story.draw(5, 80, "spent", money=True)
        story.event(SAVINGS_SPENDS, k=k)
        return story.step("Then {A} {~have} {=} left.", money - k)
    if kind == 2 and "doubled" not in story.cast:
        story.cast["doubled"] = True
        t = times(story, 2, 3)
        story.event(DOUBLED, t=t)
        new = story.step("{A} {~get} {=}.", money * t)
        return story.step("Then {A} {~have} {=}.", money + new)
    part = some(story, money)
    story.event(SAVINGS_SPENDS_PART, part=part.wording)
    payment = story.step("That {~be} {=} less.", part.taken)
    return story.step("Then {A} {~have} {=} left.", money - payment)
