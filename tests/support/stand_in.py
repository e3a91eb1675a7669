"""A stand-in for GSM8K: as many problems, in the same files, with its quirks and none of its text.

The rows of the test split whose golds are negative, zero, written with commas or 100,000 and more
are those of GSM8K, so that results that depend only on the form of a gold are the same. `installed`
makes the package use the stand-in instead of the real datasets.
"""

import hashlib
import json
import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from gradeschool.datasets import load
from gradeschool.datasets.load import SOURCES
from gradeschool.protocols.registry import all_protocols
from tests.support.files import jsonl

SEED = 20211027
TEST_ROWS, TRAIN_ROWS = 1319, 7473
TEST_COMMAS = (146, 201, 230, 249, 505, 610, 611, 640, 642, 819, 829, 997, 1009, 1206)
TEST_LARGE = (
    *(201, 230, 266, 313, 325, 343, 373, 409, 582, 611),
    *(641, 649, 657, 715, 796, 1043, 1086, 1293),
)
TEST_GOLDS = {0: 18, 1: 3, 2: 70_000, 489: -10, 1113: -3}
TRAIN_COMMAS, TRAIN_LARGE = range(345, 7_440, 90), range(15, 7_440, 95)
TRAIN_GOLDS = {626: 0, 5715: -7, 5844: -47, 6189: -12}
LARGEST = 2_880_000

NAMES = ("Amara", "Bruno", "Chidi", "Dorte", "Elif", "Farid", "Greta", "Hugo", "Ines", "Jonah")
THINGS = ("acorns", "badges", "candles", "dumplings", "envelopes", "feathers", "gears", "hats")
UNITS = ("boxes", "crates", "drawers", "bags", "baskets", "shelves")
EXEMPLARS = Path(load.__file__).parent / "sample" / "exemplars.jsonl"
COMPLETIONS = 700  # per file; "tora" answers every problem

OFFICIAL, LOADER, SHA256 = dict(SOURCES), load._load_source, load.OFFICIAL_SHA256

FILES = (
    *("gsm8k/test.jsonl", "gsm8k/train.jsonl", "gsm8k/test_socratic.jsonl"),
    *("exemplars/gsm8k-cot.yaml", "exemplars/gsm8k_gen_1d7fe4.py"),
)

Row = dict[str, str]


