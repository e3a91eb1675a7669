"""Measure the answer extractor: agreement with people, false accepts, speed and more.

    python benchmarks/extractor.py [--near 1000000] [--only PART]

Needs the shared data (GRADESCHOOL_DATA). PART is one of the functions in PARTS. Each figure says
whether the data was used for tuning. Speed: gradeschool, lm-eval's flexible filter and Math-Verify
on the same completions in turn, medians of CPU time.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from gradeschool import Problem, all_scorers, load_gsm8k
from gradeschool.answers import candidates
from gradeschool.answers.candidates import features
from gradeschool.answers.extractor import Confidence, extract_final_answer
from gradeschool.answers.quantities import WrittenNumber, canonical_gold, same_answer, same_value
from gradeschool.answers.regions import committed_region
from gradeschool.answers.statements import is_aside, last_sentences
from gradeschool.scorer import Scorer
from gradeschool.verdict import Outcome
from tests.support.outcomes import judge_against

DATA = Path(os.environ.get("GRADESCHOOL_DATA") or "../shared/data")
LABELS = Path(__file__).parent.parent / "tests" / "answers"
SCORER = "gradeschool/reader"
# Scorers that read a number in any text.
SIMPLE = (
    "lm-eval/gsm8k/flexible-extract", "multi-pattern", "olmo-eval/gsm8k", "numeric-equality",
    "deepseek-math/zero-shot",
)  # fmt: skip
# Two of ProcessBench's labels of the final answer are wrong (recomputed).
WRONG_LABELS = frozenset({"gsm8k-70", "gsm8k-74"})
ROUNDS, EPOCHS, SLOW_SAMPLE = 5, 6, 300
PLACES = (
    "#### {}", "#### ${}", "\\boxed{{{}}}", "The answer is {}.", "The final answer is {} dollars.",
    "ANSWER: {}", "**Answer:** {}", "<answer>{}</answer>", "A: {}", "{}", "So she has {} left.",
    "Therefore, it takes {} hours.", "9 * 2 = {}", "In total she pays **${}**.",
)  # fmt: skip


class LabelledText(NamedTuple):
    """A completion with the answer that people read in it, None if it has no answer."""

    source: str
    stratum: str
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
    """Return every hand-read completion: shared ones, those of others, and our own."""
    recorded = completions()
    texts = []
    for name, path in (
        ("shared", DATA / "adjudicated.jsonl"), ("own", LABELS / "read_by_hand.jsonl"),
    ):  # fmt: skip
        for row in rows(path):
            text = recorded[row["file"]][row["line"]]["completion"]
            question = problems[row["index"]].question
            source = f"{name}: {row['file'].removesuffix('.jsonl')}"
            texts.append(
                LabelledText(source, row["stratum"], text, question, row["answer"], row["gold"])
            )
    for row in rows(DATA / "adjudicated_strangers.jsonl"):
        source = "strangers: " + row["source"].split(" @ ")[0]
        question = problems[row["index"]].question
        texts.append(
            LabelledText(
                source, row["stratum"], row["completion"], question, row["answer"], row["gold"]
            )
        )
    return texts


def agrees(text: LabelledText, value: str | None) -> tuple[bool, bool]:
    """Return whether a value equals the people's, and whether it gives the same verdict."""
    answer = text.answer
    equal = value == answer or bool(value and answer and same_value(value, answer))
    verdicts = [read is not None and same_answer(read, text.gold) for read in (value, answer)]
    return equal, verdicts[0] == verdicts[1]


def value_of(text: str, question: str) -> str | None:
    """Return the value that the extractor finds."""
    extracted = extract_final_answer(text, question)
    return None if extracted is None else extracted.value


def agreement(problems: Sequence[Problem]) -> None:
    """Print agreement with people by source (all were seen), also of published scorers."""
    texts = labelled(problems)
    size, values, verdicts = Counter[str](), Counter[str](), Counter[str]()
    for text in texts:
        key = f"{text.source}, {text.stratum}"
        equal, same_verdict = agrees(text, value_of(text.text, text.question))
        size[key] += 1
        values[key] += equal
        verdicts[key] += same_verdict
    print("seen: hand-read completions, the same value, the same verdict as people")
    for key in sorted(size):
        print(f"  {size[key]:5} {values[key]:5} {verdicts[key]:5}  {key}")
    print(f"  {size.total():5} {values.total():5} {verdicts.total():5}  all")
    print("the same verdict as people, of all:")
    counts = Counter[str]()
    for name, scorer in all_scorers().items():
        if not scorer.extra:
            counts[name] = sum(
                passes(scorer, text.text, Problem.from_gold(text.gold))
                == (text.answer is not None and same_answer(text.answer, text.gold))
                for text in texts
            )
    for name, count in counts.most_common(8):
        print(f"  {count / len(texts):8.1%}  {name} (without the question)")


