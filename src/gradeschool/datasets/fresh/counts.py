"""Families of problems about what people have, are and do.

Ages, averages of scores, changes undone from the last to the first, a collection that grows and
shrinks, a chain of comparisons, parts of a group, two kinds in a ratio, the recipe of a cake.
"""

from math import gcd
from typing import Any

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
    Quantity,
    QuantityPart,
    Story,
    Unfit,
    listed,
    percent,
    round_number,
    share,
)

OLDEST = 99


def ages(story: Story) -> None:
    """Write a problem about the ages of people."""
    chance = story.chance
    story.in_present()
    count = max(2, min(5, story.size - chance.below(2)))
    people = [story.person() for _ in range(count)]
    kind = chance.below(4) if story.size > 2 else 0
    n = story.draw(6, 40, "age", most=60)
    name = ("is", "is", "will be", "was")[kind]
    values = [story.turn(name, B=people[0], n=n, now=n)]
    for person in people[1:]:
        index = chance.below(len(values))
        other, base = people[index], values[index]
        relation = chance.pick(("older", "older", "younger", "times", "part", "both"))
        if relation == "both" and len(values) > 1:
            i, j = chance.sample(range(len(values)), 2)
            who = {"A": people[i], "C": people[j]}
            both = values[i] + values[j]
            age = story.turn("both", now=both, B=person, **who)
        else:
            name = "older" if relation == "both" else relation  # of a single other person
            age = story.turn(name, role=relation, now=base, B=person, A=other)
        if not 2 <= age.value <= OLDEST:
            raise Unfit
        values.append(age)
    last, age, first = people[-1], values[-1], values[0]
    asked = chance.pick(("is", "then", "before", "sum", "sum", "sum then", "gap"))
    k = story.draw(3, 15, "years", words=True, most=25)
    if asked in ("is", "sum", "gap"):
        story.numbers.pop()
    if asked == "is":
        story.ask("how old", age, B=last)
    elif asked in ("then", "before"):
        story.solve(asked, now=age, k=k, B=last)
    elif asked == "sum":
        total = story.step("The sum of the ages is {=}.", sum(values[1:], first))
        story.ask(asked, total, all=listed([person.name for person in people]))
    elif asked == "sum then":
        a = story.step("Then {A} will be {=} years old.", first + k, A=people[0])
        story.solve(asked, now=age, a=a, k=k, A=people[0], B=last)
    else:
        index = chance.below(len(people) - 1)
        pair = [(values[index], people[index]), (age, last)]
        if age.value < values[index].value:
            pair.reverse()
        (less, younger), (more, elder) = pair
        steps = story.sentences[asked].steps
        answer = story.compute(*steps, more=more, less=less, B=elder, A=younger)
        story.ask(asked, story.unstated(answer), B=elder, A=younger)
    if "then" in asked and max(first.value if asked != "then" else 0, age.value) + k.value > OLDEST:
        raise Unfit


GAMES = (("game", "points", 10, 60), ("test", "points", 50, 100), ("round", "points", 5, 40))
ORDER = ("first", "second", "third", "fourth", "fifth")


def averages(story: Story) -> None:
    """Write a problem about results and their average."""
    chance = story.chance
    game, points, low, high = chance.pick(GAMES)
    most = high if game == "test" else 0
    story.cast.update(A=story.person(), game=game, points=points)
    if chance.hit(0.4):
        n = story.draw(3, 8, "count", words=True)
        m = story.draw(low, high - 5, "average", most=most)
        total = story.turn("known average", n=n, m=m)
        total = story.turn("then", now=total, low=low, high=high, most=most)
        if story.size < 4 and chance.hit(0.5):
            story.ask("sum", total)
        else:
            story.solve("new average", now=total, n=n)
        return
    count = chance.between(2, 4)
    results = [story.draw(low, high, "result", most=most) for _ in range(count)]
    stated = listed([result.shown for result in results])
    story.say("known", count=("two", "three", "four")[count - 2], all=stated)
    while story.steps_left > 2 and chance.hit(0.7) and len(results) < 5 and game != "test":
        place = chance.below(len(results))
        name, nth = "next more" if chance.hit(0.6) else "next times", ORDER[len(results)]
        results.append(story.turn(name, now=results[place], nth=ORDER[place], place=nth))
    total = story.step("In all, that {~be} {=} {points}.", sum(results[1:], results[0]))
    number = story.constant(len(results))
    if chance.hit(0.5):
        story.solve("average", now=total, number=number)
        return
    top = int(total.value / number.value)
    g = story.state(chance.between(max(low, top - 4), min(high, top + 6)), "goal")
    one_more = story.step("Then there {~~be} {=} {game}s.", number + story.constant(1))
    needed = story.step("For that average, {A} {~need} {=} {points} in all.", g * one_more)
    missing = needed - total
    if not low / 2 <= missing.value <= (most or 2 * high):
        raise Unfit
    answer = story.step("{A} {~need} {=} {points} in the next {game}.", missing)
    story.ask("wanted", answer, g=g)


