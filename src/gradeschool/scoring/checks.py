"""Checks over a whole file that it is read as it was meant.

Facts are counted while the samples stream by, and judged after the last: columns that are swapped,
reference solutions or golds in the place of the model's texts and answers, golds that are not the
dataset's, texts in wrong rows (`Placement`), failures of a service stored as texts, programs,
prompts. What would give a wrong number is an error with the command that mends it.
"""

import re
import tomllib
from bisect import bisect, bisect_left
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import compress
from pathlib import Path

from gradeschool.answers.numbers import normalize
from gradeschool.answers.regions import answer_region
from gradeschool.datasets.load import OWN_PROBLEMS, SOURCES, is_here, load_dataset
from gradeschool.errors import InputError
from gradeschool.formats.columns import BARE, NEARLY_ALL, WEAK_GOLDS, Columns
from gradeschool.formats.values import SERVICE_FAILURE, ReadOptions, Sample, read_number
from gradeschool.printable import count, percent
from gradeschool.problem import MARKER, Problem
from gradeschool.scorer import clip
from gradeschool.scoring import matching

# Held by test_checks.py: what it puts wrong is found, and no recorded run is refused.
FULL = 1320  # the first texts of a file are all examined; a test split has 1,319
SPREAD = 13  # of the texts after them, one in 13 is examined and counts 13 times
NOTABLE = 0.05  # share of the texts that is worth a warning: it may move a figure by as much
KEPT = 64  # unknown questions that are remembered, to find their dataset
STRANGE = 0.25  # share of its question's words; a text that repeats fewer may be about another
WORDY = 14  # different words; a text with fewer may be about any problem
LEAST_ROWS = 8  # rows; what fewer show may be chance
STRANGERS = 0.05  # share of wordy texts; if as many are strangers, their problems are looked for
MANY_STRANGERS = 0.08  # share of wordy texts; if as many are strangers by id, a warning says so
KEPT_STRANGERS = 256  # strangers that are remembered; up to 31 are compared with all problems
REACH = 31  # places before and after its own whose golds and numbers are compared with a text's
LEAST_NUMBERS, LEAST_DIGITS = 3, 5  # of a question; with fewer, another text has them by chance
MISPLACED = 0.02  # share of texts with another question's numbers to refuse; recorded runs: 0.0038
SEGMENT = 4.5  # total of `Stretches` that shows a shift; a text that fits another place adds 1
OWN_LOSS = 3.0  # what a text that fits its own problem takes from every stretch of shifted rows
OTHER_LOSS = 0.25  # what one that fits another place takes from the stretches of other shifts
GOLD_GAIN = 0.7  # what a text adds of which only the last number fits another place, as its gold
ABOUT_LOSS = 9.0  # what a text about its problem takes from a stretch of lost ones, which add 1
LOST = 60  # lost texts of a stretch; with fewer, a part of a file is not named
SHORT, LETTERS = 300, 60  # characters of a text that may be a failure's; of them, those compared
FEW_LETTERS = 12  # letters beside a number; texts with fewer are alike only if they are equal
MOST_KINDS = 10_000  # kinds of short texts that are counted
MANY_EQUAL = 0.15  # share of equal texts to warn of, if they may be answers
END = 80  # characters at the end of a text, in which a reference solution marks its answer
LEAST_CUT, MANY_CUT = 60, 0.15  # characters of cut texts, at least; share that are as long
THOUSANDS = re.compile(r"\s*-?[1-9]\d{0,2}\.\d{3}\s*")  # or three decimals
WORD_WITH_DIGIT = re.compile(r"\S*\d\S*")
LETTER = re.compile(r"\s*\(?[A-Ea-e]\)?\.?\s*")
ESCAPED = re.compile(r"\\n(?![a-z])")  # and no \neq
CALCULATION = re.compile(r"<<[^<>]*>>")
PROGRAM = re.compile(
    r"^\s*(?:def \w+\(|import \w+|from \w+ import|print\(|```(?:python|output))", re.M
)
PROGRAM_SIGNS = ("def ", "import ", "print(", "```")  # one of these is in every program
# The sentence of each finding, with places for its values.
SENTENCES: Mapping[str, str] = tomllib.loads(
    Path(__file__).with_name("checks.toml").read_text("utf-8")
)


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
            said = matching.compared_gold(gold).lstrip("-")
            is_right = said in text.replace(",", "") and said in map(
                normalize, matching.NUMBER.findall(text.replace("-", " "))
            )
            self._kinds[key] = number + weight, right + weight * is_right, first, share

    def conclude(self, remedy: str = "evaluate again, into another folder (-o)") -> list[str]:
        """Return a warning for each kind with many texts of which hardly one has the gold."""
        found = SENTENCES["alike"]
        return [
            found.format(number=number, n=self.n, file=self.file, text=clip(text), remedy=remedy)
            for number, right, text, share in self._kinds.values()
            if number >= max(3, share * self.n) and right <= 0.1 * number
        ]


