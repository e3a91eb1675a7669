"""Families of problems about what people have, are and do.

Ages, averages of scores, changes undone from the last to the first, a collection that grows and
shrinks, a chain of comparisons, parts of a group, two kinds in a ratio, the recipe of a cake.
"""

from __future__ import annotations

from collections.abc import Callable
from math import gcd
from typing import Any, NamedTuple

from gradeschool.datasets.fresh.story import (
    ATOM,
    COLOR_WORDS,
    CRATES,
    HOLDERS,
    HOME,
    KEPT,
    MADE,
    PACKING,
    SMALL,
    WEEK,
    Noun,
    Person,
    Quantity,
    QuantityPart,
    Story,
    Unfit,
    listed,
    percent,
    round_number,
    share,
    times,
)

OLDEST = 99


def ages(story: Story) -> None:
    """Write a problem about the ages of people."""
    story.in_present()
    count = max(2, min(5, story.size - story.chance.below(2)))
    people = [story.person() for _ in range(count)]
    values = [_first(story, people[0])]
    for index, person in enumerate(people[1:], start=1):
        values.append(_next(story, person, people[:index], values))
    _ages_ask(story, people, values)


def _first(story: Story, person: Person) -> Quantity:
    kind = story.chance.below(4) if story.size > 2 else 0
    n = story.draw(6, 40, "age", most=60)
    if kind <= 1:
        story.fact("is", B=person, n=n)
        return n
    k = story.draw(2, 9, "years", words=True, most=15)
    story.fact("will be" if kind == 2 else "was", B=person, n=n, k=k)
    now = n - k if kind == 2 else n + k
    return story.step("{B} is {=} years old now.", now, B=person)


def _next(story: Story, person: Person, others: list[Person], values: list[Quantity]) -> Quantity:
    index = story.chance.below(len(others))
    other, base = others[index], values[index]
    kind = story.chance.pick(("older", "older", "younger", "times", "part", "both"))
    if kind == "both" and len(others) > 1:
        first, second = story.chance.sample(range(len(others)), 2)
        story.fact("both", B=person, A=others[first], C=others[second])
        age = values[first] + values[second]
    elif kind == "times":
        k = times(story, 2, 4)
        story.fact("times", B=person, A=other, k=k)
        age = base * k
    elif kind == "part":
        part = share(story, base)
        story.fact("part", B=person, A=other, k=part.wording)
        age = part.taken
    else:
        k = story.draw(2, 20, kind, words=True, most=30)
        story.fact("older" if kind != "younger" else "younger", B=person, A=other, k=k)
        age = base - k if kind == "younger" else base + k
    if age.value < 2:
        raise Unfit
    _living(age)
    return story.step("{B} is {=} years old.", age, B=person)


def _ages_ask(story: Story, people: list[Person], values: list[Quantity]) -> None:
    last, age = people[-1], values[-1]
    kind = story.chance.pick(("is", "then", "before", "sum", "sum", "sum then", "gap"))
    k = story.draw(3, 15, "years", words=True, most=25)
    if kind == "is":
        story.numbers.pop()
        story.ask("how old", age, B=last)
    elif kind == "then":
        _living(age + k)
        story.solve("then", "Then {B} will be {=} years old.", age + k, B=last, k=k)
    elif kind == "before":
        story.solve("before", "Then {B} was {=} years old.", age - k, B=last, k=k)
    elif kind == "sum":
        story.numbers.pop()
        total = sum(values[1:], values[0])
        story.solve(
            "sum",
            "The sum of the ages is {=}.",
            total,
            all=listed([person.name for person in people]),
        )
    elif kind == "sum then":
        other = values[0]
        _living(other + k, age + k)
        a = story.step("Then {A} will be {=} years old.", other + k, A=people[0])
        b = story.step("Then {B} will be {=} years old.", age + k, B=last)
        total = story.step("The sum of the ages will be {=}.", a + b)
        story.ask("sum then", total, A=people[0], B=last, k=k)
    else:
        story.numbers.pop()
        index = story.chance.below(len(people) - 1)
        elder, younger, more, less = last, people[index], age, values[index]
        if more.value < less.value:
            elder, younger, more, less = younger, elder, less, more
        line = "{B} is {=} years older than {A}."
        answer = story.step(line, more - less, B=elder, A=younger)
        story.ask("gap", story.unstated(answer), B=elder, A=younger)


