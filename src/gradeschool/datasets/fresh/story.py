"""Stories: the sentences of a question and the steps of its solution, built side by side.

A family of problems is a function of a `Story`, which names the sentences of sentences.txt: `tell`
and `ask` draw a sentence's numbers, write it and compute. A value that makes no sense (negative,
a fraction of a person, too large) raises Unfit, and the problem is drawn again.

In sentences.txt, under "[family]" stands a name with the sentence's place (see `Story.say`), and
indented: after ":" what is drawn (see `Story.draws`), the wordings with the same meaning, after "="
the steps of the solution (see `Story.compute`). The last of three or more wordings is held out:
only the split `test-templates` uses it. A wording is a template with fields in braces:

    {A}         a person's name           {A.he} {A.him} {A.his}  the pronoun where it is clear who
    {n}         a number, "$" before money, a word where the number was drawn as a word
    {n item}    a number and what it counts, in agreement: "1 apple", "three apples"
    {item}      the plural                {item.one} {item.a}     the singular, with "a" or "an"
    {~give}     a verb of a singular subject in the tense of the story: "gives", "gave"
    {~~give}    the same of a plural subject: "give", "gave"
    {~act}      the same of the verb that is the value of "act"
"""

from __future__ import annotations

import hashlib
import operator
import random
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, lru_cache, partialmethod
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

T = TypeVar("T")


