"""GSM8K-Platinum as a layer over the official test split: 110 rows removed, 10 golds revised.

Vendrow et al. 2025, "Do Large Language Model Benchmarks Test Reliability?", read every problem that
strong models missed: ambiguous and self-contradicting questions are removed, wrong labels
corrected.
Facts read from th789/evolm @ f7302b5569d28a3cdbe2b3ebf23eebc92c1b3c62 (evaluation/cot-eval-harness/
data/cooked/GSM8KPlatinum.jsonl: 1,209 rows, every question equal to the official text, in order).
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from gradeschool.errors import InputError
from gradeschool.problem import MARKER, Problem

_LABELS = json.loads(Path(__file__).with_name("platinum.json").read_text("ascii"))
REMOVED = tuple(_LABELS["removed"])  # rows of the official test split, from 0
REVISED = {int(row): gold for row, gold in _LABELS["revised"].items()}
# The new gold by official row, None for a removed one.
LABELS: dict[int, str | None] = {**dict.fromkeys(REMOVED), **REVISED}
OFFICIAL_ROWS = 1319
# Of every question and gold of the test split, each closed by a NUL.
OFFICIAL_SHA256 = "b06228cdbfae6398c914e37a5cbc5fdf4063001ba3c12e95e7e1355bbcd9b49e"
# Problems whose label GSM8K-Platinum changes, by id: with the new gold, None for a removed one.
LabelChanges = Mapping[str, Problem | None]


def platinum_changes(problems: Sequence[Problem], name: str) -> LabelChanges:
    """Return the problems that Platinum changes, by id: relabelled, or None if removed.

    problems: the official test split, in its order; name: their name in messages. Raises InputError
    for any other problems: labels belong to row numbers, and would go to the wrong problems.
    """
    digest = hashlib.sha256()
    for problem in problems if len(problems) == OFFICIAL_ROWS else ():
        digest.update(f"{problem.question}\0{problem.gold}\0".encode("utf-8", "surrogatepass"))
    if digest.hexdigest() != OFFICIAL_SHA256:
        raise InputError(
            f"Platinum's labels are for the official test split of GSM8K, and {name!r} is not that "
            f"({len(problems)} problems); leave them out, or give -d gsm8k"
        )
    changes = dict[str, Problem | None]()
    for row, gold in LABELS.items():
        problem = problems[row]
        relabelled = None
        if gold is not None:  # the reference solution still leads to the old one
            solution = f"{problem.solution.rpartition(MARKER)[0]}{MARKER} {gold}"
            meta = {**problem.meta, "labels": "platinum", "official gold": problem.gold}
            relabelled = replace(problem, gold=gold, solution=solution, meta=meta)
        changes[problem.id] = relabelled
    return changes


def label_changes(problems: Sequence[Problem], used: Iterable[Problem | None] = ()) -> LabelChanges:
    """Return the same as `platinum_changes`, or nothing if problems are not the test split.

    used: the problems that a run answers; nothing is returned if one of them is not in the split.
    None, a row without a problem, is ignored.
    """
    try:
        changes = platinum_changes(problems, "gsm8k")
    except InputError:
        return {}
    official = {problem.id: problem for problem in problems}
    others = any(problem and official.get(problem.id) != problem for problem in used)
    return {} if others else changes