def _living(*ages: Quantity) -> None:
    if max(age.value for age in ages) > OLDEST:
        raise Unfit


GAMES = (("game", "points", 10, 60), ("test", "points", 50, 100), ("round", "points", 5, 40))
ORDER = ("first", "second", "third", "fourth", "fifth")


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
    story.open("known", count=("two", "three", "four")[count - 2],
               all=listed([result.shown for result in stated]))  # fmt: skip
    results = list[Quantity](stated)
    while story.steps_left > 2 and chance.hit(0.7) and len(results) < 5 and game != "test":
        place = chance.below(len(results))
        if chance.hit(0.6):
            k = story.draw(2, 15, "more", words=True)
            story.event("next more", k=k, nth=ORDER[place])
            value = results[place] + k
        else:
            story.event("next times", nth=ORDER[place])
            value = results[place] * story.constant(2)
        results.append(
            story.step(
                f"In the {ORDER[len(results)]} {{game}}, {{A}} {{~get}} {{=}} {{points}}.", value
            )
        )
    total = story.step("In all, that {~be} {=} {points}.", sum(results[1:], results[0]))
    number = story.constant(len(results))
    if chance.hit(0.5):
        story.solve("average", "The average {~be} {=} {points}.", total / number)
        return
    top = int(total.value / number.value)
    g = story.state(chance.between(max(low, top - 4), min(high, top + 6)), "goal")
    one_more = story.step("Then there {~~be} {=} {game}s.", number + story.constant(1))
    needed = story.step("For that average, {A} {~need} {=} {points} in all.", g * one_more)
    missing = needed - total
    if not low / 2 <= missing.value <= (100 if game == "test" else 2 * high):
        raise Unfit
    story.solve("wanted", "{A} {~need} {=} {points} in the next {game}.", missing, g=g)


def _from_average(story: Story, low: int, high: int) -> None:
    test = story.cast["game"] == "test"
    n = story.draw(3, 8, "count", words=True)
    m = story.draw(low, high - 5, "average", most=high if test else 0)
    story.open("known average", n=n, m=m)
    total = story.step("In {n} {game}s, that {~be} {=} {points}.", n * m, n=n)
    k = story.draw(low, high, "result", most=high if test else 0)
    total = story.turn("then", "With the next {game}, that {~be} {=} {points}.", total + k, k=k)
    if story.size < 4 and story.chance.hit(0.5):
        story.ask("sum", total)
        return
    number = story.step("Now there {~~be} {=} {game}s.", n + story.constant(1))
    story.solve("new average", "The average {~be} {=} {points}.", total / number)


LINE = "Before that, {A} {~have} {=} {item}."


class UndoneChange(NamedTuple):
    """A change: the sentence that describes it, and the step that undoes it."""

    words: str
    values: dict[str, Quantity | str]
    undo: Callable[[Quantity], Quantity]


def backward(story: Story) -> None:
    """Write a problem about changes whose start is unknown."""
    chance = story.chance
    story.cast.update(A=story.person(), C=story.person(), item=chance.pick(KEPT))
    story.open("some")
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
    story.close("ends", n=end)
    if now.value > end.value and chance.hit(0.2):
        story.solve("more", "The difference {~be} {=} {item}.", now - end)
    else:
        story.ask("start", now)


def _gets(story: Story) -> UndoneChange:
    k = story.draw(3, 30, "gain")
    return UndoneChange("gets", {"k": k}, lambda now: story.step(LINE, now - k))


