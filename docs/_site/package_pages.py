"""One page for each harness: its protocols and scorers, its SOURCE.md, and the indexes."""

from __future__ import annotations

import re
from types import ModuleType

from gradeschool.protocols.card import source_text
from gradeschool.protocols.registry import all_protocols, all_scorers, packages
from names import (
    code,
    link,
    package_name,
    package_page,
    package_title,
    plain,
    protocol_page,
    scorer_page,
    slug,
    table,
)

PAGE = """\
# {title}

{about}

{protocols}

{scorers}

{votes}

## Where it comes from

{source}
"""
PROTOCOLS = """\
# Protocols

A protocol is everything between a problem and its verdict: the prompt, the decoding, and the
scorers
that read the answer. {protocols} protocols of {harnesses} harnesses, each frozen under its name:
where a harness changed, there are two names. Every page below is made from the protocol itself.

<input class="filter" type="search" placeholder="Filter: chat, lm-eval, box, zero-shot"
  aria-label="Filter protocols" hidden>
<p class="filter-count" role="status" hidden></p>

{tables}
"""
SCORERS = """\
# Scorers

A scorer reads a completion's text and compares what it finds with the gold; it sees nothing else.
All {scorers} run on the same recorded completions: `gradeschool score answers.jsonl --scorer all`.

<input class="filter" type="search" placeholder="Filter: boxed, last number, math-verify"
  aria-label="Filter scorers" hidden>
<p class="filter-count" role="status" hidden></p>

{tables}

Votes, which count the samples of a problem together, are [on a page of their own](../votes.md).
"""


def pages() -> dict[str, str]:
    """Return the Markdown of every harness's page and of the two indexes by file."""
    found = {package_page(package): page(package) for package in packages()}
    return found | {"protocols/index.md": protocol_index(), "scorers/index.md": scorer_index()}


def page(package: ModuleType) -> str:
    """Return the page of a harness."""
    doc = (package.__doc__ or "").split("\n")[0]
    votes = getattr(package, "VOTES", ())
    return PAGE.format(
        title=package_title(package),
        about=plain(doc),
        protocols=f"## Protocols\n\n{_protocols(package, '../../')}" if package.PROTOCOLS else "",
        scorers=f"## Scorers\n\n{_scorers(package, '../../')}" if package.SCORERS else "",
        votes="## Votes\n\n" * bool(votes)
        + "\n".join(
            f"- [`{vote.name}`](../../votes.md#{slug(vote.name)}): {vote.summary}" for vote in votes
        ),
        source=source(package),
    )


def source(package: ModuleType) -> str:
    """Return a package's SOURCE.md below a heading of the second level."""
    text = re.sub(r"\A# .*\n", "", source_text(package))
    text = re.sub(r"^#", "##", text, flags=re.MULTILINE)
    text = re.sub(r"(?<=[^\n|])\n(\|.*\n\|-)", r"\n\n\1", text)
    text = re.sub(r"^((?!- |  |\n).+)\n(?=- )", r"\1\n\n", text, flags=re.MULTILINE)
    return plain(text)


def protocol_index() -> str:
    """Return the index of protocols by harness."""
    tables = (
        f"## {package_name(package)}\n\n{_about(package)}\n\n{_protocols(package, '../')}"
        for package in _sorted()
        if package.PROTOCOLS
    )
    count = sum(bool(package.PROTOCOLS) for package in packages())
    return PROTOCOLS.format(
        protocols=len(all_protocols()), harnesses=count, tables="\n\n".join(tables)
    )


def scorer_index() -> str:
    """Return the index of scorers by harness."""
    tables = (
        f"## {package_name(package)}\n\n{_about(package)}\n\n{_scorers(package, '../')}"
        for package in _sorted()
        if package.SCORERS
    )
    return SCORERS.format(scorers=len(all_scorers()), tables="\n\n".join(tables))


def _sorted() -> list[ModuleType]:
    return sorted(packages(), key=package_name)


def _about(package: ModuleType) -> str:
    about = (package.__doc__ or "").split("\n")[0].removeprefix(package_title(package))
    return f"[{package_title(package)}](../{package_page(package)}){plain(about)}"


def _protocols(package: ModuleType, up: str) -> str:
    rows = [
        (
            link(one.name, protocol_page(one.name), up),
            "chat" if one.is_chat else "completion",
            plain(one.summary),
        )
        for one in sorted(package.PROTOCOLS, key=lambda one: one.name)
    ]
    return table(("protocol", "form", "what it is"), rows)


def _scorers(package: ModuleType, up: str) -> str:
    rows = [
        (
            link(one.name, scorer_page(one.name), up),
            plain(one.summary),
            one.extra and code(one.extra),
        )
        for one in sorted(package.SCORERS, key=lambda one: one.name)
    ]
    return table(("scorer", "how it reads", "calls"), rows)


def packages_with_pages() -> list[tuple[str, str, list[str]]]:
    """Return (name, page, the pages of its protocols) of each harness."""
    return [
        (
            package_name(package),
            package_page(package),
            [protocol_page(name) for name in sorted(one.name for one in package.PROTOCOLS)],
        )
        for package in _sorted()
    ]
