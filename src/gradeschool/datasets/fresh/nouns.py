"""Who and what problems are about: people with their pronouns, things with their plurals."""

from __future__ import annotations

from typing import NamedTuple


class Person(NamedTuple):
    """Somebody with a name."""

    name: str
    he: str
    him: str
    his: str


class Noun(NamedTuple):
    """A thing that is counted; low and high: what one costs in whole dollars."""

    one: str
    many: str
    low: int = 2
    high: int = 9

    @property
    def article(self) -> str:
        """The singular with "a" or "an"."""
        return f"{'an' if self.one[0] in 'aeiou' or self.one == 'hour' else 'a'} {self.one}"


WOMEN = ("Mia", "Anna", "Sara", "Lucy", "Emma", "Nora", "Zoe", "Amina", "Rosa", "Priya", "Julia",
         "Grace", "Hana", "Leila", "Eva", "Maya")  # fmt: skip
MEN = ("Ben", "Tom", "Omar", "Luis", "Jack", "Noah", "Ravi", "Sam", "Peter", "Ivan", "Kofi",
       "David", "Hugo", "Marco", "Adam", "Felix")  # fmt: skip
PEOPLE = tuple(Person(name, "she", "her", "her") for name in WOMEN) + tuple(
    Person(name, "he", "him", "his") for name in MEN
)


def _nouns(text: str, low: int, high: int) -> tuple[Noun, ...]:
    """Read "pencil box/boxes": a word takes an s where no plural is given."""
    pairs = (word.partition("/") for word in text.split())
    return tuple(Noun(one, many or f"{one}s", low, high) for one, _, many in pairs)


SMALL = _nouns("sticker marble card shell stamp button bead coin", 1, 1)
SCHOOL = _nouns("pencil pen notebook eraser marker folder", 2, 6)
FRUIT = _nouns("apple orange pear peach/peaches lemon plum", 1, 3)
BAKED = _nouns("cookie muffin cupcake roll pie cake", 2, 9)
CLOTHES = _nouns("shirt hat scarf/scarves jacket sweater", 9, 40)
HOME = _nouns("cup plate bowl lamp candle blanket", 4, 30)
TOYS = _nouns("doll kite puzzle balloon book ball", 3, 15)
KEPT = SMALL + SCHOOL[:4] + FRUIT + BAKED[:4] + TOYS
SOLD = SCHOOL + BAKED + CLOTHES + HOME + TOYS
MADE = BAKED + CLOTHES[:3] + HOME + TOYS[:4]
HOLDERS = _nouns("box/boxes bag pack", 1, 1)
PACKING = _nouns("box/boxes bag crate", 1, 1)
CRATES = _nouns("tray basket jar crate", 1, 1)
PLACES = ("school", "library", "park", "market", "beach", "museum", "station")
COLOR_WORDS = ("red", "blue", "green", "yellow", "white", "black")
WEEK = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