def _gives(story: Story) -> UndoneChange:
    k = story.draw(3, 30, "loss")
    return UndoneChange("gives", {"k": k}, lambda now: story.step(LINE, now + k))


def _half(story: Story) -> UndoneChange:
    wording, parts = story.chance.pick((("half", 2), ("half", 2), ("a third", 3), ("a quarter", 4)))
    under = story.state(parts, "parts")
    if parts == 2:
        return UndoneChange("halves", {"part": wording}, lambda now: story.step(LINE, now * under))

    def undo(now: Quantity) -> Quantity:
        remaining = story.step(
            "{=} of the {under} parts {~~be} left.", under - story.constant(1), under=under
        )
        part = story.step("One part {~be} {=} {item}.", now / remaining)
        return story.step(LINE, part * under)

    return UndoneChange("halves", {"part": wording}, undo)


def _double(story: Story) -> UndoneChange:
    return UndoneChange("doubles", {}, lambda now: story.step(LINE, now / story.constant(2)))


def _each(story: Story) -> UndoneChange:
    k, m = story.draw(2, 6, "friends", words=True), story.draw(2, 6, "each", words=True)

    def undo(now: Quantity) -> Quantity:
        received = story.step("The friends {~~get} {=} {item}.", k * m)
        return story.step(LINE, now + received)

    return UndoneChange("gives each", {"k": k, "m": m}, undo)


def _boxes(story: Story) -> UndoneChange:
    k, m = story.draw(2, 6, "boxes", words=True), story.draw(2, 9, "each", words=True)

    def undo(now: Quantity) -> Quantity:
        new = story.step("The boxes {~~hold} {=} {item}.", k * m)
        if now.value <= new.value:
            raise Unfit
        return story.step(LINE, now - new)

    return UndoneChange("buys boxes", {"k": k, "m": m}, undo)


def collection(story: Story) -> None:
    """Write a problem about a person's collection."""
    item, box = story.chance.pick(KEPT), story.chance.pick(HOLDERS)
    story.cast.update(A=story.person(), item=item, box=box, crate=story.chance.pick(CRATES))
    ending = story.chance.pick(ENDINGS) if story.size > 2 or story.chance.hit(0.5) else "counted"
    have = _start(story)
    reserve = 0 if ending == "counted" else 1
    while True:
        have = _collection_event(story, have)
        if story.steps_left <= reserve:
            break
    _collection_end(story, have, ending)


def _start(story: Story) -> Quantity:
    kind = story.chance.below(6)
    if kind <= 1 or story.size < 3:
        n = round_number(story, 12, 80)
        story.open("has", n=n)
        return n
    if kind == 2:
        k, m = story.draw(3, 9, "boxes", words=True), story.draw(4, 15, "each")
        story.open("has boxes", k=k, m=m)
        return story.step("{A} {~have} {=} {item} in {box}.", k * m)
    if kind == 3:
        k, m, n = (
            story.draw(2, 9, "boxes", words=True),
            story.draw(4, 15, "each"),
            story.draw(2, 12),
        )
        story.open("has boxes", k=k, m=m)
        story.open("loose", m=n)
        boxed = story.step("The {box} {~~hold} {=} {item}.", k * m)
        return story.step("{A} {~have} {=} {item} at the start.", boxed + n)
    other, n = story.person(), round_number(story, 10, 50)
    story.open("other has", B=other, n=n)
    if kind == 4:
        factor = times(story)
        story.open("times", B=other, k=factor)
        return story.step("{A} {~start} with {=} {item}.", n * factor)
    more = story.chance.hit(0.5)
    k = story.draw(3, 20, "more" if more else "fewer")
    story.open("more" if more else "fewer", B=other, k=k)
    return story.step("{A} {~start} with {=} {item}.", n + k if more else n - k)