UNDONE = ("gets", "gives", "halves", "doubles", "gives each", "buys boxes")
HALVES = (("half", 2), ("half", 2), ("a third", 3), ("a quarter", 4))


def backward(story: Story) -> None:
    """Write a problem about changes whose start is unknown; the steps of each undo it."""
    chance = story.chance
    story.cast.update(A=story.person(), C=story.person(), item=chance.pick(KEPT))
    story.say("some")
    end = story.draw(4, 40, "end")
    now, changes, tries = end, list[tuple[str, dict[str, Any]]](), 0
    while not changes or (story.steps_left > 0 and tries < 8):
        tries += 1
        name = chance.pick(UNDONE)
        steps = story.sentences[name].steps
        if name == "halves":
            part, parts = chance.pick(HALVES)
            values: dict[str, Any] = {"part": part, "under": story.state(parts, "parts")}
            if parts == 2:
                steps = ("Before that, {A} {~have} {=now*under} {item}.",)
        else:
            values = story.draws(story.sentences[name].draws)
        if name == "buys boxes" and now.value <= values["k"].value * values["m"].value:
            raise Unfit
        now = story.compute(*steps, now=now, **values)
        changes.append((name, values))
    for name, values in reversed(changes):
        story.say(name, **values)
    story.say("ends", n=end)
    if now.value > end.value and chance.hit(0.2):
        story.solve("more", now=now, end=end)
    else:
        story.ask("start", now)


HAPPENS = ("buys", "buys", "gives", "gives", "part", "part", "doubles", "buys boxes", "each gives",
           "gives each", "gives daily")  # fmt: skip


def collection(story: Story) -> None:
    """Write a problem about a person's collection."""
    chance = story.chance
    item, box = chance.pick(KEPT), chance.pick(HOLDERS)
    story.cast.update(A=story.person(), item=item, box=box, crate=chance.pick(CRATES))
    ending, endings = (
        "how many",
        ("how many", "how many", "packed", "shared", "wanted", "sold", "ended"),
    )
    if story.size > 2 or chance.hit(0.5):
        ending = chance.pick(endings)
    have = _start(story)
    while True:
        kind = chance.pick(HAPPENS)
        if kind == "part":
            part = share(story, have) if chance.hit(0.7) else percent(story, have)
            have = story.turn("gives part", now=have, C=story.person(), part=part.wording,
                              taken=part.taken)  # fmt: skip
        elif kind == "buys":
            k = story.draw(3, 40, "gain")
            who: dict[str, Any] = {} if chance.hit(0.5) else {"C": story.person()}
            have = story.turn("is given" if who else "buys", now=have, k=k, **who)
        else:
            have = story.turn(kind, now=have)
        if story.steps_left <= (0 if ending == "how many" else 1):
            break
    if ending == "how many":
        story.ask(ending, have)
    elif ending == "sold":
        p = story.draw(max(item.low, 2), max(item.high, 3), "price", money=True)
        story.solve(ending, now=have, p=p)
    else:
        story.solve(ending, now=have)


