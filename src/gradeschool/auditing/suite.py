"""The cases that a scorer is asked about: kinds, in formats, about golds."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from gradeschool.auditing.golds import BEYOND_FLOATS, COMMAS, DECIMALS, drawn, golds
from gradeschool.auditing.kinds import Case, Kind
from gradeschool.auditing.near_misses import FLOAT_PRECISION, NEAR_MISSES
from gradeschool.auditing.spellings import COMMA_GOLDS, DECIMAL_GOLDS, PLAIN, SPELLINGS
from gradeschool.auditing.styles import STYLES, Style
from gradeschool.auditing.surroundings import AROUND_RIGHT, AROUND_WRONG, UNREADABLE_GOLD

SPELLED = ("1", "5", "18", "60", "72", "1000", "2125", "65960", "2880000", "0", "-1", "-10")
AROUND = ("18", "5", "250", "2125", "-10")
# Golds that are asked about in every format, and the formats of one that is not among them.
CORE = frozenset(("1", "18", "2125", "100000", "-10", BEYOND_FLOATS, "1,000", "0.5", "?"))
FORMATS_OF_A_GOLD = 5
UNREADABLE = ("unknown", "?", "nan")
Part = tuple[tuple[Kind, ...], tuple[str, ...], bool]


def parts(seed: int) -> tuple[Part, ...]:
    """Return kinds with their golds, and whether they vary the plain completion of the gold."""
    return (
        ((PLAIN,), golds(seed), False),
        (NEAR_MISSES, golds(seed), False),
        ((FLOAT_PRECISION,), (BEYOND_FLOATS,), False),
        (SPELLINGS, (*SPELLED, *drawn(seed)), True),
        (AROUND_RIGHT, AROUND, True),
        (AROUND_WRONG, AROUND, False),
        (COMMA_GOLDS, COMMAS, False),
        (DECIMAL_GOLDS, DECIMALS, True),
        ((UNREADABLE_GOLD,), UNREADABLE, False),
    )


def every_kind() -> list[Kind]:
    """Return every kind of case."""
    return [kind for kinds, _, _ in parts(0) for kind in kinds]


def suite(seed: int) -> list[Case]:
    """Return every case, in an order that depends on nothing but the seed."""
    return [
        case
        for kinds, its_golds, varied in parts(seed)
        for kind in kinds
        for case in cases_of(kind, STYLES, its_golds, varied)
    ]


def cases_of(
    kind: Kind, styles: Iterable[Style], its_golds: Collection[str], varied: bool
) -> Iterator[Case]:
    """Yield the cases of a kind; varied: they vary the plain completion."""
    for style in styles:
        for gold in its_golds:
            base = style.write(gold) if varied else ""
            for completion in kind.texts(style, gold):
                yield Case(kind, style.shape, gold, completion, base)


def due(
    cases: Iterable[Case], read: Sequence[str], accepted: Collection[tuple[str, str]]
) -> list[Case]:
    """Return the cases that a scorer can be held to.

    read: the shapes of the formats that it reads; a right answer in another is none of its
    business, a wrong one is. accepted: the plain (completion, gold) pairs that it accepts; where
    it rejects the plain completion that a case varies, that is the fault to be told, once. Where
    many formats are read, a gold that is not in CORE is asked about in some of them.
    """
    step = max(1, len(read) // FORMATS_OF_A_GOLD)
    place: dict[str, int] = {}
    chosen = []
    for case in cases:
        at = place.setdefault(case.gold, len(place))
        if case.shape in read:
            fits = (at + read.index(case.shape)) % step == 0
            sound = not case.kind.right or not case.base or (case.base, case.gold) in accepted
        else:
            fits, sound = False, not case.kind.right
        if sound and (fits or case.gold in CORE):
            chosen.append(case)
    return chosen
