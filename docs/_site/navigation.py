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
    ("Evaluate a model", "guide/evaluate.md"),
    ("Anthropic and Gemini", "providers.md"),
    ("What a server really does", "doctor.md"),
    ("Score, and read disagreements", "guide/score.md"),
    ("Which files are read", "files.md"),
    ("Compare two checkpoints", "guide/compare.md"),
    ("Good at math, or at GSM8K?", "profile.md"),
    ("My score is below the model card's", "below_the_model_card.md"),
    ("Report", "report.md"),
    ("Exports", "exports.md"),
    ("Logging: W&B, MLflow and others", "logging.md"),
    ("In continuous integration", "ci.md"),
    ("Runs", "runs.md"),
    ("Audit a scorer", "audit.md"),
    ("Fresh problems", "fresh.md"),
    ("Calculator", "calculator.md"),
    ("Training", "training.md"),
    ("Verifier", "verifier.md"),
    ("Concepts", "concepts.md"),
    ("Architecture", "architecture.md"),
    ("Threat model", "threat-model.md"),
    ("When something goes wrong", "troubleshooting.md"),
)
INTEGRATIONS = (
    ("Python, notebooks, pytest", "python.md"),
    ("inspect_ai", "inspect.md"),
    ("lm-evaluation-harness", "lm_eval.md"),
    ("verifiers", "verifiers.md"),
    ("The reward", "rewards.md"),
    ("TRL", "trl.md"),
    ("verl", "verl.md"),
    ("OpenRLHF", "openrlhf.md"),
)
PLACED = {"index.md", "changelog.md", "experiments.md", "votes.md"}


def nav(written: set[str], docs: Path) -> list[Any]:
    """Return the navigation; written: the files that people wrote, below docs."""
    named = {file for _, file in GUIDE}
    guide = [{title: file} for title, file in GUIDE if file in written]
    guide += sorted(
        file
        for file in written
        if file not in named and file not in PLACED and not file.startswith("integrations/")
    )
    how_tos = {f"integrations/{file}": title for title, file in INTEGRATIONS}
    ours = [file for file in how_tos if file in written]
    more = sorted(f for f in written if f.startswith("integrations/") and f not in how_tos)
    return [
        {"Guide": ["index.md", *guide]},
        {"Integrations": [*({how_tos[file]: file} for file in ours), *more]},
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
