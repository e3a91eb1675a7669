"""`gradeschool protocols list | show | diff | prompts`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from gradeschool.cli.options import dataset_option, json_option, print_json, stdout_console
from gradeschool.cli.protocols_diff import diff_command
from gradeschool.cli.protocols_show import show_command

if TYPE_CHECKING:
    from gradeschool.completion import Prompt
    from gradeschool.problem import Problem
    from gradeschool.protocol import Protocol

# A name of more characters has its summary below it, in a narrow terminal.
LONGEST_NAME = 32


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """List, show and compare protocols and scorers; print prompts."""


command.add_command(show_command)
command.add_command(diff_command)


@command.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """List every protocol and every scorer."""
    from gradeschool.protocols.registry import all_protocols, all_scorers, all_votes

    if as_json:
        protocols: list[dict[str, Any]] = [
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
            for protocol in all_protocols().values()
        ]
        scorers = [
            {
                "name": scorer.name,
                "summary": scorer.summary,
                "source": scorer.source,
                "extra": scorer.extra or None,
            }
            for scorer in all_scorers().values()
        ]
        votes = [
            {"name": vote.name, "summary": vote.summary, "source": vote.source}
            for vote in all_votes().values()
        ]
        print_json({"protocols": protocols, "scorers": scorers, "votes": votes})
        return
    _print_lists()


def _print_lists() -> None:
    """Print names with what they stand for, beside them or, where a name is long, below."""
    from gradeschool.protocols.registry import all_protocols, all_scorers, all_votes

    protocols = [
        (protocol.name, f"[{_form(protocol)}] {protocol.summary}")
        for protocol in all_protocols().values()
    ]
    scorers = [
        (
            scorer.name,
            f"{scorer.summary} [extra: {scorer.extra}]" if scorer.extra else scorer.summary,
        )
        for scorer in all_scorers().values()
    ]
    votes = [(vote.name, vote.summary) for vote in all_votes().values()]
    width = stdout_console().width
    formatter = click.HelpFormatter(width=width)
    for heading, rows in (
        ("Protocols: how a model is asked", protocols),
        ("Scorers: what is read of a completion, and how it is compared", scorers),
        ("Votes: one verdict from all samples of a problem", votes),
    ):
        with formatter.section(heading):
            formatter.write_dl(rows, col_max=max(LONGEST_NAME, width * 2 // 5))
    click.echo(formatter.getvalue(), nl=False)


def _form(protocol: Protocol) -> str:
    return "chat" if protocol.is_chat else "completion"


@command.command("prompts")
@click.argument("name")
@dataset_option
@click.option("-n", "--limit", type=click.IntRange(min=1), help="Only the first N problems.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["nul", "jsonl"]),
    default="jsonl",
    show_default=True,
    help="nul: each prompt followed by a NUL byte.",
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
    import json

    from gradeschool.prompts.rendering import prompt_json

    return json.dumps({"id": problem.id, **prompt_json(prompt)}).encode() + b"\n"
