"""`gradeschool audit`."""

from __future__ import annotations

import sys

import click

from gradeschool.cli import options as cli
from gradeschool.errors import InputError


@click.command(cls=cli.Verb)
@click.argument("function", required=False, metavar="MODULE:FUNCTION")
@cli.scorer_option("Audit a scorer from `gradeschool protocols list` instead of a function.")
@click.option("--allow", multiple=True, metavar="NAME",
              help="Do not count a class ('slow') or kind ('false-reject/number-words') of "
                   "finding.")  # fmt: skip
@click.option("--threshold", type=float, default=0.5, show_default=True,
              help="Lowest score that counts as accepted.")  # fmt: skip
@click.option("--longest", type=click.IntRange(min=1), default=1_000_000, show_default=True,
              help="Length of the longest hostile text, in characters.")  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random golds.")
@cli.json_option
def command(
    function: str | None, scorer: str | None, allow: tuple[str, ...], threshold: float,
    longest: int, seed: int, as_json: bool,
) -> None:  # fmt: skip
    """Find what a scorer or reward function gets wrong, with the smallest example of each kind.

    FUNCTION takes (completion, gold) and returns a bool or a number; MODULE may be FILE.py. It
    runs in a separate process with a time limit. Exit status: 0 no finding that counts, 1 at least
    one, 2 bad input.

    Example: gradeschool audit rewards.py:score --allow slow
    """
    from gradeschool.auditing.audit import audit, check_names
    from gradeschool.protocols.registry import get_usable_scorer
    from gradeschool.reports.audit import print_audit

    if (function is None) == (scorer is None):
        which = (
            "both a function and a scorer are" if scorer else "neither a function nor a scorer is"
        )
        raise InputError(f"{which} given; give MODULE:FUNCTION or --scorer NAME")
    check_names(allow)

    audited = function or "" if scorer is None else get_usable_scorer(scorer)
    report = audit(audited, seed=seed, threshold=threshold, longest=longest)
    counting = report.counting(allow)
    if as_json:
        cli.print_json({**report.to_json(), "counting": [finding.name for finding in counting]})
    else:
        print_audit(report, counting, cli.stdout_console())
    sys.exit(1 if counting else 0)
