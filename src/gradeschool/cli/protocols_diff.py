"""`gradeschool protocols diff`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gradeschool.cli.options import dataset_option, json_option, print_json, stdout_console, warn
from gradeschool.cli.protocols_show import card_of
from gradeschool.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradeschool.scoring.compare import ScoreDelta


@click.command("diff")
@click.argument("a")
@click.argument("b")
@click.argument("files", nargs=-1)
@click.option("--runs", multiple=True, metavar="FILE...", help="Recordings to read under both.")
@click.option("--problem", metavar="ID", help="Whose prompts to compare; by default the first.")
@dataset_option
@json_option
def diff_command(
    a: str,
    b: str,
    files: tuple[str, ...],
    runs: tuple[str, ...],
    problem: str | None,
    dataset: str | None,
    as_json: bool,
) -> None:
    """Compare two protocols, or two scorers.

    Of protocols: every field that differs, and the prompts of a problem as a text diff. Of scorers:
    the completions on which they are known to differ. With recordings: the points by which the same
    completions move when the second's scorer reads them instead of the first's (a protocol's first
    scorer), and how many flip.

    Example: gradeschool protocols diff lm-eval/gsm8k olmes/gsm8k --runs answers.jsonl
    """
    from gradeschool.protocols.registry import all_protocols, all_scorers
    from gradeschool.scoring.sources import check_sources

    for name in (a, b):
        if name not in all_protocols() and name not in all_scorers():
            raise UnknownNameError("protocol or scorer", name, {*all_protocols(), *all_scorers()})
    specs = tuple(dict.fromkeys((*runs, *files)))
    check_sources(specs, dataset)
    paths = [Path(spec) for spec in specs]
    if a in all_protocols() and b in all_protocols():
        _protocols(a, b, paths, problem, dataset, as_json)
    elif a in all_scorers() and b in all_scorers():
        _scorers(a, b, paths, dataset, as_json)
    else:
        scorer = a if a not in all_protocols() else b
        raise InputError(f"{scorer!r} is a scorer and the other a protocol; give two of a kind")


def _protocols(
    a: str, b: str, paths: Sequence[Path], problem: str | None, dataset: str | None, as_json: bool
) -> None:
    from gradeschool.protocols.contrast import (
        prompt_difference,
        protocol_differences,
        scorer_splits,
    )
    from gradeschool.protocols.registry import all_protocols
    from gradeschool.reports.protocol_contrast import (
        print_fields,
        print_moves,
        print_prompts,
        print_splits,
    )

    both = (all_protocols()[a], all_protocols()[b])
    # The same problem for both, of the first one's dataset.
    cards = [card_of(protocol, dataset, problem, usual=both[0].dataset) for protocol in both]
    found, lines = protocol_differences(*cards), prompt_difference(*cards)
    scorers = (both[0].scorers[0], both[1].scorers[0])
    splits = scorer_splits(cards[0].scorers[0], cards[1].scorers[0])
    moves = _moves(paths, scorers, dataset)
    if as_json:
        print_json(
            {
                "kind": "protocols",
                "names": [a, b],
                "digests": [card.digest for card in cards],
                "fields": [one.as_json() for one in found],
                "prompt_sha256": [card.example and card.example.sha256 for card in cards],
                "prompt_diff": list(lines),
                "scorers": list(scorers),
                "quirks": [one.as_json() for one in splits],
                "runs": [one.as_json() for one in moves],
            }
        )
        return
    console = stdout_console()
    print_fields(found, (a, b), console)
    print_prompts(lines, cards, console)
    if scorers[0] != scorers[1]:
        console.print(
            "\ncompletions that their first scorers are known to read apart", style="bold"
        )
        print_splits(splits, scorers, console)
    if moves:
        print_moves(moves, scorers, console)


def _scorers(a: str, b: str, paths: Sequence[Path], dataset: str | None, as_json: bool) -> None:
    from gradeschool.protocols.card import scorer_card
    from gradeschool.protocols.contrast import scorer_splits
    from gradeschool.protocols.registry import get_usable_scorer
    from gradeschool.reports.protocol_contrast import print_moves, print_splits

    cards = [scorer_card(get_usable_scorer(name).name) for name in (a, b)]
    splits = scorer_splits(*cards)
    moves = _moves(paths, (a, b), dataset)
    if as_json:
        print_json(
            {
                "kind": "scorers",
                "names": [a, b],
                "summaries": [card.scorer.summary for card in cards],
                "quirks": [one.as_json() for one in splits],
                "runs": [one.as_json() for one in moves],
            }
        )
        return
    console = stdout_console()
    for card in cards:
        console.print(f"{card.scorer.name}: {card.scorer.summary}")
    print_splits(splits, (a, b), console)
    if moves:
        print_moves(moves, (a, b), console)


def _moves(
    paths: Sequence[Path], scorers: tuple[str, str], dataset: str | None
) -> list[ScoreDelta]:
    """Return how each run's score changes between two scorers; nothing is read without files."""
    from gradeschool.protocols.registry import get_usable_scorer
    from gradeschool.scoring.compare import score_delta
    from gradeschool.scoring.sources import load_runs
    from gradeschool.scoring.table import scored_table

    if not paths:
        return []
    chosen = [get_usable_scorer(name) for name in scorers]
    return [
        score_delta(scored_table(run, chosen))
        for path in paths
        for run in load_runs(path, dataset, warn)
    ]
