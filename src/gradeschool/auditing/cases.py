"""The cases of an audit: gold answers, answer formats, kinds of cases (cases.toml), hostile texts.

Near misses are wrong answers close to the gold. Spellings are other ways to write the gold.
Surroundings are texts around an answer that must neither hide a right one nor make a wrong one
right. Every text has one meaning to a careful reader: a text after a further question is not the
answer, a later revision is, thoughts and examples are not. Hostile texts make careless code raise
or hang: long runs, near matches, odd characters, as small models write them.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from decimal import Context, Decimal
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

# Each has a property that trips some published scorer: one digit, a digit that ends or begins
# another gold, a thousands comma, more than five digits, a sign, zero.
FIXED = (
    *("1", "5", "11", "18", "60", "72", "250", "1000", "2125", "10000", "65960"),
    *("100000", "131250", "2880000", "0", "-1", "-10"),
)
# Golds to probe a scorer with: easy to read and to compare.
PROBES = ("18", "5", "42", "7", "250", "96", "31", "640")
DECIMALS = ("0.5", "2.5", "17.25")
COMMAS = ("1,000", "2,125", "65,960", "1,450,000")
BEYOND_FLOATS = "9007199254740992"  # 2^53: the next integer has the same float


def drawn(seed: int) -> tuple[str, ...]:
    """Return the golds drawn by a seed: two to six digits, and a negative one."""
    draw = random.Random(seed)  # noqa: S311
    whole = [str(draw.randrange(10**length, 10 ** (length + 1))) for length in range(1, 6)]
    return (*whole, str(-draw.randrange(2, 100)))


def times(number: str, factor: str) -> str:
    """Multiply exactly, and write the product without exponent and trailing zeros."""
    written = format(Context(prec=60).multiply(Decimal(number), Decimal(factor)), "f")
    return written.rstrip("0").rstrip(".") if "." in written else written


# Not the N of "ANSWER".
PLACE = re.compile(r"(?<![A-Za-z])N(?![A-Za-z])")


class AnswerFormat(NamedTuple):
    r"""One answer format. `shape` shows it with N for the number; `latex`: N is in math mode.

    closed: the number is enclosed, so that a period or a mark after it would be inside.
    """

    shape: str
    latex: bool = False
    closed: bool = False

    def write(self, number: str) -> str:
        """Return a completion that gives a number in this format."""
        return PLACE.sub(lambda _: number, self.shape)


HASHES = AnswerFormat("#### N")
BOX = AnswerFormat(r"The result is $\boxed{N}$.", latex=True, closed=True)
BARE = AnswerFormat("N")
OPEN = ("The answer is N.", "So the answer is N.", "The final answer is N", "ANSWER: N",
        "Answer: N", "**Final Answer:** N")  # fmt: skip
CLOSED = ("Final answer: **N**", "<answer>N</answer>",
          "<think>This is easy.</think>\n<answer>N</answer>")  # fmt: skip
FORMATS = (
    HASHES, BOX, *map(AnswerFormat, OPEN), *(AnswerFormat(shape, closed=True) for shape in CLOSED),
    AnswerFormat("A: N"), BARE, AnswerFormat("In the end that is N."), AnswerFormat("Total = N"),
)  # fmt: skip
BY_SHAPE = {form.shape: form for form in FORMATS}


class CaseKind(NamedTuple):
    """A family of cases that one fault of a scorer makes fail, and the reason for the verdict.

    texts: (format, gold) -> completions. right: whether they give the gold. loose: the gold itself
    is not a number, so that raising or giving no verdict is as good as rejecting.
    """

    name: str
    right: bool
    why: str
    texts: Callable[[AnswerFormat, str], Iterable[str]]
    loose: bool = False


class AuditCase(NamedTuple):
    """One completion to judge; `base` is the plain one that it varies, "" for none.

    shape: the format's name.
    """

    kind: CaseKind
    shape: str
    gold: str
    completion: str
    base: str = ""


# Conditions that a kind of case, or one of its texts, may name.
WHERE: dict[str, Callable[[AnswerFormat, str], bool]] = {
    "whole": lambda form, gold: gold.isdigit() and gold != "0",
    "count": lambda form, gold: not gold.startswith("-") and gold not in ("0", "1"),
    "negative": lambda form, gold: gold.startswith("-"),
    "not negative": lambda form, gold: not gold.startswith("-"),
    "not zero": lambda form, gold: gold != "0",
    "not one": lambda form, gold: gold != "1",
    "below 13": lambda form, gold: int(gold) < 13,
    "below 60": lambda form, gold: int(gold) < 60,
    "above 10": lambda form, gold: int(gold) > 10,
    "above 16": lambda form, gold: int(gold) > 16,
    "below 10,000": lambda form, gold: abs(int(gold)) < 10_000,
    "10,000 to 100,000": lambda form, gold: 10_000 <= abs(int(gold)) < 100_000,
    "from 100,000": lambda form, gold: 100_000 <= abs(int(gold)) < 10**12,
    "up to 2 digits": lambda form, gold: len(gold) <= 2,
    "up to 3 digits": lambda form, gold: len(gold) <= 3,
    "2 to 5 digits": lambda form, gold: 2 <= len(gold) <= 5,
    "math": lambda form, gold: form.latex,
    "not math": lambda form, gold: not form.latex,
    "open": lambda form, gold: not form.closed and not form.shape.endswith("."),
    "no stars": lambda form, gold: "*N*" not in form.shape,
    "no thoughts": lambda form, gold: "<think>" not in form.shape,
    "bare": lambda form, gold: form is BARE,
    "not bare": lambda form, gold: form is not BARE,
    "box": lambda form, gold: form is BOX,
    "no hashes": lambda form, gold: form is not HASHES,
    "hashes or box": lambda form, gold: form in (HASHES, BOX),
}
FIELD = re.compile(r"\{(\w+)(?:([-+*=])([\d.]+))?(?::([^}]*))?\}")
IN_WORDS = {"0": "zero", "1": "one", "5": "five", "11": "eleven", "18": "eighteen", "60": "sixty",
         "72": "seventy-two", "250": "two hundred fifty", "1000": "one thousand"}  # fmt: skip
FULL_WIDTH = str.maketrans("0123456789", "０１２３４５６７８９")
ARABIC = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")


@cache
def kinds() -> dict[str, tuple[CaseKind, ...]]:
    """Return the kinds of cases.toml, by the parts of the suite."""
    import tomllib

    tables = tomllib.loads(Path(__file__).with_name("cases.toml").read_text("utf-8"))
    words = tables.pop("words")
    return {
        part: tuple(
            CaseKind(entry["name"], part in RIGHT_PARTS, entry["why"],
                     partial(_texts, entry, words), entry.get("loose", False))
            for entry in entries
        )
        for part, entries in tables.items()
    }  # fmt: skip


def _texts(
    entry: dict[str, Any], words: dict[str, str], form: AnswerFormat, gold: str
) -> Iterator[str]:
    """Yield the completions of a kind in one format; none where the format or gold do not fit."""

    def fits(where: Iterable[str]) -> bool:
        return all(WHERE[name](form, gold) for name in where)

    def value(field: re.Match[str]) -> str:
        name, sign, term, width = field.groups()
        if name not in ("gold", "digits", "text", "text_crlf"):  # a word, or braces of LaTeX
            return FIELD.sub(value, words[name]) if name in words else field[0]
        number = gold.lstrip("-").replace(",", "") if name == "digits" else gold
        if sign == "*":
            number = times(gold, term)
        elif sign:
            number = term if sign == "=" else str(int(gold) + int(sign + term))
        if name == "text_crlf":
            return form.write(number).replace("\n", "\r\n")
        return form.write(number) if name == "text" else format(number, width or "")

    if not fits(entry.get("where", ())):
        return
    is_number = "numbers" in entry
    listed = entry["numbers" if is_number else "texts"]
    for item in WRITERS[listed](gold) if isinstance(listed, str) else listed:
        template, where = (item, ()) if isinstance(item, str) else (item["text"], item["where"])
        if fits(where):
            text = template if isinstance(listed, str) else FIELD.sub(value, template)
            yield form.write(text) if is_number else text


# Numbers that no template can write


def _swapped(gold: str) -> Iterator[str]:
    """Yield the gold with its first two different neighbours swapped."""
    sign, digits = gold[: gold.startswith("-")], gold.lstrip("-")
    for place in range(len(digits) - 1):
        first, second = digits[place], digits[place + 1]
        if first != second and (place or second != "0"):
            yield f"{sign}{digits[:place]}{second}{first}{digits[place + 2 :]}"
            return


def _with_marks(marks: Sequence[str], gold: str) -> list[str]:
    """Return the gold with each of these marks in the place of the commas of thousands."""
    fits = len(gold.lstrip("-")) > 3 and "," not in gold
    return [f"{int(gold):,}".replace(",", mark) for mark in marks] if fits else []


def _scientific(gold: str) -> list[str]:
    """Return a large gold in scientific notation."""
    tail = len(Decimal(gold).as_tuple().digits) - 1
    mantissa = times(gold, f"1e-{tail}")
    return [f"{mantissa}e{tail}", f"{mantissa} x 10^{tail}"] if tail > 2 else []


# By the name in cases.toml; the gold -> its texts.
WRITERS: dict[str, Callable[[str], Iterable[str]]] = {
    "swapped": _swapped,
    "listed digits": lambda gold: [", ".join(gold)],
    "program": lambda gold: [f"len('{'a' * int(gold)}')"],
    "with commas": partial(_with_marks, ","),
    "with LaTeX commas": partial(_with_marks, ("{,}", r"\,", r",\!", r"\ ", "~")),
    "with spaces": partial(_with_marks, " \u00a0\u202f\u2009"),
    "in other scripts": lambda gold: [gold.translate(FULL_WIDTH), gold.translate(ARABIC)],
    "scientific": _scientific,
    "in words": lambda gold: [IN_WORDS[gold]] if gold in IN_WORDS else [],
    "as halves": lambda gold: {"0.5": ["1/2"], "2.5": ["5/2", "2 1/2"]}.get(gold, []),
}

SPELLED = ("1", "5", "18", "60", "72", "1000", "2125", "65960", "2880000", "0", "-1", "-10")
AROUND = ("18", "5", "250", "2125", "-10")
# Golds that are tried in every format, and the number of formats for other golds.
CORE = frozenset(("1", "18", "1000", "100000", "-10", BEYOND_FLOATS, "1,000", "0.5", "?"))
FORMATS_OF_A_GOLD = 5
UNREADABLE = ("unknown", "?", "nan")
RIGHT_PARTS = ("plain", "spellings", "around_right", "commas", "decimals")


def every_kind() -> list[CaseKind]:
    """Return every kind of case."""
    return [kind for part in kinds().values() for kind in part]


def suite(seed: int) -> list[AuditCase]:
    """Return every case, in an order that depends on nothing but the seed."""
    whole = tuple(dict.fromkeys((*FIXED, *drawn(seed))))
    golds_of = {  # the golds of each part, and whether it varies the plain completion of the gold
        "plain": (whole, False),
        "near_misses": (whole, False),
        "float_precision": ((BEYOND_FLOATS,), False),
        "spellings": ((*SPELLED, *drawn(seed)), True),
        "around_right": (AROUND, True),
        "around_wrong": (AROUND, False),
        "commas": (COMMAS, False),
        "decimals": (DECIMALS, True),
        "unreadable": (UNREADABLE, False),
    }
    return [
        AuditCase(kind, form.shape, gold, completion, form.write(gold) if varied else "")
        for part, (its_golds, varied) in golds_of.items()
        for kind in kinds()[part]
        for form in FORMATS
        for gold in its_golds
        for completion in kind.texts(form, gold)
    ]


def due(
    cases: Iterable[AuditCase], read: Sequence[str], accepted: Collection[tuple[str, str]]
) -> list[AuditCase]:
    """Return the cases that apply to a scorer.

    read: the shapes of the formats that it reads. Wrong answers apply in every format, right
    answers only in these. accepted: the plain (completion, gold) pairs that it accepts; if it
    rejects the plain completion that a case varies, only the plain one counts as a failure. If many
    formats are read, a gold that is not in CORE is tried in some of them.
    """
    step = max(1, len(read) // FORMATS_OF_A_GOLD)
    numbers: dict[str, int] = {}
    chosen = []
    for case in cases:
        number = numbers.setdefault(case.gold, len(numbers))
        if case.shape in read:
            fits = (number + read.index(case.shape)) % step == 0
            sound = not case.kind.right or not case.base or (case.base, case.gold) in accepted
        else:
            fits, sound = False, not case.kind.right
        if sound and (fits or case.gold in CORE):
            chosen.append(case)
    return chosen


# Hostile texts

SHORT, MIDDLE, LONG = 10_000, 100_000, 1_000_000
GOLD = "18"
# Strings in the place of the number, in every format.
NUMBERS = {
    "digits": "9", "commas": ",", "digits and commas": "1,", "points": ".", "decimals": "1.5",
    "minus signs": "-", "powers": "9**", "divisions": "1/", "zeros": "0", "superscripts": "²",
    "open brackets": "(",
}  # fmt: skip
TEXTS = {
    "open boxes": "\\boxed{", "boxes": "\\boxed{5} ", "fractions": "\\frac{", "open braces": "{",
    "closed braces": "}", "hashes": "#", "markers": "#### ", "markers with numbers": "#### 5\n",
    "answers": "The answer is ", "final answers": "Final answer: ", "answer lines": "ANSWER: 5\n",
    "tags": "<answer>", "thoughts": "<think>", "questions": "Question: ", "spaces": " ",
    "line breaks": "\n", "tabs": "\t", "dollars": "$", "prices": "$5 ", "numbers": "5 ",
    "equations": "5=", "stars": "*", "backslashes": "\\", "percentages": "5%", "letters": "a",
    "lone surrogates": "\ud800", "surrogates and digits": "\udfff5 ", "NUL characters": "\0",
    "combining accents": "\u0301", "Arabic digits": "٣", "Chinese digits": "三", "emoji": "🦆",
    "right-to-left marks": "\u202e", "terminal escapes": "\x1b[31m", "line separators": "\u2028",
}  # fmt: skip
NEAR_ENDS = ("", "x", "}", "\n")
# Short strings in the place of a number.
ODD = (
    *("1e999", "-1e999", "1e-999", "1e99999999", "nan", "inf", "-inf", "9**9**9", "9^9^9^9", "1/0"),
    *("0/0", "½", "²", "٣", "1_000", "0x12", "--18", "+-18", "1.2.3", ",", ".", "-", "$", "%"),
    *("\ud800", "\0", "\\", "{", "}", "}{", "\\frac{1}{0}", "\\frac{}{}", "\\frac", "()", "#", "="),
)


class HostileText(NamedTuple):
    """A text of `before`, `unit` repeated `times` times, and `after`."""

    name: str
    unit: str
    before: str = ""
    after: str = ""
    times: int = 1

    @property
    def text(self) -> str:
        """The completion."""
        return f"{self.before}{self.unit * self.times}{self.after}"

    def recipe(self) -> str:
        """Return the text as a Python expression."""
        run = f"{self.unit!r} * {self.times:_}" if self.times > 1 else repr(self.unit)
        before, after = (repr(text) if text else "" for text in (self.before, self.after))
        return " + ".join(filter(None, (before, run, after)))

    def long(self, length: int) -> HostileText:
        """Return the text with its unit repeated to about this length."""
        return self._replace(times=max(1, length // len(self.unit)))

    def within(self, form: AnswerFormat) -> HostileText:
        """Return the text in the place of the number in an answer format."""
        before, _, after = PLACE.sub("\0", form.shape).partition("\0")
        return self._replace(before=before, after=after)


def rounds(longest: int) -> Iterator[list[HostileText]]:
    """Yield longer and longer texts, a list for each round, so that a shape that hangs can stop.

    At the least length, every shape also comes with an end that almost matches, and in the place of
    the number in every format, together with the short odd numbers.
    """
    length = min(SHORT, longest)
    shapes = [HostileText(*shape) for shape in (*NUMBERS.items(), *TEXTS.items())]
    odd = [HostileText(f"odd number {number!r}", number) for number in ODD]
    for end in NEAR_ENDS:
        yield [shape._replace(after=end).long(length) for shape in shapes]
    for form in FORMATS:
        numbers = [shape.long(length) for shape in shapes[: len(NUMBERS)]]
        yield [shape.within(form) for shape in (*numbers, *odd)]
    for length in (MIDDLE, LONG):
        if length <= longest:
            yield [shape.long(length) for shape in shapes]
            for form in (HASHES, BOX):
                yield [shape.long(length).within(form) for shape in shapes[: len(NUMBERS)]]