def _start(story: Story) -> Quantity:
    chance = story.chance
    kind = chance.below(6)
    if kind <= 1 or story.size < 3:
        n = round_number(story, 12, 80)
        return story.turn("has", n=n, now=n)
    if kind == 2:
        return story.turn("has boxes")
    if kind == 3:
        values = story.draws("k=2-9w boxes; m=4-15 each; n=2-12 n")
        story.say("has boxes", **values)
        story.say("loose", m=values["n"])
        lines = ("The {box} {~~hold} {=k*m} {item}.", "{A} {~have} {=it+n} {item} at the start.")
        return story.compute(*lines, **values)
    other, n = story.person(), round_number(story, 10, 50)
    story.say("other has", B=other, n=n)
    name = "times" if kind == 4 else "more" if chance.hit(0.5) else "fewer"
    return story.turn(name, n=n, B=other)


KINDS = ("more", "fewer", "times", "part", "mixed", "both", "direct")
QUESTIONS = ("total", "total", "two", "difference", "one", "sold", "packed")
Compared = tuple[Any, Quantity]  # a subject and its number


def comparison(story: Story) -> None:
    """Write a problem that compares several subjects."""
    chance = story.chance
    subjects, frame, item = _scene(story)
    story.cast.update(item=item, crate=chance.pick(PACKING))
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
        less, more = sorted(pair, key=lambda each: each[1].value)
        answer = story.step("The difference {~be} {=} {item}.", more[1] - less[1])
        story.ask(f"{frame} difference", story.unstated(answer), B=more[0], A=less[0])
        return
    counted = known if kind != "two" else [chance.pick(known[:-1]), last]
    numbers = [value for _, value in counted]
    total = story.step("In all there {~~be} {=} {item}.", sum(numbers[1:], numbers[0]))
    if kind == "sold":
        story.solve("how much", now=total, p=story.turn("sold for"))
    elif kind == "packed":
        story.solve("how many", now=total, k=story.turn(kind, now=total))
    else:
        names = [str(getattr(subject, "name", subject)) for subject, _ in counted]
        story.ask(f"{frame} total", total, all=listed(names))


def _scene(story: Story) -> tuple[list[Any], str, Noun]:
    chance = story.chance
    kind = chance.below(3)
    if kind == 0:
        return [story.person() for _ in range(5)], "people", chance.pick(KEPT)
    if kind == 1:
        return list(chance.sample(COLOR_WORDS, 5)), "colors", chance.pick(SMALL[:6] + HOME)
    start = chance.below(3)
    story.cast.update(P=story.person(), act=chance.pick(("sell", "count", "make", "pack")))
    return list(WEEK[start : start + 5]), "days", chance.pick(MADE)


def _related(story: Story, frame: str, subject: Any, known: list[Compared]) -> Quantity:
    """State how a new subject compares with one before, and compute its number."""
    chance = story.chance
    other, value = chance.pick(known)
    kind = chance.pick(KINDS)
    values: dict[str, Any] = {"B": subject, "A": other}
    if kind == "direct":
        n = round_number(story, 6, 60)
        return story.turn(f"{frame} direct", B=subject, n=n, now=n)
    if kind == "both":
        if len(known) < 2:
            raise Unfit
        (values["A"], first), (values["C"], second) = chance.sample(known, 2)
        value = first + second
    if kind in ("times", "mixed"):
        values |= story.draws("t=times 2-4")
        value *= values["t"]
    if kind == "part":
        values["part"], value = share(story, value)
    if kind in ("more", "fewer", "mixed"):
        k = values["k"] = story.draw(2, 25, "fewer" if kind == "fewer" else "more")
        value = value - k if kind == "fewer" else value + k
    if not 1 < value.value < 500 * (4 if story.style.wide else 1):
        raise Unfit
    story.say(f"{frame} {kind}", **values)
    return story.step(story.sentences[f"{frame} step"].wordings[0], value, B=subject)


# The place, the people in it, the first division, rooms, what the people do.
GROUPS = (
    ("in a school", "students", ("girls", "boys"), "classes",
     "walk to school, play football, have a pet, like math, wear glasses"),
    ("in a camp", "children", ("girls", "boys"), "tents",
     "can swim, have a bike, play tennis, like to sing, wear hats"),
    ("in a company", "workers", ("women", "men"), "teams",
     "drive to work, work at night, have children, drink coffee, wear glasses"),
    ("at a party", "guests", ("adults", "children"), "rooms",
     "drink tea, like to dance, eat cake, play a game, wear hats"),
)  # fmt: skip
THERE_ARE = "There are {=} {group}."


