"""Large and small units: meters of ribbon in centimeters, hours of work in minutes."""

from __future__ import annotations

from typing import NamedTuple

from gradeschool.datasets.fresh.quantity import Quantity
from gradeschool.datasets.fresh.relations import share
from gradeschool.datasets.fresh.story import Story, Unfit
from gradeschool.datasets.fresh.wording import wordings


class Measure(NamedTuple):
    """Something that is measured: units, how many small ones make a large one, what is made of it.

    by: the step of the amounts in small units; act: how somebody comes to have it.
    """

    large: str
    small: str
    factor: int
    stuff: str
    act: str
    piece: str
    pieces: str
    by: int
    low: int
    high: int


MEASURES = (
    Measure("meters", "centimeters", 100, "ribbon", "have", "bow", "bows", 5, 20, 80),
    Measure("meters", "centimeters", 100, "rope", "buy", "piece", "pieces", 10, 30, 150),
    Measure("feet", "inches", 12, "wood", "have", "shelf", "shelves", 2, 8, 30),
    Measure("kilograms", "grams", 1000, "rice", "have", "meal", "meals", 50, 150, 600),
    Measure("kilograms", "grams", 1000, "flour", "buy", "cake", "cakes", 50, 200, 800),
    Measure("liters", "milliliters", 1000, "juice", "make", "glass", "glasses", 50, 150, 400),
    Measure("liters", "milliliters", 1000, "paint", "buy", "chair", "chairs", 50, 100, 500),
    Measure("hours", "minutes", 60, "free time", "have", "game", "games", 5, 10, 45),
)
HAS = wordings(
    """
    {A} {~act} {n} {large} of {stuff}.
    {A} {~act} a total of {n} {large} of {stuff}.
    In all, {A} {~act} {n} {large} of {stuff}.
    """
)
HAS_BOTH = wordings(
    """
    {A} {~act} {n} {large} and {k} {small} of {stuff}.
    {A} {~act} a total of {n} {large} and {k} {small} of {stuff}.
    In all, {A} {~act} {n} {large} and {k} {small} of {stuff}.
    """
)
USES = wordings(
    """
    {A.he} {~use} {k} {small} of it for each of {m} {pieces}.
    {A.he} {~need} {k} {small} of it for each {piece} and {~make} {m} {pieces}.
    For each of {m} {pieces}, {A.he} {~use} {k} {small} of it.
    """
)
PLAYS = wordings(
    """
    {A.he} {~play} {m} games of {k} minutes each.
    {A.he} {~play} {m} games, and each of them {~last} {k} minutes.
    Each game {~last} {k} minutes, and {A.he} {~play} {m} games.
    """
)
GIVES = wordings(
    """
    {A.he} {~give} {k} {small} of it to {B}.
    {A.he} {~use} {k} {small} of it for something else.
    {A.he} {~give} {B} {k} {small} of it.
    """
)
GIVES_TIME = wordings(
    """
    {A.he} {~spend} {k} minutes of it with {B}.
    {A.he} {~spend} {k} minutes of it on the phone.
    With {B}, {A.he} {~spend} {k} minutes of it.
    """
)
GIVES_PART = wordings(
    """
    {A.he} {~give} {part} of it to {B}.
    {A.he} {~use} {part} of it for something else.
    {A.he} {~give} {B} {part} of it.
    """
)
GIVES_REST = wordings(
    """
    {A.he} {~give} {part} of what {~be} left to {B}.
    {A.he} {~give} {part} of the rest to {B}.
    {A.he} {~give} {B} {part} of what {~be} left.
    """
)
LEFT = wordings(
    """
    How many {small} of {stuff} {~~be} left?
    How many {small} of {stuff} {~do} {A} have left?
    Find how many {small} of {stuff} {~~be} left.
    """
)
MAKES = wordings(
    """
    Each {piece} {~take} {k} {small} of {stuff}.
        How many {pieces} can {A} make from what {~be} left?
    How many {pieces} can {A} make from what {~be} left if each {piece} {~take} {k} {small}?
    If each {piece} {~take} {k} {small}, how many {pieces} can {A} make from what {~be} left?
    """
)
MAKES_ALL = wordings(
    """
    Each {piece} {~take} {k} {small} of {stuff}. How many {pieces} can {A} make?
    How many {pieces} can {A} make if each {piece} {~take} {k} {small} of {stuff}?
    If each {piece} {~take} {k} {small} of {stuff}, how many {pieces} can {A} make?
    """
)
PLAYS_ALL = wordings(
    """
    A game {~take} {k} minutes. How many games can {A} play in the time that {~be} left?
    How many games can {A} play in the time that {~be} left if a game {~take} {k} minutes?
    If a game {~take} {k} minutes, how many games can {A} play in the time that {~be} left?
    """
)
SHARES = wordings(
    """
    The rest {~be} divided equally among {k} friends. How many {small} {~do} each friend get?
    How many {small} {~do} each friend get if the rest {~be} divided equally among {k} friends?
    If the rest {~be} divided equally among {k} friends, how many {small} {~do} each friend get?
    """
)


