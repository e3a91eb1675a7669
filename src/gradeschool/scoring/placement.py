"""Whether texts fit the problems that their rows name, problems beside them, or none.

A text is compared with a question by its words and numbers, and with a gold by its last number. One
text proves little; a stretch of rows whose texts all fit the problem so many places away does.
"""

from __future__ import annotations

import re
import string
import tomllib
from bisect import bisect, bisect_left
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path

from gradeschool.answers.golds import read_gold
from gradeschool.answers.numbers import normalize, parse_decimal
from gradeschool.answers.regions import committed_region
from gradeschool.answers.search import last_match_in_words
from gradeschool.datasets.files import SOURCES
from gradeschool.datasets.load import is_here, load_dataset
from gradeschool.errors import InputError
from gradeschool.formats.samples import Sample
from gradeschool.percentages import count
from gradeschool.problem import Problem
from gradeschool.scorer import clip
from gradeschool.scoring.matching import Matcher

READ = 6000  # characters of a text; base models run on into further questions
ABOUT = 0.35  # share of a question's words in a text that is about it
STRANGE = 0.25  # a text with fewer may be about another problem
WORDY = 14  # different words
LEAST_ROWS = 8  # fewer prove nothing
STRANGERS, MANY_STRANGERS = 0.05, 0.08  # shares of the texts: searched for other problems; said
KEPT = 256  # strangers that are remembered
REACH = 31  # problems before and after its own whose golds and numbers are compared with a text's
LEAST_NUMBERS, LEAST_DIGITS = 3, 5  # of a question, which tell it from others by its numbers
MISPLACED = 0.02  # share of texts with the numbers of another question; hardly one by chance
SEGMENT = 4.5  # total of a stretch of rows that shows a shift, see `Stretches`
OWN_LOSS, OTHER_LOSS, GOLD_GAIN = 3.0, 0.25, 0.7  # a text of the row's problem; of another; by gold
ABOUT_LOSS, LOST = 9.0, 60  # texts about their problem make a stretch of lost ones end
BETWEEN_WORDS = str.maketrans(dict.fromkeys(string.punctuation, " "))
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")

normalized = lru_cache(16_384)(normalize)


@cache
def _sentences() -> dict[str, str]:
    return tomllib.loads(Path(__file__).with_name("checks.toml").read_text("utf-8"))


def say(finding: str, **values: object) -> str:
    """Return the sentence of a finding in checks.toml with its values."""
    return _sentences()[finding].format(**values)


def distinct_words(text: str) -> set[str]:
    """Return the words and the numbers of a text."""
    return set(text[:READ].lower().translate(BETWEEN_WORDS).split())


def last_number(text: str) -> str:
    """Return the last number of a text in its compared form, "" for none."""
    found = last_match_in_words(NUMBER, text)
    return normalize(found[0]) if found else ""


def read_number(gold: object) -> str:
    """Return a file's gold in its compared form, "" if it cannot be read."""
    try:
        return normalize(read_gold(gold))
    except InputError:
        return ""


@lru_cache(16_384)
def topic_words(question: str) -> frozenset[str]:
    """Return the words of a question that have four letters or more, and its numbers."""
    return frozenset([word for word in distinct_words(question) if len(word) > 3 or word.isdigit()])


@lru_cache(16_384)
def question_numbers(question: str) -> frozenset[str]:
    """Return the numbers of a question, as `distinct_words` divides them."""
    return frozenset(filter(str.isdigit, topic_words(question)))


def overlap(words: set[str], problem: Problem) -> float:
    """Return how much of a problem's question a text repeats, 0 to 1."""
    asked = topic_words(problem.question)
    shared = len(asked & words)
    return shared / len(asked) if shared > 1 else 0.0


def find_shift(
    words: set[str], answer: str, place: int, problems: Mapping[int, Problem]
) -> int | None:
    """Return the shift of the place whose problem a text fits best, None if that is unclear.

    place: of the problem that the text's row names; answer: its last number.
    """
    scores, own = dict.fromkeys((0, 1, -1, 2, -2), 0.0), problems.get(place)
    for shift in scores:
        if (problem := problems.get(place + shift)) is not None:
            scores[shift] = overlap(words, problem)
            if answer and answer == normalized(problem.gold):
                # A wrong answer is often near the right one.
                scores[shift] += 0.0 if shift and own and _are_near(own.gold, problem.gold) else 0.5
    second, best = sorted(scores.values())[-2:]
    return None if best < ABOUT or second > best - 0.1 else max(scores, key=scores.__getitem__)


