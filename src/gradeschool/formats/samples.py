"""A sample: one completion from its row in a file to its verdict, and the options for reading."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from gradeschool.completion import NO_USAGE, Completion, Finish, Usage
from gradeschool.errors import InputError
from gradeschool.percentages import count
from gradeschool.problem import Problem

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
    question. turns: of the user in a chat, before the question.
    """

    id: str | None = None
    question: str | None = None
    gold: Any = None
    order: int | None = None
    in_text: bool = False
    turns: tuple[str, ...] = ()

    @property
    def number(self) -> int | None:
        """The row of the dataset: the only number of the id, at its end."""
        if self.id is None:
            return None
        if (whole := WHOLE.match(self.id)) is not None:
            return int(whole[1])
        if sum(part.isdecimal() for part in PARTS_OF_ID.split(self.id)) > 1:
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
