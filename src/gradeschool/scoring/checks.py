"""Checks over a whole file that it is read as it was meant.

Facts are counted while the samples stream by, and judged after the last: columns that are swapped,
reference solutions or golds in the place of the model's texts and answers, golds that are not the
dataset's, texts in wrong rows (`scoring.placement`), failures of a service stored as texts,
programs, prompts. What would give a wrong number is an error with the command that mends it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import compress
from operator import itemgetter

from gradeschool.answers.numbers import normalize
from gradeschool.datasets.files import OWN_PROBLEMS, SOURCES
from gradeschool.datasets.load import is_here, load_dataset
from gradeschool.errors import InputError
from gradeschool.formats.columns import BARE, WEAK_GOLDS, Columns
from gradeschool.formats.samples import ReadOptions, Sample
from gradeschool.formats.values import SERVICE_FAILURE
from gradeschool.percentages import percent
from gradeschool.problem import MARKER, Problem
from gradeschool.scorer import clip
from gradeschool.scoring.matching import NO_GOLD, Matcher, end_of_prompt, squeeze
from gradeschool.scoring.placement import (
    LEAST_ROWS,
    NUMBER,
    Placement,
    last_number,
    normalized,
    read_number,
)

FULL = 1536  # samples that are all examined, more than a test split has
SPREAD = 13  # of the others, one in so many is
NEARLY_ALL = 0.9  # of the rows that makes a column what it looks like
NOTABLE = 0.05  # share of the rows that is worth a warning
KEPT = 64  # questions that are remembered
SHORT, LETTERS = 300, 60  # characters of texts that are compared, of what is compared
FEW_LETTERS = 12  # beside a number, these say nothing
MOST_KINDS = 10_000  # of short texts
MANY_EQUAL = 0.15  # share of equal texts to warn of, if they may be answers
END = 80  # characters in which a reference solution marks its answer
LEAST_CUT, MANY_CUT = 60, 0.15  # characters of cut texts; share of the texts that are as long
THOUSANDS = re.compile(r"\s*-?[1-9]\d{0,2}\.\d{3}\s*")  # or three decimals
WORD_WITH_DIGIT = re.compile(r"\S*\d\S*")
LETTER = re.compile(r"\s*\(?[A-Ea-e]\)?\.?\s*")
ESCAPED = re.compile(r"\\n(?![a-z])")  # and no \neq
CALCULATION = re.compile(r"<<[^<>]*>>")
PROGRAM = re.compile(
    r"^\s*(?:def \w+\(|import \w+|from \w+ import|print\(|```(?:python|output))", re.M
)
PROGRAM_SIGNS = ("def ", "import ", "print(", "```")  # one of these is in every program
TEXT_COMMAND = "name the column of the model's texts: --columns response=COLUMN"


def length_of_cut_texts(lengths: Mapping[int, int]) -> int:
    """Return the length at which many texts end and none is longer, 0 for none.

    lengths: the number of texts of each length in characters.
    """
    longest = max(lengths)
    many = lengths[longest] >= max(LEAST_ROWS, MANY_CUT * sum(lengths.values()))
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
                self.count(sample.text, sample.problem.gold)

    def count(self, text: str, gold: str, weight: int = 1) -> None:
        """Count a text; weight: the number of texts for which it stands.

        A text is right if the gold is among its numbers: no failure of a server has it.
        """
        self.n += weight
        if not text or len(text) > SHORT:
            return
        key, share = WORD_WITH_DIGIT.sub("", text[:LETTERS]).strip(), NOTABLE
        if len(key) < (3 if key == text.strip() else FEW_LETTERS):  # "-1", "It is 5"
            key, share = text, MANY_EQUAL
        number, right, first, _ = self._kinds.get(key, (0, 0, text, share))
        if number or len(self._kinds) < MOST_KINDS:
            numbers = map(normalize, NUMBER.findall(text.replace("-", " ")))
            is_right = normalized(gold).lstrip("-") in numbers
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
        self.columns = columns or Columns({})
        self.answered = 0  # samples with a problem that did not fail
        self.examined = 0  # of these
        self.counts = Counter[str]()
        self.examples: dict[str, str] = {}  # of some counts, the first
        self.placement = Placement(file, matcher, options.id_base)
        self.alike = AlikeTexts(file)
        self.lengths = Counter[int]()
        self.questions: list[str] = []  # that are unknown
        self.problems: set[tuple[str, str]] = set()  # by run, where a column may tell runs apart
        # Of rows that are not right, by run and what they share: the open stretch (problems, first
        # row, value); the longest (problems, first and last row).
        self._open: dict[tuple[str, str], tuple[int, int, object]] = {}
        self.filled: dict[tuple[str, str], tuple[int, int, int]] = {}
        self._last: dict[str, tuple[int, Problem | None]] = {}  # problems before, and the last one
        # For rows that name neither run nor sample: the first problem, the last one, and how many
        # samples came before each return of the first.
        self._is_bare = columns is not None and not columns.roles.keys() & {"run", "sample"}
        self._first: Problem | None = None
        self._before: Problem | None = None
        self.rounds: list[int] = []

    def add(self, samples: Sequence[Sample]) -> None:
        """Count the facts of matched samples, in the order of the file."""
        counts = self.counts
        for index, sample in enumerate(samples):
            problem, reference = sample.problem, sample.reference
            if sample.error:
                if sample.error.startswith(SERVICE_FAILURE):
                    counts["failures"] += 1
                    failure = sample.error.removeprefix(SERVICE_FAILURE)
                    self.examples.setdefault("failures", failure)
                continue
            if problem is None:
                counts["faults"] += 1
                if sample.fault.startswith(NO_GOLD):
                    counts["no gold"] += 1
                    self.examples.setdefault("no gold", f"row {sample.row} {sample.fault}")
                if reference.gold is not None:
                    self._count_gold(sample, "", 1)
                elif reference.question is not None and len(self.questions) < KEPT:
                    self.questions.append(reference.question)
                continue
            self.answered = number = self.answered + 1
            if self.columns.kinds:
                self.problems.add((sample.run, problem.id))
            if self._is_bare:
                self._first = self._first or problem
                if problem is self._first is not self._before and number > 1:
                    self.rounds.append(number - 1)
                self._before = problem
            if number > FULL and number % SPREAD != number // SPREAD % SPREAD:
                continue
            self.examined += 1
            weight = 1 if number <= FULL else SPREAD
            answer = last_number(sample.text)
            is_right = answer == normalized(problem.gold) != ""
            self._count_filled(sample, problem, is_right)
            self._count_text(sample, problem, answer, is_right, weight)
            if sample.text and not reference.in_text:
                self.placement.add(samples, index, problem, answer, is_right, weight)

    def _count_filled(self, sample: Sample, problem: Problem, is_right: bool) -> None:
        """Note stretches of problems with one text or gold, as a spreadsheet fills cells down.

        Only of rows that are not right; golds that count up are found by what they count from.
        """
        run, row, gold = sample.run, sample.row, problem.gold
        place, before = self._last.get(run, (0, None))
        if problem is before:
            return
        self._last[run] = place + 1, problem
        values: dict[str, object] = {"the same text": sample.text} if sample.text else {}
        if sample.reference.gold is not None and problem.meta.get("dataset") == OWN_PROBLEMS:
            values["the same gold"] = gold
            if gold.isdecimal() and len(gold) < 12:  # longer ones count nothing
                values["golds that count up"] = int(gold) - place
        for what, value in values.items():
            n, first, last = self._open.get((run, what), (0, row, None))
            n, first = (n + 1, first) if value == last and not is_right else (1, row)
            self._open[run, what] = n, first, None if is_right else value
            longest = self.filled.get((run, what), (0, row, row))
            self.filled[run, what] = max(longest, (n, first, row), key=itemgetter(0))

    def _count_text(
        self, sample: Sample, problem: Problem, answer: str, is_right: bool, weight: int
    ) -> None:
        """Count what the text and the gold of a sample look like.

        answer: the text's last number; is_right: whether it is the gold.
        """
        text, question = sample.text, sample.reference.question or ""
        written = _written(sample.reference.gold)
        is_own = problem.meta.get("dataset") == OWN_PROBLEMS
        is_bare = len(text) < 40 and BARE.match(text) is not None
        is_remark = sample.reference.turns and squeeze(problem.question) not in squeeze(question)
        if is_remark:
            self.examples.setdefault("remarks", clip(question))
        is_words = len(written.split(None, 3)) > 3 and MARKER not in written
        facts: dict[str, object] = {
            "searched": True,
            "right": is_right,
            "empty": not text,
            "bare": is_bare,
            "bare right": is_bare and is_right,
            "escaped": "\\n" in text and "\n" not in text and ESCAPED.search(text),
            "questions as texts": text.endswith("?") and squeeze(text) in self.matcher.questions,
            "programs": any(map(text.__contains__, PROGRAM_SIGNS)) and PROGRAM.search(text),
            "prompts": not self.matcher.cuts_prompts and end_of_prompt(text, None, problem, True),
            "solutions": len(text) > 20 and any(_is_prose(text, each)
                                                for each in (problem.solution, written)),
            "wordy golds": is_words and (is_own or not _is_prose(written, problem.solution)),
            "remarks": is_remark,
        }  # fmt: skip
        self.counts.update(dict.fromkeys(compress(facts, facts.values()), weight))
        if written:
            self._count_gold(sample, answer, weight)
        self.lengths[len(text)] += weight
        self.alike.count(text, problem.gold, weight)

    def _count_gold(self, sample: Sample, answer: str, weight: int) -> None:
        """Compare the file's gold with the dataset's and with the text's last number."""
        problem, written = sample.problem, _written(sample.reference.gold)
        is_thousands = THOUSANDS.fullmatch(written) is not None
        is_marked, marks = MARKER in sample.text[-END:], (MARKER, "\\boxed")
        is_unmarked = is_marked and not any(map(written.__contains__, marks))
        value = read_number(sample.reference.gold) if problem else ""
        is_own = problem is not None and problem.meta.get("dataset") == OWN_PROBLEMS
        differs = problem and value and not is_own and value != normalized(problem.gold)
        if problem and differs:
            self.examples.setdefault("differ", f"row {sample.row}: {value}, not {problem.gold}")
        facts: dict[str, object] = {
            "golds": written,
            "thousands": is_thousands,
            "decimals": "." in written and not is_thousands,
            "letters": LETTER.fullmatch(written),
            "marked": is_marked,
            "unmarked golds": is_unmarked and len(written.split()) > 14,
            "readable": value,
            "own": value and is_own,
            "given": value and value == answer,  # by the text
            "differ": differs,
            "differ, given": differs and value == answer,
        }
        self.counts.update(dict.fromkeys(compress(facts, facts.values()), weight))

    def conclude(self) -> list[str]:
        """Return warnings; raises InputError if the file is not what it was read as."""
        note = ""
        if self.examined < self.answered:
            note = f" (estimated from {self.examined:,} of {self.answered:,} texts)"
        try:
            for holds, words in self._refusals():
                if holds:
                    raise InputError(words)
            warnings = self._warnings() if self.counts["searched"] else []
        except InputError as error:
            raise InputError(f"{error}{note}") from None
        return [words + note for words in warnings]

    def _refusals(self) -> list[tuple[object, str]]:
        """Return reasons not to score a file, and whether each holds; the first one counts."""
        counts, columns, file, name = self.counts, self.columns, self.file, self.matcher.name
        failures, n, golds = counts["failures"], counts["searched"], counts["golds"]
        rows = n + counts["faults"]
        column, gold = columns.roles.get("response", "response"), columns.roles.get("gold")
        may_be_other = n >= LEAST_ROWS and "response" not in columns.named
        is_wordy = min(counts["bare"], counts["wordy golds"]) >= NEARLY_ALL * n
        is_right = counts["bare right"] >= NEARLY_ALL * n
        is_given = is_right and counts["differ"] >= max(2, NOTABLE * golds)
        is_marked = (counts["marked"] >= NEARLY_ALL * golds
                     and counts["unmarked golds"] >= 0.5 * golds > 0)  # fmt: skip
        is_swapped = may_be_other and gold is not None and (
            is_marked or is_given or (is_wordy and (is_right or gold.plain not in WEAK_GOLDS))
        )  # fmt: skip
        has = "solutions that end in '#### N'" if is_marked else "bare numbers"
        lacks = "texts" if is_wordy else "texts without" if is_marked else "other numbers"
        texts = " or response=".join([*columns.wordy[:4], str(column)])
        return [
            (failures > self.answered,
             f"{failures} of {failures + self.answered} texts of {file!r} are failures of a "
             f"service, such as {self.examples.get('failures')!r}; ask for them again"),
            (counts["letters"] >= NEARLY_ALL * golds and golds >= 3,
             f"the golds of {file!r} are letters: multiple choice, which no scorer reads; give "
             "golds that are numbers: --columns gold=COLUMN"),
            (counts["questions as texts"] >= NEARLY_ALL * rows > 1,
             f"the texts of {file!r} are questions of {name!r}; {TEXT_COMMAND}"),
            (counts["no gold"] >= max(LEAST_ROWS, n + 1),
             f"{counts['no gold']} of {rows} golds of {file!r} cannot be read, and the others are "
             f"no fair sample: {self.examples.get('no gold')}"),
            (unknown := self._unknown_questions(), unknown),
            (is_swapped,
             f"the columns of {file!r} look swapped: {str(column)!r} has {has} and the gold "
             f"{str(gold)!r} has {lacks}; give --columns response={gold},gold={column}, or "
             f"--columns response={column},gold={gold} if they are right"),
            (may_be_other and counts["solutions"] >= NEARLY_ALL * n,
             f"the texts of {file!r} (column {str(column)!r}) are the reference solutions in "
             f"{counts['solutions']} of {n} rows; {TEXT_COMMAND}"),
            (may_be_other and columns.is_weak and gold is None
             and counts["right"] >= NEARLY_ALL * n,
             f"the column {str(column)!r} of {file!r} may be the reference, not the model's text: "
             f"{counts['right']} of {n} end in the gold; give --columns response={texts}, "
             "whichever it is"),
            (misplaced := self.placement.refusal(n), misplaced),
            (counts["prompts"] >= max(3, 0.5 * n),
             f"{counts['prompts']} of {n} texts of {file!r} begin with their prompt, but not the "
             "first ones: they are not cut; cut the prompts off, or score them in another file"),
        ]  # fmt: skip

    def _unknown_questions(self) -> str:
        """Return what to say of a file in which no row has a problem, "" for others."""
        if self.counts["searched"] or not self.questions:
            return ""
        questions = {squeeze(question) for question in self.questions}
        for name, source in SOURCES.items():
            if source.layout in ("gsm8k", "columns") and is_here(name):  # not of the file's dataset
                known = {squeeze(problem.question) for problem in load_dataset(name).problems}
                if len(questions & known) >= 0.5 * len(questions):
                    return f"the questions of {self.file!r} are those of {name!r}; give -d {name}"
        return (
            f"no question of {self.file!r} is in {self.matcher.name!r} or another dataset, and it "
            f"has no golds, such as {clip(self.questions[0])!r}; give the dataset with -d, or name "
            "the golds: --columns gold=COLUMN"
        )

    def _judge_golds(self) -> str:
        """Return a warning on the file's golds, "" for none; raises InputError for wrong ones."""
        counts, file, name = self.counts, self.file, self.matcher.name
        column = self.columns.roles.get("gold")
        readable, given, differ = counts["readable"], counts["given"], counts["differ"]
        known = readable - counts["own"]
        if readable < LEAST_ROWS or self.matcher.own_golds:
            return ""
        if not differ:
            if column and counts["own"] == (n := counts["searched"]) and given >= 0.98 * n:
                return (
                    f"the gold {str(column)!r} of {file!r} is the text's last number in {given} of "
                    f"{n} rows; if it is the model's own answer, name the golds: --columns "
                    "gold=COLUMN"
                )
            return ""
        said = f"{differ} of {known} golds in {file!r} differ from those of {name!r}"
        said += f" ({self.examples['differ']})"
        if (column and given >= NEARLY_ALL * readable and differ >= max(2, NOTABLE * known)
                and counts["differ, given"] >= NEARLY_ALL * differ):  # fmt: skip
            models = f"{str(column)!r} of {file!r} has the model's own answers, not golds"
            if column.plain in WEAK_GOLDS and not counts["own"]:
                return f"{models}; the golds of {name!r} are used"
            raise InputError(
                f"{models}: {given} of {readable} are the text's last number, and {said}; name the "
                f"golds: --columns gold=COLUMN, or give --columns gold=- for those of {name!r}"
            )
        if column and differ >= 0.5 * known and known >= 4:
            raise InputError(
                f"{said}; give --columns gold={column} to score against the file's, or --columns "
                "gold=- to score against the dataset's"
            )
        return f"{said}; those of {name!r} are used"

    def _warnings(self) -> list[str]:
        """Return what is odd in a file; raises InputError if its golds are none."""
        counts, columns, file, name = self.counts, self.columns, self.file, self.matcher.name
        n, texts, failures = counts["searched"], self.answered, counts["failures"]
        prompts, programs, own = counts["prompts"], counts["programs"], counts["own"]
        alike = self.alike.conclude("ask for them again")
        many, rounds = max(LEAST_ROWS, NOTABLE * n), len(self.rounds) + 1
        cut, lost = length_of_cut_texts(self.lengths), self.placement.warning()
        error, unheeded = columns.roles.get("error"), columns.unheeded
        samples = round(texts / len(self.problems)) if self.problems else 1
        other_runs = [(column, kinds) for column, kinds in columns.kinds.items()
                      if len(kinds) == samples > 1 and max(kinds.values())
                      <= 1.05 * texts / samples <= 1.1 * min(kinds.values())]  # fmt: skip
        printed = "their printed answers are no part of the text"
        if columns.executed:
            printed = f"what they print may be elsewhere: --columns response={columns.executed}"
        return [words for holds, words in (
            *((warning, warning) for warning in (self._judge_golds(), *alike)),
            *((problems >= LEAST_ROWS and not (what == "the same text" and alike),
               f"rows {first} to {last} of {file!r} have {what} for {problems} problems: was a "
               "cell of a spreadsheet filled down?")
              for (_, what), (problems, first, last) in self.filled.items()),
            (self.rounds and self.rounds == [texts * i // rounds for i in range(1, rounds)],
             f"the problems of {file!r} stand {rounds} times in one order, taken as samples of one "
             "run; if they are several runs, put each into a file, or name the column that tells "
             "them apart: --columns run=COLUMN"),
            (counts["thousands"] > 2 and not counts["decimals"],
             f"{counts['thousands']} golds of {file!r} are written like '1.790' and none has other "
             "decimals; they are read as decimals: if the point marks thousands, write 1790"),
            (min(own, n - own) >= many,
             f"{own} of {n} rows of {file!r} ask problems that are not in {name!r} and are scored "
             "by the file's golds: the accuracy is one over them and the others"),
            (prompts >= max(3, 0.02 * n),  # fewer change no figure much
             f"{prompts} of {n} texts of {file!r} begin with their prompt, whose answers may be "
             "read as theirs; cut the prompts off"),
            (failures,
             f"{failures} of {texts + failures} texts of {file!r} are failures of a service, such "
             f"as {self.examples.get('failures')!r}; counted as errors"),
            (counts["remarks"],
             f"in {counts['remarks']} of {n} chats of {file!r} the last turn of the user is not "
             f"the question, such as {self.examples.get('remarks')!r}; the first turn that is one "
             "counts, and the last answer is scored"),
            (unheeded,
             f"{unheeded.total()} of {texts} rows of {file!r} have a text and words in "
             f"{str(error)!r} that no service's failure has, such as "
             f"{clip(next(iter(unheeded), ''))!r}; their texts are scored. If these requests "
             f"failed: --columns error={error}"),
            (counts["solutions"] >= max(LEAST_ROWS, NEARLY_ALL * n),
             f"the texts of {file!r} are the reference solutions in {counts['solutions']} of {n} "
             "rows: this is no accuracy of a model"),
            (self.placement.counts["golds of others"] >= max(50, 0.6 * n)
             and counts["right"] <= 0.02 * n,
             f"hardly an answer of {file!r} is right, but most are golds of other rows: are the "
             "golds in the order of the texts?"),
            (counts["empty"] and columns.thinking,
             f"{counts['empty']} of {n} texts of {file!r} are empty, where "
             f"{str(columns.thinking)!r} has text: the thinking took all tokens, or its parser "
             f"took the answer; to score that text: --columns response={columns.thinking}"),
            (counts["bare"] >= NEARLY_ALL * n and programs < 0.5 * n and columns.wordy
             and "response" not in columns.named,
             f"{counts['bare']} of {n} texts of {file!r} are bare numbers; if the whole texts are "
             f"elsewhere: --columns response={next(iter(columns.wordy), '')}"),
            (cut,
             f"{self.lengths[cut]} of {n} texts of {file!r} end at exactly {cut:,} characters, "
             "which looks cut; score the whole texts"),
            (counts["escaped"] >= many,
             f"{counts['escaped']} of {n} texts of {file!r} have a backslash and an n where lines "
             "end, which scorers read as letters: write line breaks (were they escaped twice?)"),
            (columns.selected,
             f"each text of {file!r} is scored; to score those that were selected: --columns "
             f"response={columns.selected}"),
            (programs >= 0.5 * n,
             f"{percent(programs / n, 0)} of the texts of {file!r} are programs or transcripts of "
             f"tools, which scorers read as text; {printed}"),
            *((True, f"each problem of {file!r} has {samples} rows, and {column!r} has as many "
                     f"values ({clip(', '.join(map(str, kinds)))}): they are taken as samples of "
                     f"one run; if they are several runs: --columns run={column}")
              for column, kinds in other_runs),
            (lost, lost),
        ) if holds]  # fmt: skip


def _written(gold: object) -> str:
    """Return a file's gold as text, "" for none."""
    first = gold[0] if isinstance(gold, list) and len(gold) == 1 else gold
    return "" if gold is None else str(first)


def _is_prose(text: str, solution: str) -> bool:
    """Return whether two texts are alike but for calculations, marks and spaces."""
    if text.lstrip()[:8] != solution.lstrip()[:8]:
        return False
    one, two = (
        squeeze(CALCULATION.sub("", each).replace(MARKER, "").replace("The answer is", ""))
        for each in (text, solution)
    )
    return one == two != ""
