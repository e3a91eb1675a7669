"""Families of problems about what people have, are and do.

Ages, averages of scores, changes undone from the last to the first, a collection that grows and
shrinks, a chain of comparisons, parts of a group, two kinds in a ratio, the recipe of a cake.
"""

from collections.abc import Sequence
from math import gcd
from typing import Any

from gradeschool.datasets.fresh.story import (
    COLOR_WORDS,
    HOME,
    KEPT,
    MADE,
    SMALL,
    TABLES,
    THINGS,
    WEEK,
    WORDS,
    Chance,
    Noun,
    Quantity,
    Story,
    constant,
    listed,
    percent,
    round_number,
    share,
)

OLDEST = 99


def ages(story: Story, chance: Chance) -> None:
    """Write a problem about the ages of people."""
    story.past = False
    count = max(2, min(5, story.size - chance.below(2)))
    people = [story.person() for _ in range(count)]
    kind = chance.below(4) if story.size > 2 else 0
    n = story.draw("6-40<60 age")
    name = ("is", "is", "will be", "was")[kind]
    values = [story.tell(name, B=people[0], n=n, now=n)]
    for person in people[1:]:
        index = chance.below(len(values))
        other, base = people[index], values[index]
        relation = chance.pick(("older", "older", "younger", "times", "part", "both"))
        if relation == "both" and len(values) > 1:
            i, j = chance.sample(range(len(values)), 2)
            both = values[i] + values[j]
            age = story.tell("both", now=both, B=person, A=people[i], C=people[j])
        else:
            name = "older" if relation == "both" else relation  # of a single other person
            age = story.tell(name, role=relation, now=base, B=person, A=other)
        story.require(2 <= age.value <= OLDEST)
        values.append(age)
    last, age, first = people[-1], values[-1], values[0]
    asked = chance.pick(("is", "then", "before", "sum", "sum", "sum then", "gap"))
    k = story.draw("3-15<25w years")
    if asked in ("is", "sum", "gap"):
        story.numbers.pop()
    if asked == "is":
        story.ask("how old", age, B=last)
    elif asked == "sum":
        total = story.step("The sum of the ages is {=}.", sum(values[1:], first))
        story.ask(asked, total, all=listed([person.name for person in people]))
    elif asked == "gap":
        index = chance.below(len(people) - 1)
        pair = [(values[index], people[index]), (age, last)]
        (less, younger), (more, elder) = sorted(pair, key=lambda each: each[0].value)
        story.ask(asked, more, less=less, B=elder, A=younger)
        story.require(story.answer.value not in story.numbers)
    else:
        oldest, a = age.value, age
        if asked == "sum then":
            oldest = max(first.value, age.value)
            a = story.step("Then {A} will be {=} years old.", first + k, A=people[0])
        story.ask(asked, age, a=a, k=k, A=people[0], B=last)
        story.require(asked == "before" or oldest + k.value <= OLDEST)


ORDER = ("first", "second", "third", "fourth", "fifth")


def averages(story: Story, chance: Chance) -> None:
    """Write a problem about results and their average."""
    game, points, low, high = chance.pick(TABLES["averages"])
    most = high if game == "test" else 0
    story.cast.update(A=story.person(), game=game, points=points)
    if chance.hit(0.4):
        n, m = story.draw("3-8w count"), story.draw(f"{low}-{high - 5}<{most} average")
        total = story.tell("known average", n=n, m=m)
        total = story.tell("then", now=total, low=low, high=high, most=most)
        is_short = story.size < 4 and chance.hit(0.5)
        story.ask("sum" if is_short else "new average", total, n=n)
        return
    count = chance.between(2, 4)
    results = [story.draw(f"{low}-{high}<{most} result") for _ in range(count)]
    story.say("known", count=WORDS[count], all=listed([result.shown for result in results]))
    while story.steps_left > 2 and chance.hit(0.7) and len(results) < 5 and game != "test":
        place = chance.below(len(results))
        name, nth = "next more" if chance.hit(0.6) else "next times", ORDER[len(results)]
        results.append(story.tell(name, now=results[place], nth=ORDER[place], place=nth))
    total = story.step("In all, that {~be} {=} {points}.", sum(results[1:], results[0]))
    number = constant(len(results))
    if chance.hit(0.5):
        story.ask("average", total, number=number)
        return
    top = int(total.value / number.value)
    g = story.state(chance.between(max(low, top - 4), min(high, top + 6)), "goal")
    story.ask("wanted", total, number=number, g=g)
    story.require(low / 2 <= story.answer.value <= (most or 2 * high))


