"""A collection grows and shrinks; the rest is counted, packed or shared."""

from __future__ import annotations

from collections.abc import Callable

from gradeschool.datasets.fresh.quantity import Quantity
from gradeschool.datasets.fresh.story import Story, percent, round_number, share, times
from gradeschool.datasets.fresh.wording import CRATES, HOLDERS, KEPT, Noun, Person, wordings

HAS = wordings(
    """
    {A} {~have} {n item}.
    {A} {~start} with {n item}.
    {A} {~have} a total of {n item}.
    At the start, {A} {~have} {n item}.
    """
)
HAS_BOXES = wordings(
    """
    {A} {~have} {k box} of {item}, with {m item} in each {box.one}.
    {A} {~have} {k box} of {m item} each.
    {A} {~keep} {A.his} {item} in {k box}. Each {box.one} {~hold} {m item}.
    {A} {~have} {k box} of {item}. There {~~be} {m item} in each {box.one}.
    """
)
LOOSE = wordings(
    """
    {A.he} also {~have} {m} loose {item}.
    {A.he} {~have} {m} other {item} too.
    {A.he} {~have} another {m} loose {item}.
    """
)
OTHER_HAS = wordings(
    """
    {B} {~have} {n item}.
    {B} {~start} with {n item}.
    At the start, {B} {~have} {n item}.
    """
)
MORE = wordings(
    """
    {A} {~have} {k} more {item} than {B}.
    {A} {~have} {k item} more than {B}.
    {B} {~have} {k} fewer {item} than {A}.
    {B} {~have} {k item} fewer than {A}.
    """
)
FEWER = wordings(
    """
    {A} {~have} {k} fewer {item} than {B}.
    {A} {~have} {k item} fewer than {B}.
    {B} {~have} {k} more {item} than {A}.
    {B} {~have} {k item} more than {A}.
    """
)
TIMES = wordings(
    """
    {A} {~have} {k} as many {item} as {B}.
    {A} {~start} with {k} as many {item} as {B}.
    At the start, {A} {~have} {k} as many {item} as {B}.
    """
)
BUYS = wordings(
    """
    {A.he} {~buy} {k} more {item}.
    {A.he} {~find} {k} more {item}.
    {A.he} {~get} another {k item}.
    {A.he} {~get} {k} more {item}.
    """
)
IS_GIVEN = wordings(
    """
    {C} {~give} {A.him} {k item}.
    {A.he} {~get} {k item} from {C}.
    {C} {~give} {A.him} {k} more {item}.
    """
)
BUYS_BOXES = wordings(
    """
    {A.he} {~buy} {k box} of {m item} each.
    {A.he} {~buy} {k box} of {item}, with {m item} in each {box.one}.
    {A.he} {~get} {k} new {box} of {m item} each.
    """
)
EACH_GIVES = wordings(
    """
    Each of {A.his} {k} friends {~give} {A.him} {m item}.
    {A.he} {~get} {m item} from each of {k} friends.
    From each of {k} friends, {A.he} {~get} {m item}.
    """
)
GIVES = wordings(
    """
    {A.he} {~give} {k item} to {C}.
    {A.he} {~lose} {k} of {A.his} {item}.
    {A.he} {~give} away {k} of the {item}.
    {A.he} {~give} {k} of {A.his} {item} to {C}.
    """
)
GIVES_EACH = wordings(
    """
    {A.he} {~give} {m item} to each of {k} friends.
    {A.he} {~give} {A.his} {k} cousins {m item} each.
    {A.he} {~give} {m item} to each of {A.his} {k} cousins.
    """
)
GIVES_DAILY = wordings(
    """
    {A.he} {~give} away {m item} a day for {k} days.
    For {k} days, {A.he} {~give} away {m item} each day.
    For {k} days, {A.he} {~give} away {m item} a day.
    """
)
GIVES_PART = wordings(
    """
    {A.he} {~give} {part} of {A.his} {item} to {C}.
    {A.he} {~lose} {part} of {A.his} {item}.
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
HOW_MANY = wordings(
    """
    How many {item} {~do} {A} have in the end?
    Find the number of {item} that {A} {~have} in the end.
    How many {item} {~do} {A} have after that?
    In the end, how many {item} {~do} {A} have?
    """
)
PACKED = wordings(
    """
    {A.he} {~put} all of {A.his} {item} into {crate} of {k}. How many {crate} {~do} {A.he} fill?
    {A.he} {~put} {A.his} {item} into {crate}, with {k item} in each {crate.one}.
        How many {crate} {~do} {A.he} need?
    How many {crate} {~do} {A.he} need if {A.he} {~put} {k item} in each {crate.one}?
    """
)
SHARED = wordings(
    """
    {A.he} {~share} all of {A.his} {item} equally among {k} friends.
        How many {item} {~do} each friend get?
    If {A.he} {~share} the {item} equally among {k} friends, how many {item} {~do} each of them get?
    How many {item} {~do} each friend get if {A.he} {~share} all of {A.his} {item} equally among
        {k} friends?
    """
)
WANTED = wordings(
    """
    {A} {~want} to have {k item} in the end. How many more {item} {~do} {A.he} need?
    How many more {item} {~do} {A} need to have {k item}?
    {A} {~want} to have {k item}. How many more {item} {~do} {A.he} need?
    """
)
SOLD = wordings(
    """
    {A.he} {~sell} all of {A.his} {item} for {p} each. How many dollars {~do} {A.he} get for them?
    If {A.he} {~sell} all of {A.his} {item} at {p} each, how many dollars {~do} {A.he} get for them?
    How many dollars {~do} {A} get if {A.he} {~sell} all of {A.his} {item} for {p} each?
    """
)
ENDED = wordings(
    """
    {D} {~have} {k item}. How many more {item} {~do} {A} have than {D} in the end?
    In the end, how many more {item} {~do} {A} have than {D}, who {~have} {k item}?
    {D} {~have} {k item}. In the end, how many more {item} {~do} {A} have than {D}?
    """
)


def collection(story: Story) -> None:
    """Write a problem about a person's collection."""
    item, box = story.chance.pick(KEPT), story.chance.pick(HOLDERS)
    story.cast.update(A=story.person(), item=item, box=box, crate=story.chance.pick(CRATES))
    ending = story.chance.pick(ENDINGS) if story.size > 2 or story.chance.hit(0.5) else _counted
    have = _start(story)
    reserve = 0 if ending is _counted else 1
    while True:
        have = story.chance.pick(EVENTS)(story, have)
        if story.steps_left <= reserve:
            break
    ending(story, have)


def _start(story: Story) -> Quantity:
    kind = story.chance.below(6)
    if kind <= 1 or story.size < 3:
        n = round_number(story, 12, 80)
        story.open(HAS, n=n)
        return n
    if kind == 2:
        k, m = story.draw(3, 9, "boxes", words=True), story.draw(4, 15, "each")
        story.open(HAS_BOXES, k=k, m=m)
        return story.step("{A} {~have} {=} {item} in {box}.", k * m)
    if kind == 3:
        k, m, n = (
            story.draw(2, 9, "boxes", words=True),
            story.draw(4, 15, "each"),
            story.draw(2, 12),
        )
        story.open(HAS_BOXES, k=k, m=m)
        story.open(LOOSE, m=n)
        boxed = story.step("The {box} {~~hold} {=} {item}.", k * m)
        return story.step("{A} {~have} {=} {item} at the start.", boxed + n)
    other, n = story.person(), round_number(story, 10, 50)
    story.open(OTHER_HAS, B=other, n=n)
    if kind == 4:
        factor = times(story)
        story.open(TIMES, B=other, k=factor)
        return story.step("{A} {~start} with {=} {item}.", n * factor)
    more = story.chance.hit(0.5)
    k = story.draw(3, 20, "more" if more else "fewer")
    story.open(MORE if more else FEWER, B=other, k=k)
    return story.step("{A} {~start} with {=} {item}.", n + k if more else n - k)


def _then(story: Story, have: Quantity, wordings: tuple[str, ...], **values: object) -> Quantity:
    story.event(wordings, **values)
    return story.step("Then {A} {~have} {=} {item}.", have)


def _buys(story: Story, have: Quantity) -> Quantity:
    k = story.draw(3, 40, "gain")
    if story.chance.hit(0.5):
        return _then(story, have + k, BUYS, k=k)
    return _then(story, have + k, IS_GIVEN, k=k, C=story.person())


def _gives(story: Story, have: Quantity) -> Quantity:
    k = story.draw(3, 30, "loss")
    return _then(story, have - k, GIVES, k=k, C=story.person())


def _gives_part(story: Story, have: Quantity) -> Quantity:
    part = share(story, have) if story.chance.hit(0.7) else percent(story, have)
    story.event(GIVES_PART, part=part.wording, C=story.person())
    removed = story.step("That {~be} {=} {item} less.", part.taken)
    return story.step("Then {A} {~have} {=} {item}.", have - removed)


def _doubles(story: Story, have: Quantity) -> Quantity:
    return _then(story, have + have, DOUBLES, C=story.person())


def _product(
    wordings: tuple[str, ...], line: str, role: str, sign: int
) -> Callable[[Story, Quantity], Quantity]:
    """Return an event of k times m things that come or go."""

    def happen(story: Story, have: Quantity) -> Quantity:
        k, m = story.draw(2, 6, role, words=True), story.draw(2, 9, "each", words=True)
        story.event(wordings, k=k, m=m)
        moved = story.step(line, k * m)
        now = have + moved if sign > 0 else have - moved
        return story.step("Then {A} {~have} {=} {item}.", now)

    return happen


EVENTS: tuple[Callable[[Story, Quantity], Quantity], ...] = (
    _buys,
    _buys,
    _gives,
    _gives,
    _gives_part,
    _gives_part,
    _doubles,
    _product(BUYS_BOXES, "The new {box} {~~hold} {=} {item}.", "boxes", 1),
    _product(EACH_GIVES, "The friends {~~give} {A} {=} {item}.", "friends", 1),
    _product(GIVES_EACH, "{A} {~give} away {=} {item}.", "friends", -1),
    _product(GIVES_DAILY, "That {~be} {=} {item} that {A} no longer {~have}.", "days", -1),
)


def _counted(story: Story, have: Quantity) -> None:
    story.ask(HOW_MANY, have)


def _packed(story: Story, have: Quantity) -> None:
    k = story.divisor(have, 2, 12, "each", words=True)
    story.ask(PACKED, story.step("{A} {~need} {=} {crate}.", have / k), k=k)


def _shared(story: Story, have: Quantity) -> None:
    k = story.divisor(have, 2, 12, "friends", words=True)
    story.ask(SHARED, story.step("Each friend {~get} {=} {item}.", have / k), k=k)


def _needed(story: Story, have: Quantity) -> None:
    gap = story.chance.between(3, 40)
    k = story.state(have.value + gap, "goal")
    story.ask(WANTED, story.step("{A} {~need} {=} more {item}.", k - have), k=k)


def _sold(story: Story, have: Quantity) -> None:
    item: Noun = story.cast["item"]
    p = story.draw(max(item.low, 2), max(item.high, 3), "price", money=True)
    story.ask(SOLD, story.step("{A} {~get} {=}.", have * p), p=p)


def _ahead(story: Story, have: Quantity) -> None:
    k = story.draw(5, 30, "other")
    person: Person = story.person()
    answer = story.step("{A} {~have} {=} more {item} than {D}.", have - k, D=person)
    story.ask(ENDED, answer, D=person, k=k)


ENDINGS: tuple[Callable[[Story, Quantity], None], ...] = (
    _counted,
    _counted,
    _packed,
    _shared,
    _needed,
    _sold,
    _ahead,
)
