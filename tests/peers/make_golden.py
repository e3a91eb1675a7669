"""Make the verdicts of the golden cases anew, by running what they come from.

    python -m tests.peers.make_golden [--shared FILE] [--files FOLDER] [PACKAGE ...]

A new case is a line {"id", "completion" or "parts", "gold"} at the end of a package's golden.jsonl;
this fills in the rest. --shared adds the cases of protocol_verdicts.jsonl, and takes from it the
verdicts of scorers for which nothing can be run here. --files: a folder with the files of real
code that no registry has (oracles.py names them). Verdicts for which nothing is at hand stay.
Stops where a verdict that was there comes out otherwise: then look, before deleting the old line.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gradeschool.problem import Problem
from gradeschool.protocols.registry import get_scorer, packages
from tests.peers.compare import request
from tests.peers.golden import (
    LONGEST,
    LONGEST_READ,
    NAME,
    PACKAGES,
    package_folders,
    rows_of,
    text_of,
)
from tests.peers.install import missing
from tests.peers.oracles import DEFINED, ENVIRONMENTS, FILES, judge_of_definition
from tests.peers.peer import Peer
from tests.peers.shared_cases import Shared, shared_rows
from tests.peers.views import peer_view

Row = dict[str, Any]
DATASET_TEXT = ("ref_solution",)  # a solution of GSM8K: no text of a dataset is kept here
FROM_SHARED, OF_LIBRARIES = "shared_", "library_"
SHARED = "as run for the shared verdicts"


def scorers_of(package: str) -> list[str]:
    """Return the names of a package's scorers."""
    modules = {module.__name__.rpartition(".")[2]: module for module in packages()}
    return sorted(scorer.name for scorer in modules[package].SCORERS)


def shared_row(shared: Shared, scorers: list[str]) -> Row:
    """Return a shared case as a new row, with the verdicts that its file has for these scorers."""
    text = shared.case.completion
    row: Row = {"id": FROM_SHARED + shared.case.name, "completion": text}
    if len(text) > LONGEST:
        row = {"id": row["id"], "parts": [[text[:8], 1], [text[8], len(text) - 8]]}
        assert text_of(row) == text, row["id"]
    verdicts = {
        name: "error" if shared.verdicts[name] == "EXC" else shared.verdicts[name]
        for name in scorers
        if name in shared.verdicts
    }
    gold = shared.case.problem.gold
    return row | {"gold": gold, "verdicts": verdicts, "read": {}, "source": SHARED}


def fill(row: Row, name: str, answer: Any, source: str) -> None:
    """Write a verdict into a row; raises ValueError where another one stands there."""
    verdict, extracted = peer_view(name, answer)
    verdicts = row.setdefault("verdicts", {})
    if verdicts.setdefault(name, verdict) != verdict:
        raise ValueError(f"{row['id']}: {name} was {verdicts[name]!r}, is {verdict!r}")
    if extracted is None or len(extracted) <= LONGEST_READ:
        row.setdefault("read", {})[name] = extracted
    if source not in (kept := row.get("source", "")):  # others stay as they were got before
        row["source"] = f"{kept}; {source}" if kept else source


def belongs(scorer: str, row: Row) -> bool:
    """Tell whether a row is of a scorer: those that call a library have rows of their own.

    A case of theirs cannot run where the library is not installed.
    """
    is_library = str(row["id"]).startswith(OF_LIBRARIES)
    return scorer in row.get("verdicts", {}) or bool(get_scorer(scorer).extra) == is_library


def answers(rows: list[Row], name: str, files: Path | None) -> Iterator[tuple[Row, Any, str]]:
    """Yield each row with what the oracle of a scorer says of it; nothing where none is at hand."""
    chosen = [row for row in rows if belongs(name, row)]
    pairs = [(text_of(row), Problem.from_gold(row["gold"])) for row in chosen]
    if name in FILES:
        file, origin, start = FILES[name]
        if files is None or not (files / file).is_file():
            print(f"{name}: verdicts kept, needs {file} from {origin} in --files")
            return
        judge, source = start(files / file), f"{file} of {origin}, run"
    elif name in DEFINED:
        judge, source = judge_of_definition(name), "the published definition, run"
    else:
        for environment, (how, scorers) in ENVIRONMENTS.items():
            if name in scorers and not missing(environment):
                with Peer(environment) as peer:
                    said = list(peer.ask([request(text, one, [name]) for text, one in pairs]))
                yield from ((row, one[name], how) for row, one in zip(chosen, said, strict=True))
                return
        print(f"{name}: verdicts kept, its harness is not installed")
        return
    for row, (text, problem) in zip(chosen, pairs, strict=True):
        yield row, judge(text, problem), source


def make(package: str, shared: list[Shared], files: Path | None) -> str:
    """Make a package's golden file anew; return what was done, in words."""
    path = PACKAGES / package / NAME
    rows, scorers = rows_of(path), scorers_of(package)
    ids = {row["id"] for row in rows}
    rows += [row for case in shared if (row := shared_row(case, scorers))["id"] not in ids]
    for name in scorers:
        for row, answer, source in answers(rows, name, files):
            fill(row, name, answer, source)
    rows = [row for row in rows if row.get("verdicts") or not row["id"].startswith(FROM_SHARED)]
    if empty := [row["id"] for row in rows if not row.get("verdicts")]:
        raise ValueError(f"{package}: no verdict for {', '.join(empty)}")
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return f"{package}: {len(rows)} cases"


def main() -> None:
    """Make the chosen packages, or all that have scorers."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("packages", nargs="*", metavar="PACKAGE")
    parser.add_argument("--shared", type=Path)
    parser.add_argument("--files", type=Path)
    chosen = parser.parse_args()
    shared = [
        case
        for case in (shared_rows(chosen.shared) if chosen.shared else [])
        if case.case.name not in DATASET_TEXT
    ]
    for package in chosen.packages or [name for name in package_folders() if scorers_of(name)]:
        print(make(package, shared, chosen.files))


if __name__ == "__main__":
    main()
