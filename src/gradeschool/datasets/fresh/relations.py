"""Relations that many families share: so many times, a share, a percentage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from gradeschool.datasets.fresh.nouns import PLACES
from gradeschool.datasets.fresh.quantity import Quantity
from gradeschool.datasets.fresh.story import Story, Unfit
from gradeschool.datasets.fresh.wording import WORDS

# How a fraction is said: (numerator, denominator).
SPOKEN = {
    (1, 2): "half", (1, 3): "a third", (2, 3): "two thirds", (1, 4): "a quarter",
    (3, 4): "three quarters", (1, 5): "a fifth", (2, 5): "two fifths", (3, 5): "three fifths",
}  # fmt: skip
# What has nothing to do with a question: from, to, wordings.
ASIDES = (
    (8, 40, "{A} {~be} {n} years old."),
    (2, 30, "{A} {~live} {n} miles from the {near}."),
    (2, 30, "{A.his} house {~be} {n} miles from the {near}."),
    (3, 12, "{A} {~have} {n} cousins."),
    (5, 60, "{A} {~have} {n} photos of animals."),
    (3, 9, "There {~~be} {n} people in {A.his} family."),
)
DOZENS = {12: "a dozen", 24: "two dozen", 36: "three dozen"}
PERCENTS = (10, 20, 25, 30, 40, 50, 60, 75, 80)
WIDE_PERCENTS = (5, 15, 35, 45, 55, 65, 70, 85, 90)


class Part(NamedTuple):
    """A part of a quantity: how the question says it, and how it is computed."""

    said: str
    taken: Quantity


def times(story: Story, low: int = 2, high: int = 5) -> Quantity:
    """Draw a factor that is said as "twice", "three times" or "4 times"."""
    value = story.chance.between(low, high)
    if story.style.wide and story.chance.hit(0.6):
        value = story.chance.between(high + 1, 2 * high)
        story.widened = True
    if value == 2:
        spoken = story.chance.pick(("twice", "twice", "two times"))
    else:
        written = WORDS[value] if story.chance.hit(0.5) else str(value)
        spoken = f"{written} times"
    return story.known(value, "times", spoken=spoken)


def share(story: Story, of: Quantity) -> Part:
    """Draw a fraction of a quantity that leaves whole things: half, a third, three quarters."""
    fits = [one for one in SPOKEN if of.value.denominator == 1 and of.value % one[1] == 0]
    if not fits:
        raise Unfit
    top, bottom = story.chance.pick(fits)
    said = SPOKEN[top, bottom]
    if (top, bottom) != (1, 2) and story.chance.hit(0.3):
        said = f"{top}/{bottom}"
    under = story.known(bottom, "parts")
    if top == 1:
        return Part(said, of / under)
    return Part(said, of * story.known(top, "parts") / under)


def percent(story: Story, of: Quantity, low: int = 10, high: int = 80) -> Part:
    """Draw a percentage of a quantity that leaves whole things."""
    wide = story.style.wide and story.chance.hit(0.6)
    if of.value.denominator != 1:
        raise Unfit
    fits = [
        one
        for one in (WIDE_PERCENTS if wide else PERCENTS)
        if low <= one <= high and of.value * one % 100 == 0
    ]
    if not fits:
        raise Unfit
    story.widened |= wide
    rate = story.known(story.chance.pick(fits), "percent")
    return Part(f"{rate.written}%", of * rate / story.constant(100))


def some(story: Story, of: Quantity) -> Part:
    """Draw a fraction or a percentage."""
    return share(story, of) if story.chance.hit(0.6) else percent(story, of)


def round_number(story: Story, low: int, high: int, role: str = "n") -> Quantity:
    """Draw a number that can often be divided."""
    n = story.given(low, high, role, by=story.chance.pick((1, 2, 5, 6, 10, 12)))
    if n.value in DOZENS and story.chance.hit(0.4):
        return replace(n, spoken=DOZENS[int(n.value)])
    return n


def listed(names: Sequence[str]) -> str:
    """Return "a", "a and b", "a, b and c"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def aside(story: Story) -> None:
    """Add a fact about the person {A} that has nothing to do with the question."""
    low, high, wording = story.chance.pick(ASIDES)
    n = story.known(story.chance.between(low, high), "aside")
    story.distract((wording,), n=n, near=story.chance.pick(PLACES))