UNDONE = ("gets", "gives", "halves", "doubles", "gives each", "buys boxes")
HALVES = (("half", 2), ("half", 2), ("a third", 3), ("a quarter", 4))


def backward(story: Story, chance: Chance) -> None:
    """Write a problem about changes whose start is unknown; the steps of each undo it."""
    story.cast.update(A=story.person(), C=story.person(), item=chance.pick(KEPT))
    story.say("some")
    now = end = story.draw("4-40 end")
    changes: list[tuple[str, dict[str, Any]]] = []
    while not changes or (story.steps_left > 0 and len(changes) < 8):
        name = chance.pick(UNDONE)
        steps, values = story.sentences[name].steps, story.draws(story.sentences[name].draws)
        if name == "halves":
            part, parts = chance.pick(HALVES)
            values = {"part": part, "under": story.state(parts, "parts")}
            if parts == 2:
                steps = ("Before that, {A} {~have} {=now*under} {item}.",)
        now = story.compute(*steps, now=now, **values)
        changes.append((name, values))
    for name, values in reversed(changes):
        story.say(name, **values)
    story.say("ends", n=end)
    is_gap = now.value > end.value and chance.hit(0.2)
    story.ask("more" if is_gap else "start", now, end=end)


HAPPENS = ("buys", "buys", "gives", "gives", "part", "part", "doubles", "buys boxes", "each gives",
           "gives each", "gives daily")  # fmt: skip


def collection(story: Story, chance: Chance) -> None:
    """Write a problem about a person's collection."""
    item = chance.pick(KEPT)
    story.cast.update(A=story.person(), item=item, box=chance.pick(THINGS["holders"]),
                      crate=chance.pick(THINGS["crates"]))  # fmt: skip
    ending = "how many"
    if story.size > 2 or chance.hit(0.5):
        ending = chance.pick((ending, ending, "packed", "shared", "wanted", "sold", "ended"))
    start = chance.below(6)
    if start <= 1 or story.size < 3:
        n = round_number(story, 12, 80)
        have = story.tell("has", n=n, now=n)
    elif start == 2:
        have = story.tell("has boxes")
    elif start == 3:
        values = story.draws("k=2-9w boxes; m=4-15 each; n=2-12 n")
        story.say("has boxes", **values)
        story.say("loose", m=values["n"])
        have = story.tell("boxes and loose", **values)
    else:
        other, n = story.person(), round_number(story, 10, 50)
        story.say("other has", B=other, n=n)
        name = "times" if start == 4 else "more" if chance.hit(0.5) else "fewer"
        have = story.tell(name, n=n, B=other)
    least = 0 if ending == "how many" else 1
    while True:
        kind = chance.pick(HAPPENS)
        if kind == "part":
            part, taken = share(story, have) if chance.hit(0.7) else percent(story, have)
            have = story.tell("gives part", now=have, part=part, taken=taken)
        elif kind == "buys":
            k = story.draw("3-40 gain")
            have = story.tell("buys" if chance.hit(0.5) else "is given", now=have, k=k)
        else:
            have = story.tell(kind, now=have)
        if story.steps_left <= least:
            break
    story.ask(ending, have, low=max(item.low, 2), high=max(item.high, 3))


KINDS = ("more", "fewer", "times", "part", "mixed", "both", "direct")
QUESTIONS = ("total", "total", "two", "difference", "one", "sold", "packed")
Compared = tuple[Any, Quantity]  # a subject and its number


