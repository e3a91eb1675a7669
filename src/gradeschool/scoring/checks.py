"""Checks over a whole file that it is read as it was meant.

Facts are counted while the samples stream by, and judged after the last: columns that are swapped,
reference solutions or golds in the place of the model's texts and answers, golds that are not the
dataset's, ids that are shifted, texts about other problems, failures of a service stored as texts,
programs, prompts. What would give a wrong number is an error with the command that mends it.
"""

from __future__ import annotations

import re
import string
from bisect import bisect, bisect_left
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from operator import itemgetter
from typing import Any

from gradeschool.answers.golds import read_gold
from gradeschool.answers.numbers import normalize, parse_decimal
from gradeschool.answers.regions import committed_region
from gradeschool.datasets.files import OWN_PROBLEMS, SOURCES
from gradeschool.datasets.load import is_here, load_dataset
from gradeschool.errors import InputError
from gradeschool.formats.columns import BARE, WEAK_GOLDS, Columns
from gradeschool.formats.samples import ReadOptions, Sample
from gradeschool.formats.values import SERVICE_FAILURE, plain_name
from gradeschool.percentages import count, percent
from gradeschool.problem import MARKER, Problem
from gradeschool.scorer import clip
from gradeschool.scoring.matching import NO_GOLD, Matcher, end_of_prompt, squeeze

FULL = 1536  # samples that are all examined, more than a test split has
SPREAD = 13  # of the others, one in so many is
ENOUGH = 8  # rows; fewer prove nothing
SHARE = 0.9  # of the rows that makes a column what it looks like
KEPT = 64  # questions and a quarter of the texts that are remembered
READ = 6000  # characters of a text; base models run on into further questions
SHORT, LETTERS = 300, 60  # characters of texts that are compared, of what is compared
FEW_LETTERS = 12  # beside a number, these say nothing
MOST_KINDS = 10_000  # of short texts
MANY_ALIKE, MANY_EQUAL = 0.05, 0.15  # share of such texts, and of equal ones, to warn of
ABOUT = 0.35  # share of a question's words in a text that is about it
STRANGE = 0.25  # a text with fewer may be about another problem
WORDY = 14  # different words
STRANGERS, MANY_STRANGERS = 0.05, 0.08  # shares of the texts: searched for other problems; said
FEW_PROMPTS = 0.02  # share of the texts that begin with a prompt; fewer change no figure much
END = 80  # characters in which a reference solution marks its answer
LEAST_CUT, MANY_CUT = 60, 0.15  # characters of cut texts; share of the texts that are as long
SHIFTS = (0, 1, -1, 2, -2)
REACH = 31  # problems before and after its own whose golds and numbers are compared with a text's
LEAST_NUMBERS, LEAST_DIGITS = 3, 5  # of a question, which tell it from others by its numbers
MISPLACED = 0.02  # share of texts with the numbers of another question; hardly one by chance
SEGMENT = 4.5  # total of a stretch of rows that shows a shift, see `_Stretches`
OWN_LOSS, OTHER_LOSS, GOLD_GAIN = 3.0, 0.25, 0.7  # a text of the row's problem; of another; by gold
ABOUT_LOSS, LOST = 9.0, 60  # texts about their problem make a stretch of lost ones end
BETWEEN_WORDS = str.maketrans(dict.fromkeys(string.punctuation, " "))
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")  # four times as fast as with a sign before it
THOUSANDS = re.compile(r"-?[1-9]\d{0,2}\.\d{3}")  # or three decimals
LONGEST_COUNTED = 12  # digits of golds that may count up
WORD_WITH_DIGIT = re.compile(r"\S*\d\S*")
LETTER = re.compile(r"\(?[A-Ea-e]\)?\.?\Z")
ESCAPED = re.compile(r"\\n(?![a-z])")  # and no \neq
CALCULATION = re.compile(r"<<[^<>]*>>")
PROGRAM = re.compile(
    r"^\s*(?:def \w+\(|import \w+|from \w+ import|print\(|```(?:python|output))", re.M
)
PROGRAM_SIGNS = ("def ", "import ", "print(", "```")  # one of these is in every program
TEXT_COMMAND = "name the column of the model's texts: --columns response=COLUMN"


def distinct_words(text: str) -> set[str]:
    """Return the words and the numbers of a text."""
    return set(text[:READ].lower().translate(BETWEEN_WORDS).split())


def last_number(text: str) -> str:
    """Return the last number of a text in its compared form, "" for none."""
    for length in (80, 400):
        end = text[-length:]
        numbers = NUMBER.findall(end)
        if numbers and not (len(numbers) == 1 and end.startswith(numbers[0])):
            break
    if not numbers:
        return ""
    place = end.rfind(numbers[-1])
    return normalize(f"-{numbers[-1]}" if end[place - 1 : place] == "-" else numbers[-1])


