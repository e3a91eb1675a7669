"""`gradeschool diff`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from gradeschool.cli.options import (
    FileVerb,
    check_scorers,
    dataset_option,
    json_option,
    print_json,
    reading,
    renamed_option,
    stdout_console,
    warn,
    warn_of_faults,
)
from gradeschool.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradeschool.runs.diff.pairs import DiffSide
    from gradeschool.runs.diff.result import RunDifference


@click.command(cls=FileVerb)
@click.argument("a")
@click.argument("b")
@renamed_option("--scorer-a", aliases=("--rule-a",), metavar="NAME",
                help="Scorer for A; by default its own.")  # fmt: skip
@renamed_option("--scorer-b", aliases=("--rule-b",), metavar="NAME",
                help="Scorer for B; by default its own.")  # fmt: skip
@dataset_option
@json_option
def command(
    a: str, b: str, scorer_a: str | None, scorer_b: str | None, dataset: str | None, as_json: bool
) -> None:
    """Explain why two results that should agree do not.

    A and B are run folders, lm-eval samples, inspect logs or other sample files; FILE#NAME selects
    one run of several. Compares every setting that they record, counts the completions that each
    difference explains, and splits the difference in accuracy into steps, in points.

    Example: gradeschool diff runs/mine samples_gsm8k_2026-11-21T03-14-00.jsonl
    """
    from gradeschool.reports.difference import print_difference

    check_scorers(scorer_a, scorer_b)
    difference, faults = compared(a, b, (scorer_a, scorer_b), dataset)
    if as_json:
        print_json(difference.as_json())
    else:
        print_difference(difference, stdout_console())
    warn_of_faults(faults)


def compared(
    a: str, b: str, scorers: tuple[str | None, str | None], dataset: str | None
) -> tuple[RunDifference, int]:
    """Return the difference of two results, and the number of their unusable rows."""
    from gradeschool.protocols.registry import get_usable_scorer
    from gradeschool.runs.diff.pairs import read_side
    from gradeschool.runs.diff.result import run_difference
    from gradeschool.scoring.sources import choose_runs, once_each

    is_same = len(once_each((a, b))) == 1
    chosen = choose_runs((a, b), reading(dataset), warn, partial(_check_two, same=is_same))
    sides = (read_side(chosen[0]), read_side(chosen[-1]))
    first, second = map(get_usable_scorer, _scorers_of_sides(sides, scorers))
    faults = sum(each.run.faults for each in chosen)
    return run_difference(*sides, (first, second)), faults


def _check_two(runs: Sequence[str], same: bool) -> None:
    """Raise InputError unless these are two runs, or one run that is named twice."""
    if len(runs) != 2 and not (same and len(runs) == 1):
        names = ", ".join(map(repr, runs))
        raise InputError(f"diff compares two results, and these are {len(runs)}: {names}; "
                         "select one run of a file with FILE#NAME")  # fmt: skip


def _scorers_of_sides(
    sides: tuple[DiffSide, DiffSide], named: tuple[str | None, str | None]
) -> tuple[str, str]:
    """Return the scorer of each side: the named one, its own, the other's, or the default."""
    from gradeschool.scorer import DEFAULT_SCORER

    own = [side.scorer for side in sides]
    usual = (own[0] or own[1] or DEFAULT_SCORER, own[1] or own[0] or DEFAULT_SCORER)
    return named[0] or usual[0], named[1] or usual[1]
