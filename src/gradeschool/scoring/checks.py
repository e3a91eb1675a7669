"""Checks over a whole file that it is read as it was meant.

Facts are counted while the samples stream by (of a long file, those of a spread of its rows), and
judged after the last: columns that are swapped, reference solutions or golds in the place of the
model's texts and answers, golds that are not the dataset's, ids that are shifted, texts about other
problems, programs. What would give a wrong number is an error with the command that mends it.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import attrgetter
from typing import NamedTuple

from gradeschool.answers.golds import read_gold
from gradeschool.answers.numbers import normalize, parse_decimal
from gradeschool.answers.regions import committed_region
from gradeschool.datasets.load import is_here, load_dataset
from gradeschool.datasets.sources import OWN_PROBLEMS, SOURCES
from gradeschool.errors import InputError
from gradeschool.formats.columns import BARE, EXECUTED, WEAK_GOLDS, Columns, plain_name
from gradeschool.formats.samples import ReadOptions, Sample
from gradeschool.percentages import percent
from gradeschool.problem import MARKER, Problem
from gradeschool.scorer import clip
from gradeschool.scoring.matching import Matcher, squeeze

BETWEEN_WORDS = str.maketrans(dict.fromkeys(string.punctuation, " "))
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
PROGRAM = re.compile(
    r"^\s*(?:def \w+\(|import \w+|from \w+ import|print\(|```(?:python|output))", re.M
)
PROGRAM_SIGNS = ("def ", "import ", "print(", "```")  # one of these is in every program
CALCULATION = re.compile(r"<<[^<>]*>>")
LETTER = re.compile(r"\(?[A-Ea-e]\)?\.?\Z")
READ = 6000  # characters of a text; base models run on into further questions
EXAMPLE_SIGNS = ("nswer", "A:", MARKER)  # one of these is in every example of a prompt
LONGEST_PROMPT = 30_000  # characters at the beginning of a text that are searched for a question
EVERY = 256  # samples that are all checked; then every second, fourth, ... of as many more
LAST = 24  # problems of a dataset whose samples are all checked: a missing row shifts the last ids
KEPT = 64  # texts, questions and shifts that are remembered
SHARE = 0.9  # of the rows that makes a column what it looks like
ENOUGH = 8  # rows; fewer prove nothing
ABOUT = 0.35  # share of a question's words in a text that is about it
STRANGE = 0.25  # share of a question's words; a text with fewer may be about another problem
MANY_STRANGERS = 0.08
STRANGERS = 0.05  # share of the texts that are about other problems than those of their ids
SHIFTS = (0, 1, -1, 2, -2)
SEGMENT = 5  # neighbouring texts that show a shift; each other text between them counts 4 against


class Fit(NamedTuple):
    """The place of a sample, and the shift of the row whose problem its text fits, 0 for its own.

    place: the row of its problem. row: in the file.
    """

    run: str
    place: int
    row: int
    shift: int


class Topic(NamedTuple):
    """The words of a question (four letters or more, and numbers), and its gold."""

    words: frozenset[str]
    gold: str


def words_of(text: str) -> set[str]:
    """Return the words and the numbers of a text."""
    return set(text[:READ].lower().translate(BETWEEN_WORDS).split())


def last_number(text: str) -> str:
    """Return the last number of a text in its compared form, "" for none."""
    numbers = NUMBER.findall(text[-400:])
    return normalize(numbers[-1]) if numbers else ""


@lru_cache(16_384)
def topic_of(question: str, gold: str) -> Topic:
    """Return the topic of a problem."""
    asked = words_of(question)
    words = frozenset([word for word in asked if len(word) > 3 or word.isdigit()])
    return Topic(words, normalize(gold))


@dataclass
class Topics:
    """Finds the problem of a dataset that a text is about."""

    matcher: Matcher

    def share(self, words: set[str], problem: Problem) -> float:
        """Return how much of a problem's question a text repeats, 0 to 1."""
        asked = topic_of(problem.question, problem.gold).words
        shared = len(asked & words)
        return shared / len(asked) if shared > 1 else 0.0

    def fit(self, words: set[str], answer: str, row: int) -> int | None:
        """Return the shift of the row whose problem a text fits best, None if that is unclear."""
        best = second = 0.0
        found = None
        own = self.matcher.rows.get(row)
        for shift in SHIFTS:
            problem = self.matcher.rows.get(row + shift)
            if problem is None:
                continue
            asked, gold = topic_of(problem.question, problem.gold)
            shared = len(asked & words)
            score = shared / len(asked) if shared > 1 else 0.0
            if answer and answer == gold:
                # A wrong answer is often near the right one.
                score += 0.0 if shift and own and _are_near(own.gold, problem.gold) else 0.5
            if score > best:
                best, second, found = score, best, shift
            else:
                second = max(second, score)
        return None if best < ABOUT or second > best - 0.1 else found


