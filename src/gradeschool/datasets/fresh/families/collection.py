"""Somebody has things; they become more and fewer; what is left is counted, packed or shared."""

from __future__ import annotations

from collections.abc import Callable

from gradeschool.datasets.fresh.families import collection_words as say
from gradeschool.datasets.fresh.nouns import CRATES, HOLDERS, KEPT, Noun, Person
from gradeschool.datasets.fresh.quantity import Quantity
from gradeschool.datasets.fresh.relations import percent, round_number, share, times
from gradeschool.datasets.fresh.story import Story


def collection(story: Story) -> None:
    """Tell of somebody's collection."""
    item, box = story.chance.pick(KEPT), story.chance.pick(HOLDERS)
    story.cast.update(A=story.person(), item=item, box=box, crate=story.chance.pick(CRATES))
    ending = story.chance.pick(ENDINGS) if story.size > 2 or story.chance.hit(0.5) else _counted
    have = _start(story)
    reserve = 0 if ending is _counted else 1
    while True:
        have = story.chance.pick(EVENTS)(story, have)
        if story.left <= reserve:
            break
    ending(story, have)


def _start(story: Story) -> Quantity:
    kind = story.chance.below(6)
    if kind <= 1 or story.size < 3:
        n = round_number(story, 12, 80)
        story.open(say.HAS, n=n)
        return n
    if kind == 2:
        k, m = story.given(3, 9, "boxes", words=True), story.given(4, 15, "each")
        story.open(say.HAS_BOXES, k=k, m=m)
        return story.step("{A} {~have} {=} {item} in {box}.", k * m)
    if kind == 3:
        k, m, n = (
            story.given(2, 9, "boxes", words=True),
            story.given(4, 15, "each"),
            story.given(2, 12),
        )
        story.open(say.HAS_BOXES, k=k, m=m)
        story.open(say.LOOSE, m=n)
        held = story.step("The {box} {~~hold} {=} {item}.", k * m)
        return story.step("{A} {~have} {=} {item} at the start.", held + n)
    other, n = story.person(), round_number(story, 10, 50)
    story.open(say.OTHER_HAS, B=other, n=n)
    if kind == 4:
        factor = times(story)
        story.open(say.TIMES, B=other, k=factor)
        return story.step("{A} {~start} with {=} {item}.", n * factor)
    more = story.chance.hit(0.5)
    k = story.given(3, 20, "more" if more else "fewer")
    story.open(say.MORE if more else say.FEWER, B=other, k=k)
    return story.step("{A} {~start} with {=} {item}.", n + k if more else n - k)


def _then(story: Story, have: Quantity, wordings: tuple[str, ...], **values: object) -> Quantity:
    story.event(wordings, **values)
    return story.step("Then {A} {~have} {=} {item}.", have)


def _buys(story: Story, have: Quantity) -> Quantity:
    k = story.given(3, 40, "gain")
    if story.chance.hit(0.5):
        return _then(story, have + k, say.BUYS, k=k)
    return _then(story, have + k, say.IS_GIVEN, k=k, C=story.person())


def _gives(story: Story, have: Quantity) -> Quantity:
    k = story.given(3, 30, "loss")
    return _then(story, have - k, say.GIVES, k=k, C=story.person())


def _gives_part(story: Story, have: Quantity) -> Quantity:
    part = share(story, have) if story.chance.hit(0.7) else percent(story, have)
    story.event(say.GIVES_PART, part=part.said, C=story.person())
    gone = story.step("That {~be} {=} {item} less.", part.taken)
    return story.step("Then {A} {~have} {=} {item}.", have - gone)


def _doubles(story: Story, have: Quantity) -> Quantity:
    return _then(story, have + have, say.DOUBLES, C=story.person())


def _product(
    wordings: tuple[str, ...], line: str, role: str, sign: int
) -> Callable[[Story, Quantity], Quantity]:
    """Return an event of k times m things that come or go."""

    def happen(story: Story, have: Quantity) -> Quantity:
        k, m = story.given(2, 6, role, words=True), story.given(2, 9, "each", words=True)
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
    _product(say.BUYS_BOXES, "The new {box} {~~hold} {=} {item}.", "boxes", 1),
    _product(say.EACH_GIVES, "The friends {~~give} {A} {=} {item}.", "friends", 1),
    _product(say.GIVES_EACH, "{A} {~give} away {=} {item}.", "friends", -1),
    _product(say.GIVES_DAILY, "That {~be} {=} {item} that {A} no longer {~have}.", "days", -1),
)


def _counted(story: Story, have: Quantity) -> None:
    story.ask(say.HOW_MANY, have)


def _packed(story: Story, have: Quantity) -> None:
    k = story.divisor(have, 2, 12, "each", words=True)
    story.ask(say.PACKED, story.step("{A} {~need} {=} {crate}.", have / k), k=k)


def _shared(story: Story, have: Quantity) -> None:
    k = story.divisor(have, 2, 12, "friends", words=True)
    story.ask(say.SHARED, story.step("Each friend {~get} {=} {item}.", have / k), k=k)


def _wanted(story: Story, have: Quantity) -> None:
    gap = story.chance.between(3, 40)
    k = story.known(have.value + gap, "goal")
    story.ask(say.WANTED, story.step("{A} {~need} {=} more {item}.", k - have), k=k)


def _sold(story: Story, have: Quantity) -> None:
    item: Noun = story.cast["item"]
    p = story.given(max(item.low, 2), max(item.high, 3), "price", money=True)
    story.ask(say.SOLD, story.step("{A} {~get} {=}.", have * p), p=p)


def _ahead(story: Story, have: Quantity) -> None:
    k = story.given(5, 30, "other")
    person: Person = story.person()
    answer = story.step("{A} {~have} {=} more {item} than {D}.", have - k, D=person)
    story.ask(say.ENDED, answer, D=person, k=k)


ENDINGS: tuple[Callable[[Story, Quantity], None], ...] = (
    _counted,
    _counted,
    _packed,
    _shared,
    _wanted,
    _sold,
    _ahead,
)
