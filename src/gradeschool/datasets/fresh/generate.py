"""Fresh problems: unlimited, the same for the same seed, split so that no question is in two."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

from gradeschool.datasets.fresh.chance import Chance
from gradeschool.datasets.fresh.registry import FAMILIES, FORWARD, SEARCH, WITH_ASIDES
from gradeschool.datasets.fresh.relations import aside
from gradeschool.datasets.fresh.story import Story, Style, Unfit
from gradeschool.errors import InputError, UnknownNameError
from gradeschool.problem import Problem

VERSION = "1"  # a change of any template or range is a new version
SPLITS = ("train", "dev", "test", "test-structures", "test-templates", "test-numbers")
STEPS = (2, 8)
ASIDE = 0.15  # how often a fact is added that has nothing to do with the question
PATIENCE, MOST_DRAWS = 40, 6_000  # draws of one family before another is tried; draws in all


def fresh_problems(
    seed: int,
    count: int,
    *,
    split: str = "train",
    steps: tuple[int, int] = STEPS,
    families: Sequence[str] = (),
) -> tuple[Problem, ...]:
    """Return the first problems of a seed; problem i does not depend on the count."""
    stream = fresh_stream(seed, split=split, steps=steps, families=families)
    return tuple(problem for problem, _ in zip(stream, range(count), strict=False))


def fresh_stream(
    seed: int,
    *,
    split: str = "train",
    steps: tuple[int, int] = STEPS,
    families: Sequence[str] = (),
) -> Iterator[Problem]:
    """Yield the problems of a seed for ever, no question twice."""
    if split not in SPLITS:
        raise UnknownNameError("split of fresh problems", split, SPLITS)
    chosen = _families(families)
    style = Style(*steps, wide=split == "test-numbers", held_out=split == "test-templates")
    seen: set[str] = set()
    number = 0
    while True:
        problem = _problem(seed, number, split, style, chosen, seen)
        seen.add(problem.question)
        number += 1
        yield problem


def _families(names: Sequence[str]) -> tuple[str, ...]:
    """Return the families of those names, each once; "forward" and "search" name all of a kind."""
    kinds = {"forward": FORWARD, "search": SEARCH}
    found: dict[str, None] = {}
    for name in names or FAMILIES:
        if name not in FAMILIES and name not in kinds:
            raise UnknownNameError("family of fresh problems", name, (*FAMILIES, *kinds))
        found |= dict.fromkeys(kinds.get(name, (name,)))
    return tuple(found)


def _problem(
    seed: int, number: int, split: str, style: Style, families: Sequence[str], seen: set[str]
) -> Problem:
    """Draw until a problem fits: its numbers make sense and it belongs to the split."""
    family = ""
    for attempt in range(MOST_DRAWS):
        chance = Chance(VERSION, seed, split, number, attempt)
        if attempt % PATIENCE == 0:
            family = chance.pick(families)
        story = Story(chance, style)
        try:
            FAMILIES[family](story)
            if family not in SEARCH:
                story.prune()
            if family in WITH_ASIDES and chance.hit(ASIDE):
                aside(story)
            structure = story.structure(family)
            if not style.low <= len(story.steps) <= style.high:
                continue
            if not _belongs(story, structure, split):
                continue
            solution, question = story.solution(), story.question()
        except Unfit:
            continue
        if question not in seen:
            return _finished(story, str(number), family, split, structure, question, solution)
    raise InputError(
        f"no problem of the families {sorted(families)!r} with {style.low} to {style.high} steps "
        f"was found for the split {split!r} in {MOST_DRAWS:,} draws; ask for more steps or families"
    )


def _finished(
    story: Story, id: str, family: str, split: str, structure: str, question: str, solution: str
) -> Problem:
    meta = {
        "dataset": "fresh",
        "version": VERSION,
        "family": family,
        "kind": "search" if family in SEARCH else "forward",
        "steps": str(len(story.steps)),
        "structure": structure,
        "split": split,
        "distractors": str(story.distractors),
    }
    return Problem.from_row(id, question, solution, meta)


def _belongs(story: Story, structure: str, split: str) -> bool:
    """Tell whether a story belongs to a split, by what it is made of and nothing else.

    A seventh of the structures is never seen in training. The numbers of a question decide between
    train and the rest, so no question, whatever its wording, is in train and elsewhere too.
    """
    if (_bucket(structure, 7) == 0) != (split == "test-structures"):
        return False
    if story.widened != (split == "test-numbers"):
        return False
    if story.reworded != (split == "test-templates"):
        return False
    place = _bucket(" ".join(map(str, sorted(story.numbers))), 4)
    return place == {"train": 0, "dev": 1}.get(split, 2) or (split == "train" and place == 3)


def _bucket(text: str, buckets: int) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") % buckets
