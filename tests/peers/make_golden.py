"""Make the verdicts of the golden cases anew, by running what they come from.

    python -m tests.peers.make_golden [--files FOLDER] [PACKAGE ...]

A new case is a line {"id", "completion" or "parts", "gold"} at the end of a package's golden.jsonl;
this fills in the rest. --files: a folder with the files of real code that no registry has
(oracles.py names them). Verdicts for which nothing is at hand stay. Stops where a verdict that was
there comes out otherwise: then look, before deleting the old line.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from gradeschool.problem import Problem
from gradeschool.protocols.registry import entries_of, get_scorer, packages
from tests.peers.compare import request
from tests.peers.golden import LONGEST_READ, NAME, PACKAGES, package_folders, rows_of, text_of
from tests.peers.install import missing
from tests.peers.oracles import ENVIRONMENTS, FILES
from tests.peers.peer import Peer
from tests.peers.views import peer_view

Row = dict[str, Any]
OF_LIBRARIES = "library_"


def scorers_of(package: str) -> list[str]:
    """Return the names of a package's scorers."""
    modules = {module.__name__.rpartition(".")[2]: module for module in packages()}
    return sorted(entries_of(modules[package], "SCORERS"))


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


def make(package: str, files: Path | None) -> str:
    """Make a package's golden file anew; return what was done, in words."""
    path = PACKAGES / package / NAME
    rows = rows_of(path)
    for name in scorers_of(package):
        chosen = [row for row in rows if belongs(name, row)]
        pairs = [(text_of(row), Problem.from_gold(row["gold"])) for row in chosen]
        if name in FILES:
            file, origin, start = FILES[name]
            if files is None or not (files / file).is_file():
                print(f"{name}: verdicts kept, needs {file} from {origin} in --files")
                continue
            judge = start(files / file)
            for row, (text, problem) in zip(chosen, pairs, strict=True):
                fill(row, name, judge(text, problem), f"{file} of {origin}, run")
            continue
        for environment, (how, scorers) in ENVIRONMENTS.items():
            if name in scorers and not missing(environment):
                with Peer(environment) as peer:
                    said = list(peer.ask([request(text, one, [name]) for text, one in pairs]))
                for row, answer in zip(chosen, said, strict=True):
                    fill(row, name, answer[name], how)
                break
        else:
            print(f"{name}: verdicts kept, its harness is not installed")
    if empty := [row["id"] for row in rows if not row.get("verdicts")]:
        raise ValueError(f"{package}: no verdict for {', '.join(empty)}")
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return f"{package}: {len(rows)} cases"


def main() -> None:
    """Make the chosen packages, or all that have scorers."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("packages", nargs="*", metavar="PACKAGE")
    parser.add_argument("--files", type=Path)
    chosen = parser.parse_args()
    for package in chosen.packages or [name for name in package_folders() if scorers_of(name)]:
        print(make(package, chosen.files))


if __name__ == "__main__":
    main()
