"""`gradeschool protocols list | show | diff | prompts`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    from gradeschool.problem import Problem
    from gradeschool.protocol import Protocol
    from gradeschool.protocols.card import ProtocolCard
    from gradeschool.scoring.compare import ScoreDelta
    from gradeschool.scoring.samples import Run


@click.group(cls=VerbGroup)
def command() -> None:
    """List, show and compare protocols and scorers; print prompts.

    A protocol is a name, or your own: a TOML file, or an object of a Python file (mine.py:NAME).
    """


@command.command("list")
@click.argument("words", nargs=-1, metavar="[WORD]...")
@json_option
def list_command(words: tuple[str, ...], as_json: bool) -> None:
    """List protocols, scorers and votes; with words, those whose line has all of them."""
    from gradeschool.protocols.registry import all_protocols, all_scorers, all_votes

    def fits(one: Any) -> bool:
        line = f"{one.name} {one.summary} {getattr(one, 'dataset', '')}".lower()
        return all(word.lower() in line for word in words)

    protocols = list(filter(fits, all_protocols().values()))
    scorers = list(filter(fits, all_scorers().values()))
    votes = list(filter(fits, all_votes().values()))
    if as_json:
        print_json({
            "protocols": [
                _fields(one, "name", "summary", "dataset", "samples", "scorers", "votes", "source")
                | {"digest": one.digest(), "form": _form(one), "shots": one.shot_count}
                for one in protocols
            ],
            "scorers": [
                _fields(one, "name", "summary", "source") | {"extra": one.extra or None}
                for one in scorers
            ],
            "votes": [_fields(one, "name", "summary", "source") for one in votes],
        })  # fmt: skip
        return
    if not (protocols or scorers or votes):
        raise InputError(f"no protocol or scorer has {' and '.join(map(repr, words))} in its line; "
                         "`gradeschool protocols list` prints all")  # fmt: skip
    lists = {
        "Protocols: prompt, decoding and scorers": [
            (one.name, f"[{_form(one)}] {one.summary}") for one in protocols
        ],
        "Scorers: how an answer is extracted and compared": [
            (one.name, one.summary + (f" [extra: {one.extra}]" if one.extra else ""))
            for one in scorers
        ],
        "Votes: one verdict from all samples of a problem": [
            (one.name, one.summary) for one in votes
        ],
    }
    print_lists({title: rows for title, rows in lists.items() if rows})


def _fields(one: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(one, name) for name in names}


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
    the scorers, with completions that they read differently from a careful person, the versions it
    was compared with, sources, and the prompt of a problem with its SHA-256 (of the text in UTF-8,
    or of a chat's messages as JSON).
    """
    from gradeschool.protocols.card import scorer_card, vote_json
    from gradeschool.protocols.registry import all_scorers, all_votes
    from gradeschool.reports.protocols import print_protocol, print_scorer, print_vote

    if protocol := _find_protocol(name):
        card = _load_card(protocol, dataset, problem)
        print_json(card.as_json()) if as_json else print_protocol(card, stdout_console())
    elif name in all_scorers():
        scorer = scorer_card(name)
        print_json(scorer.as_json()) if as_json else print_scorer(scorer, stdout_console())
    elif vote := all_votes().get(name):
        print_json(vote_json(vote)) if as_json else print_vote(vote, stdout_console())
    else:
        raise _unknown(name)


def _find_protocol(name: str) -> Protocol | None:
    from gradeschool.protocols.registry import all_protocols, get_protocol

    is_own = name.endswith(".toml") or ".py:" in name
    return get_protocol(name) if is_own else all_protocols().get(name)


def _unknown(name: str) -> UnknownNameError:
    from gradeschool.protocols.registry import all_protocols, all_scorers, all_votes

    known = {*all_protocols(), *all_scorers(), *all_votes()}
    return UnknownNameError("protocol or scorer", name, known)


def _load_card(
    protocol: Protocol, dataset: str | None, problem: str | None, usual: str = ""
) -> ProtocolCard:
    """Return a protocol's card, with a problem's prompt if its datasets are on this machine.

    A dataset or problem that the user names is required and fetched; otherwise a missing dataset
    (`usual`, by default the protocol's own) is only reported.
    """
    from gradeschool.datasets.load import is_here, load_dataset
    from gradeschool.protocols.card import protocol_card

    named = dataset or usual or protocol.dataset
    absent = [name for name in (named, protocol.shots) if name and not is_here(name)]
    if absent and not (dataset or problem):
        warn(f"no prompt is shown: {', '.join(absent)} is not on this machine; "
             f"run `gradeschool data fetch {' '.join(absent)}`")  # fmt: skip
        return protocol_card(protocol)
    problems = load_dataset(named).problems
    shots = load_dataset(protocol.shots).problems if protocol.shots else ()
    return protocol_card(protocol, problems, shots, _position(problems, problem, named), named)


