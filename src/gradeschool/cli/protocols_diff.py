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

    from gradeschool.scoring.moves import Move


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
    """Compare two protocols, or two rules.

    Of protocols: every field that differs, and the prompts of a problem as a text diff. Of rules:
    the completions on which they are known to differ. With recordings: the points by which the same
    completions move when the second's rule reads them instead of the first's (a protocol's first
    rule), and how many flip.

    Example: gradeschool protocols diff lm-eval/gsm8k olmes/gsm8k --runs answers.jsonl
    """
    from gradeschool.protocols.registry import all_protocols, all_rules

    for name in (a, b):
        if name not in all_protocols() and name not in all_rules():
            raise UnknownNameError("protocol or rule", name, {*all_protocols(), *all_rules()})
    paths = [Path(path) for path in dict.fromkeys((*runs, *files))]
    if a in all_protocols() and b in all_protocols():
        _protocols(a, b, paths, problem, dataset, as_json)
    elif a in all_rules() and b in all_rules():
        _rules(a, b, paths, dataset, as_json)
    else:
        rule = a if a not in all_protocols() else b
        raise InputError(f"{rule!r} is a rule and the other a protocol; give two of a kind")


def _protocols(
    a: str, b: str, paths: Sequence[Path], problem: str | None, dataset: str | None, as_json: bool
) -> None:
    from gradeschool.protocols.contrast import (
        prompt_difference,
        protocol_differences,
        rule_splits,
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
    rules = (both[0].rules[0], both[1].rules[0])
    splits = rule_splits(cards[0].rules[0], cards[1].rules[0])
    moves = _moves(paths, rules, dataset)
    if as_json:
        print_json(
            {
                "kind": "protocols",
                "names": [a, b],
                "digests": [card.digest for card in cards],
                "fields": [one._asdict() for one in found],
                "prompt_sha256": [card.example and card.example.sha256 for card in cards],
                "prompt_diff": list(lines),
                "rules": list(rules),
                "quirks": [one.as_json() for one in splits],
                "runs": [one.as_json() for one in moves],
            }
        )
        return
    console = stdout_console()
    print_fields(found, (a, b), console)
    print_prompts(lines, cards, console)
    if rules[0] != rules[1]:
        console.print("\ncompletions that their first rules are known to read apart", style="bold")
        print_splits(splits, rules, console)
    if moves:
        print_moves(moves, rules, console)


def _rules(a: str, b: str, paths: Sequence[Path], dataset: str | None, as_json: bool) -> None:
    from gradeschool.protocols.card import rule_card
    from gradeschool.protocols.contrast import rule_splits
    from gradeschool.protocols.registry import get_usable_rule
    from gradeschool.reports.protocol_contrast import print_moves, print_splits

    cards = [rule_card(get_usable_rule(name).name) for name in (a, b)]
    splits = rule_splits(*cards)
    moves = _moves(paths, (a, b), dataset)
    if as_json:
        print_json(
            {
                "kind": "rules",
                "names": [a, b],
                "summaries": [card.rule.summary for card in cards],
                "quirks": [one.as_json() for one in splits],
                "runs": [one.as_json() for one in moves],
            }
        )
        return
    console = stdout_console()
    for card in cards:
        console.print(f"{card.rule.name}: {card.rule.summary}")
    print_splits(splits, (a, b), console)
    if moves:
        print_moves(moves, (a, b), console)


def _moves(paths: Sequence[Path], rules: tuple[str, str], dataset: str | None) -> list[Move]:
    """Return how each run of the recordings moves; nothing is read where there are none."""
    from gradeschool.protocols.registry import get_usable_rule
    from gradeschool.scoring.load import load_runs
    from gradeschool.scoring.moves import move

    if not paths:
        return []
    one, other = (get_usable_rule(name) for name in rules)
    return [move(run, one, other) for path in paths for run in load_runs(path, dataset, warn)]