def _are_near(gold: str, other: str) -> bool:
    one, two = parse_decimal(normalize(gold)), parse_decimal(normalize(other))
    return one is not None and two is not None and abs(one - two) <= 2


def find_id_base(samples: Sequence[Sample], matcher: Matcher) -> int | None:
    """Return the number of the first problem in a file's ids, None if they name no such problems.

    samples: the first of the file. 0 or 1, if the texts or golds of most rows are those of the
    problems that their ids name then, and a single bare number is not all that shows it.
    """
    fits, golds = Counter[int](), Counter[int]()
    weight, with_gold = 0.0, 0
    for sample in samples:
        id, gold = sample.reference.id, sample.reference.gold
        problem = None if id is None else matcher.ids.get(id)
        row = sample.reference.number if problem is None else matcher.places[problem.id]
        if row is None or sample.fault or sample.error:
            continue
        if gold is not None:
            with_gold += 1
            number = read_number(gold)
            for base in (0, 1):
                named = matcher.rows.get(row - base)
                golds[base] += named is not None and number == normalized(named.gold)
        words = distinct_words(sample.text)
        shift = find_shift(words, last_number(sample.text), row, matcher.rows)
        if shift is not None:
            fits[shift] += 1
            weight += 1 if len(words) > 5 else 0.5
    if with_gold:
        base = 0 if golds[0] >= golds[1] else 1
        return base if golds[base] >= 0.9 * with_gold and with_gold > 1 else None
    if weight < 1:
        return None
    if fits[0] >= 0.6 * fits.total():
        return 0
    return 1 if fits[-1] >= 0.6 * fits.total() and fits[-1] > 2 else None


class Stretches:
    """The best stretch of rows, in the order of the file, that have more of something than others.

    Each row with it adds a gain to the stretch that it ends, each row without it takes a loss; a
    stretch at 0 is over. Keys tell several such things apart. best: the total, the key, the first
    and the last row, the number of rows with it, and of all rows between them. n, last: all rows.
    """

    def __init__(self) -> None:
        self.n = self.last = 0
        self.best: tuple[float, int, int, int, int, int] = (0.0, 0, 0, 0, 0, 0)
        self._lost = 0.0
        self._open: dict[int, tuple[float, float, int, int, int]] = {}

    def add(self, row: int, loss: float, gains: Mapping[int, float] | None = None) -> None:
        """Take the next row: its gain for each key that it has, and its loss for all others."""
        self.n += 1
        self.last = row
        self._lost += loss
        for key, gain in (gains or {}).items():
            total, lost, first, before, fits = self._open.get(key, (0.0, self._lost, 0, 0, 0))
            total += lost - self._lost
            if total <= 0:
                total, first, before, fits = 0.0, row, self.n - 1, 0
            total += gain + loss
            fits += 1
            self._open[key] = total, self._lost, first, before, fits
            if total > self.best[0]:
                self.best = total, key, first, row, fits, self.n - before


# The place of a problem, the problems by place, and their places by gold.
Neighbours = tuple[int, Mapping[int, Problem], Mapping[str, list[int]]]