class Checks:
    """The facts of one file: `add` counts them, `conclude` judges.

    Examines the first FULL texts, then one text of every SPREAD, which counts SPREAD times; then
    `counts` are estimates. Its keys (`_count_facts` has those that its conditions explain):
    failures: texts that are a service's failure; faults: rows that cannot be used; no gold: of
        these, those that need a gold
    searched: the texts examined; right: those whose last number is the gold
    golds: rows with a gold; readable: golds that are numbers; file golds: of these, for problems of
        no dataset; given: those equal to the text's last number; differ: from the dataset's
    about: texts that are right or repeat their question; away: others, each counted once, as `lost`
        counts its rows; wordy: right texts and those of WORDY words
    strangers: wordy texts that repeat less than STRANGE; strangers by id: of rows without question
    misplaced: texts with a nearby question's numbers, not their own's; golds of others: answers
        that are golds of other rows
    """

    def __init__(
        self, file: str, matcher: matching.Matcher, columns: Columns | None, options: ReadOptions
    ) -> None:
        self.file = file
        self.matcher = matcher
        self.columns = columns or Columns({})
        self.id_base = options.id_base  # as the user gave it: then rows are taken as they are
        self.texts = 0  # of samples with a problem that did not fail
        self.examined = 0  # of these
        self.counts = Counter[str]()
        self.examples: dict[str, str] = {}  # of some counts, the first
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
        # Where the texts belong: stretches of rows whose texts, or golds, are those of a problem
        # beside their own, by run; rows whose text is not about their problem; texts that may be
        # about another one (row, words, the row's problem); an example of numbers of another one.
        self.shifts: defaultdict[str, Stretches] = defaultdict(Stretches)
        self.slips: defaultdict[str, Stretches] = defaultdict(Stretches)
        self.lost = Stretches()
        self.strangers: list[tuple[int, set[str], Problem]] = []
        self.misplaced = ""
        self._golds = _places_by_gold(matcher.rows)
        self._beside: list[Neighbours] = []  # of each sample of a batch, when needed

    def add(self, samples: Sequence[Sample]) -> None:
        """Count the facts of matched samples, in the order of the file."""
        counts, self._beside = self.counts, []
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
                if sample.fault.startswith(matching.NO_GOLD):
                    counts["no gold"] += 1
                    self.examples.setdefault("no gold", f"row {sample.row} {sample.fault}")
                if reference.gold is not None:
                    self._count_facts(sample, 1)
                elif reference.question is not None and len(self.questions) < KEPT:
                    self.questions.append(reference.question)
                continue
            self.texts = number = self.texts + 1
            if self.columns.kinds:
                self.problems.add((sample.run, problem.id))
            if self._is_bare:
                self._first = self._first or problem
                if problem is self._first is not self._before and number > 1:
                    self.rounds.append(number - 1)
                self._before = problem
            # At another place of each SPREAD rows: whatever repeats in a file is sampled evenly.
            if number > FULL and number % SPREAD != number // SPREAD % SPREAD:
                continue
            self.examined += 1
            weight = 1 if number <= FULL else SPREAD
            answer = matching.last_number(sample.text)
            is_right = answer == matching.compared_gold(problem.gold) != ""
            self._count_filled(sample, problem, is_right)
            self._count_facts(sample, weight, answer, is_right)
            if sample.text and not reference.in_text:
                self._count_place(samples, index, problem, answer, is_right, weight)

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
            key = run, what
            if is_right:
                self._open.pop(key, None)
                continue
            n, first, last = self._open.get(key, (0, row, None))
            n, first = (n + 1, first) if value == last else (1, row)
            self._open[key] = n, first, value
            if n > self.filled.get(key, (0, row, row))[0]:
                self.filled[key] = n, first, row

    def _count_facts(
        self, sample: Sample, weight: int, answer: str = "", is_right: bool = False
    ) -> None:
        """Count what the text and the gold of a sample look like; without a problem, the gold.

        answer: the text's last number; is_right: whether it is the gold.
        """
        problem, text, gold = sample.problem, sample.text, sample.reference.gold
        first = gold[0] if isinstance(gold, list) and len(gold) == 1 else gold
        written = "" if gold is None else str(first)
        is_own = problem is not None and problem.meta.get("dataset") == OWN_PROBLEMS
        facts: dict[str, object] = {}
        if problem is not None:
            question, turns = sample.reference.question or "", sample.reference.turns
            is_bare = len(text) < 40 and BARE.match(text) is not None
            asked = matching.squeeze(problem.question) if turns else ""
            is_remark = asked not in matching.squeeze(question) if asked else False
            if is_remark:
                self.examples.setdefault("remarks", clip(question))
            is_words = len(written.split(None, 3)) > 3 and MARKER not in written
            cuts = self.matcher.cuts_prompts
            facts = {
                "searched": True,
                "right": is_right,
                "empty": not text,
                "bare": is_bare,
                "bare right": is_bare and is_right,
                "escaped": "\\n" in text and "\n" not in text and ESCAPED.search(text),
                "questions as texts": text.endswith("?")
                and matching.squeeze(text) in self.matcher.questions,
                "programs": any(map(text.__contains__, PROGRAM_SIGNS)) and PROGRAM.search(text),
                "prompts": not cuts and matching.end_of_prompt(text, None, problem, True),
                "solutions": len(text) > 20
                and (_is_prose(text, problem.solution) or _is_prose(text, written)),
                "wordy golds": is_words and (is_own or not _is_prose(written, problem.solution)),
                "remarks": is_remark,
            }
            self.lengths[len(text)] += weight
            self.alike.count(text, problem.gold, weight)
        if written:
            is_thousands = THOUSANDS.fullmatch(written) is not None
            is_marked, marks = MARKER in text[-END:], (MARKER, "\\boxed")
            is_unmarked = is_marked and not any(map(written.__contains__, marks))
            value = read_number(gold) if problem else ""
            differs = (
                problem and value and not is_own and value != matching.compared_gold(problem.gold)
            )
            if problem and differs:
                self.examples.setdefault("differ", f"row {sample.row}: {value}, not {problem.gold}")
            facts |= {
                "golds": True,
                "thousands": is_thousands,
                "decimals": "." in written and not is_thousands,
                "letters": LETTER.fullmatch(written),
                "marked": is_marked,
                "unmarked golds": is_unmarked and len(written.split()) > 14,
                "readable": value,
                "file golds": value and is_own,
                "given": value and value == answer,  # by the text
                "differ": differs,
                "differ, given": differs and value == answer,
            }
        for fact, holds in facts.items():
            if holds:
                self.counts[fact] += weight

    def conclude(self) -> list[str]:
        """Return warnings; raises InputError if the file is not what it was read as."""
        counts, columns, texts = self.counts, self.columns, self.texts
        n = counts["searched"]
        gold, golds, readable = columns.roles.get("gold"), counts["golds"], counts["readable"]
        given, differ, known = counts["given"], counts["differ"], readable - counts["file golds"]
        note = ""
        if self.examined < texts:
            note = f" (estimated from {self.examined:,} of {texts:,} texts)"

        # Columns that were taken for one another.
        may_be_other = n >= LEAST_ROWS and "response" not in columns.named
        is_wordy = min(counts["bare"], counts["wordy golds"]) >= NEARLY_ALL * n
        is_right = counts["bare right"] >= NEARLY_ALL * n
        is_given = is_right and differ >= max(2, NOTABLE * golds)
        is_marked = (counts["marked"] >= NEARLY_ALL * golds
                     and counts["unmarked golds"] >= 0.5 * golds > 0)  # fmt: skip
        is_swapped = may_be_other and gold is not None and (
            is_marked or is_given or (is_wordy and (is_right or gold.plain not in WEAK_GOLDS))
        )  # fmt: skip
        is_reference = columns.is_weak and gold is None and counts["right"] >= NEARLY_ALL * n
        choices = " or response=".join([*columns.wordy[:4], str(columns.roles.get("response"))])
        has = "solutions that end in '#### N'" if is_marked else "bare numbers"
        has += f" that are golds of {self.matcher.name!r}" if is_right else ""
        lacks = "texts" if is_wordy else "texts without" if is_marked else "other numbers"

        # Golds that are the model's answers, or not the dataset's.
        are_golds = n > 0 and readable >= LEAST_ROWS and not self.matcher.takes_file_golds
        are_answers = are_golds and gold is not None and (
            given >= NEARLY_ALL * readable and differ >= max(2, NOTABLE * known)
            and counts["differ, given"] >= NEARLY_ALL * differ
        )  # fmt: skip
        is_weak_gold = gold is not None and gold.plain in WEAK_GOLDS and not counts["file golds"]
        are_others = are_golds and gold and differ >= 0.5 * known and known >= 4 and differ

        refusals = {
            "failures": counts["failures"] > texts,
            "letters": counts["letters"] >= NEARLY_ALL * golds and golds >= 3,
            "questions": counts["questions as texts"] >= NEARLY_ALL * (n + counts["faults"]) > 1,
            "unreadable": counts["no gold"] >= max(LEAST_ROWS, n + 1),
            "unknown": not n and self.questions and self._unknown_questions(),
            "swapped": is_swapped and self._say("swapped", has=has, lacks=lacks),
            "solutions": may_be_other and counts["solutions"] >= NEARLY_ALL * n,
            "reference": may_be_other and is_reference and self._say("reference", choices=choices),
            "placement": self._find_misplaced(n),
            "mostly-prompts": counts["prompts"] >= max(3, 0.5 * n),
            "models-golds": are_answers and not is_weak_gold,
            "other-golds": are_others and not are_answers,
        }
        for finding, holds in refusals.items():  # the first one counts
            if holds:
                raise InputError((holds if isinstance(holds, str) else self._say(finding)) + note)
        if not n:
            return []

        many, rounds = max(LEAST_ROWS, NOTABLE * n), len(self.rounds) + 1
        of_others, unheeded = counts["golds of others"], columns.unheeded
        are_programs, cut = counts["programs"] >= 0.5 * n, length_of_cut_texts(self.lengths)
        is_bare = counts["bare"] >= NEARLY_ALL * n and "response" not in columns.named
        found = {
            "own-answers": are_golds and not differ and gold
            and counts["file golds"] == n and given >= 0.98 * n,
            "models": are_answers,
            "differ": are_golds and differ and not are_answers,
            "rounds": rounds > 1
            and self.rounds == [texts * each // rounds for each in range(1, rounds)],
            "thousands": counts["thousands"] > 2 and not counts["decimals"],
            "own-problems": min(counts["file golds"], n - counts["file golds"]) >= many,
            "prompts": counts["prompts"] >= max(3, 0.02 * n),  # fewer change no figure much
            "some-failures": counts["failures"],
            "remarks": counts["remarks"],
            "unheeded": unheeded,
            "some-solutions": counts["solutions"] >= max(LEAST_ROWS, NEARLY_ALL * n),
            "golds-in-no-order": of_others >= max(50, 0.6 * n) and counts["right"] <= 0.02 * n,
            "empty": counts["empty"] and columns.thinking,
            "bare": is_bare and not are_programs and columns.wordy,
            "cut": cut,
            "escaped": counts["escaped"] >= many,
            "selected": columns.selected,
            "programs": are_programs and not columns.executed,
            "executed": are_programs and columns.executed,
        }  # fmt: skip
        values: dict[str, object] = {
            "rounds": rounds, "of_others": of_others, "cut": cut, "at_cut": self.lengths[cut],
            "unheeded": unheeded.total(), "words": unheeded and clip(next(iter(unheeded))),
            "error": columns.roles.get("error"), "share": percent(counts["programs"] / n, 0),
        }  # fmt: skip
        warnings = [self._say(finding, **values) for finding in compress(found, found.values())]
        alike = self.alike.conclude("ask for them again")
        warnings += alike
        for (_, what), (problems, first, last) in self.filled.items():
            if problems >= LEAST_ROWS and not (what == "the same text" and alike):
                filled = {"what": what, "problems": problems, "first": first, "last": last}
                warnings.append(self._say("filled", **filled))
        samples = round(texts / len(self.problems)) if self.problems else 1
        for column, kinds in columns.kinds.items() if samples > 1 else ():
            fewest, most = min(kinds.values()), max(kinds.values())
            if len(kinds) == samples and most <= 1.05 * texts / samples <= 1.1 * fewest:
                shown = clip(", ".join(map(str, kinds)))
                warnings.append(self._say("runs", samples=samples, kind=column, values=shown))
        warnings.append(self._find_lost())
        return [words + note for words in warnings if words]

    def _say(self, finding: str, **values: object) -> str:
        """Return the sentence of a finding."""
        n, failures, roles = self.counts["searched"], self.counts["failures"], self.columns.roles
        usual = {
            "file": self.file, "name": self.matcher.name, "base": self.matcher.base,
            "counts": self.counts, "examples": self.examples, "columns": self.columns, "n": n,
            "rows": n + self.counts["faults"], "texts": self.texts,
            "known": self.counts["readable"] - self.counts["file golds"],
            "all": self.texts + failures, "column": roles.get("response", "response"),
            "gold": roles.get("gold"),
        }  # fmt: skip
        return SENTENCES[finding].format_map(usual | values)

    def _unknown_questions(self) -> str:
        """Return what to say of a file in which no row has a problem."""
        questions = {matching.squeeze(question) for question in self.questions}
        for name, source in SOURCES.items():
            if source.layout in ("gsm8k", "columns") and is_here(name):  # not of the file's dataset
                known = {
                    matching.squeeze(problem.question) for problem in load_dataset(name).problems
                }
                if len(questions & known) >= 0.5 * len(questions):
                    return self._say("another-dataset", other=name)
        return self._say("unknown-questions", question=clip(self.questions[0]))

    # Texts in wrong rows

    def _count_place(
        self, samples: Sequence[Sample], index: int, problem: Problem, answer: str, is_right: bool,
        weight: int,
    ) -> None:  # fmt: skip
        """Count whether the text of a sample fits its problem, or one beside it.

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
            self._beside = self._beside or _find_neighbours(samples)
            neighbours = self._beside[index]
        place, problems, golds = neighbours
        words = matching.distinct_words(sample.text)
        share, is_wordy = matching.overlap(words, problem), len(words) >= WORDY
        is_about = share >= matching.ABOUT_SHARE or (share > 0.2 and len(words) < 20)
        counts["about"] += weight * is_about
        counts["wordy"] += weight * is_wordy
        counts["away"] += not is_about
        self.lost.add(row, ABOUT_LOSS if is_about else 0.0, {} if is_about else {0: 1.0})
        if is_wordy and share < STRANGE and known is not None:
            region = answer_region(sample.text, problem.question)  # base models ask on
            said = matching.distinct_words(sample.text[region.start : region.end])
            if len(said) >= WORDY:
                counts["strangers"] += weight
                counts["strangers by id"] += weight * by_id
                if len(self.strangers) < KEPT_STRANGERS:
                    self.strangers.append((row, said, problem))
        asked = matching.question_numbers(problem.question)
        if len(asked) > 1 and 2 * len(asked & words) <= len(asked):
            numbers = set(filter(str.isdigit, words))
            near = map(problems.get, range(place - REACH, place + REACH + 1))
            for other in filter(None, near):
                asked = matching.question_numbers(other.question)
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
        found = matching.find_shift(words, answer, place, problems) if problem.question else None
        places = golds.get(answer, ())
        gains = {}
        for each in places[bisect_left(places, place - REACH) : bisect(places, place + REACH)]:
            if each != place and not matching.are_near(problem.gold, problems[each].gold):
                gains[each - place] = GOLD_GAIN
        if found is not None:
            shifts.add(row, OTHER_LOSS if found else OWN_LOSS, {found: 1.0} if found else {})
        elif gains:
            shifts.add(row, OTHER_LOSS, gains)
        if not by_id and sample.reference.gold is not None:
            counts["golds of others"] += weight * bool(places)
            slips.add(row, OTHER_LOSS, {shift: gain for shift, gain in gains.items()
                                        if -2 <= shift <= 2})  # fmt: skip

    def _find_misplaced(self, n: int) -> str:
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
            if are_texts and self.matcher.ids_name_problems and rows >= 0.9 * stretches.n:
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

        n: as in `_find_misplaced`.
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
                other = max(problems, key=lambda problem: matching.overlap(words, problem))
                asked = matching.topic_words(other.question)
                least = max(0.5, 2 * matching.overlap(words, own)) * len(asked)
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

    def _find_lost(self) -> str:
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


def _is_prose(text: str, solution: str) -> bool:
    """Return whether two texts are alike but for calculations, marks and spaces."""
    if text.lstrip()[:8] != solution.lstrip()[:8]:
        return False
    one, two = (
        matching.squeeze(CALCULATION.sub("", each).replace(MARKER, "").replace("The answer is", ""))
        for each in (text, solution)
    )
    return one == two != ""


class Stretches:
    """The best stretch of neighbouring rows of a file that have more of something than others.

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
        places[matching.compared_gold(problem.gold)].append(place)
    return dict(places)