class Chance:
    """A stream of choices that depends only on its key: the same on every machine and Python.

    Python promises the sequence of `random.Random.random()` for a seed, but not that of its other
    methods, so all choices are made with `random()`. The seed is the SHA-256 of the key, so that
    similar keys give unrelated streams.
    """

    __slots__ = ("_random",)

    def __init__(self, *key: str | int) -> None:
        digest = hashlib.sha256("/".join(map(str, key)).encode()).digest()
        self._random = random.Random(int.from_bytes(digest, "big")).random  # noqa: S311

    def below(self, bound: int) -> int:
        """Return a whole number from 0 to bound - 1."""
        return int(self._random() * bound)

    def between(self, low: int, high: int) -> int:
        """Return a whole number from low to high, both included."""
        return low + self.below(high - low + 1)

    def pick(self, options: Sequence[T]) -> T:
        """Return one of the options, all equally likely."""
        return options[self.below(len(options))]

    def hit(self, probability: float) -> bool:
        """Return whether an event of that probability happens."""
        return self._random() < probability

    def sample(self, options: Sequence[T], count: int) -> list[T]:
        """Return `count` different options in random order (Fisher and Yates)."""
        pool = list(options)
        for index in range(count):
            other = index + self.below(len(pool) - index)
            pool[index], pool[other] = pool[other], pool[index]
        return pool[:count]

    def shuffled(self, options: Sequence[T]) -> list[T]:
        """Return the options in random order."""
        return self.sample(options, len(options))


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv
}  # fmt: skip
SUM, PRODUCT, ATOM = 1, 2, 3  # how tightly the operators of a written expression bind
# A leaf is (role,); an inner node is (operator, left, right).
Tree = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number of a problem. Arithmetic builds an expression; `Story.step` turns it into a result.

    money: in dollars; cents are allowed, and "$" is written before it.
    spoken: how the question writes it if not in digits ("three", "a dozen").
    """

    value: Fraction
    written: str
    tree: Tree
    money: bool = False
    rank: int = ATOM
    spoken: str = ""

    def join(self, sign: str, other: Quantity) -> Quantity:
        """Return the expression of two quantities."""
        value = OPERATORS[sign](self.value, other.value)
        rank = SUM if sign in "+-" else PRODUCT
        first = self.written if self.rank >= rank else f"({self.written})"
        closed = other.rank > rank or (other.rank == rank and sign in "+*")
        second = other.written if closed else f"({other.written})"
        money = self.money and not other.money if sign == "/" else self.money or other.money
        tree = (sign, self.tree, other.tree)
        return Quantity(value, f"{first}{sign}{second}", tree, money, rank)

    __add__, __sub__ = partialmethod(join, "+"), partialmethod(join, "-")
    __mul__, __truediv__ = partialmethod(join, "*"), partialmethod(join, "/")

    @property
    def shown(self) -> str:
        """The number in running text: 1250, or 2.50 for money."""
        whole = not self.money or self.value.denominator == 1
        return number(self.value) if whole else f"{float(self.value):.2f}"


def leaf(value: int | Fraction, role: str, money: bool = False, spoken: str = "") -> Quantity:
    """Return a number that is not computed: one from the question, or a constant such as 60."""
    exact = Fraction(value)
    return Quantity(exact, number(exact), (role,), money, spoken=spoken)


def constant(value: int) -> Quantity:
    """Return a number of common knowledge: 60 minutes, 100 percent."""
    return leaf(value, str(value))


def number(value: Fraction) -> str:
    """Write a number that has at most two decimals: 12, 7.5, 0.25."""
    if value.denominator == 1:
        return str(value.numerator)
    whole, cents = divmod(int(abs(value) * 100), 100)
    return f"{'-' if value < 0 else ''}{whole}.{cents:02d}".rstrip("0")


def nodes(tree: Tree) -> Iterator[int]:
    """Yield the identity of every inner node of a graph."""
    if len(tree) == 3:
        yield id(tree)
        yield from nodes(tree[1])
        yield from nodes(tree[2])


def signature(tree: Tree) -> str:
    """Return the structure of a graph: operators and the roles of its leaves, no numbers."""
    if len(tree) == 1:
        return str(tree[0])
    return f"({signature(tree[1])}{tree[0]}{signature(tree[2])})"


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


_WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text("ascii"))
TABLES: dict[str, Any] = _WORDS["tables"]
PEOPLE = tuple(
    Person(name, *pronouns)
    for kind, pronouns in (("women", ("she", "her", "her")), ("men", ("he", "him", "his")))
    for name in _WORDS[kind].split()
)
PLACES, COLOR_WORDS, WEEK, WORDS = (
    tuple(_WORDS[name].split()) for name in ("places", "colors", "week", "numbers")
)
VERBS = {base: (base, present, past, past)
         for base, present, past in map(str.split, _WORDS["verbs"].split(","))}  # fmt: skip
VERBS["be"] = "are", "is", "were", "was"


def noun(word: str, low: int = 2, high: int = 9) -> Noun:
    """Return "box/boxes" as a thing; without a plural, an s is added."""
    singular, _, plural = word.partition("/")
    return Noun(singular, plural or f"{singular}s", low, high)


THINGS = {
    name: tuple(noun(word, low, high) for word in words.split())
    for name, (words, low, high) in _WORDS["things"].items()
}
SMALL, SCHOOL, FRUIT, BAKED, CLOTHES, HOME, TOYS = (
    THINGS[name] for name in ("small", "school", "fruit", "baked", "clothes", "home", "toys")
)
KEPT = SMALL + SCHOOL[:4] + FRUIT + BAKED[:4] + TOYS
SOLD = SCHOOL + BAKED + CLOTHES + HOME + TOYS
MADE = BAKED + CLOTHES[:3] + HOME + TOYS[:4]

DRAW = re.compile(
    r"(?P<money>\$?)(?P<more>(?:now\+)?)(?P<low>\d+)-(?P<high>\d+)(?:/(?P<by>[\d,]+))?"
    r"(?:<(?P<most>\d+))?(?P<words>w?)(?P<divides>\|?) (?P<role>.+)"
)
FORMULA = re.compile(r"\{=([^}]+)\}")
START = re.compile(r"(^|[.?] )([a-z]|[0-9]+ )")
Wordings = tuple[str, ...]
FIELD = re.compile(r"\{([^{}]+)\}")


class Sentence(NamedTuple):
    """A sentence of a question: its wordings, its place, what it draws, and its steps."""

    wordings: Wordings
    at: str = "event"
    draws: str = ""
    steps: Wordings = ()


@cache
def sentences() -> dict[str, dict[str, Sentence]]:
    """Return the sentences of sentences.txt by family and name."""
    families: dict[str, dict[str, Sentence]] = {}
    text = (Path(__file__).parent / "sentences.txt").read_text("ascii")
    for section in re.split(r"^\[", text, flags=re.M)[1:]:
        family, _, rest = section.partition("]\n")
        families[family] = {}
        for head, block in re.findall(r"^(\S.*)\n((?: .*\n)+)", rest, flags=re.M):
            name, _, at = head.partition(" @")
            lines = [line.strip() for line in block.splitlines()]
            marked = {mark: [line[2:] for line in lines if line[0] == mark] for mark in ":="}
            wordings = tuple(line for line in lines if line[0] not in ":=")
            draws, steps = "".join(marked[":"]), tuple(marked["="])
            families[family][name] = Sentence(wordings, at or "event", draws, steps)
    return families


@lru_cache(4096)
def parts(template: str) -> tuple[tuple[str, str, str], ...]:
    """Split a template into (text, key, form): text precedes the field."""
    *pieces, last = FIELD.split(template)
    pairs = zip(pieces[::2], pieces[1::2], strict=True)
    fields = ((text, field.partition("." if "." in field else " ")) for text, field in pairs)
    return (*((text, key, form) for text, (key, _, form) in fields), (last, "", ""))


class Speaker:
    """Writes the sentences of a text in order and tracks the person mentioned last."""

    __slots__ = ("_before", "_chance", "_now")

    def __init__(self, chance: Chance) -> None:
        self._chance = chance
        self._before: list[Person] = []
        self._now: list[Person] = []

    def say(self, template: str, values: Mapping[str, Any], past: bool, words: bool = True) -> str:
        """Return a sentence; pronouns refer to the person named in it or in the one before."""
        self._before, self._now = self._now, []
        spoken = []
        for text, key, form in parts(template):
            spoken.append(text)
            if key.startswith("~"):  # "~give" of a singular subject, "~~give" of a plural one
                word = key.lstrip("~")
                is_singular = word == key[1:]
                spoken.append(VERBS[values.get(word, word)][2 * past + is_singular])
            elif key:
                spoken.append(self._write(values[key], form, values, words))
        return START.sub(_capital, "".join(spoken))

    def _write(self, value: Any, form: str, values: Mapping[str, Any], words: bool) -> str:
        if isinstance(value, Person):
            new = value not in self._now
            people = {*self._before, *self._now} if new else set(self._now)
            clear = value in people and [each.he for each in people].count(value.he) == 1
            if new:
                self._now.append(value)
                clear = clear and self._chance.hit(0.75)
            if form and clear:
                return str(getattr(value, form))
            return f"{value.name}'s" if form == "his" else value.name
        if isinstance(value, Noun):
            if form == "a":
                vowel = value.singular[0] in "aeiou" or value.singular == "hour"
                return f"{'an' if vowel else 'a'} {value.singular}"
            return value.singular if form == "one" else value.plural
        if not isinstance(value, Quantity):
            return str(value)
        digits = f"${value.shown}" if value.money else value.shown
        written = value.spoken if words and value.spoken else digits
        if form:
            noun = values[form]
            written += f" {noun.singular if value.value == 1 else noun.plural}"
        return written


def _capital(match: re.Match[str]) -> str:
    """Begin a sentence: with a capital letter, a small number in words."""
    first = match[2].rstrip()
    if first.isdigit() and int(first) < len(WORDS):
        return f"{match[1]}{WORDS[int(first)].capitalize()} "
    return f"{match[1]}{match[2].upper()}"


LARGEST = 5_000
REPEATED = 30  # characters that no two sentences may both end in
WIDE = 4  # how many times larger the numbers of the split test-numbers are
PROPER = frozenset((*(person.name for person in PEOPLE), *WEEK))
CONNECTORS = ("Then", "Later,", "After that,", "Next,")


class Unfit(Exception):
    """The drawn numbers do not make a sensible problem."""


class Story:
    """One problem under construction.

    sentences: those of its family by name. steps: how many it should have, from and to. wide: with
    wider numbers. held_out: with the wordings that are held out. cast: values that every template
    may use. size: the number of steps that the family should aim at. past: whether it is told in
    the past tense. connected: whether "then" and the like may begin an event.
    """

    def __init__(
        self, chance: Chance, sentences: Mapping[str, Sentence], steps: tuple[int, int] = (2, 8),
        wide: bool = False, held_out: bool = False,
    ) -> None:  # fmt: skip
        self.chance, self.sentences, self.wide, self.held_out = chance, sentences, wide, held_out
        self.size = chance.between(*steps)
        self.past = chance.hit(0.5)
        self.connected = True
        self.cast: dict[str, Any] = {}
        # The lines of the solution, each with the graph that it computes, None for nothing.
        self.steps: list[tuple[str, Tree | None]] = []
        self.numbers: list[Fraction] = []
        self.widened = self.reworded = False
        self.distractors = 0
        self.answer = leaf(0, "")
        self._solver = Speaker(chance)
        self._people = chance.sample(PEOPLE, 12)
        # By place: templates, the values of their fields, whether they are never joined by "and".
        self._told: dict[str, list[tuple[str, dict[str, Any], bool]]] = {
            place: [] for place in ("open", "fact", "event", "late", "close", "question")
        }

    @property
    def steps_left(self) -> int:
        """The number of steps still needed to reach the size."""
        return self.size - len(self.steps)

    def require(self, fits: object) -> None:
        """Raise Unfit unless the numbers drawn so far make sense."""
        if not fits:
            raise Unfit

    def person(self) -> Person:
        """Return a person who is not in the story yet."""
        self.require(self._people)
        return self._people.pop()

    # Numbers

    def draw(self, what: str, now: Quantity | None = None) -> Quantity:
        """Draw a number of the question: "LOW-HIGH ROLE", with marks as in "$2-30/1,5<60w price".

        "$": money. "/1,5": a multiple of one of these. "<60": the upper bound in test-numbers, else
        WIDE times HIGH. "w": it may be written as a word. "|": it divides `now` into whole parts,
        at least two. "now+" before LOW: it is added to `now`.
        """
        form = cast("re.Match[str]", DRAW.fullmatch(what))
        low, high, chance = int(form["low"]), int(form["high"]), self.chance
        value: int | Fraction
        if form["divides"] and now is not None:
            most = min(high * WIDE if self.wide else high, int(now.value) // 2)
            fits = [n for n in range(low, most + 1) if now.value % n == 0]
            self.require(fits)
            value = chance.pick(fits)
            self.widened |= value > high
        elif form["more"] and now is not None:
            value = now.value + chance.between(low, high)
        else:
            multiples = [int(by) for by in (form["by"] or "1").split(",")]
            by = chance.pick(multiples) if len(multiples) > 1 else multiples[0]
            value = chance.between(-(-low // by), high // by) * by
            top = (int(form["most"] or 0) or WIDE * high) // by
            if self.wide and top * by > high and chance.hit(0.6):
                value = chance.between(high // by + 1, top) * by
                self.widened = True
        return self.state(value, form["role"], words=bool(form["words"]), money=bool(form["money"]))

    def draws(self, draws: str, *, now: Quantity | None = None, **values: Any) -> dict[str, Any]:
        """Draw the numbers of "k=2-9w boxes; p=$4-20/5 price", each as in `draw`.

        In place of a number, "person" is a new person, and "times 2-3", "share", "percent 10-50"
        and "some" are relations; of the last three, NAME is the wording, and "taken" the
        computation. "{low}" is the value of that name.
        """
        drawn: dict[str, Any] = {}
        for each in filter(None, draws.format(**values).split("; ")):
            name, what = each.split("=")
            kind, *bounds = re.split("[ -]", what)
            if kind == "person":
                drawn[name] = self.person()
            elif kind == "times":
                drawn[name] = times(self, *map(int, bounds))
            elif kind in PARTS and now is not None:
                drawn[name], drawn["taken"] = PARTS[kind](self, now, *map(int, bounds))
            else:
                drawn[name] = self.draw(what, now)
        return drawn

    def state(self, value: int | Fraction, role: str, *, words: bool = False, money: bool = False,
              spoken: str = "") -> Quantity:  # fmt: skip
        """Return a number of the question whose value the family chose."""
        if words and not spoken and value <= 12 and self.chance.hit(0.35):
            spoken = WORDS[int(value)]
        self.numbers.append(Fraction(value))
        return leaf(value, role, money, spoken)

    # Sentences

    def say(
        self, name: str | Wordings, *, at: str = "", alone: bool = False, **values: Any
    ) -> None:
        """Add a sentence: the last of three or more wordings if they are held out, else another.

        at: in place of the sentence's own place: "open" before all others, "fact" anywhere among
        the facts, "event" after the events before, "late" usually behind the events, "close" right
        before the question.
        """
        sentence = self.sentences[name] if isinstance(name, str) else Sentence(name)
        wordings = sentence.wordings
        if len(wordings) < 3:
            wording = self.chance.pick(wordings)
        elif self.held_out:
            wording, self.reworded = wordings[-1], True
        else:
            wording = self.chance.pick(wordings[:-1])
        self._told[at or sentence.at].append((wording, values, alone))

    def tell(self, name: str, **values: Any) -> Quantity:
        """Draw a sentence's numbers, add it and its steps; return the last result.

        Without wordings, says nothing. Without steps, returns the number drawn last, else `now`.
        """
        sentence = self.sentences[name]
        drawn = self.draws(sentence.draws, **values)
        values |= drawn
        if sentence.wordings:
            self.say(name, **values)
        if sentence.steps:
            return self.compute(*sentence.steps, **values)
        result: Quantity = [values.get("now"), *drawn.values()][-1]
        return result

    def ask(self, name: str, now: Quantity, **values: Any) -> None:
        """Draw a question's numbers, add the last steps, and ask for their result, else `now`."""
        sentence = self.sentences[name]
        values |= self.draws(sentence.draws, now=now, **values)
        self.answer = now
        if sentence.steps:
            self.answer = self.compute(*sentence.steps, now=now, **values)
        self.say(name, at="question", **values)

    # Steps

    def step(self, template: str, expression: Quantity, **values: Any) -> Quantity:
        """Add a line to the solution; "{=}" in it becomes the annotated computation."""
        value = expression.value
        result = replace(expression, written=number(value), rank=ATOM)
        largest = LARGEST * (WIDE * 2 if self.wide else 1)
        units = 100 if expression.money else 1
        # Lines use the plural: "1 pencils" would be wrong.
        self.require(1 < value <= largest and (value * units).denominator == 1)
        dollar, written = "$" if expression.money else "", expression.written
        computation = f"{written}={dollar}<<{written}={result.written}>>{result.shown}"
        self.note(template.replace("{=}", computation), result.tree, **values)
        return result

    def compute(self, *lines: str, **values: Any) -> Quantity:
        """Add steps, and return the last result.

        "{=now-k}" in a line is computed from left to right; "it" is the result before.
        """
        for line in lines:
            before, formula, after = FORMULA.split(line)
            terms: list[Any] = [
                constant(int(each)) if each.isdigit() else values.get(each, each)
                for each in re.split(r"([-+*/])", formula)
            ]
            result: Quantity = terms[0]
            for sign, term in zip(terms[1::2], terms[2::2], strict=True):
                result = result.join(sign, term)
            values["it"] = self.step(f"{before}{{=}}{after}", result, **values)
        return cast(Quantity, values["it"])

    def note(self, template: str, tree: Tree | None = None, **values: Any) -> None:
        """Add a line; tree: what it computes, None for nothing."""
        line = self._solver.say(template, {**self.cast, **values}, self.past, words=False)
        self.steps.append((line, tree))

    def prune(self) -> None:
        """Drop the steps that the answer does not need; their facts become distractions."""
        needed = set(nodes(self.answer.tree))
        kept = [step for step in self.steps if step[1] is None or id(step[1]) in needed]
        self.distractors += len(self.steps) - len(kept)
        self.steps = kept

    # The texts

    def question(self) -> str:
        """Return the whole question."""
        told, chance = self._told, self.chance
        facts, late = chance.shuffled(told["fact"]), chance.shuffled(told["late"])
        is_early = chance.hit(0.25)
        events: list[tuple[str, dict[str, Any], bool]] = []
        for template, values, alone in told["event"]:  # some begin with "Then" or the like
            can = self.connected and bool(events) and template.startswith("{")
            if can and chance.hit(0.4):
                template = f"{chance.pick(CONNECTORS)} {template}"
            events.append((template, values, alone))
        middle = [*late, *events] if is_early else [*events, *late]
        speaker = Speaker(chance)
        groups = [
            [speaker.say(template, {**self.cast, **values}, self.past)
             for template, values, _ in lines]
            for lines in (told["open"], facts, [*middle, *told["close"], *told["question"]])
        ]  # fmt: skip
        endings = [sentence[-REPEATED:] for group in groups for sentence in group]
        self.require(len(set(endings)) == len(endings))  # else two say the same thing
        joined: list[str] = []  # some short facts, with the next sentence by "and"
        free = False  # whether the previous sentence may be joined with another
        for (*_, alone), sentence in zip(facts, groups[1], strict=True):
            first = sentence.split()[0]
            fits = not alone and len(sentence) < 60
            fits = fits and not any(mark in sentence[:-1] for mark in ",.?")
            if free and fits and joined[-1].split()[0] != first and chance.hit(0.3):
                proper = first.removesuffix("'s") in PROPER
                first = sentence[0] if proper else sentence[0].lower()
                joined[-1] = f"{joined[-1][:-1]}, and {first}{sentence[1:]}"
                free = False
            else:
                joined.append(sentence)
                free = fits
        return " ".join([*groups[0], *joined, *groups[2]])

    def solution(self) -> str:
        """Return the steps and "#### N"."""
        self.require(self.answer.value.denominator == 1)
        return "\n".join([*(text for text, _ in self.steps), f"#### {self.answer.written}"])

    def structure(self, family: str) -> str:
        """Return the signature: the family, the graph that leads to the answer, and the check."""
        trees, last = [self.answer.tree], self.steps[-1][1] if self.steps else None
        if last is not None and last not in trees:
            trees.append(last)  # the answer is a guess; the check is the structure
        return f"{family}:{'|'.join(map(signature, trees))}"