def confidence(problems: Sequence[Problem]) -> None:
    """Print how often an answer of each confidence equals the people's."""
    size, right = Counter[str](), Counter[str]()
    for text in labelled(problems):
        extracted = extract_final_answer(text.text, text.question)
        key = "none" if extracted is None else extracted.confidence.value
        size[key] += 1
        right[key] += agrees(text, None if extracted is None else extracted.value)[0]
    print("seen: precision by confidence")
    for key in (*Confidence, "none"):
        print(f"  {right[key]:4} of {size[key]:4}  {key}")


def own_words(problems: Sequence[Problem]) -> None:
    """Print the results for GSM8K's own solutions without '####', and for ProcessBench."""
    print("seen: solutions of GSM8K without '####' and annotations; right, last number right, of")
    for split in ("train", "test"):
        right = last = size = 0
        for row in rows(DATA / "gsm8k" / f"{split}.jsonl"):
            solution, _, gold = row["answer"].rpartition("####")
            text = re.sub(r"<<.*?>>", "", solution).rstrip()
            value = value_of(text, row["question"])
            numbers = re.findall(r"-?[\d,]*\.?\d+", text)
            right += value is not None and same_answer(value, canonical_gold(gold))
            last += bool(numbers) and same_answer(canonical_gold(numbers[-1]), canonical_gold(gold))
            size += 1
        print(f"  {right:5} {last:5} {size:5}  {split}")
    golds = {
        problem.question.strip(): problem.gold for problem in [*problems, *load_gsm8k("train")]
    }
    chains = json.loads((DATA / "step_labels" / "processbench_gsm8k.json").read_text("utf-8"))
    agree = sum(
        (value is not None and same_answer(value, canonical_gold(golds[row["problem"].strip()])))
        == (row["final_answer_correct"] != (row["id"] in WRONG_LABELS))
        for row in chains
        for value in [value_of("\n\n".join(row["steps"]), row["problem"])]
    )
    print(f"  {agree} of {len(chains)} ProcessBench rows (two labels that are wrong put right)")


def invented(problems: Sequence[Problem]) -> None:
    """Print the results on invented texts by set; "apart" was never looked at."""
    size, right = Counter[str](), Counter[str]()
    for row in rows(LABELS / "invented.jsonl"):
        value, answer = value_of(row["completion"], row["question"]), row["answer"]
        size[row["set"]] += 1
        right[row["set"]] += value == answer or bool(value and answer and same_value(value, answer))
    print("invented texts: " + ", ".join(f"{right[key]} of {size[key]} {key}" for key in size))


# Thousands as the language writes them, and the zero of its script.
GROUPS = {"de": ".", "es": ".", "fr": "\u202f", "ru": " "}
ZEROS = {"bn": "০", "te": "౦", "th": "๐", "ja": "０", "zh": "０"}


def languages(problems: Sequence[Problem]) -> None:
    """Print (right, total) for MGSM's golds in each language's phrases, digits and grouping."""
    print("seen: MGSM's golds in phrases of each language")
    phrases = json.loads((LABELS / "languages.json").read_text("utf-8"))
    for language, templates in phrases.items():
        lines = (DATA / "family" / "mgsm" / f"mgsm_{language}.tsv").read_text("utf-8").split("\n")
        right = size = 0
        for line in filter(None, lines):
            question, gold = line.rsplit("\t", 1)
            for written in forms(int(gold.replace(",", "")), language):
                for template in (*templates[:3], "\\boxed{{{}}}"):
                    value = value_of("5 + 6 = 11. " + template.format(written), question)
                    right += value is not None and same_value(value, canonical_gold(gold))
                    size += 1
        print(f"  {right:5} of {size:5}  {language}")


def forms(number: int, language: str) -> set[str]:
    """Return a number as a language writes it."""
    zero = ord(ZEROS.get(language, "0"))
    script = "".join(chr(zero + int(digit)) if digit != "-" else "-" for digit in str(number))
    return {str(number), script, f"{number:,}".replace(",", GROUPS.get(language, ","))}


