"""Finds the problem of a sample, by what its row says and by what its text is about.

A question in the row decides, always; then an id, which is taken as the dataset's if the user gave
-d or --id-base, or if the texts are about its problems; then the file's own gold. For a problem
found by its id the dataset's gold counts, unless --columns names the gold.

A text is compared with a question by its words and numbers, and with a gold by its last number.
"""

import hashlib
import re
import string
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import Any

from gradeschool.answers.golds import read_solution
from gradeschool.answers.numbers import normalize, parse_decimal
from gradeschool.answers.search import last_match, last_number_start, remembered
from gradeschool.datasets.load import OWN_PROBLEMS
from gradeschool.errors import InputError
from gradeschool.formats.values import PARTS_OF_ID, ProblemReference, Sample, read_number
from gradeschool.problem import MARKER, Problem
from gradeschool.scorer import clip

NO_GOLD = "has no usable gold"
ADVICE = "correct it, or give its dataset with -d"
SPLITS = {"train": "gsm8k:train", "test": "gsm8k"}  # as ids write them
SHORT_QUESTION = 20  # characters; a shorter text or beginning identifies no question
MOST_REFERENCES = 10_000  # remembered by a matcher: several samples or runs have the same
WORD = re.compile(r"\w+")
OPENING = 6  # words used to look up a question in a prompt
LONGEST_INSTRUCTION = 60  # words after the question of a prompt
LONGEST_PROMPT = 30_000  # characters at the beginning of a text that are searched for a question
# What templates write between the question and the answer: "### Response:", "<|assistant|>".
ANSWER_MARK = re.compile(
    r"\W{0,24}(?:response|answer|solution|assistant|inst|a)\s{0,2}[:\]>|\n][^\w\s]{0,6}\s?", re.I
)
# Of a template, at the beginning and the end of a question.
LABELS = re.compile(
    r"\A\s{0,9}(?:question|problem|q)\s?:\s{0,9}|\s{0,9}(?:answer|solution|a):\s{0,9}\Z", re.I
)
EXAMPLE_SIGNS = ("nswer", "A:", MARKER)  # one of these is in every example of a prompt
READ = 6000  # characters of a text; base models run on into further questions
ABOUT_SHARE = 0.35  # share of a question's words in a text that is about it
BETWEEN_WORDS = str.maketrans(dict.fromkeys(string.punctuation, " "))
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")

compared_gold = lru_cache(16_384)(normalize)