HAVE = "Then {A} {~have} {=} {item}."
# Events of k times m things: the step and the role of k.
PRODUCTS = {
    "buys boxes": ("The new {box} {~~hold} {=} {item}.", "boxes"),
    "each gives": ("The friends {~~give} {A} {=} {item}.", "friends"),
    "gives each": ("{A} {~give} away {=} {item}.", "friends"),
    "gives daily": ("That {~be} {=} {item} that {A} no longer {~have}.", "days"),
}
EVENTS = ("buys", "buys", "gives", "gives", "part", "part", "doubles", *PRODUCTS)
ENDINGS = ("counted", "counted", "packed", "shared", "needed", "sold", "ahead")


def _collection_event(story: Story, have: Quantity) -> Quantity:
    kind = story.chance.pick(EVENTS)
    if kind == "buys":
        k = story.draw(3, 40, "gain")
        if story.chance.hit(0.5):
            return story.turn("buys", HAVE, have + k, k=k)
        return story.turn("is given", HAVE, have + k, k=k, C=story.person())
    if kind == "gives":
        k = story.draw(3, 30, "loss")
        return story.turn("gives", HAVE, have - k, k=k, C=story.person())
    if kind == "doubles":
        return story.turn("doubles", HAVE, have + have, C=story.person())
    if kind == "part":
        part = share(story, have) if story.chance.hit(0.7) else percent(story, have)
        line, C = "That {~be} {=} {item} less.", story.person()
        removed = story.turn("gives part", line, part.taken, part=part.wording, C=C)
        return story.step(HAVE, have - removed)
    line, role = PRODUCTS[kind]
    k, m = story.draw(2, 6, role, words=True), story.draw(2, 9, "each", words=True)
    moved = story.turn(kind, line, k * m, k=k, m=m)
    return story.step(HAVE, have - moved if kind in ("gives each", "gives daily") else have + moved)


def _collection_end(story: Story, have: Quantity, ending: str) -> None:
    if ending == "counted":
        story.ask("how many", have)
    elif ending == "packed":
        k = story.divisor(have, 2, 12, "each", words=True)
        story.solve("packed", "{A} {~need} {=} {crate}.", have / k, k=k)
    elif ending == "shared":
        k = story.divisor(have, 2, 12, "friends", words=True)
        story.solve("shared", "Each friend {~get} {=} {item}.", have / k, k=k)
    elif ending == "needed":
        k = story.state(have.value + story.chance.between(3, 40), "goal")
        story.solve("wanted", "{A} {~need} {=} more {item}.", k - have, k=k)
    elif ending == "sold":
        item: Noun = story.cast["item"]
        p = story.draw(max(item.low, 2), max(item.high, 3), "price", money=True)
        story.solve("sold", "{A} {~get} {=}.", have * p, p=p)
    else:
        k, D = story.draw(5, 30, "other"), story.person()
        story.solve("ended", "{A} {~have} {=} more {item} than {D}.", have - k, D=D, k=k)


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
    story.open(f"{frame} first", B=subjects[0], n=first)
    nodes = [ComparedQuantity(subjects[0], first)]
    for subject in subjects[1:count]:
        nodes.append(_related(story, frame, subject, nodes))
    _comparison_ask(story, frame, nodes)


def _scene(story: Story) -> tuple[list[Any], str, Noun]:
    kind = story.chance.below(3)
    if kind == 0:
        return [story.person() for _ in range(5)], "people", story.chance.pick(KEPT)
    if kind == 1:
        items = SMALL[:6] + HOME
        return list(story.chance.sample(COLOR_WORDS, 5)), "colors", story.chance.pick(items)
    start = story.chance.below(3)
    act = story.chance.pick(("sell", "count", "make", "pack"))
    story.cast.update(P=story.person(), act=act)
    return list(WEEK[start : start + 5]), "days", story.chance.pick(MADE)