def groups(story: Story) -> None:
    """Write a problem about a group and its parts."""
    chance = story.chance
    story.in_present()
    story.connected = False
    where, who, (a, b), rooms, usual = chance.pick(GROUPS)
    story.cast.update(where=where, who=who, rooms=rooms, a=a, b=b)
    whole, name = _groups_start(story)
    acts: list[str] = []
    for act in chance.sample(usual.split(", "), 2):
        part = _part(story, whole)
        wording = "act" if part.taken.rank < ATOM else "act number"
        story.say(wording, part=part.wording, group=_who(name, acts), act=act)
        count, computed = part.taken, part.taken.tree[0] in ("*", "/")
        if computed:
            count = story.step(THERE_ARE, count, group=_who(name, [*acts, act]))
        if not computed or chance.hit(0.5):
            act = f"cannot {act[4:]}" if act.startswith("can ") else f"do not {act}"
            count = story.step(THERE_ARE, whole - count, group=_who(name, [*acts, act]))
        acts.append(act)
        whole = count
        if story.steps_left <= 1 or chance.hit(0.3):
            break
    values: dict[str, Any] = {"now": whole, "group": name, "act": " and ".join(acts)}
    kind = chance.below(4)
    if kind == 2:
        story.solve("teams", **values)
    elif kind == 3:
        story.solve("pay", **values)
    else:
        story.ask("how many", whole, **values)


def _who(name: str, acts: list[str]) -> str:
    return f"{name} who {' and '.join(acts)}" if acts else name


def _part(story: Story, whole: Quantity) -> QuantityPart:
    kind = story.chance.below(5)
    if kind <= 3:
        return share(story, whole) if kind <= 1 else percent(story, whole)
    if whole.value < 6:
        raise Unfit
    k = story.state(story.chance.between(2, int(whole.value) - 3), "part")
    return QuantityPart(k.shown, k)


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
    whole = story.turn("rooms" if kind == 2 and story.size > 2 else "all")
    if story.steps_left < 3 or chance.hit(0.3):
        return whole, who
    part = _part(story, whole)
    count = part.taken
    story.say("kind" if count.rank < ATOM else "kind number", part=part.wording)
    if count.tree[0] in ("*", "/"):
        count = story.step("There are {=} {a}.", count)
    if chance.hit(0.5):
        return count, a
    return story.step("There are {=} {b}.", whole - count), b


def ratios(story: Story) -> None:
    """Write a problem about things of two colors in a ratio."""
    chance = story.chance
    kinds = chance.sample(COLOR_WORDS, 2)
    item = chance.pick(SMALL[:7] + HOME)
    story.cast.update(A=story.person(), a=kinds[0], b=kinds[1], item=item)
    p, q = story.draw(2, 7, "part"), story.draw(3, 9, "part")
    if p.value >= q.value or gcd(int(p.value), int(q.value)) > 1:
        raise Unfit
    if chance.hit(0.6):
        story.say("where")
    part, stated = _one_part(story, p, q)
    first = stated or story.step("There {~~be} {=} {a} {item}.", part * p)
    values = [first, story.step("There {~~be} {=} {b} {item}.", part * q)]
    side, changed = chance.below(2), False
    while story.steps_left > 1 and chance.hit(0.75):
        which, k = chance.below(2), story.draw(2, 20, "change")
        name = "gone" if chance.hit(0.5) else "new"
        values[which] = story.turn(name, now=values[which], k=k, kind=kinds[which])
        changed = True
    end = chance.below(3)
    if end == 0 and changed:
        story.ask("all", story.step("In all there {~~be} {=} {item}.", values[0] + values[1]))
    elif end == 1 and not changed:
        story.solve("money", now=values[side], kind=kinds[side])
    else:
        story.ask("count then" if changed else "count", values[side], kind=kinds[side])


