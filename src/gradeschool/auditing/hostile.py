"""Texts that make careless code raise or hang: long runs, near matches, odd characters.

Models write such texts, for instance a small model that repeats a digit until it is stopped.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gradeschool.auditing.cases import BOX, FORMATS, HASHES, PLACE, AnswerFormat

SHORT, MIDDLE, LONG = 10_000, 100_000, 1_000_000
GOLD = "18"
# Strings in the place of the number, in every format.
NUMBERS = {
    "digits": "9",
    "commas": ",",
    "digits and commas": "1,",
    "points": ".",
    "decimals": "1.5",
    "minus signs": "-",
    "powers": "9**",
    "divisions": "1/",
    "zeros": "0",
    "superscripts": "²",
    "open brackets": "(",
}
TEXTS = {
    "open boxes": "\\boxed{",
    "boxes": "\\boxed{5} ",
    "fractions": "\\frac{",
    "open braces": "{",
    "closed braces": "}",
    "hashes": "#",
    "markers": "#### ",
    "markers with numbers": "#### 5\n",
    "answers": "The answer is ",
    "final answers": "Final answer: ",
    "answer lines": "ANSWER: 5\n",
    "tags": "<answer>",
    "thoughts": "<think>",
    "questions": "Question: ",
    "spaces": " ",
    "line breaks": "\n",
    "tabs": "\t",
    "dollars": "$",
    "prices": "$5 ",
    "numbers": "5 ",
    "equations": "5=",
    "stars": "*",
    "backslashes": "\\",
    "percentages": "5%",
    "letters": "a",
    "lone surrogates": "\ud800",
    "surrogates and digits": "\udfff5 ",
    "NUL characters": "\0",
    "combining accents": "\u0301",
    "Arabic digits": "٣",
    "Chinese digits": "三",
    "emoji": "🦆",
    "right-to-left marks": "\u202e",
    "terminal escapes": "\x1b[31m",
    "line separators": "\u2028",
}
ENDS = ("", "x", "}", "\n")
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
    for end in ENDS:
        yield [shape._replace(after=end).long(length) for shape in shapes]
    for form in FORMATS:
        numbers = [shape.long(length) for shape in shapes[: len(NUMBERS)]]
        yield [shape.within(form) for shape in (*numbers, *odd)]
    for length in (MIDDLE, LONG):
        if length <= longest:
            yield [shape.long(length) for shape in shapes]
            for form in (HASHES, BOX):
                yield [shape.long(length).within(form) for shape in shapes[: len(NUMBERS)]]
