"""Scores and averages: an average, a missing score, the sum."""

from __future__ import annotations

from gradeschool.datasets.fresh.quantity import Quantity
from gradeschool.datasets.fresh.story import Story, Unfit, listed
from gradeschool.datasets.fresh.wording import wordings

GAMES = (("game", "points", 10, 60), ("test", "points", 50, 100), ("round", "points", 5, 40))
ORDER = ("first", "second", "third", "fourth", "fifth")
KNOWN = wordings(
    """
    In the first {count} {game}s, {A} {~get} {all} {points}.
    {A} {~get} {all} {points} in the first {count} {game}s.
    In each of the first {count} {game}s, {A} {~get} some {points}: {all}.
    """
)
NEXT_MORE = wordings(
    """
    In the next {game}, {A.he} {~get} {k} more {points} than in the {nth} {game}.
    In the {game} after that, {A.he} {~get} {k} more {points} than in the {nth} {game}.
    In the next {game}, {A.he} {~get} {k} {points} more than in the {nth} {game}.
    """
)
NEXT_TIMES = wordings(
    """
    In the next {game}, {A.he} {~get} twice as many {points} as in the {nth} {game}.
    In the {game} after that, {A.he} {~get} twice as many {points} as in the {nth} {game}.
    In the next {game}, {A.he} {~get} two times as many {points} as in the {nth} {game}.
    """
)
AVERAGE = wordings(
    """
    How many {points} {~do} {A} get per {game} on average?
    What {~be} the average number of {points} per {game}?
    Find the average number of {points} per {game}.
    """
)
WANTED = wordings(
    """
    How many {points} {~do} {A} need in the next {game} for an average of {g}?
    {A} {~want} an average of {g} {points}. How many {points} {~do} {A.he} need in the next {game}?
    For an average of {g} {points}, how many {points} {~do} {A} need in the next {game}?
    """
)
KNOWN_AVERAGE = wordings(
    """
    In {n} {game}s, {A} {~get} {m} {points} per {game} on average.
    {A} {~get} an average of {m} {points} in {n} {game}s.
    On average, {A} {~get} {m} {points} per {game} in {n} {game}s.
    """
)
THEN = wordings(
    """
    In the next {game}, {A.he} {~get} {k} {points}.
    In the {game} after that, {A.he} {~get} {k} {points}.
    {A.he} {~get} {k} {points} in the next {game}.
    """
)
NEW_AVERAGE = wordings(
    """
    What {~be} the average number of {points} for all the {game}s?
    What {~be} the new average number of {points} per {game}?
    Find the new average number of {points} per {game}.
    """
)
SUM = wordings(
    """
    How many {points} {~be} that in all?
    How many {points} {~do} {A} get in all?
    In all, how many {points} {~do} {A} get?
    """
)


def averages(story: Story) -> None:
    """Write a problem about results and their average."""
    chance = story.chance
    game, points, low, high = chance.pick(GAMES)
    story.cast.update(A=story.person(), game=game, points=points)
    if chance.hit(0.4):
        _from_average(story, low, high)
        return
    count = chance.between(2, 4)
    stated = [story.draw(low, high, "result", most=high if game == "test" else 0)
             for _ in range(count)]  # fmt: skip
    story.open(KNOWN, count=("two", "three", "four")[count - 2],
               all=listed([result.shown for result in stated]))  # fmt: skip
    results = list[Quantity](stated)
    while story.steps_left > 2 and chance.hit(0.7) and len(results) < 5 and game != "test":
        place = chance.below(len(results))
        if chance.hit(0.6):
            k = story.draw(2, 15, "more", words=True)
            story.event(NEXT_MORE, k=k, nth=ORDER[place])
            value = results[place] + k
        else:
            story.event(NEXT_TIMES, nth=ORDER[place])
            value = results[place] * story.constant(2)
        results.append(
            story.step(
                f"In the {ORDER[len(results)]} {{game}}, {{A}} {{~get}} {{=}} {{points}}.", value
            )
        )
    total = story.step("In all, that {~be} {=} {points}.", sum(results[1:], results[0]))
    number = story.constant(len(results))
    if chance.hit(0.5):
        story.ask(AVERAGE, story.step("The average {~be} {=} {points}.", total / number))
        return
    top = int(total.value / number.value)
    g = story.state(chance.between(max(low, top - 4), min(high, top + 6)), "goal")
    one_more = story.step("Then there {~~be} {=} {game}s.", number + story.constant(1))
    needed = story.step("For that average, {A} {~need} {=} {points} in all.", g * one_more)
    missing = needed - total
    if not low / 2 <= missing.value <= (100 if game == "test" else 2 * high):
        raise Unfit
    story.ask(WANTED, story.step("{A} {~need} {=} {points} in the next {game}.", missing), g=g)


def _from_average(story: Story, low: int, high: int) -> None:
    test = story.cast["game"] == "test"
    n = story.draw(3, 8, "count", words=True)
    m = story.draw(low, high - 5, "average", most=high if test else 0)
    story.open(KNOWN_AVERAGE, n=n, m=m)
    total = story.step("In {n} {game}s, that {~be} {=} {points}.", n * m, n=n)
    k = story.draw(low, high, "result", most=high if test else 0)
    story.event(THEN, k=k)
    total = story.step("With the next {game}, that {~be} {=} {points}.", total + k)
    if story.size < 4 and story.chance.hit(0.5):
        story.ask(SUM, total)
        return
    number = story.step("Now there {~~be} {=} {game}s.", n + story.constant(1))
    story.ask(NEW_AVERAGE, story.step("The average {~be} {=} {points}.", total / number))
