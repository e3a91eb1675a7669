"""A sample as stored in a file, before its problem is known, and the options for reading it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, NamedTuple

from gradeschool.answers.numbers import normalize
from gradeschool.completion import NO_USAGE, Completion, Finish, Usage
from gradeschool.errors import InputError
from gradeschool.percentages import count
from gradeschool.problem import MARKER, Problem
from gradeschool.scorer import clip

UNNAMED = ""  # the run of a row that names no run, until the whole file is read
WHOLE = re.compile(r"\s*(-?\d{1,18})\s*\Z")
NUMBER_AT_END = re.compile(r"(?:^|[-_:/# ])0*(\d{1,15})\Z")
PARTS_OF_ID = re.compile(r"[-_:/# ]")
BOXED = re.compile(r"\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}")
NUMBER = re.compile(r"-?\$?(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?")
FRACTION = re.compile(r"(-?)\\d?frac\{(\d+)\}\{(\d+)\}|(?<!\d)(-?\d{1,40}) ?/ ?(\d{1,40})")
LARGEST_POWER = 1e30  # a number with an exponent up to it is written out
WORDY = re.compile(r"[^\W\d_]|[\\=]")  # a text with it is more than a number


class Reference(NamedTuple):
    """How a row identifies its problem; what it does not say is None.

    question: may be a prompt that contains the question. answer: from a log that includes its
    problems. gold: the row's own, for problems outside the dataset. order: the row number, for
    files that name no problems. prompted: the text itself contains the question.
    """

    position: int | None = None
    id: str | None = None
    question: str | None = None
    answer: str | None = None
    gold: str | None = None
    order: int | None = None
    prompted: bool = False

    @property
    def number(self) -> int | None:
        """The row of the dataset, by the position or the only number of the id, at its end."""
        if self.position is not None or self.id is None:
            return self.position
        match = None if len(self.numbers_of_id) > 1 else NUMBER_AT_END.search(self.id)
        return None if match is None else int(match[1])

    @property
    def numbers_of_id(self) -> list[str]:
        """The parts of the id that are numbers: "12" and "3" of "gsm8k-12-3"."""
        return [part for part in PARTS_OF_ID.split(self.id or "") if part.isdecimal()]

    def counted_from(self, base: int) -> Reference:
        """Return this reference with its number lowered by `base`, the file's first number."""
        number = self.number
        if number is None or not base:
            return self
        if self.position is not None:
            return self._replace(position=number - base)
        match = NUMBER_AT_END.search(self.id or "")
        stem = (self.id or "")[: match.start(1)].rstrip("0") if match else ""
        return self._replace(id=f"{stem}{number - base}") if number >= base else self


NO_REFERENCE = Reference()
UNNUMBERED = -1  # the sample number of a row that gives none


class Sample(NamedTuple):
    """A completion, from its row in a file to its verdict.

    row: 1-based number in the file. run: the name that results are grouped under, UNNAMED for a row
    that names none. reference: how the row identifies its problem. sample: its number among the
    samples of its problem, UNNUMBERED if the file does not say. error: the provider's failure,
    which is an outcome, not a wrong answer. fault: why the row cannot be used. flag: the file's own
    verdict. stored: the completion of a row of a run folder. problem: set by matching, None for a
    row that cannot be used.
    """

    row: int
    run: str = UNNAMED
    text: str = ""
    reference: Reference = NO_REFERENCE
    sample: int = UNNUMBERED
    finish: Finish = Finish.UNKNOWN
    error: str = ""
    fault: str = ""
    model: str = ""
    flag: bool | None = None
    stored: Completion | None = None
    problem: Problem | None = None

    @property
    def usage(self) -> Usage:
        """The tokens of the request and of the completion, as far as they are recorded."""
        return self.stored.usage if self.stored else NO_USAGE