def write(folder: Path) -> None:
    """Write every file of the stand-in below `folder`, under the names that GSM8K's files have."""
    for name in ("gsm8k", "exemplars", "completions"):
        (folder / name).mkdir(parents=True)
    rng = random.Random(SEED)
    test = [
        problem(rng, gold) for gold in golds(rng, TEST_ROWS, TEST_COMMAS, TEST_LARGE, TEST_GOLDS)
    ]
    train = [
        problem(rng, gold)
        for gold in golds(rng, TRAIN_ROWS, TRAIN_COMMAS, TRAIN_LARGE, TRAIN_GOLDS)
    ]
    jsonl(folder / "gsm8k" / "test.jsonl", test)
    jsonl(folder / "gsm8k" / "train.jsonl", train)
    jsonl(folder / "gsm8k" / "test_socratic.jsonl", map(socratic, test))
    exemplars = [json.loads(line) for line in EXEMPLARS.read_text("utf-8").splitlines()]
    (folder / "exemplars" / "gsm8k-cot.yaml").write_text(as_yaml(exemplars), "utf-8")
    (folder / "exemplars" / "gsm8k_gen_1d7fe4.py").write_text(as_config(exemplars[:4]), "utf-8")
    for name, style in STYLES.items():
        path = folder / "completions" / f"{name}.jsonl"
        some = test if name == "tora" else test[: COMPLETIONS // len(style)]
        jsonl(path, completions(rng, some, style))


def golds(
    rng: random.Random,
    rows: int,
    commas: Iterable[int],
    large: Iterable[int],
    fixed: dict[int, int],
) -> Iterator[str]:
    """Yield the gold of each row, as text."""
    with_comma, with_many, largest = set(commas), set(large), max(large)
    for row in range(rows):
        value = rng.randint(1_001, 99_000) if row in with_comma else rng.randint(2, 1_500)
        if row in with_many:
            value = LARGEST if row == largest else 100 * rng.randint(1_000, 9_989)
        value = fixed.get(row, value)
        yield f"{value:,}" if row in with_comma else str(value)


def problem(rng: random.Random, gold: str) -> Row:
    """Make a problem of two steps with this gold, in GSM8K's form."""
    total = int(gold.replace(",", ""))
    name, friend = rng.sample(NAMES, 2)
    thing, unit = rng.choice(THINGS), rng.choice(UNITS)
    each, count = rng.randint(2, 9), rng.randint(2, 12)
    product = each * count
    if total > product and rng.random() < 0.6:
        start = total - product
        question = (
            f"{name}’s shop holds {start} {thing}. {friend} brings {count} {unit} with {each} "
            f"{thing} each. How many {thing} does {name}’s shop hold now?"
        )
        lines = [
            f"{friend} brings {count}*{each}=<<{count}*{each}={product}>>{product} {thing}.",
            f"The shop holds {start}+{product}=<<{start}+{product}={total}>>{total} {thing}.",
        ]
    else:
        start = total + product
        question = (
            f"{name} counts {start} points in a game and loses {each} of them in each of {count} "
            "rounds.  With how many points does the game end?"
        )
        lines = [
            f"{name} loses {each}*{count}=<<{each}*{count}={product}>>{product} points.",
            f"The game ends with {start}-{product}=<<{start}-{product}={total}>>{total} points.",
        ]
    return {"question": question, "answer": "\n".join([*lines, f"#### {gold}"])}


def socratic(row: Row) -> Row:
    """Put a sub-question before each step."""
    *lines, last = row["answer"].split("\n")
    questions = ("How many come or go?", "How many are there in the end?")
    steps = [f"{question} ** {line}" for question, line in zip(questions, lines, strict=True)]
    return {"question": row["question"], "answer": "\n".join([*steps, last])}


def as_yaml(exemplars: list[Row]) -> str:
    """Write exemplars in the form of lm-eval's gsm8k-cot.yaml."""
    samples = [
        {
            "question": exemplar["question"],
            "target": f"{exemplar['rationale']} The answer is {exemplar['answer']}.",
        }
        for exemplar in exemplars
    ]
    return json.dumps({"fewshot_config": {"sampler": "first_n", "samples": samples}})


def as_config(exemplars: list[Row]) -> str:
    """Write exemplars in the form of an OpenCompass configuration."""
    turns = []
    for exemplar in exemplars:
        prompt = f"Question: {exemplar['question']}\nLet's think step by step\nAnswer:"
        completion = f"{exemplar['rationale']}\nThe answer is {exemplar['answer']}\n"
        turns += [("HUMAN", prompt), ("BOT", completion)]
    turns.append(("HUMAN", "Question: {question}\nLet's think step by step\nAnswer:"))
    listed = ",\n".join(f"    dict(role={role!r}, prompt={text!r})" for role, text in turns)
    return f"prompt_template = dict(round=[\n{listed},\n])\n"


STYLES = {
    "openai_example": ("small", "large"),
    "re2_rereading": ("read1", "read2"),
    "lianshan_eval": ("base",),
    "tora": ("program",),
}


def completions(
    rng: random.Random, rows: list[Row], runs: tuple[str, ...]
) -> Iterator[dict[str, Any]]:
    """Yield completions of several runs, two in three right, in the forms that models write."""
    for index, row in enumerate(rows):
        *lines, last = row["answer"].split("\n")
        gold = last.removeprefix("#### ")
        for run in runs:
            right = rng.random() < 0.67
            value = gold if right else str(int(gold.replace(",", "")) + rng.randint(1, 9))
            forms = {
                "small": f"{lines[0]}\n{lines[1]}\nA: {value}",
                "large": f"{lines[1]}\nA: {value}",
                "read1": f"We compute:\n\\[\n{lines[1]}\n\\]\n\nThus, it is \\boxed{{{value}}}.",
                "read2": f"**Step 1.** {lines[0]}\n\nThe answer is **{value}** (not {index}).",
                "program": f"```python\nprint({value})\n```\n```output\n{value}\n```",
                "base": f" {lines[0]} The answer is {value}.\n\nQ: {row['question']}\nA: {index}.",
            }
            yield {
                "source": "stand-in", "model": run, "index": index, "sample": 0,
                "completion": forms[run], "reported_correct": right,
            }  # fmt: skip


@contextmanager
def installed(folder: Path) -> Iterator[None]:
    """Make the package find the files of `folder` as GSM8K and its exemplars."""
    sources = {
        name: replace(source, sha256=digest(folder / source.path), alternative=None)
        for name, source in SOURCES.items()
        if source.url and (folder / source.path).is_file()
    }
    lines = (folder / "gsm8k" / "test.jsonl").read_text("ascii").splitlines()
    pairs = (
        (row["question"], row["answer"].rpartition("#### ")[2]) for row in map(json.loads, lines)
    )
    text = "".join(f"{question}\0{gold}\0" for question, gold in pairs)
    with pytest.MonkeyPatch.context() as patch:
        for name, source in sources.items():
            patch.setitem(SOURCES, name, source)
        patch.setattr(load, "_load_source", lru_cache(8)(LOADER.__wrapped__))
        patch.setattr(load, "OFFICIAL_SHA256", hashlib.sha256(text.encode()).hexdigest())
        yield


def protocols_here(shared: Path) -> Iterator[Any]:
    """Yield the names of the protocols whose problems and examples a test finds, as parameters.

    Protocols of other datasets need the published files, if `shared` has them.
    """
    for name, protocol in all_protocols().items():
        sources = [SOURCES[item] for item in (protocol.dataset, protocol.shots) if item]
        paths = [source.path for source in sources if source.url]
        if set(paths) <= set(FILES):
            yield name
        elif all((shared / path).is_file() for path in paths):
            yield pytest.param(name, marks=pytest.mark.official)


def remove(patch: pytest.MonkeyPatch) -> None:
    """Remove the stand-in, so that a test sees the real datasets of the package."""
    for name, source in OFFICIAL.items():
        patch.setitem(SOURCES, name, source)
    patch.setattr(load, "_load_source", LOADER)
    patch.setattr(load, "OFFICIAL_SHA256", SHA256)


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
