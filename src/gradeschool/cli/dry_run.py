"""`gradeschool eval --dry-run`: what would be asked, and what it would cost."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gradeschool.cli.options import print_json

if TYPE_CHECKING:
    from gradeschool.models.base import Model
    from gradeschool.runs.cost import Estimate
    from gradeschool.runs.evaluate import RequestOptions
    from gradeschool.runs.plan import RunPlan


def tell(plan: RunPlan, model: Model, folder: Path, options: RequestOptions, as_json: bool) -> None:
    """Print the estimate of what the folder lacks; asks the server for its model's name at most."""
    from gradeschool.formats.own_run import COMPLETIONS_FILE, read_completions
    from gradeschool.runs.cost import estimate
    from gradeschool.runs.plan import missing

    rows = read_completions(folder / COMPLETIONS_FILE)
    stored = {one.key: one for _, one in rows if one is not None and not one.error}
    requests = plan.requests(asyncio.run(_identity(model)))
    todo = missing(requests, set(stored))
    pairs = [(request, stored[request.key]) for request in requests if request.key in stored]
    found = estimate(todo, pairs, options.choices)
    fields = _fields(found, options)
    if as_json:
        stored_now = len(requests) - len(todo)
        print_json({"model": model.identity, "folder": str(folder), "samples": len(requests),
                    "stored": stored_now, **fields})  # fmt: skip
        return
    click.echo(f"model    {model.identity}\nprotocol {plan.protocol.name}\nfolder   {folder}")
    click.echo(f"samples  {len(requests):,}, {len(requests) - len(todo):,} of them stored")
    click.echo(f"to ask   {found.requests:,} requests for {found.samples:,} samples")
    source = "as the server counted so far" if found.measured else "estimated from characters"
    click.echo(f"tokens   about {found.prompt_tokens:,} of prompts and {found.completion_tokens:,} "
               f"of completions, {source}{_at_most(found)}")  # fmt: skip
    if options.price is None:
        click.echo("cost     unknown; give --price IN/OUT")
        return
    most = fields["most_cost"]
    at_most = "" if most is None else f", at most ${most:,.2f}"
    click.echo(f"cost     about ${fields['cost']:,.2f}{at_most}")


async def _identity(model: Model) -> str:
    if model.name:
        return model.identity
    async with model:
        return model.identity


def _fields(found: Estimate, options: RequestOptions) -> dict[str, Any]:
    return {
        "requests": found.requests,
        "missing": found.samples,
        "prompt_tokens": found.prompt_tokens,
        "completion_tokens": found.completion_tokens,
        "most_completion_tokens": found.most_completion_tokens,
        "cost": None if options.price is None else found.cost(options.price),
        "most_cost": None if options.price is None else found.most_cost(options.price),
    }


def _at_most(found: Estimate) -> str:
    if found.most_completion_tokens is None:
        return "; completions have no limit"
    return f"; at most {found.most_completion_tokens:,} of completions"
