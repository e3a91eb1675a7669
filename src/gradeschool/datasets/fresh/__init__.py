"""Fresh problems: unlimited, the same for the same seed, in splits that share no question.

By name: `fresh:SEED`, `fresh:SEED:SPLIT`, `fresh:SEED:SPLIT:COUNT`.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from gradeschool.datasets.fresh import counts, trade
from gradeschool.datasets.fresh.story import Chance, Story, Unfit, aside, sentences
from gradeschool.errors import InputError, UnknownNameError
from gradeschool.problem import Problem

Family = Callable[[Story, Chance], None]
# The order decides which family a seed draws.
FORWARD: dict[str, Family] = {
    family.__name__: family
    for family in (
        counts.ages, trade.tickets, trade.tanks, trade.savings, trade.harvest, counts.backward,
        counts.averages, counts.collection, counts.comparison, counts.groups, trade.measures,
        trade.production, counts.ratios, trade.reading, counts.recipes, trade.shopping,
        trade.trips, trade.wages,
    )
}  # fmt: skip
# Solved by trying values.
SEARCH: dict[str, Family] = {
    family.__name__: family
    for family in (trade.legs, trade.product, trade.sharing, trade.two_kinds)
}
FAMILIES = FORWARD | SEARCH
# Families about a person {A} where a stray fact about that person cannot be misread.
WITH_ASIDES = frozenset((
    "averages", "backward", "collection", "reading", "recipes", "savings", "sharing", "shopping",
    "tanks", "two_kinds", "wages",
))  # fmt: skip

VERSION = "2"  # a change of any template or range needs a new version
SPLITS = ("train", "dev", "test", "test-structures", "test-templates", "test-numbers")
STEPS = (2, 8)
ASIDE = 0.15  # probability of adding a fact that has nothing to do with the question
PATIENCE, MOST_DRAWS = 40, 6_000  # draws of a family before another is tried; draws for a problem
COUNT, MOST = 1_000, 1_000_000
NAME = re.compile(r"fresh:([0-9]{1,18})(?::([a-z-]+))?(?::([0-9]{1,7}))?")


def fresh_problems(
    seed: int,
    count: int,
    *,
    split: str = "train",
    steps: tuple[int, int] = STEPS,
    families: Sequence[str] = (),
) -> tuple[Problem, ...]:
    """Return the first problems of a seed, no question twice; problem i does not depend on count.

    families: names; "forward" and "search" name all of a kind; () all. Raises UnknownNameError, and
    InputError if no problem of these families and steps belongs to the split.
    """
    if split not in SPLITS:
        raise UnknownNameError("split of fresh problems", split, SPLITS)
    kinds = {"forward": FORWARD, "search": SEARCH}
    chosen: dict[str, None] = {}
    for name in families or FAMILIES:
        if name not in FAMILIES and name not in kinds:
            raise UnknownNameError("family of fresh problems", name, (*FAMILIES, *kinds))
        chosen |= dict.fromkeys(kinds.get(name, (name,)))
    problems: dict[str, Problem] = {}  # by question
    family = ""
    attempt = 0
    while len(problems) < count:
        if attempt == MOST_DRAWS:
            raise InputError(
                f"no problem of the families {sorted(chosen)!r} with {steps[0]} to {steps[1]} "
                f"steps was found for the split {split!r} in {MOST_DRAWS:,} draws; ask for more "
                "steps or families"
            )
        number = str(len(problems))
        chance = Chance(VERSION, seed, split, number, attempt)
        if attempt % PATIENCE == 0:
            family = chance.pick(tuple(chosen))
        attempt += 1
        story = Story(chance, sentences()[family], steps, wide=split == "test-numbers",
                      held_out=split == "test-templates")  # fmt: skip
        kind = "search" if family in SEARCH else "forward"
        try:
            FAMILIES[family](story, chance)
            if kind == "forward":
                story.prune()
            if family in WITH_ASIDES and chance.hit(ASIDE):
                aside(story)
            structure = story.structure(family)
            story.require(steps[0] <= len(story.steps) <= steps[1])
            # A seventh of the structures never occurs in training.
            story.require((_bucket(structure, 7) == 0) == (split == "test-structures"))
            story.require(story.widened == (split == "test-numbers"))
            story.require(story.reworded == (split == "test-templates"))
            # The numbers of a question decide between train and the other splits, so that no
            # question, whatever its wording, is in both.
            place = _bucket(" ".join(map(str, sorted(story.numbers))), 4)
            story.require(place in {"train": (0, 3), "dev": (1,)}.get(split, (2,)))
            solution, question = story.solution(), story.question()
            story.require(question not in problems)
        except Unfit:
            continue
        meta = {"dataset": "fresh", "version": VERSION, "family": family, "kind": kind,
                "steps": str(len(story.steps)), "structure": structure, "split": split,
                "distractors": str(story.distractors)}  # fmt: skip
        problems[question] = Problem.from_row(number, question, solution, meta)
        attempt = 0
    return tuple(problems.values())


def _bucket(text: str, buckets: int) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") % buckets


@lru_cache(4)
def load_fresh(name: str) -> tuple[tuple[Problem, ...], str]:
    """Return the problems of a name, and the SHA-256 of their rows as JSON lines.

    `fresh:2026` are the first 1,000 of the split test. Raises InputError for a name of another
    form, UnknownNameError for a split that there is not.
    """
    match = NAME.fullmatch(name)
    if match is None:
        raise InputError(
            f"{name!r} names no fresh problems; write fresh:SEED, fresh:SEED:SPLIT or "
            f"fresh:SEED:SPLIT:COUNT (splits: {', '.join(SPLITS)})"
        )
    count = int(match[3] or COUNT)
    if not 1 <= count <= MOST:
        raise InputError(f"{name!r} asks for {count:,} problems; ask for 1 to {MOST:,}")
    problems = fresh_problems(int(match[1]), count, split=match[2] or "test")
    return problems, rows_digest(problems)


def row(problem: Problem) -> str:
    """Return a problem as a line of a GSM8K file, with what it is made of."""
    fields = {"id": problem.id, "question": problem.question, "answer": problem.solution}
    return json.dumps({**fields, **problem.meta}) + "\n"


def rows_digest(problems: Iterable[Problem]) -> str:
    """Return the SHA-256 of the rows of problems."""
    return hashlib.sha256("".join(map(row, problems)).encode("ascii")).hexdigest()
