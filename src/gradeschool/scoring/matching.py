"""Which problem a sample belongs to, and whether its text is about that problem."""

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
from gradeschool.datasets.sources import SOURCES
from gradeschool.errors import InputError
from gradeschool.formats.read import Examine, IdBase
from gradeschool.formats.samples import FileSample, Reference
from gradeschool.problem import MARKER, Problem
from gradeschool.scorer import clip

ADVICE = "correct it, or give its dataset with -d"
TELLING = 40  # characters of a question


class Matcher:
    """Finds problems of one dataset by index, id or question."""

    def __init__(self, problems: Sequence[Problem], name: str) -> None:
        self.problems = problems
        self.name = name
        self.by_id = {problem.id: problem for problem in problems}
        # Of the rows of another dataset some are kept: an index means one of those rows.
        self.by_row = {
            problem.meta["row"]: problem for problem in problems if "row" in problem.meta
        }
        self.by_question = {_squeeze(problem.question): problem for problem in problems}

    @cached_property
    def topics(self) -> Topics:
        """What each problem is about."""
        return Topics(self.problems)

    @cached_property
    def index(self) -> Mapping[str, int]:
        """The place of each problem among the problems, by its id."""
        return {problem.id: index for index, problem in enumerate(self.problems)}

    def row_of(self, index: int) -> int:
        """Return the number of the row that an index in a file means for a problem."""
        return int(self.problems[index].meta.get("row", index))

    def counted_from(self, base: int, reference: Reference) -> Problem | None:
        """Return the problem of a reference in a file whose numbers begin with `base`."""
        try:
            return self.find(reference.counted_from(base))
        except InputError:
            return None

    def find(self, reference: Reference) -> Problem:
        """Return the problem that a row means; InputError says why there is none."""
        by_question = None
        if reference.question is not None:
            by_question = self.by_question.get(_squeeze(reference.question))
        if by_question is None and reference.question is not None and reference.answer is not None:
            return _own_problem(reference, reference.question, reference.answer)
        if by_question is not None and reference.answer is not None:
            return by_question  # another harness numbers its documents in its own way
        named = self._by_name(reference)
        if named is not None and by_question is not None and named is not by_question:
            raise InputError(
                f"names problem {named.id!r}, but its question is that of {by_question.id!r}"
            )
        if named is not None and by_question is None and _is_another(named, reference.question):
            raise InputError(
                f"names problem {named.id!r}, but asks another question: "
                f"{clip(reference.question or '')!r}; {ADVICE}"
            )
        problem = named if reference.position is not None else named or by_question
        if problem is None:
            raise InputError(self._missing(reference))
        return problem

    def _by_name(self, reference: Reference) -> Problem | None:
        if reference.position is not None:
            return self._of_row(reference.position)
        if reference.id is None:
            return None
        problem = self.by_id.get(reference.id)
        if problem is None and reference.question is None and reference.number is not None:
            problem = self._of_row(reference.number)
        return problem

    def _of_row(self, index: int) -> Problem | None:
        """Return the problem of that row."""
        if self.by_row:
            return self.by_row.get(str(index))
        return self.problems[index] if 0 <= index < len(self.problems) else None

    def _missing(self, reference: Reference) -> str:
        last = len(self.problems) - 1
        if reference.position is not None:
            index = clip(str(reference.position))
            if self.by_row:
                return f"has the index {index}, a row that {self.name!r} does not hold; {ADVICE}"
            return f"has the index {index}, but {self.name!r} has rows 0 to {last}; {ADVICE}"
        if reference.question is not None:
            question = clip(reference.question)
            return f"has a question that is not in {self.name!r}: {question!r}; {ADVICE}"
        id = clip(reference.id or "")
        return f"has the id {id!r}, which is not in {self.name!r} (rows 0 to {last}); {ADVICE}"


def _is_another(problem: Problem, question: str | None) -> bool:
    """Tell whether a row's question is neither a part of the problem's nor a prompt around it.

    A short one tells nothing: some files cut questions off.
    """
    theirs, ours = _squeeze(question or ""), _squeeze(problem.question)
    return len(theirs) >= TELLING and theirs not in ours and ours not in theirs