def has_gold(text: str, gold: str) -> bool:
    """Return whether a short text has the gold among its numbers; no failure of a server has it."""
    return _normalized(gold) in map(normalize, NUMBER.findall(text))


@lru_cache(16_384)
def topic_words(question: str) -> frozenset[str]:
    """Return the words of a question that have four letters or more, and its numbers."""
    return frozenset([word for word in distinct_words(question) if len(word) > 3 or word.isdigit()])


@lru_cache(16_384)
def question_numbers(question: str) -> frozenset[str]:
    """Return the numbers of a question, as `distinct_words` divides them."""
    return frozenset([word for word in distinct_words(question) if word.isdigit()])


def has_numbers_of(numbers: set[str], problem: Problem) -> bool:
    """Return whether a text's numbers are those of a question and few others."""
    asked = question_numbers(problem.question)
    return (
        asked <= numbers
        and len(numbers) <= 4 * len(asked)
        and len(asked) >= LEAST_NUMBERS
        and sum(map(len, asked)) >= LEAST_DIGITS
    )


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
    best = second = 0.0
    found = None
    own = problems.get(place)
    for shift in SHIFTS:
        problem = problems.get(place + shift)
        if problem is None:
            continue
        score = overlap(words, problem)
        if answer and answer == _normalized(problem.gold):
            # A wrong answer is often near the right one.
            score += 0.0 if shift and own and _are_near(own.gold, problem.gold) else 0.5
        if score > best:
            best, second, found = score, best, shift
        else:
            second = max(second, score)
    return None if best < ABOUT or second > best - 0.1 else found


@lru_cache(16_384)
def _normalized(gold: str) -> str:
    return normalize(gold)


def _written(gold: object) -> str:
    """Return a file's gold as text, "" for none."""
    first = gold[0] if isinstance(gold, list) and len(gold) == 1 else gold
    return "" if gold is None else str(first)


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
                golds[base] += named is not None and gold == _normalized(named.gold)
        words = distinct_words(sample.text)
        shift = find_shift(words, last_number(sample.text), row, matcher.rows)
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


def _read(gold: object) -> str:
    return _read_text(gold) if isinstance(gold, str) else _read_text.__wrapped__(gold)


@lru_cache(16_384)
def _read_text(gold: object) -> str:
    try:
        return normalize(read_gold(gold))
    except InputError:
        return ""


class _Stretches:
    """The best stretch of rows, in the order of the file, that have more of something than others.

    Each row with it adds a gain to the stretch that it ends, each row without it takes a loss; a
    stretch at 0 is over. `key` tells several such things apart. best: the total, the key, the first
    and the last row, the number of rows with it, and of all rows between them.
    """

    def __init__(self) -> None:
        self.lost = 0.0
        self.n = self.last = 0
        self.best: tuple[float, int, int, int, int, int] = (0.0, 0, 0, 0, 0, 0)
        self._open: dict[int, tuple[float, float, int, int, int]] = {}

    def begin(self, row: int, loss: float) -> None:
        """Take a row, with its loss for all keys."""
        self.n += 1
        self.last = row
        self.lost += loss

    def add(self, key: int, gain: float) -> None:
        """Add the gain of the row for one key."""
        total, lost, first, n, fits = self._open.get(key, (0.0, self.lost, 0, 0, 0))
        total += lost - self.lost
        if total <= 0:
            total, first, n, fits = 0.0, self.last, self.n - 1, 0
        total += gain
        fits += 1
        self._open[key] = total, self.lost, first, n, fits
        if total > self.best[0]:
            self.best = total, key, first, self.last, fits, self.n - n


class _Filled:
    """The longest stretch of rows with one value for different problems, as a spreadsheet fills it.

    step: by how much the value grows from one problem to the next. longest: the number of problems,
    and the first and the last row.
    """

    def __init__(self, step: int = 0) -> None:
        self.longest = self._open = (0, 0, 0)
        self._step = step
        self._last: tuple[Any, Problem | None] = (None, None)

    def add(self, row: int, value: Any, problem: Problem) -> None:
        """Take the value of the next row, None for one that ends a stretch."""
        before, other = self._last
        if problem is other:
            return
        self._last = value, problem
        n, first, _ = self._open
        known = value is not None and before is not None
        continues = known and value == (before + self._step if self._step else before)
        self._open = (n + 1, first, row) if continues else (1, row, row)
        self.longest = max(self.longest, self._open, key=itemgetter(0))


def length_of_cut_texts(lengths: Mapping[int, int]) -> int:
    """Return the length at which many texts end and none is longer, 0 for none.

    lengths: the number of texts of each length in characters.
    """
    longest = max(lengths)
    many = lengths[longest] >= max(ENOUGH, MANY_CUT * sum(lengths.values()))
    return longest if longest >= LEAST_CUT and many else 0


