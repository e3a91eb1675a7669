"""`gradeschool protocols list | show | diff | prompts`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gradeschool.cli.options import (
    FileVerb,
    VerbGroup,
    dataset_option,
    json_option,
    print_json,
    print_lists,
    reading,
    stdout_console,
    warn,
    warn_of_faults,
)
from gradeschool.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from gradeschool.completion import Prompt
    from gradeschool.problem import Problem
    from gradeschool.protocol import Protocol
    from gradeschool.protocols.card import ProtocolCard
    from gradeschool.scoring.compare import ScoreDelta
    from gradeschool.scoring.samples import Run


@click.group(cls=VerbGroup)
def command() -> None:
    """List, show and compare protocols and scorers; print prompts."""


@command.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """List every protocol and every scorer."""
    from gradeschool.protocols.registry import all_protocols, all_scorers, all_votes

    protocols, scorers = all_protocols().values(), all_scorers().values()
    votes = all_votes().values()
    if as_json:
        print_json({
            "protocols": [
                {
                    "name": protocol.name,
                    "digest": protocol.digest(),
                    "summary": protocol.summary,
                    "form": _form(protocol),
                    "shots": protocol.shot_count,
                    "dataset": protocol.dataset,
                    "samples": protocol.samples,
                    "scorers": list(protocol.scorers),
                    "votes": list(protocol.votes),
                    "source": protocol.source,
                }
                for protocol in protocols
            ],
            "scorers": [
                {"name": scorer.name, "summary": scorer.summary, "source": scorer.source,
                 "extra": scorer.extra or None}
                for scorer in scorers
            ],
            "votes": [
                {"name": vote.name, "summary": vote.summary, "source": vote.source}
                for vote in votes
            ],
        })  # fmt: skip
        return
    print_lists({
        "Protocols: prompt, decoding and scorers": [
            (protocol.name, f"[{_form(protocol)}] {protocol.summary}") for protocol in protocols
        ],
        "Scorers: how an answer is extracted and compared": [
            (scorer.name, f"{scorer.summary} [extra: {scorer.extra}]" if scorer.extra
             else scorer.summary)
            for scorer in scorers
        ],
        "Votes: one verdict from all samples of a problem": [
            (vote.name, vote.summary) for vote in votes
        ],
    })  # fmt: skip


def _form(protocol: Protocol) -> str:
    return "chat" if protocol.is_chat else "completion"


@command.command("show")
@click.argument("name")
@dataset_option
@click.option(
    "--problem", metavar="ID", help="Print the prompt of this problem; by default the first."
)
@json_option
def show_command(name: str, dataset: str | None, problem: str | None, as_json: bool) -> None:
    """Show everything about a protocol, a scorer or a vote.

    For a protocol: the exact parts of its prompt, the origin of its few-shot examples, decoding,
    scorers with the completions that they read differently from a careful person, sources, and the
    prompt of a problem with its SHA-256 (of the text in UTF-8, or of a chat's messages as JSON).
    """
    from gradeschool.protocols.card import protocol_json, scorer_card, scorer_json, vote_json
    from gradeschool.protocols.registry import all_protocols, all_scorers, all_votes
    from gradeschool.reports.protocols import print_protocol, print_scorer, print_vote

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
        registered = {*all_protocols(), *all_scorers(), *all_votes()}
        raise UnknownNameError("protocol or scorer", name, registered)


def card_of(
    protocol: Protocol, dataset: str | None, problem: str | None, usual: str = ""
) -> ProtocolCard:
    """Return a protocol's card, with a problem's prompt if its datasets are on this machine.

    A dataset or problem that the user names is required and fetched; otherwise a missing dataset
    (`usual`, by default the protocol's own) is only reported.
    """
    from gradeschool.datasets.load import is_here, load_dataset
    from gradeschool.protocols.card import protocol_card

    named = dataset or usual or protocol.dataset
    needed = [named, *([protocol.shots] if protocol.shots else [])]
    absent = [name for name in needed if not is_here(name)]
    if absent and not (dataset or problem):
        fetch = " ".join(absent)
        warn(f"no prompt is shown: {', '.join(absent)} is not on this machine; "
             f"run `gradeschool data fetch {fetch}`")  # fmt: skip
        return protocol_card(protocol)
    problems = load_dataset(named).problems
    shots = load_dataset(protocol.shots).problems if protocol.shots else ()
    return protocol_card(protocol, problems, shots, position(problems, problem, named), named)


def position(problems: Sequence[Problem], id: str | None, dataset: str) -> int:
    """Return the index of the problem with that id, or 0 if it is None."""
    if id is None:
        return 0
    for index, problem in enumerate(problems):
        if problem.id == id:
            return index
    raise InputError(
        f"no problem of {dataset!r} has the id {id!r}; its ids go from {problems[0].id!r} "
        f"to {problems[-1].id!r}"
    )


@command.command("diff", cls=FileVerb)
@click.argument("a")
@click.argument("b")
@click.argument("files", nargs=-1)
@click.option("--runs", multiple=True, metavar="FILE...", help="Sample files to score under both.")
@click.option(
    "--problem", metavar="ID", help="Compare the prompts of this problem; by default the first."
)
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

    For protocols: every field that differs, and the prompts of a problem as a text diff. For
    scorers: the completions on which they are known to differ. With --runs: the difference in
    accuracy, in points, when the second scorer (of a protocol, its first) scores the same
    completions, and the number of verdicts that change.

    Example: gradeschool protocols diff lm-eval/gsm8k olmes/gsm8k --runs answers.jsonl
    """
    from gradeschool.protocols.registry import all_protocols, all_scorers
    from gradeschool.scoring.sources import check_sources, load_runs

    for name in (a, b):
        if name not in all_protocols() and name not in all_scorers():
            raise UnknownNameError("protocol or scorer", name, {*all_protocols(), *all_scorers()})
    specs = tuple(dict.fromkeys((*runs, *files)))
    check_sources(specs, reading(dataset))
    both_protocols = a in all_protocols() and b in all_protocols()
    if not both_protocols and not (a in all_scorers() and b in all_scorers()):
        scorer = a if a not in all_protocols() else b
        raise InputError(
            f"{scorer!r} is a scorer and the other is a protocol; give two of the same kind"
        )
    scored = [run for spec in specs for run in load_runs(Path(spec), reading(dataset), warn)]
    if both_protocols:
        _protocols(a, b, scored, problem, dataset, as_json)
    else:
        _scorers(a, b, scored, as_json)
    warn_of_faults(sum(run.faults for run in scored))


def _protocols(
    a: str, b: str, runs: Sequence[Run], problem: str | None, dataset: str | None, as_json: bool
) -> None:
    from gradeschool.protocols.contrast import (
        prompt_difference,
        protocol_differences,
        scorer_splits,
    )
    from gradeschool.protocols.registry import all_protocols
    from gradeschool.reports.protocols import (
        print_fields,
        print_moves,
        print_prompts,
        print_splits,
    )

    both = (all_protocols()[a], all_protocols()[b])
    # The same problem for both, of the first one's dataset.
    cards = [card_of(protocol, dataset, problem, usual=both[0].dataset) for protocol in both]
    fields, lines = protocol_differences(*cards), prompt_difference(*cards)
    scorers = (both[0].scorers[0], both[1].scorers[0])
    splits = scorer_splits(cards[0].scorers[0], cards[1].scorers[0])
    moves = _moves(runs, scorers)
    if as_json:
        print_json(
            {
                "kind": "protocols",
                "names": [a, b],
                "digests": [card.digest for card in cards],
                "fields": [field.as_json() for field in fields],
                "prompt_sha256": [card.example and card.example.sha256 for card in cards],
                "prompt_diff": list(lines),
                "scorers": list(scorers),
                "quirks": [split.as_json() for split in splits],
                "runs": [move.as_json() for move in moves],
            }
        )
        return
    console = stdout_console()
    print_fields(fields, (a, b), console)
    print_prompts(lines, cards, console)
    if scorers[0] != scorers[1]:
        console.print(
            "\ncompletions on which their first scorers are known to differ", style="bold"
        )
        print_splits(splits, scorers, console)
    if moves:
        print_moves(moves, scorers, console)


def _scorers(a: str, b: str, runs: Sequence[Run], as_json: bool) -> None:
    from gradeschool.protocols.card import scorer_card
    from gradeschool.protocols.contrast import scorer_splits
    from gradeschool.protocols.registry import get_usable_scorer
    from gradeschool.reports.protocols import print_moves, print_splits

    cards = [scorer_card(get_usable_scorer(name).name) for name in (a, b)]
    splits = scorer_splits(*cards)
    moves = _moves(runs, (a, b))
    if as_json:
        print_json(
            {
                "kind": "scorers",
                "names": [a, b],
                "summaries": [card.scorer.summary for card in cards],
                "quirks": [split.as_json() for split in splits],
                "runs": [move.as_json() for move in moves],
            }
        )
        return
    console = stdout_console()
    for card in cards:
        console.print(f"{card.scorer.name}: {card.scorer.summary}")
    print_splits(splits, (a, b), console)
    if moves:
        print_moves(moves, (a, b), console)


def _moves(runs: Sequence[Run], scorers: tuple[str, str]) -> list[ScoreDelta]:
    """Return how each run's score changes between two scorers."""
    from gradeschool.protocols.registry import get_usable_scorer
    from gradeschool.scoring.compare import score_delta
    from gradeschool.scoring.table import scored_table

    if not runs:
        return []
    chosen = [get_usable_scorer(name) for name in scorers]
    return [score_delta(scored_table(run, chosen)) for run in runs]


@command.command("prompts")
@click.argument("name")
@dataset_option
@click.option("-n", "--limit", type=click.IntRange(min=1), help="Use only the first N problems.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["nul", "jsonl"]),
    default="jsonl",
    show_default=True,
    help="jsonl: a JSON line for each prompt; nul: each prompt followed by a NUL byte.",
)
def prompts_command(name: str, dataset: str | None, limit: int | None, form: str) -> None:
    """Print every prompt of a protocol, in order."""
    from gradeschool.datasets.load import load_dataset
    from gradeschool.prompts.rendering import prompt_bytes
    from gradeschool.protocols.registry import get_protocol

    protocol = get_protocol(name)
    problems = load_dataset(dataset or protocol.dataset).problems[:limit]
    shots = load_dataset(protocol.shots).problems if protocol.shots else ()
    out = sys.stdout.buffer
    for problem, prompt in zip(problems, protocol.render(problems, shots), strict=True):
        out.write(prompt_bytes(prompt) + b"\0" if form == "nul" else _jsonl(problem, prompt))
    out.flush()


def _jsonl(problem: Problem, prompt: Prompt) -> bytes:
    from gradeschool.prompts.rendering import prompt_json

    return json.dumps({"id": problem.id, **prompt_json(prompt)}).encode() + b"\n"
