"""A chain of comparisons: who has more, fewer, so many times as many; totals and differences."""

from __future__ import annotations

from typing import Any, NamedTuple

from gradeschool.datasets.fresh.families.comparison_frames import COLORS, DAYS, PEOPLE, Frame
from gradeschool.datasets.fresh.nouns import (
    COLOR_WORDS,
    HOME,
    KEPT,
    MADE,
    PACKING,
    SMALL,
    WEEK,
    Noun,
)
from gradeschool.datasets.fresh.quantity import Quantity
from gradeschool.datasets.fresh.relations import listed, round_number, share, times
from gradeschool.datasets.fresh.story import Story, Unfit
from gradeschool.datasets.fresh.wording import wordings

SOLD_FOR = wordings(
    """
    Each {item.one} {~be} sold for {p}.
    All of the {item} {~~be} sold for {p} each.
    Every {item.one} {~be} sold for {p}.
    """
)
HOW_MUCH = wordings(
    """
    How many dollars {~do} this bring in all?
    How many dollars {~~do} the {item} bring in all?
    How many dollars {~~do} all of the {item} bring?
    """
)
PACKED = wordings(
    """
    All of the {item} {~~be} put into {crate}, with {k} in each {crate.one}.
    All the {item} {~~be} put into {crate} of {k item} each.
    All of the {item} {~~be} put into {crate} of {k}.
    """
)
HOW_MANY = wordings(
    """
    How many {crate} {~~be} needed?
    How many {crate} {~do} this take?
    How many {crate} {~be} that?
    """
)
KINDS = ("more", "fewer", "times", "part", "mixed", "both", "direct")
QUESTIONS = ("total", "total", "two", "difference", "one", "sold", "packed")


class Node(NamedTuple):
    """A subject and its number."""

    subject: Any
    value: Quantity


def comparison(story: Story) -> None:
    """Tell of several subjects that are compared."""
    chance = story.chance
    subjects, frame, item = _scene(story)
    story.cast.update(item=item, crate=chance.pick(PACKING))
    count = min(max(2, story.size - chance.below(2)), 5)
    first = round_number(story, 6, 60)
    story.open(frame.first, B=subjects[0], n=first)
    nodes = [Node(subjects[0], first)]
    for subject in subjects[1:count]:
        nodes.append(_related(story, frame, subject, nodes))
    _ask(story, frame, nodes)


def _scene(story: Story) -> tuple[list[Any], Frame, Noun]:
    kind = story.chance.below(3)
    if kind == 0:
        return [story.person() for _ in range(5)], PEOPLE, story.chance.pick(KEPT)
    if kind == 1:
        items = SMALL[:6] + HOME
        return list(story.chance.sample(COLOR_WORDS, 5)), COLORS, story.chance.pick(items)
    at = story.chance.below(3)
    act = story.chance.pick(("sell", "count", "make", "pack"))
    story.cast.update(P=story.person(), act=act)
    return list(WEEK[at : at + 5]), DAYS, story.chance.pick(MADE)


def _related(story: Story, frame: Frame, subject: Any, nodes: list[Node]) -> Node:
    """State how a new subject compares with one before, and compute its number."""
    chance, other = story.chance, story.chance.pick(nodes)
    kind = chance.pick(KINDS)
    values: dict[str, Any] = {"B": subject, "A": other.subject}
    value = other.value
    if kind == "direct":
        n = round_number(story, 6, 60)
        story.fact(frame.direct, B=subject, n=n)
        return Node(subject, n)
    if kind == "both":
        if len(nodes) < 2:
            raise Unfit
        one, two = chance.sample(nodes, 2)
        values.update(A=one.subject, C=two.subject)
        value = one.value + two.value
    if kind in ("times", "mixed"):
        values["t"] = times(story, 2, 4)
        value *= values["t"]
    if kind == "part":
        part = share(story, value)
        values["part"], value = part.said, part.taken
    if kind in ("more", "fewer", "mixed"):
        values["k"] = story.given(2, 25, "fewer" if kind == "fewer" else "more")
        value = value - values["k"] if kind == "fewer" else value + values["k"]
    if not 1 < value.value < 500 * (4 if story.style.wide else 1):
        raise Unfit
    story.fact(getattr(frame, kind), **values)
    return Node(subject, story.step(frame.step[0], value, B=subject))


def _ask(story: Story, frame: Frame, nodes: list[Node]) -> None:
    kind, last = story.chance.pick(QUESTIONS), nodes[-1]
    if kind == "one":
        story.ask(frame.one, last.value, B=last.subject)
        return
    if kind == "difference":
        less, more = sorted((story.chance.pick(nodes[:-1]), last), key=lambda one: one.value.value)
        answer = story.step("The difference {~be} {=} {item}.", more.value - less.value)
        story.ask(frame.difference, story.unstated(answer), B=more.subject, A=less.subject)
        return
    asked = nodes if kind != "two" else [story.chance.pick(nodes[:-1]), last]
    total = asked[0].value
    for node in asked[1:]:
        total += node.value
    total = story.step("In all there {~~be} {=} {item}.", total)
    if kind == "sold":
        p = story.given(2, 9, "price", money=True)
        story.late(SOLD_FOR, p=p)
        story.ask(HOW_MUCH, story.step("All of the {item} {~~bring} {=}.", total * p))
    elif kind == "packed":
        k = story.divisor(total, 2, 12, "each")
        story.late(PACKED, k=k)
        story.ask(HOW_MANY, story.step("This {~take} {=} {crate}.", total / k))
    else:
        names = [str(getattr(node.subject, "name", node.subject)) for node in asked]
        story.ask(frame.total, total, all=listed(names))