class AlikeTexts:
    """Short texts of one file that differ in digits alone: failures of a server, stored as texts.

    n: the texts of which these are some.
    """

    def __init__(self, file: str) -> None:
        self.file = file
        self.n = 0
        # By their letters: the number of texts and of right ones, an example, the share to warn of.
        self._kinds: dict[str, tuple[int, int, str, float]] = {}

    def add(self, samples: Sequence[Sample]) -> None:
        """Count the answered samples of a run folder."""
        for sample in samples:
            if sample.problem is not None and not sample.error:
                self.n += 1
                if len(sample.text) <= SHORT:
                    self.count(sample.text, has_gold(sample.text, sample.problem.gold))

    def count(self, text: str, is_right: bool, weight: int = 1) -> None:
        """Count a short text; weight: the number of texts for which it stands."""
        key, share = WORD_WITH_DIGIT.sub("", text[:LETTERS]).strip(), MANY_ALIKE
        if len(key) < (3 if key == text.strip() else FEW_LETTERS):  # "-1", "It is 5"
            key, share = text, MANY_EQUAL
        number, right, first, _ = self._kinds.get(key, (0, 0, text, share))
        if text and (number or len(self._kinds) < MOST_KINDS):
            self._kinds[key] = number + weight, right + weight * is_right, first, share

    def conclude(self, remedy: str = "evaluate again, into another folder (-o)") -> list[str]:
        """Return a warning for each kind with many texts of which hardly one has the gold."""
        return [
            f"{number} of {self.n} texts of {self.file!r} are alike and no right answers, such as "
            f"{clip(text)!r}; if these requests failed, {remedy}"
            for number, right, text, share in self._kinds.values()
            if number >= max(3, share * self.n) and right <= 0.1 * number
        ]


