"""A story: the sentences of a question and the steps of its solution, built side by side.

A family of problems calls `draw` for every number of the question, `fact`, `event` and `ask` for
its sentences, and `step` for every line of the solution. A value that makes no sense (negative,
a fraction of a person, too large) raises Unfit, and the problem is drawn again. `times`, `share`
and `percent` are relations that many families use.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

from gradeschool import calculator
from gradeschool.datasets.fresh.chance import Chance
from gradeschool.datasets.fresh.quantity import Quantity, Tree, evaluate, leaf, nodes, signature
from gradeschool.datasets.fresh.wording import (
    PEOPLE,
    PLACES,
    WEEK,
    WORDS,
    Person,
    Speaker,
    Wordings,
)


def check_annotations(line: str) -> None:
    """Recompute every annotation of a line; raises ValueError for a false one."""
    for part in line.split("<<")[1:]:
        annotation, _, after = part.partition(">>")
        expression, _, result = annotation.rpartition("=")
        value = calculator.evaluate(expression)
        if value is None or value != Fraction(result) or calculator.write(value) != result:
            raise ValueError(f"a false annotation: {line!r}")
        shown = after[: len(result)]
        if not (shown == result or shown.startswith(result.split(".")[0])):
            raise ValueError(f"an annotation's result is not repeated: {line!r}")


LARGEST = 5_000
REPEATED = 30  # characters that no two sentences may both end in
WIDE = 4  # how many times larger the numbers of the split test-numbers are
PROPER = frozenset((*(person.name for person in PEOPLE), *WEEK))
CONNECTORS = ("Then", "Later,", "After that,", "Next,")


class Unfit(Exception):
    """The drawn numbers do not make a sensible problem."""


class StoryLine(NamedTuple):
    """A sentence: its template and the values of its fields."""

    template: str
    values: dict[str, Any]
    alone: bool = False  # never joined with another sentence by "and"


class SolutionStep(NamedTuple):
    """A line of the solution; tree: the graph that it computes, None where it computes nothing."""

    text: str
    tree: Tree | None = None


class StoryStyle(NamedTuple):
    """The requirements of a split: range of steps, wider numbers, held-out wordings."""

    low: int = 2
    high: int = 8
    wide: bool = False
    held_out: bool = False


class Story:
    """One problem under construction.

    cast: values that every template may use. size: how many steps the family should aim at.
    """

    def __init__(self, chance: Chance, style: StoryStyle) -> None:
        self.chance, self.style = chance, style
        self.size = chance.between(style.low, style.high)
        self.past = chance.hit(0.5)
        self.cast: dict[str, Any] = {}
        self.steps: list[SolutionStep] = []
        self.numbers: list[Fraction] = []
        self.roles: list[str] = []
        self.widened = self.reworded = False
        self.distractors = 0
        self.connected = True  # whether "then" and the like may begin an event
        self._people = chance.sample(PEOPLE, 12)
        self._opening: list[StoryLine] = []
        self._facts: list[StoryLine] = []
        self._events: list[StoryLine] = []
        self._late: list[StoryLine] = []
        self._closing: list[StoryLine] = []
        self._question = StoryLine("", {})
        self._solver = Speaker(chance, self.past)
        self.answer: Quantity | None = None

    def in_present(self) -> None:
        """Tell this story in the present tense."""
        self.past = False
        self._solver = Speaker(self.chance, False)

    @property
    def steps_left(self) -> int:
        """The number of steps still needed to reach the size."""
        return self.size - len(self.steps)

    def person(self) -> Person:
        """Return a person who is not in the story yet."""
        if not self._people:
            raise Unfit
        return self._people.pop()

    # Numbers

    def draw(self, low: int, high: int, role: str = "n", *, by: int = 1, words: bool = False,
              most: int = 0, money: bool = False) -> Quantity:  # fmt: skip
        """Draw a number of the question: a multiple of `by` from low to high.

        most: upper bound in test-numbers (0: WIDE times high). words: it may be written as a
        word.
        """
        value = self.chance.between(-(-low // by), high // by) * by
        top = most or WIDE * high
        if self.style.wide and top // by * by > high and self.chance.hit(0.6):
            value = self.chance.between(high // by + 1, top // by) * by
            self.widened = True
        return self.state(value, role, words=words, money=money)

    def state(self, value: int | Fraction, role: str = "n", *, words: bool = False,
              money: bool = False, spoken: str = "") -> Quantity:  # fmt: skip
        """Return a number of the question whose value the family chose."""
        if words and not spoken and value <= 12 and self.chance.hit(0.35):
            spoken = WORDS[int(value)]
        self.numbers.append(Fraction(value))
        return leaf(value, role, money, spoken)

    def constant(self, value: int) -> Quantity:
        """Return a number of common knowledge: 60 minutes, 100 percent."""
        return leaf(value, str(value))

    def divisor(
        self, of: Quantity, low: int, high: int, role: str = "n", *, words: bool = False
    ) -> Quantity:
        """Draw a number of the question that divides a quantity into whole parts, at least two."""
        whole = of.value
        if whole.denominator != 1:
            raise Unfit
        top = high * WIDE if self.style.wide else high
        fits = [n for n in range(low, min(top, int(whole) // 2) + 1) if whole % n == 0]
        if not fits:
            raise Unfit
        value = self.chance.pick(fits)
        self.widened |= value > high
        return self.state(value, role, words=words)

    # Sentences

    def word(self, wordings: Wordings) -> str:
        """Choose a wording: the last of three or more if they are held out, else another."""
        if len(wordings) < 3:
            return self.chance.pick(wordings)
        if self.style.held_out:
            self.reworded = True
            return wordings[-1]
        return self.chance.pick(wordings[:-1])

    def open(self, wordings: Wordings, **values: Any) -> None:
        """Add a sentence before all others."""
        self._opening.append(StoryLine(self.word(wordings), values))

    def fact(self, wordings: Wordings, **values: Any) -> None:
        """Add a sentence that may be anywhere among the facts."""
        self._facts.append(StoryLine(self.word(wordings), values))

    def event(self, wordings: Wordings, **values: Any) -> None:
        """Add something that happens after the events before."""
        self._events.append(StoryLine(self.word(wordings), values))

    def late(self, wordings: Wordings, **values: Any) -> None:
        """Add a fact that usually follows the events."""
        self._late.append(StoryLine(self.word(wordings), values))

    def close(self, wordings: Wordings, **values: Any) -> None:
        """Set the sentence right before the question."""
        self._closing.append(StoryLine(self.word(wordings), values))

    def ask(self, wordings: Wordings, answer: Quantity, **values: Any) -> None:
        """Set the question and the quantity that it asks for."""
        self._question = StoryLine(self.word(wordings), values)
        self.answer = answer

    def distract(self, wordings: Wordings, **values: Any) -> None:
        """Add a fact that does not affect the answer."""
        self.distractors += 1
        self._facts.append(StoryLine(self.word(wordings), values, alone=True))

    # Steps

    def step(self, template: str, expression: Quantity, **values: Any) -> Quantity:
        """Add a line to the solution; "{=}" in it becomes the annotated computation."""
        value, result = expression.value, expression.as_result()
        cents = expression.money and (value * 100).denominator == 1
        if value <= 1 or not (cents or value.denominator == 1):
            raise Unfit  # lines use the plural: "1 pencils" would be wrong
        if value > LARGEST * (WIDE * 2 if self.style.wide else 1):
            raise Unfit
        dollar = "$" if expression.money else ""
        computation = (
            f"{expression.written}={dollar}<<{expression.written}={result.written}>>{result.shown}"
        )
        self._write(template.replace("{=}", computation), values, result.tree)
        return result

    def note(self, template: str, **values: Any) -> None:
        """Add a line without a computation."""
        self._write(template, values, None)

    def _write(self, template: str, values: dict[str, Any], tree: Tree | None) -> None:
        sentence = self._solver.say(template, {**self.cast, **values}, words=False)
        self.steps.append(SolutionStep(sentence, tree))

    def unstated(self, answer: Quantity) -> Quantity:
        """Return an answer; raises Unfit if the question already contains that number."""
        if answer.value in self.numbers:
            raise Unfit
        return answer

    def prune(self) -> None:
        """Drop the steps that the answer does not need; their facts become distractions."""
        if self.answer is None:
            raise Unfit
        needed = set(nodes(self.answer.tree))
        kept = [step for step in self.steps if step.tree is None or id(step.tree) in needed]
        self.distractors += len(self.steps) - len(kept)
        self.steps = kept

    # The texts

    def question(self) -> str:
        """Return the whole question."""
        facts = self.chance.shuffled(self._facts)
        late = self.chance.shuffled(self._late)
        early, late = (late, []) if self.chance.hit(0.25) else ([], late)
        late += self._closing
        speaker = Speaker(self.chance, self.past)
        events = [self._connected(index, line) for index, line in enumerate(self._events)]
        groups = [
            [speaker.say(line.template, {**self.cast, **line.values}) for line in lines]
            for lines in (
                self._opening,
                facts,
                [*early, *events, *late, self._question],
            )
        ]
        endings = [sentence[-REPEATED:] for group in groups for sentence in group]
        if len(set(endings)) < len(endings):
            raise Unfit  # two sentences say the same thing
        return " ".join([*groups[0], *self._joined(facts, groups[1]), *groups[2]])

    def _joined(self, lines: list[StoryLine], sentences: list[str]) -> list[str]:
        """Join some short facts with the next sentence by "and"."""
        joined: list[str] = []
        free = False  # whether the previous sentence may be joined with another
        for line, sentence in zip(lines, sentences, strict=True):
            first = sentence.split()[0]
            short = len(sentence) < 60 and not any(mark in sentence[:-1] for mark in ",.?")
            fits = short and not line.alone
            if free and fits and joined[-1].split()[0] != first and self.chance.hit(0.3):
                proper = first.removesuffix("'s") in PROPER
                joined[-1] = f"{joined[-1][:-1]}, and {sentence if proper else uncapital(sentence)}"
                free = False
            else:
                joined.append(sentence)
                free = fits
        return joined

    def _connected(self, index: int, line: StoryLine) -> StoryLine:
        """Begin some events that follow another with "Then" or the like."""
        if (
            not self.connected
            or not index
            or not line.template.startswith("{")
            or not self.chance.hit(0.4)
        ):
            return line
        return StoryLine(f"{self.chance.pick(CONNECTORS)} {line.template}", line.values)

    def solution(self) -> str:
        """Return the steps and "#### N"; raises ValueError if any of it is false."""
        answer = self.answer
        if answer is None or answer.value.denominator != 1:
            raise Unfit
        if evaluate(answer.tree) != answer.value:
            raise ValueError(f"the value of the graph is not the answer: {self.steps!r}")
        for step in self.steps:
            check_annotations(step.text)
        return "\n".join([*(step.text for step in self.steps), f"#### {answer.written}"])

    def structure(self, family: str) -> str:
        """Return the signature: the family, the graph that leads to the answer, and the check."""
        trees = [self.answer.tree] if self.answer else []
        last = self.steps[-1].tree if self.steps else None
        if last is not None and last not in trees:
            trees.append(last)  # the answer is a guess; the check is the structure
        return f"{family}:{'|'.join(map(signature, trees))}"


def uncapital(sentence: str) -> str:
    """Return a sentence in the form it takes in the middle of another."""
    return sentence[0].lower() + sentence[1:]


# How a fraction is written in words: (numerator, denominator).
SPOKEN = {
    (1, 2): "half", (1, 3): "a third", (2, 3): "two thirds", (1, 4): "a quarter",
    (3, 4): "three quarters", (1, 5): "a fifth", (2, 5): "two fifths", (3, 5): "three fifths",
}  # fmt: skip
# Facts that have nothing to do with a question: from, to, wordings.
ASIDES = (
    (8, 40, "{A} {~be} {n} years old."),
    (2, 30, "{A} {~live} {n} miles from the {near}."),
    (2, 30, "{A.his} house {~be} {n} miles from the {near}."),
    (3, 12, "{A} {~have} {n} cousins."),
    (5, 60, "{A} {~have} {n} photos of animals."),
    (3, 9, "There {~~be} {n} people in {A.his} family."),
)
DOZENS = {12: "a dozen", 24: "two dozen", 36: "three dozen"}
PERCENTS = (10, 20, 25, 30, 40, 50, 60, 75, 80)
WIDE_PERCENTS = (5, 15, 35, 45, 55, 65, 70, 85, 90)


class QuantityPart(NamedTuple):
    """A part of a quantity: its wording in the question, and its computation."""

    wording: str
    taken: Quantity


def times(story: Story, low: int = 2, high: int = 5) -> Quantity:
    """Draw a factor that is written as "twice", "three times" or "4 times"."""
    value = story.chance.between(low, high)
    if story.style.wide and story.chance.hit(0.6):
        value = story.chance.between(high + 1, 2 * high)
        story.widened = True
    if value == 2:
        spoken = story.chance.pick(("twice", "twice", "two times"))
    else:
        written = WORDS[value] if story.chance.hit(0.5) else str(value)
        spoken = f"{written} times"
    return story.state(value, "times", spoken=spoken)


def share(story: Story, of: Quantity) -> QuantityPart:
    """Draw a fraction of a quantity that leaves whole things: half, a third, three quarters."""
    fits = [line for line in SPOKEN if of.value.denominator == 1 and of.value % line[1] == 0]
    if not fits:
        raise Unfit
    top, bottom = story.chance.pick(fits)
    wording = SPOKEN[top, bottom]
    if (top, bottom) != (1, 2) and story.chance.hit(0.3):
        wording = f"{top}/{bottom}"
    under = story.state(bottom, "parts")
    if top == 1:
        return QuantityPart(wording, of / under)
    return QuantityPart(wording, of * story.state(top, "parts") / under)


def percent(story: Story, of: Quantity, low: int = 10, high: int = 80) -> QuantityPart:
    """Draw a percentage of a quantity that leaves whole things."""
    wide = story.style.wide and story.chance.hit(0.6)
    if of.value.denominator != 1:
        raise Unfit
    fits = [
        line
        for line in (WIDE_PERCENTS if wide else PERCENTS)
        if low <= line <= high and of.value * line % 100 == 0
    ]
    if not fits:
        raise Unfit
    story.widened |= wide
    rate = story.state(story.chance.pick(fits), "percent")
    return QuantityPart(f"{rate.written}%", of * rate / story.constant(100))


def some(story: Story, of: Quantity) -> QuantityPart:
    """Draw a fraction or a percentage."""
    return share(story, of) if story.chance.hit(0.6) else percent(story, of)


def round_number(story: Story, low: int, high: int) -> Quantity:
    """Draw a number that can often be divided."""
    n = story.draw(low, high, by=story.chance.pick((1, 2, 5, 6, 10, 12)))
    if n.value in DOZENS and story.chance.hit(0.4):
        return replace(n, spoken=DOZENS[int(n.value)])
    return n


def listed(names: Sequence[str]) -> str:
    """Return "a", "a and b", "a, b and c"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def aside(story: Story) -> None:
    """Add a fact about the person {A} that has nothing to do with the question."""
    low, high, wording = story.chance.pick(ASIDES)
    n = story.state(story.chance.between(low, high), "aside")
    story.distract((wording,), n=n, near=story.chance.pick(PLACES))
