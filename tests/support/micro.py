"""`python -m tests.support.micro WORDS`: the command line with a laptop preset that takes seconds.

With `in-one FOLDER FIGURE` all stages run in this process, one after the other and without a break.
"""

import sys
from contextlib import chdir, redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path

from gradeschool.verifier.reproduce import ablations, presets
from gradeschool.verifier.reproduce.stages import STAGES_FOLDER, Stage, StageResult, digests, mark

SAVE_EVERY = 7
# One-step problems, some of which a model of this size gets right by chance: a verifier needs both.
MICRO = replace(
    presets.LAPTOP,
    name="laptop",
    families=("comparison",),
    steps=(1, 1),
    problems=200,
    labelled=24,
    tested=(12,),
    size="0.05M",
    generator=("--epochs", "10", "--vocabulary", "400", "--lr", "1e-2", "--batch", "8",
               "--save-every", str(SAVE_EVERY)),
    control=("--epochs", "1", "--batch", "16"),
    verifier=("--level", "likelihood", "--optimizer", "muon", "--lr", "1e-3", "--batch", "4"),
    k=8,
    n=4,
    seeds=(0,),
    replay=False,
)  # fmt: skip


def patch() -> None:
    """Replace the large preset by the small one, with one split of test problems."""
    presets.PRESETS["laptop"] = MICRO
    presets.SPLITS.pop("held-out", None)
    ablations.EPOCHS = (1.0,)


def run_here(stage: Stage) -> None:
    """Run a stage's command in this process; raises AssertionError if it fails."""
    from gradeschool.cli import main

    out = StringIO()
    sys.argv = ["gradeschool", *stage.command]
    try:
        with redirect_stdout(out):
            main()
    except SystemExit as ended:
        assert ended.code in {0, None}, f"{stage}: {ended.code}"
    if stage.stdout:
        Path(stage.stdout).parent.mkdir(exist_ok=True)
        Path(stage.stdout).write_text(out.getvalue(), encoding="utf-8")


def in_one(folder: Path, figure: str) -> None:
    """Run all stages of the recipe and of a figure."""
    stages = {stage.name: stage for stage in presets.stages_of(MICRO)}
    stages |= {stage.name: stage for stage in ablations.plan(figure, MICRO).stages}
    codes = digests(list(stages.values()))
    (folder / STAGES_FOLDER).mkdir(parents=True)
    with chdir(folder):
        for name, stage in stages.items():
            run_here(stage)
            mark(Path(), stage, StageResult(codes[name], 0.0, 0.0))


if __name__ == "__main__":
    patch()
    if sys.argv[1] == "in-one":
        in_one(Path(sys.argv[2]).resolve(), sys.argv[3])
    else:
        from gradeschool.cli import main

        main()