SPOKEN = {(top, bottom): words for top, bottom, words in _WORDS["fractions"]}
DOZENS = {12: "a dozen", 24: "two dozen", 36: "three dozen"}
PERCENTS = (10, 20, 25, 30, 40, 50, 60, 75, 80)
WIDE_PERCENTS = (5, 15, 35, 45, 55, 65, 70, 85, 90)


Part = tuple[str, Quantity]  # of a quantity: its wording in the question, and its computation


def times(story: Story, low: int = 2, high: int = 5) -> Quantity:
    """Draw a factor that is written as "twice", "three times" or "4 times"."""
    value = story.chance.between(low, high)
    if story.wide and story.chance.hit(0.6):
        value = story.chance.between(high + 1, 2 * high)
        story.widened = True
    if value == 2:
        spoken = story.chance.pick(("twice", "twice", "two times"))
    else:
        written = WORDS[value] if story.chance.hit(0.5) else str(value)
        spoken = f"{written} times"
    return story.state(value, "times", spoken=spoken)


def share(story: Story, of: Quantity) -> Part:
    """Draw a fraction of a quantity that leaves whole things: half, a third, three quarters."""
    fits = [line for line in SPOKEN if of.value.denominator == 1 and of.value % line[1] == 0]
    story.require(fits)
    top, bottom = story.chance.pick(fits)
    wording = SPOKEN[top, bottom]
    if (top, bottom) != (1, 2) and story.chance.hit(0.3):
        wording = f"{top}/{bottom}"
    under = story.state(bottom, "parts")
    return wording, (of if top == 1 else of * story.state(top, "parts")) / under


