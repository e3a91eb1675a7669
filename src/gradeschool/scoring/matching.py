"""Finds the problem of a sample, and checks whether its text is about that problem."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from gradeschool.answers.numbers import normalize
from gradeschool.datasets.load import Dataset, is_here, load_dataset
from gradeschool.datasets.sources import OWN_PROBLEMS, SOURCES
from gradeschool.errors import InputError
from gradeschool.formats.read import SHOWN_ROWS, ColumnNotes, Examine, Naming
from gradeschool.formats.samples import PARTS_OF_ID, Reference, Sample
from gradeschool.percentages import percent
from gradeschool.problem import MARKER, Problem
from gradeschool.scorer import clip

ADVICE = "correct it, or give its dataset with -d"
TELLING = 40  # characters of a question
MOST_REFERENCES = 10_000  # remembered by a matcher: several samples or runs have the same


class QuestionPlace(NamedTuple):
    """A problem whose question is in a text, the text after it, and the number of its words."""

    problem: Problem
    rest: str
    words_after: int


class Matcher:
    """Finds problems of one dataset by index, id or question."""

    def __init__(self, problems: Sequence[Problem], name: str) -> None:
        self.problems = problems
        self.name = name
        self.by_id = {problem.id: problem for problem in problems}
        # Of the rows of another dataset, some are kept: an index refers to those rows.
        self.by_row = {
            problem.meta["row"]: problem for problem in problems if "row" in problem.meta
        }
        self.by_question = {_squeeze(problem.question): problem for problem in problems}
        self._matched: dict[Reference, Problem] = {}

    @cached_property
    def topics(self) -> Topics:
        """The topics of all problems."""
        return Topics(self.problems)

    @cached_property
    def index(self) -> Mapping[str, int]:
        """The position of each problem among the problems, by its id."""
        return {problem.id: index for index, problem in enumerate(self.problems)}

    def row_of(self, index: int) -> int:
        """Return the row number that an index in a file means for a problem."""
        return int(self.problems[index].meta.get("row", index))

    def names(self, reference: Reference) -> bool:
        """Return whether a reference, counted from 0 or from 1, names one of these problems."""
        return any(self.counted_from(base, reference) is not None for base in (0, 1))

    def counted_from(self, base: int, reference: Reference) -> Problem | None:
        """Return the problem of the dataset that a file with numbers from `base` refers to."""
        try:
            problem = self.find(reference.counted_from(base))
        except InputError:
            return None
        return problem if problem.id in self.index else None  # else the file contains it

    def named_twice(self, reference: Reference) -> tuple[Problem | None, Problem | None]:
        """Return the problem of a row's id, and that of its question or prompt."""
        question = reference.question or ""
        by_question = self.by_question.get(_squeeze(question))
        return self._by_name(reference), by_question or self._asked_in(reference, question)

    def find(self, reference: Reference) -> Problem:
        """Return the problem that a row refers to; raises InputError if there is none."""
        question, answer = reference.question, reference.answer
        named = self._by_name(reference)
        if named is not None and question in (None, named.question):
            return named  # also if another problem has the same question
        by_question = None if question is None else self.by_question.get(_squeeze(question))
        if question is not None and answer is not None:
            # Another harness may number its documents differently.
            return by_question or _own_problem(reference, question, answer)
        if question is not None and by_question is None:
            by_question = self._asked_in(reference, question)
        if named is not None and by_question is not None and named is not by_question:
            raise InputError(
                f"names problem {named.id!r}, but its question is that of {by_question.id!r}"
            )
        if (
            named is not None
            and by_question is None
            and question is not None
            and _is_another(named, question)
        ):
            if reference.gold is not None:
                return _own_problem(reference, question, reference.gold)
            raise InputError(
                f"names problem {named.id!r}, but asks another question: "
                f"{clip(question)!r}; {ADVICE}"
            )
        problem = named if reference.position is not None else named or by_question
        if problem is None and reference.gold is not None:
            return _own_problem(
                reference, "" if reference.prompted else question or "", reference.gold
            )
        if problem is None:
            raise InputError(self._missing(reference))
        return problem

    def _asked_in(self, reference: Reference, prompt: str) -> Problem | None:
        """Return the problem that a prompt asks, unless the row's gold is that of another."""
        place = self.asked_in(prompt)
        if place is None or (not reference.prompted and place.words_after > LONGEST_INSTRUCTION):
            return None
        gold = reference.gold
        is_other = gold is not None and normalize(gold) != normalize(place.problem.gold)
        return None if is_other else place.problem

    def asked_in(self, text: str) -> QuestionPlace | None:
        """Return the last question of the dataset that occurs in a text."""
        words = list(WORD.finditer(text))
        spelled = [word[0].lower() for word in words]
        first = last = -1
        named: Problem | None = None
        for start in range(len(words) - OPENING, -1, -1):
            if named is not None and start < first - self.longest:
                break
            opening = tuple(spelled[start : start + OPENING])
            for problem, question in self.openings.get(opening, ()):
                end = start + len(question)
                # A question may be part of another, which begins with it or ends in it.
                if end >= last and spelled[start:end] == question:
                    first, last, named = start, end, problem
        if named is None:
            return None
        rest = text[words[last - 1].end() :]
        return QuestionPlace(named, rest.lstrip(" ?.!"), len(words) - last)

    @cached_property
    def longest(self) -> int:
        """The number of words of the longest question."""
        every = (len(words) for alike in self.openings.values() for _, words in alike)
        return max(every, default=0)

    @cached_property
    def openings(self) -> Mapping[tuple[str, ...], list[tuple[Problem, list[str]]]]:
        """The problems by the first words of their questions, with all their words."""
        openings: defaultdict[tuple[str, ...], list[tuple[Problem, list[str]]]] = defaultdict(list)
        for problem in self.problems:
            words = [word.lower() for word in WORD.findall(problem.question)]
            if len(words) >= OPENING:
                openings[tuple(words[:OPENING])].append((problem, words))
        return openings

    def match(self, sample: Sample) -> Sample:
        """Return a sample without its prompt, with its problem, or else with its fault."""
        if sample.fault:
            return sample
        problem = self._matched.get(sample.reference)
        if problem is None:
            try:
                problem = self.find(sample.reference)
            except InputError as missing:
                return sample._replace(fault=str(missing))
            if len(self._matched) >= MOST_REFERENCES:
                self._matched.clear()
            self._matched[sample.reference] = problem
        if sample.reference.prompted and (place := self.asked_in(sample.text)) is not None:
            sample = sample._replace(text=place.rest)
        return sample._replace(problem=problem)

    def _by_name(self, reference: Reference) -> Problem | None:
        index = reference.position
        if index is None:
            if reference.id is None:
                return None
            problem = self.by_id.get(reference.id)
            index = None if problem or reference.question is not None else reference.number
            if index is None:
                return problem
            self._check_split(reference.id)
        elif reference.id is not None:
            self._check_id(reference.id, index)
        if self.by_row:
            return self.by_row.get(str(index))
        return self.problems[index] if 0 <= index < len(self.problems) else None

    def _check_split(self, id: str) -> None:
        """Raise InputError for an id of GSM8K's other split: "gsm8k-train-7"."""
        for part in PARTS_OF_ID.split(id.lower()):
            if self.name in SPLITS.values() and SPLITS.get(part, self.name) != self.name:
                raise InputError(f"has the id {clip(id)!r}; give its dataset: -d {SPLITS[part]}")

    def _check_id(self, id: str, index: int) -> None:
        """Raise InputError for an id that names another problem than the index: "gsm8k-112"."""
        number = Reference(id=id).number
        is_name = self.name.partition(":")[0] in PARTS_OF_ID.split(id.lower())
        if is_name and number is not None and number != index:
            raise InputError(
                f"has the index {index} and the id {clip(id)!r}, which name two problems; "
                "choose one: --columns id=COLUMN"
            )

    def _missing(self, reference: Reference) -> str:
        last = len(self.problems) - 1
        if reference.position is not None:
            index = clip(str(reference.position))
            if self.by_row:
                return f"has the index {index}, a row that {self.name!r} does not contain; {ADVICE}"
            return f"has the index {index}, but {self.name!r} has rows 0 to {last}; {ADVICE}"
        if reference.question is not None:
            question = clip(reference.question)
            return f"has a question that is not in {self.name!r}: {question!r}; {ADVICE}"
        id = clip(reference.id or "")
        if len(reference.numbers_of_id) > 1:
            return f"has the id {id!r} with several numbers; give that of the problem as 'index'"
        return f"has the id {id!r}, which is not in {self.name!r} (rows 0 to {last}); {ADVICE}"