def alone(problems: Sequence[Problem]) -> None:
    """Print how often it differs from simple scorers that agree, and how often it is right."""
    scorers = [all_scorers()[name] for name in SIMPLE]
    unanimous = differs = 0
    for file in completions().values():
        for row in file:
            values = {canonical_gold(value) for value in simple_values(scorers, row["completion"])}
            if len(values) == 1 and "" not in values:
                unanimous += 1
                value = value_of(row["completion"], problems[row["index"]].question)
                differs += value is None or not same_value(value, *values)
    print(f"{unanimous:,} completions in which {len(SIMPLE)} simple scorers read one value;")
    print(f"it reads another or none in {differs:,} ({differs / unanimous:.2%})")
    recorded, right = completions(), 0
    labels = rows(LABELS / "alone.jsonl")
    for row in labels:
        text = recorded[row["file"]][row["line"]]["completion"]
        value, answer = value_of(text, problems[row["index"]].question), row["answer"]
        right += value == answer or bool(value and answer and same_value(value, answer))
    print(f"of {len(labels)} of these that were hand-read: right in {right}")


def simple_values(scorers: Sequence[Scorer], text: str) -> Iterator[str]:
    """Yield the answer of each scorer, "" if it finds nothing or fails."""
    for scorer in scorers:
        verdict = judge_against(scorer, text, "0")
        value = "" if verdict.answer is None else verdict.answer.value
        yield value.replace(",", "").replace("$", "").rstrip(".")


class Choice(NamedTuple):
    """The candidates of a sentence: the features of each, and which of them are right."""

    source: str
    features: list[list[str]]
    right: list[bool]


def choices(problems: Sequence[Problem]) -> list[Choice]:
    """Return the closing sentences with several numbers, of hand-read texts and of solutions."""
    made = []
    for text in labelled(problems):
        if text.answer is not None:
            region = committed_region(text.text, text.question)
            part = region.text[region.start : region.end]
            made.append(choice(text.source, part, text.question, text.answer))
    for row in rows(DATA / "gsm8k" / "train.jsonl"):
        solution, _, gold = row["answer"].rpartition("####")
        text_part = re.sub(r"<<.*?>>", "", solution).rstrip()
        made.append(choice("GSM8K solutions", text_part, row["question"], canonical_gold(gold)))
    return [row for row in made if row is not None]


def choice(source: str, text: str, question: str, answer: str) -> Choice | None:
    """Return the choice in a closing sentence, None if there is nothing to choose."""
    for sentence in last_sentences(text, 0, len(text)):
        span = text, sentence.start, sentence.end
        numbers: list[WrittenNumber] = candidates.sentence_numbers(*span, question)
        if not numbers or is_aside(text, sentence):
            continue
        right = [same_answer(number.value, answer) for number in numbers]
        if not any(right) or all(right):
            return None
        return Choice(source, features(*span, numbers, question), right)
    return None


def fitted(data: Sequence[Choice]) -> dict[str, float]:
    """Return weights by the averaged perceptron, from zero."""
    weights, total = dict.fromkeys(candidates.WEIGHTS, 0.0), dict.fromkeys(candidates.WEIGHTS, 0.0)
    for _ in range(EPOCHS):
        for row in data:
            scores = [sum(weights[name] for name in names) for names in row.features]
            best = max(range(len(scores)), key=lambda index: (scores[index], index))
            if not row.right[best]:
                target = max(
                    (index for index, right in enumerate(row.right) if right),
                    key=lambda index: (scores[index], index),
                )
                for index, step in ((target, 1.0), (best, -1.0)):
                    for name in row.features[index]:
                        weights[name] += step
            for name, weight in weights.items():
                total[name] += weight
    return {name: weight / (EPOCHS * len(data)) for name, weight in total.items()}


def accuracy(data: Sequence[Choice], weights: dict[str, float]) -> int:
    """Return the number of sentences whose candidate with the highest weight is right."""
    right = 0
    for row in data:
        scores = [sum(weights[name] for name in names) for names in row.features]
        right += row.right[max(range(len(scores)), key=lambda index: (scores[index], index))]
    return right


def leave_one_out(problems: Sequence[Problem]) -> None:
    """Print the choice of a number by fitted weights, each source left out of the fit in turn."""
    data = choices(problems)
    print("sentences with several numbers; right by the shipped weights, by weights fitted on all")
    print("other sources (left out), by the last number")
    for source in sorted({row.source for row in data}):
        inside = [row for row in data if row.source == source]
        weights = fitted([row for row in data if row.source != source])
        shipped, other = accuracy(inside, candidates.WEIGHTS), accuracy(inside, weights)
        last = sum(row.right[-1] for row in inside)
        print(f"  {len(inside):5} {shipped:5} {other:5} {last:5}  {source}")