class Matcher:
    """Finds the problems of one dataset by question or id, and builds those that a file brings.

    ids_name_problems: whether ids are those of the dataset. base: the number of the first problem
    in ids. takes_file_golds: whether the file's golds replace the dataset's. cuts_prompts: whether
    a text that begins with its prompt is cut to what follows. ids, rows: the problems by their id
    and by the number of their row; places: the row of each id.
    """

    def __init__(
        self, problems: Sequence[Problem], name: str, ids_name_problems: bool = True,
        base: int = 0, takes_file_golds: bool = False,
    ) -> None:  # fmt: skip
        self.problems = problems
        self.name = name
        self.ids_name_problems = ids_name_problems
        self.base = base
        self.takes_file_golds = takes_file_golds
        self.cuts_prompts = False
        # The place; in a dataset that keeps some rows of another, the row there: ids mean that.
        self.places = {each.id: int(each.meta.get("row", n)) for n, each in enumerate(problems)}
        self.ids = {problem.id: problem for problem in problems}
        self.rows = {self.places[problem.id]: problem for problem in problems}
        self._matched: dict[ProblemReference, Problem | str] = {}

    def match(self, sample: Sample) -> Sample:
        """Return a sample with its problem, or with the fault for which it has none.

        A text that begins with its prompt is cut to what follows the question if the row names its
        problem in no other way, or if most texts of the file begin so (`cuts_prompts`).
        """
        if sample.fault:
            return sample
        reference = sample.reference
        if reference.in_text:
            asked = self.asked_in(sample.text)
            if asked is None:
                return sample._replace(fault=(
                    "names no problem: no column has a question or an id; name one with --columns "
                    "question=COLUMN, or give --in-order if the rows are the dataset's"
                ))  # fmt: skip
            return sample._replace(problem=asked[0], text=asked[1])
        gold = reference.gold
        if gold is not None and not self.ids_name_problems and reference[:2] == (None, None):
            reference = reference._replace(id=f"row {sample.row}")  # a problem of its own
        key = reference
        if gold is not None and not isinstance(gold, str):  # a list cannot be a key
            key = reference._replace(gold=repr(gold))
        found = self._matched.get(key)
        if found is None:
            try:
                found = self.find(reference)
            except InputError as error:
                found = str(error)
            if len(self._matched) >= MOST_REFERENCES:
                self._matched.clear()
            self._matched[key] = found
        if isinstance(found, str):
            return sample._replace(fault=found)
        if self.cuts_prompts:
            start = end_of_prompt(sample.text, reference.question, found)
            sample = sample._replace(text=sample.text[start:].lstrip(" ?.!\n"))
        return Sample(*sample[:-1], found)  # `_replace` takes three times as long

    def find(self, reference: ProblemReference) -> Problem:
        """Return the problem that a row refers to; raises InputError if there is none."""
        id, question, gold = reference.id, reference.question, reference.gold
        problem: Problem | None
        if reference.order is not None:
            if reference.order >= len(self.problems):
                raise InputError(
                    f"is beyond the {len(self.problems)} problems of {self.name!r}; leave "
                    "--in-order out, or give another -d"
                )
            problem = self.problems[reference.order]
        elif question is not None:
            problem = self._asked(question, reference)
            if problem is None and gold is not None:
                is_remark = reference.turns and not any(map(str.isdigit, question))
                return own_problem(id, reference.turns[0] if is_remark else question, gold)
            if problem is None:
                raise InputError(
                    f"has a question that is not in {self.name!r}: {clip(question)!r}, and no "
                    f"gold; {ADVICE}"
                )
        elif gold is not None and not self.ids_name_problems:
            return own_problem(id, "", gold)
        elif id is None:
            raise InputError("names no problem: it has no question and no id")
        elif not self.ids_name_problems:
            raise InputError(
                f"has the id {clip(id)!r} and no question: an id does not say of which "
                f"dataset; give it with -d, such as -d {self.name}"
            )
        else:
            problem = self.problem_of_id(id)
            if problem is None:
                base, last = self.base, max(self.rows, default=-1)
                fits = f", as the texts fit ids from {base}" if base else ""
                lacks = f", but {self.name!r} has rows {base} to {last + base}{fits}; {ADVICE}"
                if last >= len(self.problems):
                    lacks = f", a row that {self.name!r} does not contain; {ADVICE}"
                if sum(part.isdecimal() for part in PARTS_OF_ID.split(id)) > 1:
                    lacks = " with several numbers; name the problem's own column"
                raise InputError(f"has the id {clip(id)!r}{lacks}")
        if not self.takes_file_golds:
            return problem
        if gold is None:
            raise InputError("has no gold in the column that --columns names")
        own = own_problem(problem.id, problem.question, gold)
        return Problem(problem.id, problem.question, own.gold, own.solution, own.meta)

    def _asked(self, question: str, reference: ProblemReference) -> Problem | None:
        """Return the problem that a question, a prompt or the turns of a chat ask."""
        id, gold = reference.id, reference.gold
        named = self.problem_of_id(id) if self.ids_name_problems and id else None
        if named is not None and named.question == question:
            return named  # another problem may have the same question
        if problem := self.questions.get(squeeze(question)):
            return problem
        if (asked := self.asked_in(question)) is not None:
            problem, _, after = asked
            fits = after <= OPENING or read_number(gold) in ("", compared_gold(problem.gold))
            if after <= LONGEST_INSTRUCTION and fits:
                return problem
        if named is not None and gold is None:  # files that keep the beginning of a question
            short = squeeze(question).rstrip(".\u2026 ")
            if len(short) >= SHORT_QUESTION and squeeze(named.question).startswith(short):
                return named
        for turn in reference.turns:  # after "Are you sure?" the question is an earlier turn
            if problem := self.questions.get(squeeze(turn)):
                return problem
            if (asked := self.asked_in(turn)) is not None:
                return asked[0]
        return None

    def problem_of_id(self, id: str) -> Problem | None:
        """Return the problem of an id: its own id, or the number of its row."""
        if self.base == 0 and (problem := self.ids.get(id)) is not None:
            return problem
        number = ProblemReference(id).number
        if number is None:
            return None
        for part in PARTS_OF_ID.split(id.lower()):
            if self.name in SPLITS.values() and SPLITS.get(part, self.name) != self.name:
                raise InputError(f"has the id {clip(id)!r}; give its dataset: -d {SPLITS[part]}")
        return self.rows.get(number - self.base)

    @cached_property
    def questions(self) -> Mapping[str, Problem]:
        """The problems by their questions, with single spaces."""
        return {squeeze(problem.question): problem for problem in self.problems}

    def asked_in(self, text: str) -> tuple[Problem, str, int] | None:
        """Return the problem of the last question in a text, the rest, the number of its words."""
        if len(text) < SHORT_QUESTION:
            return None
        openings, longest = self._openings
        words = list(WORD.finditer(text))
        spelled = [word[0].lower() for word in words]
        first = last = -1
        named: Problem | None = None
        for start in range(len(words) - OPENING, -1, -1):
            if named is not None and start < first - longest:
                break
            opening = tuple(spelled[start : start + OPENING])
            for problem, question in openings.get(opening, ()):
                end = start + len(question)
                # A question may be part of another, which begins with it or ends in it.
                if end >= last and spelled[start:end] == question:
                    first, last, named = start, end, problem
        if named is None:
            return None
        rest = text[words[last - 1].end() :]
        return named, rest.lstrip(" ?.!"), len(words) - last

    @cached_property
    def _openings(self) -> tuple[Mapping[tuple[str, ...], list[tuple[Problem, list[str]]]], int]:
        """Problems by the first words of their questions, with all words; the most words of one."""
        openings: defaultdict[tuple[str, ...], list[tuple[Problem, list[str]]]] = defaultdict(list)
        longest = 0
        for problem in self.problems:
            words = [word.lower() for word in WORD.findall(problem.question)]
            longest = max(longest, len(words))
            if len(words) >= OPENING:
                openings[tuple(words[:OPENING])].append((problem, words))
        return openings, longest


