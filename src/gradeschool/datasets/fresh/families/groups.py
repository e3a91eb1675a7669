"""A group is divided by fractions, percentages and numbers; the question asks for a part."""

from __future__ import annotations

from typing import NamedTuple

from gradeschool.datasets.fresh.quantity import ATOM, Quantity
from gradeschool.datasets.fresh.story import QuantityPart, Story, Unfit, percent, share
from gradeschool.datasets.fresh.wording import wordings


class CountedGroup(NamedTuple):
    """The people in a story and their place; kinds: the first division; acts: what they do."""

    where: str
    who: str
    kinds: tuple[str, str]
    rooms: str
    acts: tuple[str, ...]


GROUPS = (
    CountedGroup(
        "in a school",
        "students",
        ("girls", "boys"),
        "classes",
        ("walk to school", "play football", "have a pet", "like math", "wear glasses"),
    ),
    CountedGroup(
        "in a camp",
        "children",
        ("girls", "boys"),
        "tents",
        ("can swim", "have a bike", "play tennis", "like to sing", "wear hats"),
    ),
    CountedGroup(
        "in a company",
        "workers",
        ("women", "men"),
        "teams",
        ("drive to work", "work at night", "have children", "drink coffee", "wear glasses"),
    ),
    CountedGroup(
        "at a party",
        "guests",
        ("adults", "children"),
        "rooms",
        ("drink tea", "like to dance", "eat cake", "play a game", "wear hats"),
    ),
)
ALL = wordings(
    """
    There are {n} {who} {where}.
    {where} there are {n} {who}.
    There is a total of {n} {who} {where}.
    """
)
ROOMS = wordings(
    """
    There are {k} {rooms} of {m} {who} each {where}.
    {where} there are {k} {rooms}, with {m} {who} in each of them.
    There are {k} {rooms} {where}, and {m} {who} in each of them.
    """
)
TWO = wordings(
    """
    There are {k} {a} and {m} {b} {where}.
    {where} there are {k} {a} and {m} {b}.
    The {who} {where} are {k} {a} and {m} {b}.
    """
)
KIND = wordings(
    """
    Of the {who}, {part} are {a}, and the rest are {b}.
    {part} of the {who} are {a}. The others are {b}.
    {part} of the {who} are {a}, and all the others are {b}.
    """
)
ACT = wordings(
    """
    {part} of the {group} {act}.
    Of the {group}, {part} {act}.
    Of all the {group}, {part} {act}.
    """
)
HOW_MANY = wordings(
    """
    How many {group} {act}?
    Find the number of {group} who {act}.
    How many of the {group} {act}?
    """
)
TEAMS = wordings(
    """
    The {group} who {act} form teams of {k}. How many teams do they form?
    If the {group} who {act} are put into teams of {k}, how many teams are there?
    How many teams are there if the {group} who {act} form teams of {k}?
    """
)
PAY = wordings(
    """
    Each of the {group} who {act} pays {p}. How many dollars do they pay in all?
    If each of the {group} who {act} pays {p}, how many dollars do they pay in all?
    How many dollars do the {group} who {act} pay if each of them pays {p}?
    """
)


def groups(story: Story) -> None:
    """Write a problem about a group and its parts."""
    chance = story.chance
    story.in_present()
    story.connected = False
    group = chance.pick(GROUPS)
    story.cast.update(where=group.where, who=group.who, rooms=group.rooms,
                      a=group.kinds[0], b=group.kinds[1])  # fmt: skip
    whole, name = _start(story, group)
    doings: list[str] = []
    for act in chance.sample(group.acts, 2):
        so_far = _who(name, doings)
        part = _part(story, whole)
        story.event(
            ACT if part.taken.rank < ATOM else ACT[1:2], part=part.wording, group=so_far, act=act
        )
        count, computed = part.taken, part.taken.tree[0] in ("*", "/")
        if computed:
            line = "There are {=} {group}."
            count = story.step(line, count, group=_who(name, [*doings, act]))
        if not computed or chance.hit(0.5):
            act = f"cannot {act[4:]}" if act.startswith("can ") else f"do not {act}"
            line = "There are {=} {group}."
            count = story.step(line, whole - count, group=_who(name, [*doings, act]))
        doings.append(act)
        whole = count
        if story.steps_left <= 1 or chance.hit(0.3):
            break
    _end(story, whole, name, " and ".join(doings))


def _who(name: str, doings: list[str]) -> str:
    return f"{name} who {' and '.join(doings)}" if doings else name


def _part(story: Story, whole: Quantity) -> QuantityPart:
    kind = story.chance.below(5)
    if kind <= 1:
        return share(story, whole)
    if kind <= 3:
        return percent(story, whole)
    if whole.value < 6:
        raise Unfit
    k = story.state(story.chance.between(2, int(whole.value) - 3), "part")
    return QuantityPart(k.shown, k)


def _start(story: Story, group: CountedGroup) -> tuple[Quantity, str]:
    """State the whole group, and mostly divide it into two kinds."""
    chance = story.chance
    kind = chance.below(4)
    if kind == 3:
        k, m = (story.draw(20, 120, "kind", by=chance.pick((2, 4, 5))) for _ in "ab")
        story.open(TWO, k=k, m=m)
        if chance.hit(0.5):
            return story.step("There are {=} {who} in all.", k + m), group.who
        side = chance.below(2)
        return (k, m)[side], group.kinds[side]
    if kind == 2 and story.size > 2:
        k, m = story.draw(2, 9, "rooms", words=True), story.draw(10, 30, "each")
        story.open(ROOMS, k=k, m=m)
        whole = story.step("There are {=} {who} in all.", k * m)
    else:
        whole = story.draw(40, 400, "whole", by=chance.pick((4, 10, 12, 20, 30)))
        story.open(ALL, n=whole)
    if story.steps_left < 3 or chance.hit(0.3):
        return whole, group.who
    part = _part(story, whole)
    story.open(KIND if part.taken.rank < ATOM else KIND[:1], part=part.wording)
    count = part.taken
    if count.tree[0] in ("*", "/"):
        count = story.step("There are {=} {a}.", count)
    if chance.hit(0.5):
        return count, group.kinds[0]
    return story.step("There are {=} {b}.", whole - count), group.kinds[1]


def _end(story: Story, count: Quantity, group: str, act: str) -> None:
    kind = story.chance.below(4)
    if kind == 2:
        k = story.divisor(count, 2, 12, "team", words=True)
        answer = story.step("They form {=} teams.", count / k)
        story.ask(TEAMS, answer, group=group, act=act, k=k)
    elif kind == 3:
        p = story.draw(2, 15, "price", money=True)
        answer = story.step("They pay {=}.", count * p)
        story.ask(PAY, answer, group=group, act=act, p=p)
    else:
        story.ask(HOW_MANY, count, group=group, act=act)