class Checks:
    """The facts of one file.

    Examines the first FULL texts, then one text of every SPREAD, which counts SPREAD times; then
    `counts` are estimates.
    """

    def __init__(
        self, file: str, matcher: Matcher, columns: Columns | None, options: ReadOptions
    ) -> None:
        self.file = file
        self.matcher = matcher
        self.columns = columns
        self.options = options
        self.answered = 0  # samples with a problem that did not fail
        self.examined = 0  # of these
        self.weight = 1  # samples for which the present one stands
        self.counts: Counter[str] = Counter()
        self.examples: defaultdict[str, str] = defaultdict(str)  # by count
        self.shifts: defaultdict[str, _Stretches] = defaultdict(_Stretches)  # by run
        self.slips: defaultdict[str, _Stretches] = defaultdict(_Stretches)  # of golds, by run
        self.lost = _Stretches()  # rows whose text is not about their problem
        self.strangers: list[tuple[int, set[str], Problem]] = []
        self.questions: list[str] = []
        self.problems: set[tuple[str, str]] = set()  # by run, where a column may tell runs apart
        self.alike = AlikeTexts(file)
        self.lengths: Counter[int] = Counter()
        # By run and what they have in common.
        self.filled: defaultdict[tuple[str, str], _Filled] = defaultdict(_Filled)
        # For rows that name neither run nor sample: the first problem, the last one, and how many
        # samples came before each return of the first.
        roles = columns.roles.keys() if columns else {"run"}
        self.is_bare = not roles & {"run", "sample"}
        self.first: Problem | None = None
        self.before: Problem | None = None
        self.rounds: list[int] = []

    def add(self, samples: Sequence[Sample]) -> None:
        """Count the facts of matched samples, in the order of the file."""
        counts = self.counts
        beside: list[tuple[int, dict[int, Problem], dict[str, list[int]]]] = []
        for index, sample in enumerate(samples):
            problem, reference = sample.problem, sample.reference
            if sample.error:
                if sample.error.startswith(SERVICE_FAILURE):
                    self._note("failures", sample.error.removeprefix(SERVICE_FAILURE))
                continue
            if problem is None:
                counts["faults"] += 1
                self.weight = 1
                if sample.fault.startswith(NO_GOLD):
                    self._note("no gold", f"row {sample.row} {sample.fault}")
                if reference.question is None or reference.gold is not None:
                    self._count_gold(sample, "")
                elif len(self.questions) < KEPT:
                    self.questions.append(reference.question)
                continue
            self.answered = number = self.answered + 1
            if self.columns and self.columns.kinds:
                self.problems.add((sample.run, problem.id))
            if self.is_bare:
                self.first = self.first or problem
                if problem is self.first is not self.before and number > 1:
                    self.rounds.append(number - 1)
                self.before = problem
            if number > FULL and number % SPREAD != number // SPREAD % SPREAD:
                continue
            self.examined += 1
            self.weight = 1 if number <= FULL else SPREAD
            answer = last_number(sample.text)
            is_right = answer == _normalized(problem.gold) != ""
            self._count_filled(sample, problem, is_right)
            self._count_text(sample, problem, answer, is_right)
            if not sample.text or reference.in_text:
                continue
            if is_right:
                counts["about"] += self.weight
                counts["wordy"] += self.weight
                self.shifts[sample.run].begin(sample.row, OWN_LOSS)
                self.slips[sample.run].begin(sample.row, OWN_LOSS)
                self.lost.begin(sample.row, ABOUT_LOSS)
                continue
            place = self.matcher.places.get(problem.id) if problem.question else None
            if reference.question is None and place is not None:
                self._place(sample, problem, answer, place, self.matcher.rows, self._golds)
            else:
                beside = beside or _neighbours(samples)
                self._place(sample, problem, answer, *beside[index], in_file=True)

    def _count_filled(self, sample: Sample, problem: Problem, is_right: bool) -> None:
        """Note texts and golds of rows that are not right: equal ones, and golds that count up."""
        run, row, gold = sample.run, sample.row, problem.gold
        if sample.text:
            self.filled[run, "the same text"].add(row, None if is_right else sample.text, problem)
        if sample.reference.gold is not None and problem.meta.get("dataset") == OWN_PROBLEMS:
            self.filled[run, "the same gold"].add(row, None if is_right else gold, problem)
            if gold.isdecimal() and len(gold) < LONGEST_COUNTED:
                counting = self.filled.setdefault((run, "golds that count up"), _Filled(1))
                counting.add(row, None if is_right else int(gold), problem)

    def _count_text(self, sample: Sample, problem: Problem, answer: str, is_right: bool) -> None:
        """Count what the text and the gold of a sample look like.

        answer: the text's last number; is_right: whether it is the gold.
        """
        counts, text, reference = self.counts, sample.text, sample.reference
        weight = self.weight
        written = _written(reference.gold)
        counts["searched"] += weight
        self.lengths[len(text)] += weight
        self.alike.n += weight
        counts["right"] += weight * is_right
        counts["empty"] += weight * (not text)
        if reference.turns and squeeze(problem.question) not in squeeze(reference.question or ""):
            self._note("remarks", clip(reference.question or ""))
        if written:
            self._count_gold(sample, answer)
        if is_right and len(text) <= SHORT:
            self.alike.count(text, True, weight)
        if len(text) < 40 and BARE.match(text):
            counts["bare"] += weight
            counts["bare right"] += weight * is_right
        if "\\n" in text and "\n" not in text and ESCAPED.search(text):
            counts["escaped"] += weight
        if text.endswith("?") and squeeze(text) in self.matcher.questions:
            counts["questions as texts"] += weight
        if any(map(text.__contains__, PROGRAM_SIGNS)) and PROGRAM.search(text):
            counts["programs"] += weight
        if not self.matcher.cuts_prompts and end_of_prompt(text, None, problem, True):
            counts["prompts"] += weight
        if len(text) > 20 and (_is_prose(text, problem.solution) or _is_prose(text, written)):
            counts["solutions"] += weight
        if len(written.split(None, 3)) > 3 and MARKER not in written:
            is_own = problem.meta.get("dataset") == OWN_PROBLEMS
            counts["wordy golds"] += weight * (is_own or not _is_prose(written, problem.solution))

    def _place(
        self, sample: Sample, problem: Problem, answer: str,
        place: int, problems: Mapping[int, Problem], golds: Mapping[str, Sequence[int]],
        in_file: bool = False,
    ) -> None:  # fmt: skip
        """Note whether a text without the right answer fits its problem, or one beside it.

        answer: its last number. place: of its problem among the dataset's or (in_file) the file's,
        which are `problems` by place; golds: their places by gold.
        """
        counts, row, words = self.counts, sample.row, distinct_words(sample.text)
        weight = self.weight
        shifts, share = self.shifts[sample.run], overlap(words, problem)
        is_about = share >= ABOUT or (share > 0.2 and len(words) < 20)
        counts["about"] += weight * is_about
        self.lost.begin(row, ABOUT_LOSS if is_about else 0.0)
        if not is_about:
            self.lost.add(0, 1.0)
            counts["away"] += 1
        if len(sample.text) <= SHORT:
            self.alike.count(sample.text, has_gold(sample.text, problem.gold), weight)
        counts["wordy"] += weight * (len(words) >= WORDY)
        is_known = problem.question and problem.id in self.matcher.places
        if is_known and len(words) >= WORDY and share < STRANGE:
            region = committed_region(sample.text, problem.question)  # base models ask on
            said = distinct_words(sample.text[region.start : region.end])
            if len(said) >= WORDY:
                counts["strangers"] += weight
                counts["strangers by id"] += weight * (sample.reference.question is None)
                if len(self.strangers) < 4 * KEPT:
                    self.strangers.append((row, said, problem))
        own = question_numbers(problem.question)
        if len(own) > 1 and 2 * len(own & words) <= len(own):
            numbers = {word for word in words if word.isdigit()}
            for near in range(place - REACH, place + REACH + 1):
                other = problems.get(near)
                if other is not None and has_numbers_of(numbers, other):
                    self._note("misplaced", f"row {row} has {clip(sample.text)!r}, with the "
                                            f"numbers of {clip(other.question)!r}")  # fmt: skip
                    break
        found = find_shift(words, answer, place, problems) if problem.question else None
        if found is not None:
            shifts.begin(row, OTHER_LOSS if found else OWN_LOSS)
            if found:
                shifts.add(found, 1.0 + OTHER_LOSS)
        to_gold: list[int] = []  # the shifts to problems of which the answer is the gold
        if places := golds.get(answer, ()):
            around = places[bisect_left(places, place - REACH) : bisect(places, place + REACH)]
            to_gold = [each - place for each in around if each != place
                       and not _are_near(problem.gold, problems[each].gold)]  # fmt: skip
        if to_gold and found is None:
            shifts.begin(row, OTHER_LOSS)
            for shift in to_gold:
                shifts.add(shift, GOLD_GAIN + OTHER_LOSS)
        if in_file and sample.reference.gold is not None:
            slips = self.slips[sample.run]
            slips.begin(row, OTHER_LOSS)
            counts["golds of others"] += weight * bool(places)
            for shift in to_gold:
                if -2 <= shift <= 2:
                    slips.add(shift, GOLD_GAIN + OTHER_LOSS)

    @cached_property
    def _golds(self) -> dict[str, list[int]]:
        """The places of the dataset's problems by gold."""
        return _places_by_gold(self.matcher.rows)

    def _note(self, name: str, example: str) -> None:
        self.counts[name] += 1 if name == "failures" else self.weight
        self.examples[name] = self.examples[name] or example

    def _count_gold(self, sample: Sample, answer: str) -> None:
        """Compare the file's gold with the dataset's and with the text's last number."""
        counts, problem, gold = self.counts, sample.problem, sample.reference.gold
        weight = self.weight
        written = _written(gold)
        counts["golds"] += weight * (written != "")
        if "." in written:
            counts["thousands" if THOUSANDS.fullmatch(written.strip()) else "decimals"] += weight
        counts["letters"] += weight * (
            len(written) < 9 and LETTER.match(written.strip()) is not None
        )
        if MARKER in sample.text[-END:]:
            counts["marked"] += weight
            is_marked = MARKER in written or "\\boxed" in written
            counts["unmarked golds"] += weight * (
                not is_marked and len(written.split(None, WORDY)) > WORDY
            )
        if problem is None or not (value := _read(gold)):
            return
        counts["readable"] += weight
        counts["golds that the text gives"] += weight * (value == answer)
        if problem.meta.get("dataset") == OWN_PROBLEMS:
            counts["own"] += weight
        elif value != _normalized(problem.gold):
            self._note("differ", f"row {sample.row}: {value}, not {problem.gold}")
            counts["differ, and the text gives"] += weight * (value == answer)

    def conclude(self) -> list[str]:
        """Return warnings; raises InputError if the file is not what it was read as."""
        if self.examined == self.answered:
            return self._conclude()
        note = f" (estimated from {self.examined:,} of {self.answered:,} texts)"
        try:
            return [warning + note for warning in self._conclude()]
        except InputError as error:
            raise InputError(f"{error}{note}") from None

    def _conclude(self) -> list[str]:
        counts, name, file = self.counts, self.matcher.name, self.file
        failures, n, texts = counts["failures"], counts["searched"], self.answered
        if failures > texts:
            raise InputError(
                f"{failures} of {texts + failures} texts of {file!r} are failures of a service, "
                f"such as {self.examples['failures']!r}; ask for these completions again"
            )
        if counts["letters"] >= SHARE * max(counts["golds"], 1) and counts["golds"] >= 3:
            raise InputError(
                f"the golds of {file!r} are letters: multiple choice, which no scorer reads; "
                "give golds that are numbers: --columns gold=COLUMN"
            )
        if counts["questions as texts"] >= SHARE * (n + counts["faults"]) > 1:
            raise InputError(f"the texts of {file!r} are questions of {name!r}; {TEXT_COMMAND}")
        if (unread := counts["no gold"]) > n and unread >= ENOUGH:
            raise InputError(
                f"{unread} of {n + counts['faults']} golds of {file!r} cannot be read, and the "
                f"others are no fair sample: {self.examples['no gold']}"
            )
        if not n:
            if self.questions:
                raise InputError(self._unknown_questions())
            return []
        if n >= ENOUGH:
            self._check_texts()
        if self.options.id_base is None:
            self._check_places()
        prompts, programs = counts["prompts"], counts["programs"]
        if prompts >= max(3, 0.5 * n):
            raise InputError(
                f"{prompts} of {n} texts of {file!r} begin with their prompt, but not the "
                "first ones, so that they are not cut; cut the prompts off, or score the rows with "
                "prompts in a file of their own"
            )
        columns = self.columns or Columns({})
        cut, unheeded, executed = (
            length_of_cut_texts(self.lengths),
            columns.unheeded,
            columns.executed,
        )
        failed = self.examples["failures"], "is a failure" if failures == 1 else "are failures"
        printed = (f"what they print may be in {executed!r}: --columns response={executed}"
                   if executed else "their printed answers are no part of the text")  # fmt: skip
        warnings = self._check_golds() if counts["readable"] >= ENOUGH else []
        alike = self.alike.conclude("ask for them again")
        warnings += alike
        for (_, what), filled in self.filled.items():
            problems, first, last = filled.longest
            if problems >= ENOUGH and not (what == "the same text" and alike):
                warnings.append(
                    f"rows {first} to {last} of {file!r} have {what} for {problems} problems: was "
                    "a cell of a spreadsheet filled down?"
                )
        rounds = len(self.rounds) + 1
        warnings += [words for holds, words in (
            (rounds > 1 and self.rounds == [texts * each // rounds for each in range(1, rounds)],
             f"the problems of {file!r} stand {rounds} times in one order, taken as samples of one "
             "run; if they are several runs, put each into a file, or name the column that tells "
             "them apart: --columns run=COLUMN"),
            (counts["thousands"] > 2 and not counts["decimals"],
             f"{counts['thousands']} golds of {file!r} are written like '1.790' and none has other "
             "decimals; they are read as decimals: if the point marks thousands, write 1790"),
            (min(counts["own"], n - counts["own"]) >= max(ENOUGH, MANY_ALIKE * n),
             f"{counts['own']} of {n} rows of {file!r} ask problems that are not in {name!r} and "
             "are scored by the file's golds: the accuracy is one over them and the others"),
            (prompts >= max(3, FEW_PROMPTS * n),
             f"{prompts} of {n} texts of {file!r} begin with their prompt, whose answers "
             "may be read as theirs; cut the prompts off"),
            (failures, f"{count(failures, 'text')} of {file!r} {failed[1]} of a service, such as "
             f"{failed[0]!r}; counted as errors"),
            (counts["remarks"],
             f"in {counts['remarks']} of {n} chats of {file!r} the last turn of the user is not "
             f"the question, such as {self.examples['remarks']!r}; the first turn that is one "
             "counts, and the last answer is scored"),
            (unheeded,
             f"{unheeded.total()} of {texts} rows of {file!r} have a text and words in "
             f"{str(columns.roles.get('error'))!r} that no service's failure has, such as "
             f"{clip(next(iter(unheeded), ''))!r}; their texts are scored. If these requests "
             f"failed: --columns error={columns.roles.get('error')}"),
            (counts["solutions"] >= max(ENOUGH, SHARE * n),
             f"the texts of {file!r} are the reference solutions in {counts['solutions']} of "
             f"{n} rows: this is no accuracy of a model"),
            (counts["right"] <= 0.02 * n and counts["golds of others"] >= max(50, 0.6 * n),
             f"hardly an answer of {file!r} is right, but {counts['golds of others']} of {n} are "
             "golds of other rows: are the golds in the order of the texts?"),
            (counts["empty"] and columns.thinking,
             f"{counts['empty']} of {n} texts of {file!r} are empty, where "
             f"{str(columns.thinking)!r} has text: the model's thinking took all tokens, or its "
             f"parser took the answer; to score that text: --columns response={columns.thinking}"),
            (counts["bare"] >= SHARE * n and programs < 0.5 * n and columns.wordy
             and "response" not in columns.named,
             f"{counts['bare']} of {n} texts of {file!r} are bare numbers; if the whole "
             f"texts are elsewhere: --columns response={next(iter(columns.wordy), '')}"),
            (cut,
             f"{self.lengths[cut]} of {n} texts of {file!r} end at exactly {cut:,} "
             "characters, which looks cut; score the whole texts (those that end within a sentence "
             "count as truncated)"),
            (counts["escaped"] >= max(ENOUGH, MANY_ALIKE * n),
             f"{counts['escaped']} of {n} texts of {file!r} have a backslash and an n where lines "
             "end, which scorers read as letters: write line breaks (were they escaped twice?)"),
            (columns.selected,
             f"each text of {file!r} is scored; to score those that were selected: --columns "
             f"response={columns.selected}"),
            (programs >= 0.5 * n,
             f"{percent(programs / n, 0)} of the texts of {file!r} are programs or "
             f"transcripts of tools, which scorers read as text; {printed}"),
        ) if holds]  # fmt: skip
        samples = round(texts / len(self.problems)) if self.problems else 1
        for column, kinds in columns.kinds.items() if samples > 1 else ():
            numbers = kinds.values()
            if len(kinds) == samples and max(numbers) <= 1.05 * texts / samples <= 1.1 * min(
                numbers
            ):
                warnings.append(
                    f"each problem of {file!r} has {samples} rows, and {column!r} has as many "
                    f"values ({clip(', '.join(map(str, kinds)))}): they are taken as samples of "
                    "one run (`gradeschool runs curve` gives pass@k and maj@k); if they are "
                    f"different runs: --columns run={column}"
                )
        if counts["strangers"] >= max(ENOUGH, STRANGERS * counts["wordy"]):
            self._check_other_problems()
        if self.options.id_base is None and counts["misplaced"] >= max(5, MISPLACED * n):
            raise InputError(
                f"{counts['misplaced']} of {n} texts of {file!r} have the numbers of another "
                f"row's question and not of their own: {self.examples['misplaced']}; put the "
                "texts beside their questions, or give --id-base "
                f"{self.matcher.base} to take the rows as they are"
            )
        _, _, first, last, fits, rows = self.lost.best
        others = self.lost.n - rows
        is_whole = rows >= 0.9 * self.lost.n
        if (fits >= 20 and is_whole) or (
            fits >= LOST and self.lost.n - counts["away"] - (rows - fits) >= 0.25 * others
        ):
            where = "" if is_whole else f"from row {first} to {last} "
            warnings.append(
                f"{where}nearly no text of {file!r} is about its problem: {rows - fits} of {rows} "
                "repeat words of the question or give the gold; is the column of the texts right, "
                f"and is {name!r} the dataset?"
            )
        elif counts["strangers by id"] >= max(ENOUGH, MANY_STRANGERS * counts["wordy"]):
            warnings.append(
                f"{counts['strangers']} of {counts['wordy']} texts of {file!r} share few "
                f"words with their questions (the first is in row {self.strangers[0][0]}); are "
                "they about these problems?"
            )
        return warnings

    def _check_texts(self) -> None:
        """Raise InputError if texts are reference solutions, or swapped with the golds."""
        counts, columns, n = self.counts, self.columns, self.counts["searched"]
        if columns is not None and "response" in columns.named:
            return
        column = str(columns.roles["response"]) if columns else "response"
        gold = columns.roles.get("gold") if columns else None
        is_wordy = min(counts["bare"], counts["wordy golds"]) >= SHARE * n
        is_right = counts["bare right"] >= SHARE * n
        is_marked = (
            counts["marked"] >= SHARE * counts["golds"]
            and counts["unmarked golds"] >= 0.5 * counts["golds"] > 0
        )
        is_given = is_right and counts["differ"] >= max(2, 0.05 * counts["golds"])
        if gold is not None and (
            is_marked
            or is_given
            or (is_wordy and (is_right or plain_name(gold.path[-1]) not in WEAK_GOLDS))
        ):
            said = "solutions that end in '#### N'" if is_marked else "bare numbers"
            has = "texts" if is_wordy else "texts without" if is_marked else "other numbers"
            raise InputError(
                f"the columns of {self.file!r} look swapped: {column!r} has {said}"
                f"{f' that are golds of {self.matcher.name!r}' if is_right else ''} and the "
                f"gold {str(gold)!r} has {has}; give --columns response={gold},gold={column}, or "
                f"--columns response={column},gold={gold} if they are right"
            )
        if counts["solutions"] >= SHARE * n:
            raise InputError(
                f"the texts of {self.file!r} (column {column!r}) are the reference solutions in "
                f"{counts['solutions']} of {n} rows; {TEXT_COMMAND}"
            )
        if columns and columns.is_weak and counts["right"] >= SHARE * n and gold is None:
            raise InputError(
                f"the column {column!r} of {self.file!r} may be the reference, not the model's "
                f"text: {counts['right']} of {n} end in the gold; give --columns "
                f"response={' or response='.join([*columns.wordy[:4], column])}, whichever it is"
            )

    def _check_golds(self) -> list[str]:
        """Return warnings on the file's golds; raises InputError if they are not the dataset's."""
        counts, columns, name = self.counts, self.columns, self.matcher.name
        n = counts["searched"]
        gold = str(columns.roles["gold"]) if columns and "gold" in columns.roles else ""
        known, differ = counts["readable"] - counts["own"], counts["differ"]
        given = counts["golds that the text gives"]
        if self.matcher.own_golds:
            return []
        if known > 0 and differ:
            said = (f"{differ} of {known} golds in {self.file!r} differ from those of {name!r} "
                    f"({self.examples['differ']})")  # fmt: skip
            if (
                gold
                and given >= SHARE * counts["readable"]
                and differ >= max(2, 0.05 * known)
                and counts["differ, and the text gives"] >= SHARE * differ
            ):
                models = f"the column {gold!r} of {self.file!r} has the model's own answers"
                if plain_name(gold) in WEAK_GOLDS and not counts["own"]:
                    return [f"{models}, not golds; the golds of {name!r} are used"]
                raise InputError(
                    f"{models}, not golds: {given} of {counts['readable']} are the text's last "
                    f"number, and {said}; name the golds: --columns "
                    f"gold=COLUMN, or give --columns gold=- for those of {name!r}"
                )
            if differ >= 0.5 * known and known >= 4 and gold:
                raise InputError(
                    f"{said}; give --columns gold={gold} to score "
                    "against the file's, or --columns gold=- to score against the dataset's"
                )
            return [f"{said}; those of {name!r} are used"]
        if gold and counts["own"] == n and given >= 0.98 * n:
            return [
                f"the gold {gold!r} of {self.file!r} is the text's last number in {given} of {n} "
                "rows; if it is the model's own answer, name the golds: --columns gold=COLUMN"
            ]
        return []

    def _check_places(self) -> None:
        """Raise InputError if texts, or answers, fit problems beside those of their rows."""
        base, by_id = self.matcher.base, self.matcher.by_id
        found = [(each, True) for each in self.shifts.values()]
        for stretches, are_texts in [*found, *((each, False) for each in self.slips.values())]:
            total, shift, first, last, fits, rows = stretches.best
            if total < SEGMENT:
                continue
            steps = f"{count(abs(shift), 'place')} {'after' if shift > 0 else 'before'}"
            if are_texts and by_id and rows >= 0.9 * stretches.n:
                raise InputError(
                    f"the ids of {self.file!r} are shifted: {fits} of {stretches.n} texts are "
                    f"about the problem {steps} that of their id; give --id-base {base - shift}, "
                    f"or --id-base {base} to take them as they are"
                )
            end = "on" if last == stretches.last else f"to {last}"
            said = (
                f"texts fit the problem {steps} that of their row: is a row missing, or there "
                "twice? Correct the rows"
            )
            if not are_texts:
                said = (
                    f"answers equal the gold of the problem {steps} their own, not their own: "
                    "are the golds in the right rows? Correct them"
                )
            raise InputError(
                f"from row {first} of {self.file!r} {end}, {fits} of {rows} {said}, or give "
                f"--id-base {base} to take them as they are"
            )

    def _check_other_problems(self) -> None:
        """Raise InputError if texts are clearly about other problems than those of their ids."""
        if self.options.id_base is not None or len(self.strangers) < ENOUGH:
            return
        texts = self.strangers[:: max(1, len(self.strangers) // 16)]
        by_id = self.counts["strangers by id"] > 0
        others = (name for name, source in SOURCES.items()
                  if by_id and source.layout == "gsm8k" and is_here(name))  # fmt: skip
        names = [self.matcher.name, *others]
        best, found, example = 0, "", ""
        for dataset in dict.fromkeys(names):
            is_same = dataset == self.matcher.name
            problems = self.matcher.problems if is_same else load_dataset(dataset).problems
            strangers, shown = 0, ""
            for row, words, own in texts:
                other = max(problems, key=lambda problem: overlap(words, problem))
                asked = topic_words(other.question)
                shared = len(asked & words)
                least = max(0.5, 2 * overlap(words, own))
                if other is not own and shared >= 7 and shared >= least * len(asked):
                    strangers += 1
                    shown = shown or f"row {row} names problem {own.id!r}, its text is about " \
                                     f"problem {other.id!r} of {dataset!r}"  # fmt: skip
            if strangers > best:
                best, found, example = strangers, dataset, shown
        # Half of the texts; fewer if nearly none is about its problem. Short texts repeat too
        # little of a question to be found by it.
        is_lost = self.counts["about"] < 0.1 * self.counts["searched"]
        if best >= (0.25 if is_lost else 0.5) * len(texts):
            advice = f"give -d {found}, or its rows in a file of their own"
            if found == self.matcher.name:
                advice = ("correct the ids, or add a column with the question" if by_id
                          else "put the texts beside their questions")  # fmt: skip
            raise InputError(
                f"{best} of {len(texts)} texts of {self.file!r} are about other problems than "
                f"their rows name in {self.matcher.name!r} ({example}); {advice}, or give "
                f"--id-base {self.matcher.base} to take the rows as they are"
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


def _neighbours(
    samples: Sequence[Sample],
) -> list[tuple[int, dict[int, Problem], dict[str, list[int]]]]:
    """Return the place of each sample's problem, its run's problems by place, places by gold."""
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
        places[_normalized(problem.gold)].append(place)
    return dict(places)


def _is_prose(text: str, solution: str) -> bool:
    """Return whether two texts are alike but for calculations, marks and spaces."""
    if text.lstrip()[:8] != solution.lstrip()[:8]:
        return False
    one, two = (
        squeeze(CALCULATION.sub("", each).replace(MARKER, "").replace("The answer is", ""))
        for each in (text, solution)
    )
    return one == two != ""
