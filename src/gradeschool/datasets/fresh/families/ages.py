"""Ages: who is older, by how much, some years ago or from now."""

from __future__ import annotations

from gradeschool.datasets.fresh.quantity import Quantity
from gradeschool.datasets.fresh.story import Story, Unfit, listed, share, times
from gradeschool.datasets.fresh.wording import Person, wordings

IS = wordings(
    """
    {B} is {n} years old.
    {B} is {n} years old now.
    The age of {B} is {n}.
    """
)
WILL_BE = wordings(
    """
    In {k} years, {B} will be {n} years old.
    {B} will be {n} years old in {k} years.
    In {k} years, the age of {B} will be {n}.
    """
)
WAS = wordings(
    """
    {k} years ago, {B} was {n} years old.
    {B} was {n} years old {k} years ago.
    {k} years ago, the age of {B} was {n}.
    """
)
OLDER = wordings(
    """
    {B} is {k} years older than {A}.
    {A} is {k} years younger than {B}.
    {B} is older than {A} by {k} years.
    """
)
YOUNGER = wordings(
    """
    {B} is {k} years younger than {A}.
    {A} is {k} years older than {B}.
    {B} is younger than {A} by {k} years.
    """
)
TIMES = wordings(
    """
    {B} is {k} as old as {A}.
    The age of {B} is {k} the age of {A}.
    {B} is now {k} as old as {A}.
    """
)
PART = wordings(
    """
    {B} is {k} as old as {A}.
    The age of {B} is {k} of the age of {A}.
    {B} is now {k} as old as {A}.
    """
)
BOTH = wordings(
    """
    {B} is as old as {A} and {C} together.
    The age of {B} is the sum of the ages of {A} and {C}.
    {A} and {C} together are as old as {B}.
    """
)
HOW_OLD = wordings(
    """
    How old is {B} in years?
    How many years old is {B}?
    How old is {B} now, in years?
    """
)
THEN = wordings(
    """
    How old will {B} be in {k} years?
    In {k} years, how old will {B} be?
    How many years old will {B} be in {k} years?
    """
)
BEFORE = wordings(
    """
    How old was {B} {k} years ago?
    {k} years ago, how old was {B}?
    How many years old was {B} {k} years ago?
    """
)
SUM = wordings(
    """
    What is the sum of the ages of {all}?
    How many years old are {all} together?
    Find the sum of the ages of {all} in years.
    """
)
SUM_THEN = wordings(
    """
    What will be the sum of the ages of {A} and {B} in {k} years?
    In {k} years, what will be the sum of the ages of {A} and {B}?
    Find the sum of the ages of {A} and {B} in {k} years.
    """
)
GAP = wordings(
    """
    How many years older is {B} than {A}?
    By how many years is {B} older than {A}?
    Find how many years older {B} is than {A}.
    """
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
    _ask(story, people, values)


def _first(story: Story, person: Person) -> Quantity:
    kind = story.chance.below(4) if story.size > 2 else 0
    n = story.draw(6, 40, "age", most=60)
    if kind <= 1:
        story.fact(IS, B=person, n=n)
        return n
    k = story.draw(2, 9, "years", words=True, most=15)
    story.fact(WILL_BE if kind == 2 else WAS, B=person, n=n, k=k)
    now = n - k if kind == 2 else n + k
    return story.step("{B} is {=} years old now.", now, B=person)


def _next(story: Story, person: Person, others: list[Person], values: list[Quantity]) -> Quantity:
    index = story.chance.below(len(others))
    other, base = others[index], values[index]
    kind = story.chance.pick(("older", "older", "younger", "times", "part", "both"))
    if kind == "both" and len(others) > 1:
        first, second = story.chance.sample(range(len(others)), 2)
        story.fact(BOTH, B=person, A=others[first], C=others[second])
        age = values[first] + values[second]
    elif kind == "times":
        k = times(story, 2, 4)
        story.fact(TIMES, B=person, A=other, k=k)
        age = base * k
    elif kind == "part":
        part = share(story, base)
        story.fact(PART, B=person, A=other, k=part.wording)
        age = part.taken
    else:
        k = story.draw(2, 20, kind, words=True, most=30)
        story.fact(OLDER if kind != "younger" else YOUNGER, B=person, A=other, k=k)
        age = base - k if kind == "younger" else base + k
    if age.value < 2:
        raise Unfit
    _living(age)
    return story.step("{B} is {=} years old.", age, B=person)


def _ask(story: Story, people: list[Person], values: list[Quantity]) -> None:
    last, age = people[-1], values[-1]
    kind = story.chance.pick(("is", "then", "before", "sum", "sum", "sum then", "gap"))
    k = story.draw(3, 15, "years", words=True, most=25)
    if kind == "is":
        story.numbers.pop()
        story.ask(HOW_OLD, age, B=last)
    elif kind == "then":
        _living(age + k)
        story.ask(THEN, story.step("Then {B} will be {=} years old.", age + k, B=last), B=last, k=k)
    elif kind == "before":
        story.ask(BEFORE, story.step("Then {B} was {=} years old.", age - k, B=last), B=last, k=k)
    elif kind == "sum":
        story.numbers.pop()
        total = sum(values[1:], values[0])
        story.ask(
            SUM,
            story.step("The sum of the ages is {=}.", total),
            all=listed([person.name for person in people]),
        )
    elif kind == "sum then":
        other = values[0]
        _living(other + k, age + k)
        a = story.step("Then {A} will be {=} years old.", other + k, A=people[0])
        b = story.step("Then {B} will be {=} years old.", age + k, B=last)
        total = story.step("The sum of the ages will be {=}.", a + b)
        story.ask(SUM_THEN, total, A=people[0], B=last, k=k)
    else:
        story.numbers.pop()
        index = story.chance.below(len(people) - 1)
        elder, younger, more, less = last, people[index], age, values[index]
        if more.value < less.value:
            elder, younger, more, less = younger, elder, less, more
        line = "{B} is {=} years older than {A}."
        answer = story.step(line, more - less, B=elder, A=younger)
        story.ask(GAP, story.unstated(answer), B=elder, A=younger)


def _living(*ages: Quantity) -> None:
    if max(age.value for age in ages) > OLDEST:
        raise Unfit