def _own_problem(reference: Reference, question: str, answer: str) -> Problem:
    """Build the problem that a log carries with it, of a dataset that we do not hold."""
    text = answer if MARKER in answer else f"{MARKER} {answer}"
    id = hashlib.sha256(question.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return Problem.from_row(id, question, text)


def _squeeze(question: str) -> str:
    return " ".join(question.split())


# What texts are about: ids that are shifted, permuted or of another dataset

WORDS = re.compile(r"[^\W\d_]{4,}|\d+")
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
READ = 6000  # characters of a text; base models run on into further questions
ABOUT = 0.35  # share of a question's words, by weight, from which a text is about it
ABOUT_ANOTHER = 0.45  # the same in another dataset, which may be larger
VAGUE = 0.15  # mean share of the closest questions in any dataset of texts that are about nothing
NEAR = (0, 1, -1, 2, -2)  # shifts that are looked at first, and cheaply
ENOUGH = 8  # texts; fewer show nothing
TELLING_WORDS = 8  # of a text; fewer do not show which problem it is about
CLEAR = 4.0  # standard deviations between two counts of matching texts


class TextTopic(NamedTuple):
    """What a text is about: its words and last number, with how its row names the problem."""

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


def examined(dataset: Dataset, file: str) -> Examine:
    """Return the `id_base` of a file's samples under a dataset."""

    def examine(samples: Sequence[FileSample]) -> IdBase:
        telling = [sample for sample in samples if _tells(sample)]
        if len(telling) < ENOUGH:
            return IdBase()
        return id_base(telling, Matcher(dataset.problems, dataset.name), file)

    return examine


def _tells(sample: FileSample) -> bool:
    """Tell whether a sample names its problem by a number alone; by a question it is certain."""
    reference = sample.reference
    named = reference.number is not None and reference.question is None
    return named and not sample.fault and not sample.error


def id_base(samples: Iterable[FileSample], matcher: Matcher, file: str) -> IdBase:
    """Return the number of the first problem in a file's ids, from what its texts are about.

    samples: some of the file's, which name their problems by numbers alone. Raises InputError,
    with the evidence, where the texts are about other problems than their ids say and it is not
    certain which are meant.
    """
    texts = [
        TextTopic(sample.row, sample.reference, words_of(sample.text), _last_number(sample.text))
        for sample in samples
    ]
    if _fits(texts, matcher):
        return IdBase()
    matching = {shift: _matching(texts, matcher, shift) for shift in _shifts(texts, matcher)}
    own = matching.pop(0)
    others = {shift: shifted - own for shift, shifted in matching.items()}
    shift = max(others, key=lambda shift: len(others[shift]))
    shifted, only, kept = matching[shift], others[shift], own - matching[shift]
    is_whole = len(only) - len(kept) >= CLEAR * math.sqrt(len(only) + len(kept) + 1)
    chance = max(len(texts) for other, texts in others.items() if other != shift)
    if not is_whole and len(only) < max(ENOUGH, 0.15 * len(texts), 4 * chance):
        _refuse_other_problems(texts, matcher, file)
        return IdBase()
    steps = "one" if abs(shift) == 1 else str(abs(shift))
    evidence = (
        f"the ids of {file!r} are shifted by {steps}: {_percent(len(shifted), texts)} are about "
        f"the problem {steps} {'before' if shift > 0 else 'after'}, "
        f"{_percent(len(own), texts)} about the one that their id names"
    )
    if shift == 1 and len(shifted) >= 0.8 * len(texts) and len(own) <= 0.1 * len(texts):
        return IdBase(1, f"{evidence}; read with --id-base 1 (--id-base 0 takes ids as they are)")
    if not is_whole:
        first = min(texts[index].reference.number or 0 for index in only)
        raise InputError(
            f"{evidence}, from {first} on: is a row missing? Correct the ids, or give --id-base 0 "
            "to take them as they are"
        )
    raise InputError(f"{evidence}; give --id-base {shift}, or --id-base 0 to take ids as they are")


def _percent(count: int, texts: Sequence[TextTopic]) -> str:
    return f"{100 * count / len(texts):.0f} % of {len(texts)} texts"


def _last_number(text: str) -> str:
    numbers = NUMBER.findall(text[-400:])
    return normalize(numbers[-1]) if numbers else ""


def _fits(texts: Sequence[TextTopic], matcher: Matcher) -> bool:
    """Tell whether nearly all texts are about their own problem rather than about one beside it.

    Looks at the questions of these problems alone, which takes milliseconds.
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
    """Return which texts are about the problem that many before the one they name."""
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
    """Raise InputError where most texts are about other problems, of this dataset or another."""
    texts = [text for text in texts if len(text.words) >= TELLING_WORDS]
    if len(texts) < ENOUGH:
        return
    own = [_own_share(text, matcher) for text in texts]
    dataset, best, strangers = matcher.name, [(0, 0.0)] * len(texts), 0
    for name, topics in _topics_here(matcher):
        closest = [topics.best(text.words) for text in texts]
        if name == matcher.name and sum(share for _, share in closest) < VAGUE * len(texts):
            return  # about nothing: no other dataset need be looked at
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
        example = f"row {text.row} {named} and repeats {100 * share:.0f} % of problem {id!r}"
        advice = "the rows are in another order: correct the ids, or add a column 'question'"
    else:
        mean = sum(share for _, share in best) / len(best)
        example = f"they repeat {100 * mean:.0f} % of the questions of {dataset!r}"
        advice = f"give -d {dataset}"
    raise InputError(
        f"{_percent(strangers, texts)} of {file!r} are about other problems than their ids name in "
        f"{matcher.name!r} ({example}); {advice}, or --id-base 0 to take the ids as they are"
    )


def _own_share(text: TextTopic, matcher: Matcher) -> float:
    problem = matcher.counted_from(0, text.reference)
    return matcher.topics.share(text.words, matcher.index[problem.id]) if problem else 0.0


def _topics_here(matcher: Matcher) -> Iterator[tuple[str, Topics]]:
    """Yield the dataset itself, then the others that need not be fetched."""
    yield matcher.name, matcher.topics
    for name, source in SOURCES.items():
        if name != matcher.name and source.layout == "gsm8k" and is_here(name):
            yield name, Topics(load_dataset(name).problems)