def comparison(story: Story, chance: Chance) -> None:
    """Write a problem that compares several subjects."""
    frame = ("people", "colors", "days")[chance.below(3)]
    subjects: Sequence[Any]
    if frame == "people":
        subjects, item = [story.person() for _ in range(5)], chance.pick(KEPT)
    elif frame == "colors":
        subjects, item = chance.sample(COLOR_WORDS, 5), chance.pick(SMALL[:6] + HOME)
    else:
        subjects = WEEK[chance.below(3) :]
        story.cast.update(P=story.person(), act=chance.pick(("sell", "count", "make", "pack")))
        item = chance.pick(MADE)
    story.cast.update(item=item, crate=chance.pick(THINGS["packing"]))
    count = min(max(2, story.size - chance.below(2)), 5)
    first = round_number(story, 6, 60)
    story.say(f"{frame} first", B=subjects[0], n=first)
    known: list[Compared] = [(subjects[0], first)]
    for subject in subjects[1:count]:
        known.append((subject, _related(story, frame, subject, known)))
    kind, last = chance.pick(QUESTIONS), known[-1]
    if kind == "one":
        story.ask(f"{frame} number", last[1], B=last[0])
        return
    if kind == "difference":
        pair = (chance.pick(known[:-1]), last)
        (a, less), (b, more) = sorted(pair, key=lambda each: each[1].value)
        answer = story.step("The difference {~be} {=} {item}.", more - less)
        story.ask(f"{frame} difference", answer, B=b, A=a)
        story.require(answer.value not in story.numbers)
        return
    counted = known if kind != "two" else [chance.pick(known[:-1]), last]
    numbers = [value for _, value in counted]
    total = story.step("In all there {~~be} {=} {item}.", sum(numbers[1:], numbers[0]))
    if kind == "sold":
        story.ask("how much", total, p=story.tell("sold for"))
    elif kind == "packed":
        story.ask("how many", total, k=story.tell(kind, now=total))
    else:
        names = [str(getattr(subject, "name", subject)) for subject, _ in counted]
        story.ask(f"{frame} total", total, all=listed(names))


def _related(story: Story, frame: str, subject: Any, known: list[Compared]) -> Quantity:
    """State how a new subject compares with one before, and compute its number."""
    chance = story.chance
    other, value = chance.pick(known)
    kind = chance.pick(KINDS)
    values: dict[str, Any] = {"B": subject, "A": other}
    if kind == "direct":
        n = round_number(story, 6, 60)
        return story.tell(f"{frame} direct", B=subject, n=n, now=n)
    if kind == "both":
        story.require(len(known) > 1)
        (values["A"], first), (values["C"], second) = chance.sample(known, 2)
        value = first + second
    if kind in ("times", "mixed"):
        values |= story.draws("t=times 2-4")
        value *= values["t"]
    if kind == "part":
        values["part"], value = share(story, value)
    if kind in ("more", "fewer", "mixed"):
        k = values["k"] = story.draw("2-25 fewer" if kind == "fewer" else "2-25 more")
        value = value - k if kind == "fewer" else value + k
    story.require(1 < value.value < (2000 if story.wide else 500))
    story.say(f"{frame} {kind}", **values)
    return story.step(story.sentences[f"{frame} step"].wordings[0], value, B=subject)


def groups(story: Story, chance: Chance) -> None:
    """Write a problem about a group and its parts."""
    story.past = story.connected = False
    where, who, a, b, rooms, usual = chance.pick(TABLES["groups"])
    story.cast.update(where=where, who=who, rooms=rooms, a=a, b=b)
    whole, name = _groups_start(story)
    acts: list[str] = []
    for act in chance.sample(usual.split(", "), 2):
        group = f"{name} who {' and '.join(acts)}" if acts else name
        those = f"{group} {'and' if acts else 'who'}"
        count, computed = _part(story, "act", whole, f"{those} {act}", group=group, act=act)
        if not computed or chance.hit(0.5):
            act = f"cannot {act[4:]}" if act.startswith("can ") else f"do not {act}"
            count = story.step(f"There are {{=}} {those} {act}.", whole - count)
        acts.append(act)
        whole = count
        if story.steps_left <= 1 or chance.hit(0.3):
            break
    asked = chance.pick(("how many", "how many", "teams", "pay"))
    story.ask(asked, whole, group=name, act=" and ".join(acts))


def _part(
    story: Story, name: str, whole: Quantity, those: str, **values: Any
) -> tuple[Quantity, bool]:
    """State which part of a group are those; return it, and whether it was computed."""
    kind = story.chance.below(5)
    if kind <= 3:
        part, count = share(story, whole) if kind <= 1 else percent(story, whole)
        story.say(name, part=part, **values)
        return story.step(f"There are {{=}} {those}.", count), True
    story.require(whole.value >= 6)
    count = story.state(story.chance.between(2, int(whole.value) - 3), "part")
    story.say(f"{name} number", part=count.shown, **values)
    return count, False


