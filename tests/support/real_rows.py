"""Real completions with the faults that files have, for tests of scoring in a stream."""

import json
from itertools import islice
from pathlib import Path
from typing import Any

FILES = ("openai_example", "re2_rereading", "lianshan_eval")
NAMES = ("openai/2021", "lm-eval/gsm8k/flexible-extract", "lm-eval/gsm8k/strict-match")


def real_rows(data: Path) -> list[dict[str, Any]]:
    """Return 2,102 completions of several runs; two cannot be used, one is repeated, one again."""
    rows: list[dict[str, Any]] = []
    for name in FILES:
        with (data / "completions" / f"{name}.jsonl").open(encoding="utf-8") as lines:
            rows += [json.loads(line) for line in islice(lines, 700)]
    rows[4]["index"] = 100_000
    rows[900] = {"completion": "nothing else"}
    rows.insert(1200, rows[1100])
    rows.insert(1300, rows[1100] | {"completion": "another \ud800 text"})
    return rows
