"""Measure the answer extractor: agreement with people, false accepts, speed.

    python benchmarks/extractor.py [agreement|own_words|languages|false_accepts|families|speed] …

Needs the shared data (GRADESCHOOL_DATA). Each figure says whether the data was used for tuning.
`ablation.py` beside it shows what each pattern and weight decides.
"""

from __future__ import annotations

import json
import os
import random
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from gradeschool import Problem, all_scorers, load_gsm8k
from gradeschool.answers.extractor import extract_final_answer
from gradeschool.answers.quantities import canonical_gold, same_answer, same_value
from gradeschool.scorer import Outcome

DATA = Path(os.environ.get("GRADESCHOOL_DATA") or "../shared/data")
LABELS = Path(__file__).parent.parent / "tests" / "answers"
SCORER = "gradeschool/reader"
BESIDE = ("gradeschool/parse-answer", "math-verify/default", "lm-eval/gsm8k/flexible-extract")
NEAR, FAMILY_TEXTS, ROUNDS = 1_000_000, 10_000, 5
PLACES = (
    "#### {}", "#### ${}", "\\boxed{{{}}}", "The answer is {}.", "The final answer is {} dollars.",
    "ANSWER: {}", "**Answer:** {}", "<answer>{}</answer>", "A: {}", "{}", "So she has {} left.",
    "Therefore, it takes {} hours.", "9 * 2 = {}", "In total she pays **${}**.",
)  # fmt: skip


class LabelledText(NamedTuple):
    """A completion with the answer that people read in it, None if it has no answer."""

    source: str
    text: str
    question: str
    answer: str | None
    gold: str


def rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a JSONL file."""
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def completions() -> dict[str, list[dict[str, Any]]]:
    """Return the recorded completions by file."""
    return {path.name: rows(path) for path in sorted((DATA / "completions").glob("*.jsonl"))}


def labelled(problems: Sequence[Problem]) -> list[LabelledText]:
    """Return every hand-read completion, all of them seen while tuning."""
    recorded, texts = completions(), []
    for name, path in (
        ("shared", DATA / "adjudicated.jsonl"), ("own", LABELS / "read_by_hand.jsonl"),
        ("alone", LABELS / "alone.jsonl"), ("strangers", DATA / "adjudicated_strangers.jsonl"),
    ):  # fmt: skip
        for row in rows(path):
            problem = problems[row["index"]]
            text = row.get("completion") or recorded[row["file"]][row["line"]]["completion"]
            source = f"{name}, {row.get('stratum', 'against unanimous rules')}"
            texts.append(LabelledText(source, text, problem.question, row["answer"], problem.gold))
    return texts


def value_of(text: str, question: str) -> str | None:
    """Return the value that the extractor finds."""
    extracted = extract_final_answer(text, question)
    return None if extracted is None else extracted.value


def equal(value: str | None, answer: str | None) -> bool:
    """Return whether two values, or none, are the same."""
    return value == answer or bool(value and answer and same_value(value, answer))


def agreement(problems: Sequence[Problem]) -> None:
    """Print the verdicts that are people's, by source, and those of other scorers."""
    texts = labelled(problems)
    right = {name: Counter[str]() for name in (SCORER, *BESIDE)}
    size, values = Counter[str](), Counter[str]()
    for text in texts:
        expected = text.answer is not None and same_answer(text.answer, canonical_gold(text.gold))
        size[text.source] += 1
        values[text.source] += equal(value_of(text.text, text.question), text.answer)
        problem = Problem("", text.question, text.gold, f"#### {text.gold}")
        for name, counts in right.items():
            verdict = all_scorers()[name].judge(text.text, problem)
            counts[text.source] += (verdict.outcome is Outcome.CORRECT) == expected
    print("hand-read, seen: texts, the same value; the same verdict by", ", ".join(right))
    for source in size:
        verdicts = " ".join(f"{counts[source]:4}" for counts in right.values())
        print(f"  {size[source]:5} {values[source]:5}   {verdicts}  {source}")
    parts = Counter(row["set"] for row in rows(LABELS / "invented.jsonl"))
    found = Counter(
        row["set"]
        for row in rows(LABELS / "invented.jsonl")
        if equal(value_of(row["completion"], row["question"]), row["answer"])
    )
    print("invented: " + ", ".join(f"{found[key]} of {parts[key]} {key}" for key in parts))


