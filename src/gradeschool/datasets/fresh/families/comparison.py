"""A chain of comparisons: more, fewer, several times as many; totals and differences."""

from __future__ import annotations

from textwrap import dedent
from typing import Any, NamedTuple

from gradeschool.datasets.fresh.quantity import Quantity
from gradeschool.datasets.fresh.story import Story, Unfit, listed, round_number, share, times
from gradeschool.datasets.fresh.wording import (
    COLOR_WORDS,
    HOME,
    KEPT,
    MADE,
    PACKING,
    SMALL,
    WEEK,
    Noun,
    Wordings,
    wordings,
)


class ComparisonWordings(NamedTuple):
    """The wordings of each relation of {B} to {A} (and {C}), of a step, and of each question."""

    first: Wordings
    direct: Wordings
    more: Wordings
    fewer: Wordings
    times: Wordings
    part: Wordings
    mixed: Wordings
    both: Wordings
    step: Wordings
    total: Wordings
    number: Wordings
    difference: Wordings


def _comparison_wordings(text: str) -> ComparisonWordings:
    """Parse a frame: one paragraph for each of its fields, in order."""
    return ComparisonWordings(
        *(wordings(paragraph) for paragraph in dedent(text).strip().split("\n\n"))
    )


PEOPLE = _comparison_wordings(
    """
    {B} {~have} {n item}.
    {B} {~have} a total of {n item}.
    The number of {item} that {B} {~have} {~be} {n}.

    {B} {~have} {n item}.
    {B} {~have} a total of {n item}.
    The number of {item} that {B} {~have} {~be} {n}.

    {B} {~have} {k} more {item} than {A}.
    {A} {~have} {k} fewer {item} than {B}.
    {B} {~have} {k item} more than {A}.

    {B} {~have} {k} fewer {item} than {A}.
    {A} {~have} {k} more {item} than {B}.
    {B} {~have} {k item} fewer than {A}.

    {B} {~have} {t} as many {item} as {A}.
    The number of {item} that {B} {~have} {~be} {t} the number that {A} {~have}.
    {B} {~have} {t} the number of {item} that {A} {~have}.

    {B} {~have} {part} as many {item} as {A}.
    {B} {~have} {part} of the number of {item} that {A} {~have}.
    The number of {item} that {B} {~have} {~be} {part} of the number that {A} {~have}.

    {B} {~have} {k} more than {t} as many {item} as {A}.
    The number of {item} that {B} {~have} {~be} {k} more than {t} the number that {A} {~have}.
    {B} {~have} {k} more than {t} the number of {item} that {A} {~have}.

    {B} {~have} as many {item} as {A} and {C} together.
    {A} and {C} together {~~have} as many {item} as {B} alone.
    {B} {~have} the same number of {item} as {A} and {C} together.

    {B} {~have} {=} {item}.

    How many {item} {~~do} {all} have together?
    How many {item} {~~do} {all} have in all?
    Together, how many {item} {~~do} {all} have?

    How many {item} {~do} {B} have?
    Find the number of {item} that {B} {~have}.
    How many of the {item} {~do} {B} have?

    How many more {item} {~do} {B} have than {A}?
    Find how many more {item} {B} {~have} than {A}.
    How many {item} more than {A} {~do} {B} have?
    """
)
COLORS = _comparison_wordings(
    """
    There {~~be} {n} {B} {item} in a shop.
    A shop {~have} {n} {B} {item}.
    In a shop there {~~be} {n} {B} {item}.

    There {~~be} {n} {B} {item}.
    The shop {~have} {n} {B} {item}.
    The number of {B} {item} {~be} {n}.

    There {~~be} {k} more {B} {item} than {A} {item}.
    There {~~be} {k} more {B} {item} than {A} ones.
    There {~~be} {k} fewer {A} {item} than {B} {item}.

    There {~~be} {k} fewer {B} {item} than {A} {item}.
    There {~~be} {k} fewer {B} {item} than {A} ones.
    There {~~be} {k} more {A} {item} than {B} {item}.

    There {~~be} {t} as many {B} {item} as {A} {item}.
    There {~~be} {t} as many {B} {item} as {A} ones.
    The number of {B} {item} {~be} {t} the number of {A} {item}.

    There {~~be} {part} as many {B} {item} as {A} {item}.
    There {~~be} {part} as many {B} {item} as {A} ones.
    The number of {B} {item} {~be} {part} of the number of {A} {item}.

    The number of {B} {item} {~be} {k} more than {t} the number of {A} {item}.
    There {~~be} {k} more than {t} as many {B} {item} as {A} ones.
    There {~~be} {k} more than {t} as many {B} {item} as {A} {item}.

    There {~~be} as many {B} {item} as {A} and {C} {item} together.
    The number of {B} {item} {~be} the same as the number of {A} and {C} {item} together.
    There {~~be} as many {B} {item} as {A} and {C} ones together.

    There {~~be} {=} {B} {item}.

    How many {all} {item} {~~be} there in all?
    How many {all} {item} {~~be} there together?
    Find the total number of {all} {item}.

    How many {B} {item} {~~be} there?
    Find the number of {B} {item}.
    How many of the {item} {~~be} {B}?

    How many more {B} {item} than {A} {item} {~~be} there?
    Find the difference between the number of {B} {item} and the number of {A} {item}.
    How many more {B} {item} {~~be} there than {A} ones?
    """
)
DAYS = _comparison_wordings(
    """
    {P} {~act} {n item} on {B}.
    On {B}, {P.he} {~act} {n item}.
    The number of {item} that {P} {~act} on {B} {~be} {n}.

    {P.he} {~act} {n item} on {B}.
    On {B}, {P.he} {~act} {n item}.
    The number of {item} that {P} {~act} on {B} {~be} {n}.

    On {B}, {P.he} {~act} {k} more {item} than on {A}.
    {P.he} {~act} {k} more {item} on {B} than on {A}.
    {P.he} {~act} {k} fewer {item} on {A} than on {B}.

    On {B}, {P.he} {~act} {k} fewer {item} than on {A}.
    {P.he} {~act} {k} fewer {item} on {B} than on {A}.
    {P.he} {~act} {k} more {item} on {A} than on {B}.

    On {B}, {P.he} {~act} {t} as many {item} as on {A}.
    {P.he} {~act} {t} as many {item} on {B} as on {A}.
    The number of {item} that {P} {~act} on {B} {~be} {t} the number on {A}.

    On {B}, {P.he} {~act} {part} as many {item} as on {A}.
    {P.he} {~act} {part} as many {item} on {B} as on {A}.
    The number of {item} that {P} {~act} on {B} {~be} {part} of the number on {A}.

    On {B}, {P.he} {~act} {k} more than {t} as many {item} as on {A}.
    {P.he} {~act} {k} more than {t} as many {item} on {B} as on {A}.
    The number of {item} that {P} {~act} on {B} {~be} {k} more than {t} the number on {A}.

    On {B}, {P.he} {~act} as many {item} as on {A} and {C} together.
    {P.he} {~act} as many {item} on {B} as on {A} and {C} together.
    The number of {item} that {P} {~act} on {B} {~be} the same as on {A} and {C} together.

    On {B}, {P} {~act} {=} {item}.

    How many {item} {~do} {P} {act} on {all} together?
    How many {item} {~do} {P} {act} in all on {all}?
    Together, how many {item} {~do} {P} {act} on {all}?

    How many {item} {~do} {P} {act} on {B}?
    Find the number of {item} that {P} {~act} on {B}.
    On {B}, how many {item} {~do} {P} {act}?

    How many more {item} {~do} {P} {act} on {B} than on {A}?
    Find how many more {item} {P} {~act} on {B} than on {A}.
    On {B}, how many more {item} {~do} {P} {act} than on {A}?
    """
)


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


