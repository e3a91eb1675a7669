"""`gradeschool integrations`: paths and names for other tools."""

from __future__ import annotations

from importlib.util import find_spec

import click

from gradeschool.cli.options import Verb
from gradeschool.errors import DataError, UnknownNameError
from gradeschool.reports.printable import say

# tool -> the module whose path is printed or the name to print, and an example of its use
FILES = {
    "lm-eval": ("gradeschool.integrations.lm_eval_tasks", "lm_eval --include_path PATH"),
    "openrlhf": ("gradeschool.integrations.openrlhf", "--reward.remote_url PATH"),
}
NAMES = {
    "inspect": ("gradeschool/gsm8k", "inspect eval NAME; inspect score LOG --scorer NAME"),
    "trl": ("gradeschool.integrations.trl:reward", "GRPOTrainer(reward_funcs=...)"),
    "verifiers": ("gradeschool.integrations.verifiers", "the environment gsm8k-olmes"),
    "verl": ("pkg://gradeschool.integrations.verl", "custom_reward_function.path"),
}


@click.command(cls=Verb)
@click.argument("tool", required=False)
def command(tool: str | None) -> None:
    """Print the path or name to give to TOOL, or those of all tools.

    Example: lm_eval --tasks gsm8k_gradeschool --include_path "$(gradeschool integrations lm-eval)"
    """
    tools = {**FILES, **NAMES}
    if tool is None:
        for name in sorted(tools):
            say(f"{name:10} {_value(name)}\n{'':10} {tools[name][1]}")
    elif tool in tools:
        say(_value(tool))
    else:
        raise UnknownNameError("tool", tool, tools)


def _value(tool: str) -> str:
    """Return the name, or the path of the file or folder, without importing it."""
    if tool in NAMES:
        return NAMES[tool][0]
    module = FILES[tool][0]
    spec = find_spec(module)
    if spec is None:
        raise DataError(f"{module!r} is missing from this installation; install gradeschool again")
    return next(iter(spec.submodule_search_locations or ()), None) or str(spec.origin)
