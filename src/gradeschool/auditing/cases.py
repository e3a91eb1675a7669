"""The cases of an audit: gold answers, answer formats, kinds of cases, and hostile texts.

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
from typing import NamedTuple

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


def golds(seed: int) -> tuple[str, ...]:
    """Return whole golds as a dataset writes them: the fixed ones and those drawn by the seed."""
    return tuple(dict.fromkeys((*FIXED, *drawn(seed))))


def drawn(seed: int) -> tuple[str, ...]:
    """Return the golds drawn by a seed: two to six digits, and a negative one."""
    draw = random.Random(seed)  # noqa: S311
    whole = [str(draw.randrange(10**length, 10 ** (length + 1))) for length in range(1, 6)]
    return (*whole, str(-draw.randrange(2, 100)))


def grouped(digits: str, mark: str = ",") -> str:
    """Write a whole number with a mark between thousands."""
    return f"{int(digits):,}".replace(",", mark)


def times(number: str, factor: str) -> str:
    """Multiply exactly, and write the product without exponent and trailing zeros."""
    written = format(Context(prec=60).multiply(Decimal(number), Decimal(factor)), "f")
    return written.rstrip("0").rstrip(".") if "." in written else written


def plus(number: str, term: int) -> str:
    """Add to a whole number."""
    return str(int(number) + term)


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


Numbers = Callable[[str], Iterable[str]]
Texts = Callable[[AnswerFormat, str], Iterable[str]]


class CaseKind(NamedTuple):
    """A family of cases that one fault of a scorer makes fail, and the reason for the verdict.

    texts: (format, gold) -> completions. right: whether they give the gold. loose: the gold itself
    is not a number, so that raising or giving no verdict is as good as rejecting.
    """

    name: str
    right: bool
    why: str
    texts: Texts
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


def right(name: str, why: str, numbers: Numbers) -> CaseKind:
    """Return a kind whose numbers are other spellings of the gold, in every format."""
    return CaseKind(name, True, why, lambda form, gold: map(form.write, numbers(gold)))


def wrong(name: str, why: str, numbers: Numbers) -> CaseKind:
    """Return a kind whose numbers are not the gold, in every format."""
    return right(name, why, numbers)._replace(right=False)


def _scaled(*factors: str) -> Numbers:
    return lambda gold: [
        number for by in factors if Decimal(number := times(gold, by)) != Decimal(gold)
    ]


def _moved(low: int, high: float, *terms: int) -> Numbers:
    """Return numbers that differ from the gold by `terms`, for golds between two bounds."""
    return lambda gold: [plus(gold, term) for term in terms] if low <= abs(int(gold)) < high else []


def _swapped(gold: str) -> Iterator[str]:
    sign, digits = gold[: gold.startswith("-")], gold.lstrip("-")
    for place in range(len(digits) - 1):
        first, second = digits[place], digits[place + 1]
        if first != second and (place or second != "0"):
            yield f"{sign}{digits[:place]}{second}{first}{digits[place + 2 :]}"
            return


def _negated(gold: str) -> Iterable[str]:
    if gold.startswith("-"):
        return gold[1:], f"+{gold[1:]}"
    return () if gold == "0" else (f"-{gold}",)


def _whole(make: Callable[[str], Iterable[str]], shortest: int = 1, longest: int = 99) -> Numbers:
    """Restrict to golds without a sign, not zero, of `shortest` to `longest` digits."""

    def numbers(gold: str) -> Iterable[str]:
        fits = gold.isdigit() and gold != "0" and shortest <= len(gold) <= longest
        return make(gold) if fits else ()

    return numbers


def _clock(gold: str) -> Iterator[str]:
    if int(gold) < 60:
        yield f"3:{gold:0>2}"
    if int(gold) < 13:
        yield f"{gold}:30"


NEAR_MISSES: tuple[CaseKind, ...] = (
    wrong("suffix", "the gold is only the end of the number that is given",
          _whole(lambda gold: [f"1{gold}", f"7{gold}", f"20{gold}"])),
    wrong("prefix", "the gold is only the beginning of the number that is given",
          _whole(lambda gold: [f"{gold}7", f"{gold}924"])),
    wrong("inside", "the gold is only a part of the number that is given",
          _whole(lambda gold: [f"3{gold}7"])),
    wrong("ten times", "the point has moved", _scaled("10", "0.1")),
    wrong("a hundred times", "a number and its percentage are two values", _scaled("100", "0.01")),
    wrong("a thousand times", "the point has moved", _scaled("1000", "0.001")),
    wrong("one off", "the number next to the gold is another number", _moved(0, 10_000, 1, -1)),
    wrong("one off a large number", "exact answers are compared exactly, whatever their size",
          _moved(10_000, 100_000, 1, -1, 3)),
    wrong("five significant digits", "two numbers that differ in the sixth digit are two numbers",
          _moved(100_000, 10**12, 1, -1, 4)),
    wrong("sign", "a number and its negative are two numbers", _negated),
    wrong("sign by unicode minus", "a number and its negative are two numbers",
          _whole(lambda gold: [f"−{gold}"])),
    wrong("digits swapped", "the digits are the gold's, their order is not", _swapped),
    wrong("decimal tail", "the gold is only the whole part of the number",
          lambda gold: [f"{gold}.5", f"{gold}.01", f"{gold}.001"]),
    wrong("behind the point", "the gold is only the decimals of the number",
          _whole(lambda gold: [f"3.{gold}", f"0.{gold}", f".{gold}"])),
    wrong("last thousands group", "the gold is only the part after the thousands comma",
          _whole(lambda gold: [f"2,{gold:0>3}", f"3,000,{gold:0>3}"], longest=3)),
    wrong("last group behind a space", "the gold is only the part after the space of thousands",
          _whole(lambda gold: [f"2 {gold:0>3}", f"3 000 {gold:0>3}"], longest=3)),
    wrong("first thousands group", "the gold is only the part before the thousands comma",
          _whole(lambda gold: [f"{gold},250", f"{gold},000"], longest=3)),
    wrong("list of digits", "a list of numbers is not the number that their digits form",
          _whole(lambda gold: [", ".join(gold)], shortest=2, longest=5)),
    wrong("part of a fraction", "the gold is only a part of a fraction",
          _whole(lambda gold: [f"{gold}/7", f"1/{gold}"] if gold != "1" else [f"{gold}/7"])),
    wrong("part of a time of day", "the gold is only a part of a time", _whole(_clock, longest=2)),
    wrong("base of a power", "the gold is only the base of a power",
          _whole(lambda gold: [f"{gold}^2", f"{gold}²"] if gold != "1" else [])),
    wrong("mantissa", "the gold is only the mantissa of a number in scientific notation",
          _whole(lambda gold: [f"{gold}e3", f"{gold} x 10^3"])),
    wrong("scale word", "a word after the number multiplies it",
          _whole(lambda gold: [f"{gold} thousand", f"{gold} million"])),
    wrong("alternatives", "two numbers are offered, none is chosen",
          _whole(lambda gold: [f"{plus(gold, -1)} or {gold}", f"{gold} or {plus(gold, 2)}"])),
    wrong("bound", "a bound is not the number",
          _whole(lambda gold: [f"more than {gold}", f"not {gold}"])),
    wrong("tolerance", "a number with a tolerance is a range",
          _whole(lambda gold: [f"{gold} ± 3", f"{gold} \\pm 3"])),
    wrong("range", "the gold is only one end of a range",
          _whole(lambda gold: [f"{gold} to {plus(gold, 3)}", f"{gold} or more"])),
    wrong("term", "the gold is only a term of an expression",
          _whole(lambda gold: [f"{gold} + x", f"x^2 + {gold}", f"{gold}\\pi", f"{gold} - t",
                               f"f({gold})", f"e^{{{gold}}}"])),
    wrong("program", "the scorer runs what the model wrote, which may be anything",
          _whole(lambda gold: [f"len('{'a' * int(gold)}')"], longest=2)),
    wrong("no number", "no number is given",
          lambda gold: ["", "unknown", "nan", "inf", "None", "True", "x", "?"]),
)  # fmt: skip
FLOAT_PRECISION = wrong(
    "float precision",
    "two integers that share a float are two integers",
    lambda gold: [plus(gold, 1)],
)


WORDS = {"0": "zero", "1": "one", "5": "five", "11": "eleven", "18": "eighteen", "60": "sixty",
         "72": "seventy-two", "250": "two hundred fifty", "1000": "one thousand"}  # fmt: skip
FULL_WIDTH = str.maketrans("0123456789", "０１２３４５６７８９")
ARABIC = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")
DRESSES = (("**", "**"), ("*", "*"), ("`", "`"), ("(", ")"), ('"', '"'), ("$", "$"),
           (r"\(", r"\)"), (r"$\boxed{", "}$"))  # fmt: skip


def _between_thousands(marks: Sequence[str]) -> Numbers:
    def numbers(gold: str) -> Iterable[str]:
        fits = len(gold.lstrip("-")) > 3 and "," not in gold
        return [grouped(gold, mark) for mark in marks] if fits else []

    return numbers


def _in_math(numbers: Numbers) -> Texts:
    """Write numbers in the formats that are in math mode."""
    return lambda form, gold: map(form.write, numbers(gold)) if form.latex else ()


def _scientific(gold: str) -> Iterable[str]:
    tail = len(Decimal(gold).as_tuple().digits) - 1
    mantissa = times(gold, f"1e-{tail}")
    return [f"{mantissa}e{tail}", f"{mantissa} x 10^{tail}"] if tail > 2 else []


def _currency(gold: str) -> Iterable[str]:
    if gold.startswith("-"):
        return [f"-${gold[1:]}", f"$-{gold[1:]}"]
    return [f"${gold}", f"€{gold}", f"£{gold}", f"${gold}.00", f"{gold} €"]


def _equation(gold: str) -> Iterable[str]:
    long = [f"2 * 8 + {plus(gold, -16)} = {gold}"] if int(gold) > 16 else []
    return [f"{plus(gold, -3)} + 3 = {gold}", f"x = {gold}", *long]


def _boxed(gold: str) -> Iterable[str]:
    """Write the gold in the forms that only a box or a formula can contain."""
    return [
        *(rf"\text{{{gold}}}", rf"\textbf{{{gold}}}", rf"{gold} \text{{ eggs}}"),
        *(rf"{gold}\,\text{{cm}}", rf"\${gold}", rf"{gold}\%", rf"\frac{{{int(gold) * 2}}}{{2}}"),
        *(f"{plus(gold, -3)} + 3 = {gold}", rf"\boxed{{{gold}}}"),
    ]


def _dressed(form: AnswerFormat, gold: str) -> Iterable[str]:
    marks = [] if form.latex else [pair for pair in DRESSES if "N".join(pair) not in form.shape]
    return [form.write(f"{opening}{gold}{closing}") for opening, closing in marks]


def _dotted(form: AnswerFormat, gold: str) -> Iterable[str]:
    is_open = not form.closed and not form.shape.endswith(".")
    return [form.write(f"{gold}."), form.write(f"{gold} .")] if is_open else []


AS_WRITTEN = right("plain", "the gold as written", lambda gold: [gold])
COMMA_GOLDS = (
    right("gold with commas", "a gold's commas are not part of its value",
          lambda gold: [gold.replace(",", "")] if "," in gold else []),
    right("commas on both sides", "the answer is the gold, character for character",
          lambda gold: [gold]),
)  # fmt: skip
DECIMAL_GOLDS = (
    right("decimal gold with more zeros", "zeros at the end of a decimal do not change it",
          lambda gold: [f"{gold}0", f"{gold}00"]),
    right("decimal gold as a fraction", "a fraction is equal to its value",
          lambda gold: {"0.5": ["1/2"], "2.5": ["5/2", "2 1/2"]}.get(gold, [])),
)  # fmt: skip
SPELLINGS = (
    right("thousands commas", "thousands commas do not change a number", _between_thousands(",")),
    CaseKind("thousands commas in LaTeX", True, "thousands commas do not change a number",
             _in_math(_between_thousands(("{,}", r"\,", r",\!", r"\ ", "~")))),
    right("spaces between thousands", "spaces between thousands do not change a number",
          _between_thousands(" \u00a0\u202f\u2009")),
    right("zero decimals", "decimals of zero do not change a number",
          lambda gold: [f"{gold}.0", f"{gold}.00"]),
    right("currency", "the currency is a unit", _currency),
    right("unit", "a unit does not change the number",
          lambda gold: [f"{gold} dollars", f"{gold} eggs", f"{gold} minutes"]),
    right("unit without a space", "a unit does not change the number",
          lambda gold: [f"{gold}kg", f"{gold}cm"]),
    right("percent sign", "a percentage is given by its number",
          lambda gold: [f"{gold}%", f"{gold} percent"]),
    right("unicode minus", "a minus sign is a minus sign",
          lambda gold: [f"−{gold[1:]}"] if gold.startswith("-") else []),
    right("plus sign", "a plus sign does not change a number",
          lambda gold: [] if gold.startswith("-") else [f"+{gold}"]),
    CaseKind("emphasis", True, "marks around a number do not change it", _dressed),
    CaseKind("inside the box", True, "a box may hold words, a unit or an equation",
             _in_math(_boxed)),
    CaseKind("period", True, "a period ends the sentence, not the number", _dotted),
    right("fraction", "a fraction is equal to its value",
          lambda gold: [f"{int(gold) * 2}/2", f"{int(gold) * 6}/6"]),
    right("equation", "the result of an equation is the answer", _equation),
    right("unicode digits", "digits of other scripts are digits",
          lambda gold: [gold.translate(FULL_WIDTH), gold.translate(ARABIC)]),
    right("scientific notation", "the notation does not change the number", _scientific),
    right("number words", "a number in words is the number",
          lambda gold: [WORDS[gold]] if gold in WORDS else []),
)  # fmt: skip


LEAD = "First she fills 3 boxes. Then she fills 4 more, so 3 + 4 = 7 boxes are full.\n"
TAIL = " She is happy with the result and tells all her friends about it." * 8
AGAIN = "\nWait, that is not right. I forgot the last step. Let me do it again.\n"
QUESTION = "Tom has 2 cats. He buys 2 more. How many cats does he have?"
RUN_ONS = (
    f"\n\nQuestion: {QUESTION}\nAnswer: 2 + 2 = 4\n",
    f"\n\nQ: {QUESTION}\nA: 2 + 2 = 4\n",
    f"<|im_end|>\n<|im_start|>user\n{QUESTION}<|im_end|>\n<|im_start|>assistant\n",
    f"\n\nUser: {QUESTION}\nAssistant: 2 + 2 = 4\n",
)
ENDS = ("<|im_end|>", "</s>", "<|eot_id|>", "<|endoftext|>", "\n\nQuestion:")
REMARKS = ("I hope this helps!", "This uses up 3 of her boxes.", "(That is step 2 of 2.)")
HARMONY = "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>{}"


class Plain(NamedTuple):
    """A gold in an answer format, which a case surrounds with text.

    text: the gold in the format. other: a number that is neither the gold nor part of it. wrong:
    that number in the format. is_count: there can be that many boxes. is_bare: and the text has no
    format. thinks: the format has thoughts of its own.
    """

    form: AnswerFormat
    gold: str
    text: str
    other: str
    wrong: str
    is_count: bool
    is_bare: bool
    thinks: bool


def _plain(form: AnswerFormat, gold: str) -> Plain:
    other, is_count = plus(gold, 3), not gold.startswith("-") and gold not in ("0", "1")
    return Plain(form, gold, form.write(gold), other, form.write(other), is_count,
                 is_count and form is BARE, "<think>" in form.shape)  # fmt: skip


def _around(
    is_right: bool, name: str, why: str, texts: Callable[[Plain], Iterable[str]],
    where: Callable[[Plain], bool] = lambda plain: True,
) -> CaseKind:  # fmt: skip
    """Return a kind of texts around an answer; where: the golds and formats that it applies to."""

    def written(form: AnswerFormat, gold: str) -> Iterable[str]:
        plain = _plain(form, gold)
        return texts(plain) if where(plain) else ()

    return CaseKind(name, is_right, why, written)


AROUND_RIGHT = tuple(_around(True, *row) for row in (
    ("white space", "white space is not part of an answer",
     lambda p: [f"{p.text} \n", f"\n\n {p.text}", f"{p.text}\n\n\n\n", f"\t{p.text}",
                f"{LEAD}{p.text}".replace("\n", "\r\n")]),
    ("reasoning before", "the answer comes after the reasoning",
     lambda p: [f"{LEAD}{p.text}", f"1. Fill 3 boxes.\n2. Fill 4 more: 3 + 4 = 7.\n\n{p.text}",
                f"3 + 4 = <<3+4=7>>7\n{p.text}"]),
    ("said twice", "the same answer is given twice", lambda p: [f"{p.text}\n{p.text}"]),
    ("run-on question", "what the model asks itself next is another question",
     lambda p: [f"{p.text}{between}{p.form.write('4')}" for between in RUN_ONS]),
    ("end marks", "marks of the chat format are not part of an answer",
     lambda p: [f"{p.text}{end}" for end in ENDS]),
    ("thinking", "thoughts are not the answer, the text after them is",
     lambda p: [f"<think>Maybe it is {p.other}. No.</think>\n{p.text}",
                f"<think>\n{p.wrong}\nHmm, wait.\n</think>\n\n{p.text}"],
     lambda p: not p.thinks),
    ("harmony transcript", "the final channel is the answer",
     lambda p: [HARMONY.format(p.wrong, p.text)], lambda p: not p.thinks),
    ("framed box", r"\fbox is a box",
     lambda p: [p.text.replace("boxed", "fbox")], lambda p: p.form is BOX),
    ("digits without end", "digits that a model did not stop writing are no answer",
     lambda p: [f"{p.text}\n#### {p.gold}2611010"],
     lambda p: p.form not in (HASHES, BARE) and not p.gold.startswith("-")),
    ("conclusion after a part", "a later conclusion replaces a partial result",
     lambda p: [f"Step 1: the first box.\n{p.form.write(plus(p.gold, -3))}\n"
                f"The total is {plus(p.gold, -3)} + 3 = {p.gold}."],
     lambda p: p.form in (HASHES, BOX) and p.is_count and int(p.gold) > 10),
    ("number of a purpose", "a purpose or a deadline is not the result",
     lambda p: [f"{p.gold} boxes are needed to pack 80 pens in one trip.",
                f"She fills {p.gold} boxes by month 12."], lambda p: p.is_bare),
    ("revision", "a revised answer replaces the first one",
     lambda p: [f"{p.wrong}{AGAIN}{p.text}"]),
    ("remark behind", "a remark after the answer does not change it",
     lambda p: [f"{p.text}\n{each}" for each in (REMARKS[:1] if p.form is BARE else REMARKS)]),
    ("long remark behind", "an answer may be far from the end",
     lambda p: [f"{p.text}\n{TAIL.strip()}"]),
    ("invisible marks", "invisible marks are not part of an answer",
     lambda p: [f"\ufeff{p.text}", f"{p.text}\u200b", f"{p.text}\u200e"]),
))  # fmt: skip
AROUND_WRONG = tuple(_around(False, *row) for row in (
    ("gold in the reasoning", "the gold is an intermediate result, the answer is another number",
     lambda p: [*([f"There are {p.gold} boxes in the room.\n{p.wrong}"] if p.is_count else []),
                f"<think>Is it {p.gold}?</think>\n{p.wrong}"]),
    ("gold revised away", "the gold is given first, and then taken back",
     lambda p: [f"{p.text}{AGAIN}{p.wrong}"]),
    ("gold in a remark behind", "the answer is another number, the gold follows it",
     lambda p: [f"{p.wrong}\nThis uses up {p.gold} of her boxes."],
     lambda p: p.form is not BARE and p.is_count),
    ("gold in a run-on question", "the gold answers a question that was not asked",
     lambda p: [f"{p.wrong}{between}{p.text}" for between in RUN_ONS]),
    ("cut off", "the text ends before an answer; the gold is an intermediate result",
     lambda p: [f"She has {p.gold} boxes. She fills each of them with",
                f"<think>There are {p.gold} boxes. Each of them holds some, so we have to"],
     lambda p: p.is_bare),
    ("denied", "the text says that the gold is wrong",
     lambda p: [f"{p.gold} is wrong.", f"It is false that there are {p.gold} boxes.",
                f"I do not think that it is {p.gold}."], lambda p: p.is_bare),
    ("considered", "the gold is considered or one of several options",
     lambda p: [f"It could be {p.other}; it could be {p.gold}.", f"Suppose the answer is {p.gold}.",
                f"Options: {p.other}, {plus(p.gold, 9)}, {p.gold}"], lambda p: p.is_bare),
    ("harmony analysis", "the gold is in the analysis, the final channel gives none",
     lambda p: [HARMONY.format(p.text, "Sorry, I cannot help with that.")],
     lambda p: not p.thinks),
    ("no answer given", "no answer is given; the gold is a number of the question",
     lambda p: [f"I am sorry, but I cannot tell how many of the {p.gold} boxes are full.",
                f"The question gives the number {p.gold}, but not what is asked for."],
     lambda p: p.is_bare),
))  # fmt: skip
UNREADABLE_GOLD = CaseKind(
    "gold that is no number", False, "nothing is equal to a gold that cannot be read",
    lambda form, gold: [form.write("18"), form.write("0")], loose=True,
)  # fmt: skip


SPELLED = ("1", "5", "18", "60", "72", "1000", "2125", "65960", "2880000", "0", "-1", "-10")
AROUND = ("18", "5", "250", "2125", "-10")
# Golds that are tried in every format, and the number of formats for other golds.
CORE = frozenset(("1", "18", "1000", "100000", "-10", BEYOND_FLOATS, "1,000", "0.5", "?"))
FORMATS_OF_A_GOLD = 5
UNREADABLE = ("unknown", "?", "nan")
SuitePart = tuple[tuple[CaseKind, ...], tuple[str, ...], bool]


def parts(seed: int) -> tuple[SuitePart, ...]:
    """Return kinds with their golds, and whether they vary the plain completion of the gold."""
    return (
        ((AS_WRITTEN,), golds(seed), False),
        (NEAR_MISSES, golds(seed), False),
        ((FLOAT_PRECISION,), (BEYOND_FLOATS,), False),
        (SPELLINGS, (*SPELLED, *drawn(seed)), True),
        (AROUND_RIGHT, AROUND, True),
        (AROUND_WRONG, AROUND, False),
        (COMMA_GOLDS, COMMAS, False),
        (DECIMAL_GOLDS, DECIMALS, True),
        ((UNREADABLE_GOLD,), UNREADABLE, False),
    )


def every_kind() -> list[CaseKind]:
    """Return every kind of case."""
    return [kind for kinds, _, _ in parts(0) for kind in kinds]


def suite(seed: int) -> list[AuditCase]:
    """Return every case, in an order that depends on nothing but the seed."""
    return [
        AuditCase(kind, form.shape, gold, completion, form.write(gold) if varied else "")
        for kinds, its_golds, varied in parts(seed)
        for kind in kinds
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