class Placement:
    """Where the texts of one file belong: `add` counts facts, `refusal` and `warning` judge."""

    def __init__(self, file: str, matcher: Matcher, id_base: int | None) -> None:
        self.file = file
        self.matcher = matcher
        self.id_base = id_base  # as the user gave it: then rows are taken as they are
        self.counts = Counter[str]()
        self.misplaced = ""  # an example
        self.shifts: defaultdict[str, Stretches] = defaultdict(Stretches)  # by run
        self.slips: defaultdict[str, Stretches] = defaultdict(Stretches)  # of golds, by run
        self.lost = Stretches()  # rows whose text is not about their problem
        self.strangers: list[tuple[int, set[str], Problem]] = []
        self._golds = _places_by_gold(matcher.rows)
        self._batch: Sequence[Sample] = ()
        self._beside: list[Neighbours] = []  # of each sample of the batch, when needed

    def add(
        self, samples: Sequence[Sample], index: int, problem: Problem, answer: str, is_right: bool,
        weight: int,
    ) -> None:  # fmt: skip
        """Note whether the text of a sample fits its problem, or one beside it.

        samples: the batch, in the order of the file; index: of the sample. answer: the text's last
        number, is_right: whether it is the gold. weight: the samples for which this one stands.
        """
        sample, counts = samples[index], self.counts
        row, shifts, slips = sample.row, self.shifts[sample.run], self.slips[sample.run]
        if is_right:
            counts["about"] += weight
            counts["wordy"] += weight
            shifts.add(row, OWN_LOSS)
            slips.add(row, OWN_LOSS)
            self.lost.add(row, ABOUT_LOSS)
            return
        known = self.matcher.places.get(problem.id) if problem.question else None
        by_id = sample.reference.question is None and known is not None
        neighbours: Neighbours = known or 0, self.matcher.rows, self._golds
        if not by_id:
            if self._batch is not samples:
                self._batch, self._beside = samples, _find_neighbours(samples)
            neighbours = self._beside[index]
        place, problems, golds = neighbours
        words = distinct_words(sample.text)
        share, is_wordy = overlap(words, problem), len(words) >= WORDY
        is_about = share >= ABOUT or (share > 0.2 and len(words) < 20)
        counts["about"] += weight * is_about
        counts["wordy"] += weight * is_wordy
        counts["away"] += not is_about
        self.lost.add(row, ABOUT_LOSS if is_about else 0.0, {} if is_about else {0: 1.0})
        if is_wordy and share < STRANGE and known is not None:
            region = committed_region(sample.text, problem.question)  # base models ask on
            said = distinct_words(sample.text[region.start : region.end])
            if len(said) >= WORDY:
                counts["strangers"] += weight
                counts["strangers by id"] += weight * by_id
                if len(self.strangers) < KEPT:
                    self.strangers.append((row, said, problem))
        asked = question_numbers(problem.question)
        if len(asked) > 1 and 2 * len(asked & words) <= len(asked):
            numbers = set(filter(str.isdigit, words))
            for near in range(place - REACH, place + REACH + 1):
                if (other := problems.get(near)) is None:
                    continue
                asked = question_numbers(other.question)
                if (
                    asked <= numbers
                    and len(numbers) <= 4 * len(asked)
                    and len(asked) >= LEAST_NUMBERS
                    and sum(map(len, asked)) >= LEAST_DIGITS
                ):
                    counts["misplaced"] += weight
                    self.misplaced = self.misplaced or (
                        f"row {row} has {clip(sample.text)!r}, with the numbers of "
                        f"{clip(other.question)!r}"
                    )
                    break
        found = find_shift(words, answer, place, problems) if problem.question else None
        places = golds.get(answer, ())
        around = places[bisect_left(places, place - REACH) : bisect(places, place + REACH)]
        gains = {each - place: GOLD_GAIN for each in around if each != place
                 and not _are_near(problem.gold, problems[each].gold)}  # fmt: skip
        if found is not None:
            shifts.add(row, OTHER_LOSS if found else OWN_LOSS, {found: 1.0} if found else {})
        elif gains:
            shifts.add(row, OTHER_LOSS, gains)
        if not by_id and sample.reference.gold is not None:
            counts["golds of others"] += weight * bool(places)
            slips.add(row, OTHER_LOSS, {shift: gain for shift, gain in gains.items()
                                        if -2 <= shift <= 2})  # fmt: skip

    def _say(self, finding: str, **values: object) -> str:
        """Return the sentence of a finding in checks.toml."""
        return say(finding, file=self.file, name=self.matcher.name, base=self.matcher.base,
                   counts=self.counts, **values)  # fmt: skip

    def refusal(self, n: int) -> str:
        """Return which texts are about other problems than their rows name, "" for none.

        n: the number of texts, empty ones included.
        """
        if self.id_base is not None:
            return ""
        for stretches in (*self.shifts.values(), *self.slips.values()):
            total, shift, first, last, fits, rows = stretches.best
            if total < SEGMENT:
                continue
            where = f"the problem {count(abs(shift), 'place')} {'after' if shift > 0 else 'before'}"
            are_texts = stretches in self.shifts.values()
            if are_texts and self.matcher.by_id and rows >= 0.9 * stretches.n:
                shifted = self.matcher.base - shift
                return self._say("shifted-ids", fits=fits, n=stretches.n, place=where,
                                 shifted=shifted)  # fmt: skip
            end = "on" if last == stretches.last else f"to {last}"
            return self._say("shifted-texts" if are_texts else "shifted-golds", first=first,
                             end=end, fits=fits, rows=rows, place=where)  # fmt: skip
        if other := self._find_other_problems(n):
            return other
        if self.counts["misplaced"] >= max(5, MISPLACED * n):
            return self._say("misplaced", n=n, example=self.misplaced)
        return ""

    def _find_other_problems(self, n: int) -> str:
        """Return which problems strangers are clearly about, "" if that is not clear.

        n: as in `refusal`.
        """
        counts, name = self.counts, self.matcher.name
        if len(self.strangers) < LEAST_ROWS or counts["strangers"] < STRANGERS * counts["wordy"]:
            return ""
        texts = self.strangers[:: max(1, len(self.strangers) // 16)]
        by_id, found = counts["strangers by id"] > 0, defaultdict[str, list[str]](list)
        for dataset in dict.fromkeys((name, *(SOURCES if by_id else ()))):
            problems = self.matcher.problems
            if dataset != name:
                if SOURCES[dataset].layout != "gsm8k" or not is_here(dataset):
                    continue
                problems = load_dataset(dataset).problems
            for row, words, own in texts:
                other = max(problems, key=lambda problem: overlap(words, problem))
                asked = topic_words(other.question)
                least = max(0.5, 2 * overlap(words, own)) * len(asked)
                if other is not own and len(asked & words) >= max(7, least):
                    found[dataset].append(
                        f"row {row} names problem {own.id!r}, its text is about problem "
                        f"{other.id!r} of {dataset!r}"
                    )
        best = max(found, key=lambda dataset: len(found[dataset]), default=name)
        # Half of the texts; fewer if nearly none is about its problem. Short texts repeat too
        # little of a question to be found by it.
        if len(found[best]) < (0.25 if counts["about"] < 0.1 * n else 0.5) * len(texts):
            return ""
        advice = f"give -d {best}, or its rows in a file of their own"
        if best == name:
            advice = "correct the ids, or add a column with the question"
            advice = advice if by_id else "put the texts beside their questions"
        return self._say("other-problems", number=len(found[best]), n=len(texts),
                         example=found[best][0], advice=advice)  # fmt: skip

    def warning(self) -> str:
        """Return how many texts are not about their problems, "" for few."""
        counts = self.counts
        _, _, first, last, fits, rows = self.lost.best
        others = self.lost.n - rows
        is_whole = rows >= 0.9 * self.lost.n
        if (fits >= 20 and is_whole) or (
            fits >= LOST and self.lost.n - counts["away"] - (rows - fits) >= 0.25 * others
        ):
            where = "" if is_whole else f"from row {first} to {last} "
            return self._say("lost", where=where, about=rows - fits, rows=rows)
        if counts["strangers by id"] >= max(LEAST_ROWS, MANY_STRANGERS * counts["wordy"]):
            return self._say("strangers", row=self.strangers[0][0])
        return ""


def _find_neighbours(samples: Sequence[Sample]) -> list[Neighbours]:
    """Return the neighbours of each sample among the problems of its run, in the file's order."""
    runs: defaultdict[str, dict[int, Problem]] = defaultdict(dict)
    places = []
    for sample in samples:
        problems = runs[sample.run]
        last = len(problems) - 1
        if sample.problem is not None and problems.get(last) is not sample.problem:
            last += 1
            problems[last] = sample.problem
        places.append((sample.run, last))
    golds = {run: _places_by_gold(problems) for run, problems in runs.items()}
    return [(place, runs[run], golds[run]) for run, place in places]


def _places_by_gold(problems: Mapping[int, Problem]) -> dict[str, list[int]]:
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, problem in sorted(problems.items()):
        places[normalized(problem.gold)].append(place)
    return dict(places)
