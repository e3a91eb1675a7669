"""One round of a grid in the folder of a recipe, of which the scores are known."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from gradeschool.formats.samples import ReadOptions
from gradeschool.verifier.candidates import candidates_of
from gradeschool.verifier.reproduce.grid import ROUNDS
from gradeschool.verifier.reproduce.presets import LAPTOP
from gradeschool.verifier.reproduce.stages import STAGES_FOLDER
from gradeschool.verifier.scores import ScoreRow, append_scores

PROBLEMS = 40
ONE_SEED = replace(LAPTOP, seeds=(0,))
SECOND = ROUNDS[1]


def write_round(root: Path, split: str, verified: int) -> None:
    """Write a split of the second round: of four samples of a problem the second is right.

    The self-trained model's log-probability finds it in half of the problems, the verifier's in as
    many as `verified`. The generator's own never does.
    """
    problems = root / f"problems/{split}.jsonl"
    problems.parent.mkdir(exist_ok=True)
    problems.write_text("".join(
        json.dumps({"question": f"{split}: how many are {n}?", "answer": f"#### {n}"}) + "\n"
        for n in range(PROBLEMS)
    ))  # fmt: skip
    run = root / "seed-0" / SECOND.drawn(split)
    run.parent.mkdir(exist_ok=True)
    rows = [
        {"index": n, "sample": sample, "completion": f"#### {n if sample == 1 else 1000 + sample}"}
        for n in range(PROBLEMS) for sample in range(4)
    ]  # fmt: skip
    run.write_text("".join(json.dumps(row) + "\n" for row in rows))
    sampled = candidates_of(str(run), ReadOptions(dataset=str(problems)), lambda _: None)[0]
    for scorer, limit in (("own", 0), ("self", PROBLEMS // 2), ("likelihood", verified)):
        scores = [
            ScoreRow(candidate.key, scorer, 0.9 if candidate.right and n < limit else 0.1 + s / 99,
                     10 if s else 2)
            for n, answered in enumerate(sampled.answered)
            for s, candidate in enumerate(answered.candidates)
        ]  # fmt: skip
        append_scores(root / SECOND.scores(scorer, split, 0), scores)
        finish(root, f"scores-{split}-{scorer}-control-0")
    finish(root, f"{SECOND.drawn(split)}-0")


def finish(root: Path, stage: str) -> None:
    (root / STAGES_FOLDER).mkdir(exist_ok=True)
    (root / STAGES_FOLDER / f"{stage}.json").write_text("{}")