def _groups_start(story: Story) -> tuple[Quantity, str]:
    """State the whole group, and mostly divide it into two kinds."""
    chance, who, a, b = story.chance, *(story.cast[name] for name in ("who", "a", "b"))
    kind = chance.below(4)
    if kind == 3:
        values = story.draws("k=20-120/2,4,5 kind; m=20-120/2,4,5 kind")
        story.say("two", **values)
        if chance.hit(0.5):
            return story.compute("There are {=k+m} {who} in all.", **values), who
        return (values["k"], a) if chance.below(2) == 0 else (values["m"], b)
    whole = story.tell("rooms" if kind == 2 and story.size > 2 else "all")
    if story.steps_left < 3 or chance.hit(0.3):
        return whole, who
    count, _ = _part(story, "kind", whole, a)
    if chance.hit(0.5):
        return count, a
    return story.step("There are {=} {b}.", whole - count), b


def ratios(story: Story, chance: Chance) -> None:
    """Write a problem about things of two colors in a ratio."""
    kinds = chance.sample(COLOR_WORDS, 2)
    item = chance.pick(SMALL[:7] + HOME)
    story.cast.update(A=story.person(), a=kinds[0], b=kinds[1], item=item)
    p, q = story.draw("2-7 part"), story.draw("3-9 part")
    story.require(p.value < q.value and gcd(int(p.value), int(q.value)) == 1)
    if chance.hit(0.6):
        story.say("where")
    unit = chance.between(2, 60 if story.wide else 15)
    story.widened |= unit > 15
    stated, parts = chance.pick((("whole", p + q), ("one", p), ("gap", q - p)))
    n = story.state(unit * parts.value, stated)
    story.say(stated, n=n)
    if stated == "whole":
        parts = story.step("There {~~be} {=} parts in all.", parts)
    elif stated == "gap":
        parts = story.step("The difference {~be} {=} parts.", parts)
    story.say("ratio", p=p, q=q)
    part = story.step("One part {~be} {=} {item}.", n / parts)
    first = n if stated == "one" else story.step("There {~~be} {=} {a} {item}.", part * p)
    values = [first, story.step("There {~~be} {=} {b} {item}.", part * q)]
    side, changed = chance.below(2), False
    while story.steps_left > 1 and chance.hit(0.75):
        which, k = chance.below(2), story.draw("2-20 change")
        name = "gone" if chance.hit(0.5) else "new"
        values[which] = story.tell(name, now=values[which], k=k, kind=kinds[which])
        changed = True
    end = chance.below(3)
    if end == 0 and changed:
        story.ask("all", values[0], other=values[1])
    else:
        name = "count then" if changed else "money" if end == 1 else "count"
        story.ask(name, values[side], kind=kinds[side])


def recipes(story: Story, chance: Chance) -> None:
    """Write a problem about baking from a recipe."""
    main, second = chance.sample(TABLES["recipes"], 2)
    stuff, other = (
        Noun(f"{unit} of {what}", f"{unit}s of {what}") if unit else Noun(what[:-1], what)
        for unit, what, *_ in (main, second)
    )
    unit, what, one, amount = main
    many = "boxes" if one == "box" else f"{one}s"
    story.cast.update(A=story.person(), item=chance.pick(THINGS["from_recipes"]), stuff=stuff,
                      other=other, pack=Noun(f"{one} of {what}", f"{many} of {what}"),
                      holder=Noun(one, many))  # fmt: skip
    by = 10 if unit == "gram" else 1  # grams are round
    n, k = story.draw("6-24/2,4,6 per recipe"), story.draw(f"{amount} each")
    if chance.hit(0.35):
        story.distractors += 1
        story.say("two", n=n, k=k, j=story.draw(f"{second[-1]} distractor"))
    else:
        story.say("recipe", n=n, k=k)
    if story.size > 3 and chance.hit(0.5):
        total = story.tell("guests")
        story.require(total.value % n.value == 0 and total.value != n.value)
    else:
        t = story.state(n.value * chance.between(2, 30 if story.wide else 6), "wanted")
        story.widened |= t.value > 6 * n.value
        total = story.tell("wants", t=t, now=t)
    need, asked = story.tell("amount", now=total, n=n, k=k), "need"
    if story.steps_left > 0 and chance.hit(0.7) and need.value > 4:
        h = story.state(chance.between(2, int(need.value) - 2) // by * by, "has")
        need, asked = story.tell("has", now=need, h=h), "need more"
    if story.steps_left < 1 or not chance.hit(0.8):
        story.ask(asked, need)
        return
    h = story.draw("2-30| per pack" if by == 1 else "100-500| n", need)
    story.require(h.value % by == 0)
    p = story.draw("$2-7 price")
    packs = story.tell("packs", now=need, h=h, p=p)
    story.ask("cost" if story.steps_left > 0 and chance.hit(0.8) else "need packs", packs, p=p)
