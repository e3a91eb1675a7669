"""How models write a final answer: the formats that a scorer may or may not read."""

from __future__ import annotations

import re
from typing import NamedTuple

# The N of "ANSWER" is none.
PLACE = re.compile(r"(?<![A-Za-z])N(?![A-Za-z])")


class Style(NamedTuple):
    r"""One answer format. `shape` shows it with N for the number; `latex`: N stands in math mode.

    closed: the number is enclosed, so that a period or a mark behind it would stand inside.
    """

    shape: str
    latex: bool = False
    closed: bool = False

    def write(self, number: str) -> str:
        """Return a completion that gives a number in this format."""
        return PLACE.sub(lambda _: number, self.shape)


HASHES = Style("#### N")
BOX = Style(r"The result is $\boxed{N}$.", latex=True, closed=True)
BARE = Style("N")
STYLES = (
    HASHES,
    BOX,
    Style("The answer is N."),
    Style("So the answer is N."),
    Style("The final answer is N"),
    Style("ANSWER: N"),
    Style("Answer: N"),
    Style("**Final Answer:** N"),
    Style("Final answer: **N**", closed=True),
    Style("<answer>N</answer>", closed=True),
    Style("<think>This is easy.</think>\n<answer>N</answer>", closed=True),
    Style("A: N"),
    BARE,
    Style("In the end that is N."),
    Style("Total = N"),
)
BY_SHAPE = {style.shape: style for style in STYLES}
