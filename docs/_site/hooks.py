"""What MkDocs calls while it builds: pages that are made from the package, and their order."""

from __future__ import annotations

import re
from pathlib import Path
from posixpath import normpath
from typing import TYPE_CHECKING

from mkdocs.structure.files import File, Files

from pages import pages

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

LINK = re.compile(r"\[([^\]\n]+)\]\(([^)\s]+)\)")
MARK = re.compile(r"^<!-- .* -->\n", re.MULTILINE)  # for tests, see tests/test_docs.py
CHANGELOG = "CHANGELOG.md"
GUIDE = {
    "Install, and when something goes wrong": "install.md",
    "Tutorial": "tutorial.md",
    "Evaluate a model; servers": "evaluate.md",
    "Score, and explain disagreements": "score.md",
    "Compare": "compare.md",
    "Report and export": "report.md",
    "Your own prompt, scorer, dataset": "own.md",
    "Runs and reliability": "runs.md",
    "Datasets and fresh problems": "data.md",
    "Integrations": "integrations.md",
    "Audit a scorer": "audit.md",
    "Verifiers": "verifier.md",
    "How the answer is read": "answers.md",
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are generated, and put all pages in order."""
    made = pages()
    made["changelog.md"] = (Path(config.config_file_path).parent / CHANGELOG).read_text("utf-8")
    for path, text in made.items():
        files.append(File.generated(config, path, content=text))
    harnesses = [path for path in made if path.startswith("harnesses/")]
    config.nav = [
        {"Guide": ["index.md", *({title: file} for title, file in GUIDE.items())]},
        {"Protocols": ["protocols.md", "scorers.md", {"Harnesses": harnesses}]},
        {"Reference": [{"Command line": "commands.md"}, {"Python": "reference.md"}]},
        {"About": [{"Changelog": "changelog.md"}, {"Experiments": "experiments.md"}]},
    ]
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Drop links that leave the documentation, and what is said to the tests."""

    def kept(match: re.Match[str]) -> str:
        text, target = match.groups()
        path = normpath(f"{page.file.src_uri}/../{target.partition('#')[0]}")
        if path == f"../{CHANGELOG}":
            return f"[{text}](changelog.md)"
        return text if path.startswith("../") else match.group()

    return LINK.sub(kept, MARK.sub("", markdown))


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Name the theme's search dialog, for those who hear the page."""
    return output.replace('role="dialog"', 'role="dialog" aria-label="Search"')