def own_words(problems: Sequence[Problem]) -> None:
    """Print the results on GSM8K's own solutions without '####' and annotations (seen)."""
    for split in ("train", "test"):
        solutions = rows(DATA / "gsm8k" / f"{split}.jsonl")
        right = 0
        for row in solutions:
            solution, _, gold = row["answer"].rpartition("####")
            value = value_of(re.sub(r"<<.*?>>", "", solution).rstrip(), row["question"])
            right += value is not None and same_answer(value, canonical_gold(gold))
        print(f"GSM8K's own words, {split}: {right:,} of {len(solutions):,}")


def languages(problems: Sequence[Problem]) -> None:
    """Print the results on MGSM's golds in phrases of each language (seen)."""
    phrases = json.loads((LABELS / "languages.json").read_text("utf-8"))
    for language, templates in phrases.items():
        lines = (DATA / "family" / "mgsm" / f"mgsm_{language}.tsv").read_text("utf-8").split("\n")
        pairs = [line.rsplit("\t", 1) for line in lines if line]
        right = sum(
            equal(value_of("5 + 6 = 11. " + form.format(gold), question), canonical_gold(gold))
            for question, gold in pairs
            for form in (*templates[:3], "\\boxed{{{}}}")
        )
        print(f"MGSM's golds, {language}: {right:,} of {4 * len(pairs):,}")


def near_misses(gold: str) -> Iterator[str]:
    """Yield wrong answers that a careless scorer takes for the gold."""
    number, digits = int(gold.replace(",", "")), gold.replace(",", "").lstrip("-")
    yield from (str(number + by) for by in (*range(-10, 0), *range(1, 11), 100, -100, 1000))
    yield from (f"{head}{digits}" for head in range(1, 10))
    yield from (f"{number}{tail}" for tail in (*range(10), "00", "000", ".5", ".25", ".01", ".001"))
    yield from (f"0.{digits}", f"3.{digits}", f"{number}/7", f"{number}e3", f"{number}:30")
    yield from (f"{number:,},000", f"{number} million", f"{number} 1/2", f"{number} feet 5 inches")
    yield str(-number)


def false_accepts(problems: Sequence[Problem]) -> None:
    """Print how many wrong answers near the gold pass."""
    scorer = all_scorers()[SCORER]
    tried = (
        (place.format(miss), problem)
        for problem in (*problems, *load_gsm8k("train"))
        for miss in near_misses(problem.gold)
        if problem.gold != "0" and not same_answer(miss, problem.gold.replace(",", ""))
        for place in PLACES
    )
    outcomes = Counter(scorer.judge(*pair).correct for pair in islice(tried, NEAR))
    print(f"wrong answers near the gold: {outcomes.total():,}, accepted {outcomes[True]:,}")


def families(problems: Sequence[Problem]) -> None:
    """Print false accepts of denied, considered and bounded numbers, and of expressions."""
    draw = random.Random(8)
    leads = ("", "She has 3 boxes of 4. ", "3 * 4 = 12 and 12 + 2 = 14.\n", "Let us see.\n")
    for name, templates in json.loads((LABELS / "families.json").read_text("utf-8")).items():
        accepted = 0
        for _ in range(FAMILY_TEXTS):
            n = draw.randrange(16, 900)
            m, k = n + draw.randrange(1, 40), n + draw.randrange(41, 90)
            text = draw.choice(templates).format(n=n, m=m, k=k, d=draw.randrange(2, 9))
            accepted += equal(value_of(draw.choice(leads) + text, ""), str(n))
        print(f"{name}: {accepted:,} of {FAMILY_TEXTS:,} accepted")


def speed(problems: Sequence[Problem]) -> None:
    """Print the CPU time of a recorded completion, median of five rounds."""
    texts = [
        (row["completion"], problems[row["index"]].question)
        for file in completions().values()
        for row in file
    ]
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        for text, question in texts:
            extract_final_answer(text, question)
        times.append((time.process_time() - start) / len(texts))
    print(f"{statistics.median(times) * 1e6:.1f} microseconds a completion ({len(texts):,})")


PARTS = {
    part.__name__: part
    for part in (agreement, own_words, languages, families, false_accepts, speed)
}


def main() -> None:
    """Run the named parts, or all."""
    problems = list(load_gsm8k("test"))
    for name in sys.argv[1:] or PARTS:
        PARTS[name](problems)


if __name__ == "__main__":
    main()
