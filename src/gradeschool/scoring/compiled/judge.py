"""The kernel over a batch: every completion under every scorer that is judged here."""

from __future__ import annotations

from collections.abc import Callable

from gradeschool.scoring.compiled.as_number import numbers
from gradeschool.scoring.compiled.as_text import announced, hashed, last_numbers
from gradeschool.scoring.compiled.case import Case
from gradeschool.scoring.compiled.hendrycks import hendrycks
from gradeschool.scoring.compiled.inspecting import inspect
from gradeschool.scoring.compiled.jit import Places
from gradeschool.scoring.compiled.marks import scan
from gradeschool.scoring.compiled.parsing import parse
from gradeschool.scoring.compiled.zero_shot import zero_shot


def judge_of(stamp: int) -> Callable[..., None]:
    """Return the kernel over a batch.

    stamp: of the sources of this room; compiled code that is kept on disk is for that stamp alone.
    """

    def judge(
        buf: Places,
        bounds: Places,
        problems: Places,
        plain: Places,
        refs: Places,
        table: Places,
        group: Places,
        marks: Places,
        word: Places,
        line: Places,
        codes: Places,
    ) -> None:
        """Fill in the codes of a batch, which come as ASK.

        Text i is buf[bounds[i]:bounds[i + 1]], its problem problems[i]. The rest: `marks.scan` and
        `case.Case`; table: of each problem places, sizes, golds; marks, word and line: room.
        """
        marks[0] = stamp
        for i in range(len(problems)):
            start, end, at = bounds[i], bounds[i + 1], problems[i]
            if not scan(buf, start, end, plain, marks):
                continue
            case = Case(
                buf,
                start,
                end,
                marks,
                refs,
                table[at][0],
                table[at][1],
                table[at][2],
                group,
                codes[i],
                word,
                line,
            )
            hashed(case)
            announced(case)
            last_numbers(case)
            numbers(case)
            inspect(case)
            hendrycks(case)
            zero_shot(case)
            parse(case)

    return judge
