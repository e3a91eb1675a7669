"""`gradeschool protocols show`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gradeschool.cli.options import dataset_option, json_option, print_json, stdout_console, warn
from gradeschool.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradeschool.problem import Problem
    from gradeschool.protocol import Protocol
    from gradeschool.protocols.card import ProtocolCard


@click.command("show")
@click.argument("name")
@dataset_option
@click.option("--problem", metavar="ID", help="Whose prompt to print; by default the first.")
@json_option
def show_command(name: str, dataset: str | None, problem: str | None, as_json: bool) -> None:
    """Show everything about a protocol, a scorer or a vote.

    Of a protocol: the parts of its prompt to the character, where its shots come from, decoding,
    scorers, what they read unlike a careful reader, sources, and the exact prompt of a problem with
    its SHA-256 (of the text in UTF-8; of a chat, of its messages as JSON).
    """
    from gradeschool.protocols.card import protocol_json, scorer_card, scorer_json, vote_json
    from gradeschool.protocols.registry import all_protocols, all_scorers, all_votes
    from gradeschool.reports.protocol_card import print_protocol, print_scorer, print_vote

    if name in all_protocols():
        card = card_of(all_protocols()[name], dataset, problem)
        if as_json:
            print_json(protocol_json(card))
        else:
            print_protocol(card, stdout_console())
    elif name in all_scorers():
        if as_json:
            print_json(scorer_json(scorer_card(name)))
        else:
            print_scorer(scorer_card(name), stdout_console())
    elif name in all_votes():
        if as_json:
            print_json(vote_json(all_votes()[name]))
        else:
            print_vote(all_votes()[name], stdout_console())
    else:
        known = {*all_protocols(), *all_scorers(), *all_votes()}
        raise UnknownNameError("protocol or scorer", name, known)


def card_of(
    protocol: Protocol, dataset: str | None, problem: str | None, usual: str = ""
) -> ProtocolCard:
    """Return a protocol's card, with the prompt of a problem where what it needs is at hand.

    A dataset or a problem that the user names must be there; the usual dataset, by default the
    protocol's own, is only missed.
    """
    from gradeschool.datasets.load import is_here, load_dataset
    from gradeschool.protocols.card import protocol_card

    named = dataset or usual or protocol.dataset
    needed = [named, *([protocol.shots] if protocol.shots else [])]
    absent = [one for one in needed if not is_here(one)]
    if absent and not (dataset or problem):
        fetch = " ".join(absent)
        warn(f"no prompt is shown: {', '.join(absent)} is not on this machine; "
             f"`gradeschool data fetch {fetch}` fetches it")  # fmt: skip
        return protocol_card(protocol)
    problems = load_dataset(named).problems
    shots = load_dataset(protocol.shots).problems if protocol.shots else ()
    return protocol_card(protocol, problems, shots, position(problems, problem, named), named)


def position(problems: Sequence[Problem], id: str | None, dataset: str) -> int:
    """Return where the problem of that id stands, the first one where none is named."""
    if id is None:
        return 0
    for at, problem in enumerate(problems):
        if problem.id == id:
            return at
    raise InputError(
        f"no problem of {dataset!r} has the id {id!r}; its ids go from {problems[0].id!r} "
        f"to {problems[-1].id!r}"
    )
