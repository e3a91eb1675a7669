"""What MkDocs calls while it builds: pages that are made from the package, and their order.

Nothing that is made here is stored: the pages of protocols, scorers, harnesses, commands and of the
Python API are of the package that is installed beside MkDocs.
"""

from __future__ import annotations

import re
from pathlib import Path
from posixpath import normpath
from typing import TYPE_CHECKING

from mkdocs.structure.files import File, Files

import command_pages
import package_pages
import protocol_pages
import reference_pages
import scorer_pages
from names import check_distinct
from navigation import nav

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

LINK = re.compile(r"\[([^\]\n]+)\]\(([^)\s]+)\)")
MARK = re.compile(r"^<!-- .* -->\n", re.MULTILINE)  # for tests, see tests/test_docs.py
CHANGELOG = "CHANGELOG.md"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are generated, and put all pages in order."""
    check_distinct()
    root = Path(config.config_file_path).parent
    written = {file.src_uri for file in files if file.is_documentation_page()}
    made = {"changelog.md": (root / CHANGELOG).read_text("utf-8")}
    for package in (protocol_pages, scorer_pages, package_pages, command_pages, reference_pages):
        made |= package.pages()
    for path, text in made.items():
        files.append(File.generated(config, path, content=text))
    config.nav = nav(written, Path(config.docs_dir))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Make links that leave the documentation names: the files are in the repository alone.

    Also drop what is said to the tests.
    """

    def kept(match: re.Match[str]) -> str:
        text, target = match.groups()
        path = normpath(f"{page.file.src_uri}/../{target.partition('#')[0]}")
        if path == f"../{CHANGELOG}":
            return f"[{text}]({'../' * page.file.src_uri.count('/')}changelog.md)"
        return text if path.startswith("../") else match.group()

    return LINK.sub(kept, MARK.sub("", markdown))


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Name the theme's search dialog, for those who hear the page."""
    return output.replace('role="dialog"', 'role="dialog" aria-label="Search"')