def near_misses(gold: str) -> Iterator[str]:
    """Yield wrong answers near a gold: suffix, prefix, scale, one off, sign, swapped digits."""
    number = int(gold.replace(",", ""))
    digits = str(abs(number))
    yield from (f"{number + by}" for by in (-100, -10, -2, -1, 1, 2, 10, 100))
    yield from (f"{first}{digits}" for first in (1, 2, 7, 9))
    yield from (f"{number}{last}" for last in (*range(10), "00", "000", ".5", ".25", ".01", ".001"))
    yield from (f"0.{digits}", f"3.{digits}", f"{number}/7", f"{number}e3", f"{number}:30")
    yield from (f"{number:,},000", f"1,{digits:0>3}", f"{number} million", f"{number}^2")
    yield from (f"{number} 1/2", f"{number} \\(\\frac{{2}}{{3}}\\)", f"{number} feet 5 inches")
    yield str(-number)
    for index in range(len(digits) - 1):
        yield digits[:index] + digits[index + 1] + digits[index] + digits[index + 2 :]


def false_accepts(problems: Sequence[Problem], many: int) -> None:
    """Print how many wrong answers near the gold pass."""
    scorer = all_scorers()[SCORER]
    tried = (
        (place.format(miss), problem)
        for problem in problems
        for miss in near_misses(problem.gold)
        if not same_answer(miss, problem.gold.replace(",", "")) and miss.lstrip("-")[:1]
        for place in PLACES
    )
    tried = ((text, problem) for text, problem in tried if not spells(text, problem.gold))
    outcomes = Counter(passes(scorer, *pair) for pair in islice(tried, many))
    print(f"wrong answers near the gold: {outcomes.total():,}, accepted {outcomes[True]:,}")


def spells(text: str, gold: str) -> bool:
    """Return whether a made text contains the gold ("10" swapped is "01", zero has no sign)."""
    if gold == "0":
        return True  # "0e3" and "0/7" are zero
    pattern = re.compile(rf"-?0*{gold.replace(',', '').lstrip('-')}")
    numbers = re.findall(r"[-\d.,/:e^]+", text.replace(" 1/2", "_1/2").replace(" feet", "_feet"))
    if "\\(" in text or "feet" in text or "1/2" in text:
        return False
    return any(pattern.fullmatch(number.replace(",", "")) for number in numbers)


def passes(scorer: Scorer, text: str, problem: Problem) -> bool:
    """Return whether a scorer calls a completion correct."""
    return scorer.judge(text, problem).outcome is Outcome.CORRECT


def cpu(work: Callable[[], object]) -> float:
    """Return the CPU seconds of a piece of work."""
    start = time.process_time()
    work()
    return time.process_time() - start


def speed(problems: Sequence[Problem]) -> None:
    """Print the time of a completion beside lm-eval's flexible filter and Math-Verify."""
    texts = [
        (row["completion"], problems[row["index"]])
        for file in completions().values()
        for row in file
    ]
    scorers = all_scorers()
    flexible, verify = scorers[SIMPLE[0]], scorers["math-verify/default"]
    seconds: dict[str, list[float]] = {"gradeschool/reader": [], flexible.name: [], verify.name: []}
    sample = texts[:: len(texts) // SLOW_SAMPLE]
    for _ in range(ROUNDS):
        ours = cpu(lambda: [value_of(text, problem.question) for text, problem in texts])
        seconds["gradeschool/reader"].append(ours / len(texts))
        theirs = cpu(lambda: [flexible.extract(text, "0") for text, _ in texts])
        seconds[flexible.name].append(theirs / len(texts))
    try:
        start = time.perf_counter()  # it works in its own process: wall time
        for text, problem in sample:
            verify.judge(text, problem)
        seconds[verify.name].append((time.perf_counter() - start) / len(sample))
    except ImportError:
        print("Math-Verify is not installed")
    for name, times in seconds.items():
        if times:
            print(f"  {statistics.median(times) * 1e6:9.1f} microseconds a completion  {name}")


PARTS = (agreement, confidence, own_words, invented, languages, alone, leave_one_out, speed)


def main() -> None:
    """Run all parts, or one."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--near", type=int, default=1_000_000)
    names = [part.__name__ for part in PARTS]
    parser.add_argument("--only", choices=[*names, "false_accepts"])
    options = parser.parse_args()
    problems = list(load_gsm8k("test"))
    for part in PARTS:
        if options.only in (None, part.__name__):
            part(problems)
    if options.only in (None, "false_accepts"):
        false_accepts([*problems, *load_gsm8k("train")], options.near)


if __name__ == "__main__":
    main()