def _related(
    story: Story, frame: str, subject: Any, nodes: list[ComparedQuantity]
) -> ComparedQuantity:
    """State how a new subject compares with one before, and compute its number."""
    chance, other = story.chance, story.chance.pick(nodes)
    kind = chance.pick(KINDS)
    values: dict[str, Any] = {"B": subject, "A": other.subject}
    value = other.value
    if kind == "direct":
        n = round_number(story, 6, 60)
        story.fact(f"{frame} direct", B=subject, n=n)
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
    story.fact(f"{frame} {kind}", **values)
    return ComparedQuantity(
        subject, story.step(story.wordings[f"{frame} step"][0], value, B=subject)
    )


def _comparison_ask(story: Story, frame: str, nodes: list[ComparedQuantity]) -> None:
    kind, last = story.chance.pick(QUESTIONS), nodes[-1]
    if kind == "one":
        story.ask(f"{frame} number", last.value, B=last.subject)
        return
    if kind == "difference":
        less, more = sorted(
            (story.chance.pick(nodes[:-1]), last), key=lambda node: node.value.value
        )
        answer = story.step("The difference {~be} {=} {item}.", more.value - less.value)
        story.ask(f"{frame} difference", story.unstated(answer), B=more.subject, A=less.subject)
        return
    counted = nodes if kind != "two" else [story.chance.pick(nodes[:-1]), last]
    numbers = [node.value for node in counted]
    total = story.step("In all there {~~be} {=} {item}.", sum(numbers[1:], numbers[0]))
    if kind == "sold":
        p = story.draw(2, 9, "price", money=True)
        story.late("sold for", p=p)
        story.solve("how much", "All of the {item} {~~bring} {=}.", total * p)
    elif kind == "packed":
        k = story.divisor(total, 2, 12, "each")
        story.late("packed", k=k)
        story.solve("how many", "This {~take} {=} {crate}.", total / k)
    else:
        names = [str(getattr(node.subject, "name", node.subject)) for node in counted]
        story.ask(f"{frame} total", total, all=listed(names))


class CountedGroup(NamedTuple):
    """The people in a story and their place; kinds: the first division; acts: what they do."""

    where: str
    who: str
    kinds: tuple[str, str]
    rooms: str
    acts: tuple[str, ...]


GROUPS = tuple(
    CountedGroup(where, who, kinds, rooms, tuple(acts.split(", ")))
    for where, who, kinds, rooms, acts in (
        ("in a school", "students", ("girls", "boys"), "classes",
         "walk to school, play football, have a pet, like math, wear glasses"),
        ("in a camp", "children", ("girls", "boys"), "tents",
         "can swim, have a bike, play tennis, like to sing, wear hats"),
        ("in a company", "workers", ("women", "men"), "teams",
         "drive to work, work at night, have children, drink coffee, wear glasses"),
        ("at a party", "guests", ("adults", "children"), "rooms",
         "drink tea, like to dance, eat cake, play a game, wear hats"),
    )
)  # fmt: skip


