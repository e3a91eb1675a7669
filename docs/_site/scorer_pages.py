"""One page for each scorer, with the completions where it differs from a careful reader."""

from __future__ import annotations

from gradeschool import Problem
from gradeschool.protocols.card import Quirk, ScorerCard, find_package, scorer_card, vote_json
from gradeschool.protocols.registry import all_protocols, all_scorers, all_votes, get_scorer
from gradeschool.scorer import Scorer
from names import (
    code,
    link,
    links,
    package_name,
    package_page,
    protocol_page,
    scorer_page,
    slug,
    table,
)

READER = "gradeschool/reader"
PAGE = """\
# {name}

{summary}.

Harness [{package}]({package_page}).{extra} To read completions by it:

```sh
gradeschool score answers.jsonl --scorer '{name}'
```

{quirks}

## Part of

{protocols}

## Where this is written

{source}.

{links}
"""
QUIRKS = """\
## What it reads unlike a careful reader

Each row is a completion on which this scorer was run; {reader} is what
[`gradeschool/reader`]({own}) says of it. "⏎" is a line break.

{table}
"""
NO_QUIRKS = "No case is listed on which this scorer reads unlike a careful reader.\n"
VOTES = """\
# Votes

A vote makes one verdict of all samples of a problem, counted as its harness counts them
(`gradeschool score RUN --vote NAME`). maj@k and pass@k under any scorer need none of these:
`gradeschool runs curve RUN`.

{sections}
"""


def pages() -> dict[str, str]:
    """Return the Markdown of every scorer's page, and of the page of votes, by file."""
    found = {scorer_page(name): page(scorer_card(name)) for name in all_scorers()}
    return found | {"votes.md": votes()}


def page(card: ScorerCard) -> str:
    """Return the page of a scorer."""
    scorer, package = card.scorer, find_package(card.scorer.name)
    needs = (
        f" It calls a library: `pip install 'gradeschool[{scorer.extra}]'`." if scorer.extra else ""
    )
    used = [f"- {link(name, protocol_page(name))}" for name in card.protocols]
    return PAGE.format(
        name=scorer.name,
        summary=f"{scorer.summary[:1].upper()}{scorer.summary[1:]}",
        package=package_name(package),
        package_page=f"../{package_page(package)}",
        extra=needs,
        quirks=_quirks(card),
        protocols="\n".join(used) or "No protocol: it reads the completions of any.",
        source=scorer.source,
        links=links(card.links),
    )


def _quirks(card: ScorerCard) -> str:
    if not card.quirks:
        return NO_QUIRKS
    own = f"../{scorer_page(READER)}"
    return QUIRKS.format(reader="*the reader*", own=own, table=quirk_table(card, beside=True))


def quirk_table(card: ScorerCard, beside: bool = False) -> str:
    """Return the cases of a scorer; beside: with what the answer extractor says of each."""
    heads = ["completion", "gold", "says", *(["the reader"] if beside else []), "what it shows"]
    return table(heads, (_row(quirk, beside) for quirk in card.quirks))


def _row(quirk: Quirk, beside: bool) -> list[str]:
    cells = [code(quirk.completion), code(quirk.gold), quirk.says]
    if beside:
        cells.append(_says(get_scorer(READER), quirk))
    return [*cells, code_free(quirk.shows)]


def code_free(text: str) -> str:
    """Return what a case shows, as a cell."""
    return text.replace("|", "&#124;").replace("<", "&lt;")


def _says(scorer: Scorer, quirk: Quirk) -> str:
    verdict = scorer.judge(quirk.completion, Problem("0", "", quirk.gold, f"#### {quirk.gold}"))
    return verdict.outcome.value


def votes() -> str:
    """Return the page of votes."""
    sections = []
    for name, vote in all_votes().items():
        about = vote_json(vote)
        protocols = [one for one in all_protocols() if one in about["protocols"]]
        lines = [
            f"## {name} {{: #{slug(name)} }}",
            f"{vote.summary[:1].upper()}{vote.summary[1:]}. The first {vote.voters} samples of a "
            f"problem vote; a text without an answer votes {code(vote.nothing)}, which may win; of "
            "candidates with as many votes the first one seen wins.",
            f"{vote.source}.",
            "Part of:",
            "\n".join(f"- {link(one, protocol_page(one), up='')}" for one in protocols),
        ]
        sections.append("\n\n".join(lines))
    return VOTES.format(sections="\n\n".join(sections))
