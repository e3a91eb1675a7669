"""The order of the pages. One that is not there is left out, one that is not named comes last."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from command_pages import VERBS
from gradeschool.protocols.registry import all_scorers
from names import scorer_page
from package_pages import packages_with_pages
from reference_pages import titles

GUIDE = (
    ("Install", "install.md"),
    ("Tutorial", "tutorial.md"),
    ("Evaluate a model", "evaluate.md"),
    ("Score, and explain disagreements", "score.md"),
    ("Compare", "compare.md"),
    ("Report and export", "report.md"),
    ("Your own prompt, scorer, dataset", "own.md"),
    ("Servers", "servers.md"),
    ("Runs and reliability", "runs.md"),
    ("Datasets and fresh problems", "data.md"),
    ("Integrations", "integrations.md"),
    ("Audit a scorer", "audit.md"),
    ("Verifiers", "verifier.md"),
    ("How the answer is read", "answers.md"),
    ("Architecture", "architecture.md"),
    ("When something goes wrong", "troubleshooting.md"),
)
PLACED = {"index.md", "changelog.md", "experiments.md", "votes.md"}


def nav(written: set[str], docs: Path) -> list[Any]:
    """Return the navigation; written: the files that people wrote, below docs."""
    named = {file for _, file in GUIDE}
    guide = [{title: file} for title, file in GUIDE if file in written]
    guide += sorted(file for file in written if file not in named and file not in PLACED)
    return [
        {"Guide": ["index.md", *guide]},
        {"Protocols": _protocols()},
        {"Reference": _reference()},
        {"About": [{"Changelog": "changelog.md"}, {"Experiments": "experiments.md"}]},
    ]


def _protocols() -> list[Any]:
    harnesses = [{name: [page, *inner]} for name, page, inner in packages_with_pages()]
    return [
        "protocols/index.md",
        {"Scorers": ["scorers/index.md", *map(scorer_page, all_scorers())]},
        {"Votes": "votes.md"},
        {"Harnesses": harnesses},
    ]


def _reference() -> list[Any]:
    python = ["reference/index.md", *({title: file} for title, file in titles())]
    commands = ["commands/index.md", *({verb: f"commands/{verb}.md"} for verb in VERBS)]
    return [{"Python": python}, {"Command line": commands}]
