"""GSM8K-Platinum as a layer over the official test split: 110 rows removed, 10 golds revised.

Vendrow et al. 2025, "Do Large Language Model Benchmarks Test Reliability?", read every problem that
strong models missed: ambiguous and self-contradicting questions are removed, wrong labels
corrected.
Facts read from th789/evolm @ f7302b5569d28a3cdbe2b3ebf23eebc92c1b3c62 (evaluation/cot-eval-harness/
data/cooked/GSM8KPlatinum.jsonl: 1,209 rows, every question equal to the official text, in order).
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from gradeschool.errors import InputError
from gradeschool.problem import MARKER, Problem

# Rows of the official test split, from 0.
# fmt: off
REMOVED = (
    4, 12, 16, 40, 62, 78, 85, 93, 100, 114, 119, 146, 152, 161, 174, 184, 186, 187, 195, 227, 231,
    234, 241, 245, 252, 255, 258, 267, 272, 280, 293, 304, 306, 337, 340, 353, 368, 371, 380, 398,
    406, 409, 410, 423, 425, 466, 510, 515, 517, 526, 527, 539, 542, 552, 611, 638, 652, 671, 675,
    689, 696, 709, 711, 717, 768, 780, 782, 796, 814, 835, 852, 854, 873, 877, 880, 894, 902, 912,
    926, 951, 956, 962, 973, 984, 989, 997, 1001, 1028, 1042, 1046, 1048, 1059, 1067, 1074, 1082,
    1104, 1119, 1161, 1163, 1176, 1179, 1183, 1187, 1192, 1193, 1198, 1223, 1227, 1288, 1298,
)
REVISED = {
    288: "4", 403: "135", 454: "240", 649: "160000", 749: "6",
    823: "18", 952: "1800", 1035: "40", 1071: "257", 1309: "2180",
}
# fmt: on
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


def platinum_problems(problems: Sequence[Problem], name: str = "gsm8k") -> list[Problem]:
    """Return the 1,209 problems of GSM8K-Platinum, in official order and with official ids.

    Raises InputError if `problems` are not the official test split.
    """
    changes = platinum_changes(problems, name)
    layered = (changes.get(problem.id, problem) for problem in problems)
    return [problem for problem in layered if problem is not None]
