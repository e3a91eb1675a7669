"""Sentences from templates: agreement, pronouns, tense, numbers as words; people and things.

A template is a sentence with fields in braces:

    {A}         a person's name           {A.he} {A.him} {A.his}  the pronoun where it is clear who
    {n}         a number, "$" before money, a word where the number was drawn as a word
    {n item}    a number and what it counts, in agreement: "1 apple", "three apples"
    {item}      the plural                {item.one} {item.a}     the singular, with "a" or "an"
    {~give}     a verb of a singular subject in the tense of the story: "gives", "gave"
    {~~give}    the same of a plural subject: "give", "gave"
    {~act}      the same of the verb that is the value of "act"

`wordings` parses several, one per line. The last of three or more is held out: only the split
`test-templates` uses it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from textwrap import dedent
from typing import Any, NamedTuple

from gradeschool.datasets.fresh.chance import Chance
from gradeschool.datasets.fresh.quantity import Quantity


class Person(NamedTuple):
    """A person with a name."""

    name: str
    he: str
    him: str
    his: str


class Noun(NamedTuple):
    """A thing that is counted; low and high: its price in whole dollars."""

    singular: str
    plural: str
    low: int = 2
    high: int = 9

    @property
    def article(self) -> str:
        """The singular with "a" or "an"."""
        vowel = self.singular[0] in "aeiou" or self.singular == "hour"
        return f"{'an' if vowel else 'a'} {self.singular}"


WOMEN = ("Mia", "Anna", "Sara", "Lucy", "Emma", "Nora", "Zoe", "Amina", "Rosa", "Priya", "Julia",
         "Grace", "Hana", "Leila", "Eva", "Maya")  # fmt: skip
MEN = ("Ben", "Tom", "Omar", "Luis", "Jack", "Noah", "Ravi", "Sam", "Peter", "Ivan", "Kofi",
       "David", "Hugo", "Marco", "Adam", "Felix")  # fmt: skip
PEOPLE = tuple(Person(name, "she", "her", "her") for name in WOMEN) + tuple(
    Person(name, "he", "him", "his") for name in MEN
)


def _nouns(text: str, low: int, high: int) -> tuple[Noun, ...]:
    """Parse "pencil box/boxes"; without a plural, an s is added."""
    pairs = (word.partition("/") for word in text.split())
    return tuple(Noun(word, plural or f"{word}s", low, high) for word, _, plural in pairs)


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


START = re.compile(r"(^|[.?] )([a-z]|[0-9]+ )")
Wordings = tuple[str, ...]
FIELD = re.compile(r"\{([^{}]+)\}")
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
         "eleven", "twelve")  # fmt: skip
# Plural present, singular present, past; "be" has forms of its own.
FORMS = """
    bring brings brought, buy buys bought, collect collects collected, come comes came,
    cost costs cost, count counts counted, cycle cycles cycled, do does did, drive drives drove,
    earn earns earned, eat eats ate, fill fills filled, find finds found, get gets got,
    give gives gave, go goes went, have has had, hold holds held, keep keeps kept,
    last lasts lasted, learn learns learned, leave leaves left, live lives lived,
    lose loses lost, make makes made, need needs needed, own owns owned, pack packs packed,
    pay pays paid, pick picks picked, plant plants planted, play plays played, put puts put,
    read reads read, ride rides rode, run runs ran, save saves saved, sell sells sold,
    share shares shared, spend spends spent, start starts started, take takes took,
    use uses used, walk walks walked, want wants wanted, work works worked, write writes wrote
"""
VERBS = {forms.split()[0]: forms.split() for forms in FORMS.split(",")}


def wordings(text: str) -> Wordings:
    """Parse templates with the same meaning, one per line; an indented line continues one."""
    return tuple(re.sub(r"\n +", " ", dedent(text).strip()).split("\n"))


@lru_cache(4096)
def parts(template: str) -> tuple[tuple[str, str, str], ...]:
    """Split a template into (text, key, form): text precedes the field."""
    pieces = FIELD.split(template)
    fields = []
    for place in range(1, len(pieces), 2):
        key, _, form = pieces[place].partition("." if "." in pieces[place] else " ")
        fields.append((pieces[place - 1], key, form))
    return (*fields, (pieces[-1], "", ""))


def verb(field: str, values: Mapping[str, Any], past: bool) -> str:
    """Return the form of "~give" (singular) or "~~give" (plural)."""
    plural, word = field.startswith("~~"), field.lstrip("~")
    word = values.get(word, word)
    if word == "be":
        return ("were" if past else "are") if plural else ("was" if past else "is")
    base, present, before = VERBS[word]
    return before if past else base if plural else present


class Speaker:
    """Writes the sentences of a text in order and tracks the person mentioned last."""

    __slots__ = ("_before", "_chance", "_now", "_past")

    def __init__(self, chance: Chance, past: bool) -> None:
        self._chance, self._past = chance, past
        self._before: list[Person] = []
        self._now: list[Person] = []

    def say(self, template: str, values: Mapping[str, Any], words: bool = True) -> str:
        """Return a sentence; pronouns refer to the person named in it or in the one before."""
        self._before, self._now = self._now, []
        spoken = []
        for text, key, form in parts(template):
            spoken.append(text)
            if key.startswith("~"):
                spoken.append(verb(key, values, self._past))
            elif key:
                spoken.append(self._field(values[key], form, values, words))
        return START.sub(_capital, "".join(spoken))

    def _field(self, value: Any, form: str, values: Mapping[str, Any], words: bool) -> str:
        if isinstance(value, Person):
            return self._person(value, form)
        if isinstance(value, Noun):
            if form == "a":
                return value.article
            return value.singular if form == "one" else value.plural
        if isinstance(value, Quantity):
            return _counted(value, values[form] if form else None, words)
        return str(value)

    def _person(self, person: Person, form: str) -> str:
        new = person not in self._now
        people = {*self._before, *self._now} if new else set(self._now)
        clear = person in people and not any(
            other.he == person.he and other != person for other in people
        )
        if new:
            self._now.append(person)
            clear = clear and self._chance.hit(0.75)
        if not form or not clear:
            return f"{person.name}'s" if form == "his" else person.name
        return str(getattr(person, form))


def _capital(match: re.Match[str]) -> str:
    """Begin a sentence: with a capital letter, a small number in words."""
    first = match[2].rstrip()
    if first.isdigit() and int(first) < len(WORDS):
        return f"{match[1]}{WORDS[int(first)].capitalize()} "
    return f"{match[1]}{match[2].upper()}"


def _counted(quantity: Quantity, noun: Noun | None, words: bool) -> str:
    digits = f"${quantity.shown}" if quantity.money else quantity.shown
    written = quantity.spoken if words and quantity.spoken else digits
    if noun is None:
        return written
    return f"{written} {noun.singular if quantity.value == 1 else noun.plural}"