def own_problem(id: str | None, question: str, gold: Any) -> Problem:
    """Build the problem that a file brings itself; raises InputError for an unreadable gold."""
    if isinstance(gold, list):
        tagged = [item for item in gold if isinstance(item, Mapping)]
        right = [item for item in tagged if item.get("tags") == ["correct"]]
        gold = (right or tagged)[0] if tagged else gold
    if isinstance(gold, Mapping):  # HELM's references
        inner = gold.get("output", gold.get("answer", gold.get("text")))
        gold = inner.get("text") if isinstance(inner, Mapping) else inner
    try:
        number, solution = read_solution(gold)
    except InputError as error:
        raise InputError(f"{NO_GOLD}: {error}") from None
    question = LABELS.sub("", question)
    if question or id is None:
        id = hashlib.sha256(question.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return Problem(id, question, number, solution, {"dataset": OWN_PROBLEMS})


def end_of_prompt(text: str, asked: str | None, problem: Problem, examples: bool = False) -> int:
    """Return the index where the prompt ends that a text begins with, 0 for a text without one.

    asked: the question or prompt of the row. A prompt is that text itself, or the problem's
    question before the mark of the answer, or after examples with their answers. examples: only the
    last of these, which no model writes by itself.
    """
    if not examples and asked and len(asked) >= SHORT_QUESTION and text.startswith(asked):
        return len(asked)
    question = problem.question
    if question[:SHORT_QUESTION] not in text or len(question) < SHORT_QUESTION:
        return 0
    start = text.rfind(question, 0, LONGEST_PROMPT)
    if start < 0:
        return 0
    end = start + len(question)
    after = text[:start].partition("?")[2]  # the question of an example
    if any(sign in after for sign in EXAMPLE_SIGNS):
        return end
    mark = None if examples else ANSWER_MARK.match(text, end, end + 60)
    return mark.end() if mark and not any(map(str.isdigit, text[:start])) else 0


def begin_with_prompts(samples: Iterable[Sample], matcher: Matcher) -> bool:
    """Return whether most texts of a file begin with their prompt, from its first samples."""
    texts = prompts = 0
    for sample in map(matcher.match, samples):
        if sample.problem is not None and sample.text and not sample.error:
            texts += 1
            found = end_of_prompt(sample.text, sample.reference.question, sample.problem)
            prompts += bool(found and sample.text[found:].strip())
    return prompts > 0.5 * texts


def squeeze(text: str) -> str:
    """Return a text with single spaces."""
    return " ".join(text.split())


# What a text is about


def distinct_words(text: str) -> set[str]:
    """Return the words and the numbers of a text."""
    return set(text[:READ].lower().translate(BETWEEN_WORDS).split())


def last_number(text: str) -> str:
    """Return the last number of a text in its compared form, "" for none."""
    return _last_number(text[last_number_start(text) :]) or _last_number(text)


@remembered
def _last_number(text: str) -> str:
    found = last_match(NUMBER, text)
    return normalize(found[0]) if found else ""


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
            if answer and answer == compared_gold(problem.gold):
                # A wrong answer is often near the right one.
                scores[shift] += 0.0 if shift and own and are_near(own.gold, problem.gold) else 0.5
    other, best = sorted(scores.values())[-2:]
    return None if best < ABOUT_SHARE or other > best - 0.1 else max(scores, key=scores.__getitem__)


@lru_cache(16_384)
def gold_value(gold: str) -> Decimal | None:
    """Return the number of a gold, None if it is no number."""
    return parse_decimal(compared_gold(gold))


def are_near(gold: str, other: str) -> bool:
    """Return whether two golds are so close that an answer to one may be a slip for the other."""
    one, two = gold_value(gold), gold_value(other)
    return one is not None and two is not None and abs(one - two) <= 2


def find_id_base(samples: Sequence[Sample], matcher: Matcher) -> int | None:
    """Return the number of the first problem in a file's ids, None if they name no such problems.

    samples: the first of the file. Returns 0 or 1, whichever makes the texts or golds of most rows
    fit the problems that their ids name; None if neither does, or one bare number is all that fits.
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
                golds[base] += named is not None and number == compared_gold(named.gold)
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
