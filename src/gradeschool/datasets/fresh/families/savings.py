"""Money over weeks: what is saved and spent, how long it takes to reach a goal."""

from __future__ import annotations

from gradeschool.datasets.fresh.quantity import Quantity
from gradeschool.datasets.fresh.relations import some, times
from gradeschool.datasets.fresh.story import Story, Unfit
from gradeschool.datasets.fresh.wording import wordings

GOALS = ("a bike", "a phone", "a guitar", "a tent", "a camera", "a watch")
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
WEEKLY = wordings(
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
SPENDS = wordings(
    """
    {A.he} {~spend} {k}.
    {A.he} {~spend} {k} on a present.
    On a present, {A.he} {~spend} {k}.
    """
)
SPENDS_PART = wordings(
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
    """Tell of somebody's savings."""
    chance = story.chance
    story.cast.update(A=story.person(), thing=chance.pick(GOALS),
                      givers=chance.shuffled(("mother", "aunt", "uncle")))  # fmt: skip
    money = story.given(10, 90, "start", by=chance.pick((1, 5, 10)), money=True)
    story.open(HAS, n=money)
    money = _saves(story, money)
    while story.left > 1:
        money = _next(story, money)
        if chance.hit(0.1):
            break
    kind = chance.below(4)
    if kind == 0 or story.left < 1:
        story.ask(HOW_MUCH, money)
        return
    m = story.given(4, 30, "weekly", money=True)
    if kind == 1:
        story.numbers.pop()
        k = story.known(money.value + chance.between(5, 150), "goal", money=True)
        story.ask(NEEDS, story.step("{A} {~need} {=} more.", k - money), k=k)
        return
    k = story.known(money.value + m.value * chance.between(2, 12), "goal", money=True)
    rest = story.step("{A} {~need} {=} more.", k - money)
    story.ask(WEEKS, story.step("That {~take} {=} weeks.", rest / m), k=k, m=m)


def _saves(story: Story, money: Quantity) -> Quantity:
    w = story.given(3, 10, "weeks", words=True)
    k = story.given(8, 40, "weekly", money=True)
    if story.size > 3 and story.chance.hit(0.5):
        m = story.known(story.chance.between(2, int(k.value) - 3), "spent weekly", money=True)
        story.event(NET, k=k, m=m, w=w)
        k = story.step("{A} {~save} {=} a week.", k - m)
    else:
        story.event(WEEKLY, k=k, w=w)
    saved = story.step("In {w} weeks, {A} {~save} {=}.", w * k, w=w)
    return story.step("Then {A} {~have} {=}.", money + saved)


def _next(story: Story, money: Quantity) -> Quantity:
    kind = story.chance.below(4)
    if kind == 0:
        k = story.given(5, 50, "gift", money=True)
        if not story.cast["givers"]:
            raise Unfit
        story.event(GIFT, k=k, who=story.cast["givers"].pop())
        return story.step("Then {A} {~have} {=}.", money + k)
    if kind == 1:
        k = story.given(5, 80, "spent", money=True)
        story.event(SPENDS, k=k)
        return story.step("Then {A} {~have} {=} left.", money - k)
    if kind == 2 and "doubled" not in story.cast:
        story.cast["doubled"] = True
        t = times(story, 2, 3)
        story.event(DOUBLED, t=t)
        new = story.step("{A} {~get} {=}.", money * t)
        return story.step("Then {A} {~have} {=}.", money + new)
    part = some(story, money)
    story.event(SPENDS_PART, part=part.said)
    gone = story.step("That {~be} {=} less.", part.taken)
    return story.step("Then {A} {~have} {=} left.", money - gone)