def _is_another(problem: Problem, question: str) -> bool:
    """Return whether a row's question is neither part of the problem's nor a prompt around it.

    A short question proves nothing: some files truncate questions.
    """
    shown, whole = _squeeze(question), _squeeze(problem.question)
    return len(shown) >= TELLING and shown not in whole and whole not in shown


def _own_problem(reference: Reference, question: str, answer: str) -> Problem:
    """Build the problem that a file contains itself, of a dataset that is not available."""
    text = answer if MARKER in answer else f"{MARKER} {answer}"
    names = (reference.id, reference.position, reference.order)
    named = next((name for name in names if name is not None), None)
    if question or named is None:
        id = hashlib.sha256(question.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    else:
        id = f"row {named}"
    return Problem.from_row(id, question, text, {"dataset": OWN_PROBLEMS})


def _squeeze(question: str) -> str:
    return " ".join(question.split())


# The topics of texts, for ids that are shifted, permuted or of another dataset.

SPLITS = {"train": "gsm8k:train", "test": "gsm8k"}  # as ids write them
WORD = re.compile(r"\w+")
OPENING = 6  # words used to look up a question in a prompt
LONGEST_INSTRUCTION = 60  # words after the question of a prompt
WORDS = re.compile(r"[^\W\d_]{4,}|\d+")
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
READ = 6000  # characters of a text; base models run on into further questions
ABOUT = 0.35  # weighted share of a question's words from which a text is about it
ABOUT_ANOTHER = 0.45  # the same for another dataset, which may be larger
VAGUE = 0.15  # mean share of the closest questions for texts that are about no problem
NEAR = (0, 1, -1, 2, -2)  # shifts that are tried first, at little cost
FEW = 3  # rows; fewer could be chance
ENOUGH = 8  # texts; fewer prove nothing
LONGEST_GOLD = 40  # characters
TELLING_WORDS = 8  # of a text; fewer do not show which problem it is about
CLEAR = 4.0  # standard deviations between two counts of matching texts


class TextTopic(NamedTuple):
    """The topic of a text: its words and last number, and how its row refers to the problem."""

    row: int
    reference: Reference
    words: frozenset[str]
    answer: str


class Topics:
    """Finds the problem that a text is about, by the words and numbers of its question.

    Rare words weigh more, as in any search by TF-IDF.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.words = [words_of(problem.question) for problem in problems]
        counts = Counter(word for words in self.words for word in words)
        self.weights = {word: math.log(len(problems) / n) for word, n in counts.items()}
        self.totals = [sum(map(self.weights.__getitem__, words)) or 1.0 for words in self.words]
        self.with_word: defaultdict[str, list[int]] = defaultdict(list)
        common = max(100, len(problems) // 10)
        for index, words in enumerate(self.words):
            for word in words:
                if counts[word] <= common:
                    self.with_word[word].append(index)

    def share(self, words: frozenset[str], index: int) -> float:
        """Return how much of a problem's question a text repeats, 0 to 1."""
        shared = self.words[index] & words
        return sum(self.weights[word] for word in shared) / self.totals[index]

    def best(self, words: frozenset[str]) -> tuple[int, float]:
        """Return the index of the problem that a text is most likely about, and its share."""
        sums: defaultdict[int, float] = defaultdict(float)
        for word in words:
            for index in self.with_word.get(word, ()):
                sums[index] += self.weights[word]
        if not sums:
            return 0, 0.0
        index = max(sums, key=lambda index: sums[index] / math.sqrt(self.totals[index]))
        return index, sums[index] / self.totals[index]


def words_of(text: str) -> frozenset[str]:
    """Return the words of four letters or more and the numbers of a text."""
    return frozenset(WORDS.findall(text[:READ].lower()))


def examined(dataset: Dataset, file: str, is_chosen: bool = False) -> Examine:
    """Return a function that determines how a file refers to the problems of a dataset.

    is_chosen: the user chose the dataset, so that golds in the file do not replace it.
    """

    def examine(samples: Sequence[Sample], columns: ColumnNotes) -> Naming:
        usable = [sample for sample in samples if not sample.fault and not sample.error]
        if columns.answers:
            _refuse_solutions(usable, dataset, file)
        telling = [sample for sample in usable if _tells(sample)]
        golds = [sample for sample in usable if sample.reference.gold is not None]
        prompted = columns.prompted or samples
        named_twice = [sample for sample in prompted if _is_named_twice(sample.reference)]
        if not columns.guessed and not golds and len(telling) < ENOUGH and len(named_twice) < FEW:
            return Naming()
        matcher = Matcher(dataset.problems, dataset.name)
        if note := _misnamed(named_twice, matcher, file):
            by_question = Naming(by_question=True)
            renamed = [by_question.of(sample, 0) for sample in prompted]
            naming = examine(renamed, columns._replace(prompted=()))
            return naming._replace(by_question=True, notes=(note, *naming.notes))
        telling = [sample for sample in telling if matcher.names(sample.reference)]
        naming = _by_gold(golds, matcher, file, is_chosen)
        if naming == Naming(notes=naming.notes) and len(telling) >= ENOUGH:
            by_text = id_base(telling, matcher, file)
            naming = by_text._replace(notes=(*naming.notes, *by_text.notes))
        if not golds and usable and all(sample.reference.prompted for sample in usable):
            naming = _by_order(usable, matcher, file)
        shown = _first_rows(usable, matcher, naming) if columns.guessed else ()
        return naming._replace(notes=(*naming.notes, *shown))

    return examine


def _refuse_solutions(samples: Sequence[Sample], dataset: Dataset, file: str) -> None:
    """Raise InputError if the texts are the dataset's solutions, which it has in "answer" too.

    Or its golds: a file that names its own column of texts otherwise may repeat these in "answer".
    """
    if len(samples) < FEW:
        return
    solutions = {problem.solution.strip() for problem in dataset.problems}
    if all(sample.text.strip() in solutions for sample in samples):
        what = "reference solutions"
    elif len(samples) >= ENOUGH and _are_golds(samples, dataset):
        what = "golds"
    else:
        return
    raise InputError(
        f"the texts of {file!r} are the {what} of {dataset.name!r}; "
        "name the column of the model's texts: --columns response=COLUMN"
    )


def _are_golds(samples: Sequence[Sample], dataset: Dataset) -> bool:
    """Return whether each text is the gold of its problem and nothing else."""
    if any(len(sample.text) > LONGEST_GOLD for sample in samples):
        return False
    matcher = Matcher(dataset.problems, dataset.name)
    problems = [matcher.counted_from(0, sample.reference) for sample in samples]
    return all(
        problem is not None and normalize(sample.text) == normalize(problem.gold)
        for sample, problem in zip(samples, problems, strict=True)
    )


def _is_named_twice(reference: Reference) -> bool:
    """Return whether a row names its problem by an id and by the question.

    A log that includes its problems may number them in its own way, without contradiction.
    """
    named = reference.position is not None or reference.id is not None
    return named and reference.question is not None and reference.answer is None


def _misnamed(samples: Sequence[Sample], matcher: Matcher, file: str) -> str:
    """Return a message if most ids name other problems than the questions beside them, else "".

    samples: those that name their problem twice.
    """
    named = (matcher.named_twice(sample.reference) for sample in samples)
    pairs = [pair for pair in named if None not in pair]
    wrong = sum(by_id is not by_question for by_id, by_question in pairs)
    if len(pairs) < FEW or wrong <= len(pairs) / 2:
        return ""
    return (
        f"the ids of {file!r} are not those of {matcher.name!r}: {wrong} of {len(pairs)} name "
        "another problem than the question beside them; the questions are used"
    )


def _by_gold(samples: Sequence[Sample], matcher: Matcher, file: str, is_chosen: bool) -> Naming:
    """Determine whether rows with golds belong to the dataset, or are problems of their own."""
    if not samples:
        return Naming()
    matched = [(sample, matcher.match(sample).problem) for sample in samples]
    own = [problem for _, problem in matched if problem and problem.id not in matcher.index]
    others = [
        f"row {sample.row}: {sample.reference.gold}, not {problem.gold}"
        for sample, problem in matched
        if problem is not None and not _has_gold(problem, sample)
    ]
    count = f"{len(own) + len(others)} of {len(matched)} rows"
    if matcher.problems and not own and len(others) < max(1, len(matched) / 2):
        differs = f"the golds in {file!r} differ from those of {matcher.name!r} in {count}"
        used = f"those of {matcher.name!r} are used"
        return Naming(notes=(f"{differs} ({others[0]}); {used}",) if others else ())
    shifted = (matcher.counted_from(1, sample.reference) for sample in samples)
    right = sum(
        problem is not None and problem.id in matcher.index and _has_gold(problem, sample)
        for problem, sample in zip(shifted, samples, strict=True)
    )
    if right >= 0.8 * len(samples) >= 4:
        note = f"the golds in {file!r} are those of {matcher.name!r} with ids from 1"
        return Naming(1, notes=(f"{note}; read with --id-base 1",))
    if is_chosen and len(others) >= len(matched) / 2:
        raise InputError(
            f"the golds in {file!r} differ from those of {matcher.name!r} in {count} "
            f"({others[0]}); leave out -d to score against the file's own golds"
        )
    where = f": {count} are not of {matcher.name!r}" if matcher.problems else ""
    note = f"{file!r} is scored against its own golds{where}"
    return Naming(by_gold=len(others) >= len(matched) / 2, notes=(note,))


def _has_gold(problem: Problem, sample: Sample) -> bool:
    gold = sample.reference.gold or ""
    return normalize(problem.gold) == normalize(gold.rpartition(MARKER)[2].strip())


def _by_order(samples: Sequence[Sample], matcher: Matcher, file: str) -> Naming:
    """Determine whether rows that name no problem are in the order of the dataset.

    Raises InputError if neither their texts nor their order show the problems.
    """
    if sum(matcher.asked_in(sample.text) is not None for sample in samples) > len(samples) / 2:
        return Naming()  # the texts begin with the prompt
    # A row that was spread has no number.
    places = [(sample, sample.reference.order or 0) for sample in samples if sample.row]
    first = min(place for _, place in places)
    placed = [
        sample._replace(reference=Reference(position=place - first)) for sample, place in places
    ]
    if len(placed) >= ENOUGH and _fits(_topics(placed), matcher):
        note = f"{file!r} names no problems: its rows are read in the order of {matcher.name!r}"
        return Naming(by_order=True, notes=(note,))
    raise InputError(
        f"{file!r} names no problems, and its texts are not about those of {matcher.name!r} in "
        "their order; add a column with the question or the index, or name it: --columns "
        "question=COLUMN"
    )


def _first_rows(samples: Sequence[Sample], matcher: Matcher, naming: Naming) -> Iterator[str]:
    numbered = [sample for sample in samples if sample.row]
    first = min((sample.reference.order or sample.row for sample in numbered), default=1)
    for sample in numbered[:SHOWN_ROWS]:
        sample = matcher.match(naming.of(sample, first))
        problem = sample.problem
        named = f"problem {problem.id!r} (gold {problem.gold})" if problem else sample.fault
        yield f"  row {sample.row}: {clip(named, 100)}: {clip(' '.join(sample.text.split()))!r}"


def _tells(sample: Sample) -> bool:
    """Return whether a sample names its problem only by a number; a question would be certain."""
    reference = sample.reference
    return reference.number is not None and reference.question is None


def id_base(samples: Iterable[Sample], matcher: Matcher, file: str) -> Naming:
    """Return the number of the first problem in a file's ids, inferred from its texts.

    samples: some of the file's, which name their problems only by numbers. Raises InputError, with
    the evidence, if the texts are about other problems than their ids say and it is uncertain which
    problems are meant.
    """
    texts = _topics(samples)
    if _fits(texts, matcher):
        return Naming()
    matching = {shift: _matching(texts, matcher, shift) for shift in _shifts(texts, matcher)}
    own = matching.pop(0)
    others = {shift: shifted - own for shift, shifted in matching.items()}
    shift = max(others, key=lambda shift: len(others[shift]))
    shifted, only, kept = matching[shift], others[shift], own - matching[shift]
    is_whole = len(only) - len(kept) >= CLEAR * math.sqrt(len(only) + len(kept) + 1)
    chance = max(len(texts) for other, texts in others.items() if other != shift)
    if not is_whole:  # an answer that is too large by 1 may be a wrong answer
        only = {index for index in only if len(texts[index].words) >= TELLING_WORDS}
    if not is_whole and len(only) < max(ENOUGH, 0.15 * len(texts), 4 * chance):
        _refuse_other_problems(texts, matcher, file)
        return Naming()
    steps = "one" if abs(shift) == 1 else str(abs(shift))
    evidence = (
        f"the ids of {file!r} are shifted by {steps}: {_percent(len(shifted), texts)} are about "
        f"the problem {steps} {'before' if shift > 0 else 'after'}, "
        f"{_percent(len(own), texts)} about the one that their id names"
    )
    if shift == 1 and len(shifted) >= 0.8 * len(texts) and len(own) <= 0.1 * len(texts):
        note = f"{evidence}; read with --id-base 1 (--id-base 0 takes ids as they are)"
        return Naming(1, notes=(note,))
    if not is_whole:
        first = min(texts[index].reference.number or 0 for index in only)
        raise InputError(
            f"{evidence}, from {first} on: is a row missing? Correct the ids, or give --id-base 0 "
            "to take them as they are"
        )
    raise InputError(f"{evidence}; give --id-base {shift}, or --id-base 0 to take ids as they are")


def _topics(samples: Iterable[Sample]) -> list[TextTopic]:
    return [
        TextTopic(sample.row, sample.reference, words_of(sample.text), _last_number(sample.text))
        for sample in samples
    ]


def _percent(count: int, texts: Sequence[TextTopic]) -> str:
    return f"{percent(count / len(texts), 0)} of {len(texts)} texts"


def _last_number(text: str) -> str:
    numbers = NUMBER.findall(text[-400:])
    return normalize(numbers[-1]) if numbers else ""


def _fits(texts: Sequence[TextTopic], matcher: Matcher) -> bool:
    """Return whether nearly all texts are about their own problem rather than a neighbour.

    Compares only the questions of these problems, which takes milliseconds.
    """
    own = beaten = 0
    words: dict[str, frozenset[str]] = {}
    for text in texts:
        scores = []
        for shift in NEAR:
            problem = matcher.counted_from(shift, text.reference)
            if problem is None:
                scores.append(-1.0)
                continue
            if problem.id not in words:
                words[problem.id] = words_of(problem.question)
            question = words[problem.id]
            share = len(question & text.words) / (len(question) or 1)
            scores.append(share + 0.5 * (text.answer == normalize(problem.gold)))
        own += scores[0] > max(scores[1:])
        beaten += scores[0] + 0.3 < max(scores[1:])
    return own >= 0.6 * len(texts) and beaten < 0.15 * len(texts)


def _shifts(texts: Sequence[TextTopic], matcher: Matcher) -> list[int]:
    """Return the shifts that may explain the texts, 0 first."""
    differences: Counter[int] = Counter()
    for text in texts:
        number = text.reference.number
        index, share = matcher.topics.best(text.words)
        if number is not None and share >= ABOUT:
            differences[number - matcher.row_of(index)] += 1
    return list(dict.fromkeys((*NEAR, *(shift for shift, _ in differences.most_common(2)))))


def _matching(texts: Sequence[TextTopic], matcher: Matcher, shift: int) -> set[int]:
    """Return which texts are about the problem `shift` places before the one they name."""
    problems = (matcher.counted_from(shift, text.reference) for text in texts)
    return {
        index
        for index, (text, problem) in enumerate(zip(texts, problems, strict=True))
        if problem is not None
        and (
            text.answer == normalize(problem.gold)
            or matcher.topics.share(text.words, matcher.index[problem.id]) >= ABOUT
        )
    }


def _refuse_other_problems(texts: Sequence[TextTopic], matcher: Matcher, file: str) -> None:
    """Raise InputError if most texts are about other problems, of this dataset or another."""
    texts = [text for text in texts if len(text.words) >= TELLING_WORDS]
    if len(texts) < ENOUGH:
        return
    own = [_own_share(text, matcher) for text in texts]
    dataset, best, strangers = matcher.name, [(0, 0.0)] * len(texts), 0
    for name, topics in _topics_here(matcher):
        closest = [topics.best(text.words) for text in texts]
        if name == matcher.name and sum(share for _, share in closest) < VAGUE * len(texts):
            return  # about no problem: there is no need to try other datasets
        shares = zip(closest, own, strict=True)
        least = ABOUT if name == matcher.name else ABOUT_ANOTHER
        count = sum(share >= least and share >= 1.5 * mine for (_, share), mine in shares)
        if count > strangers:
            dataset, best, strangers = name, closest, count
    if strangers < max(ENOUGH, 0.3 * len(texts), 4 * sum(share >= ABOUT for share in own)):
        return
    text, (index, share) = max(zip(texts, best, strict=True), key=lambda pair: pair[1][1])
    if dataset == matcher.name:
        id = matcher.problems[index].id
        problem = matcher.counted_from(0, text.reference)
        named = f"names problem {problem.id!r}" if problem else "names none"
        example = f"row {text.row} {named} and repeats {percent(share, 0)} of problem {id!r}"
        advice = "the rows are in another order: correct the ids, or add a column 'question'"
    else:
        mean = sum(share for _, share in best) / len(best)
        example = f"they repeat {percent(mean, 0)} of the questions of {dataset!r}"
        advice = f"give -d {dataset}"
    raise InputError(
        f"{_percent(strangers, texts)} of {file!r} are about other problems than their ids name in "
        f"{matcher.name!r} ({example}); {advice}, or --id-base 0 to take the ids as they are"
    )


def _own_share(text: TextTopic, matcher: Matcher) -> float:
    problem = matcher.counted_from(0, text.reference)
    return matcher.topics.share(text.words, matcher.index[problem.id]) if problem else 0.0


def _topics_here(matcher: Matcher) -> Iterator[tuple[str, Topics]]:
    """Yield the dataset itself, then the others that are available without a fetch."""
    yield matcher.name, matcher.topics
    for name, source in SOURCES.items():
        if name != matcher.name and source.layout == "gsm8k" and is_here(name):
            yield name, Topics(load_dataset(name).problems)
