"""How people, colors and days of the week speak of each comparison."""

from __future__ import annotations

from textwrap import dedent
from typing import NamedTuple

from gradeschool.datasets.fresh.wording import Wordings, wordings


class Frame(NamedTuple):
    """The wordings of each relation of {B} to {A} (and {C}), of a step, and of each question."""

    first: Wordings
    direct: Wordings
    more: Wordings
    fewer: Wordings
    times: Wordings
    part: Wordings
    mixed: Wordings
    both: Wordings
    step: Wordings
    total: Wordings
    one: Wordings
    difference: Wordings


def _frame(text: str) -> Frame:
    """Read a frame: one paragraph for each of its fields, in order."""
    return Frame(*(wordings(paragraph) for paragraph in dedent(text).strip().split("\n\n")))


PEOPLE = _frame(
    """
    {B} {~have} {n item}.
    {B} {~have} a total of {n item}.
    The number of {item} that {B} {~have} {~be} {n}.

    {B} {~have} {n item}.
    {B} {~have} a total of {n item}.
    The number of {item} that {B} {~have} {~be} {n}.

    {B} {~have} {k} more {item} than {A}.
    {A} {~have} {k} fewer {item} than {B}.
    {B} {~have} {k item} more than {A}.

    {B} {~have} {k} fewer {item} than {A}.
    {A} {~have} {k} more {item} than {B}.
    {B} {~have} {k item} fewer than {A}.

    {B} {~have} {t} as many {item} as {A}.
    The number of {item} that {B} {~have} {~be} {t} the number that {A} {~have}.
    {B} {~have} {t} the number of {item} that {A} {~have}.

    {B} {~have} {part} as many {item} as {A}.
    {B} {~have} {part} of the number of {item} that {A} {~have}.
    The number of {item} that {B} {~have} {~be} {part} of the number that {A} {~have}.

    {B} {~have} {k} more than {t} as many {item} as {A}.
    The number of {item} that {B} {~have} {~be} {k} more than {t} the number that {A} {~have}.
    {B} {~have} {k} more than {t} the number of {item} that {A} {~have}.

    {B} {~have} as many {item} as {A} and {C} together.
    {A} and {C} together {~~have} as many {item} as {B} alone.
    {B} {~have} the same number of {item} as {A} and {C} together.

    {B} {~have} {=} {item}.

    How many {item} {~~do} {all} have together?
    How many {item} {~~do} {all} have in all?
    Together, how many {item} {~~do} {all} have?

    How many {item} {~do} {B} have?
    Find the number of {item} that {B} {~have}.
    How many of the {item} {~do} {B} have?

    How many more {item} {~do} {B} have than {A}?
    Find how many more {item} {B} {~have} than {A}.
    How many {item} more than {A} {~do} {B} have?
    """
)
COLORS = _frame(
    """
    There {~~be} {n} {B} {item} in a shop.
    A shop {~have} {n} {B} {item}.
    In a shop there {~~be} {n} {B} {item}.

    There {~~be} {n} {B} {item}.
    The shop {~have} {n} {B} {item}.
    The number of {B} {item} {~be} {n}.

    There {~~be} {k} more {B} {item} than {A} {item}.
    There {~~be} {k} more {B} {item} than {A} ones.
    There {~~be} {k} fewer {A} {item} than {B} {item}.

    There {~~be} {k} fewer {B} {item} than {A} {item}.
    There {~~be} {k} fewer {B} {item} than {A} ones.
    There {~~be} {k} more {A} {item} than {B} {item}.

    There {~~be} {t} as many {B} {item} as {A} {item}.
    There {~~be} {t} as many {B} {item} as {A} ones.
    The number of {B} {item} {~be} {t} the number of {A} {item}.

    There {~~be} {part} as many {B} {item} as {A} {item}.
    There {~~be} {part} as many {B} {item} as {A} ones.
    The number of {B} {item} {~be} {part} of the number of {A} {item}.

    The number of {B} {item} {~be} {k} more than {t} the number of {A} {item}.
    There {~~be} {k} more than {t} as many {B} {item} as {A} ones.
    There {~~be} {k} more than {t} as many {B} {item} as {A} {item}.

    There {~~be} as many {B} {item} as {A} and {C} {item} together.
    The number of {B} {item} {~be} the same as the number of {A} and {C} {item} together.
    There {~~be} as many {B} {item} as {A} and {C} ones together.

    There {~~be} {=} {B} {item}.

    How many {all} {item} {~~be} there in all?
    How many {all} {item} {~~be} there together?
    Find the total number of {all} {item}.

    How many {B} {item} {~~be} there?
    Find the number of {B} {item}.
    How many of the {item} {~~be} {B}?

    How many more {B} {item} than {A} {item} {~~be} there?
    Find the difference between the number of {B} {item} and the number of {A} {item}.
    How many more {B} {item} {~~be} there than {A} ones?
    """
)
DAYS = _frame(
    """
    {P} {~act} {n item} on {B}.
    On {B}, {P.he} {~act} {n item}.
    The number of {item} that {P} {~act} on {B} {~be} {n}.

    {P.he} {~act} {n item} on {B}.
    On {B}, {P.he} {~act} {n item}.
    The number of {item} that {P} {~act} on {B} {~be} {n}.

    On {B}, {P.he} {~act} {k} more {item} than on {A}.
    {P.he} {~act} {k} more {item} on {B} than on {A}.
    {P.he} {~act} {k} fewer {item} on {A} than on {B}.

    On {B}, {P.he} {~act} {k} fewer {item} than on {A}.
    {P.he} {~act} {k} fewer {item} on {B} than on {A}.
    {P.he} {~act} {k} more {item} on {A} than on {B}.

    On {B}, {P.he} {~act} {t} as many {item} as on {A}.
    {P.he} {~act} {t} as many {item} on {B} as on {A}.
    The number of {item} that {P} {~act} on {B} {~be} {t} the number on {A}.

    On {B}, {P.he} {~act} {part} as many {item} as on {A}.
    {P.he} {~act} {part} as many {item} on {B} as on {A}.
    The number of {item} that {P} {~act} on {B} {~be} {part} of the number on {A}.

    On {B}, {P.he} {~act} {k} more than {t} as many {item} as on {A}.
    {P.he} {~act} {k} more than {t} as many {item} on {B} as on {A}.
    The number of {item} that {P} {~act} on {B} {~be} {k} more than {t} the number on {A}.

    On {B}, {P.he} {~act} as many {item} as on {A} and {C} together.
    {P.he} {~act} as many {item} on {B} as on {A} and {C} together.
    The number of {item} that {P} {~act} on {B} {~be} the same as on {A} and {C} together.

    On {B}, {P} {~act} {=} {item}.

    How many {item} {~do} {P} {act} on {all} together?
    How many {item} {~do} {P} {act} in all on {all}?
    Together, how many {item} {~do} {P} {act} on {all}?

    How many {item} {~do} {P} {act} on {B}?
    Find the number of {item} that {P} {~act} on {B}.
    On {B}, how many {item} {~do} {P} {act}?

    How many more {item} {~do} {P} {act} on {B} than on {A}?
    Find how many more {item} {P} {~act} on {B} than on {A}.
    On {B}, how many more {item} {~do} {P} {act} than on {A}?
    """
)