class ComparedQuantity(NamedTuple):
    """A subject and its number."""

    subject: Any
    value: Quantity


def comparison(story: Story) -> None:
    """Write a problem that compares several subjects."""
    chance = story.chance
    subjects, frame, item = _scene(story)
    story.cast.update(item=item, crate=chance.pick(PACKING))
    count = min(max(2, story.size - chance.below(2)), 5)
    first = round_number(story, 6, 60)
    story.open(frame.first, B=subjects[0], n=first)
    nodes = [ComparedQuantity(subjects[0], first)]
    for subject in subjects[1:count]:
        nodes.append(_related(story, frame, subject, nodes))
    _ask(story, frame, nodes)


def _scene(story: Story) -> tuple[list[Any], ComparisonWordings, Noun]:
    kind = story.chance.below(3)
    if kind == 0:
        return [story.person() for _ in range(5)], PEOPLE, story.chance.pick(KEPT)
    if kind == 1:
        items = SMALL[:6] + HOME
        return list(story.chance.sample(COLOR_WORDS, 5)), COLORS, story.chance.pick(items)
    start = story.chance.below(3)
    act = story.chance.pick(("sell", "count", "make", "pack"))
    story.cast.update(P=story.person(), act=act)
    return list(WEEK[start : start + 5]), DAYS, story.chance.pick(MADE)