def groups(story: Story) -> None:
    """Write a problem about a group and its parts."""
    chance = story.chance
    story.in_present()
    story.connected = False
    group = chance.pick(GROUPS)
    story.cast.update(where=group.where, who=group.who, rooms=group.rooms,
                      a=group.kinds[0], b=group.kinds[1])  # fmt: skip
    whole, name = _groups_start(story, group)
    doings: list[str] = []
    for act in chance.sample(group.acts, 2):
        so_far = _who(name, doings)
        part = _part(story, whole)
        story.event(
            "act" if part.taken.rank < ATOM else "act number",
            part=part.wording,
            group=so_far,
            act=act,
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


def _groups_start(story: Story, group: CountedGroup) -> tuple[Quantity, str]:
    """State the whole group, and mostly divide it into two kinds."""
    chance = story.chance
    kind = chance.below(4)
    if kind == 3:
        k, m = (story.draw(20, 120, "kind", by=chance.pick((2, 4, 5))) for _ in "ab")
        story.open("two", k=k, m=m)
        if chance.hit(0.5):
            return story.step("There are {=} {who} in all.", k + m), group.who
        side = chance.below(2)
        return (k, m)[side], group.kinds[side]
    if kind == 2 and story.size > 2:
        k, m = story.draw(2, 9, "rooms", words=True), story.draw(10, 30, "each")
        story.open("rooms", k=k, m=m)
        whole = story.step("There are {=} {who} in all.", k * m)
    else:
        whole = story.draw(40, 400, "whole", by=chance.pick((4, 10, 12, 20, 30)))
        story.open("all", n=whole)
    if story.steps_left < 3 or chance.hit(0.3):
        return whole, group.who
    part = _part(story, whole)
    story.open("kind" if part.taken.rank < ATOM else "kind number", part=part.wording)
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
        story.ask("teams", answer, group=group, act=act, k=k)
    elif kind == 3:
        p = story.draw(2, 15, "price", money=True)
        answer = story.step("They pay {=}.", count * p)
        story.ask("pay", answer, group=group, act=act, p=p)
    else:
        story.ask("how many", count, group=group, act=act)


def ratios(story: Story) -> None:
    """Write a problem about things of two colors in a ratio."""
    chance = story.chance
    a, b = chance.sample(COLOR_WORDS, 2)
    item: Noun = chance.pick(SMALL[:7] + HOME)
    story.cast.update(A=story.person(), a=a, b=b, item=item)
    p, q = story.draw(2, 7, "part"), story.draw(3, 9, "part")
    if p.value >= q.value or gcd(int(p.value), int(q.value)) > 1:
        raise Unfit
    if chance.hit(0.6):
        story.open("where")
    part, stated = _one_part(story, p, q)
    first = stated or story.step("There {~~be} {=} {a} {item}.", part * p)
    second = story.step("There {~~be} {=} {b} {item}.", part * q)
    side = chance.below(2)
    values, kinds = [first, second], [a, b]
    changed = False
    while story.steps_left > 1 and chance.hit(0.75):
        which, k = chance.below(2), story.draw(2, 20, "change")
        sold = chance.hit(0.5)
        story.event("gone" if sold else "new", k=k, kind=kinds[which])
        now = values[which] - k if sold else values[which] + k
        values[which] = story.step("Then there {~~be} {=} {kind} {item}.", now, kind=kinds[which])
        changed = True
    _ratios_ask(story, values, kinds, side, changed)


def _one_part(story: Story, p: Quantity, q: Quantity) -> tuple[Quantity, Quantity | None]:
    """State a total, the difference or the first kind; return one part and the kind if stated."""
    unit = story.chance.between(2, 15 if not story.style.wide else 60)
    story.widened |= unit > 15
    kind = story.chance.below(3)
    if kind == 0:
        n = story.state(unit * (p.value + q.value), "whole")
        story.fact("whole", n=n)
        parts = story.step("There {~~be} {=} parts in all.", p + q)
    elif kind == 1:
        n, parts = story.state(unit * p.value, "one"), p
        story.fact("one", n=n)
    else:
        n = story.state(unit * (q.value - p.value), "gap")
        if n.value < 2:
            raise Unfit
        story.fact("gap", n=n)
        parts = story.step("The difference {~be} {=} parts.", q - p)
        if parts.value == 1:
            raise Unfit
    story.fact("ratio", p=p, q=q)
    return story.step("One part {~be} {=} {item}.", n / parts), n if kind == 1 else None


def _ratios_ask(
    story: Story, values: list[Quantity], kinds: list[str], side: int, changed: bool
) -> None:
    kind = story.chance.below(3)
    if kind == 0 and changed:
        total = story.step("In all there {~~be} {=} {item}.", values[0] + values[1])
        story.ask("all", total)
    elif kind == 1 and not changed:
        p = story.draw(2, 20, "price", money=True)
        cost = story.step("They {~~cost} {=}.", values[side] * p)
        story.ask("money", cost, kind=kinds[side], p=p)
    else:
        story.ask("count then" if changed else "count", values[side], kind=kinds[side])


class Ingredient(NamedTuple):
    """An ingredient of a recipe: its unit, and its packaging."""

    unit: Noun
    holder: Noun
    pack: Noun
    low: int
    high: int


def _of(singular: str, plural: str, stuff: str) -> Noun:
    return Noun(f"{singular} of {stuff}", f"{plural} of {stuff}")


def _stuff(unit: Noun, holder: str, what: str, low: int, high: int) -> Ingredient:
    many = "boxes" if holder == "box" else f"{holder}s"
    return Ingredient(unit, Noun(holder, many), _of(holder, many, what), low, high)


STUFFS = (
    _stuff(_of("cup", "cups", "flour"), "bag", "flour", 2, 9),
    _stuff(_of("cup", "cups", "sugar"), "bag", "sugar", 2, 6),
    _stuff(_of("cup", "cups", "milk"), "bottle", "milk", 2, 6),
    _stuff(Noun("egg", "eggs"), "box", "eggs", 2, 8),
    _stuff(_of("gram", "grams", "butter"), "pack", "butter", 40, 150),
    _stuff(Noun("apple", "apples"), "bag", "apples", 3, 9),
)
BAKED = (Noun("cookie", "cookies"), Noun("muffin", "muffins"), Noun("roll", "rolls"),
         Noun("cupcake", "cupcakes"))  # fmt: skip


def recipes(story: Story) -> None:
    """Write a problem about baking from a recipe."""
    chance = story.chance
    main, second = chance.sample(STUFFS, 2)
    story.cast.update(A=story.person(), item=chance.pick(BAKED), stuff=main.unit,
                      other=second.unit, pack=main.pack, holder=main.holder)  # fmt: skip
    n = story.draw(6, 24, "per recipe", by=chance.pick((2, 4, 6)))
    by = 10 if main.low > 10 else 1  # grams are round
    k = story.draw(main.low, main.high, "each", words=by == 1, by=by)
    if chance.hit(0.35):
        step = 10 if second.low > 10 else 1
        j = story.draw(second.low, second.high, "distractor", words=step == 1, by=step)
        story.distractors += 1
        story.open("two", n=n, k=k, j=j)
    else:
        story.open("recipe", n=n, k=k)
    total = _amount(story, n)
    batches = story.step("{A} {~make} the recipe {=} times.", total / n)
    need = story.step("{A} {~need} {=} {stuff}.", batches * k)
    more = False
    if story.steps_left > 0 and chance.hit(0.7) and need.value > 4:
        top = int(need.value) - 2
        h = story.state(chance.between(2, top) // by * by, "has")
        story.fact("has", h=h)
        need = story.step("{A} {~need} {=} more {stuff}.", need - h)
        more = True
    if story.steps_left > 0 and chance.hit(0.8):
        h = story.divisor(need, 2, 30, "per pack") if by == 1 else story.divisor(need, 100, 500)
        if h.value % by:
            raise Unfit
        p = story.draw(2, 7, "price", money=True)
        story.late("packs", h=h, p=p)
        packs = story.step("{A} {~need} {=} {pack}.", need / h)
        if story.steps_left > 0 and chance.hit(0.8):
            story.solve("cost", "The {pack} {~~cost} {=}.", packs * p)
        else:
            story.ask("need packs", packs)
    else:
        story.ask("need more" if more else "need", need)


def _amount(story: Story, n: Quantity) -> Quantity:
    """State the number to bake: a multiple of the recipe's number."""
    if story.size > 3 and story.chance.hit(0.5):
        g, m = story.draw(4, 20, "guests"), story.draw(2, 6, "each guest", words=True)
        total = g.value * m.value
        if total % n.value or total == n.value:
            raise Unfit
        story.open("guests", g=g, m=m)
        return story.step("{A} {~want} to bake {=} {item}.", g * m)
    top = 6 if not story.style.wide else 30
    t = story.state(n.value * story.chance.between(2, top), "wanted")
    story.widened |= t.value > 6 * n.value
    story.open("wants", t=t)
    return t