def _one_part(story: Story, p: Quantity, q: Quantity) -> tuple[Quantity, Quantity | None]:
    """State a total, the difference or the first kind; return one part and the kind if stated."""
    unit = story.chance.between(2, 15 if not story.style.wide else 60)
    story.widened |= unit > 15
    name, parts = (("whole", p + q), ("one", p), ("gap", q - p))[story.chance.below(3)]
    n = story.state(unit * parts.value, name)
    story.say(name, n=n)
    if name == "whole":
        parts = story.step("There {~~be} {=} parts in all.", parts)
    elif name == "gap":
        parts = story.step("The difference {~be} {=} parts.", parts)
    story.say("ratio", p=p, q=q)
    return story.step("One part {~be} {=} {item}.", n / parts), n if name == "one" else None


# Of a recipe: the unit, the ingredient, its packaging, the range of its amount.
Ingredient = tuple[str, str, str, int, int]
INGREDIENTS: tuple[Ingredient, ...] = (
    ("cup", "flour", "bag", 2, 9),
    ("cup", "sugar", "bag", 2, 6),
    ("cup", "milk", "bottle", 2, 6),
    ("", "eggs", "box", 2, 8),
    ("gram", "butter", "pack", 40, 150),
    ("", "apples", "bag", 3, 9),
)


def _measured(ingredient: Ingredient) -> Noun:
    unit, what, *_ = ingredient
    return Noun(f"{unit} of {what}", f"{unit}s of {what}") if unit else Noun(what[:-1], what)


BAKED = (Noun("cookie", "cookies"), Noun("muffin", "muffins"), Noun("roll", "rolls"),
         Noun("cupcake", "cupcakes"))  # fmt: skip


def recipes(story: Story) -> None:
    """Write a problem about baking from a recipe."""
    chance = story.chance
    main, second = chance.sample(INGREDIENTS, 2)
    _, what, one, low, high = main
    many = "boxes" if one == "box" else f"{one}s"
    story.cast.update(A=story.person(), item=chance.pick(BAKED), stuff=_measured(main),
                      other=_measured(second), pack=Noun(f"{one} of {what}", f"{many} of {what}"),
                      holder=Noun(one, many))  # fmt: skip
    n = story.draw(6, 24, "per recipe", by=chance.pick((2, 4, 6)))
    by = 10 if low > 10 else 1  # grams are round
    k = story.draw(low, high, "each", words=by == 1, by=by)
    if chance.hit(0.35):
        *_, low, high = second
        step = 10 if low > 10 else 1
        j = story.draw(low, high, "distractor", words=step == 1, by=step)
        story.distractors += 1
        story.say("two", n=n, k=k, j=j)
    else:
        story.say("recipe", n=n, k=k)
    total, more = _amount(story, n), False
    lines = "{A} {~make} the recipe {=now/n} times.", "{A} {~need} {=it*k} {stuff}."
    need = story.compute(*lines, now=total, n=n, k=k)
    if story.steps_left > 0 and chance.hit(0.7) and need.value > 4:
        h = story.state(chance.between(2, int(need.value) - 2) // by * by, "has")
        need, more = story.turn("has", now=need, h=h), True
    if story.steps_left > 0 and chance.hit(0.8):
        h = story.divisor(need, 2, 30, "per pack") if by == 1 else story.divisor(need, 100, 500)
        if h.value % by:
            raise Unfit
        p = story.draw(2, 7, "price", money=True)
        packs = story.turn("packs", now=need, h=h, p=p)
        if story.steps_left > 0 and chance.hit(0.8):
            story.solve("cost", now=packs, p=p)
        else:
            story.ask("need packs", packs)
    else:
        story.ask("need more" if more else "need", need)


def _amount(story: Story, n: Quantity) -> Quantity:
    """State the number to bake: a multiple of the recipe's number."""
    if story.size > 3 and story.chance.hit(0.5):
        values = story.draws("g=4-20 guests; m=2-6w each guest")
        total = values["g"].value * values["m"].value
        if total % n.value or total == n.value:
            raise Unfit
        return story.turn("guests", **values)
    t = story.state(n.value * story.chance.between(2, 30 if story.style.wide else 6), "wanted")
    story.widened |= t.value > 6 * n.value
    return story.turn("wants", t=t, now=t)