def _position(problems: Sequence[Problem], id: str | None, dataset: str) -> int:
    """Return the index of the problem with that id, or 0 if it is None."""
    index = next((at for at, one in enumerate(problems) if one.id == id), None)
    if id is not None and index is None:
        raise InputError(
            f"no problem of {dataset!r} has the id {id!r}; its ids go from {problems[0].id!r} "
            f"to {problems[-1].id!r}"
        )
    return index or 0


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
    from gradeschool.protocols.registry import all_scorers
    from gradeschool.scoring.sources import check_sources, load_runs

    first, second = (_find_protocol(name) for name in (a, b))
    for name, protocol in ((a, first), (b, second)):
        if protocol is None and name not in all_scorers():
            raise _unknown(name)
    if not (first and second) and not {a, b} <= set(all_scorers()):
        raise InputError(f"{b if first else a!r} is a scorer and the other is a protocol; "
                         "give two of the same kind")  # fmt: skip
    specs = tuple(dict.fromkeys((*runs, *files)))
    check_sources(specs, reading(dataset))
    scored = [run for spec in specs for run in load_runs(Path(spec), reading(dataset), warn)]
    if first and second:
        # The same problem for both, of the first one's dataset.
        cards = [_load_card(one, dataset, problem, first.dataset) for one in (first, second)]
        _print_protocols(cards[0], cards[1], scored, as_json)
    else:
        _print_scorers((a, b), scored, as_json)
    warn_of_faults(sum(run.faults for run in scored))


def _print_protocols(
    first: ProtocolCard, second: ProtocolCard, runs: Sequence[Run], as_json: bool
) -> None:
    from gradeschool.protocols import card as cards
    from gradeschool.reports import protocols as printing

    names = (first.protocol.name, second.protocol.name)
    fields = cards.protocol_differences(first, second)
    lines = cards.prompt_difference(first, second)
    scorers = (first.protocol.scorers[0], second.protocol.scorers[0])
    splits = cards.scorer_splits(first.scorers[0], second.scorers[0])
    moves = _score_both(runs, scorers)
    if as_json:
        print_json({
            "kind": "protocols",
            "names": list(names),
            "digests": [card.protocol.digest() for card in (first, second)],
            "fields": [
                {"field": field, "first": values[0], "second": values[1]}
                for field, values in fields.items()
            ],
            "prompt_sha256": [card.example and card.example.sha256 for card in (first, second)],
            "prompt_diff": lines,
            "scorers": list(scorers),
            **_splits_json(splits, moves),
        })  # fmt: skip
        return
    console = stdout_console()
    printing.print_differences(fields, names, console)
    printing.print_prompt_difference(lines, first.example, console)
    if scorers[0] != scorers[1]:
        console.print("\ncompletions on which their first scorers are known to differ",
                      style="bold")  # fmt: skip
        printing.print_splits(splits, scorers, console)
    if moves:
        printing.print_moves(moves, scorers, console)


def _print_scorers(names: tuple[str, str], runs: Sequence[Run], as_json: bool) -> None:
    from gradeschool.protocols.card import scorer_card, scorer_splits
    from gradeschool.protocols.registry import get_usable_scorer
    from gradeschool.reports.protocols import print_moves, print_splits

    cards = [scorer_card(get_usable_scorer(name).name) for name in names]
    splits, moves = scorer_splits(*cards), _score_both(runs, names)
    if as_json:
        summaries = [card.scorer.summary for card in cards]
        print_json({"kind": "scorers", "names": list(names), "summaries": summaries,
                    **_splits_json(splits, moves)})  # fmt: skip
        return
    console = stdout_console()
    for card in cards:
        console.print(f"{card.scorer.name}: {card.scorer.summary}")
    print_splits(splits, names, console)
    if moves:
        print_moves(moves, names, console)


def _splits_json(splits: Sequence[Any], moves: Sequence[ScoreDelta]) -> dict[str, Any]:
    return {
        "quirks": [
            {"completion": quirk.completion, "gold": quirk.gold, "outcomes": outcomes}
            for quirk, *outcomes in splits
        ],
        "runs": [move.as_json() for move in moves],
    }


def _score_both(runs: Sequence[Run], scorers: tuple[str, str]) -> list[ScoreDelta]:
    """Return how each run's score changes between two scorers."""
    from gradeschool.protocols.registry import get_usable_scorer
    from gradeschool.scoring.compare import score_delta
    from gradeschool.scoring.table import scored_table

    chosen = [get_usable_scorer(name) for name in scorers] if runs else []
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
    from gradeschool.prompts import prompt_bytes, prompt_json
    from gradeschool.protocols.registry import get_protocol

    protocol = get_protocol(name)
    problems = load_dataset(dataset or protocol.dataset).problems[:limit]
    shots = load_dataset(protocol.shots).problems if protocol.shots else ()
    for problem, prompt in zip(problems, protocol.render(problems, shots), strict=True):
        line = json.dumps({"id": problem.id, **prompt_json(prompt)}).encode() + b"\n"
        sys.stdout.buffer.write(line if form == "jsonl" else prompt_bytes(prompt) + b"\0")
    sys.stdout.buffer.flush()