def _related(
    story: Story, frame: ComparisonWordings, subject: Any, nodes: list[ComparedQuantity]
) -> ComparedQuantity:
    """State how a new subject compares with one before, and compute its number."""
    chance, other = story.chance, story.chance.pick(nodes)
    kind = chance.pick(KINDS)
    values: dict[str, Any] = {"B": subject, "A": other.subject}
    value = other.value
    if kind == "direct":
        n = round_number(story, 6, 60)
        story.fact(frame.direct, B=subject, n=n)
        return ComparedQuantity(subject, n)
    if kind == "both":
        if len(nodes) < 2:
            raise Unfit
        first, second = chance.sample(nodes, 2)
        values.update(A=first.subject, C=second.subject)
        value = first.value + second.value
    if kind in ("times", "mixed"):
        values["t"] = times(story, 2, 4)
        value *= values["t"]
    if kind == "part":
        part = share(story, value)
        values["part"], value = part.wording, part.taken
    if kind in ("more", "fewer", "mixed"):
        values["k"] = story.draw(2, 25, "fewer" if kind == "fewer" else "more")
        value = value - values["k"] if kind == "fewer" else value + values["k"]
    if not 1 < value.value < 500 * (4 if story.style.wide else 1):
        raise Unfit
    story.fact(getattr(frame, kind), **values)
    return ComparedQuantity(subject, story.step(frame.step[0], value, B=subject))


def _ask(story: Story, frame: ComparisonWordings, nodes: list[ComparedQuantity]) -> None:
    kind, last = story.chance.pick(QUESTIONS), nodes[-1]
    if kind == "one":
        story.ask(frame.number, last.value, B=last.subject)
        return
    if kind == "difference":
        less, more = sorted(
            (story.chance.pick(nodes[:-1]), last), key=lambda node: node.value.value
        )
        answer = story.step("The difference {~be} {=} {item}.", more.value - less.value)
        story.ask(frame.difference, story.unstated(answer), B=more.subject, A=less.subject)
        return
    counted = nodes if kind != "two" else [story.chance.pick(nodes[:-1]), last]
    numbers = [node.value for node in counted]
    total = story.step("In all there {~~be} {=} {item}.", sum(numbers[1:], numbers[0]))
    if kind == "sold":
        p = story.draw(2, 9, "price", money=True)
        story.late(SOLD_FOR, p=p)
        story.ask(HOW_MUCH, story.step("All of the {item} {~~bring} {=}.", total * p))
    elif kind == "packed":
        k = story.divisor(total, 2, 12, "each")
        story.late(PACKED, k=k)
        story.ask(HOW_MANY, story.step("This {~take} {=} {crate}.", total / k))
    else:
        names = [str(getattr(node.subject, "name", node.subject)) for node in counted]
        story.ask(frame.total, total, all=listed(names))