GAMES_ALL = wordings(
    """
    A game {~take} {k} minutes. How many games can {A} play in this time?
    How many games can {A} play in this time if a game {~take} {k} minutes?
    If a game {~take} {k} minutes, how many games can {A} play in this time?
    """
)


def measures(story: Story) -> None:
    """Tell of something that is measured in two units."""
    chance = story.chance
    story.in_present()
    what = chance.pick(MEASURES)
    story.cast.update(what._asdict(), A=story.person(), B=story.person())
    n = story.given(2, 9 if what.factor > 12 else 20, "large", words=True)
    factor = story.constant(what.factor)
    small = story.step("{n} {large} {~~be} {=} {small}.", n * factor, n=n)
    if chance.hit(0.3):
        k = story.given(what.by, what.factor - what.by, "small", by=what.by, most=what.factor - 1)
        story.open(HAS_BOTH, n=n, k=k)
        small = story.step("In all, that {~be} {=} {small}.", small + k)
    else:
        story.open(HAS, n=n)
    used = 0
    while story.left > 1 and used < 3:
        small = _used(story, what, small, used)
        used += 1
    _end(story, what, small, used)


def _used(story: Story, what: Measure, small: Quantity, used: int) -> Quantity:
    line = "Then {=} {small} {~~be} left."
    kind, timed = story.chance.below(3), what.factor == 60
    if kind == 0 and "given" not in story.cast:
        story.cast["given"] = True
        k = story.given(what.by, 5 * what.high, "used", by=what.by)
        story.event(GIVES_TIME if timed else GIVES, k=k)
        return story.step(line, small - k)
    if kind == 1 and not timed:
        part = share(story, small)
        story.event(GIVES_REST if used else GIVES_PART, part=part.said)
        gone = story.step("That {~be} {=} {small} less.", part.taken)
        return story.step(line, small - gone)
    if "made" in story.cast:
        raise Unfit
    story.cast["made"] = True
    m = story.given(2, 9, "pieces", words=True)
    k = story.given(what.low, what.high, "each", by=what.by)
    story.event(PLAYS if timed else USES, k=k, m=m)
    gone = story.step("The {pieces} {~~take} {=} {small}.", m * k)
    return story.step(line, small - gone)


def _end(story: Story, what: Measure, small: Quantity, used: int) -> None:
    kind, timed = story.chance.below(4), what.factor == 60
    if used and kind == 0:
        story.ask(LEFT, small)
    elif used and kind == 1 and not timed:
        k = story.divisor(small, 2, 12, "friends", words=True)
        story.ask(SHARES, story.step("Each friend {~get} {=} {small}.", small / k), k=k)
    elif "made" not in story.cast:
        k = story.divisor(small, what.low, what.high, "each")
        if k.value % what.by:
            raise Unfit
        line = "{A} can play {=} games." if timed else "{A} can make {=} {pieces}."
        words = (PLAYS_ALL if timed else MAKES) if used else GAMES_ALL if timed else MAKES_ALL
        story.ask(words, story.step(line, small / k), k=k)
    elif used:
        story.ask(LEFT, small)
    else:
        raise Unfit
