"""The result is known, the start is unknown: changes are undone from the last to the first."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from gradeschool.datasets.fresh.quantity import Quantity
from gradeschool.datasets.fresh.story import Story, Unfit
from gradeschool.datasets.fresh.wording import KEPT, Wordings, wordings

SOME = wordings(
    """
    {A} {~have} some {item}.
    {A} {~start} with some {item}.
    At first, {A} {~have} some {item}.
    """
)
GETS = wordings(
    """
    {A.he} {~buy} {k} more {item}.
    {C} {~give} {A.him} {k item}.
    {A.he} {~get} {k} more {item}.
    """
)
GIVES = wordings(
    """
    {A.he} {~give} {k item} to {C}.
    {A.he} {~lose} {k item}.
    {A.he} {~give} {C} {k item}.
    """
)
GIVES_EACH = wordings(
    """
    {A.he} {~give} {m item} to each of {k} friends.
    {A.he} {~give} {m item} each to {k} friends.
    To each of {k} friends, {A.he} {~give} {m item}.
    """
)
BUYS_BOXES = wordings(
    """
    {A.he} {~buy} {k} boxes of {m item} each.
    {A.he} {~buy} {k} boxes with {m item} in each box.
    {A.he} {~get} {k} boxes of {m item} each.
    """
)
HALVES = wordings(
    """
    {A.he} {~give} {part} of {A.his} {item} to {C}.
    {A.he} {~sell} {part} of {A.his} {item}.
    {A.he} {~give} away {part} of {A.his} {item}.
    """
)
DOUBLES = wordings(
    """
    {A.he} {~get} as many new {item} as {A.he} already {~have}.
    {C} {~give} {A.him} as many new {item} as {A.he} already {~have}.
    {A.he} {~buy} as many new {item} as {A.he} already {~have}.
    """
)
ENDS = wordings(
    """
    In the end, {A.he} {~have} {n item}.
    After that, {A.he} {~have} {n item}.
    {A.he} {~have} {n item} in the end.
    """
)
START = wordings(
    """
    How many {item} {~do} {A} have at first?
    With how many {item} {~do} {A} start?
    Find the number of {item} that {A} {~have} at first.
    """
)
MORE = wordings(
    """
    How many more {item} {~do} {A} have at first than in the end?
    How many {item} fewer than at first {~do} {A} have in the end?
    At first, how many more {item} {~do} {A} have than in the end?
    """
)
LINE = "Before that, {A} {~have} {=} {item}."


class UndoneChange(NamedTuple):
    """A change: the sentence that describes it, and the step that undoes it."""

    words: Wordings
    values: dict[str, Quantity | str]
    undo: Callable[[Quantity], Quantity]


def backward(story: Story) -> None:
    """Write a problem about changes whose start is unknown."""
    chance = story.chance
    story.cast.update(A=story.person(), C=story.person(), item=chance.pick(KEPT))
    story.open(SOME)
    end = story.draw(4, 40, "end")
    now, changes = end, list[UndoneChange]()
    tries = 0
    while not changes or (story.steps_left > 0 and tries < 8):
        tries += 1
        change = chance.pick((_gets, _gives, _half, _double, _each, _boxes))(story)
        now = change.undo(now)
        changes.append(change)
    for change in reversed(changes):
        story.event(change.words, **change.values)
    story.close(ENDS, n=end)
    if now.value > end.value and chance.hit(0.2):
        story.ask(MORE, story.step("The difference {~be} {=} {item}.", now - end))
    else:
        story.ask(START, now)


def _gets(story: Story) -> UndoneChange:
    k = story.draw(3, 30, "gain")
    return UndoneChange(GETS, {"k": k}, lambda now: story.step(LINE, now - k))


def _gives(story: Story) -> UndoneChange:
    k = story.draw(3, 30, "loss")
    return UndoneChange(GIVES, {"k": k}, lambda now: story.step(LINE, now + k))


def _half(story: Story) -> UndoneChange:
    wording, parts = story.chance.pick((("half", 2), ("half", 2), ("a third", 3), ("a quarter", 4)))
    under = story.state(parts, "parts")
    if parts == 2:
        return UndoneChange(HALVES, {"part": wording}, lambda now: story.step(LINE, now * under))

    def undo(now: Quantity) -> Quantity:
        remaining = story.step(
            "{=} of the {under} parts {~~be} left.", under - story.constant(1), under=under
        )
        part = story.step("One part {~be} {=} {item}.", now / remaining)
        return story.step(LINE, part * under)

    return UndoneChange(HALVES, {"part": wording}, undo)


def _double(story: Story) -> UndoneChange:
    return UndoneChange(DOUBLES, {}, lambda now: story.step(LINE, now / story.constant(2)))


def _each(story: Story) -> UndoneChange:
    k, m = story.draw(2, 6, "friends", words=True), story.draw(2, 6, "each", words=True)

    def undo(now: Quantity) -> Quantity:
        received = story.step("The friends {~~get} {=} {item}.", k * m)
        return story.step(LINE, now + received)

    return UndoneChange(GIVES_EACH, {"k": k, "m": m}, undo)


def _boxes(story: Story) -> UndoneChange:
    k, m = story.draw(2, 6, "boxes", words=True), story.draw(2, 9, "each", words=True)

    def undo(now: Quantity) -> Quantity:
        new = story.step("The boxes {~~hold} {=} {item}.", k * m)
        if now.value <= new.value:
            raise Unfit
        return story.step(LINE, now - new)

    return UndoneChange(BUYS_BOXES, {"k": k, "m": m}, undo)