def id_base(samples: Sequence[Sample], matcher: Matcher) -> int | None:
    """Return the number of the first problem in a file's ids, None if they name no such problems.

    samples: the first of the file. 0 or 1, if the texts or golds of most rows are those of the
    problems that their ids name then, and a single bare number is not all that shows it.
    """
    topics, fits, golds = Topics(matcher), Counter[int](), Counter[int]()
    weight, with_gold = 0.0, 0
    for sample in samples:
        id = sample.reference.id
        problem = None if id is None else matcher.ids.get(id)
        row = sample.reference.number if problem is None else matcher.places[problem.id]
        if row is None or sample.fault or sample.error:
            continue
        if sample.reference.gold is not None:
            with_gold += 1
            gold = _read(sample.reference.gold)
            for base in (0, 1):
                named = matcher.rows.get(row - base)
                golds[base] += named is not None and gold == normalize(named.gold)
        words = words_of(sample.text)
        shift = topics.fit(words, last_number(sample.text), row)
        if shift is not None:
            fits[shift] += 1
            weight += 1 if len(words) > 5 else 0.5
    if with_gold:
        base = 0 if golds[0] >= golds[1] else 1
        return base if golds[base] >= SHARE * with_gold and with_gold > 1 else None
    if weight < 1:
        return None
    if fits[0] >= 0.6 * fits.total():
        return 0
    return 1 if fits[-1] >= 0.6 * fits.total() and fits[-1] > 2 else None


def _are_near(gold: str, other: str) -> bool:
    one, two = parse_decimal(normalize(gold)), parse_decimal(normalize(other))
    return one is not None and two is not None and abs(one - two) <= 2


def _read(gold: object) -> str:
    try:
        return normalize(read_gold(gold))
    except InputError:
        return ""