def gold_in(value: Any) -> str | None:
    """Return a gold answer: a number, or the number in a box or at the end of a text; else None."""
    if isinstance(value, list):
        references = [item for item in value if isinstance(item, Mapping)]
        right = [item for item in references if item.get("tags") == ["correct"]]
        return gold_in((right or value)[0]) if value else None
    if isinstance(value, Mapping):
        inner = value.get("output", value.get("text", value.get("answer")))
        return None if inner is None else gold_in(inner)
    if isinstance(value, bool) or value is None or value != value:
        return None
    text = value if isinstance(value, str) else repr(value)
    text = text.rpartition(MARKER)[2].strip().replace("\u2212", "-")
    if boxes := BOXED.findall(text):
        text = boxes[-1]
    numbers = NUMBER.findall(text)
    fractions = list(FRACTION.finditer(text))
    if len(fractions) == 1 and len(numbers) == 2:
        sign, *parts = fractions[0].groups("")
        return f"{sign}{parts[0]}/{parts[1]}" if parts[0] else f"{parts[2]}/{parts[3]}"
    if not WORDY.search(text) and len(numbers) > 1:
        return normalize(text)
    return normalize(_written_out(numbers[-1]) if numbers else text) or None


def _written_out(number: str) -> str:
    """Return a number without a dollar sign and an exponent, with a digit before the point."""
    number = number.replace("$", "")
    if "e" in number.lower() and float(number.replace(",", "")) < LARGEST_POWER:
        number = f"{Decimal(number.replace(',', '')):f}"
    return re.sub(r"^(-?)\.", r"\g<1>0.", number)


def faulty(row: int, run: str, fault: str) -> Sample:
    """Return the record for a row that cannot be used."""
    return Sample(row, run, fault=fault)


def text_of(content: object, between: str = "") -> str | None:
    """Return the text of a message's content (a string or a list of parts), else None."""
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(part, Mapping | str) for part in content):
        shown = (part for part in content if isinstance(part, str) or not part.get("thought"))
        parts = [part if isinstance(part, str) else part.get("text") for part in shown]
        return between.join(part for part in parts if isinstance(part, str))
    return None


def whole_number(value: object) -> int | None:
    """Return an index given as a number or as digits, else None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if abs(value) < 2**63 else None
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return int(value)
    if isinstance(value, str) and (match := WHOLE.match(value)) is not None:
        return int(match.group(1))
    return None


def sample_number(value: object) -> int:
    """Return the number of a sample, UNNUMBERED for any other value."""
    number = whole_number(value)
    return UNNUMBERED if number is None or number < 0 else number


NO_ERROR = ("", "none", "null", "nan", "false")


def error_of(value: object, has_text: bool) -> str:
    """Return the failure that a row's error field reports, "" for none.

    A number beside a text is a measure, not a failure. Tables that pandas wrote have NaN or "None".
    """
    if isinstance(value, str):
        return "" if value.strip().lower() in NO_ERROR else value
    if not value or value != value or (has_text and isinstance(value, int | float)):
        return ""
    return shown(value)


def shown(value: object) -> str:
    """Return a value in a form that fits into a message, however long or deep it is."""
    try:
        return clip(repr(value))
    except RecursionError:
        return "a value that is nested too deeply"


def first_of(fields: Mapping[str, Any], names: Iterable[str]) -> Any:
    """Return the first of these fields that is present and not None."""
    for name in names:  # takes half as long as a generator; called four times a row
        value = fields.get(name)
        if value is not None:
            return value
    return None


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How the files of a command are read.

    columns: the columns that the user named, by role: one mapping for all files, or one for each.
    dataset: the name or path of the dataset of the problems, None to find it out. in_order: rows
    are the dataset's, in its order. id_base: the number of the first problem in ids and indexes,
    None to detect it.
    """

    columns: tuple[Mapping[str, str], ...] = ()
    dataset: str | None = None
    in_order: bool = False
    id_base: int | None = None

    def for_file(self, number: int, files: int) -> ReadOptions:
        """Return the options for one of several files; raises InputError for too many columns."""
        if len(self.columns) <= 1:
            return self
        if len(self.columns) != files:
            raise InputError(
                f"--columns is given {len(self.columns)} times for {count(files, 'file')}; give it "
                "once for all files, or once for each in their order (join roles by commas)"
            )
        return replace(self, columns=self.columns[number : number + 1])

    @property
    def named(self) -> Mapping[str, str]:
        """The columns that the user named for the one file that these options are for."""
        return self.columns[0] if self.columns else {}


DEFAULTS = ReadOptions()