def percent(story: Story, of: Quantity, low: int = 10, high: int = 80) -> Part:
    """Draw a percentage of a quantity that leaves whole things."""
    wide = story.wide and story.chance.hit(0.6)
    fits = [
        line
        for line in (WIDE_PERCENTS if wide else PERCENTS)
        if low <= line <= high and of.value * line % 100 == 0
    ]
    story.require(of.value.denominator == 1 and fits)
    story.widened |= wide
    rate = story.state(story.chance.pick(fits), "percent")
    return f"{rate.written}%", of * rate / constant(100)


def some(story: Story, of: Quantity) -> Part:
    """Draw a fraction or a percentage."""
    return share(story, of) if story.chance.hit(0.6) else percent(story, of)


PARTS: dict[str, Callable[..., Part]] = {
    "share": share, "percent": percent, "some": some
}  # fmt: skip


def round_number(story: Story, low: int, high: int) -> Quantity:
    """Draw a number that can often be divided."""
    n = story.draw(f"{low}-{high}/1,2,5,6,10,12 n")
    if n.value in DOZENS and story.chance.hit(0.4):
        return replace(n, spoken=DOZENS[int(n.value)])
    return n


def listed(names: Sequence[str]) -> str:
    """Return "a", "a and b", "a, b and c"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def aside(story: Story) -> None:
    """Add a fact about the person {A} that has nothing to do with the question."""
    low, high, wording = story.chance.pick(_WORDS["asides"])
    n = story.state(story.chance.between(low, high), "aside")
    story.distractors += 1
    story.say((wording,), at="fact", alone=True, n=n, near=story.chance.pick(PLACES))
