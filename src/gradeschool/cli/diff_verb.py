"""`gradeschool diff`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gradeschool.cli.options import (
    check_scorers,
    dataset_option,
    json_option,
    print_json,
    stdout_console,
    warn,
    warn_of_faults,
)
from gradeschool.errors import InputError

if TYPE_CHECKING:
    from gradeschool.runs.diff.sides import DiffSide


@click.command()
@click.argument("a")
@click.argument("b")
@click.option(
    "--scorer-a", "--rule-a", metavar="NAME", help="The scorer that reads A; by default its own."
)
@click.option(
    "--scorer-b", "--rule-b", metavar="NAME", help="The scorer that reads B; by default its own."
)
@dataset_option
@json_option
def command(
    a: str, b: str, scorer_a: str | None, scorer_b: str | None, dataset: str | None, as_json: bool
) -> None:
    """Say why two results that should agree do not.

    A and B are run folders, lm-eval samples, inspect logs or files of completions; FILE#NAME is one
    run of several. Every setting that they record is compared, with how many completions a
    difference in it explains; then the difference in accuracy is taken apart, in points.

    Example: gradeschool diff runs/mine samples_gsm8k_2026-11-21T03-14-00.jsonl
    """
    from gradeschool.protocols.registry import get_usable_scorer
    from gradeschool.reports.difference import print_difference
    from gradeschool.runs.diff.result import difference
    from gradeschool.runs.diff.sides import read_side
    from gradeschool.scoring.sources import choose_runs

    check_scorers(scorer_a, scorer_b)
    chosen = choose_runs((a, b), dataset, warn)
    chosen = chosen * 2 if a == b and len(chosen) == 1 else chosen
    if len(chosen) != 2:
        names = ", ".join(repr(one.run.name) for one in chosen)
        raise InputError(f"two results are compared, and these are {len(chosen)}: {names}; "
                         "name one run of a file with FILE#NAME")  # fmt: skip
    sides = (read_side(chosen[0]), read_side(chosen[1]))
    scorers = _scorers(sides, (scorer_a, scorer_b))
    found = difference(*sides, (get_usable_scorer(scorers[0]), get_usable_scorer(scorers[1])))
    if as_json:
        print_json(found.as_json())
    else:
        print_difference(found, stdout_console())
    warn_of_faults(sum(one.run.faults for one in chosen))


def _scorers(
    sides: tuple[DiffSide, DiffSide], asked: tuple[str | None, str | None]
) -> tuple[str, str]:
    """Return the scorer of each side: as asked, its own, the other's own, or the careful reader."""
    from gradeschool.scoring.sources import DEFAULT_SCORERS

    own = [side.scorer for side in sides]
    usual = (own[0] or own[1] or DEFAULT_SCORERS[0], own[1] or own[0] or DEFAULT_SCORERS[0])
    return asked[0] or usual[0], asked[1] or usual[1]
