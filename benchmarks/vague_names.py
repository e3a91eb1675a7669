"""Count names that say nothing, as a share of all names in Python source.

    python benchmarks/vague_names.py [FOLDER ...] [--most PERCENT] [--where] [--json]

A name is each place in the syntax tree where a variable, parameter, keyword argument, attribute,
function or class is defined or used. It is vague if it is one of VAGUE. A name that a module
imports from another package does not count as vague: Hypothesis has a `given`.
A second figure adds the words of FURTHER, which are right in some places (`last`, `first` and
`other` are in neither).

FOLDER: by default the package, its tests and the benchmarks. Printed for each part of FOLDER and
for FOLDER: names, the share of VAGUE, the share of both lists, the commonest words. --where prints
the places instead. With --most, the exit status is 1 if a total of VAGUE is above PERCENT. Parts
are the folders and modules directly below.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TypedDict

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = [ROOT / "src" / "gradeschool", ROOT / "tests", ROOT / "benchmarks"]
VAGUE = frozenset((
    "one", "found", "at", "told", "asked", "held", "had", "said", "left", "gone", "known", "done",
    "seen", "made", "given", "wanted",
))  # fmt: skip
FURTHER = frozenset((
    "again", "begun", "both", "each", "ended", "every", "got", "here", "how", "kept", "later",
    "less", "more", "none", "nothing", "ours", "put", "several", "some", "taken", "theirs", "there",
    "thing", "things", "ways", "what", "where", "which", "who", "whole",
))  # fmt: skip
COMMONEST = 5


def names(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield each name that is defined or used, "" for one of another package, with its line."""
    foreign = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and not str(node.module).startswith("gradeschool")
        for alias in node.names
    }
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name):
                yield "" if name in foreign else name, node.lineno
            case ast.Attribute(attr=name) | ast.arg(arg=name):
                yield name, node.lineno
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name, node.lineno
            case ast.ClassDef(name=name):
                yield name, node.lineno
            case ast.keyword(arg=str(name)):
                yield name, node.lineno


def count(folder: Path) -> dict[str, Counter[str]]:
    """Return the number of uses of each name in each part of a folder."""
    parts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for path in sorted(folder.rglob("*.py")):
        part = path.relative_to(folder).parts[0].removesuffix(".py")
        parts[part].update(name for name, _ in names(ast.parse(path.read_text("utf-8"))))
    return parts


class Summary(TypedDict):
    """The figures of one line; shares in percent."""

    names: int
    vague: float
    with_further: float
    commonest: dict[str, int]


def summarize(counts: Counter[str]) -> Summary:
    """Return the figures of one line."""
    total = counts.total()
    vague = {name: counts[name] for name in VAGUE if counts[name]}
    further = sum(counts[name] for name in FURTHER)
    return {
        "names": total,
        "vague": round(100 * sum(vague.values()) / total, 2),
        "with_further": round(100 * (sum(vague.values()) + further) / total, 2),
        "commonest": dict(Counter(vague).most_common(COMMONEST)),
    }


def places(folder: Path) -> Iterator[str]:
    """Yield each vague name with its place."""
    for path in sorted(folder.rglob("*.py")):
        for name, line in names(ast.parse(path.read_text("utf-8"))):
            if name in VAGUE:
                yield f"{path}:{line}: {name}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Count names that say nothing.")
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", default=FOLDERS)
    parser.add_argument("--most", type=float, metavar="PERCENT", help="exit 1 above this share")
    parser.add_argument("--where", action="store_true", help="print the places")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.where:
        for folder in options.folders:
            print(*places(folder), sep="\n")
        return
    tables: dict[str, dict[str, Summary]] = {}
    for folder in options.folders:
        parts = count(folder)
        total = summarize(sum(parts.values(), Counter()))
        tables[str(folder)] = {name: summarize(part) for name, part in parts.items() if part}
        tables[str(folder)]["total"] = total
    if options.json:
        print(json.dumps(tables))
    else:
        for folder, lines in tables.items():
            print(f"{folder}\n  {'names':>8} {'vague':>7} {'with further':>13}")
            for name, line in lines.items():
                words = ", ".join(f"{word} {n}" for word, n in line["commonest"].items())
                print(
                    f"  {line['names']:>8} {line['vague']:>6.2f}% {line['with_further']:>12.2f}%"
                    f"  {name:<24} {words}"
                )
    if options.most is not None:
        sys.exit(any(lines["total"]["vague"] > options.most for lines in tables.values()))


if __name__ == "__main__":
    main()
