"""Measure how similar fresh problems are, and how fast they are made: `python benchmarks/fresh.py`.

The paper on GSM8K says that "pairwise similarity scores between problems" were computed, but not
which. Here each question is compared with every other of its set, with names and numbers replaced:
the cosine of its tf-idf vectors of words and word pairs with the nearest other question, and the
share of its 5-word sequences that are also in the nearest other question. The same is printed for
the real GSM8K if its data is available. Speed is problems per CPU second in one process.
"""

import argparse
import math
import re
import time
from collections import Counter, defaultdict
from collections.abc import Sequence

from gradeschool import load_gsm8k
from gradeschool.datasets.fresh import SPLITS, fresh_problems
from gradeschool.errors import GradeschoolError

NUMBER = re.compile(r"\$?\d[\d,]*(?:\.\d+)?%?")
WORD = re.compile(r"[a-z#@]+")
NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+|^[A-Z][a-z]+(?= (?:has|had|is|was|buys|bought|wants))")
LONGEST_LIST = 2_000  # questions with a feature; more common ones are skipped


def masked(question: str) -> list[str]:
    """Return the words of a question, with names and numbers replaced."""
    return WORD.findall(NAME.sub("@", NUMBER.sub("#", question)).lower())


def pairs(words: Sequence[str], length: int) -> list[tuple[str, ...]]:
    """Return the sequences of that many words."""
    return list(zip(*(words[start:] for start in range(length)), strict=False))


def nearest_cosine(texts: Sequence[Sequence[str]]) -> list[float]:
    """Return for each text the tf-idf cosine (words and word pairs) with its nearest other."""
    counts = [Counter([*((word,) for word in text), *pairs(text, 2)]) for text in texts]
    frequency = Counter(feature for count in counts for feature in count)
    vectors = []
    for count in counts:
        vector = {
            feature: (1 + math.log(number)) * math.log(len(texts) / frequency[feature])
            for feature, number in count.items()
            if frequency[feature] < len(texts)
        }
        norm = math.sqrt(sum(weight * weight for weight in vector.values())) or 1.0
        vectors.append({feature: weight / norm for feature, weight in vector.items()})
    index: dict[tuple[str, ...], list[tuple[int, float]]] = defaultdict(list)
    for number, vector in enumerate(vectors):
        for feature, weight in vector.items():
            index[feature].append((number, weight))
    best = []
    for number, vector in enumerate(vectors):
        dots: dict[int, float] = defaultdict(float)
        for feature, weight in vector.items():
            if len(index[feature]) <= LONGEST_LIST:
                for other, its in index[feature]:
                    dots[other] += weight * its
        dots.pop(number, None)
        best.append(max(dots.values(), default=0.0))
    return best


def nearest_overlap(texts: Sequence[Sequence[str]], length: int = 5) -> list[float]:
    """Return for each text the largest share of its word sequences that one other text has."""
    grams = [set(pairs(text, length)) for text in texts]
    index: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, sequences in enumerate(grams):
        for gram in sequences:
            index[gram].append(number)
    best = []
    for number, sequences in enumerate(grams):
        shared = Counter(other for gram in sequences for other in index[gram] if other != number)
        most = max(shared.values(), default=0)
        best.append(most / len(sequences) if sequences else 0.0)
    return best


def row(name: str, questions: Sequence[str], structures: int | None) -> str:
    """Return a line of the table."""
    texts = [masked(question) for question in questions]
    same = len(texts) - len({tuple(text) for text in texts})
    words = {word for question in questions for word in re.findall("[a-z]+", question.lower())}
    cosine, overlap = nearest_cosine(texts), nearest_overlap(texts)

    def middle(values: list[float]) -> float:
        return sorted(values)[len(values) // 2]

    def near(values: list[float]) -> float:
        return sum(value > 0.9 for value in values) / len(values)

    return (
        f"{name:<22}{len(texts):>6}{same / len(texts):>9.2%}{middle(cosine):>9.2f}"
        f"{near(cosine):>8.1%}{middle(overlap):>9.2f}"
        f"{near(overlap):>8.1%}{len(words):>8}"
        f"{'' if structures is None else structures:>12}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=2026)
    options = parser.parse_args()
    print(
        f"{'':<22}{'n':>6}{'same':>9}{'cosine':>9}{'> .9':>8}{'5-grams':>9}{'> .9':>8}"
        f"{'words':>8}{'structures':>12}"
    )
    for kind in ("forward", "search"):
        problems = fresh_problems(options.seed, options.count, split="test", families=(kind,))
        structures = len({problem.meta["structure"] for problem in problems})
        print(row(f"fresh, {kind}", [problem.question for problem in problems], structures))
    try:
        for split in ("test", "train"):
            real = load_gsm8k(split)[: options.count]
            print(row(f"GSM8K {split}", [problem.question for problem in real], None))
    except GradeschoolError as error:
        print(f"GSM8K is not here: {error}")
    print("same: questions equal to another but for names and numbers; cosine, 5-grams: medians of")
    print("the nearest other question, and the share of questions with one nearer than .9.\n")
    for split in SPLITS:
        start = time.process_time()
        count = len(fresh_problems(options.seed + 1, 1_000, split=split))
        print(f"{split:<16} {count / (time.process_time() - start):>7,.0f} problems a CPU second")


if __name__ == "__main__":
    main()
