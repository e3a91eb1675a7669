"""A sample: one completion from its row in a file to its verdict, and the options for reading."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from gradeschool.completion import NO_USAGE, Completion, Finish, Usage
from gradeschool.errors import InputError
from gradeschool.percentages import count
from gradeschool.problem import Problem
from gradeschool.scorer import clip

UNNAMED = ""  # the run of a row that names no run, until the whole file is read
UNNUMBERED = -1  # the sample number of a row that gives none
WHOLE = re.compile(r"\s*(-?\d{1,18})(?:\.0+)?\s*\Z")
NUMBER_AT_END = re.compile(r"(?:^|[-_:/# ])0*(\d{1,15})\Z")
PARTS_OF_ID = re.compile(r"[-_:/# ]")


class Reference(NamedTuple):
    """How a row identifies its problem; what it does not say is None.

    id: of the problem, or its row in the dataset. question: may be a prompt that contains the
    question. gold: the file's own answer, as it stands there. order: the place of the row among
    those that are not blank, from 0, for --in-order. in_text: the text itself begins with the
    question.
    """

    id: str | None = None
    question: str | None = None
    gold: Any = None
    order: int | None = None
    in_text: bool = False

    @property
    def number(self) -> int | None:
        """The row of the dataset: the only number of the id, at its end."""
        if (whole := whole_number(self.id)) is not None:
            return whole
        if self.id is None or sum(part.isdecimal() for part in PARTS_OF_ID.split(self.id)) > 1:
            return None
        match = NUMBER_AT_END.search(self.id)
        return None if match is None else int(match[1])


NO_REFERENCE = Reference()


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


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How the files of a command are read.

    columns: the columns that the user named, by role: one mapping for all files, or one for each.
    dataset: the name or path of the dataset of the problems, None to find it out. in_order: rows
    are the dataset's, in its order. id_base: the number of the first problem in ids, None to find
    it out.
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


DEFAULTS = ReadOptions()


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


FLAGS = {
    **dict.fromkeys(("true", "correct", "right", "yes", "c", "pass", "passed", "1", "1.0"), True),
    **dict.fromkeys(
        ("false", "incorrect", "wrong", "no", "i", "fail", "failed", "0", "0.0"), False
    ),
}


def flag_of(value: object) -> bool | None:
    """Return a file's own verdict: true, 1, "correct" ..., None for any other value."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return bool(value) if value in (0, 1) else None
    return FLAGS.get(value.strip().lower()) if isinstance(value, str) else None


def shown(value: object) -> str:
    """Return a value in a form that fits into a message, however long or deep it is."""
    try:
        return clip(repr(value))
    except RecursionError:
        return "a value that is nested too deeply"


def first_of(fields: Mapping[str, Any], names: Iterable[str]) -> Any:
    """Return the first of these fields that is present and not None."""
    for name in names:
        value = fields.get(name)
        if value is not None:
            return value
    return None
