"""The tiny model's training text: fresh problems in several prompt formats."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from gradeschool.datasets.fresh.generate import fresh_problems

REPO_ROOT = Path(__file__).resolve().parents[2]

FRESH_PROBLEMS, FRESH_SEED, FRESH_STEPS = 1500, 20211027, (2, 3)
TEXT_SEED = 8
MAX_CHARACTERS = 330  # longer problems teach such a small model only loops
MAX_SHOTS = 6
FEW_SHOT_SHARE = 0.15

USER_TURN = "<|im_start|>user\n{text}<|im_end|>\n"
ASSISTANT_TURN = "<|im_start|>assistant\n{text}<|im_end|>\n"
END_OF_TURN = "<|im_end|>\n"
COMPLETION_FORMATS = ("Question: {question}\nAnswer: {answer}", "Q: {question}\nA: {answer}")

NAMES = ("Anna", "Ben", "Carla", "David", "Elena", "Farid", "Grace", "Hugo")
THINGS = ("apples", "books", "cards", "eggs", "marbles", "pencils", "shells", "stickers")


class Problem(NamedTuple):
    """A question and its worked answer, which ends in `#### N`."""

    question: str
    answer: str


def load_problems() -> list[Problem]:
    """Return fresh problems, the same on every machine and always available."""
    fresh = fresh_problems(FRESH_SEED, FRESH_PROBLEMS, steps=FRESH_STEPS)
    return [Problem(problem.question, problem.solution) for problem in fresh]


def make_problems(count: int, seed: int) -> list[Problem]:
    """`count` arithmetic word problems in GSM8K's form; the same ones for the same seed."""
    rng = random.Random(seed)
    return [_make_problem(rng) for _ in range(count)]


def _make_problem(rng: random.Random) -> Problem:
    name, friend = rng.sample(NAMES, 2)
    thing = rng.choice(THINGS)
    a, b, c = rng.randint(2, 40), rng.randint(2, 40), rng.randint(2, 9)
    product = b * c
    if rng.random() < 0.5:
        question = f"{name} has {a} {thing}. {friend} brings {b} more {thing} on each of {c} days."
        first = f"{friend} brings {b}*{c}=<<{b}*{c}={product}>>{product} {thing}."
        total = a + product
        last = f"{name} has {a}+{product}=<<{a}+{product}={total}>>{total} {thing}."
    else:
        question = f"{name} buys {b} boxes with {c} {thing} in each box and finds {a} {thing} more."
        first = f"The boxes hold {b}*{c}=<<{b}*{c}={product}>>{product} {thing}."
        total = product + a
        last = f"{name} has {product}+{a}=<<{product}+{a}={total}>>{total} {thing}."
    question += f" How many {thing} does {name} have now?"
    return Problem(question, f"{first}\n{last}\n#### {total}")


def training_documents(problems: list[Problem]) -> Iterator[str]:
    """Every short problem once, in seeded order: as completion or chat, alone or few-shot."""
    rng = random.Random(TEXT_SEED)
    order = [p for p in problems if len(p.question) + len(p.answer) <= MAX_CHARACTERS]
    rng.shuffle(order)
    while order:
        shots = rng.randint(2, MAX_SHOTS) if rng.random() < FEW_SHOT_SHARE else 1
        taken, order = order[-shots:], order[:-shots]
        yield _as_chat(taken) if rng.random() < 0.5 else _as_text(taken, rng)


def _as_text(problems: list[Problem], rng: random.Random) -> str:
    form = rng.choice(COMPLETION_FORMATS)
    return "\n\n".join(form.format(**p._asdict()) for p in problems) + END_OF_TURN


def _as_chat(problems: list[Problem]) -> str:
    return "".join(
        USER_TURN.format(text=p.question) + ASSISTANT_TURN.format(text=p.answer) for p in problems
    )
