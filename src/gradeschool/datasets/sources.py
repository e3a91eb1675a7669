"""The named datasets: origin at a pinned revision, SHA-256, number of rows.

`sources.jsonl` has a line for each. MGSM (Shi et al. 2022) is the first 250 problems of GSM8K's
test split, translated by people; MSVAMP (Chen et al. 2023) is SVAMP, translated by machine and
corrected. The files of lm-eval and OpenCompass have the digests of the wheels of lm-eval 0.4.13 and
opencompass 0.5.4. Those of GSM-Plus and of GSM-Symbolic's main file are the digests by which other
public repositories pin these commits.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

FRESH = "fresh"  # the generated problems; fresh:SEED are others
OWN_PROBLEMS = "the file's own problems"
ROW = "row"


@dataclass(frozen=True, slots=True)
class ProblemColumns:
    """The columns of a file from which a problem is built.

    question: columns that are joined with a space. gold: the final answer; "" if the solution ends
    in it ("#### N"). solution: the reference solution, "" for none. id: the problem's id, "" for
    the row number. seed: the column that identifies the varied problem of GSM8K's test split, kept
    in `Problem.meta["seed"]`: by its row (from 0), its question, or a program that quotes the
    question; ROW if it has the same row number. meta: other columns to keep, and the names to keep
    them under. writes_floats: the golds are integers written as "8.0".
    """

    question: tuple[str, ...] = ("question",)
    gold: str = ""
    solution: str = ""
    id: str = ""
    seed: str = ""
    meta: Mapping[str, str] = field(default_factory=dict)
    writes_floats: bool = False


@dataclass(frozen=True, slots=True)
class DatasetSource:
    """A dataset with a name.

    path: the file below GRADESCHOOL_DATA or the cache. sha256: of the file's bytes; "" for a file
    that the package ships, and if no digest is published: it is then recorded at the first fetch,
    from a commit, and every later copy must match.
    rows: number of problems. url: the origin, "" if the package ships it. layout: "gsm8k"
    (question, answer), "columns" (rows of JSON or tab-separated values, see `columns`), "platinum"
    (GSM8K's rows, then relabelled), "step-labels" (`LabelledSteps`), or one of exemplars:
    "exemplars" (question, rationale, answer), "lm-eval-yaml", "lm-eval-samples",
    "opencompass-config", "mgsm-exemplars". columns: for the layout "columns"; numbers if the file
    has no column names. alternative: another file with the same content that GRADESCHOOL_DATA may
    contain instead: (path, sha256, layout). language: ISO 639-1 code of the problems. golds: the
    kinds of golds, with counts.
    """

    name: str
    summary: str
    path: str
    sha256: str
    rows: int
    url: str
    licence: str
    layout: str = "gsm8k"
    alternative: tuple[str, str, str] | None = None
    columns: ProblemColumns = field(default_factory=ProblemColumns)
    language: str = "en"
    golds: str = "integers"


def _source(line: str) -> DatasetSource:
    fields = json.loads(line)
    columns = fields.pop("columns", {})
    columns["question"] = tuple(columns.get("question", ("question",)))
    alternative = tuple(fields.pop("alternative", ())) or None
    return DatasetSource(**fields, alternative=alternative, columns=ProblemColumns(**columns))


_LINES = Path(__file__).with_name("sources.jsonl").read_text(encoding="utf-8").splitlines()
SOURCES = {source.name: source for source in map(_source, _LINES)}
ALIASES = {
    "gsm8k:test": "gsm8k",
    "gsm8k-main": "gsm8k",
    "gsm8k-platinum:test": "gsm8k-platinum",
    "gsm8k-socratic:test": "gsm8k-socratic",
    "gsm-symbolic:main": "gsm-symbolic",
    "aime24": "aime:2024",
    "aime25": "aime:2025",
    "math-500": "math500",
}
