"""Pages of a book: so many a day, what is left, how many days it takes."""

from __future__ import annotations

from gradeschool.datasets.fresh.nouns import Noun
from gradeschool.datasets.fresh.quantity import Quantity
from gradeschool.datasets.fresh.relations import percent, share, times
from gradeschool.datasets.fresh.story import Story
from gradeschool.datasets.fresh.wording import wordings

TASKS = (
    ("read", "a book", Noun("page", "pages"), 100, 400, 8, 40),
    ("write", "a report", Noun("page", "pages"), 40, 120, 2, 9),
    ("do", "a workbook", Noun("task", "tasks"), 80, 300, 5, 25),
    ("learn", "a list", Noun("word", "words"), 60, 300, 5, 25),
)
BEGIN = wordings(
    """
    {A} {~act} {thing} of {n unit}.
    {A} {~act} {thing} with {n unit}.
    {A} {~have} {thing} of {n unit} to {act}.
    """
)
DAILY = wordings(
    """
    {A.he} {~act} {k unit} a day for {d} days.
    For {d} days, {A.he} {~act} {k unit} each day.
    {A.he} {~act} {k unit} each day for {d} days.
    """
)
MORE = wordings(
    """
    On each of the next {d} days, {A.he} {~act} {k} more {unit} than on each of the days before.
    For the next {d} days, {A.he} {~act} {k} more {unit} each day than before.
    On each of the next {d} days, {A.he} {~act} {k unit} more than on each of the days before.
    """
)
TIMES = wordings(
    """
    For the next {d} days, {A.he} {~act} {t} as many {unit} each day as before.
    On each of the next {d} days, {A.he} {~act} {t} as many {unit} as on each of the days before.
    On each of the next {d} days, {A.he} {~act} {t} as many {unit} as on a day before.
    """
)
SOME = wordings(
    """
    On the day after that, {A.he} {~act} {k unit}.
    Then {A.he} {~act} {k} more {unit}.
    After that, {A.he} {~act} {k} more {unit}.
    """
)
PART = wordings(
    """
    Then {A.he} {~act} {part} of the {unit} that {~~be} left.
    After that, {A.he} {~act} {part} of the {unit} that {~~be} left.
    Later, {A.he} {~act} {part} of the {unit} that {~~be} left.
    """
)
LEFT = wordings(
    """
    How many {unit} {~~be} left?
    How many {unit} {~do} {A} still have to {act}?
    Find how many {unit} {~~be} left.
    """
)
DAYS = wordings(
    """
    How many more days {~do} {A} need if {A.he} {~act} {k unit} a day from then on?
    From then on, {A.he} {~act} {k unit} a day. How many more days {~do} {A.he} need?
    If {A.he} {~act} {k unit} a day from then on, how many more days {~do} {A.he} need?
    """
)
PER_DAY = wordings(
    """
    {A} {~have} {k} more days for the rest. How many {unit} a day {~do} {A.he} have to {act}?
    How many {unit} a day {~do} {A} have to {act} to finish in {k} more days?
    To finish in {k} more days, how many {unit} a day {~do} {A} have to {act}?
    """
)


def reading(story: Story) -> None:
    """Tell of somebody who works through something page by page."""
    chance = story.chance
    act, thing, unit, low, high, slow, fast = chance.pick(TASKS)
    story.cast.update(A=story.person(), act=act, thing=thing, unit=unit)
    n = story.given(low, high, "whole", by=chance.pick((1, 5, 10)))
    story.open(BEGIN, n=n)
    k, d = story.given(slow, fast, "rate"), story.given(2, 7, "days", words=True)
    story.event(DAILY, k=k, d=d)
    done = story.step("In {d} days, {A} {~act} {=} {unit}.", d * k, d=d)
    left = story.step("Then {=} {unit} {~~be} left.", n - done)
    while story.left > 1 and chance.hit(0.85):
        left = _next(story, left, k)
    kind = chance.below(3)
    if kind == 0 or story.left < 1:
        story.ask(LEFT, left)
    elif kind == 1:
        k = story.divisor(left, slow, 2 * fast, "rate")
        story.ask(DAYS, story.step("{A} {~need} {=} more days.", left / k), k=k)
    else:
        k = story.divisor(left, 2, 12, "days", words=True)
        line = "Each day, {A} {~have} to {act} {=} {unit}."
        story.ask(PER_DAY, story.step(line, left / k), k=k)


def _next(story: Story, left: Quantity, rate: Quantity) -> Quantity:
    line = "Then {=} {unit} {~~be} left."
    kind = story.chance.below(4)
    if kind == 0:
        part = share(story, left) if story.chance.hit(0.6) else percent(story, left)
        story.event(PART, part=part.said)
        gone = story.step("That {~be} {=} {unit} less.", part.taken)
        return story.step(line, left - gone)
    if kind == 1 or len(story.steps) > 2:  # "than before" is clear at the start alone
        k = story.given(3, 30, "more")
        story.event(SOME, k=k)
        return story.step(line, left - k)
    d = story.given(2, 5, "days", words=True)
    if kind == 2:
        t = times(story, 2, 3)
        story.event(TIMES, t=t, d=d)
        daily = story.step("That {~be} {=} {unit} a day.", rate * t)
    else:
        k = story.given(2, 10, "more", words=True)
        story.event(MORE, k=k, d=d)
        daily = story.step("That {~be} {=} {unit} a day.", rate + k)
    gone = story.step("In {d} days, that {~be} {=} {unit}.", d * daily, d=d)
    return story.step(line, left - gone)