@dataclass
class Checks:
    """The facts of one file; they can be added to those of another part of it."""

    file: str
    matcher: Matcher
    columns: Columns | None
    options: ReadOptions
    seen: int = 0
    stride: int = 1
    counts: Counter[str] = field(default_factory=Counter)
    fits: list[Fit] = field(default_factory=list)
    texts: list[tuple[int, set[str], Problem]] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    example: str = ""

    def __post_init__(self) -> None:
        self.topics = Topics(self.matcher)
        self.last = {*map(attrgetter("id"), self.matcher.problems[-LAST:])}

    def add(self, samples: Iterable[Sample]) -> None:
        """Count the facts of matched samples, of a long file those of a spread of its rows.

        The samples of the last problems are all counted, because a row that is missing, or there
        twice, shifts the ids of all rows after it.
        """
        for sample in samples:
            self.seen += 1
            if self.seen > EVERY * self.stride:
                self.stride *= 2
            is_last = sample.problem is not None and sample.problem.id in self.last
            if (self.seen % self.stride == 0 or is_last) and not sample.error:
                self._count(sample)

    def _count(self, sample: Sample) -> None:
        counts, reference, problem = self.counts, sample.reference, sample.problem
        gold, text = reference.gold, sample.text
        written = ""
        if gold is not None:
            written = str(gold[0] if isinstance(gold, list) and len(gold) == 1 else gold)
            counts["golds"] += 1
            counts["letters"] += len(written) < 9 and bool(LETTER.match(written.strip()))
        if text.endswith("?"):
            counts["questions as texts"] += squeeze(text) in self.matcher.questions
        if problem is None:
            counts["faults"] += 1
            if reference.question is not None and gold is None and len(self.questions) < KEPT:
                self.questions.append(reference.question)
            return
        answer, right = last_number(text), normalize(problem.gold)
        is_own = problem.meta.get("dataset") == OWN_PROBLEMS
        is_right = answer == right != ""
        is_bare = len(text) < 40 and bool(BARE.match(text))
        counts["all"] += 1
        counts["own"] += is_own
        counts["bare"] += is_bare
        counts["right"] += is_right
        counts["bare right"] += is_bare and is_right
        is_program = any(map(text.__contains__, PROGRAM_SIGNS)) and PROGRAM.search(text)
        counts["programs"] += bool(is_program)
        asked = squeeze(problem.question)
        before = squeeze(text[:LONGEST_PROMPT]).rpartition(asked)[0] if asked else ""
        answered = before.partition("?")[2]  # another question stands before its own
        counts["prompts"] += any(map(answered.__contains__, EXAMPLE_SIGNS))
        is_solution = _is_prose(text, problem.solution) or _is_prose(text, written)
        counts["solutions"] += is_solution and len(text) > 20
        if gold is not None:
            counts["wordy golds"] += len(written.split(None, 6)) > 6
            is_solution = not is_own and _is_prose(written, problem.solution)
            counts["golds that are solutions"] += is_solution
            counts["marked golds"] += MARKER in written
            if value := _read(gold):
                counts["readable"] += 1
                counts["golds that the text gives"] += value == answer
                if not is_own and value != right:
                    counts["differ"] += 1
                    counts["differ, and the text gives"] += value == answer
                    self.example = self.example or f"row {sample.row}: {value}, not {problem.gold}"
        is_placed = is_own or reference.question is not None or reference.in_text
        if is_right or (not problem.question and is_placed):
            counts["about"] += 1
            if not is_placed:
                counts["wordy"] += 1
                row = self.matcher.places[problem.id]
                self.fits.append(Fit(sample.run, row, sample.row, 0))
            return
        words = words_of(text)
        share = self.topics.share(words, problem) if problem.question else 1.0
        counts["about"] += share >= ABOUT or (share > 0.2 and len(words) < 20)
        if is_placed:
            return
        row = self.matcher.places[problem.id]
        shift = self.topics.fit(words, answer, row)
        counts["undecided"] += shift is None
        if shift is not None:
            self.fits.append(Fit(sample.run, row, sample.row, shift))
        is_wordy = len(words) >= 14
        counts["wordy"] += is_wordy
        if is_wordy and share < STRANGE:
            region = committed_region(text, problem.question)  # base models go on with questions
            words = words_of(text[region.start : region.end])
            counts["strangers"] += len(words) >= 14
            if len(words) >= 14 and len(self.texts) < KEPT:
                self.texts.append((sample.row, words, problem))

    def conclude(self) -> list[str]:
        """Return warnings; raises InputError if the file is not what it was read as."""
        counts, n, name = self.counts, self.counts["all"], self.matcher.name
        if counts["letters"] >= SHARE * max(counts["golds"], 1) and counts["golds"] >= 3:
            raise InputError(
                f"the golds of {self.file!r} are letters: multiple choice, which no scorer reads; "
                "give golds that are numbers: --columns gold=COLUMN"
            )
        if counts["questions as texts"] >= SHARE * (n + counts["faults"]) > 1:
            raise InputError(
                f"the texts of {self.file!r} are questions of {name!r}; {self._text_command()}"
            )
        if not n:
            if self.questions:
                raise InputError(self._unknown_questions())
            return []
        if n >= ENOUGH:
            self._check_texts(n)
        warnings = self._check_golds(n) if counts["readable"] >= ENOUGH else []
        if self.options.id_base is None and len(self.fits) >= ENOUGH:
            self._check_shift()
        if counts["programs"] >= 0.5 * n:
            warnings.append(self._programs(n))
        if counts["prompts"] >= max(3, 0.5 * n):
            warnings.append(
                f"{counts['prompts']} of {n} texts of {self.file!r} have the prompt in them: other "
                "questions, then their own; the answers of the examples may be read as theirs: cut "
                "the prompt off"
            )
        if counts["strangers"] >= max(ENOUGH, STRANGERS * counts["wordy"]):
            self._check_other_problems()
        is_strange = counts["strangers"] >= max(ENOUGH, MANY_STRANGERS * counts["wordy"])
        if is_strange and counts["about"] >= 0.1 * n:
            warnings.append(
                f"{counts['strangers']} of {counts['wordy']} texts of {self.file!r} share few "
                f"words with their questions (the first is in row {self.texts[0][0]}); are they "
                "about these problems?"
            )
        if counts["about"] < 0.1 * n and n >= 20:
            warnings.append(
                f"nearly no text of {self.file!r} is about its problem: {counts['about']} of {n} "
                f"repeat words of the question or give the gold; is the column of the texts right, "
                f"and is {name!r} the dataset?"
            )
        return warnings

    def _text_command(self) -> str:
        return "name the column of the model's texts: --columns response=COLUMN"

    def _check_texts(self, n: int) -> None:
        """Raise InputError if texts are reference solutions, or swapped with the golds."""
        counts, columns = self.counts, self.columns
        if columns is None or "response" in columns.named:
            return
        column = str(columns.roles["response"])
        if counts["solutions"] >= SHARE * n:
            raise InputError(
                f"the texts of {self.file!r} (column {column!r}) are the reference solutions in "
                f"{counts['solutions']} of {n} rows; {self._text_command()}"
            )
        gold = columns.roles.get("gold")
        if (
            gold is not None
            and counts["bare"] >= SHARE * n
            and counts["wordy golds"] >= SHARE * n
            and counts["golds that are solutions"] + counts["marked golds"] < 0.5 * n
            and (counts["bare right"] >= SHARE * n or plain_name(gold.path[-1]) not in WEAK_GOLDS)
        ):
            raise InputError(
                f"the columns of {self.file!r} look swapped: {column!r} has bare numbers and the "
                f"gold {str(gold)!r} has texts; give --columns response={gold},gold={column}, or "
                f"--columns response={column},gold={gold} if they are right"
            )
        if columns.is_weak and counts["right"] >= SHARE * n and gold is None:
            raise InputError(
                f"the column {column!r} of {self.file!r} may be the reference, not the model's "
                f"text: {counts['right']} of {n} end in the gold; if it is the model's, give "
                f"--columns response={column}"
            )

    def _check_golds(self, n: int) -> list[str]:
        """Return warnings on the file's golds; raises InputError if they are not the dataset's."""
        counts, columns, name = self.counts, self.columns, self.matcher.name
        gold = str(columns.roles["gold"]) if columns and "gold" in columns.roles else ""
        known = counts["readable"] - counts["own"]
        given = counts["golds that the text gives"]
        if self.matcher.own_golds:
            return []
        if known > 0 and counts["differ"]:
            differ = f"{counts['differ']} of {known} golds in {self.file!r} differ from those of "
            is_models = (
                given >= SHARE * counts["readable"]
                and counts["differ"] >= max(2, 0.05 * known)
                and counts["differ, and the text gives"] >= SHARE * counts["differ"]
            )
            if gold and is_models:
                models = f"the column {gold!r} of {self.file!r} has the model's own answers"
                if plain_name(gold) in WEAK_GOLDS and not counts["own"]:
                    return [f"{models}, not golds; the golds of {name!r} are used"]
                raise InputError(
                    f"{models}, not golds: {given} of {counts['readable']} are the text's last "
                    f"number, and {differ}{name!r} ({self.example}); name the golds: --columns "
                    f"gold=COLUMN, or give --columns gold=- for those of {name!r}"
                )
            if counts["differ"] >= 0.5 * known and known >= 4 and gold:
                raise InputError(
                    f"{differ}{name!r} ({self.example}); give --columns gold={gold} to score "
                    "against the file's, or --columns gold=- to score against the dataset's"
                )
            return [f"{differ}{name!r} ({self.example}); those of {name!r} are used"]
        if gold and counts["own"] == n >= 20 and given >= 0.98 * n:
            return [
                f"the gold {gold!r} of {self.file!r} is the text's last number in {given} of {n} "
                "rows; if it is the model's own answer, name the golds: --columns gold=COLUMN"
            ]
        return []

    def _check_shift(self) -> None:
        """Raise InputError if ids, or the order of the rows, name neighbours of the problems."""
        fits = sorted(self.fits)
        shifts = Counter(map(attrgetter("shift"), fits))
        for shift, number in shifts.most_common():
            if not shift:
                continue
            plural = "s" * (abs(shift) > 1)
            steps = f"{abs(shift)} problem{plural} {'after' if shift > 0 else 'before'}"
            base = self.matcher.base - shift
            if number >= 0.6 * len(fits):
                raise InputError(
                    f"the ids of {self.file!r} are shifted: {number} of {len(fits)} texts are "
                    f"about the problem {steps} that of their id; give --id-base {base}, or "
                    f"--id-base {self.matcher.base} to take them as they are"
                )
            if shifts[0] < 0.3 * (len(fits) + self.counts["undecided"]):
                self._check_other_problems()
            first, last = longest_segment(fits, shift)
            if last - first >= SEGMENT:
                end = "on" if last == len(fits) else f"to {fits[last - 1].row}"
                right = sum(fit.shift == shift for fit in fits[first:last])
                raise InputError(
                    f"from row {fits[first].row} of {self.file!r} {end}, {right} of {last - first} "
                    f"texts are about the problem {steps} that of their row: is a row missing, or "
                    "there twice? Correct the ids, add a column with the question, or give "
                    f"--id-base {self.matcher.base} to take them as they are"
                )

    def _check_other_problems(self) -> None:
        """Raise InputError if texts are clearly about other problems than those of their ids."""
        if self.options.id_base is not None or len(self.texts) < ENOUGH:
            return
        texts = self.texts[:: max(1, len(self.texts) // 16)]
        names = [self.matcher.name, *(name for name, source in SOURCES.items()
                                      if source.layout == "gsm8k" and is_here(name))]  # fmt: skip
        best, found, example = 0, "", ""
        for dataset in dict.fromkeys(names):
            is_same = dataset == self.matcher.name
            problems = self.matcher.problems if is_same else load_dataset(dataset).problems
            topics, strangers, shown = self.topics, 0, ""
            for row, words, own in texts:
                least = max(0.5, 2 * topics.share(words, own))
                other = max(problems, key=lambda problem: topics.share(words, problem))
                asked = topic_of(other.question, other.gold).words
                shared = len(asked & words)
                if other is not own and shared >= 7 and shared >= least * len(asked):
                    strangers += 1
                    shown = shown or f"row {row} names problem {own.id!r}, its text is about " \
                                     f"problem {other.id!r} of {dataset!r}"  # fmt: skip
            if strangers > best:
                best, found, example = strangers, dataset, shown
        if best >= 0.5 * len(texts):
            advice = f"give -d {found}, or its rows in a file of their own"
            if found == self.matcher.name:
                advice = "correct the ids, or add a column with the question"
            raise InputError(
                f"{best} of {len(texts)} texts of {self.file!r} are about other problems than "
                f"their ids name in {self.matcher.name!r} ({example}); {advice}, or --id-base "
                f"{self.matcher.base} to take the ids as they are"
            )

    def _unknown_questions(self) -> str:
        questions = {squeeze(question) for question in self.questions}
        for name, source in SOURCES.items():
            if name == self.matcher.name or source.layout not in ("gsm8k", "columns"):
                continue
            if is_here(name):
                known = {squeeze(problem.question) for problem in load_dataset(name).problems}
                if len(questions & known) >= 0.5 * len(questions):
                    return f"the questions of {self.file!r} are those of {name!r}; give -d {name}"
        return (
            f"no question of {self.file!r} is in {self.matcher.name!r} or another dataset, and it "
            f"has no golds, such as {clip(self.questions[0])!r}; give the dataset with -d, or name "
            "the golds: --columns gold=COLUMN"
        )

    def _programs(self, n: int) -> str:
        executed = ""
        if self.columns is not None:
            known = {plain_name(name): name for name in self.columns.others}
            executed = next((known[name] for name in EXECUTED if name in known), "")
        advice = (f"what they print may be in {executed!r}: --columns response={executed}"
                  if executed else "their printed answers are no part of the text")  # fmt: skip
        return (
            f"{percent(self.counts['programs'] / n, 0)} of the texts of {self.file!r} are programs "
            f"or transcripts of tools, which scorers read as text; {advice}"
        )


def longest_segment(fits: Sequence[Fit], shift: int) -> tuple[int, int]:
    """Return the start and the end of the places where nearly all texts have this shift."""
    best = total = start = 0
    found = 0, 0
    for place, fit in enumerate(fits):
        total += 1 if fit.shift == shift else -4
        if total <= 0:
            total, start = 0, place + 1
        elif total > best:
            best, found = total, (start, place + 1)
    return found if best >= SEGMENT else (0, 0)


def _is_prose(text: str, solution: str) -> bool:
    """Return whether two texts are alike but for calculations, marks and spaces."""
    if text.lstrip()[:8] != solution.lstrip()[:8]:
        return False
    return _prose(text) == _prose(solution) != ""


def _prose(text: str) -> str:
    """Return a text without calculations in "<<>>", the mark of the gold and extra spaces."""
    return squeeze(CALCULATION.sub("", text).replace(MARKER, "").replace("The answer is", ""))
